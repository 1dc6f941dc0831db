"""What a release adds to exact counts, what that promises, and what it costs; knows no database, graph or clique.

The promises are stated and proved from GUARANTEE.md#what-is-not-promised on; marks there, such as [critical-flip], also
stand in comments beside the code that the proofs rest on.

    exact             ε, δ and scales as fractions: read from text, rounded up, written as text
    laplace           the discrete Laplace distribution: variance, pad, standard error, interval
    noise             the only source of noise in a release
    sensitivity       how far one connection can move the counts
    facts             what a mechanism may ask about a graph
    protection        the kinds of promise
    mechanisms        one per file, each of which describes itself completely
    randomised_response  each pair is answered once, and the answer flipped with some probability
    answer_counts     cliques counted from such answers, without bias
    degree_model      counts modelled from noisy degrees and a noisy total
    smoothing         counts drawn towards what is possible, and towards those of like degree
    vertex            what runs at a vertex, in the two-phase mechanisms and between parties under `respond`
    collector         what runs at their collector
    asked_pairs       which end of a pair answers for it
    outlook           how noisy a release will be, as far as that may be said before the spend
    composition       what several releases cost together
    account           what a graph's releases have spent, and whether another one fits
    quantiles         quantiles of losses over pairs
    foresight         what each mechanism would promise, cost and show, from public numbers alone
    plain_words       a promise for people who decide, with its numbers
    attack            what a release shows, by one attacker for all mechanisms
"""
