"""How kernels are compiled, cached, and called from a library made ahead of time."""
