"""Attacks on published tables, one file each; the catalogue names them."""
