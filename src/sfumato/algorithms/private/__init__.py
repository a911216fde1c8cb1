"""Algorithms whose guarantee covers the making of the release: differential privacy."""
