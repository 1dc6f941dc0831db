"""What a release adds to exact counts, what that promises, and what it costs; no database, no graph, no clique in here.

The promises are stated and proved from GUARANTEE.md#what-is-not-promised on; marks there, such as [critical-scale],
stand in the code they rest on.

    exact         ε, δ and scales as fractions: read from text, written as text
    laplace       the discrete Laplace distribution: probabilities, pad, standard error, interval
    noise         the only source of noise in a release
    sensitivity   how far one connection can move the counts
    vertex        what runs at a vertex in the two-phase mechanisms
    collector     what runs at their collector
    mechanisms    `critical`, `edge`, `elv`, `published`
    composition   what several releases cost together
"""
