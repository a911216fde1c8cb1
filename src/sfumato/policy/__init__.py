"""The policy: what is asked of a release."""
