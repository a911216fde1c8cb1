"""Measure what a published table keeps, and what an attacker would learn from it."""
