"""`respond` between parties, as programs that know nothing of each other (GUARANTEE.md#the-parties).

    call        what the collector tells all: who is asked, ε, a release number
    messages    what one vertex sends, once
    json_files  how the files of both are read: as written by somebody who means harm
    answering   the vertex's program, with its row and its own ledger
    own_ledger  what one vertex has answered for so far, and up to what it will
    collecting  the collector's program

`answering` and `collecting` may not import each other, and share only what is public.
"""
