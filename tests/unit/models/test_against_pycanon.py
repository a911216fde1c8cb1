"""A second opinion: pycanon on the shared tables, without their incomplete rows.

Where it differs, the difference is pinned from the paper's definition.
"""

from __future__ import annotations

import math

import numpy as np
import pytest

from sfumato.data.schema import Kind
from sfumato.hierarchies.axis import CodedAxis
from sfumato.models.alpha_k import AlphaK
from sfumato.models.beta_likeness import BetaLikeness
from sfumato.models.common.groups import build_groups
from sfumato.models.delta_disclosure import DeltaDisclosure
from sfumato.models.k_anonymity import KAnonymity
from sfumato.models.l_diversity import LDiversity
from sfumato.models.t_closeness import TCloseness
from sfumato.testing.random_groups import flat_axis
from tests.other_tools import other_tool

pandas = other_tool("pandas")
anonymity = other_tool("pycanon.anonymity")

TABLES = {
    # name: file, quasi-identifiers (few: pycanon is slow on many groups), sensitive
    "adult": ("adult/adult_clean_30162.csv.gz", ["education", "sex"], "salary-class"),
    "adult occupation": (
        "adult/adult_clean_30162.csv.gz",
        ["sex", "race"],
        "occupation",
    ),
    "stroke": ("stroke/stroke.csv", ["gender", "smoking_status"], "stroke"),
    "stroke bmi": ("stroke/stroke.csv", ["ever_married"], "bmi"),
    "airline": ("airline/airline.csv", ["Gender", "Class"], "satisfaction"),
    "airline service": (
        "airline/airline.csv",
        ["Customer_Type", "Type_of_Travel"],
        "On-board_service",
    ),
    "drugs": ("pycanon_small/drugs.csv", ["Sex", "BP", "Cholesterol"], "Drug"),
    "students": ("pycanon_small/students.csv", ["Teacher", "Gender"], "Score"),
}
MARKS = ["", "?", "N/A"]


class Case:
    """A table as both see it."""

    def __init__(self, path, quasi, sensitive):
        frame = pandas.read_csv(path, dtype=str, keep_default_na=False)
        frame = frame[~frame.isin(MARKS).any(axis=1)].reset_index(drop=True)
        numbers = pandas.to_numeric(frame[sensitive], errors="coerce")
        self.numeric = bool(numbers.notna().all())
        if self.numeric:
            frame[sensitive] = numbers
        self.frame, self.quasi, self.sensitive = frame, quasi, [sensitive]
        self.groups_of = lambda model: self._groups(model, frame, quasi, sensitive)

    def _groups(self, model, frame, quasi, sensitive):
        group_of = frame.groupby(quasi).ngroup().to_numpy()
        values, codes = np.unique(frame[sensitive], return_inverse=True)
        kind = Kind.DECIMAL if self.numeric else Kind.CATEGORY
        axis = flat_axis(sensitive, len(values), kind=kind)
        column = {sensitive: CodedAxis(axis, codes.astype(np.int32))}
        return build_groups(
            group_of,
            int(group_of.max()) + 1,
            sensitive=column,
            views=model.views((sensitive,)),
        )

    def ours(self, model):
        return model.verify(self.groups_of(model))

    def theirs(self, name):
        function = getattr(anonymity, name)
        if name == "k_anonymity":
            return function(self.frame, self.quasi)
        return function(self.frame, self.quasi, self.sensitive)


@pytest.fixture(scope="module", params=TABLES)
def case(request, shared_data):
    file, quasi, sensitive = TABLES[request.param]
    return Case(shared_data / file, quasi, sensitive)


def test_k_is_pycanons(case):
    assert case.ours(KAnonymity(k=2)).measured == case.theirs("k_anonymity")


def test_alpha_and_its_k_are_pycanons(case):
    verdict = case.ours(AlphaK(alpha=0.5, k=2))
    alpha, k = case.theirs("alpha_k_anonymity")
    assert verdict.measured == pytest.approx(alpha, abs=1e-9)
    assert verdict.details["k"] == k


def test_distinct_l_is_pycanons(case):
    assert case.ours(LDiversity(l=2)).measured == case.theirs("l_diversity")


def test_entropy_l_is_pycanons_which_cuts_off_the_fraction(case):
    """pycanon reports int(e^H); the measured value is e^H itself."""
    measured = case.ours(LDiversity(l=2, kind="entropy")).measured
    assert int(measured) == case.theirs("entropy_l_diversity")


def test_t_is_pycanons_for_numbers_and_for_categories(case):
    measured = case.ours(TCloseness(t=0.1)).measured
    assert measured == pytest.approx(case.theirs("t_closeness"), abs=1e-9)


def test_basic_beta_is_pycanons(case):
    measured = case.ours(BetaLikeness(beta=1)).measured
    assert measured == pytest.approx(case.theirs("basic_beta_likeness"), abs=1e-9)


def test_delta_over_occurring_values_is_pycanons(case):
    """pycanon passes over values that a group lacks; the definition does not."""
    verdict = case.ours(DeltaDisclosure(delta=1))
    theirs = case.theirs("delta_disclosure")
    assert verdict.details["over_occurring"] == pytest.approx(theirs, abs=1e-9)


def test_delta_is_pycanons_only_where_no_group_lacks_a_value(case):
    """Brickell and Shmatikov 2008: |ln(q / p)| < δ for *every* value of the table."""
    groups = case.groups_of(DeltaDisclosure(delta=1))
    histogram = next(iter(groups.histograms.values()))
    lacking = bool((histogram.dense() == 0).any())
    assert (case.ours(DeltaDisclosure(delta=1)).measured is None) == lacking


def test_enhanced_beta_limits_each_value_by_its_own_information(case):
    """Cao and Karras 2012, definition 3: (q − p) / p ≤ min(β, −ln p) value by value.

    pycanon takes the largest −ln p of all values as the bound of each, so that it
    reports a β even where a common value gains more than its own −ln p.
    """
    verdict = case.ours(BetaLikeness(beta=1, kind="enhanced"))
    histogram = next(iter(case.groups_of(BetaLikeness(beta=1)).histograms.values()))
    p = histogram.reference
    q = histogram.dense() / histogram.sizes[:, None]
    gains = (q - p) / p
    within = bool((gains <= -np.log(p) + 1e-9).all())
    assert verdict.measured == (pytest.approx(gains.max()) if within else None)
    theirs = case.theirs("enhanced_beta_likeness")
    assert theirs == pytest.approx(min(gains.max(), (-np.log(p)).max()), abs=1e-9)


def test_recursive_c_counts_from_the_commonest_value(case):
    """Machanavajjhala et al. 2007, definition 4.3: r₁ is the commonest value's count.

    pycanon sorts ascending, so that its r₁ is the rarest one's, and rounds up.
    """
    l = case.theirs("l_diversity")
    if l < 2:
        pytest.skip("recursive diversity needs two values in every group")
    histogram = next(iter(case.groups_of(LDiversity(l=2)).histograms.values()))
    counts = [np.sort(row[row > 0])[::-1] for row in histogram.dense()]
    expected = max(r[0] / r[l - 1 :].sum() for r in counts)
    model = LDiversity(l=l, kind="recursive", c=2.0)
    assert case.ours(model).measured == pytest.approx(expected, abs=1e-9)
    turned = max(math.floor(r[-1] / r[::-1][l - 1 :].sum() + 1) for r in counts)
    assert case.theirs("recursive_c_l_diversity") == (turned, l)
