"""Exact counts of cliques, and how far one pair of vertices can change them.

cliques             cliques per vertex, per edge and inside cohesions
common_neighbours   the most neighbours that a vertex shares with another
counted             a graph, its groups and what is counted on them, each number once
answers             the answers of randomised response, and what is counted in their graph
protected           the pairs inside groups, the graph with all of them, and how far they can change the counts
"""
