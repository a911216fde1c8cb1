"""Improve any grouping: move, swap and regroup rows while every rule holds."""
