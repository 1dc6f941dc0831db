"""`respond` between parties, as programs that know nothing of each other (GUARANTEE.md#the-parties).

    call        what the collector tells everyone: who is asked, ε, a release number; what one vertex sends, once
    json_files  how both read files, which may be hostile
    answering   the vertex's program, with its row and its own ledger
    own_ledger  what one vertex has answered for so far, and the most that it will
    collecting  the collector's program

`answering` and `collecting` may not import each other, and share only what is public.
"""
