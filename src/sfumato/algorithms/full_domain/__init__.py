"""Full-domain recoding: one level per column for the whole table, searched on a lattice."""
