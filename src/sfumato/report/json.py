"""The facts of a release as JSON."""

from __future__ import annotations

import json

from sfumato.report.facts import Facts


def dump(facts: Facts) -> str:
    """The facts as text: indented, in the order of the layout, no NaN.

    A page made of `json.loads` of it is the same page.
    """
    text = json.dumps(facts, indent=2, ensure_ascii=False, allow_nan=False)
    return text + "\n"
