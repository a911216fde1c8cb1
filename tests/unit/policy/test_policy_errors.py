"""Every fault of a policy is a sentence of ours, with its key and its line."""

# ruff: noqa: E501 - one fault per line reads best.

from __future__ import annotations

import pytest

from sfumato.errors import PolicyError
from sfumato.policy import Policy

TEXT = """\
version = 1

[data]
path = "a.csv"

[columns.age]
role = "quasi"
hierarchy = { intervals = [5] }

[columns."my zip"]
role = "quasi"

[columns.diagnosis]
role = "sensitive"

[[require]]
model = "k-anonymity"
k = 5

[[require]]
model = "l-diversity"
l = 3

[publish]
operator = "generalize"
"""


def fault(old, new):
    assert old in TEXT
    with pytest.raises(PolicyError) as error:
        Policy.parse(TEXT.replace(old, new, 1), source="'p.toml'")
    assert error.value.hint
    assert error.value.exit_code == 2
    text = str(error.value)
    assert "pydantic" not in text.lower()
    assert "input_value" not in text
    return text


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        ('role = "sensitive"', 'role = "sensitiv"', "line 14: columns.diagnosis.role must be one of 'identifier', 'quasi'"),
        ('role = "sensitive"', 'rol = "sensitive"', "line 14: columns.diagnosis.rol is not a key of the policy.\nHint: Did you mean 'role'?"),
        ('role = "sensitive"', "role = 5", "line 14: columns.diagnosis.role must be one of"),
        ('role = "sensitive"', 'kind = "date"', "line 13: columns.diagnosis has no role"),
        ('role = "sensitive"', 'role = "identifier"\nhierarchy = "auto"', "line 15: columns.diagnosis.hierarchy is set for a column that is an identifier"),
        ('role = "sensitive"', 'role = "sensitive"\npseudonymize = "keyed-hash"', "pseudonymize is set for a column that is a sensitive one"),
        ('role = "sensitive"', 'role = "sensitive"\norder = ["a"]', "order is set, but the kind is not"),
        ('role = "sensitive"', 'role = "sensitive"\nkind = "ordered"\norder = ["a", "a"]', "order names a value twice"),
        ('role = "sensitive"', 'role = "sensitive"\nweight = 0', "columns.diagnosis.weight must be at least 1e-09"),
        ('role = "sensitive"', 'role = "sensitive"\nweight = nan', "columns.diagnosis.weight must be"),
        ('role = "sensitive"', 'role = "sensitive"\ndrop = "yes"', "drop is a text, not true or false"),
        ("{ intervals = [5] }", "{ interval = [5] }", "line 8: columns.age.hierarchy must name one of file, tree, intervals"),
        ("{ intervals = [5] }", "{ intervals = [5], prefix = [2] }", "it names 2"),
        ("{ intervals = [5] }", "{ intervals = [5], trust = true }", "has the key 'trust'"),
        ("{ intervals = [5] }", "7", "must be a path, a word such as 'auto', or a table"),
        ("k = 5", 'k = "5"', "line 18: require[0].k is a text, not a whole number.\nHint: Write numbers without"),
        ("k = 5", "k = 5.5", "line 18: require[0].k is a number, not a whole number"),
        ("k = 5", "k = true", "require[0].k is true or false, not a whole number"),
        ("k = 5", "k = 0", "line 16: require[0] – k-anonymity: k is 0."),
        ("k = 5", "K = 5", "line 18: require[0].K is unknown to k-anonymity"),
        ("k = 5", "", "line 16: require[0] lacks 'k', which k-anonymity needs"),
        ("k-anonymity", "k-anonimity", "line 17: require[0].model – There is no model 'k-anonimity'.\nHint: Did you mean 'k-anonymity'?"),
        ('model = "l-diversity"', "", "line 20: require[1].model is missing"),
        ("l = 3", "l = 3\non = 5", "line 23: require[1].on is a whole number, not a text or a list"),
        ("version = 1", "version = 2", "line 1: version must be one of 1"),
        ("[data]", "[dat]", "line 3: dat is not a key of the policy.\nHint: Did you mean 'data'?"),
        ('path = "a.csv"', 'place = "postgresql://x"', "line 4: data.place is not a key of the policy"),
        ('path = "a.csv"', 'missing = "?"', "line 4: data.missing is a text, not a list"),
        ('path = "a.csv"', "missing = [1]", "line 4: data.missing[0] is a whole number, not a text"),
        ('path = "a.csv"', 'missing_as = "all"', "data.missing_as must be one of 'value', 'any', 'drop'"),
        ('path = "a.csv"', 'delimiter = ";;"', "data.delimiter must be one ASCII character"),
        ('operator = "generalize"', "max_suppressed = 5", "line 25: publish.max_suppressed must be at most 1"),
        ('operator = "generalize"', "max_suppressed = -0.1", "publish.max_suppressed must be at least 0"),
        ('operator = "generalize"', 'order = "any"', "publish.order must be one of 'random', 'source'"),
        ("version = 1", "version = 1\nunlisted = 3", "unlisted must be one of 'error', 'keep', 'drop'"),
        ("version = 1", "version = ", "'p.toml' is not TOML"),
        ("version = 1", "version = 1\nversion = 1", "line 2"),
        ('[columns."my zip"]\nrole = "quasi"', '[columns."my zip"]\nrole = "qasi"', "line 11: columns.my zip.role"),
    ],
)  # fmt: skip
def test_a_fault_names_its_key_and_line_and_what_was_expected(old, new, expected):
    assert expected in fault(old, new)


def test_a_wrong_path_is_named(tmp_path):
    with pytest.raises(PolicyError, match="There is no policy file"):
        Policy.load(tmp_path / "none.toml")


def test_a_directory_is_no_policy(tmp_path):
    with pytest.raises(PolicyError, match="is a directory"):
        Policy.load(tmp_path)


def test_a_binary_file_is_no_policy(tmp_path):
    (tmp_path / "p.toml").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(PolicyError, match="cannot be read as UTF-8"):
        Policy.load(tmp_path / "p.toml")


NAMES = ["age", "my zip", "diagnosis"]


def check(text=TEXT, names=NAMES, **replacements):
    for old, new in replacements.values():
        assert old in text
        text = text.replace(old, new)
    Policy.parse(text, source="'p.toml'").check_columns(names)


def test_a_policy_that_fits_its_table_passes():
    check()


@pytest.mark.parametrize(
    ("names", "change", "expected"),
    [
        (["agee", *NAMES[1:]], ("", ""), "line 6: columns.age has a role, but the table has no such column among its 3.\nHint: Did you mean 'agee'?"),
        ([*NAMES, "name", "note"], ("", ""), "leaves out 2 of 5 columns: 'name', 'note'"),
        (NAMES, ("l = 3", 'l = 3\non = "age"'), "line 23: require[1].on names 'age', which is not a sensitive column.\nHint: Sensitive are: diagnosis."),
        (NAMES, ('role = "sensitive"', 'role = "insensitive"'), "line 20: require[1] – l-diversity judges sensitive values, and no column is sensitive"),
        (NAMES, ('role = "quasi"', 'role = "sensitive"'), "columns has no quasi-identifier"),
        (NAMES, ('role = "quasi"', 'role = "subject"'), "line 10: columns.my zip is one of 2 subjects"),
        (NAMES, ('role = "quasi"', 'role = "weight"'), "columns.my zip is one of 2 weights"),
    ],
)  # fmt: skip
def test_contradictions_with_the_table_are_named(names, change, expected):
    text = TEXT.replace("hierarchy = { intervals = [5] }\n", "\n")
    with pytest.raises(PolicyError) as error:
        check(text, names, change=change)
    assert expected in str(error.value)


def test_a_policy_without_requirements_promises_nothing():
    text = TEXT[: TEXT.index("[[require]]")]
    with pytest.raises(PolicyError, match="require is empty: nothing is promised"):
        check(text)


def test_unlisted_columns_may_be_kept_or_dropped():
    for choice in ("keep", "drop"):
        check(f'unlisted = "{choice}"\n' + TEXT, [*NAMES, "more"])


def test_a_dropped_column_may_be_absent():
    check(TEXT + "\n[columns.gone]\ndrop = true\n")
