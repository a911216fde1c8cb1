"""Figures and tables of the papers, made again. One script each."""
