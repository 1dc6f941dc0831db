"""The benchmark: every goal a line, measured beside its peer in turns, as `scripts/bench` runs it."""
