"""Cliques: how many there are at each vertex, at each edge and inside groups, and what one pair changes.

cliques     counts per vertex, per edge, inside groups; common neighbours
losses      what changing one pair costs at given scales
protected   the pairs inside groups, the graph that has them all, and how far they can move the counts
"""
