"""What the straight line does with rows, persons, identifiers and missing values."""

import json
import stat

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import sfumato as sf
from sfumato.data.seeds import Seed
from sfumato.errors import (
    DataError,
    GuaranteeError,
    InfeasibleError,
    OutputError,
    UsageError,
)
from sfumato.pipeline import release as release_files

PEOPLE = {
    "name": ["Ada", "Ben", "Cyd", "Dee", "Eve", "Fay"],
    "age": ["30", "31", "32", "60", "61", "62"],
    "ill": ["flu", "hiv", "flu", "flu", "hiv", "flu"],
}


def release_of(columns=PEOPLE, **settings):
    table = pa.table(columns)
    roles = {"identifier": "name"} if "name" in columns else {}
    exact = [name for name in ("ill", "note") if name in columns]
    roles |= {"insensitive": exact, "keep_as_is": exact}
    settings = {"quasi": ["age"], "unlisted": "keep", "k": 2, **roles, **settings}
    return sf.anonymize(table, seed=Seed.guessable(1), **settings)


def test_identifiers_are_left_out():
    assert release_of(identifier=["name"]).table.column_names == ["age", "ill"]


def test_rows_leave_in_random_order():
    ages = [str(a) for a in range(200)]
    release = release_of({"age": ages, "note": ages})
    assert release.table["note"].to_pylist() != ages
    assert sorted(release.table["note"].to_pylist()) == sorted(ages)


def test_the_same_seed_gives_the_same_table_and_another_seed_another_order():
    first, again = release_of(), release_of()
    other = sf.anonymize(
        pa.table(PEOPLE),
        quasi=["age"],
        identifier="name",
        insensitive="ill",
        keep_as_is="ill",
        k=2,
        seed=Seed.guessable(2),
    )
    assert first.table.equals(again.table)
    assert not first.table.equals(other.table)


def test_rows_with_missing_values_are_dropped_where_asked_and_counted():
    columns = {"age": ["30", "31", "", "60", "61"]}
    release = release_of(columns, missing_as="drop")
    assert release.manifest["rows_in"] == 5
    assert release.manifest["rows_suppressed"] == 1


def test_a_table_whose_every_row_misses_something_is_refused():
    with pytest.raises(DataError, match="Every one of the 2 rows"):
        release_of({"age": ["", ""]}, missing_as="drop")


def test_k_counts_persons_where_a_subject_is_declared():
    columns = {
        "who": ["a", "a", "a", "b", "c", "d"],
        "age": ["30", "30", "30", "31", "60", "61"],
    }
    release = release_of(columns, subject="who", k=2)
    assert release.table.column_names == ["age"]
    assert (
        sorted(release.table["age"].to_pylist()) == ["[30, 31]"] * 4 + ["[60, 61]"] * 2
    )


def test_fewer_persons_than_k_are_infeasible_however_many_rows_they_have():
    columns = {"who": ["a"] * 9 + ["b"], "age": [str(i) for i in range(10)]}
    with pytest.raises(InfeasibleError, match="3"):
        release_of(columns, subject="who", k=3)


def test_a_table_with_subjects_is_checked_with_the_private_record(tmp_path):
    columns = {"who": ["a", "a", "b", "c"], "age": ["30", "30", "31", "31"]}
    release = release_of(columns, subject="who", k=2, max_loss=1)
    release.save(tmp_path / "out")
    data, record = tmp_path / "out/data.csv", tmp_path / "out/private/rows.parquet"
    asked = {"quasi": ["age"], "subject": "who", "k": 2}
    assert sf.check(data, groups=record, **asked).holds
    with pytest.raises(DataError, match="counts persons by 'who'"):
        sf.check(data, **asked)


def test_pseudonyms_tell_rows_of_one_person_apart_from_others_without_the_name():
    release = release_of(
        {"id": ["a", "a", "b", "b"], "age": ["1", "1", "2", "2"]},
        identifier=["id"],
        pseudonymize=["id"],
    )
    shown = release.table["id"].to_pylist()
    assert len(set(shown)) == 2
    assert not {"a", "b"} & set(shown)


def test_a_policy_and_settings_cannot_both_be_given():
    policy = sf.Policy.build(quasi=["age"], k=2)
    with pytest.raises(UsageError, match="cannot both be given"):
        sf.anonymize(pa.table(PEOPLE), policy, k=3)


def test_a_release_directory_holds_what_recipients_and_stewards_need(tmp_path):
    release = release_of(identifier=["name"])
    release.save(tmp_path / "out")
    found = sorted(p.name for p in (tmp_path / "out").iterdir())
    assert found == ["data.csv", "manifest.json", "private", "report.html"]
    private = tmp_path / "out/private"
    assert stat.S_IMODE(private.stat().st_mode) == 0o700
    record = pq.read_table(private / "rows.parquet")
    assert record.column_names == ["published_row", "source_row", "group"]
    assert sorted(record["published_row"].to_pylist()) == list(range(6))


def test_the_private_record_leads_back_to_the_source_rows(tmp_path):
    release = release_of({"age": PEOPLE["age"], "note": list("abcdef")})
    release.save(tmp_path / "out")
    record = pq.read_table(tmp_path / "out/private/rows.parquet").to_pylist()
    notes = release.table["note"].to_pylist()
    assert all(notes[r["published_row"]] == "abcdef"[r["source_row"]] for r in record)


def test_nothing_publishable_knows_the_seed(tmp_path):
    seed = Seed.fresh()
    release = sf.anonymize(
        pa.table(PEOPLE), quasi=["age"], unlisted="drop", k=2, seed=seed
    )
    release.save(tmp_path / "out")
    for name in ("data.csv", "manifest.json", "report.html"):
        assert seed.hex() not in (tmp_path / "out" / name).read_text(encoding="utf-8")
    audit = json.loads((tmp_path / "out/private/audit.json").read_text())
    assert audit["seed"] == seed.hex()


def test_a_guessable_seed_marks_the_release_as_not_for_publication():
    assert "not_for_publication" in release_of().manifest


def test_an_existing_directory_is_left_alone(tmp_path):
    with pytest.raises(OutputError, match="exists already"):
        release_of().save(tmp_path)
    assert not list(tmp_path.iterdir())


def test_a_file_that_reads_back_differently_is_never_put_in_place(
    tmp_path, monkeypatch
):
    def careless(table, path, **_):
        path.write_text("age,name,ill\n1,x,flu\n" + "2,y,flu\n" * 5)

    monkeypatch.setattr(release_files, "write_table", careless)
    with pytest.raises(GuaranteeError, match="does not match the draft"):
        release_of().save(tmp_path / "out")
    assert not list(tmp_path.iterdir())


def test_an_interrupt_while_writing_leaves_nothing_behind(tmp_path, monkeypatch):
    def interrupted(*_arguments, **_options):
        raise KeyboardInterrupt

    monkeypatch.setattr(release_files, "prove_files", interrupted)
    with pytest.raises(KeyboardInterrupt):
        release_of().save(tmp_path / "out")
    assert not list(tmp_path.iterdir())


def test_a_private_record_that_cannot_be_written_leaves_nothing_behind(
    tmp_path, monkeypatch
):
    def full(*_arguments):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(release_files, "_write_private", full)
    with pytest.raises(OutputError, match="No space left on device"):
        release_of().save(tmp_path / "out")
    assert not list(tmp_path.iterdir())


def test_a_release_compared_with_its_source_is_checked_with_the_private_record(
    tmp_path,
):
    policy = sf.Policy.build(
        quasi=["age"],
        sensitive=["ill"],
        identifier=["name"],
        require=[
            {
                "model": "t-closeness",
                "t": 0.5,
                "distance": "equal",
                "reference": "source",
            }
        ],
    )
    release = sf.anonymize(pa.table(PEOPLE), policy)
    release.save(tmp_path / "out")
    data, record = tmp_path / "out/data.csv", tmp_path / "out/private/rows.parquet"
    assert sf.check(data, policy, groups=record).holds
    with pytest.raises(DataError, match="compares 'ill' with the source"):
        sf.check(data, policy)


def test_sampling_weights_settle_how_many_people_stand_behind_a_group():
    columns = {"age": [str(a) for a in range(40)], "w": ["100"] * 40}
    policy = sf.Policy.build(
        quasi=["age"],
        weight="w",
        require=[{"model": "k-map", "k": 5, "sampling_fraction": "weights"}],
    )
    release = sf.anonymize(pa.table(columns), policy)
    assert release.verdicts[0]["holds"]
    assert release.verdicts[0]["measured"] >= 5


def test_weights_that_are_not_numbers_are_refused():
    columns = {"age": ["1", "2"], "w": ["much", "little"]}
    policy = sf.Policy.build(quasi=["age"], weight="w", keep_as_is="w", k=2)
    with pytest.raises(DataError, match="weights in 'w' are not numbers"):
        sf.anonymize(pa.table(columns), policy)
