"""Differential privacy: mechanisms, a ledger of their cost, amplification by sampling.

OpenDP, the source of all noise, is imported here alone and when noise is drawn.
"""
