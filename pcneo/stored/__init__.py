"""What is asked of stored runs: which there are, queries, one cohesion to look at, files and networkx graphs."""
