"""Releases that are proven together with earlier releases of the same people."""

from __future__ import annotations

import csv
import json
import os
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import sfumato as sf
from sfumato.cli import main
from sfumato.errors import (
    DataError,
    GuaranteeError,
    InfeasibleError,
    RefusedError,
)
from tests.unit.risk import earlier_oracle as oracle
from tests.unit.risk.earlier_oracle import Row

QUASI = ("age", "town")
PEOPLE = [
    # person, age, town, illness
    ("ann", 20, 1, "flu"),
    ("bob", 21, 9, "hiv"),
    ("cat", 22, 1, "flu"),
    ("dan", 40, 9, "gout"),
    ("eve", 41, 1, "hiv"),
    ("fay", 42, 9, "gout"),
]
BY_AGE = {"age": 1000.0, "town": 0.001}
BY_TOWN = {"age": 0.001, "town": 1000.0}


def table(people=PEOPLE) -> pa.Table:
    who, age, town, ill = zip(*people, strict=True)
    return pa.table(
        {"name": list(who), "age": list(age), "town": list(town), "ill": list(ill)}
    )


@pytest.fixture
def key(tmp_path: Path) -> Path:
    return new_key(tmp_path / "link.key")


def new_key(place: Path) -> Path:
    place.write_bytes(os.urandom(32))
    place.chmod(0o600)
    return place


def anonymize(people, key, after=(), **settings):
    asked = {
        "identifier": "name",
        "quasi": list(QUASI),
        "sensitive": "ill",
        "k": 2,
        "l": 2,
        "privacy": {"link_key": str(key)},
        "max_loss": 1.0,
        "insecure_seed": 1,
    }
    return sf.anonymize(table(people), after=after, **asked | settings)


def saved(place: Path, *args, **settings) -> Path:
    anonymize(*args, **settings).save(place)
    return place


def published(place: Path) -> list[Row]:
    """The rows of a release with the person behind each, from its files alone."""
    with (place / "data.csv").open(encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    record = pq.read_table(place / "private" / "rows.parquet").to_pylist()
    person = {line["published_row"]: line["person"] for line in record}
    return [
        Row(person[at], tuple(row[name] for name in QUASI), row["ill"])
        for at, row in enumerate(rows)
    ]


def together(*places: Path) -> list[list[Row]]:
    return [published(place) for place in places]


@pytest.fixture
def by_age(tmp_path, key) -> Path:
    """Three people below 23, three above 39: 2-diverse, 3-anonymous."""
    return saved(tmp_path / "by-age", PEOPLE, key, k=3, weights=BY_AGE)


@pytest.fixture
def by_town(tmp_path, key) -> Path:
    return saved(tmp_path / "by-town", PEOPLE, key, k=3, weights=BY_TOWN)


def test_two_diverse_releases_may_disclose_a_value_together(by_age, by_town):
    assert oracle.holds(together(by_age), k=3, l=2)
    assert oracle.holds(together(by_town), k=3, l=2)
    assert {"flu"} in list(oracle.values(together(by_age, by_town)))


def test_an_edition_made_after_the_first_discloses_no_value_with_it(
    tmp_path, key, by_age
):
    third = saved(tmp_path / "third", PEOPLE, key, [by_age], k=3, weights=BY_TOWN)
    assert oracle.holds(together(by_age, third), k=3, l=2)


def told(place: Path) -> dict:
    """What the private report says of the algorithm."""
    audit = json.loads((place / "private" / "audit.json").read_text(encoding="utf-8"))
    return audit["report"]["algorithm"]


def test_nothing_is_said_of_the_loss_of_groups_that_were_changed_afterwards(
    tmp_path, key, by_age
):
    third = saved(tmp_path / "third", PEOPLE, key, [by_age], k=3, weights=BY_TOWN)
    assert {"loss", "bound", "gap"} <= set(told(by_age))
    assert "after" in told(third)
    assert not {"loss", "bound", "gap"} & set(told(third))
    assert "not those of the release" in told(third)["choice"][-1]


def test_a_proven_optimum_is_not_claimed_for_groups_that_were_changed_afterwards(
    tmp_path, key, by_age
):
    third = saved(
        tmp_path / "third",
        PEOPLE,
        key,
        [by_age],
        k=3,
        weights=BY_TOWN,
        algorithm="optimal",
    )
    assert "after" in told(third)
    assert "search" not in json.loads((third / "manifest.json").read_text())


def disclosed(place: Path, other: Path) -> float:
    """The share of people whose illness a release gives away beside another one."""
    names = "complementary-release"
    found = sf.attack(place, table(), names, others=[other], insecure_seed=1)
    return next(each.success for each in found.results if each.column == "ill")


def test_the_attack_finds_what_is_disclosed_and_nothing_in_a_later_edition(
    tmp_path, key, by_age, by_town
):
    third = saved(tmp_path / "third", PEOPLE, key, [by_age], k=3, weights=BY_TOWN)
    assert disclosed(by_town, by_age) > 0
    assert disclosed(third, by_age) == 0


def test_releases_that_disclose_a_value_together_leave_nothing_to_be_made(
    key, by_age, by_town
):
    with pytest.raises(
        InfeasibleError, match="already break the requirements"
    ) as found:
        anonymize(PEOPLE, key, [by_age, by_town])
    assert found.value.values
    assert all(text.startswith("source row ") for text in found.value.values)


def test_the_manifest_names_the_earlier_releases_by_their_hashes(tmp_path, key, by_age):
    third = saved(tmp_path / "third", PEOPLE, key, [by_age])
    hashes = json.loads((by_age / "manifest.json").read_text())["data_sha256"]
    manifest = json.loads((third / "manifest.json").read_text())
    assert manifest["after"]["releases"] == [hashes]
    told = {
        each["model"]: each["measured"] for each in manifest["after"]["requirements"]
    }
    assert told == {"k-anonymity": 3.0, "l-diversity": 2.0}
    assert "together with those named under 'after'" in manifest["known_limits"][0]


def test_no_path_and_no_person_is_published(tmp_path, key, by_age):
    third = saved(tmp_path / "third", PEOPLE, key, [by_age])
    persons = {row.person for row in published(third)}
    for name in ("manifest.json", "report.html", "data.csv"):
        text = (third / name).read_text()
        assert "link.key" not in text
        assert "by-age" not in text
        assert not any(str(person) in text for person in persons)


def test_who_leaves_is_not_set_apart(tmp_path, key, by_age):
    """One of three has left; without the other two the third would be alone."""
    with pytest.raises(InfeasibleError, match="2 rows must be left out; 0 may be"):
        anonymize(PEOPLE[1:], key, [by_age])
    second = saved(tmp_path / "second", PEOPLE[1:], key, [by_age], max_suppressed=0.5)
    assert len(published(second)) == 3
    assert oracle.holds(together(by_age, second), k=2, l=2)
    audit = json.loads((second / "private" / "audit.json").read_text())
    assert audit["left_out_rows"] == [0, 1]


def test_too_few_newcomers_are_left_out(tmp_path, key, by_age):
    more = [*PEOPLE, ("gus", 20, 1, "flu")]
    with pytest.raises(InfeasibleError, match="1 row must be left out") as found:
        anonymize(more, key, [by_age])
    assert found.value.values == ("source row 7",)
    second = saved(tmp_path / "second", more, key, [by_age], max_suppressed=0.2)
    assert oracle.holds(together(by_age, second), k=2, l=2)


def test_newcomers_may_have_groups_of_their_own(tmp_path, key, by_age):
    more = [*PEOPLE, ("gus", 20, 1, "flu"), ("hal", 21, 9, "hiv")]
    second = saved(tmp_path / "second", more, key, [by_age])
    assert len(published(second)) == 8
    assert oracle.holds(together(by_age, second), k=2, l=2)


def test_rows_that_the_search_left_out_come_back(tmp_path, key):
    odd = [*PEOPLE[:5], ("fay", 42, 9000, "gout")]
    first = saved(tmp_path / "first", odd, key, k=6)
    second = saved(
        tmp_path / "second",
        odd,
        key,
        [first],
        max_suppressed=0.17,
        algorithm="datafly",
        hierarchies={
            "age": {"intervals": [10], "bottom": 20, "top": 50},
            "town": {"intervals": [10], "bottom": 0, "top": 10},
        },
    )
    assert oracle.holds(together(first, second), k=2, l=2)


def test_values_of_earlier_releases_are_judged_too(tmp_path, key):
    """This year everybody has another illness; last year's must stay hidden as well."""
    first = saved(tmp_path / "first", PEOPLE, key, k=6)
    ill = dict(zip((p[0] for p in PEOPLE), "abcabc", strict=True))
    later = [(who, age, town, ill[who]) for who, age, town, _ in PEOPLE]
    second = saved(tmp_path / "second", later, key, [first], weights=BY_TOWN)
    assert oracle.holds(together(first, second), k=2, l=2)


def test_promises_of_earlier_releases_are_kept(tmp_path, key):
    """The new policy asks for nothing of the illness; the old one promised 3 of them."""
    first = saved(tmp_path / "first", PEOPLE, key, k=6, l=3)
    second = anonymize(PEOPLE, key, [first], sensitive=None, insensitive="ill", l=None)
    assert second.manifest["groups"] == 1


people = st.lists(
    st.tuples(
        st.integers(0, 9),
        st.integers(20, 25),
        st.integers(1, 4),
        st.sampled_from("xyz"),
    ),
    min_size=4,
    max_size=10,
)


@settings(max_examples=60)
@given(people, people, st.sampled_from(["mondrian", "best", "k-member"]), st.booleans())
def test_whatever_is_made_after_a_release_holds_with_it(
    tmp_path_factory, first, second, algorithm, subjects
):
    if not subjects:
        first = list({person[0]: person for person in first}.values())
        second = list({person[0]: person for person in second}.values())
    place = tmp_path_factory.mktemp("editions")
    key = new_key(place / "link.key")
    roles = {"identifier": None, "subject": "name"} if subjects else {}
    try:
        one = saved(place / "one", first, key, max_suppressed=0.5, **roles)
        two = saved(
            place / "two",
            second,
            key,
            [one],
            max_suppressed=0.9,
            algorithm=algorithm,
            weights=BY_TOWN,
            **roles,
        )
    except (InfeasibleError, DataError):
        return
    assert oracle.holds(together(one, two), k=2, l=2)


def test_an_earlier_release_needs_a_key(by_age):
    with pytest.raises(RefusedError, match="nothing says who is the same person"):
        anonymize(PEOPLE, None, [by_age], privacy=None)


def test_releases_under_other_keys_are_refused(tmp_path, by_age):
    with pytest.raises(DataError, match="was made with another key"):
        anonymize(PEOPLE, new_key(tmp_path / "other.key"), [by_age])


def test_releases_without_a_key_are_refused(tmp_path, key):
    old = saved(tmp_path / "old", PEOPLE, None, privacy=None)
    with pytest.raises(DataError, match="does not say who is who"):
        anonymize(PEOPLE, key, [old])


def test_persons_are_told_apart_by_the_same_columns(key, by_age):
    with pytest.raises(DataError, match="tells persons apart by 1 columns"):
        anonymize(
            PEOPLE, key, [by_age], identifier=["name", "ill"], sensitive=None, l=None
        )


def test_a_release_about_nobody_here_is_refused(key, by_age):
    others = [(who * 2, *rest) for who, *rest in PEOPLE]
    with pytest.raises(DataError, match="has nobody in common with this table"):
        anonymize(others, key, [by_age])


def test_a_changed_release_is_refused(key, by_age):
    data = by_age / "data.csv"
    data.write_text(data.read_text().replace("flu", "hiv"))
    with pytest.raises(DataError, match="is not what its manifest says"):
        anonymize(PEOPLE, key, [by_age])


def test_no_release_of_a_chain_may_be_forgotten(tmp_path, key, by_age):
    second = saved(tmp_path / "second", PEOPLE, key, [by_age], insecure_seed=2)
    with pytest.raises(
        DataError, match="was made after 1 release that you do not give"
    ):
        anonymize(PEOPLE, key, [second])
    anonymize(PEOPLE, key, [second, by_age])


@pytest.mark.parametrize(
    "model",
    [
        {"model": "uniqueness", "at_most": 0.5},
        {"model": "average-risk", "at_most": 0.5},
        {"model": "lkc", "l": 1, "k": 2, "c": 1.0},
        {"model": "range-disclosure", "r": 0.5, "at_most": 0.5},
        {"model": "n-t-closeness", "n": 2, "t": 1.0},
    ],
    ids=lambda model: model["model"],
)
def test_models_that_say_nothing_of_candidates_are_refused(key, by_age, model):
    with pytest.raises(RefusedError, match="is not defined for the candidates"):
        anonymize(PEOPLE, key, [by_age], require=[model])


def test_process_models_are_refused(key, by_age):
    with pytest.raises(RefusedError, match="is not judged on groups of people"):
        anonymize(
            PEOPLE,
            key,
            [by_age],
            k=None,
            l=None,
            require=[{"model": "differential-privacy", "epsilon": 1.0}],
            algorithm="dp-synthesis",
        )


@pytest.mark.parametrize("operator", ["swap", "anatomize"])
def test_forms_without_cells_are_refused(tmp_path, key, by_age, operator):
    sizes = {"k": None, "require": [{"model": "group-size", "k": 2}]}
    with pytest.raises(RefusedError, match="does not show whose value is whose"):
        anonymize(PEOPLE, key, [by_age], operator=operator, **sizes)
    old = saved(tmp_path / "old", PEOPLE, key, operator=operator, **sizes)
    with pytest.raises(RefusedError, match="does not show whose value is whose"):
        anonymize(PEOPLE, key, [old])


def test_missing_cells_that_may_be_anything_are_refused(key, by_age):
    with pytest.raises(RefusedError, match="cannot be combined"):
        anonymize(PEOPLE, key, [by_age], missing_as="any")


def test_a_file_that_breaks_the_promise_is_never_left_behind(
    tmp_path, key, by_age, monkeypatch
):
    made = anonymize(PEOPLE, key, [by_age])
    proof = type(made.together.verify(made.table))
    monkeypatch.setattr(proof, "holds", property(lambda self: False))
    with pytest.raises(GuaranteeError, match="does not match the draft"):
        made.save(tmp_path / "second")
    assert not (tmp_path / "second").exists()


def test_the_command_takes_earlier_releases(tmp_path, key, by_age, capsys):
    policy = tmp_path / "policy.toml"
    policy.write_text(POLICY)
    lines = ["name,age,town,ill", *(",".join(map(str, row)) for row in PEOPLE)]
    (tmp_path / "people.csv").write_text("\n".join(lines) + "\n")
    out = tmp_path / "second"
    words = ["anonymize", str(policy), "--out", str(out), "--after", str(by_age)]
    assert main(words) == 0
    assert (
        "for the candidates that it and 1 earlier release leave"
        in capsys.readouterr().out
    )
    assert oracle.holds(together(by_age, out), k=2, l=2)


def test_the_command_names_records_only_to_whoever_asks(tmp_path, key, by_age, capsys):
    policy = tmp_path / "policy.toml"
    policy.write_text(POLICY)
    lines = ["name,age,town,ill", *(",".join(map(str, row)) for row in PEOPLE[1:])]
    (tmp_path / "people.csv").write_text("\n".join(lines) + "\n")
    words = ["anonymize", str(policy), "--out", str(tmp_path / "no")]
    words += ["--after", str(by_age)]
    assert main(words) == 3
    assert "source row" not in capsys.readouterr().err
    assert main([*words, "--show-values"]) == 3
    assert "'source row 1', 'source row 2'" in capsys.readouterr().err


POLICY = """
version = 1
[data]
path = "people.csv"
[columns.name]
role = "identifier"
[columns.age]
role = "quasi"
[columns.town]
role = "quasi"
[columns.ill]
role = "sensitive"
[[require]]
model = "k-anonymity"
k = 2
[[require]]
model = "l-diversity"
l = 2
[publish]
max_loss = 1.0
[privacy]
link_key = "link.key"
"""
