"""Utility metrics: what a release still tells. One file each."""
