"""The policy document: reading, writing, changing and asking it."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sfumato.data.schema import Kind, Role
from sfumato.errors import PolicyError, UsageError
from sfumato.models.k_anonymity import KAnonymity
from sfumato.models.l_diversity import LDiversity
from sfumato.policy import Policy
from sfumato.publish.generalize import Generalize

TEXT = """\
version = 1
unlisted = "drop"

[data]
path = "secret/patients.csv"
missing = ["", "?"]

[columns.name]
role = "identifier"
pseudonymize = "keyed-hash"

[columns.age]
role = "quasi"
hierarchy = { intervals = [5, 10] }
weight = 2

[columns."home zip"]
role = "quasi"
kind = "code"
hierarchy = "secret/zip.csv"

[columns.stage]
role = "quasi"
kind = "ordered"
order = ["I", "II"]

[columns.diagnosis]
role = "sensitive"

[columns.note]
drop = true

[[require]]
model = "k-anonymity"
k = 5

[[require]]
model = "l-diversity"
l = 3
on = ["diagnosis"]

[publish]
max_suppressed = 0.05
"""


@pytest.fixture
def policy():
    return Policy.parse(TEXT)


def test_roles_are_asked_by_column(policy):
    assert policy.role("age") is Role.QUASI
    assert policy.role("note") is None
    assert policy.role("elsewhere") is None
    assert policy.names(Role.QUASI) == ("age", "home zip", "stage")
    assert policy.pseudonymized() == {"name"}


def test_unlisted_columns_that_are_kept_are_insensitive():
    assert Policy.parse('unlisted = "keep"').role("x") is Role.INSENSITIVE


def test_sections_carry_what_the_file_says(policy):
    section = policy.column("home zip")
    assert (section.kind, section.hierarchy) == (Kind.CODE, "secret/zip.csv")
    assert policy.column("age").hierarchy == {"intervals": [5, 10]}
    assert policy.column("age").weight == 2.0
    assert policy.column("stage").order == ("I", "II")
    assert policy.column("elsewhere").hierarchy is None


def test_a_byte_order_mark_is_no_part_of_a_policy(tmp_path):
    place = tmp_path / "policy.toml"
    place.write_text('\ufeffunlisted = "keep"', encoding="utf-8")
    assert Policy.load(place).unlisted == "keep"


def test_defaults_are_those_of_the_manual():
    policy = Policy.parse("")
    assert policy.version == 1
    assert policy.unlisted == "error"
    assert policy.data.missing == ("",)
    assert policy.data.missing_as == "value"
    assert policy.publish.operator == "generalize"
    assert policy.publish.max_suppressed == 0.0
    assert policy.operator_instance() == Generalize(numbers="interval", flat="set")
    assert policy.publish.order == "random"
    assert policy.publish.format is None
    assert policy.algorithm.name is None


def test_requirements_become_models(policy):
    assert policy.models() == (KAnonymity(k=5), LDiversity(l=3, on=("diagnosis",)))


def test_the_operator_gets_its_options():
    policy = Policy.parse('[publish]\nnumbers = "mean"\nflat = "star"')
    assert policy.operator_instance() == Generalize(numbers="mean", flat="star")


@pytest.mark.parametrize(
    ("said", "shown"),
    [("", "mean"), ('numbers = "median"', "median"), ('numbers = "mode"', "mode")],
)
def test_microaggregation_takes_the_representatives_it_knows(said, shown):
    policy = Policy.parse(f'[publish]\noperator = "microaggregate"\n{said}')
    operator: Any = policy.operator_instance()
    assert operator.numbers == shown


def test_a_choice_that_the_operator_does_not_have_is_refused_with_those_it_has():
    policy = Policy.parse('[publish]\nnumbers = "median"')
    wanted = r'publish\.numbers is "median"\.\nHint: Choose one of "interval", "bounds"'
    with pytest.raises(PolicyError, match=wanted):
        policy.operator_instance()


def test_an_option_that_the_operator_lacks_is_an_error():
    policy = Policy.parse('[publish]\noperator = "suppress"\nnumbers = "mean"')
    with pytest.raises(PolicyError, match=r"publish\.numbers is unknown to suppress"):
        policy.operator_instance()


def test_policies_are_frozen(policy):
    with pytest.raises(ValueError, match="frozen"):
        policy.version = 1


def test_a_dump_reads_back_as_the_same_policy(policy):
    assert Policy.parse(policy.dump()) == policy


def test_a_file_knows_where_its_paths_start(tmp_path):
    (tmp_path / "p.toml").write_text(TEXT, encoding="utf-8")
    loaded = Policy.load(tmp_path / "p.toml")
    assert loaded.base == tmp_path
    assert loaded == Policy.parse(TEXT)


names = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=8)
numbers = st.integers(1, 100)
hierarchies = st.one_of(
    st.none(),
    st.sampled_from(["auto", "flat", "some/file.csv"]),
    st.lists(numbers, min_size=1, max_size=3).map(lambda w: {"intervals": w}),
    st.lists(numbers, min_size=1, max_size=3).map(lambda w: {"prefix": w}),
    st.just({"file": "x.csv", "trust": True}),
)
sections = st.one_of(
    st.just({"drop": True}),
    st.sampled_from(list(Role)).map(lambda role: {"role": str(role)}),
    st.builds(
        lambda hierarchy, weight: (
            {"role": "quasi", "weight": weight}
            | ({} if hierarchy is None else {"hierarchy": hierarchy})
        ),
        hierarchies,
        st.floats(0.001, 1e6),
    ),
    st.lists(names, unique=True, max_size=4).map(
        lambda order: {"role": "sensitive", "kind": "ordered", "order": order}
    ),
)
documents = st.fixed_dictionaries(
    {
        "unlisted": st.sampled_from(["error", "keep", "drop"]),
        "columns": st.dictionaries(names, sections, max_size=4),
        "data": st.fixed_dictionaries(
            {"missing": st.lists(names | st.just(""), max_size=3)},
            optional={
                "path": names,
                "delimiter": st.sampled_from([",", ";", "\t"]),
                "missing_as": st.sampled_from(["value", "any", "drop"]),
            },
        ),
        "require": st.lists(
            numbers.map(lambda k: {"model": "k-anonymity", "k": k}), max_size=2
        ),
        "publish": st.fixed_dictionaries(
            {"max_suppressed": st.floats(0, 1)},
            optional={"order": st.sampled_from(["random", "source"])},
        ),
    }
)


@given(documents)
def test_every_policy_survives_its_own_dump(document):
    import tomli_w

    policy = Policy.parse(tomli_w.dumps(document))
    again = Policy.parse(policy.dump())
    assert again == policy
    assert again.sha256() == policy.sha256()


@pytest.mark.parametrize(
    ("key", "value", "found"),
    [
        ("require.0.k", "10", lambda p: p.models()[0].k),
        ("publish.max_suppressed", "0.1", lambda p: p.publish.max_suppressed),
        ("data.missing", '["-1"]', lambda p: list(p.data.missing)),
        ("publish.order", "source", lambda p: p.publish.order),
        (
            'columns."home zip".hierarchy',
            "flat",
            lambda p: p.column("home zip").hierarchy,
        ),
        (
            "columns.home zip.hierarchy",
            "flat",
            lambda p: p.column("home zip").hierarchy,
        ),
        ("columns.age.weight", 3.0, lambda p: p.column("age").weight),
    ],
)
def test_one_setting_can_be_changed(policy, key, value, found):
    expected = {"10": 10, "0.1": 0.1, '["-1"]': ["-1"]}.get(value, value)
    assert found(policy.with_setting(key, value)) == expected


def test_a_change_leaves_the_policy_alone(policy):
    policy.with_setting("require.0.k", "10")
    assert policy.models()[0] == KAnonymity(k=5)


def test_a_change_keeps_where_paths_start(tmp_path):
    (tmp_path / "p.toml").write_text(TEXT, encoding="utf-8")
    assert (
        Policy.load(tmp_path / "p.toml").with_setting("unlisted", "keep").base
        == tmp_path
    )


@pytest.mark.parametrize(
    ("key", "message"),
    [
        ("require.7.k", "'7' is not one of its 2 entries"),
        ("version.x.y", "lies inside a plain value"),
    ],
)
def test_a_change_of_nothing_is_a_usage_error(policy, key, message):
    with pytest.raises(UsageError, match=message):
        policy.with_setting(key, "1")


@pytest.mark.parametrize(
    ("key", "value", "message"),
    [
        ("publish.max_suppressed", "5", "publish.max_suppressed must be at most 1"),
        (
            "publish.max_supressed",
            "0.1",
            "publish.max_supressed is unknown to generalize",
        ),
        ("algorithm.name", "mondrain", "There is no algorithm 'mondrain'"),
        ("require.0.k", "x", "require[0].k is a text, not a whole number"),
    ],
)
def test_a_change_is_validated(policy, key, value, message):
    with pytest.raises(PolicyError) as error:
        policy.with_setting(key, value)
    assert message in str(error.value)


def test_what_is_published_of_a_policy_has_no_paths_and_no_values(policy):
    public = json.dumps(policy.public_dict())
    assert "secret" not in public
    assert "II" not in public
    assert policy.public_dict()["columns"]["home zip"]["hierarchy"] == "file"


def test_the_hash_is_that_of_what_is_published(policy):
    elsewhere = policy.with_setting("data.path", "other.csv")
    assert elsewhere.sha256() == policy.sha256()
    assert policy.with_setting("require.0.k", "6").sha256() != policy.sha256()


def test_the_schema_names_every_key():
    schema = Policy.json_schema()
    assert set(schema["properties"]) == {
        "version",
        "unlisted",
        "data",
        "columns",
        "require",
        "algorithm",
        "publish",
        "privacy",
        "report",
        "compare",
        "accept",
    }
    assert schema["additionalProperties"] is False


def test_models_are_made_once():
    policy = Policy.build(quasi=["age"], sensitive=["ill"], k=5, l=2)
    assert policy.requirements() is policy.requirements()
    assert policy.models()[0] is policy.models()[0]


def test_a_copy_with_other_requirements_makes_its_own_models():
    policy, other = (Policy.build(quasi=["age"], k=k) for k in (5, 7))
    assert policy.models() == (KAnonymity(k=5),)
    copy = policy.model_copy(update={"require": other.require})
    assert copy.models() == (KAnonymity(k=7),)


def test_a_policy_that_was_asked_for_its_models_equals_one_that_was_not():
    asked, fresh = (Policy(require=({"model": "k-anonymity", "k": 5},)) for _ in "ab")
    asked.models()
    assert asked == fresh


def test_settings_that_only_fit_together_are_checked_together():
    policy = Policy.build(quasi=["age"], k=5)
    changed = policy.with_settings(
        {"columns.age.order": ["low", "high"], "columns.age.kind": "ordered"}
    )
    assert changed.column("age").order == ("low", "high")
    with pytest.raises(PolicyError, match="is set, but the kind is not"):
        policy.with_setting("columns.age.order", ["low", "high"])
