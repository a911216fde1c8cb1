"""Where rows are counted and mapped: in memory, out of core with DuckDB, or on Spark."""
