"""Write the trees that were learned as hierarchy files, so that people can review them.

A policy may name such a file as a column's hierarchy, as it is or after changes. It
lists every value of the source and is private, as its first line says.
"""

from __future__ import annotations

import csv
import re
from collections.abc import Sequence
from io import StringIO

from sfumato.hierarchies.axis import CodedAxis
from sfumato.policy import Policy

FIRST_LINE = "private: a value of the source"


def learned_files(policy: Policy, quasi: Sequence[CodedAxis]) -> dict[str, str]:
    """The files of all columns whose hierarchy was learned, by name."""
    learned = [q for q in quasi if policy.column(q.name).hierarchy == "learned"]
    return {
        f"learned_{number}_{_plain(coded.name)}.csv": hierarchy_text(coded)
        for number, coded in enumerate(learned, 1)
    }


def hierarchy_text(coded: CodedAxis) -> str:
    """The tree of a column as a hierarchy file: a value and its labels per line."""
    axis = coded.axis
    sink = StringIO()
    writer = csv.writer(sink, lineterminator="\n")
    writer.writerow([FIRST_LINE, *(f"level {i}" for i in range(1, axis.height))])
    for leaf in range(axis.size):
        if leaf != axis.missing:
            writer.writerow([axis.node_labels[node] for node in axis.levels[:, leaf]])
    return sink.getvalue()


def _plain(name: str) -> str:
    """A column's name as a part of a file's name."""
    return re.sub(r"[^A-Za-z0-9]+", "_", name).strip("_")[:60] or "column"
