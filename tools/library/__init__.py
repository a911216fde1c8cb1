"""Compile all kernels ahead of time into one library per platform."""
