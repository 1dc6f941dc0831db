"""The benchmark behind `scripts/bench`: a line for every goal, measured in turns with a peer."""
