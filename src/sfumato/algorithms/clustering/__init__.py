"""Clustering: groups grown around rows or centers that are alike."""
