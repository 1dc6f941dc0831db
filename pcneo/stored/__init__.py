"""Stored runs: listed, verified and removed; queried; one cohesion shown; exported to files and networkx graphs."""
