"""Compiled half of `algorithms/clustering`."""
