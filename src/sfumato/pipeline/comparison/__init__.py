"""Compare candidate releases: who they are, how they run, and which to choose."""
