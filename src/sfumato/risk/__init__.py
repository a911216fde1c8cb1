"""What an attacker would learn from a published table: figures and attacks."""
