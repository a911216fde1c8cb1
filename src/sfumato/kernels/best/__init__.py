"""Compiled half of `algorithms/best`."""
