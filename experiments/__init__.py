"""Repeats tables and figures of papers: `python -m experiments NAME`."""
