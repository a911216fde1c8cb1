"""Top-down cuts and bottom-up merges of a table into boxes."""
