"""Tools for developers: libraries, wheels and pages of the catalogue."""
