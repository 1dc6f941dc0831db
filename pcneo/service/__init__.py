"""`pcneo serve`: a process beside the database that answers requests, which are nodes (DATA-MODEL.md#requests).

Anyone who may write a node may ask, but never for a release or a budget: otherwise anyone who can create a node could
spend the owner's ε.
"""
