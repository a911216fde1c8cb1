"""DIVA: groups that keep how many rows show a value."""
