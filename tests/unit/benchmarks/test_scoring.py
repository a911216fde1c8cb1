"""The independent scorer, on tables small enough to score by hand."""

from __future__ import annotations

import pytest

from benchmarks.scoring import (
    Domain,
    anonypy_reader,
    label_reader,
    our_reader,
    records_of,
    score,
)

AGES = Domain.of(["20", "24", "30", "40"], numeric=True)
JOBS = Domain.of(["cook", "nurse", "smith", "tailor"], numeric=False)


def test_a_single_value_costs_nothing():
    assert AGES.loss(our_reader(AGES)("24")) == 0
    assert JOBS.loss(our_reader(JOBS)("cook")) == 0


def test_an_interval_costs_its_share_of_the_range():
    assert AGES.loss(our_reader(AGES)("[20, 30]")) == pytest.approx(10 / 20)


def test_an_interval_is_clipped_to_the_range_of_the_source():
    assert AGES.loss(our_reader(AGES)("[0, 30)")) == pytest.approx(10 / 20)


def test_a_set_costs_its_share_of_the_domain():
    assert JOBS.loss(our_reader(JOBS)("{cook|nurse|smith}")) == pytest.approx(3 / 4)


def test_a_star_costs_everything():
    assert AGES.loss(our_reader(AGES)("*")) == 1
    assert JOBS.loss(our_reader(JOBS)("*")) == 1


def test_sets_in_another_order_are_the_same_cell():
    read = anonypy_reader(JOBS)
    assert read("cook,nurse") == read("nurse,cook") == our_reader(JOBS)("{cook|nurse}")


def test_a_label_costs_the_share_of_the_values_that_occur_under_it():
    read = label_reader(JOBS, {"crafts": frozenset({"smith", "tailor", "potter"})})
    assert JOBS.loss(read("crafts")) == pytest.approx(2 / 4)


def test_a_label_over_numbers_spans_those_that_occur_under_it():
    read = label_reader(AGES, {"young": frozenset({"18", "20", "24"})})
    assert read("young") == (20, 24)


def test_a_published_table_is_scored_as_by_hand():
    columns = [["[20, 24]"] * 2 + ["*"] * 2, ["cook"] * 2 + ["{cook|nurse}"] * 2]
    readers = [our_reader(AGES), our_reader(JOBS)]
    found = score(records_of(columns, readers), (AGES, JOBS), rows=5, k=2)
    assert found.ncp == pytest.approx((2 * 4 / 20 + 2 * 1 + 2 * 2 / 4 + 2) / 10)
    assert found.discernibility == 2 * 2 + 2 * 2 + 5
    assert found.average_class_size == 1.0
    assert (found.groups, found.smallest_group, found.suppressed) == (2, 2, 1)


def test_counts_stand_for_rows():
    records = records_of([["cook", "cook"]], [our_reader(JOBS)], [3, 4])
    assert score(records, (JOBS,), rows=7, k=1).smallest_group == 7


def test_a_missing_cell_reads_as_an_empty_one():
    place = Domain.of(["Graz", ""], numeric=False)
    records = records_of([[None, "Graz", "{Graz|}"]], [our_reader(place)])
    assert score(records, [place], rows=3, k=1).ncp == pytest.approx(1 / 3)
