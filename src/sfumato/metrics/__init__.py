"""Utility metrics: how much information a release keeps. One file each."""
