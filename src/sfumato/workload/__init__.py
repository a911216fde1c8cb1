"""Workloads: queries, their answers on any form of release, and the error."""
