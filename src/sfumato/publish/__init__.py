"""Publication operators: how a grouping is shown. One file each."""
