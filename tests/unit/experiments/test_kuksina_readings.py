"""The readings of DP-anonym do what they are said to do."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

import pyarrow as pa
import pytest

from experiments.kuksina_depth import least_epsilon, told_apart
from experiments.kuksina_releases import (
    Cuts,
    as_written,
    measured,
    measured_over,
    published,
    utility,
)
from experiments.kuksina_studies import (
    CLASSIC,
    STUDIES,
    peer,
    private,
    released,
)
from sfumato.algorithms.private import dp_anonym
from sfumato.algorithms.private.noisy_tree import grow

CMC = STUDIES[2]


@pytest.fixture(scope="module")
def source(shared_data):
    return CMC.source(400)


def counted(table: pa.Table) -> dict[tuple[str, ...], int]:
    rows = zip(*(map(str, table.column(n).to_pylist()) for n in CMC.quasi), strict=True)
    return Counter(rows)


def smallest_group(table: pa.Table) -> int:
    return min(counted(table).values())


@pytest.mark.parametrize(
    "algorithm",
    [as_written(0.5), private(0.5, 40, per_level=True)],
    ids=["text", "deep"],
)
def test_every_reading_publishes_all_rows_in_groups_of_k(source, algorithm):
    table = published(CMC, source, algorithm, 7)
    assert table.num_rows == 400
    assert smallest_group(table) >= 7


def test_cells_alone_give_the_loss_that_the_release_states(source):
    made = released(CMC, source, peer(CLASSIC), 5)
    found = utility(CMC, source, made.table, 5)
    for name in ("ncp", "generalized_loss", "discernibility", "average_class_size"):
        assert found[name] == pytest.approx(made.utility[name])


def test_a_release_shows_the_groups_that_its_cuts_give(source, monkeypatch):
    """The figures merge the cuts of one tree for each k; so does the algorithm."""
    trees = []

    def kept(*arguments):
        trees.append(grow(*arguments))
        return trees[-1]

    monkeypatch.setattr(dp_anonym, "grow", kept)
    asked = private(5.0, 12)
    made = released(CMC, source, asked, 7)
    cuts = Cuts.drawn(CMC, source, asked)
    shown = replace(cuts, tree=trees[0]).shown(7)
    assert counted(shown) == counted(made.table)


def test_one_tree_gives_groups_of_every_k(source):
    cuts = Cuts.drawn(CMC, source, private(0.5, 40))
    for k in (2, 10, 50):
        assert smallest_group(cuts.shown(k)) >= k


def test_a_larger_k_loses_more_on_the_same_cuts(source):
    found = measured_over(CMC, source, private(0.5, 40), (2, 10, 50))
    losses = [found[k]["ncp"] for k in (2, 10, 50)]
    assert losses == sorted(losses)


def test_a_deeper_private_tree_loses_less(source):
    """In full: less than half of the loss on Adult."""
    shallow = measured(CMC, source, private(0.5, 4, per_level=True), 5)
    deep = measured(CMC, source, private(0.5, 40, per_level=True), 5)
    assert deep["ncp"] < shallow["ncp"]


def test_one_row_decides_whether_the_text_cuts():
    assert told_apart(30) == (30, 0)


def test_an_event_that_only_one_neighbor_has_refutes_a_small_epsilon():
    """2,000 of 2,000 against none: ln(0.998083 / 0.001917) by Wilson's intervals."""
    assert least_epsilon(2000, 0, 2000) == pytest.approx(6.255, abs=0.001)
