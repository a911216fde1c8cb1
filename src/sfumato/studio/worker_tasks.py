"""What runs in the process of a task; each returns a record that is kept."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from sfumato.algorithms.base import Progress
from sfumato.data.profiling.identifying_power import Power
from sfumato.data.profiling.infer import Guess, Inference, infer

SETS_KEPT = 12


def propose(
    progress: Progress,
    _stop: threading.Event,
    *,
    root: str,
    name: str,
    settings: Mapping[str, Any],
) -> dict[str, Any]:
    """Propose a policy for a file of the project, as `sfumato init` does."""
    from sfumato.io.csv_grammar import UNLIKE_ROWS, line_breaks
    from sfumato.io.decimals import pointed
    from sfumato.io.read import read_source
    from sfumato.policy.propose import propose as proposed

    progress("reading", 0.1)
    multiline = bool(settings.get("multiline"))
    source = read_source(
        Path(root) / name,
        delimiter=settings.get("delimiter"),
        encoding=settings.get("encoding"),
        breaks=line_breaks(multiline=multiline, otherwise=UNLIKE_ROWS),
    )
    progress("looking at columns", 0.4)
    table, decimal = pointed(source)
    found = proposed(
        table,
        path=name,
        missing=settings.get("missing"),
        decimal=decimal,
        profile=settings.get("profile"),
        multiline=multiline,
    )
    return {"text": found.text, "profile": profile_record(found.inference)}


def profile(
    progress: Progress, _stop: threading.Event, *, root: str, policy: str
) -> dict[str, Any]:
    """Look at the columns of a policy's source."""
    from sfumato.pipeline.given_tables import read_table
    from sfumato.pipeline.named_source import named_source
    from sfumato.policy import Policy

    asked = Policy.parse(policy, base=Path(root))
    progress("reading", 0.1)
    source = read_table(named_source(asked, Path(root)), asked, {})
    progress("looking at columns", 0.4)
    return profile_record(infer(source, missing=asked.data.missing))


def profile_record(found: Inference) -> dict[str, Any]:
    """What was found about columns: names, counts and reasons, and no cell."""
    return {
        "rows": found.rows,
        "columns": {guess.name: _guess(guess) for guess in found.guesses},
        "sets": [_power(power) for power in found.sets[:SETS_KEPT]],
    }


def _guess(guess: Guess) -> dict[str, Any]:
    return {
        "role": str(guess.role),
        "role_reason": guess.role_reason,
        "kind": str(guess.kind),
        "kind_reason": guess.kind_reason,
        "drop": guess.drop,
        "missing": guess.missing,
        **_power(guess.power),
    }


def _power(power: Power) -> dict[str, Any]:
    return {
        "names": list(power.columns),
        "distinct": power.distinct,
        "distinction": power.distinction,
        "separation": power.separation,
    }


TaskFunction = Callable[..., dict[str, Any]]


def task(name: str) -> TaskFunction:
    """The function of a task; those that compare load much more."""
    light: dict[str, TaskFunction] = {"propose": propose, "profile": profile}
    if name in light:
        return light[name]
    from sfumato.studio import candidate_tasks as heavy

    found: dict[str, TaskFunction] = {
        "compare": heavy.compare,
        "candidate": heavy.make_candidate,
        "attack": heavy.attack,
        "lookup": heavy.look_up,
        "release": heavy.release,
    }
    return found[name]
