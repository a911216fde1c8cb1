"""Compiled half of `algorithms/full_domain`."""
