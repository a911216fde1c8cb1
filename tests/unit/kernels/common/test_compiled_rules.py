"""The compiled rules agree with the models' NumPy form, group by group."""

from __future__ import annotations

from dataclasses import replace
from itertools import product

import numpy as np
import pytest

from sfumato.algorithms.base import Request
from sfumato.algorithms.common.compiled_rules import compile_rules
from sfumato.data.rules import Rule, RuleKind, View
from sfumato.hierarchies.axis import CodedAxis
from sfumato.kernels.common.group_rules import group_ok, rule_table
from sfumato.models.alpha_k import AlphaK
from sfumato.models.average_risk import AverageRisk
from sfumato.models.beta_likeness import BetaLikeness
from sfumato.models.delta_disclosure import DeltaDisclosure
from sfumato.models.delta_presence import DeltaPresence
from sfumato.models.group_size import GroupSize
from sfumato.models.k_anonymity import KAnonymity
from sfumato.models.k_map import KMap
from sfumato.models.l_diversity import LDiversity
from sfumato.models.lkc import Lkc
from sfumato.models.n_t_closeness import NTCloseness
from sfumato.models.p_sensitive import PSensitive
from sfumato.models.range_disclosure import RangeDisclosure
from sfumato.models.t_closeness import TCloseness
from sfumato.models.theta_diversity import ThetaDiversity
from sfumato.models.uniqueness import Uniqueness
from sfumato.testing.random_groups import COLUMN, flat_axis, random_sample

EXACT = [
    KAnonymity(k=4),
    GroupSize(k=4),
    LDiversity(l=3, on=COLUMN),
    LDiversity(l=2.0, kind="entropy", on=COLUMN),
    LDiversity(l=2, kind="recursive", c=1.5, on=COLUMN),
    LDiversity(l=3, kind="recursive", c=2.0, on=COLUMN),
    LDiversity(
        l=3, kind="positive-recursive", c=1.0, may_disclose=("v0", "v2"), on=COLUMN
    ),
    LDiversity(
        l=2,
        kind="negative-positive-recursive",
        c1=2.0,
        c2=0.2,
        may_disclose=("v1",),
        must_occur=("v0",),
        on=COLUMN,
    ),
    PSensitive(p=2, k=3, on=COLUMN),
    AlphaK(alpha=0.5, k=3, on=COLUMN),
    ThetaDiversity(theta=0.5, on=COLUMN),
    TCloseness(t=0.25, on=COLUMN),
    TCloseness(t=0.3, distance="equal", on=COLUMN),
    TCloseness(t=0.2, distance="ordered", on=COLUMN),
    TCloseness(t=0.25, distance="hierarchical", on=COLUMN),
    BetaLikeness(beta=0.9, on=COLUMN),
    BetaLikeness(beta=2.0, kind="enhanced", on=COLUMN),
    DeltaDisclosure(delta=0.9, on=COLUMN),
    RangeDisclosure(r=0.3, at_most=0.5, on=COLUMN),
    RangeDisclosure(r=0.7, at_most=0.6, on=COLUMN),
]
SUFFICIENT = [
    AverageRisk(at_most=0.3),
    Uniqueness(at_most=0.1),
    Lkc(l=2, k=3, c=0.6, on=COLUMN),
    NTCloseness(n=5, t=0.2, on=COLUMN),
]
SHAPES = ("flat", "ordered", "tree", "line")
CASES = [
    {},
    {"persons": True},
    {"missing": True, "missing_any": True},
    {"persons": True, "missing": True, "missing_any": True},
]


def request_of(sample, models, quasi_rows):
    quasi = flat_axis("age", 1)
    return Request(
        quasi=(CodedAxis(quasi, np.zeros(quasi_rows, dtype=np.int32)),),
        models=tuple(models),
        sensitive=sample.sensitive,
        subject=sample.subject,
        missing_any=sample.missing_any,
    )


def compiled_verdicts(sample, model, *, dense=False):
    """The verdict of the compiled rules on each group of a sample."""
    request = request_of(sample, [model], len(sample.group_of))
    compiled = compile_rules(request)
    return [
        judged(compiled, np.flatnonzero(sample.group_of == group), dense)
        for group in range(sample.count)
    ]


def judged(compiled, rows, dense):
    width = int(compiled.codes.max(initial=0)) + 1 if dense else len(rows)
    number = len(compiled.views)
    codes = np.zeros((number, width), dtype=np.int32)
    counts = np.zeros((number, width), dtype=np.int64)
    lengths = np.zeros(number, dtype=np.int64)
    for line in range(number):
        found, times = np.unique(compiled.codes[line][rows], return_counts=True)
        if dense:
            codes[line] = np.arange(width)
            counts[line][found] = times
            lengths[line] = int(compiled.codes[line].max()) + 1
        else:
            codes[line, : len(found)], counts[line, : len(found)] = found, times
            lengths[line] = len(found)
    return bool(group_ok(len(rows), 0, codes, counts, lengths, compiled.table))


def random_samples(count, **case):
    generator = np.random.default_rng(7)
    for turn in range(count):
        yield random_sample(
            generator,
            shape=SHAPES[turn % 4],
            values=int(generator.integers(2, 7)),
            rows=int(generator.integers(6, 40)),
            groups=int(generator.integers(1, 5)),
            **case,
        )


def offending(sample, model):
    """Groups that break a model under any meaning of a missing value."""
    meanings = {sample.missing_any, False}
    samples = [replace(sample, missing_any=meaning) for meaning in meanings]
    broken = [model.verify(s.groups(model)).broken for s in samples]
    return int(np.any(broken, axis=0).sum())


@pytest.mark.parametrize("case", CASES, ids=str)
@pytest.mark.parametrize("model", EXACT, ids=str)
def test_compiled_and_numpy_forms_agree(model, case):
    agreed = set()
    for sample, others in product(random_samples(16, **case), (False, True)):
        judge = replace(model, others_known=others) if model.sensitive else model
        compiled = compiled_verdicts(sample, judge)
        assert compiled.count(False) == offending(sample, judge)
        agreed |= set(compiled)
    assert agreed == {True, False}


@pytest.mark.parametrize("model", EXACT[2:], ids=str)
def test_a_dense_histogram_is_judged_like_a_sparse_one(model):
    for sample in random_samples(12):
        sparse = compiled_verdicts(sample, model)
        assert compiled_verdicts(sample, model, dense=True) == sparse


@pytest.mark.parametrize("case", CASES[:1], ids=str)
@pytest.mark.parametrize("model", SUFFICIENT, ids=str)
def test_rules_of_table_models_suffice(model, case):
    met = 0
    for sample in random_samples(400, **case):
        cells = np.arange(sample.count, dtype=np.int32)[:, None]
        if all(compiled_verdicts(sample, model)):
            met += 1
            assert model.verify(sample.groups(model, cells=cells)).holds
    assert met > 0


@pytest.mark.parametrize(
    "model",
    [KMap(k=6, population="people.csv"), DeltaPresence(lower=0.2, upper=0.6)],
    ids=str,
)
def test_population_rules_agree(model):
    generator = np.random.default_rng(8)
    table = rule_table(model.rules((), subjects=False), [])
    nothing = np.zeros((0, 0), dtype=np.int32)
    for sample in random_samples(200):
        people = generator.integers(0, 30, sample.count)
        verdict = model.verify(sample.groups(model, population=people))
        sizes = np.bincount(sample.group_of, minlength=sample.count)
        compiled = [
            group_ok(
                size,
                number,
                nothing,
                nothing.astype(np.int64),
                np.zeros(0, dtype=np.int64),
                table,
            )
            for size, number in zip(sizes.tolist(), people.tolist(), strict=True)
        ]
        assert compiled.count(False) == verdict.offending


def test_a_group_with_entropy_exactly_log_3_is_3_diverse():
    view = View("x")
    rule = Rule(RuleKind.ENTROPY, view, (float(np.log(3)),))
    counts = np.array([[2, 2, 2]], dtype=np.int64)
    codes = np.array([[0, 1, 2]], dtype=np.int32)
    table = rule_table([rule], [view])
    assert group_ok(6, 0, codes, counts, np.array([3]), table)


def test_rules_that_compare_refuse_to_work_without_an_axis():
    view = View("x")
    with pytest.raises(ValueError, match="CLOSENESS rule needs the axis"):
        rule_table([Rule(RuleKind.CLOSENESS, view, (0.2, 1.0, 0.0))], [view])


def test_many_values_are_tried_at_the_ends_and_the_rarest():
    """Above 1,024 values both forms try the same few candidates."""
    generator = np.random.default_rng(9)
    model = TCloseness(t=0.3, distance="ordered", on=COLUMN)
    for _ in range(5):
        sample = random_sample(
            generator,
            shape="line",
            values=1100,
            rows=60,
            groups=4,
            missing=True,
            missing_any=True,
        )
        verdict = model.verify(sample.groups(model))
        assert compiled_verdicts(sample, model).count(False) == verdict.offending
