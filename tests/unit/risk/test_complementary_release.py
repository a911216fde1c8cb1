"""Two releases that are each safe disclose a value together, and --after prevents it."""

import json

import pandas as pd
import pytest

import sfumato as sf
from sfumato.errors import DataError

ORIGINAL = pd.DataFrame(
    {
        "name": list("abcd"),
        "age": ["20", "25", "30", "35"],
        "illness": ["flu", "hiv", "flu", "cold"],
    }
)


def policy(groups, **more):
    """A policy whose hierarchy puts ages into two given groups."""
    tree = {"young": groups[0], "old": groups[1]}
    return sf.Policy.build(
        identifier=["name"],
        quasi=["age"],
        sensitive=["illness"],
        hierarchies={"age": {"tree": tree}},
        require=[
            {"model": "k-anonymity", "k": 2},
            {"model": "l-diversity", "l": 2},
        ],
        algorithm="optimal",
        **more,
    )


@pytest.fixture
def releases(tmp_path):
    source = tmp_path / "people.csv"
    ORIGINAL.to_csv(source, index=False)
    asked = [
        policy((["20", "25"], ["30", "35"])),
        policy((["25", "30"], ["20", "35"])),
    ]
    for number, each in enumerate(asked):
        sf.anonymize(source, each, insecure_seed=number).save(tmp_path / str(number))
    return source, asked, tmp_path


def test_the_intersection_of_two_diverse_releases_gives_values_away(releases):
    source, asked, place = releases
    found = sf.attack(
        place / "0", source, "complementary-release", asked[0], others=[place / "1"]
    )
    linked, disclosed = found.results
    assert linked.success == 1.0
    assert linked.baseline == 0.5
    assert (disclosed.column, disclosed.success, disclosed.baseline) == (
        *("illness", 1.0, 0.0),
    )


def test_one_release_alone_discloses_nothing(releases):
    source, asked, place = releases
    found = sf.attack(
        place / "0", source, "complementary-release", asked[0], others=[place / "0"]
    )
    assert [result.success for result in found.results] == [0.5, 0.0]


def test_another_release_needs_its_private_record(releases, tmp_path):
    source, asked, place = releases
    (tmp_path / "1" / "private" / "rows.parquet").unlink()
    with pytest.raises(DataError, match="has no private record"):
        sf.attack(place / "0", source, "all", asked[0], others=[place / "1"])


def test_a_release_made_after_another_survives_the_same_attack(tmp_path):
    source, key = tmp_path / "people.csv", tmp_path / "link.key"
    ORIGINAL.to_csv(source, index=False)
    key.write_bytes(bytes(range(32)))
    key.chmod(0o600)
    linked = {"privacy": {"link_key": str(key)}, "max_loss": 1.0}
    first = policy((["20", "25"], ["30", "35"]), **linked)
    second = policy((["25", "30"], ["20", "35"]), **linked)
    sf.anonymize(source, first, insecure_seed=0).save(tmp_path / "first")
    made = sf.anonymize(source, second, insecure_seed=1, after=[tmp_path / "first"])
    made.save(tmp_path / "second")
    found = sf.attack(
        tmp_path / "second",
        source,
        "complementary-release",
        second,
        others=[tmp_path / "first"],
    )
    linked_up, disclosed = found.results
    assert disclosed.success == 0.0
    assert linked_up.worst <= 0.5
    # Two candidates are promised, and no value that both share.
    assert (linked_up.bound, disclosed.bound) == (0.5, 0.0)
    assert found.holds


def test_a_promise_that_an_earlier_release_breaks_is_found(tmp_path, releases):
    source, asked, place = releases
    manifests = [json.loads((place / n / "manifest.json").read_text()) for n in "01"]
    # The second release claims to have been made after the first, and was not.
    manifests[1]["after"] = {"releases": [manifests[0]["data_sha256"]]}
    (place / "1" / "manifest.json").write_text(json.dumps(manifests[1]))
    found = sf.attack(
        place / "1", source, "complementary-release", asked[1], others=[place / "0"]
    )
    linked, disclosed = found.results
    assert (linked.worst, linked.bound, linked.exceeded) == (1.0, 0.5, True)
    assert (disclosed.success, disclosed.bound, disclosed.exceeded) == (1.0, 0.0, True)
    assert not found.holds


def test_nothing_is_promised_beside_a_release_that_was_not_named(releases):
    source, asked, place = releases
    found = sf.attack(
        place / "1", source, "complementary-release", asked[1], others=[place / "0"]
    )
    assert [each.bound for each in found.results] == [None, None]
