"""Algorithms: decide which rows form a group. One file each."""
