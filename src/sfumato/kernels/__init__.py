"""Compiled code: the only place where rows are visited one by one."""
