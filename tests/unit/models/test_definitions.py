"""Every model equals its brute-force definition on thousands of random tables."""

from __future__ import annotations

import math
from dataclasses import replace
from itertools import permutations, product

import numpy as np
import pytest

from sfumato.models.alpha_k import AlphaK
from sfumato.models.beta_likeness import BetaLikeness
from sfumato.models.delta_disclosure import DeltaDisclosure
from sfumato.models.k_anonymity import KAnonymity
from sfumato.models.l_diversity import LDiversity
from sfumato.models.lkc import Lkc
from sfumato.models.n_t_closeness import NTCloseness
from sfumato.models.p_sensitive import PSensitive
from sfumato.models.range_disclosure import RangeDisclosure
from sfumato.models.t_closeness import TCloseness
from sfumato.models.theta_diversity import ThetaDiversity
from sfumato.testing import model_oracles as oracles
from sfumato.testing.random_groups import COLUMN, random_sample, sample_of

TABLES = 60
SHAPES = ("flat", "ordered", "tree", "line")
CASES = [
    {},
    {"persons": True},
    {"missing": True},
    {"missing": True, "missing_any": True},
    {"left_out": True},
    {"persons": True, "left_out": True, "missing": True},
]
TWISTS = [
    (shape, case, others)
    for shape, case, others in product(SHAPES, CASES, (False, True))
]

MODELS = {
    "distinct": (LDiversity(l=2, on=COLUMN), oracles.distinct, True),
    "entropy": (
        LDiversity(l=2, kind="entropy", on=COLUMN),
        oracles.effective_number,
        True,
    ),
    "recursive": (
        LDiversity(l=2, kind="recursive", c=2.0, on=COLUMN),
        oracles.recursive_factor(2),
        False,
    ),
    "recursive 3": (
        LDiversity(l=3, kind="recursive", c=2.0, on=COLUMN),
        oracles.recursive_factor(3),
        False,
    ),
    "positive-recursive": (
        LDiversity(
            l=3, kind="positive-recursive", c=2.0, may_disclose=("v1",), on=COLUMN
        ),
        oracles.recursive_factor(3, {1}),
        False,
    ),
    "theta": (ThetaDiversity(theta=0.5, on=COLUMN), oracles.commonest_share, False),
    "alpha": (AlphaK(alpha=0.5, k=1, on=COLUMN), oracles.commonest_share, False),
    "p": (PSensitive(p=2, k=2, on=COLUMN), oracles.distinct, True),
    "t equal": (
        TCloseness(t=0.3, distance="equal", on=COLUMN),
        oracles.variational,
        False,
    ),
    "t ordered": (
        TCloseness(t=0.3, distance="ordered", on=COLUMN),
        oracles.ordered,
        False,
    ),
    "beta": (BetaLikeness(beta=1.0, on=COLUMN), oracles.gain, False),
    "range 0.2": (
        RangeDisclosure(r=0.2, at_most=0.5, on=COLUMN),
        oracles.s_diversity(0.2),
        False,
    ),
    "range 0.6": (
        RangeDisclosure(r=0.6, at_most=0.5, on=COLUMN),
        oracles.s_diversity(0.6),
        False,
    ),
}


def samples(shape, case, count=TABLES):
    generator = np.random.default_rng(hash_of(shape, case))
    for _ in range(count):
        yield random_sample(
            generator,
            shape=shape,
            values=int(generator.integers(2, 7)),
            rows=int(generator.integers(4, 16)),
            groups=int(generator.integers(1, 5)) if generator.random() < 0.8 else 1,
            **case,
        )


def hash_of(*parts):
    return sum(ord(letter) * (at + 1) for at, letter in enumerate(str(parts)))


def matches(found, expected):
    if math.isinf(expected):
        return found is None
    return found == pytest.approx(expected, abs=1e-9)


@pytest.mark.parametrize("name", MODELS)
def test_the_measure_is_the_worst_group_by_definition(name):
    model, measure, smallest = MODELS[name]
    for shape, case, others in TWISTS:
        judged = replace(model, others_known=others)
        for sample in samples(shape, case, 12):
            expected = oracles.worst(
                sample.rows(others_known=others),
                sample.domain,
                measure,
                smallest=smallest,
            )
            verdict = judged.verify(sample.groups(judged))
            assert matches(verdict.measured, expected), (shape, case, others)


@pytest.mark.parametrize("case", CASES, ids=str)
def test_hierarchical_distance_is_the_recursion_of_the_paper(case):
    model = TCloseness(t=0.3, distance="hierarchical", on=COLUMN)
    for sample in samples("tree", case):
        expected = oracles.worst(
            sample.rows(), sample.domain, oracles.hierarchical, smallest=False
        )
        assert matches(model.verify(sample.groups(model)).measured, expected)


@pytest.mark.parametrize("shape", SHAPES)
def test_the_source_reference_counts_rows_left_out(shape):
    model = TCloseness(t=0.3, distance="equal", on=COLUMN, reference="source")
    for sample in samples(shape, {"left_out": True}):
        expected = oracles.worst(
            sample.rows(),
            sample.domain,
            oracles.variational,
            smallest=False,
            source=True,
        )
        assert matches(model.verify(sample.groups(model)).measured, expected)


@pytest.mark.parametrize("case", CASES, ids=str)
def test_delta_disclosure_needs_every_value_in_every_group(case):
    model = DeltaDisclosure(delta=1.5, on=COLUMN)
    for sample in samples("flat", case, 200):
        expected = oracles.worst(
            sample.rows(), sample.domain, oracles.log_ratio, smallest=False
        )
        verdict = model.verify(sample.groups(model))
        assert matches(verdict.measured, expected)
        assert verdict.holds == (expected < 1.5)


@pytest.mark.parametrize("case", CASES, ids=str)
def test_enhanced_likeness_limits_each_value_by_its_information(case):
    model = BetaLikeness(beta=1.2, kind="enhanced", on=COLUMN)
    for sample in samples("flat", case, 200):
        rows = sample.rows()
        test = oracles.enhanced_gain_ok(1.2)
        expected = all(
            test(filled)
            for group in oracles.groups_of(rows, sample.domain)
            for filled in oracles.readings(group, missing_any=rows.missing_any)
        )
        assert model.verify(sample.groups(model)).holds == expected


@pytest.mark.parametrize("case", CASES, ids=str)
def test_required_values_have_their_share_in_every_group(case):
    model = LDiversity(
        l=2,
        kind="negative-positive-recursive",
        c1=3.0,
        c2=0.2,
        must_occur=("v0", "v1"),
        on=COLUMN,
    )
    for sample in samples("flat", case, 200):
        shares = oracles.worst(
            sample.rows(),
            sample.domain,
            oracles.rarest_required((0, 1)),
            smallest=True,
        )
        factor = oracles.worst(
            sample.rows(),
            sample.domain,
            oracles.recursive_factor(2),
            smallest=False,
        )
        verdict = model.verify(sample.groups(model))
        assert verdict.details["c2"] == pytest.approx(shares)
        assert verdict.holds == (factor < 3.0 and shares >= 0.2 - 1e-9)


def test_k_counts_rows_or_persons():
    for persons in (False, True):
        for sample in samples("flat", {"persons": persons, "left_out": True}, 200):
            groups = oracles.groups_of(sample.rows(), sample.domain)
            expected = min(group.size for group in groups)
            model = KAnonymity(k=2)
            verdict = model.verify(sample.groups(model))
            assert verdict.measured == expected
            assert verdict.offending == sum(group.size < 2 for group in groups)


def cells_of(generator, rows, width):
    return generator.integers(0, 2, (rows, width)).astype(np.int32)


def grouped(generator, shape, *, persons=False):
    """A sample whose groups are its distinct cells, and the cells."""
    sample = random_sample(
        generator, shape=shape, values=4, rows=14, groups=1, persons=persons
    )
    cells = cells_of(generator, 14, 3)
    found, group_of = np.unique(cells, axis=0, return_inverse=True)
    group_of = group_of.reshape(-1).astype(np.int32)
    return replace(sample, group_of=group_of, count=len(found)), cells, found


@pytest.mark.parametrize("persons", [False, True])
def test_lkc_holds_for_every_set_of_known_columns(persons):
    generator = np.random.default_rng(31)
    for turn in range(200):
        sample, cells, found = grouped(generator, "flat", persons=persons)
        model = Lkc(l=1 + turn % 4, k=3, c=0.6, on=COLUMN)
        smallest, confidence = oracles.lkc(
            cells.tolist(), sample.rows(), sample.domain, l=model.l
        )
        verdict = model.verify(sample.groups(model, cells=found.astype(np.int32)))
        assert verdict.details["k"] == smallest
        assert verdict.measured == pytest.approx(confidence)
        assert verdict.holds == (smallest >= 3 and confidence <= 0.6 + 1e-9)


def lkc_of_persons(cells, values, persons, **parameters):
    """The verdict on rows of which some are about the same person."""
    found, group_of = np.unique(np.array(cells), axis=0, return_inverse=True)
    sample = replace(sample_of(group_of.reshape(-1), values), subject=np.array(persons))
    model = Lkc(**parameters)
    return model.verify(sample.groups(model, cells=found.astype(np.int32)))


def test_lkc_counts_a_person_of_two_groups_once_in_their_union():
    """Person 0 is in two of three groups; 3 of all 5 persons have each value."""
    verdict = lkc_of_persons(
        [(0, 0), (0, 1), (0, 2), (0, 1), (0, 2), (0, 0)],
        ["yes", "no", "yes", "no", "no", "yes"],
        [0, 1, 2, 3, 0, 4],
        l=1,
        k=2,
        c=1.0,
    )
    assert verdict.holds
    assert verdict.measured == 1.0
    assert verdict.details["k"] == 2


def test_lkc_sees_that_groups_which_share_persons_break_it_together_only():
    """In each group one of two persons has flu; in both together both have."""
    verdict = lkc_of_persons(
        [(0,), (0,), (1,), (1,)],
        ["flu", "acne", "gout", "flu"],
        [0, 1, 0, 1],
        l=1,
        k=2,
        c=0.5,
    )
    assert not verdict.holds
    assert verdict.measured == 1.0


@pytest.mark.parametrize(
    ("shape", "distance", "measure"),
    [
        ("flat", "equal", oracles.variational),
        ("line", "ordered", oracles.ordered),
        ("tree", "hierarchical", oracles.hierarchical),
    ],
)
@pytest.mark.parametrize(("persons", "n"), [(False, 5), (True, 3)])
def test_n_t_closeness_finds_the_nearest_natural_superset(
    shape, distance, measure, persons, n
):
    generator = np.random.default_rng(32)
    for _ in range(100):
        sample, cells, found = grouped(generator, shape, persons=persons)
        model = NTCloseness(n=n, t=0.2, distance=distance, on=COLUMN)
        expected = oracles.n_t_distance(
            cells.tolist(), sample.rows(), sample.domain, measure, n=n
        )
        verdict = model.verify(sample.groups(model, cells=found.astype(np.int32)))
        assert verdict.measured == pytest.approx(expected, abs=1e-9)
        assert verdict.holds == (expected <= 0.2 + 1e-9)


def ground(axis, distance, one, two):
    """How far apart two values are, by the definition."""
    if distance == "equal":
        return float(one != two)
    if distance == "ordered":
        return abs(one - two) / (axis.size - 1)
    level = next(at for at, row in enumerate(axis.levels) if row[one] == row[two])
    return level / (axis.height - 1)


@pytest.mark.parametrize("distance", ["equal", "ordered", "hierarchical"])
def test_the_distance_is_the_cheapest_way_to_move_all_rows(distance):
    """Three rows, each counted twice, are moved onto the six rows of the table."""
    generator = np.random.default_rng(33)
    model = TCloseness(t=0.5, distance=distance, on=COLUMN)
    for _ in range(25):
        sample = random_sample(generator, shape="tree", values=4, rows=6, groups=2)
        axis = sample.sensitive[COLUMN].axis
        codes = np.array([0, 1, 2, 3, *generator.integers(0, 4, 2)], dtype=np.int32)
        generator.shuffle(codes)
        table = replace(
            sample,
            group_of=np.array([0, 0, 0, 1, 1, 1], dtype=np.int32),
            sensitive={COLUMN: replace(sample.sensitive[COLUMN], codes=codes)},
        )
        expected = max(
            min(
                sum(
                    ground(axis, distance, a, b) for a, b in zip(mine, way, strict=True)
                )
                for way in permutations(codes.tolist())
            )
            / 6
            for mine in ([*codes[:3], *codes[:3]], [*codes[3:], *codes[3:]])
        )
        measured = model.verify(table.groups(model)).measured
        assert measured == pytest.approx(expected, abs=1e-9)
