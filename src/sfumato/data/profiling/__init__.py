"""Guess what a column is from its name and its values."""
