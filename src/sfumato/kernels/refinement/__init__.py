"""Compiled half of `algorithms/refinement`."""
