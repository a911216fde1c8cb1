"""Groups that are searched inside the cells of a Mondrian pre-partition."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest

import sfumato as sf
from sfumato import registry
from sfumato.algorithms.cellwise.cellwise_algorithm import shared_out
from sfumato.algorithms.cellwise.mondrian_cells import mondrian_cells
from sfumato.errors import PolicyError, RefusedError
from sfumato.models.average_risk import AverageRisk
from sfumato.models.k_anonymity import KAnonymity
from sfumato.testing.awkward_tables import awkward_table, request_for
from tests.golden.test_adult_models import policy_of

CELLWISE = [
    "k-member",
    "k-member-p",
    "oka",
    "tgc",
    "mdav",
    "klt",
    "diva",
    "harvest",
    "best",
]


@pytest.mark.parametrize(
    ("total", "sizes", "expected"),
    [
        (0, [5, 5], [0, 0]),
        (3, [1, 1], [2, 1]),
        (10, [30, 60, 10], [3, 6, 1]),
        (4, [10, 5, 5], [2, 1, 1]),
    ],
)
def test_rows_to_leave_out_are_shared_out_by_size(total, sizes, expected):
    assert shared_out(total, sizes).tolist() == expected


def test_the_algorithms_that_compare_rows_can_search_cells():
    names = [
        name
        for name in registry.CATALOGUE["algorithms"]
        if "partition_rows" in registry.algorithm(name).__dataclass_fields__
    ]
    assert sorted(names) == sorted(CELLWISE)


def test_every_row_is_in_one_cell_and_no_cell_is_larger_than_asked():
    request = request_for(awkward_table("many-values"), [KAnonymity(k=3)])
    cells = mondrian_cells(request, 100)
    assert sorted(np.concatenate(cells).tolist()) == list(range(request.rows))
    assert max(map(len, cells)) <= 100
    assert min(map(len, cells)) >= 3


def test_rows_that_are_alike_stay_in_one_cell():
    request = request_for(awkward_table("identical-rows"), [KAnonymity(k=3)])
    assert [len(rows) for rows in mondrian_cells(request, 10)] == [30]


@pytest.mark.parametrize("name", ["k-member", "mdav", "best"])
def test_groups_of_persons_with_several_rows_have_k_persons(name):
    table = awkward_table("several-rows-per-subject")
    request = request_for(table, [KAnonymity(k=3)])
    algorithm = registry.algorithm(name)(partition_rows=30)
    grouping = algorithm.solve(request).grouping
    assert request.subject is not None
    for group in range(grouping.count):
        assert len(set(request.subject[grouping.group_of == group].tolist())) >= 3


@pytest.mark.parametrize("name", ["harvest", "best"])
def test_cells_leave_out_no_more_rows_than_the_table_may(name):
    table = awkward_table("many-values")
    request = request_for(table, [KAnonymity(k=3)], removable=9)
    grouping = registry.algorithm(name)(partition_rows=200).solve(request).grouping
    assert int((~grouping.kept).sum()) <= 9


def test_a_model_of_all_groups_together_holds_over_all_cells():
    models = [KAnonymity(k=3), AverageRisk(at_most=0.2)]
    request = request_for(awkward_table("many-values"), models)
    grouping = (
        registry.algorithm("k-member")(partition_rows=200).solve(request).grouping
    )
    assert grouping.count / request.rows <= 0.2


def test_a_table_within_the_limit_is_searched_as_without_it():
    request = request_for(awkward_table("many-values"), [KAnonymity(k=3)])
    plain, limited = (
        registry.algorithm("k-member")(**options).solve(request).grouping.group_of
        for options in ({}, {"partition_rows": 10_000})
    )
    assert plain.tolist() == limited.tolist()


@pytest.mark.parametrize("rows", [0, -1, 1.5, True])
def test_a_number_of_rows_that_is_none_is_refused(rows):
    with pytest.raises(PolicyError, match="'partition_rows' is"):
        registry.algorithm("tgc")(partition_rows=rows)


def test_bits_of_the_whole_table_are_not_searched_in_cells():
    with pytest.raises(PolicyError, match="'loss' is 'entropy'"):
        registry.algorithm("best")(partition_rows=100, loss="entropy")


def test_requirements_on_a_population_are_refused_in_cells(tmp_path):
    people = pa.table({"age": list(range(20, 40))})
    sf_policy = sf.Policy.build(
        quasi=["age"],
        require=[{"model": "k-map", "k": 2, "population": "people.csv"}],
        algorithm={"name": "best", "partition_rows": 10},
    )
    (tmp_path / "people.csv").write_text(
        "age\n" + "\n".join(str(age) for age in range(20, 40)) + "\n"
    )
    with pytest.raises(RefusedError, match="cannot count a population cell by cell"):
        sf.anonymize(people, sf_policy, base=tmp_path)


def test_the_manifest_says_how_many_rows_a_cell_has():
    table = pa.table({"age": list(range(60))})
    release = sf.anonymize(
        table,
        quasi=["age"],
        k=3,
        algorithm={"name": "k-member", "partition_rows": 20},
        insecure_seed=1,
    )
    assert release.manifest["algorithm"]["partition_rows"] == 20
    found = release.audit["report"]["algorithm"]["partition"]
    assert found == {"rows": 20, "cells": 4, "largest_cell": 15}


@pytest.mark.parametrize(("name", "most"), [("k-member", 0.06), ("harvest", 0.04)])
def test_cells_of_5000_rows_cost_little_on_adult(shared_data, tmp_path, name, most):
    adult = shared_data / "adult"
    asked = policy_of(adult / "hierarchies", {"model": "l-diversity", "l": 3})
    section = type(asked.algorithm)(name=name, partition_rows=5000)
    policy = asked.model_copy(update={"algorithm": section})
    release = sf.anonymize(adult / "adult_clean_30162.csv.gz", policy, insecure_seed=1)
    assert release.utility["ncp"] < most
    release.save(tmp_path / "release")
    assert sf.check(tmp_path / "release" / "data.csv", policy).holds
