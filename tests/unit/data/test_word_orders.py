"""Words for months, weekdays and levels keep their order, in seven languages."""

from __future__ import annotations

import csv
from importlib import resources
from itertools import combinations

import pyarrow as pa
import pytest

from sfumato.data.coding import code_column
from sfumato.data.schema import Kind
from sfumato.data.vocabularies import ORDERS, in_order, order_of
from sfumato.errors import DataError


@pytest.mark.parametrize(
    ("order", "values"),
    [
        ("month", ("January", "February", "May", "December")),
        ("month", ("jan", "feb", "mar", "apr", "sept")),
        ("month", ("Januar", "März", "Dezember")),
        ("month", ("février", "mars", "août", "décembre")),
        ("month", ("enero", "abril", "agosto")),
        ("month", ("gennaio", "luglio", "ottobre")),
        ("month", ("fevereiro", "maio", "outubro")),
        ("month", ("januari", "maart", "augustus")),
        ("weekday", ("Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun")),
        ("weekday", ("Montag", "Mittwoch", "Sonntag")),
        ("weekday", ("lundi", "jeudi", "dimanche")),
        ("weekday", ("lunes", "miércoles", "sábado")),
        ("weekday", ("lunedì", "venerdì", "domenica")),
        ("weekday", ("segunda-feira", "quinta-feira", "domingo")),
        ("weekday", ("maandag", "woensdag", "zondag")),
        ("level", ("low", "medium", "high")),
        ("level", ("niedrig", "mittel", "hoch")),
        ("level", ("bajo", "medio", "alto", "muy alto")),
        ("severity", ("mild", "moderate", "severe", "critical")),
        ("severity", ("léger", "modéré", "grave")),
        ("severity", ("licht", "matig", "ernstig")),
        ("frequency", ("never", "rarely", "sometimes", "often", "always")),
        ("frequency", ("mai", "raramente", "spesso", "sempre")),
        ("quality", ("poor", "fair", "good", "excellent")),
        ("quality", ("ruim", "bom", "muito bom")),
        ("agreement", ("disagree", "neutral", "agree", "strongly agree")),
    ],
)
def test_words_are_put_in_order(order, values):
    assert order_of(tuple(reversed(values))) == order
    assert in_order(order, tuple(sorted(values))) == values


def test_a_word_that_no_order_knows_leaves_the_column_as_it_is():
    assert order_of(("low", "medium", "high", "purple")) is None


def test_two_values_have_no_order_worth_keeping():
    assert order_of(("low", "high")) is None


@pytest.mark.parametrize("order", ORDERS)
def test_no_word_has_two_places_in_one_order(order):
    path = resources.files("sfumato.data.vocabularies") / "orders.csv"
    rows = csv.DictReader(path.read_text(encoding="utf-8").splitlines())
    places = [set(r["spellings"].split("|")) for r in rows if r["order"] == order]
    assert len(places) > 2
    assert not any(one & other for one, other in combinations(places, 2))


def cells(*values):
    return pa.chunked_array([pa.array(values, pa.string())])


def test_a_column_is_coded_in_the_order_that_a_name_stands_for():
    values = cells("severe", "mild", "moderate", "mild")
    column = code_column("s", values, kind=Kind.ORDERED, order="severity")
    assert column.labels == ("mild", "moderate", "severe")
    assert column.codes.tolist() == [2, 0, 1, 0]


def test_a_value_beyond_a_named_order_is_counted_and_not_shown():
    with pytest.raises(DataError, match=r"1 of 2 cells .* order 'month'") as refusal:
        code_column("m", cells("May", "Brumaire"), kind=Kind.ORDERED, order="month")
    assert "Brumaire" not in str(refusal.value)
