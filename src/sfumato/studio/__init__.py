"""The studio: every step from a file to a release, in a browser on the same machine."""
