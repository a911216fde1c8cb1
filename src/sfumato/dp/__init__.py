"""Differential privacy: mechanisms, a ledger of their cost, amplification by sampling.

OpenDP, the source of all noise, is imported only in this package, and only when noise
is drawn.
"""
