"""Every attack on the chosen candidate: its figures, or why it is not run."""

from __future__ import annotations

import html
import json
import re
from time import sleep

import pytest

from sfumato import registry
from sfumato.studio.background_task import TaskState
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


def test_bounds_that_hold_are_no_green_check_beside_a_large_gain(attacked):
    text = html.unescape(attacked.ask("/attacks").text)
    assert results(attacked)["holds"]
    assert '<p class="light red">✗ Largest gain over guessing:' in text
    assert "Every promised bound holds." in text
    assert '<span class="mark red" aria-hidden="true">✗</span>' in text
    assert "bounds hold" in text
    assert re.search(r"done: gain large, [^<]*bounds hold", text)


def test_each_gain_says_how_large_it_is_in_words_and_symbols(attacked):
    rows = {name: CELL.findall(rest) for name, _, rest in _rows(attacked)}
    marks = {"small": "✓", "noticeable": "!", "large": "✗"}
    linkage = results(attacked)["attacks"][0]
    size = linkage["gain_size"]
    assert rows["linkage"][5] == f"{marks[size]} {linkage['gain']:.2%} {size}"
    assert rows["skewness"][5] == "–"


def test_the_slow_attack_comes_last_and_says_so(attacked):
    text = attacked.ask("/attacks").text
    assert "It comes last: it runs the algorithm up to 200 times" in text
    assert results(attacked)["attacks"][-1]["name"] == "minimality"


def test_the_report_of_the_release_tells_of_the_attacks(attacked):
    attacked.send("/release/sign", approver="Ada Example")
    attacked.wait()
    report = (attacked.root / "release" / "report.html").read_text("utf-8")
    assert "✓ within the promised bound" in report
    private = (attacked.root / "release" / "private" / "report.html").read_text("utf-8")
    assert "✗ Attacks: gain large" in private


def test_a_canceled_run_keeps_the_attacks_that_are_finished(attacked):
    names = ["linkage", "minimality"]
    attacked.send("/attacks/run", sample=40, attack=names)
    task = attacked.space.tasks.current
    while task.running and not task.step.startswith("minimality"):
        sleep(0.01)
    assert task.step.startswith("minimality"), "the label names another attack"
    attacked.send("/task/cancel", back="attacks")
    assert task.ended.wait(60)
    assert task.state is TaskState.DONE
    text = attacked.ask("/attacks").text
    assert [name for name, _, _ in ROW.findall(text)] == ["linkage"]
    assert "It was canceled. What is finished is shown." in text
    assert "16 of 17 attacks were not tried: distance-linkage" in text
