"""With `loss = "entropy"`, losses are the bits about values that cells leave open."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sfumato import registry
from sfumato.algorithms.base import Request
from sfumato.algorithms.best.best import Best, plan
from sfumato.algorithms.best.entropy_axes import in_bits
from sfumato.algorithms.refinement.refine import loss_of
from sfumato.data.grouping import Grouping
from sfumato.data.seeds import Seed
from sfumato.errors import PolicyError
from sfumato.hierarchies.axis import Axis, CodedAxis, Shape
from sfumato.kernels.common import geometry
from sfumato.kernels.refinement.point_space import PointSpace, make_point_space
from sfumato.kernels.refinement.refinement_round import lay_out, total_loss
from sfumato.models.k_anonymity import KAnonymity
from sfumato.testing.random_groups import flat_axis
from sfumato.testing.strategies import axes

FEW = settings(max_examples=30)


def request_of(drawn: list[Axis], seed: int, *, rows: int = 30, k: int = 3) -> Request:
    numbers = np.random.default_rng(seed)
    quasi = []
    for axis in drawn:
        codes = np.minimum(numbers.geometric(0.3, rows) - 1, axis.size - 1)
        codes[: axis.size] = np.arange(min(axis.size, rows))
        quasi.append(CodedAxis(axis, codes.astype(np.int32)))
    return Request(
        quasi=tuple(quasi),
        models=(KAnonymity(k=k),),
        seed=Seed.guessable(1),
        threads=1,
        resolve=registry.algorithm,
    )


def covers(axis: Axis, codes: np.ndarray) -> np.ndarray:
    """By definition: which codes the cell of a group with these codes covers."""
    low, high = codes.min(), codes.max()
    everything = np.ones(axis.size, dtype=bool)
    if axis.shape is Shape.TREE:
        node = axis.covering(np.array([low]), np.array([high]))[0]
        return (axis.levels == node).any(axis=0)
    if low < high == axis.missing:
        return everything
    return (np.arange(axis.size) >= low) & (np.arange(axis.size) <= high)


def bits_by_definition(request: Request, grouping: Grouping) -> float:
    """The share of all bits: each row's own value among the rows its cell covers."""
    lost = there = 0.0
    for coded in request.quasi:
        counts = np.bincount(coded.codes, minlength=coded.axis.size)
        for row, code in enumerate(coded.codes):
            group = coded.codes[grouping.group_of == grouping.group_of[row]]
            inside = counts[covers(coded.axis, group)].sum()
            lost += np.log(inside / counts[code])
            there += np.log(request.rows / counts[code])
    return lost / there if there else 0.0


shaped = st.one_of(axes(shape=Shape.TREE), axes(shape=Shape.FREE))


@FEW
@given(st.lists(shaped, min_size=1, max_size=3), st.integers(0, 999))
def test_losses_are_the_bits_that_cells_leave_open(drawn, seed):
    request = request_of(drawn, seed)
    group_of = np.random.default_rng(seed).integers(0, 5, request.rows)
    grouping = Grouping.renumbered(group_of)
    found = loss_of(in_bits(request), grouping)
    assert found == pytest.approx(bits_by_definition(request, grouping), abs=1e-9)


@FEW
@given(shaped, st.integers(0, 999))
def test_kernels_lose_the_same_with_and_without_a_table_of_runs(axis, seed):
    (coded,) = in_bits(request_of([axis], seed)).quasi
    low, high = np.triu_indices(axis.size)
    expected = coded.axis.run_bits(low, high)
    codes = np.stack([low, high]).T.ravel().astype(np.int32)
    for limit in (256, 0):
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(geometry, "PAIR_LIMIT", limit)
            space = make_point_space([coded.axis], [codes])
        found = [_loss_of_pair(space, pair) for pair in range(len(low))]
        assert found == pytest.approx(expected.tolist())


def _loss_of_pair(space: PointSpace, pair: int) -> float:
    """What each of two rows loses as a group."""
    rows = np.array([2 * pair, 2 * pair + 1], dtype=np.int64)
    items, starts = np.arange(len(space.points)), np.array([0, 2], dtype=np.int64)
    return float(total_loss(space, lay_out(space, items, rows, starts))) / 2


def test_a_wider_cell_never_loses_less():
    (coded,) = in_bits(request_of([flat_axis("city", 9)], 4, rows=60)).quasi
    low, high = np.triu_indices(coded.axis.size)
    runs = list(zip(low.tolist(), high.tolist(), strict=True))
    bits = dict(zip(runs, coded.axis.run_bits(low, high), strict=True))
    assert all(
        bits[a, b] <= bits[c, d] + 1e-12
        for a, b in bits
        for c, d in bits
        if c <= a and b <= d
    )


@pytest.mark.parametrize("rows", [0, 1, 3])
def test_tiny_tables_have_bits_too(rows):
    request = request_of([flat_axis("city", 3)], 1, rows=rows, k=1)
    assert in_bits(request).rows == rows


def test_it_finds_groups_that_lose_fewer_bits():
    """A common value and many rare ones: NCP counts them alike."""
    numbers = np.random.default_rng(6)
    request = request_of([flat_axis("city", 40), flat_axis("job", 12)], 3, rows=300)
    codes = np.where(numbers.random(300) < 0.6, 0, request.quasi[0].codes)
    city = CodedAxis(request.quasi[0].axis, codes.astype(np.int32))
    request = replace(request, quasi=(city, request.quasi[1]))
    weighed = in_bits(request)
    plain, bits = (
        loss_of(weighed, Best(loss=loss, refine=0.02).solve(request).grouping)
        for loss in ("ncp", "entropy")
    )
    assert bits < plain


def test_its_loss_and_bound_are_told_in_bits():
    line = flat_axis("age", 12, shape=Shape.FREE, positions=np.arange(12.0))
    request = request_of([line], 3, rows=80)
    facts = Best(loss="entropy", refine=0.01).solve(request).facts
    assert facts["loss"] == pytest.approx(facts["refinement"]["loss"])
    assert 0.0 < facts["bound"]["at_least"] <= facts["loss"] + 1e-9


def test_sets_have_no_bound_in_bits():
    """They are searched as nodes of a learned tree, but may be published smaller."""
    request = request_of([flat_axis("city", 6)], 3, rows=80)
    assert Best(loss="entropy", refine=0.01).solve(request).facts["bound"] is None


def test_small_groups_are_grown_where_losses_are_bits():
    request = in_bits(request_of([flat_axis("city", 6)], 3))
    assert "k-member" in [name for name, _, _ in plan(request, short=False)]


def test_an_unknown_loss_is_refused():
    with pytest.raises(PolicyError, match="'loss' is 'height'"):
        Best(loss="height")
