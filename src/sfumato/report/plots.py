"""Charts for notebooks, as Altair objects."""

from __future__ import annotations

from collections.abc import Mapping
from types import ModuleType
from typing import Any

from sfumato.errors import InstallationError
from sfumato.report.facts import build

WIDTH, HEIGHT = 420, 300


def comparison_plot(record: Mapping[str, Any]) -> Any:
    """Candidates by risk and utility, with the front, the picks and the limits."""
    alt: Any = _altair()
    risk, utility = (record[side] for side in ("risk", "utility"))
    axes = [record["figures"].get(name, {"title": name}) for name in (risk, utility)]
    x = alt.X("utility:Q", title=axes[1]["title"])
    y = alt.Y("risk:Q", title=axes[0]["title"])
    points = [_point(each, risk, utility, record) for each in record["candidates"]]
    known = [each for each in points if None not in (each["risk"], each["utility"])]
    data, tips = alt.Data(values=known), ["number:Q", "name:N", "risk:Q", "utility:Q"]
    marks = alt.Chart(data).mark_point(size=80, filled=True)
    front = [each for each in known if each["front"]]
    line = alt.Chart(alt.Data(values=front)).mark_line(interpolate="step-after")
    return alt.layer(
        *_limit_rules(record, (("utility", utility), ("risk", risk))),
        line.encode(x=x, y=y),
        marks.encode(
            x=x,
            y=y,
            color=alt.Color("algorithm:N"),
            shape=alt.Shape("algorithm:N"),
            opacity=alt.condition("datum.accepted", alt.value(1.0), alt.value(0.35)),
            tooltip=tips,
        ),
    ).properties(width=WIDTH, height=HEIGHT)


def release_plot(manifest: Mapping[str, Any], found: Mapping[str, Any]) -> Any:
    """Group sizes and the loss of each column, from publishable facts alone."""
    alt: Any = _altair()
    facts = build(manifest, found)
    sizes = [
        {"rows": f"{each['low']}–{each['high']}", "groups": each["groups"]}
        for each in facts["group_sizes"]
    ]
    losses = [
        {"column": each["name"], "ncp": each["ncp"]}
        for each in facts["columns"]
        if "ncp" in each
    ]
    return alt.hconcat(
        alt.Chart(alt.Data(values=sizes), title="Group sizes")
        .mark_bar()
        .encode(
            x=alt.X("rows:N", sort=None, title="rows in a group"),
            y=alt.Y("groups:Q", title="groups"),
        ),
        alt.Chart(alt.Data(values=losses), title="Loss per column")
        .mark_bar()
        .encode(
            x=alt.X("ncp:Q", title="NCP", scale=alt.Scale(domain=[0, 1])),
            y=alt.Y("column:N", sort=None, title=None),
        ),
    )


def _point(
    each: Mapping[str, Any], risk: str, utility: str, record: Mapping[str, Any]
) -> dict[str, Any]:
    figures = each.get("figures", {})
    return {
        "number": each["number"],
        "name": each["name"],
        "algorithm": each["algorithm"],
        "front": each["on_front"],
        "accepted": each["accepted"] or not record["accept"],
        "risk": figures.get(risk),
        "utility": figures.get(utility),
    }


def _limit_rules(
    record: Mapping[str, Any], axes: tuple[tuple[str, str], ...]
) -> list[Any]:
    """A line at each limit of a figure that is on an axis."""
    alt: Any = _altair()
    rules = []
    for side, name in axes:
        if name in record["accept"]:
            place = alt.Data(values=[{side: record["accept"][name]}])
            mark = alt.Chart(place).mark_rule(strokeDash=[4, 4])
            at = {"x" if side == "utility" else "y": f"{side}:Q"}
            rules.append(mark.encode(**at))
    return rules


def _altair() -> ModuleType:
    try:
        import altair as alt
    except ImportError:
        raise InstallationError(
            "plot() needs Altair, which is not installed.",
            hint="pip install 'sfumato[plots]'",
        ) from None
    return alt
