"""Groups that are made without a look at sensitive values."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pyarrow as pa
import pytest

import sfumato as sf
from sfumato import registry
from sfumato.algorithms.partition.blind import Blind
from sfumato.algorithms.partition.mondrian import Mondrian
from sfumato.algorithms.request import Request
from sfumato.data.coding import code_column
from sfumato.data.seeds import Seed
from sfumato.errors import PolicyError, RefusedError
from sfumato.hierarchies.axis import CodedAxis
from sfumato.hierarchies.build import build
from sfumato.models.k_anonymity import KAnonymity
from sfumato.models.l_diversity import LDiversity


def coded(name, values, hierarchy) -> CodedAxis:
    texts = pa.chunked_array([pa.array([str(value) for value in values])])
    return build(code_column(name, texts), hierarchy)


def request_of(ill, *, k=2, l=2) -> Request:
    return Request(
        quasi=(coded("age", range(10, 10 + len(ill)), "free"),),
        models=(KAnonymity(k=k), LDiversity(l=l)),
        sensitive={"ill": coded("ill", ill, "flat")},
        seed=Seed.guessable(1),
        resolve=registry.algorithm,
    )


def sizes(ill, **asked) -> list[int]:
    return Blind().solve(request_of(ill, **asked)).grouping.sizes().tolist()


def test_groups_stay_small_where_they_hold():
    assert sizes("xyxyxyxy") == [2, 2, 2, 2]


def test_one_group_that_breaks_a_requirement_makes_all_groups_larger():
    assert sizes("xxyyxyxy") == [4, 4]


def test_the_last_try_is_the_whole_table():
    assert sizes("xxxxxxxy") == [8]


def test_whichever_group_breaks_a_requirement_the_groups_are_the_same():
    first, last = (Blind().solve(request_of(ill)) for ill in ("xxyyxyxy", "xyxyxxyy"))
    assert first.grouping.group_of.tolist() == last.grouping.group_of.tolist()


def test_the_base_sees_no_sensitive_column():
    seen = []

    class Watching(Mondrian):
        def search(self, request):
            codes = [column.codes.tolist() for column in request.sensitive.values()]
            seen.append((codes, [str(model) for model in request.models]))
            return super().search(request)

    request = replace(request_of("xxyyxyxy"), resolve=lambda name: Watching)
    Blind().solve(request)
    blank = [[0] * 8]
    assert seen == [(blank, ["k-anonymity(k=2)"]), (blank, ["k-anonymity(k=4)"])]


def test_persons_are_counted():
    request = request_of("xyxyxyxy")
    twice = replace(request, subject=np.array([0, 0, 1, 1, 2, 2, 3, 3], dtype=np.int32))
    assert Blind().solve(twice).grouping.sizes().tolist() == [4, 4]


def test_it_cannot_build_on_itself():
    with pytest.raises(PolicyError, match="'base' is 'blind'"):
        Blind(base="blind")


TABLE = pa.table({"age": [1, 2, 3, 4], "ill": [1, 2, 1, 2]})


@pytest.mark.parametrize(
    ("asked", "why"),
    [
        ({"algorithm": {"name": "blind", "refine": True}}, "cannot be refined"),
        (
            {"require": [{"model": "range-disclosure", "r": 0.5, "at_most": 1.0}]},
            "does not support range-disclosure",
        ),
    ],
)
def test_what_it_could_not_keep_is_refused(asked, why):
    with pytest.raises(RefusedError, match=why):
        sf.anonymize(
            TABLE, quasi="age", sensitive="ill", k=2, **{"algorithm": "blind"} | asked
        )


def test_a_private_base_is_refused():
    with pytest.raises(PolicyError, match="whose groups are private"):
        sf.anonymize(
            TABLE,
            quasi="age",
            sensitive="ill",
            k=2,
            algorithm={"name": "blind", "base": "safepub"},
        )
