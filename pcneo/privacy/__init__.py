"""What a release adds to exact counts, what that promises, and what it costs; no database, no graph, no clique in here.

The promises are stated and proved from GUARANTEE.md#what-is-not-promised on; marks there, such as [critical-scale],
stand in the code they rest on.

    exact             ε, δ and scales as fractions: read from text, written as text
    laplace           the discrete Laplace distribution: probabilities, pad, standard error, interval
    noise             the only source of noise in a release
    sensitivity       how far one connection can move the counts
    facts             what a mechanism may ask about a graph
    protection        the kinds of promise
    mechanisms        `critical`, `edge`, `elv`, `published`: each says all about itself
    vertex            what runs at a vertex, in the two-phase mechanisms and of parties under `respond`
    collector         what runs at their collector
    asked_pairs       which end of a pair answers for it
    outlook           how noisy a release will be, as far as that may be said beforehand
    composition       what several releases cost together
    account           what a graph's releases have spent, and whether another one fits
    quantiles         quantiles of losses over pairs
    simulated_scales  how a scale that is itself random varies
    log_ratios        how far the outputs of two graphs can be told apart
    advice            which mechanism fits a graph, in words
"""
