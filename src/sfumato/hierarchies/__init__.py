"""Hierarchies: every quasi-identifier as an ordered axis of integer codes."""
