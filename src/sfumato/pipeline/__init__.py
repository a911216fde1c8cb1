"""The straight line, from a source table and a policy to a written release."""
