"""A comparison under differential privacy, whose candidates cost a budget."""

from __future__ import annotations

PRIVATE_POLICY = """
[columns.age]
role = "quasi"
kind = "integer"
domain = { low = 0, high = 99 }
hierarchy = { intervals = [10, 50] }
[[require]]
model = "differential-privacy"
epsilon = 1.0
delta = 1e-6
[algorithm]
name = "safepub"
[privacy]
ledger = "ledger.json"
epsilon = 3.0
delta = 0.01
[compare]
set = { "require.0.epsilon" = [0.5, 1.0] }
"""
