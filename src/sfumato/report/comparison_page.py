"""A comparison of candidate releases as one page, and as a card in a notebook."""

from __future__ import annotations

import hashlib
import json
from base64 import b64encode
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from sfumato.data.json_records import plain
from sfumato.report.number_text import amount, counted, measured, percent, setting
from sfumato.report.scatter_chart import dial_chart, scatter_chart
from sfumato.report.templating import fill, text_of_template

PICK_WORDS = {
    "knee": "best compromise",
    "min-risk": "lowest risk",
    "min-loss": "lowest loss",
}
SCRIPT = "comparison.js"

Record = Mapping[str, Any]


def render_comparison(record: Record) -> str:
    """The page of a comparison: the template `comparison.html.jinja`, filled."""
    script = text_of_template(SCRIPT)
    record = {**record, "figures": _axes_first(record)}
    chart = scatter_chart(record)
    swept = record.get("dial", {}).get("sweeps", [])
    return fill(
        "comparison.html.jinja",
        record=record,
        short=_short(record),
        picks=list(_pick_rows(record)),
        chart=chart,
        drawn={point.number for point in chart.points} if chart else set(),
        algorithms=_algorithms(record),
        axes={side: _side(record, side) for side in ("risk", "utility")},
        figures=list(record["figures"].items()),
        rows=candidate_rows(record),
        weaker=any(each.get("below_text") for each in record["candidates"]),
        failed=[each for each in record["candidates"] if each["status"] == "failed"],
        missing=[each for each in record["candidates"] if each["status"] == "not run"],
        limits=[
            _limit(name, value, record) for name, value in record["accept"].items()
        ],
        dials=[(sweep, dial_chart(sweep, i)) for i, sweep in enumerate(swept)],
        data=_embedded(record),
        script=script,
        script_hash=b64encode(hashlib.sha256(script.encode()).digest()).decode(),
    )


def candidate_rows(record: Record) -> list[dict[str, Any]]:
    """What the table shows of every candidate."""
    return [_row(each, record) for each in record["candidates"]]


def _axes_first(record: Record) -> dict[str, Any]:
    """The figures, those of the two axes first."""
    names = [n for n in (record["risk"], record["utility"]) if n in record["figures"]]
    return {name: record["figures"][name] for name in names} | dict(record["figures"])


def comparison_card(record: Record) -> str:
    """The front of a comparison as one element, styled by its own attributes alone."""
    on_front = [each for each in record["candidates"] if each["on_front"]]
    names = (record["risk"], record["utility"])
    return fill(
        "comparison_card.html.jinja",
        private=record["private"],
        short=_short(record),
        head=[_title(record, name) for name in names],
        rows=[
            (each["name"], *(_shown(record, each, name) for name in names))
            for each in on_front
        ],
    )


def _short(record: Record) -> str:
    states = [each["status"] for each in record["candidates"]]
    text = (
        f"{states.count('finished')} of {counted(len(states), 'candidate')} gave a "
        f"release, {states.count('failed')} failed; "
        f"{len(record['front'])} are on the front."
    )
    if record["stopped"]:
        text += f" Stopped early: {states.count('not run')} were not run."
    return text


def _pick_rows(record: Record) -> Iterator[tuple[str, str, int, str]]:
    by_number = {each["number"]: each for each in record["candidates"]}
    for name, number in record["picks"].items():
        yield PICK_WORDS[name], name, number, by_number[number]["name"]


def _algorithms(record: Record) -> list[str]:
    return list(dict.fromkeys(each["algorithm"] for each in record["candidates"]))


def _side(record: Record, side: str) -> list[tuple[str, str]]:
    found = record["figures"].items()
    return [(name, each["title"]) for name, each in found if each["side"] == side]


def _title(record: Record, name: str) -> str:
    return str(record["figures"].get(name, {"title": name})["title"])


def _shown(record: Record, each: Record, name: str) -> str:
    value = each.get("figures", {}).get(name)
    share = record["figures"].get(name, {}).get("share", False)
    return percent(value) if share else amount(value)


def _limit(name: str, value: float, record: Record) -> str:
    known = record["figures"].get(name, {})
    word = "at least" if known.get("more_is_better") else "at most"
    shown = percent(value) if known.get("share") else amount(value)
    return f"{known.get('title', name)}: {word} {shown}"


def _row(each: Record, record: Record) -> dict[str, Any]:
    """What the table shows of a candidate."""
    words = [_state(each, record)]
    words += [PICK_WORDS[n] for n, p in record["picks"].items() if p == each["number"]]
    return {
        "number": each["number"],
        "name": each["name"],
        "algorithm": each["algorithm"],
        "cells": [_shown(record, each, name) for name in record["figures"]],
        "words": ", ".join(filter(None, words)),
        "front": each["on_front"],
        "weaker": bool(each.get("below_text")),
    }


def _state(each: Record, record: Record) -> str:
    if each["status"] != "finished":
        return str(each["status"])
    if each.get("below_text"):
        return str(each["below_text"])
    place = ["on the front"] if each["on_front"] else []
    if record["accept"]:
        place.append("accepted" if each["accepted"] else "beyond a limit")
    return ", ".join(place)


def _embedded(record: Record) -> str:
    """The record for the script, safe inside a page."""
    candidates = [_summary(each) for each in record["candidates"]]
    text = json.dumps(
        plain({**record, "candidates": candidates}), ensure_ascii=True, allow_nan=False
    )
    return text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")


def _summary(each: Record) -> dict[str, Any]:
    """A candidate with the texts that the details show."""
    settings = [f"{key}={_written(value)}" for key, value in each["settings"].items()]
    said: Sequence[Record] = each.get("requirements", [])
    return {
        **each,
        "set": " ".join(f"--set {_quoted(text)}" for text in settings),
        "changes": ", ".join(
            f"{k} = {setting(v)}" for k, v in each["settings"].items()
        ),
        "measured": ", ".join(f"{r['model']}: {measured(r)}" for r in said),
    }


def _written(value: Any) -> str:
    return json.dumps(value) if isinstance(value, bool | int | float) else str(value)


def _quoted(text: str) -> str:
    """A word of a command line."""
    plain_word = all(c.isalnum() or c in "._=-" for c in text)
    return text if plain_word else "'" + text.replace("'", "'\\''") + "'"
