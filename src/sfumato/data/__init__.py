"""Plain data: schemas, coded tables, groupings, releases, seeds."""
