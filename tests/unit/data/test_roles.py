"""Roles are decided from names, values, identifying power and dependence."""

from __future__ import annotations

import pyarrow as pa
import pytest

from sfumato.data.profiling.column_names import concept_of_name
from sfumato.data.profiling.column_roles import MOST_QUASI, Decision
from sfumato.data.profiling.dependence import follows_from, same_values
from sfumato.data.profiling.infer import infer
from sfumato.data.schema import Role

ROWS = 400
TEN = (
    *("age", "sex", "birth", "zip", "city", "state"),
    *("country", "race", "marital", "education"),
)

SENSITIVE_NAMES = (
    *("health", "Gesundheit", "santé", "salud", "salute", "saude", "gezondheid"),
    *("ndisease", "Herzkrankheit", "maladies", "enfermedades", "malattie", "doencas"),
    *("deny", "loan_denied", "abgelehnt", "refus", "rechazado", "rifiutato"),
    *("recusado", "afgewezen", "default", "Ausfall", "defaut", "impago"),
    *("insolvenza", "inadimplente", "wanbetaling", "affairs", "nbaffairs"),
    *("T.categ", "transmission_route", "Uebertragung", "credit_history", "pbcr"),
    *("Bonitaet", "krediet", "credito", "Kirche", "iglesia", "chiesa", "igreja"),
    *("godsdienst", "religieux", "union", "syndicat", "sindicato", "sindacato"),
    *("vakbond", "Gewerkschaft", "vote", "voto", "stemgedrag", "Wahlabsicht"),
    *("votazione", "dvet", "DREM", "discapacidad", "handicap", "Behinderung"),
    *("injury", "iinjury", "pay_band"),
)


def cycle(*values):
    return [values[row % len(values)] for row in range(ROWS)]


def scattered(count, step=7919):
    """Whole numbers without order, `count` different ones."""
    return [str((row * step) % count * 13 + 100) for row in range(ROWS)]


def roles(**columns):
    found = infer(pa.table(columns))
    return {g.name: "drop" if g.drop else str(g.role) for g in found.guesses}


@pytest.mark.parametrize(
    ("name", "role"),
    [
        ("Alter", "quasi"),
        ("date_de_naissance", "quasi"),
        ("codigo_postal", "quasi"),
        ("Familienstand", "quasi"),
        ("nivel_estudios", "quasi"),
        ("Beruf", "quasi"),
        ("geslacht", "quasi"),
        ("stato_civile", "quasi"),
        ("Nationalité", "quasi"),
        ("Wohnort", "quasi"),
        ("Krankheit", "sensitive"),
        ("salario_mensual", "sensitive"),
        ("Einkommensklasse", "sensitive"),
        ("diagnostico", "sensitive"),
        ("religione", "sensitive"),
        *((name, "sensitive") for name in SENSITIVE_NAMES),
    ],
)
def test_names_of_many_languages_are_understood(name, role):
    assert roles(**{name: cycle("a", "b", "c")}, other=cycle("x", "y"))[name] == role


@pytest.mark.parametrize(
    ("name", "concept"),
    [
        ("AGEP", "age"),
        ("iage", "age"),
        ("RAC1P", "ethnic origin"),
        ("ethn", "ethnic origin"),
        ("black", "ethnic origin"),
        ("isex", "sex"),
        ("PUMA", "region"),
    ],
)
def test_names_of_code_books_are_understood(name, concept):
    assert concept_of_name(name) == concept


@pytest.mark.parametrize("name", ["page", "usage", "trace", "grace", "village_x"])
def test_letters_around_a_short_word_make_other_words(name):
    assert concept_of_name(name) not in ("age", "ethnic origin", "sex")


def test_a_wage_is_no_age():
    assert roles(wage=cycle("1", "2"), x=cycle("x", "y"))["wage"] == "sensitive"


@pytest.mark.parametrize("name", ["ethnicity", "capacity", "baggage", "comfort"])
def test_words_that_end_like_others_are_not_taken_for_them(name):
    assert concept_of_name(name) not in ("place", "age")


def test_a_compound_word_is_about_its_own_thing():
    assert concept_of_name("Familienstand") == "marital status"
    assert concept_of_name("Familiengroesse") == "household"


def test_a_column_in_words_of_sex_or_countries_is_known_by_its_values():
    found = infer(
        pa.table(
            {
                "v1": cycle("male", "female"),
                "v2": cycle("Peru", "Chile", "Cuba", "Spain", "Japan"),
            }
        )
    )
    assert found["v1"].role_reason == "sex: by its values"
    assert found["v2"].role_reason == "country: by its values"


def test_codes_of_diagnoses_are_sensitive():
    codes = cycle("E11.9", "I10", "J45.0", "K21.9", "M54.5")
    assert roles(v=codes, age=cycle("1", "2"))["v"] == "sensitive"


def test_a_sensitive_number_that_is_nearly_unique_is_generalized():
    found = roles(age=cycle("20", "30"), salary=scattered(ROWS))
    assert found["salary"] == "quasi"


def test_a_running_number_is_an_identifier_even_without_a_name():
    assert roles(v=[str(row) for row in range(ROWS)], age=cycle("1", "2"))["v"] == (
        "identifier"
    )


def test_unique_amounts_without_order_are_no_identifier():
    assert roles(v=scattered(ROWS), age=cycle("1", "2"))["v"] == "quasi"


def test_a_number_that_repeats_counts_persons():
    numbers = [str(5000 + 3 * (row // 4)) for row in range(ROWS)]
    found = roles(kundennummer=numbers, age=cycle("20", "30", "40"))
    assert found["kundennummer"] == "subject"


def test_free_text_is_left_out():
    text = [f"came in with pain number {row} on day two" for row in range(ROWS)]
    assert roles(v=cycle(*text[:150]), age=cycle("1", "2"))["v"] == "drop"


def test_answers_on_one_scale_are_sensitive():
    scale = ("1", "2", "3", "4", "5")
    answers = {f"q{n}": cycle(*scale[n % 5 :], *scale[: n % 5]) for n in range(6)}
    found = roles(age=cycle("20", "30", "40"), **answers)
    assert {found[name] for name in answers} == {"sensitive"}


def test_a_column_that_follows_from_another_of_its_kind_is_left_out():
    found = infer(
        pa.table(
            {
                "education": cycle("BSc", "MSc", "PhD", "none"),
                "education_years": cycle("16", "18", "21", "0"),
            }
        )
    )
    assert not found["education"].drop
    assert found["education_years"].drop
    assert "it follows from 'education'" in found["education_years"].role_reason


def test_a_text_that_says_the_same_as_a_number_is_an_identifier():
    table = {
        "site_id": [str(900 + row // 10 * 7) for row in range(ROWS)],
        "label": [f"Clinic {chr(65 + row // 10)}" for row in range(ROWS)],
        "age": cycle("20", "30", "40"),
    }
    found = infer(pa.table(table))
    assert found["label"].role is Role.IDENTIFIER
    assert found["label"].role_reason == "says the same as 'site_id'"


def test_no_more_than_ten_are_chosen_and_the_best_known_first():
    known = ("age", "sex", "zip", "city", "race", "education", "occupation", "marital")
    columns = {name: cycle("a", "b", "c", "d") for name in known}
    more = {f"x{n}": cycle(*map(str, range(n + 3))) for n in range(12)}
    found = roles(**more, **columns)
    assert sum(role == "quasi" for role in found.values()) == MOST_QUASI
    assert {found[name] for name in known} == {"quasi"}


def test_columns_published_as_they_are_tell_hardly_anybody_apart_together():
    known = {name: cycle("a", "b", "c") for name in TEN}
    bits = {f"bit{n}": [str((row >> n) & 1) for row in range(ROWS)] for n in range(8)}
    found = infer(pa.table(known | bits))
    kept = [name for name in bits if not found[name].drop]
    rows = list(zip(*(bits[name] for name in kept), strict=True))
    rare = sum(rows.count(row) < 5 for row in rows)
    assert 0 < len(kept) < len(bits)
    assert rare <= 0.01 * ROWS


def test_dependence_is_exact_in_both_directions():
    columns = infer(
        pa.table(
            {
                "city": cycle("a", "b", "c", "d"),
                "land": cycle("x", "x", "y", "y"),
                "code": cycle("1", "2", "3", "4"),
            }
        )
    ).columns
    city, land, code = (columns[name] for name in ("city", "land", "code"))
    assert follows_from(land, [city])
    assert not follows_from(city, [land])
    assert same_values(city, code)
    assert not same_values(city, land)


def test_what_is_nearly_always_the_same_follows_from_nothing():
    columns = infer(
        pa.table({"a": cycle("x", "y"), "b": ["n"] * (ROWS - 2) + ["j"] * 2})
    ).columns
    assert not follows_from(columns["b"], [columns["a"]])


COORDINATES = {
    "lat": [f"{48 + row % 97 / 100}" for row in range(ROWS)],
    "long": [f"{11 + row % 89 / 100}" for row in range(ROWS)],
}


def test_coordinates_are_left_out_together_where_one_has_no_room():
    known = ("age", "sex", "birth", "zip", "city", "state", "country", "continent")
    cells = {name: cycle("a", "b", "c") for name in (*known, "job", "extra")}
    asked = {"extra": Decision(Role.QUASI, "said so")}
    found = infer(pa.table({**cells, **COORDINATES}), given=asked)
    assert found["lat"].drop
    assert found["long"].drop
    assert found.names(Role.QUASI) == (*known, "job", "extra")


def test_coordinates_are_kept_together_where_there_is_room():
    found = roles(age=cycle("20", "30", "40"), **COORDINATES)
    assert (found["lat"], found["long"]) == ("quasi", "quasi")


def test_a_coordinate_goes_with_one_that_must_not_be_published():
    found = infer(
        pa.table({"age": cycle("20", "30", "40"), **COORDINATES}),
        leaves_out=lambda one: "too exact" if one.name == "lat" else None,
    )
    assert found["long"].drop
    assert "but 'lat' is left out" in found["long"].role_reason


@pytest.mark.parametrize("name", ["edlevel", "xlevel"])
def test_dummies_of_another_column_are_all_left_out(name):
    levels = cycle("1", "2", "3", "4")
    dummies = {
        f"{name}{n}": [str(int(v == str(n))) for v in levels] for n in range(1, 5)
    }
    found = infer(pa.table({**dummies, name: levels, "age": cycle("20", "30", "40")}))
    assert not found[name].drop
    assert all(found[dummy].drop for dummy in dummies)
    assert all("follows from" in found[dummy].role_reason for dummy in dummies)
