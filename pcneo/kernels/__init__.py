"""Compiled code on plain arrays: numpy and numba only, no objects, no errors, no knowledge of keys."""
