"""The default ends: its work is bounded, near-linear in rows and in columns."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from sfumato import registry
from sfumato.algorithms.base import Request
from sfumato.algorithms.best import grown_groups, harvest
from sfumato.algorithms.best.best import Best
from sfumato.algorithms.best.grown_groups import CELLS_PER_ROW, grow_groups
from sfumato.algorithms.best.harvest import Harvest
from sfumato.algorithms.clustering.k_member import BATCH, UNTABLED, KMember
from sfumato.algorithms.partition.mondrian import Mondrian
from sfumato.algorithms.refinement.refine import loss_of
from sfumato.algorithms.refinement.refinement_work import (
    LossHistory,
    block_limit,
    step_text,
    summary,
    usual_work,
)
from sfumato.data.schema import Kind
from sfumato.data.seeds import Seed
from sfumato.hierarchies.axis import Axis, CodedAxis, Shape
from sfumato.models.k_anonymity import KAnonymity
from sfumato.models.l_diversity import LDiversity

WIDE = (20, 50, 200)
"""Numbers of columns."""
EFFORT = 0.003
SLACK = 1.3
"""How far the last pass may go beyond its work: an eighth, and a pool per block."""


def line(name: str, codes: np.ndarray) -> CodedAxis:
    size = int(codes.max()) + 1
    axis = Axis(
        name=name,
        kind=Kind.INTEGER,
        shape=Shape.FREE,
        labels=tuple(str(i) for i in range(size)),
        levels=np.stack([np.arange(size), np.full(size, size)]).astype(np.int32),
        node_labels=(*(str(i) for i in range(size)), "*"),
        node_ncp=np.append(np.zeros(size), 1.0),
        node_loss=np.append(np.zeros(size), 1.0),
        positions=np.arange(size, dtype=float),
    )
    return CodedAxis(axis, codes.astype(np.int32))


def wide_table(columns: int, *, rows: int = 150, k: int = 5) -> Request:
    """Numbers that are all different from row to row, as in a table of payments."""
    numbers = np.random.default_rng(columns)
    return Request(
        quasi=tuple(
            line(f"c{j}", numbers.integers(0, 300, rows)) for j in range(columns)
        ),
        models=(KAnonymity(k=k),),
        seed=Seed.guessable(1),
        threads=1,
        resolve=registry.algorithm,
    )


@pytest.mark.parametrize("columns", WIDE)
def test_the_refinement_of_a_wide_table_stays_within_its_work(columns):
    request = wide_table(columns)
    done = Best(refine=EFFORT).solve(request).facts["refinement"]
    assert done["stopped"] == "effort"
    assert done["work"] <= SLACK * EFFORT * usual_work(request, plain=True)


@pytest.mark.parametrize("columns", WIDE)
def test_effort_1_looks_at_as_many_cells_of_a_wide_table_as_of_16_columns(columns):
    assert columns * work_of(columns) == pytest.approx(16 * work_of(16))


@pytest.mark.parametrize("columns", WIDE)
def test_columns_of_very_many_values_count_for_three(columns):
    assert 3 * work_of(columns, values=300) == pytest.approx(work_of(columns))


def work_of(columns: int, *, values: int = 100) -> float:
    """The work of effort 1 on a table with so many columns of so many values."""
    column = line("x", np.array([0, values - 1]))
    request = replace(wide_table(1, rows=2), quasi=(column,) * columns)
    return usual_work(request, plain=True)


def test_the_work_of_a_million_rows_is_less_than_proportional():
    few, many = (
        usual_work(_with_rows(rows), plain=True) for rows in (30_000, 1_000_000)
    )
    assert few < many < few * 1_000_000 / 30_000


@pytest.mark.parametrize("columns", WIDE)
def test_hierarchies_too_many_to_reopen_groups_get_more_work_that_is_bounded(columns):
    tree = replace(line("x", np.array([0, 99])).axis, shape=Shape.TREE)
    column = CodedAxis(tree, np.zeros(30_000, dtype=np.int32))
    request = replace(wide_table(1, rows=2), quasi=(column,) * columns)
    usual, more = (
        usual_work(request, plain=True, reopened=reopened) for reopened in (True, False)
    )
    assert usual < more < 2 * usual


def _with_rows(rows: int) -> Request:
    return replace(wide_table(1, rows=2), quasi=(line("x", np.zeros(rows)),))


@pytest.mark.parametrize("columns", WIDE)
def test_growing_the_groups_of_a_wide_table_stays_within_its_work(columns, monkeypatch):
    monkeypatch.setattr(grown_groups, "CELLS_PER_ROW", 20 * columns)
    request = wide_table(columns, rows=1000)
    found = grow_groups(request)
    # Each of a batch of groups looks at most at every row and block per row it takes.
    batch = BATCH * 5 * 2 * 1000 * columns * UNTABLED
    assert found.facts["cells_looked_at"] <= 20 * columns * 1000 + batch
    assert found.grouping.kept.all()
    assert found.grouping.sizes().min() >= 5


def test_groups_are_grown_to_the_end_where_work_suffices():
    request = wide_table(3)
    grown = KMember().search(request).grouping.group_of
    assert np.array_equal(grow_groups(request).grouping.group_of, grown)
    assert CELLS_PER_ROW * request.rows > grow_groups(request).facts["cells_looked_at"]


def test_many_rows_left_over_become_groups_of_their_own(monkeypatch):
    sick = np.random.default_rng(4).integers(0, 3, 400)
    request = replace(
        wide_table(4, rows=400),
        models=(KAnonymity(k=5), LDiversity(l=2)),
        sensitive={"sick": line("sick", sick)},
    )
    monkeypatch.setattr(harvest, "CELLS_PER_ROW", 0)
    found = Harvest(orders=1).solve(request)
    assert found.grouping.kept.all()
    assert found.grouping.sizes().min() >= 5


def test_only_the_costliest_of_many_columns_are_tried_by_gain():
    """One column separates; on it groups lose least, so that only it is not tried."""
    rows = 40
    halves = np.repeat([0, 1], rows // 2)
    numbers = np.random.default_rng(3)
    noise = [line(f"c{j}", numbers.permutation(rows)) for j in range(30)]
    separating = replace(line("halves", halves).axis, weight=0.01)
    request = replace(
        wide_table(1, rows=rows, k=rows // 2),
        quasi=(*noise, CodedAxis(separating, halves.astype(np.int32))),
    )
    group_of = Mondrian().search(request).grouping.group_of
    assert len(set(group_of)) == 2
    assert len(set(group_of[:20])) == 2


def test_a_column_that_costs_little_is_tried_where_no_other_has_a_cut():
    """Thirty columns have one value in nearly all rows; only the last can be cut."""
    rows = 40
    lonely = (np.arange(rows) == 0).astype(int)
    halves = np.repeat([0, 1], rows // 2)
    cheap = CodedAxis(
        replace(line("x", halves).axis, weight=0.01), line("x", halves).codes
    )
    quasi = (*(line(f"c{j}", lonely) for j in range(30)), cheap)
    request = replace(wide_table(1, rows=rows, k=10), quasi=quasi)
    group_of = Mondrian().search(request).grouping.group_of
    assert set(group_of[:20]).isdisjoint(group_of[20:])


def test_a_block_may_spend_its_share_of_the_work_that_is_left():
    assert block_limit(1000, 600, 4) == 100
    assert block_limit(1000, 999, 5) == 25


def test_the_loss_after_half_of_the_work_lies_between_passes():
    history = LossHistory(losses=[0.4])
    history.add(0.2, 100)
    history.add(0.1, 300)
    assert history.spent == 400
    assert history.loss == pytest.approx(0.1)
    assert history.at_half == pytest.approx(0.2 - 0.1 / 3)


def test_the_summary_says_what_more_work_would_buy():
    done = {
        "loss_before": 0.3,
        "loss": 0.2,
        "loss_at_half": 0.21,
        "warm": False,
        "stopped": "effort",
    }
    assert summary(done) == (
        "Refinement lowered the loss from 0.3000 to 0.2000, until its work was spent. "
        "The second half of the work lowered it by 5.0%; 'refine = 2' would lower it by "
        "about as much again, or less."
    )
    assert summary(done | {"warm": True}).endswith(
        "The second half of the work lowered it by 5.0%; more work would lower it further."
    )


def test_the_progress_tells_loss_bound_and_gap():
    assert step_text(0.06, None) == "refining groups: loss 0.0600"
    assert step_text(0.06, 0.04) == (
        "refining groups: loss 0.0600, bound 0.0400, 50% above it"
    )


def test_more_work_never_loses_more():
    request = wide_table(20)
    less, more = (
        loss_of(request, Best(refine=effort).solve(request).grouping)
        for effort in (EFFORT, 4 * EFFORT)
    )
    assert more <= less
