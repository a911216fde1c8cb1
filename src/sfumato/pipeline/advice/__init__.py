"""Advice about a policy: what its data allow, and which edits help how much."""
