"""An assessment as text for people."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from sfumato.cli.success_output import column_lines, measure_rows, requirement_rows
from sfumato.pipeline.assessment import Assessment
from sfumato.pipeline.private_notes import PRIVATE
from sfumato.report.number_text import amount, counted, percent

SIDES = {"before": "original", "after": "release"}
LETTERS = ("l", "theta", "t")
UNIQUE = {
    "pitman": "Pitman",
    "zayatz": "Zayatz",
    "snb": "SNB",
    "dankar": "Dankar's rule",
}


def assessment_lines(found: Assessment) -> Iterator[str]:
    """Format an assessment for people; the first line says that it is private."""
    yield PRIVATE
    yield ""
    yield (
        f"{counted(found.published_rows, 'published row')} ({found.form}), "
        f"{counted(found.rows, 'original row')}"
    )
    yield from _cells(found)
    yield ""
    yield "What the release keeps:"
    yield from _utility(found.utility)
    yield ""
    yield "How exposed people are:"
    yield from _risk(found.risk)
    for note in found.notes:
        yield ""
        yield f"Note: {note}"


def _cells(found: Assessment) -> Iterator[str]:
    for name, count in found.unrecognized_cells.items():
        yield f"  not recognized: {amount(count)} cells of '{name}'"
    for name, count in found.risk["unfounded_cells"].items():
        yield f"  hold no value of the original: {amount(count)} cells of '{name}'"


def _utility(utility: Mapping[str, Any]) -> Iterator[str]:
    figures = {k: v for k, v in utility.items() if isinstance(v, int | float)}
    yield from _table(measure_rows(figures))
    for name, reason in utility["not_measured"].items():
        yield f"  {name}: not measured, it {reason}"
    if "workload" in utility:
        yield from _workload(utility["workload"])
    if "learned" in utility:
        yield from _learned(utility["learned"])


def _workload(error: Mapping[str, Any]) -> Iterator[str]:
    yield ""
    yield f"Error of {error['queries']:,} queries (mean, 95% interval):"
    figures = [(n.replace("_", " "), e) for n, e in error.items() if _is_interval(e)]
    yield from _table([(name, _interval(each)) for name, each in figures])


def _learned(learned: Mapping[str, Any]) -> Iterator[str]:
    yield ""
    yield (
        f"Learning '{learned['target']}' ({learned['measure']}, "
        f"{learned['rows']:,} rows, 95% interval):"
    )
    rows = [("model", "trained on the original", "trained on the release")]
    for name, each in learned["models"].items():
        rows.append((name, _interval(each["original"]), _interval(each["release"])))
    rows.append(("no features", _interval(learned["baseline"]), ""))
    yield from _table(rows)
    if not learned["held_out"]:
        yield "  The release was made from the rows that were tested, too."
    yield "  What boosting loses without a column:"
    weights = [
        (name, f"{each['original']:.4f}", f"{each['release']:.4f}")
        for name, each in learned["importance"].items()
    ]
    yield from _table([("column", "original", "release"), *weights], indent="    ")


def _risk(risk: Mapping[str, Any]) -> Iterator[str]:
    yield from _table(list(_exposure_rows(risk)))
    yield from _table(list(_sensitive_rows(risk)))
    if risk["requirements"]:
        yield ""
        yield from _table(requirement_rows(risk["requirements"]))
    if "special_uniques" in risk:
        yield from _special_uniques(risk["special_uniques"])
    for name, share in risk["row_numbers"].items():
        yield f"  '{name}' numbers rows: {share:.1%} could be the original's row"
    for name in risk["withheld_columns_present"]:
        yield f"  '{name}' is published, and the policy withholds it"


def _exposure_rows(risk: Mapping[str, Any]) -> Iterator[tuple[str, ...]]:
    sides = [risk[side] for side in SIDES if side in risk]
    yield ("", *(name for side, name in SIDES.items() if side in risk))
    for key in ("groups", "smallest_group", "sample_uniques"):
        yield (key.replace("_", " "), *(amount(each[key]) for each in sides))
    for attacker in ("prosecutor", "journalist", "household"):
        yield from _attacker_rows(attacker, [each.get(attacker) for each in sides])
    yield ("marketer", *(percent(each["marketer"]) for each in sides))
    yield from _unique_rows([each.get("population_uniques") for each in sides])


def _attacker_rows(
    attacker: str, risks: list[dict[str, Any] | None]
) -> Iterator[tuple[str, ...]]:
    """The risk by one attacker on each side; a dash where it is not known."""
    known = [each for each in risks if each is not None]
    if not known:
        return
    for key in ("highest", "mean"):
        figures = [percent(None if r is None else r[key]) for r in risks]
        yield (f"{attacker}, {key}", *figures)
    for limit in known[0]["above"]:
        shares = [percent(None if r is None else r["above"][limit]) for r in risks]
        yield (f"{attacker}, above {limit}", *shares)


def _unique_rows(estimates: list[dict[str, Any] | None]) -> Iterator[tuple[str, ...]]:
    """How many people are estimated to be unique in the population."""
    known = [each for each in estimates if each is not None]
    if len(known) < len(estimates):
        return
    for key, title in UNIQUE.items():
        figures = [percent(each[key]) for each in known]
        yield (f"unique in the population, {title}", *figures)
    chosen = [each["dankar_model"] for each in known]
    yield ("the model that Dankar's rule takes", *chosen)


def _special_uniques(found: Mapping[str, Any]) -> Iterator[str]:
    """What SUDA2 found in the original."""
    yield ""
    yield "Special uniques of the original (SUDA2):"
    rows = [
        ("records with a score", amount(found["special_uniques"])),
        (
            "chance that a match is right (DIS-SUDA), highest",
            percent(found["highest_dis"]),
        ),
        ("chance that a match is right, mean", percent(found["mean_dis"])),
    ]
    for size, number in enumerate(found["minimal_sample_uniques"], start=1):
        if number:
            columns = counted(size, "column")
            rows.append((f"minimal sample uniques of {columns}", amount(number)))
    yield from _table(rows)
    yield "  Part of the scores from sets with a column (may add up to more than 100%):"
    shares = sorted(found["contributions"].items(), key=lambda each: -each[1])
    yield from _table([(n, percent(share)) for n, share in shares], indent="    ")


def _sensitive_rows(risk: Mapping[str, Any]) -> Iterator[tuple[str, ...]]:
    if "k" in risk:
        yield ("k", amount(risk["k"]))
    for name, each in risk.get("sensitive", {}).items():
        letters = {key: value for key, value in each.items() if key in LETTERS}
        said = ", ".join(f"{letter} = {amount(v)}" for letter, v in letters.items())
        if "uncertain_cells" in each:
            said += f" at worst ({counted(each['uncertain_cells'], 'uncertain cell')})"
        yield (f"'{name}'", said)


def _is_interval(value: object) -> bool:
    return isinstance(value, Mapping) and {"value", "low", "high"} <= set(value)


def _interval(figure: Mapping[str, float]) -> str:
    return f"{figure['value']:.4g} [{figure['low']:.4g}, {figure['high']:.4g}]"


def _table(rows: list[Any], *, indent: str = "  ") -> Iterator[str]:
    yield from column_lines(rows, indent=indent)
