"""Awkward tables are what their names say."""

from __future__ import annotations

import pytest

from sfumato.data.schema import Kind, Role
from sfumato.hierarchies.axis import Shape
from sfumato.models.k_anonymity import KAnonymity
from sfumato.testing.awkward_tables import (
    awkward_table,
    awkward_tables,
    request_for,
    table_names,
)


def codes(name: str, column: str):
    return awkward_table(name).columns()[column]


@pytest.mark.parametrize("name", table_names())
def test_a_table_is_found_under_its_own_name(name):
    assert awkward_table(name).name == name


@pytest.mark.parametrize("table", awkward_tables(), ids=str)
def test_every_table_makes_a_request(table):
    request = request_for(table, [KAnonymity(k=2)], removable=3)
    assert request.rows == table.rows > 0
    assert [coded.name for coded in request.quasi] == list(table.names(Role.QUASI))
    assert request.removable == 3


def test_missing_marks_and_nulls_share_a_code():
    column = codes("missing-in-quasi", "town")
    assert column.missing == column.size - 1
    assert (column.codes == column.missing).sum() == 9


def test_leading_zeros_survive():
    column = codes("leading-zeros", "zip")
    assert column.kind is Kind.CODE
    assert column.labels[0] == "00000"


def test_there_are_three_hundred_values():
    assert codes("many-values", "town").size == 300


def test_composed_and_decomposed_letters_are_two_values():
    assert codes("unicode-text", "città").size == 9


def test_words_for_nothing_are_values():
    column = codes("looks-like-missing", "answer")
    assert column.missing == -1
    assert column.size == 7


def test_wide_keys_do_not_fit_64_bits():
    sizes = 1
    for coded in request_for(awkward_table("wide-keys"), ()).quasi:
        sizes *= coded.axis.size
    assert sizes > 2**64


def test_every_shape_of_axis_occurs():
    shapes = {
        coded.axis.shape
        for table in awkward_tables()
        for coded in request_for(table, ()).quasi
    }
    assert shapes == set(Shape)


def test_persons_have_several_rows():
    subject = request_for(awkward_table("several-rows-per-subject"), ()).subject
    assert subject is not None
    assert len(set(subject.tolist())) < len(subject)


def test_permuted_rows_are_the_same_rows():
    table = awkward_table("two-sensitive")
    turned = table.permuted(list(range(table.rows))[::-1])
    assert turned.source.to_pylist() == table.source.to_pylist()[::-1]
