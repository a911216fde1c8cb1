"""Compiled half of `algorithms/partition`."""
