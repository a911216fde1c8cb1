"""Geometry, rules, sorting and random streams that all kernels share."""
