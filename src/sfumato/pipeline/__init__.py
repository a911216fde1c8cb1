"""The path of a run, from a source table and a policy to a written release."""
