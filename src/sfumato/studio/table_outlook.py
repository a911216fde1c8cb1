"""What the table allows of each requirement, from the code that advises."""

from __future__ import annotations

import threading
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pyarrow as pa

from sfumato.pipeline.advice.advice import Outlook
from sfumato.pipeline.advice.policy_ground import ground_of
from sfumato.pipeline.advice.process_advice import advise_unread
from sfumato.pipeline.advice.unmet_requirements import outlooks
from sfumato.pipeline.run import Run
from sfumato.pipeline.shared_coding import SharedCoding
from sfumato.policy import Policy

Outlooks = tuple[Outlook, ...]
MOST_KEPT = 8


@dataclass(eq=False)
class OutlookCache:
    """Outlooks of the last policies, and the coded table that they share."""

    _table: pa.Table | None = None
    _coding: SharedCoding = field(default_factory=SharedCoding)
    _kept: dict[Any, Outlooks] = field(default_factory=dict)
    _lock: threading.Lock = field(default_factory=threading.Lock, repr=False)

    def find(self, table: pa.Table, policy: Policy, base: Path) -> Outlooks:
        """The outlook of each requirement; under a process model no cell is read."""
        if policy.process_models():
            return advise_unread(policy, base).outlooks
        policy = policy.with_settings({"compare": {}, "accept": {}})
        with self._lock:
            if table is not self._table:
                self._table, self._kept = table, {}
                self._coding = SharedCoding()
            key = policy.model_dump_json()
            if key not in self._kept:
                run = Run(policy=policy, source=table, base=base, coding=self._coding)
                ground = ground_of(run)
                found = outlooks(ground.request, ground.asked)
                recent = list(self._kept.items())[-MOST_KEPT + 1 :]
                self._kept = {**dict(recent), key: found}
            return self._kept[key]
