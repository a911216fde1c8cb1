"""Every attack on the chosen candidate: its figures, or why it is not run."""

from __future__ import annotations

import html
import json
import re

import pytest

from sfumato import registry
from tests.running_studio import confirm_roles, running_studio

FEW = {"algorithm": ["mondrian"], "key-0": "require.0.k", "values-0": "5"}
ROW = re.compile(
    r'<th scope="row">([a-z-]+)[^<]*(?:<small>(.*?)</small>)?</th>(<td>.*?)</tr>'
)
CELL = re.compile(r"<td[^>]*>(.*?)</td>")


@pytest.fixture(scope="module")
def attacked(tmp_path_factory):
    """The example, with its one candidate attacked in every way that applies."""
    with running_studio(tmp_path_factory.mktemp("studio") / "home") as studio:
        studio.enter()
        studio.send("/data/example")
        confirm_roles(studio)
        studio.send("/compare/save", **FEW)
        studio.send("/compare/run")
        studio.wait()
        studio.send("/compare/choose", number=1)
        studio.wait()
        known = studio.space.require_policy().names("quasi")
        studio.send("/attacks/run", known=list(known), sample=40)
        studio.wait()
        yield studio


def results(studio) -> dict:
    """What the studio kept of the attacks."""
    place = studio.space.folder.notes / "attacked.json"
    found: dict = json.loads(place.read_text("utf-8"))
    return found


def test_every_attack_is_either_run_or_refused_with_a_reason(attacked):
    found = results(attacked)
    ran = {each["name"] for each in found["attacks"]}
    assert ran | set(found["skipped"]) == set(registry.names("attacks"))
    assert not ran & set(found["skipped"])
    assert {"linkage", "guess", "homogeneity", "skewness", "membership"} <= ran


def test_each_result_is_shown_with_its_interval_baseline_and_sentence(attacked):
    shown = ROW.findall(attacked.ask("/attacks").text)
    told = {each.name: each.sentence for each in registry.catalogue("attacks")}
    kept = results(attacked)["attacks"]
    assert [name for name, _, _ in shown] == [each["name"] for each in kept]
    for (name, sentence, rest), each in zip(shown, kept, strict=True):
        column, people, success, interval, baseline, *_ = CELL.findall(rest)
        assert html.unescape(sentence).startswith(told.pop(name, ""))
        assert column == (each["column"] or "–")
        assert people == f"{each['n']:,}"
        assert [share(success), share(baseline)] == pytest.approx(
            [each["success"], each["baseline"]], abs=0.0051
        )
        low, high = interval.split(" to ")
        assert share(low) <= share(success) <= share(high)


def share(text: str) -> float:
    """A percentage of the page as a number."""
    return float(text.replace("<", "").rstrip("%")) / 100


def test_an_attack_that_is_refused_says_why(attacked):
    text = attacked.ask("/attacks").text
    skipped = results(attacked)["skipped"]
    assert "definetti" in skipped
    for name, reason in skipped.items():
        assert f"<dt><strong>{name}</strong></dt>" in text
        assert reason in html.unescape(text)


def test_an_attack_without_a_bound_promises_nothing(attacked):
    rows = {name: CELL.findall(rest) for name, _, rest in _rows(attacked)}
    assert rows["linkage"][-1] == "✓ within 20.0%"
    assert rows["guess"][-1] == "none"


def _rows(studio) -> list[tuple[str, str, str]]:
    return ROW.findall(studio.ask("/attacks").text)


def test_the_report_of_the_release_tells_of_the_attacks(attacked):
    attacked.send("/release/sign", approver="Ada Example")
    attacked.wait()
    report = (attacked.root / "release" / "report.html").read_text("utf-8")
    assert "✓ within the promised bound" in report
