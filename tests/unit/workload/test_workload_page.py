"""What the page on workloads shows is read as it says."""

from __future__ import annotations

import re

from sfumato.workload.workload_files import parse_workload

BLOCK = re.compile(r"^```(\w+)\n(.*?)^```", re.MULTILINE | re.DOTALL)


def shown(repository, language):
    text = (repository / "docs" / "workloads.md").read_text(encoding="utf-8")
    return next(block for word, block in BLOCK.findall(text) if word == language)


def test_the_workload_that_is_shown_is_one(repository):
    assert len(parse_workload(shown(repository, "workload"))) == 101


def test_the_sql_that_is_shown_is_read(repository):
    (query,) = parse_workload(shown(repository, "sql"), form="sql").queries
    assert query.columns == ("birth_date", "sex", "zip")
