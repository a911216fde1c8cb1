"""A missing cell is a cell like others, and may also be any value."""

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sfumato import verify
from sfumato.data.coding import code_column
from sfumato.data.published_cells import as_intervals, coded_cells
from sfumato.data.schema import Kind
from sfumato.errors import RefusedError
from sfumato.hierarchies.build import build
from sfumato.models.average_risk import AverageRisk
from sfumato.models.beta_likeness import BetaLikeness
from sfumato.models.common import candidates as filling
from sfumato.models.k_anonymity import KAnonymity
from sfumato.models.l_diversity import LDiversity
from sfumato.models.lkc import Lkc
from sfumato.models.n_t_closeness import NTCloseness
from sfumato.models.range_disclosure import RangeDisclosure
from sfumato.models.t_closeness import TCloseness
from sfumato.models.theta_diversity import ThetaDiversity
from sfumato.models.uniqueness import Uniqueness
from sfumato.testing import candidate_oracle as brute
from sfumato.testing import model_oracles as oracles
from sfumato.verify import Evidence, prove

MARK = "?"
CELL = st.sampled_from(["a", "b", MARK])
VALUE = st.sampled_from(["1", "2", "5", MARK])
ROW = st.tuples(CELL, CELL, CELL, VALUE, st.integers(0, 4))
ROWS = st.lists(ROW, min_size=1, max_size=7)

MEASURES = {
    "distinct": (LDiversity(l=1), oracles.distinct, min),
    "entropy": (LDiversity(l=1, kind="entropy"), oracles.effective_number, min),
    "recursive": (
        LDiversity(l=2, kind="recursive", c=2.0),
        oracles.recursive_factor(2),
        max,
    ),
    "theta": (ThetaDiversity(theta=0.5), oracles.commonest_share, max),
    "ordered": (TCloseness(t=0.1), oracles.ordered, max),
    "equal": (TCloseness(t=0.1, distance="equal"), oracles.variational, max),
    "beta": (BetaLikeness(beta=1.0), oracles.gain, max),
    "range": (RangeDisclosure(r=0.5, at_most=0.5), oracles.s_diversity(0.5), max),
}


class Case:
    """Rows of three quasi-identifiers, a number and a person, seen both ways."""

    def __init__(self, rows, *, persons=False, missing_any=True):
        self.cells = [row[:3] for row in rows]
        names = ["x", "y", "z", "value", "person"]
        columns = dict(zip(names, map(list, zip(*rows, strict=True)), strict=True))
        table = pa.table(columns)
        self.column = code_column(
            "value", table["value"], kind=Kind.INTEGER, missing=[MARK]
        )
        axis = build(self.column, None)
        self.missing = self.column.missing if self.column.missing >= 0 else None
        self.person = [row[4] for row in rows] if persons else None
        self.evidence = Evidence(
            cells=coded_cells(table, names[:3], [MARK]),
            sensitive={"value": axis},
            subject=np.array(self.person, dtype=np.int32) if persons else None,
            missing_any=missing_any,
            rows=len(rows),
        )

    @property
    def domain(self):
        codes = range(self.column.size)
        known = [code for code in codes if code != self.missing]
        numbers = {code: float(self.column.numbers[code]) for code in known}
        return oracles.SensitiveDomain(
            tuple(codes), numbers=numbers, missing=self.missing
        )

    def rows(self, group, *, missing_any):
        values = self.column.codes.tolist()
        return oracles.OracleRows(group, values, self.person, None, missing_any)

    def sizes(self, known=None):
        who = self.person or range(len(self.cells))
        return [
            (at, len({who[row] for row in inside}))
            for at, inside in brute.candidate_sets(self.cells, MARK, known)
        ]

    def as_any(self, measure, choose, known=None):
        rows = self.rows([0] * len(self.cells), missing_any=True)
        sets = {inside for _, inside in brute.candidate_sets(self.cells, MARK, known)}
        groups = [brute.group_of_rows(inside, rows, self.domain) for inside in sets]
        return choose(
            measure(filled)
            for group in groups
            for filled in oracles.readings(group, missing_any=True)
        )

    def as_value(self, measure, *, smallest):
        numbers = {cell: at for at, cell in enumerate(dict.fromkeys(self.cells))}
        group = [numbers[cell] for cell in self.cells]
        rows = self.rows(group, missing_any=False)
        return oracles.worst(rows, self.domain, measure, smallest=smallest)

    def verdict(self, model):
        return prove(self.evidence, [model]).verdicts[0]


def number_of(measured):
    return np.inf if measured is None else measured


@settings(max_examples=60)
@given(ROWS, st.booleans())
def test_k_is_the_fewest_candidates_and_never_above_the_smallest_group(rows, persons):
    case = Case(rows, persons=persons)
    verdict = case.verdict(KAnonymity(k=2))
    fewest = min(size for _, size in case.sizes())
    assert verdict.readings["any"].measured == fewest
    smallest = verdict.readings["value"].measured
    assert verdict.measured == min(fewest, smallest)
    assert verdict.holds == (fewest >= 2 and smallest >= 2)


@pytest.mark.parametrize("name", MEASURES)
@settings(max_examples=40)
@given(rows=ROWS, persons=st.booleans())
def test_a_sensitive_model_takes_the_worst_way_of_filling_in(name, rows, persons):
    model, measure, choose = MEASURES[name]
    case = Case(rows, persons=persons)
    verdict = case.verdict(model)
    expected = case.as_any(measure, choose)
    assert number_of(verdict.readings["any"].measured) == pytest.approx(expected)
    plain = case.as_value(measure, smallest=choose is min)
    assert number_of(verdict.readings["value"].measured) == pytest.approx(plain)
    assert number_of(verdict.measured) == pytest.approx(choose(expected, plain))
    assert verdict.holds == all(v.holds for v in verdict.readings.values())


@settings(max_examples=40)
@given(ROWS)
def test_risks_are_those_of_the_fewest_candidates(rows):
    case = Case(rows)
    fewest = [min(s for a, s in case.sizes() if a == at) for at in range(len(rows))]
    risk = case.verdict(AverageRisk(at_most=0.5)).readings["any"]
    assert risk.measured == pytest.approx(np.mean([1 / size for size in fewest]))
    alone = case.verdict(Uniqueness(at_most=0.5)).readings["any"]
    assert alone.measured == pytest.approx(np.mean([size == 1 for size in fewest]))


@settings(max_examples=40)
@given(ROWS, st.integers(1, 3))
def test_lkc_looks_at_every_set_of_known_columns_and_every_filling(rows, l):
    case = Case(rows)
    sets = brute.known_sets(3, l)
    found = case.verdict(Lkc(l=l, k=2, c=0.6)).readings["any"]
    sizes = [size for known in sets for _, size in case.sizes(known)]
    assert found.details["k"] == min(sizes)
    shares = [case.as_any(oracles.commonest_share, max, known) for known in sets]
    assert found.measured == pytest.approx(max(shares))


@settings(max_examples=60)
@given(ROWS, st.integers(1, 5))
def test_n_t_closeness_looks_for_the_nearest_set_of_every_filling(rows, n):
    rows = [(*row[:3], "1" if row[3] == MARK else row[3], row[4]) for row in rows]
    case = Case(rows)
    model = NTCloseness(n=n, t=0.2, distance="equal")
    found = case.verdict(model).readings["any"].measured
    table = case.rows([0] * len(rows), missing_any=True)
    worst = 0.0
    for row in case.cells:
        for person in brute.completions(case.cells, row, MARK):
            inside = brute.agreeing(case.cells, person, (0, 1, 2), MARK)
            near = 0.0 if len(inside) >= n else np.inf
            shown = [j for j in range(3) if row[j] != MARK]
            for known in brute.known_sets(3, 3):
                if not set(known) <= set(shown):
                    continue
                natural = brute.agreeing(case.cells, person, known, MARK)
                if len(natural) >= n:
                    pair = oracles._compared(
                        table, case.domain, sorted(inside), sorted(natural)
                    )
                    near = min(near, oracles.variational(pair))
            worst = max(worst, near)
    assert number_of(found) == pytest.approx(worst)


def test_one_row_and_five_that_could_be_it_are_not_five_anonymous():
    rows = [("a", "b", "c", "1", 0)] + [("a", MARK, "c", "1", 0)] * 5
    verdict = Case(rows).verdict(KAnonymity(k=5))
    assert not verdict.holds
    assert verdict.offending == 1
    assert verdict.measured == 1
    assert {name: v.measured for name, v in verdict.readings.items()} == {
        "value": 1,
        "any": 5,
    }


def test_offending_groups_are_published_groups_not_fillings():
    rows = [("a", MARK, "c", "1", 0), ("a", "b", "c", "1", 0), ("a", "d", "c", "1", 0)]
    verdict = Case(rows).verdict(ThetaDiversity(theta=0.5))
    assert verdict.offending == 3


def test_marks_of_a_missing_value_are_different_cells_to_a_recipient():
    table = pa.table({"age": ["30", "30"], "zip": ["?", ""]})
    cells = coded_cells(table, ["age", "zip"], ["?", ""])
    evidence = Evidence(cells=cells, rows=2)
    assert prove(evidence, [KAnonymity(k=2)]).verdicts[0].measured == 1


def test_any_mark_may_be_any_value():
    table = pa.table({"age": ["30", "30"], "zip": ["?", ""]})
    cells = coded_cells(table, ["age", "zip"], ["?", ""])
    evidence = Evidence(cells=cells, rows=2, missing_any=True)
    verdict = prove(evidence, [KAnonymity(k=2)]).verdicts[0]
    assert verdict.readings["any"].measured == 2
    assert not verdict.holds


def test_two_bounds_are_one_column_of_intervals():
    table = pa.table({"low": ["1", "1", None], "high": ["1", "4", None]})
    cells = as_intervals(*coded_cells(table, ["low", "high"], [""]))
    assert [cells.texts[code] for code in cells.codes] == ["1", "[1, 4]", None]


def many_gaps():
    letters = "abcdefgh"
    rows = [(x, MARK, MARK, "1", 0) for x in letters]
    rows += [(MARK, y, z, v, 0) for y in letters for z in letters for v in "12"]
    return Case(rows)


def test_too_many_fillings_bound_what_merging_cannot_break(monkeypatch):
    monkeypatch.setattr(filling, "LIMIT", 100)
    found = many_gaps().verdict(ThetaDiversity(theta=1.0)).readings["any"]
    assert found.details["bound"] is True
    assert found.measured == 1.0


def test_too_many_fillings_are_refused_where_nothing_bounds_them(monkeypatch):
    monkeypatch.setattr(filling, "LIMIT", 100)
    monkeypatch.setattr(verify, "LIMIT", 100)
    with pytest.raises(RefusedError, match="more than 100 ways to fill in"):
        many_gaps().verdict(RangeDisclosure(r=0.5, at_most=0.5))
