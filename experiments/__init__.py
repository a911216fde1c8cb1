"""Reproduce figures and tables of papers. One script each."""
