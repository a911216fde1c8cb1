"""Algorithms with differential privacy: the guarantee is about how a release is made."""
