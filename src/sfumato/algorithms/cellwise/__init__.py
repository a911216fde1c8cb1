"""Search large tables cell by cell: what algorithms that compare rows share."""
