"""A small table and its policy, for tests of the whole command."""

from __future__ import annotations

TABLE = "age,disease\n" + "".join(f"{20 + i % 4},D{i % 2}\n" for i in range(40))
POLICY = """\
[data]
path = "people.csv"
[columns]
age = { role = "quasi" }
disease = { role = "sensitive" }
[[require]]
model = "k-anonymity"
k = 4
[algorithm]
name = "datafly"
"""
