"""How good the answers are: searches beside what a user would take instead, on graphs with known groups and without.

    grouped_graphs   the graphs, and the group of each vertex where it is known
    alternatives     one hop, a community of the k-core, Louvain's communities
    minimum          the proven minimum around a vertex, and the most connections at that size, by OR-tools' CP-SAT
    set_figures      what is measured of one graph, way after way; finished graphs are kept in the folder
    telling          tables as Markdown and CSV
    picturing        the picture

It is no part of the paper, and is made by `scripts/evaluate answers`.
"""
