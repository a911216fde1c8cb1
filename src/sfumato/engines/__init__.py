"""Where rows are counted and mapped: in memory, or out of core with DuckDB."""
