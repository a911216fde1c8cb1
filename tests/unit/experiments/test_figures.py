"""Figures and tables show what was measured."""

from __future__ import annotations

import csv
import xml.etree.ElementTree as ET
from dataclasses import replace

import pytest

from experiments.drawing import Scaling, svg
from experiments.files import markdown, write
from experiments.results import (
    Finding,
    Line,
    Panel,
    Point,
    Result,
    Verdict,
    averaged,
    below,
    judged,
    ranged,
)


def result(**changes):
    panel = Panel(
        title="Loss",
        x="k",
        y="NCP",
        lines=(Line("ours", (Point(2, 0.5, 0.4, 0.6), Point(10, 0.7, 0.7, 0.7))),),
        **changes,
    )
    return Result(
        name="example",
        title="An example",
        source="Adult, 10 rows.",
        spread="Bands: 95 % interval.",
        panels=(panel,),
        findings=(Finding("a claim", Verdict.HOLDS, "0.5."),),
    )


def words(picture):
    root = ET.fromstring(picture)
    return [node.text for node in root.iter() if node.tag.endswith("text")]


@pytest.mark.parametrize(
    "changes", [{}, {"log_x": True}, {"log_y": True}, {"log_x": True, "log_y": True}]
)
def test_a_figure_names_axes_series_data_and_spread(changes):
    said = words(svg(result(**changes)))
    for part in ("An example", "Loss", "k", "NCP", "ours", "Adult, 10 rows."):
        assert part in said
    assert "Bands: 95 % interval." in said


def test_names_on_the_x_axis_are_written_out():
    picture = svg(
        Result(
            name="example",
            title="t",
            source="s",
            spread="w",
            panels=(
                Panel(
                    title="p",
                    x="table",
                    y="error",
                    lines=(Line("here", (Point(0, 1, 1, 1), Point(1, 2, 1, 3))),),
                    x_names=("race", "sex"),
                ),
            ),
        )
    )
    assert {"race", "sex"} <= set(words(picture))


def several(*names):
    """A figure of two panels; the second one has these series."""
    first, *_ = result().panels
    lines = tuple(replace(first.lines[0], name=name) for name in names)
    panels = (first, replace(first, title="Gain", lines=lines))
    return words(svg(replace(result(), panels=panels)))


def test_panels_with_the_same_series_have_one_legend():
    assert several("ours").count("ours") == 1


def test_panels_with_other_series_have_a_legend_each():
    assert several("ours", "theirs").count("ours") == 2


def test_the_x_axis_names_where_something_was_measured():
    said = words(svg(result()))
    assert {"2", "10"} <= set(said)
    assert not {"4", "6", "8"} & set(said)


def test_an_axis_of_two_decades_has_more_than_two_numbers():
    line = Line("ours", (Point(2, 0.03, 0.03, 0.03), Point(10, 2.0, 2.0, 2.0)))
    panel = Panel(title="p", x="x", y="y", lines=(line,), log_y=True)
    said = words(svg(replace(result(), panels=(panel,))))
    assert {"0.05", "0.1", "0.2", "0.5", "1", "2"} <= set(said)


def test_a_note_under_a_figure_does_not_part_a_letter_from_its_value():
    for shift in range(12):
        source = "x" * (80 + shift) + ", θ = 0.3."
        said = words(svg(replace(result(), source=source)))
        assert any(line.endswith("θ\xa0=\xa00.3.") for line in said)


def test_a_single_point_can_be_drawn():
    line = Line("one", (Point(5, 0.0, 0.0, 0.0),))
    panel = Panel(title="p", x="x", y="y", lines=(line,))
    picture = svg(Result(name="n", title="t", source="s", spread="w", panels=(panel,)))
    assert "nan" not in picture


def test_the_csv_file_has_every_point(tmp_path):
    write(result(), tmp_path)
    with (tmp_path / "example.csv").open(encoding="utf-8") as file:
        rows = list(csv.reader(file))
    assert rows[1:] == [
        ["Loss", "ours", "2", "0.5", "0.4", "0.6"],
        ["Loss", "ours", "10", "0.7", "0.7", "0.7"],
    ]


def test_the_page_of_a_result_has_its_verdicts():
    assert "**a claim: holds.** 0.5.\n" in list(markdown(result()))


def test_an_interval_of_a_mean_is_students():
    """Of 1, 2, 3: 2 ± 4.303 × 1 / √3, to a few percent at two degrees of freedom."""
    point = averaged(0, [1.0, 2.0, 3.0])
    assert point.y == 2
    assert point.half == pytest.approx(4.303 / 3**0.5, rel=0.06)


def test_a_range_is_the_median_with_both_ends():
    assert ranged(1, [3.0, 1.0, 2.0]) == Point(1, 2.0, 1.0, 3.0)


def test_below_asks_that_spreads_do_not_touch():
    assert below(Point(0, 1, 0.9, 1.1), Point(0, 2, 1.5, 2.5))
    assert not below(Point(0, 1, 0.9, 1.6), Point(0, 2, 1.5, 2.5))


@pytest.mark.parametrize(
    ("parts", "verdict"),
    [
        ([True, True], Verdict.HOLDS),
        ([True, False], Verdict.IN_PART),
        ([False, False], Verdict.FAILS),
    ],
)
def test_a_claim_of_several_parts_holds_only_if_all_do(parts, verdict):
    assert judged(parts) is verdict


def test_a_log_axis_shorter_than_a_decade_names_at_least_four_numbers():
    assert Scaling(0.9, 4.1, 100.0, log=True).ticks() == [1.0, 1.5, 2.0, 3.0, 4.0]
