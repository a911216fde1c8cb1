"""Compiled half of `io`."""
