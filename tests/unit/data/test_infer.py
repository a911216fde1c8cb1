"""Roles are guessed by name and by content, each with its reason."""

from __future__ import annotations

import pyarrow as pa
import pytest

from sfumato.data.profiling import value_patterns as content
from sfumato.data.profiling.column_names import role_of_name, words
from sfumato.data.profiling.infer import infer
from sfumato.data.schema import Kind, Role
from sfumato.io.read import read_source


def roles(**columns):
    found = infer(pa.table(columns))
    return {guess.name: guess.role for guess in found.guesses}


@pytest.mark.parametrize(
    ("name", "role"),
    [
        ("name", Role.IDENTIFIER),
        ("LastName", Role.IDENTIFIER),
        ("Nachname", Role.IDENTIFIER),
        ("e-mail", Role.IDENTIFIER),
        ("Telefon", Role.IDENTIFIER),
        ("SSN", Role.IDENTIFIER),
        ("IBAN", Role.IDENTIFIER),
        ("id", Role.IDENTIFIER),
        ("countryName", Role.QUASI),
        ("Age", Role.QUASI),
        ("Geschlecht", Role.QUASI),
        ("home_zip", Role.QUASI),
        ("BirthDate", Role.QUASI),
        ("Diagnose", Role.SENSITIVE),
        ("icd10", Role.SENSITIVE),
        ("annual_income", Role.SENSITIVE),
        ("religion", Role.SENSITIVE),
        ("sampling_weight", Role.WEIGHT),
        ("fnlwgt", Role.WEIGHT),
    ],
)
def test_names_point_to_roles(name, role):
    found = role_of_name(name)
    assert found is not None
    assert found[0] is role
    assert "in its name" in found[1]


def test_names_that_say_nothing_point_nowhere():
    assert role_of_name("x17") is None


def test_names_are_cut_into_plain_words():
    assert words("HomeZip_code") == ("home", "zip", "code")
    assert words("Größe") == ("groesse",)


@pytest.mark.parametrize(
    ("test", "yes", "no"),
    [
        (content.is_email, "ann@example.org", "ann at example.org"),
        (content.is_link, "https://example.org/a", "example"),
        (content.is_network_address, "2001:db8::1", "1.2.3"),
        (content.is_iban, "DE89 3704 0044 0532 0130 00", "DE88 3704 0044 0532 0130 00"),
        (content.is_card, "4111 1111 1111 1111", "4111 1111 1111 1112"),
        (content.is_phone, "+49 89 1234567", "1234567"),
        (content.is_phone, "(212) 555-0100", "2020-01-31"),
    ],
)
def test_content_is_told_by_form_and_check_digits(test, yes, no):
    assert test(yes)
    assert not test(no)


def test_addresses_identify_whatever_the_column_is_called():
    cells = [f"person{number % 7}@example.org" for number in range(30)]
    found = infer(pa.table({"x": cells}))["x"]
    assert (found.role, found.role_reason) == (
        Role.IDENTIFIER,
        "its values are e-mail addresses",
    )


def test_unique_text_identifies():
    assert roles(note=[f"note {n}" for n in range(40)])["note"] is Role.IDENTIFIER


def test_unique_text_in_a_tiny_table_does_not():
    assert roles(color=["red", "blue", "green"])["color"] is Role.QUASI


def test_row_numbers_identify():
    assert roles(x=[str(number) for number in range(30)])["x"] is Role.IDENTIFIER


def test_a_repeated_number_of_persons_is_the_subject():
    cells = [str(number // 2) for number in range(40)]
    assert roles(patient_id=cells)["patient_id"] is Role.SUBJECT


def test_a_number_of_persons_that_never_repeats_is_an_identifier():
    cells = [str(1000 - 3 * number) for number in range(40)]
    assert roles(patient_id=cells)["patient_id"] is Role.IDENTIFIER


def test_only_one_column_is_the_subject():
    cells = [str(number // 2) for number in range(40)]
    fewer = [str(number // 4) for number in range(40)]
    found = roles(patient_id=cells, person_nr=fewer)
    assert found == {"patient_id": Role.SUBJECT, "person_nr": Role.IDENTIFIER}


def test_a_constant_column_is_insensitive():
    assert roles(country=["x"] * 5)["country"] is Role.INSENSITIVE


def test_in_doubt_a_column_is_a_quasi_identifier():
    assert roles(x=["a", "b", "a", "b"])["x"] is Role.QUASI


def test_a_postal_code_without_leading_zeros_is_still_a_code():
    assert (
        infer(pa.table({"plz": ["80331", "10115", "20095"]}))["plz"].kind is Kind.CODE
    )


def test_empty_cells_are_counted():
    assert infer(pa.table({"age": ["1", "", "3"]}))["age"].missing == 1


def test_sets_are_those_of_quasi_identifiers():
    cells = {"age": ["1", "2"], "sex": ["f", "m"], "salary": ["5", "6"]}
    table = pa.table({name: pair * 10 for name, pair in cells.items()})
    assert {name for power in infer(table).sets for name in power.columns} == {
        "age",
        "sex",
    }


def test_adult_is_understood(shared_data):
    source = read_source(shared_data / "adult" / "adult_train_32561.csv.gz")
    found = infer(source)
    assert found["age"].role is Role.QUASI
    assert found["fnlwgt"].role is Role.WEIGHT
    assert found["salary-class"].role is Role.SENSITIVE
    assert len(found.names(Role.QUASI)) == 10


def test_zip_codes_of_the_mailing_keep_their_zeros(shared_data):
    found = infer(read_source(shared_data / "cup" / "cup.csv"))
    assert found["ZIP"].kind is Kind.CODE
    assert found["ZIP"].power.distinct == 13_294


def test_codes_of_few_areas_are_no_phone_numbers():
    cells = [f"48-0251{number % 6}" for number in range(400)]
    assert roles(x=cells, age=["30", "40"] * 200)["x"] is Role.QUASI


def test_many_numbers_in_two_parts_are_phone_numbers():
    cells = [f"555-{1000 + number % 100}" for number in range(400)]
    assert roles(x=cells)["x"] is Role.IDENTIFIER


def test_few_international_numbers_are_phone_numbers():
    cells = [f"+49 89 123456{number % 6}" for number in range(400)]
    assert roles(x=cells)["x"] is Role.IDENTIFIER


def test_few_addresses_still_identify():
    cells = [f"person{number % 6}@example.org" for number in range(400)]
    assert roles(x=cells)["x"] is Role.IDENTIFIER


@pytest.mark.parametrize(
    "forms",
    [
        ("2020-01-{:02}", "{:02}.01.2020", "{} Jan 2020"),
        ("{:02}/01/2020", "2020-01-{:02}", "January {}, 2020"),
        ("{}. März 2020", "2020-03-{:02}", "202003{:02}"),
        ("{} de mayo de 2020", "{}-05-2020", "{:02}/05/20"),
    ],
)
def test_dates_in_several_forms_are_left_out_with_the_reason(forms):
    cells = [forms[n % 3].format(n % 28 + 1) for n in range(300)]
    found = infer(pa.table({"visit": cells, "age": ["30", "40"] * 150}))["visit"]
    assert found.drop
    assert found.role_reason.startswith("almost recognized as a date: of ")
    assert "write all as 2020-01-31" in found.role_reason


def test_months_and_words_are_no_dates():
    cells = {"when": ["May", "June", "July"] * 20, "x": ["v 1.2", "b", "c"] * 20}
    found = infer(pa.table(cells))
    assert not found["when"].drop
    assert found["when"].kind is Kind.ORDERED
    assert found["when"].kind_reason == "words that have an order"
    assert not found["x"].drop


def test_months_under_a_name_that_says_nothing_are_about_a_date():
    found = infer(pa.table({"x": ["May", "June", "July"] * 20}))
    assert found["x"].role_reason == "date: by its values"
