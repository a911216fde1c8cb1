"""DIVA: groups that control how many rows show a value."""
