"""Swapped and anatomized releases, as their users make and check them."""

from __future__ import annotations

import json
from collections import Counter
from html import unescape
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

import sfumato as sf
from sfumato.cli import main
from sfumato.data.seeds import Seed
from sfumato.errors import RefusedError
from sfumato.publish.swap import Swap, permuted
from sfumato.testing.awkward_tables import awkward_table
from sfumato.testing.conformance_check import CALM
from sfumato.testing.operator_checks import drawn_cases, material_for

ROWS = 240
POLICY = """\
version = 1

[columns]
age = {{ role = "quasi" }}
work = {{ role = "quasi" }}
note = {{ role = "insensitive", keep_as_is = true }}
illness = {{ role = "sensitive" }}
income = {{ role = "sensitive" }}

[[require]]
model = "group-size"
k = {k}

[[require]]
model = "l-diversity"
l = 3
on = "illness"

[[require]]
model = "theta-diversity"
theta = 0.5
on = "illness"

[algorithm]
name = "{algorithm}"

[publish]
operator = "{operator}"
{more}
"""


def people() -> pa.Table:
    """Whole numbers, decimals and texts; the two sensitive columns go together."""
    generator = np.random.default_rng(11)
    ill = generator.integers(0, 6, ROWS)
    return pa.table(
        {
            "age": pa.array(generator.integers(18, 90, ROWS), pa.int32()),
            "work": [f"job {i}" for i in generator.integers(0, 5, ROWS)],
            "note": generator.random(ROWS),
            "illness": [f"illness {i}" for i in ill],
            "income": pa.array(1000 * ill + generator.integers(0, 9, ROWS)),
        }
    )


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    pq.write_table(people(), "people.parquet")
    return tmp_path


def publish(
    operator: str, *, k: int = 6, algorithm: str = "klt", more: str = ""
) -> int:
    text = POLICY.format(operator=operator, k=k, algorithm=algorithm, more=more)
    Path("policy.toml").write_text(text, encoding="utf-8")
    return main(["anonymize", "policy.toml", "--data", "people.parquet"])


def check(*more: str) -> int:
    return main(["check", "release/data.parquet", "--policy", "policy.toml", *more])


def by_source_row() -> tuple[pa.Table, np.ndarray]:
    """The published table in the order of the source, and the group of each row."""
    record = pq.read_table("release/private/rows.parquet").sort_by("source_row")
    data = pq.read_table("release/data.parquet")
    return data.take(record["published_row"]), record["group"].to_numpy()


# Swapping.


@pytest.mark.parametrize("algorithm", ["klt", "mondrian"])
def test_swapping_changes_nothing_but_the_order_of_values_within_groups(
    place, algorithm
):
    assert publish("swap", algorithm=algorithm) == 0
    source, (published, groups) = people(), by_source_row()
    assert published.schema.equals(source.schema)
    for name in ("age", "work", "note"):
        assert published[name].equals(source[name])
    for name in ("illness", "income"):
        before = Counter(zip(groups, source[name].to_pylist(), strict=True))
        after = Counter(zip(groups, published[name].to_pylist(), strict=True))
        assert after == before
    assert not published["illness"].equals(source["illness"])


def test_sensitive_values_move_together_unless_asked_otherwise(place):
    def pairs(table: pa.Table) -> Counter[tuple[object, object]]:
        columns = (table["illness"].to_pylist(), table["income"].to_pylist())
        return Counter(zip(*columns, strict=True))

    assert publish("swap") == 0
    assert pairs(pq.read_table("release/data.parquet")) == pairs(people())
    Path("release").rename("together")
    assert publish("swap", more="together = false") == 0
    assert pairs(pq.read_table("release/data.parquet")) != pairs(people())


def test_a_swapped_release_is_proven_again_with_its_private_record(place, capsys):
    assert publish("swap") == 0
    assert check("--groups", "release/private/rows.parquet") == 0
    out = capsys.readouterr().out
    assert "Every requirement holds." in out


def test_a_swapped_release_cannot_be_judged_without_its_groups(place, capsys):
    assert publish("swap") == 0
    assert check() == 2
    assert "does not show its groups" in capsys.readouterr().err


def test_a_value_that_was_changed_after_publication_is_found(place):
    assert publish("swap") == 0
    data = pq.read_table("release/data.parquet")
    same = pa.array(["illness 0"] * ROWS)
    spoiled = data.set_column(data.column_names.index("illness"), "illness", same)
    pq.write_table(spoiled, "release/data.parquet")
    assert check("--groups", "release/private/rows.parquet") == 1


def test_two_runs_swap_differently(place):
    def run() -> list[str]:
        assert publish("swap") == 0
        published, _ = by_source_row()
        Path("release").rename(f"release {len(list(Path().iterdir()))}")
        return published["illness"].to_pylist()

    assert run() != run()


def test_every_order_within_a_group_is_equally_likely():
    """χ² over the 6 orders of a group of three; 22.5 is passed by chance 1 in 2,000."""
    table = awkward_table("identical-rows")
    material = material_for(table, np.repeat(np.arange(10), 3))
    seen: Counter[tuple[int, ...]] = Counter()
    for number in range(60):
        givers = permuted(material, Seed.guessable(number))
        groups = material.grouping.group_of[material.rows]
        for group in range(10):
            own, given_by = material.rows[groups == group], givers[groups == group]
            seen[tuple(np.searchsorted(np.sort(own), given_by).tolist())] += 1
    assert len(seen) == 6
    assert sum((n - 100) ** 2 / 100 for n in seen.values()) < 22.5


@CALM
@given(drawn_cases(), st.booleans())
def test_swapping_any_grouping_keeps_types_columns_and_histograms(case, together):
    table, material = case
    assume(material.table.schema.sensitive)
    draft = Swap(together=together).publish(material)
    source = table.source.take(pa.array(material.rows))
    groups = material.grouping.group_of[material.rows].tolist()
    sensitive = set(material.table.schema.sensitive)
    for name in draft.table.column_names:
        before, after = source[name], draft.table[name]
        assert after.type == before.type
        if name in sensitive:
            old = Counter(zip(groups, before.to_pylist(), strict=True))
            assert Counter(zip(groups, after.to_pylist(), strict=True)) == old
        else:
            assert after.to_pylist() == before.to_pylist()


# Anatomy.


def test_the_two_tables_join_back_to_the_groups(place):
    assert publish("anatomize") == 0
    source = people()
    (data, groups), beside = by_source_row(), pq.read_table("release/sensitive.parquet")
    for name in ("age", "work", "note"):
        assert data[name].equals(source[name])
    assert set(data.column_names) == {"age", "work", "note", "group"}
    told = {
        (row["group"], row["illness"], row["income"]): row["count"]
        for row in beside.to_pylist()
    }
    names = ("illness", "income")
    held = zip(
        data["group"].to_pylist(),
        *(source[name].to_pylist() for name in names),
        strict=True,
    )
    assert told == Counter(held)
    assert len(set(zip(data["group"].to_pylist(), groups, strict=True))) == len(
        set(groups)
    )


def test_an_anatomy_is_proven_again_from_its_two_files(place, capsys):
    assert publish("anatomize") == 0
    assert check() == 0
    assert check("--groups", "release/private/rows.parquet") == 0


@pytest.mark.parametrize("extension", ["csv", "parquet"])
def test_an_anatomy_says_how_its_files_are_joined(place, extension):
    assert publish("anatomize", more=f'format = "{extension}"') == 0
    readme = " ".join(Path("release/README.txt").read_text(encoding="utf-8").split())
    assert "JOIN sensitive" in readme
    assert "not hidden" in readme
    assert Path(f"release/sensitive.{extension}").exists()
    file = f"release/data.{extension}"
    assert main(["check", file, "--policy", "policy.toml"]) == 0


def test_an_anatomy_with_other_separators_is_proven_again(place):
    source = people().to_pandas()
    source.to_csv("people.csv", sep=";", index=False)
    text = POLICY.format(operator="anatomize", k=6, algorithm="klt", more="")
    Path("policy.toml").write_text(text, encoding="utf-8")
    assert main(["anonymize", "policy.toml", "--data", "people.csv"]) == 0
    assert main(["check", "release/data.csv", "--policy", "policy.toml"]) == 0


def test_an_anatomy_without_its_second_file_is_not_judged(place, capsys):
    assert publish("anatomize") == 0
    Path("release/sensitive.parquet").unlink()
    assert check() == 2
    assert "sensitive" in capsys.readouterr().err


def test_an_anatomy_whose_counts_were_changed_is_not_believed(place, capsys):
    assert publish("anatomize") == 0
    beside = pq.read_table("release/sensitive.parquet")
    pq.write_table(beside.slice(1), "release/sensitive.parquet")
    assert check() == 2
    assert "do not have the same groups" in capsys.readouterr().err


def test_both_files_of_an_anatomy_are_in_the_manifest(place):
    assert publish("anatomize") == 0
    manifest = json.loads(Path("release/manifest.json").read_text(encoding="utf-8"))
    assert {"data_sha256", "sensitive_sha256"} <= set(manifest)


# What is promised.


@pytest.mark.parametrize("operator", ["generalize", "swap", "anatomize"])
def test_manifest_and_report_say_what_is_promised_and_that_membership_is_not(
    place, operator
):
    assert publish(operator, algorithm="mondrian") == 0
    manifest = json.loads(Path("release/manifest.json").read_text(encoding="utf-8"))
    report = Path("release/report.html").read_text(encoding="utf-8")
    assert manifest["promise"].endswith("in the table is not hidden.")
    assert manifest["promise"] in unescape(report)


@pytest.mark.parametrize("operator", ["swap", "anatomize"])
def test_exact_rows_are_not_said_to_be_hard_to_find(place, operator):
    assert publish(operator) == 0
    manifest = json.loads(Path("release/manifest.json").read_text(encoding="utf-8"))
    exact = {"unique_with_exact_columns", "rare_values"}
    assert set(manifest["risk"]) == {"value_max", "columns", *exact}
    assert set(manifest["risk"]["columns"]) == {"note"}
    assert 0 < manifest["risk"]["value_max"] <= 0.5


@pytest.mark.parametrize("operator", ["swap", "anatomize"])
def test_a_promise_about_cells_is_refused_before_any_work(operator):
    steps: list[str] = []
    with pytest.raises(RefusedError, match="k-anonymity is a promise about") as caught:
        sf.anonymize(
            people(),
            quasi=["age", "work"],
            sensitive=["illness", "income"],
            insensitive=["note"],
            keep_as_is=["note"],
            k=5,
            publish={"operator": operator},
            progress=lambda step, _: steps.append(step),
        )
    assert "group-size" in str(caught.value)
    assert steps == []


@pytest.mark.parametrize("operator", ["swap", "anatomize"])
def test_without_a_sensitive_column_there_is_nothing_to_hide(operator):
    with pytest.raises(RefusedError, match="no column is sensitive"):
        sf.anonymize(
            people().select(["age", "work"]),
            quasi=["age", "work"],
            require=[{"model": "group-size", "k": 5}],
            publish={"operator": operator},
        )


@pytest.mark.parametrize("operator", ["swap", "anatomize"])
def test_several_rows_per_person_are_refused(operator):
    table = people().append_column("who", pa.array(np.arange(ROWS) // 2))
    with pytest.raises(RefusedError, match="per person"):
        sf.anonymize(
            table,
            quasi=["age", "work"],
            sensitive=["illness"],
            subject="who",
            unlisted="keep",
            require=[{"model": "group-size", "k": 5}],
            publish={"operator": operator},
        )
