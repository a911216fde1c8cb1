"""Privacy models: one file each, defined once over all groups of a table."""
