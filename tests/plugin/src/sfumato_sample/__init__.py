"""A sample plug-in for Sfumato: one algorithm and one model."""
