"""Refinement never raises the loss, never breaks a requirement, and repeats itself."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sfumato.algorithms.best.entropy_axes import in_bits
from sfumato.algorithms.common.compiled_rules import compile_rules
from sfumato.algorithms.partition.mondrian import Mondrian
from sfumato.algorithms.refinement import refine as refine_module
from sfumato.algorithms.refinement import reopening
from sfumato.algorithms.refinement.cooling import Cooling
from sfumato.algorithms.refinement.refine import loss_of, refine
from sfumato.algorithms.refinement.refinement_task import prepare
from sfumato.algorithms.request import Request
from sfumato.data.grouping import Grouping
from sfumato.data.schema import Kind
from sfumato.data.seeds import Seed
from sfumato.errors import PolicyError
from sfumato.hierarchies.axis import CodedAxis, Shape
from sfumato.models.average_risk import AverageRisk
from sfumato.models.base import OutputModel
from sfumato.models.beta_likeness import BetaLikeness
from sfumato.models.k_anonymity import KAnonymity
from sfumato.models.l_diversity import LDiversity
from sfumato.models.t_closeness import TCloseness
from sfumato.testing.random_groups import flat_axis
from sfumato.testing.strategies import axes
from tests.unit.algorithms.lattice_cases import random_request

FEW = settings(max_examples=25)
MODELS: tuple[tuple[OutputModel, ...], ...] = (
    (KAnonymity(k=2),),
    (KAnonymity(k=3), LDiversity(l=2)),
    (KAnonymity(k=2), TCloseness(t=0.4)),
)


@st.composite
def requests(draw: st.DrawFn) -> Request:
    """Random points on random axes, with one sensitive column."""
    rows = draw(st.integers(6, 40))
    numbers = np.random.default_rng(draw(st.integers(0, 10_000)))
    quasi = [draw(axes(missing=False)) for _ in range(draw(st.integers(1, 3)))]
    illness = flat_axis("illness", 3)
    return Request(
        quasi=tuple(_coded(axis, numbers, rows) for axis in quasi),
        models=draw(st.sampled_from(MODELS)),
        sensitive={"illness": _coded(illness, numbers, rows)},
        seed=Seed.guessable(1),
        threads=1,
    )


def _coded(axis, numbers, rows) -> CodedAxis:
    return CodedAxis(axis, numbers.integers(0, axis.size, rows).astype(np.int32))


def random_grouping(request: Request, seed: int) -> Grouping | None:
    """Groups at random; None unless they meet every requirement."""
    numbers = np.random.default_rng(seed)
    count = max(1, request.rows // int(numbers.integers(6, 20)))
    grouping = Grouping.renumbered(numbers.integers(0, count, request.rows))
    return grouping if holds(request, grouping) else None


def holds(request: Request, grouping: Grouping) -> bool:
    groups = request.groups(grouping)
    return all(model.verify(groups).holds for model in request.models)


def line(rows: int, values: int, seed: int = 3) -> Request:
    """Rows on a line of numbers and in a bag of categories."""
    numbers = np.random.default_rng(seed)
    positions = np.arange(values, dtype=float)
    free = flat_axis(
        "age", values, kind=Kind.INTEGER, shape=Shape.FREE, positions=positions
    )
    return Request(
        quasi=(
            _coded(free, numbers, rows),
            _coded(flat_axis("work", 5), numbers, rows),
        ),
        models=(KAnonymity(k=4),),
        seed=Seed.guessable(1),
        threads=1,
    )


def shuffled_groups(request: Request, size: int) -> Grouping:
    order = np.random.default_rng(9).permutation(request.rows)
    return Grouping.renumbered(order // size)


@FEW
@given(requests(), st.integers(0, 10_000))
def test_the_loss_never_rises(request_, seed):
    start = random_grouping(request_, seed)
    if start is not None:
        found = refine(request_, start, effort=0.01)
        assert loss_of(request_, found.grouping) <= loss_of(request_, start) + 1e-12


@FEW
@given(requests(), st.integers(0, 10_000))
def test_every_requirement_stays_met(request_, seed):
    start = random_grouping(request_, seed)
    if start is not None:
        assert holds(request_, refine(request_, start, effort=0.01).grouping)


@FEW
@given(requests(), st.integers(0, 10_000))
def test_the_loss_it_reports_is_the_loss_of_its_groups(request_, seed):
    start = random_grouping(request_, seed)
    if start is not None:
        found = refine(request_, start, effort=0.01)
        assert found.loss == pytest.approx(loss_of(request_, found.grouping), abs=1e-9)


def test_groups_made_at_random_lose_much_less_afterwards():
    request_ = line(400, 60)
    start = shuffled_groups(request_, 4)
    assert refine(request_, start).loss < 0.5 * loss_of(request_, start)


def test_it_finds_the_two_groups_that_lose_nothing():
    axis = flat_axis("work", 2)
    codes = np.array([0, 1, 0, 1, 0, 1], dtype=np.int32)
    request_ = replace(
        line(6, 3), quasi=(CodedAxis(axis, codes),), models=(KAnonymity(k=3),)
    )
    mixed = Grouping(np.array([0, 0, 0, 1, 1, 1], dtype=np.int32), 2)
    assert refine(request_, mixed).loss == 0.0


def test_it_stops_when_a_round_gains_nothing():
    request_ = line(40, 3)
    first = refine(request_, shuffled_groups(request_, 4), effort=1.0)
    again = refine(request_, first.grouping, effort=1.0)
    assert (first.stopped, again.stopped) == ("no gain", "no gain")


def test_a_round_that_gains_nothing_is_the_last_of_four_passes():
    axis = flat_axis("work", 1)
    codes = np.zeros(8, dtype=np.int32)
    request_ = replace(line(8, 3), quasi=(CodedAxis(axis, codes),))
    assert refine(request_, shuffled_groups(request_, 4)).passes == 4


def test_a_seed_repeats_a_result():
    request_ = line(600, 40)
    start = shuffled_groups(request_, 4)
    once, twice = (refine(request_, start, effort=0.01) for _ in range(2))
    assert np.array_equal(once.grouping.group_of, twice.grouping.group_of)


def test_another_seed_gives_another_result():
    request_ = line(600, 40)
    start = shuffled_groups(request_, 4)
    other = replace(request_, seed=Seed.guessable(2))
    one = refine(request_, start, effort=0.001).grouping.group_of
    assert not np.array_equal(refine(other, start, effort=0.001).grouping.group_of, one)


def test_two_threads_give_the_result_of_one():
    request_ = line(3000, 60)
    start = shuffled_groups(request_, 4)
    alone = refine(request_, start, effort=0.01)
    together = refine(replace(request_, threads=2), start, effort=0.01)
    assert np.array_equal(alone.grouping.group_of, together.grouping.group_of)


def test_the_order_of_rows_does_not_matter():
    request_ = line(200, 30)
    start = shuffled_groups(request_, 4)
    order = np.random.default_rng(5).permutation(request_.rows)
    turned = Grouping.renumbered(start.group_of[order])
    loss = refine(request_, start, effort=0.05).loss
    assert refine(request_.only(order), turned, effort=0.05).loss == pytest.approx(loss)


def test_suppressed_rows_stay_suppressed():
    request_ = line(60, 20)
    labels = shuffled_groups(request_, 4).group_of.copy()
    labels[labels == 3] = -1
    start = Grouping.renumbered(labels)
    kept = refine(request_, start, effort=0.05).grouping.kept
    assert np.array_equal(kept, start.kept)


def test_a_model_of_the_whole_table_stays_met():
    # Pairs make up for large groups; split as far as rules on each group allow, the
    # large ones would no longer make up for the pairs.
    request_ = replace(line(600, 20), models=(AverageRisk(at_most=0.2),))
    labels = np.where(np.arange(600) < 200, np.arange(600) // 2, np.arange(600) // 40)
    start = Grouping.renumbered(np.where(np.arange(600) < 200, labels, 1000 + labels))
    assert holds(request_, start)
    assert holds(request_, refine(request_, start).grouping)


def test_a_limit_in_seconds_is_kept_and_told():
    request_ = line(3000, 60)
    found = refine(request_, shuffled_groups(request_, 4), seconds=0.0)
    assert found.stopped == "time"


def test_any_algorithm_can_be_refined():
    request_ = line(300, 40)
    plain, refined = Mondrian().solve(request_), Mondrian(refine=0.05).solve(request_)
    assert loss_of(request_, refined.grouping) < loss_of(request_, plain.grouping)


def test_refinement_is_off_unless_asked_for():
    assert "refinement" not in Mondrian().solve(line(50, 10)).facts


def test_an_effort_below_nothing_is_refused():
    with pytest.raises(PolicyError, match=r"'refine' is -1\.\n.*at least 0"):
        Mondrian(refine=-1)


def test_progress_can_cancel_it():
    def press(_step, _share):
        raise KeyboardInterrupt

    request_ = replace(line(300, 40), progress=press)
    with pytest.raises(KeyboardInterrupt):
        refine(request_, shuffled_groups(request_, 4))


def pressed_after(reports: int):
    """A progress callback that is interrupted once."""
    seen = 0

    def progress(_step: str, _share: float) -> None:
        nonlocal seen
        seen += 1
        if seen == reports:
            raise KeyboardInterrupt

    return progress


@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("reports", [1, 2, 30])
def test_an_interrupt_keeps_the_best_so_far_where_time_is_limited(reports, threads):
    request_ = replace(line(3000, 60), progress=pressed_after(reports), threads=threads)
    start = shuffled_groups(request_, 4)
    found = refine(request_, start, seconds=1000.0)
    assert found.stopped == "interrupted"
    assert holds(request_, found.grouping)
    assert found.loss <= found.loss_before
    assert found.loss == pytest.approx(loss_of(request_, found.grouping))


def test_an_interrupt_is_raised_where_time_is_not_limited():
    request_ = replace(line(3000, 60), progress=pressed_after(2))
    with pytest.raises(KeyboardInterrupt):
        refine(request_, shuffled_groups(request_, 4))


def lattice_table(seed: int) -> tuple[Request, Grouping]:
    """A table whose columns all have hierarchies, in groups cut by Mondrian."""
    request = random_request(
        np.random.default_rng(seed), [KAnonymity(k=3)], columns=6, rows=600, values=6
    )
    request = replace(request, threads=1, seed=Seed.guessable(seed))
    return request, Mondrian().search(request).grouping


@pytest.mark.parametrize("seed", range(4))
def test_reopening_groups_loses_less_than_pools_alone(seed, monkeypatch):
    request, grouping = lattice_table(seed)
    reopened = refine(request, grouping, effort=2.0)
    monkeypatch.setattr(refine_module, "can_reopen", lambda *_: False)
    pooled = refine(request, grouping, effort=2.0)
    assert reopened.loss == pytest.approx(loss_of(request, reopened.grouping))
    assert reopened.loss < pooled.loss


def test_a_warm_search_returns_the_best_it_has_seen(monkeypatch):
    """It never cools here, so that the last grouping is hardly ever the best."""
    monkeypatch.setattr(Cooling, "warmth", lambda *_: 1.0)
    request, grouping = lattice_table(11)
    history: list[float] = []

    def follow(step: str, _share: float) -> None:
        history.append(float(step.split("loss ")[1].split(",")[0]))

    found = refine(replace(request, progress=follow), grouping, effort=0.3)
    assert found.warm
    assert found.loss <= min(history) + 5e-5
    assert found.loss == pytest.approx(loss_of(request, found.grouping))


@pytest.mark.parametrize("seed", range(3))
def test_warm_pools_lose_less_than_cold_ones(seed, monkeypatch):
    request = line(600, 40, seed)
    start = refine(request, shuffled_groups(request, 4), effort=0.01).grouping
    warm = refine(request, start, effort=0.5)
    monkeypatch.setattr(refine_module, "MOST_WARM_ROWS", 0)
    cold = refine(request, start, effort=0.5)
    assert (warm.warm, cold.warm) == (True, False)
    assert warm.loss == pytest.approx(loss_of(request, warm.grouping))
    assert warm.loss < cold.loss


@pytest.mark.parametrize("model", [LDiversity(l=3), TCloseness(t=0.4)])
def test_warm_pools_meet_every_requirement(model):
    illness = _coded(flat_axis("illness", 4), np.random.default_rng(5), 300)
    request = replace(
        line(300, 20), models=(KAnonymity(k=4), model), sensitive={"illness": illness}
    )
    start = shuffled_groups(request, 25)
    assert holds(request, start)
    found = refine(request, start, effort=0.2)
    assert found.warm
    assert found.loss < loss_of(request, start)
    assert holds(request, found.grouping)


def test_groups_of_equal_rows_are_not_warmed_up():
    """Nearly all groups lose nothing; passes over them would find nothing."""
    line_of = line(2010, 410)
    codes = np.concatenate([np.arange(400).repeat(5), np.arange(400, 410)])
    axis = line_of.quasi[0].axis
    request = replace(line_of, quasi=(CodedAxis(axis, codes.astype(np.int32)),))
    groups = Grouping((np.arange(2010) // 5).astype(np.int32), 402)
    found = refine(request, groups)
    assert not found.warm
    assert found.passes < 50


def test_losses_in_bits_are_those_of_all_rows_where_some_are_left_out():
    request = in_bits(line(600, 40))
    start = shuffled_groups(request, 6)
    some = Grouping.renumbered(np.where(np.arange(600) < 60, -1, start.group_of))
    found = refine(request, some, effort=0.05)
    assert found.loss_before == pytest.approx(loss_of(request, some))
    assert found.loss == pytest.approx(loss_of(request, found.grouping))
    assert found.loss < found.loss_before


def test_two_threads_warm_the_same_pools():
    request = line(3000, 60)
    start = shuffled_groups(request, 4)
    one, two = (
        refine(replace(request, threads=threads), start, effort=0.3)
        for threads in (1, 2)
    )
    assert one.warm
    assert np.array_equal(one.grouping.group_of, two.grouping.group_of)


def test_two_threads_reopen_the_groups_that_one_does():
    request, grouping = lattice_table(12)
    one, two = (
        refine(replace(request, threads=threads), grouping, effort=0.5)
        for threads in (1, 2)
    )
    assert (one.grouping.group_of == two.grouping.group_of).all()


@pytest.mark.parametrize("seed", range(3))
def test_reopening_loses_less_where_losses_are_bits(seed, monkeypatch):
    request, grouping = lattice_table(seed)
    request = in_bits(request)
    reopened = refine(request, grouping, effort=0.3)
    monkeypatch.setattr(refine_module, "can_reopen", lambda *_: False)
    assert reopened.loss < refine(request, grouping, effort=0.3).loss


def test_a_grouping_without_loss_is_not_warmed_up():
    request, _ = lattice_table(1)
    equal = replace(
        request,
        quasi=tuple(replace(c, codes=np.zeros_like(c.codes)) for c in request.quasi),
    )
    found = refine(equal, Grouping.renumbered(np.arange(equal.rows) // 3))
    assert (found.passes, found.stopped, found.loss) == (0, "no gain", 0.0)


def test_very_large_groups_are_not_reopened(monkeypatch):
    request, _ = lattice_table(2)
    monkeypatch.setattr(reopening, "MOST_ROWS", 64)
    large = Grouping.renumbered(np.arange(request.rows) // 300)
    task = prepare(request, compile_rules(request), large.group_of)
    assert not reopening.can_reopen(request, task, request.rules())


@pytest.mark.parametrize(
    "model",
    [TCloseness(t=0.4), TCloseness(t=0.4, distance="ordered"), BetaLikeness(beta=2)],
    ids=["equal", "ordered", "likeness"],
)
def test_groups_compared_with_the_table_are_not_reopened(model):
    request, grouping = lattice_table(3)
    for models, expected in (((KAnonymity(k=3),), True), ((model,), False)):
        asked = replace(request, models=models)
        compiled = compile_rules(asked)
        task = prepare(asked, compiled, grouping.group_of)
        assert reopening.can_reopen(asked, task, compiled.rules) is expected
