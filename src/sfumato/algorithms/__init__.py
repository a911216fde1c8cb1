"""Algorithms: who goes with whom. One file each."""
