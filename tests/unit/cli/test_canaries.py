"""No value of the source that the data files do not show is in a publishable file.

Every column of the demo's source gets canaries: values that occur nowhere else. Each
command writes its files; what is not in a directory `private` counts as publishable.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

from sfumato.cli import main

CANARIES: Mapping[str, list[str]] = {
    "name": ["Canary Yellowbird"],
    "birth_date": ["1871-03-29"],
    "sex": ["canary-sex"],
    "zip": ["99787"],
    "ethnicity": ["Canarian Islander"],
    "occupation": ["Canary breeder"],
    "admission_date": ["2019-11-23"],
    "diagnosis": ["Q99 Canary fever"],
    "cost": ["777123.45"],
}
"""Per column the values that stand in one row, and in the last one nothing else."""


def with_canaries(demo: Path) -> None:
    """Put one row of canaries into each of a few places of the demo's source."""
    source = demo / "source.csv"
    with source.open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    for at, (column, values) in enumerate(CANARIES.items()):
        for step, value in enumerate(values):
            rows[17 * at + step][column] = value
    text = io.StringIO()
    writer = csv.DictWriter(text, list(rows[0]), lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    source.write_text(text.getvalue(), encoding="utf-8")


def allowed(demo: Path) -> None:
    """Let the hierarchies of the demo know the new categories."""
    lines = {
        "ethnicity": "Canarian Islander",
        "occupation": "Canary breeder",
        "diagnosis": "Q99 Canary fever",
    }
    for name, value in lines.items():
        place = demo / "hierarchies" / f"{name}.csv"
        text = place.read_text(encoding="utf-8").rstrip("\n")
        last = text.splitlines()[-1].split(";")
        place.write_text(
            text + "\n" + ";".join([value, *last[1:]]) + "\n", encoding="utf-8"
        )


def anonymized(demo: Path, *words: str) -> Path:
    place = demo / "canaries"
    asked = ["anonymize", str(demo / "policy.toml"), "--out", str(place), *words]
    assert main(asked) == 0
    return place


def attacked_and_reported(demo: Path) -> Path:
    place = anonymized(demo)
    for name in ("linkage", "homogeneity"):
        words = ["attack", name, str(place), "--original", str(demo / "source.csv")]
        assert main([*words, "--policy", str(demo / "policy.toml")]) == 0
    assert main(["report", str(place), "--approver", "Ada", "--note", "fine"]) == 0
    return place


def compared_and_picked(demo: Path) -> Path:
    place = demo / "canaries"
    words = [
        "compare",
        str(demo / "policy.toml"),
        "--pick",
        "min-loss",
        "--out",
        str(place),
    ]
    only = ["--set", 'compare.algorithms=["mondrian"]']
    assert main([*words, *only]) == 0
    return place


def advised_and_applied(demo: Path) -> Path:
    place, better = demo / "canaries", demo / "better.toml"
    policy = str(demo / "policy.toml")
    assert main(["advise", policy, "--apply", "1", "-o", str(better)]) == 0
    assert main(["anonymize", str(better), "--out", str(place)]) == 0
    return place


COMMANDS: Mapping[str, Callable[[Path], Path]] = {
    "compare": compared_and_picked,
    "advise": advised_and_applied,
    "anonymize": anonymized,
    "anonymize with rows left out": lambda demo: anonymized(
        demo, "--set", "publish.max_suppressed=0.02", "--set", "require.0.k=20"
    ),
    "anonymize with loss by value": lambda demo: anonymized(
        demo, "--set", 'report.loss_by=["sex","zip","ethnicity"]'
    ),
    "anonymize by suppression": lambda demo: anonymized(
        demo, "--set", "publish.operator=suppress"
    ),
    "attack and report": attacked_and_reported,
}
"""Each runs a command on the demo in a directory, and returns what it wrote."""


@pytest.fixture(params=COMMANDS)
def written(request, tmp_path) -> Path:
    assert main(["demo", "--out", str(tmp_path / "demo")]) == 0
    with_canaries(tmp_path / "demo")
    allowed(tmp_path / "demo")
    return COMMANDS[request.param](tmp_path / "demo")


def test_no_publishable_file_has_a_canary_that_the_data_do_not_show(written):
    shown = "".join(
        file.read_text(encoding="utf-8") for file in sorted(written.glob("data.*"))
    )
    hidden = [v for values in CANARIES.values() for v in values if v not in shown]
    assert len(hidden) >= 4
    for file in written.rglob("*"):
        if file.is_file() and "private" not in file.relative_to(written).parts:
            text = file.read_text(encoding="utf-8")
            assert [value for value in hidden if value in text] == [], file.name


def test_the_private_edition_may_have_them(written):
    page = (written / "private" / "report.html").read_text(encoding="utf-8")
    assert "Private" in page.splitlines()[0]
