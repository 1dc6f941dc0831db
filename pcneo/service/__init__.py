"""`pcneo serve`: a process beside the database that answers requests, which are nodes (DATA-MODEL.md#requests).

Whoever may write a node may ask. Never for a release and never for a budget: whoever could create a node could spend
the owner's ε.
"""
