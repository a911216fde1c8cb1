"""Releases that a ledger certifies, from the policy to the written files."""

from __future__ import annotations

import json
import sys
from dataclasses import fields, replace
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.csv as pa_csv
import pytest

import sfumato as sf
from sfumato import registry
from sfumato.cli import main
from sfumato.data.seeds import Seed
from sfumato.dp.mechanism import opendp
from sfumato.errors import (
    BudgetError,
    DataError,
    GuaranteeError,
    InfeasibleError,
    PolicyError,
    RefusedError,
    UsageError,
)
from sfumato.publish.generalize import Generalize

ROWS = 3_137
"""A number that appears nowhere else: nothing published may hold it."""

POLICY = """
version = 1

[data]
path = "people.csv"

[columns.name]
role = "identifier"

[columns.age]
role = "quasi"
kind = "integer"
hierarchy = { intervals = [10, 20], bottom = 20, top = 80 }

[columns.city]
role = "quasi"
hierarchy = { tree = { north = ["a", "b"], south = ["c", "d"] } }

[columns.disease]
role = "sensitive"
hierarchy = { tree = { lung = ["flu", "tb"], other = ["cut", "burn"] } }

[[require]]
model = "differential-privacy"
epsilon = 1.0
delta = 1e-6
"""


def section(name: str) -> str:
    """The end of a policy that names an algorithm, and the sizes it can be asked for."""
    algorithm = registry.load("algorithms", name)
    options = {field.name for field in fields(algorithm)}
    text = f'[algorithm]\nname = "{name}"\n' + "depth = 4\n" * ("depth" in options)
    if not algorithm.every_column:
        text += '[[require]]\nmodel = "k-anonymity"\nk = 5\n'
    return text


ALGORITHMS = {
    name: section(name)
    for name in registry.names("algorithms")
    if registry.load("algorithms", name).certifies
}
every_algorithm = pytest.mark.parametrize("name", ALGORITHMS)


def people(rows: int = ROWS) -> pa.Table:
    draw = np.random.default_rng(7)
    return pa.table(
        {
            "name": [f"person {n}" for n in range(rows)],
            "age": draw.integers(18, 85, rows),
            "city": draw.choice(list("abcd"), rows),
            "disease": draw.choice(["flu", "tb", "cut", "burn"], rows),
        }
    )


def policy_for(name: str, text: str = POLICY, more: str = "") -> sf.Policy:
    return sf.Policy.parse(text + ALGORITHMS[name] + more)


@pytest.fixture
def place(tmp_path, monkeypatch):
    """A directory with the table and a policy for each algorithm, to work in."""
    monkeypatch.chdir(tmp_path)
    pa_csv.write_csv(people(), tmp_path / "people.csv")
    for name, end in ALGORITHMS.items():
        (tmp_path / f"{name}.toml").write_text(POLICY + end)
    return tmp_path


def release_of_other_length(name, place):
    """A release with another number of rows than the source.

    A noisy number may be the true one by chance, and says nothing then; one that is
    the true one every time is no noise.
    """
    for attempt in range(20):
        release = place / f"release{attempt}"
        assert main(["anonymize", f"{name}.toml", "--out", str(release)]) == 0
        if pa_csv.read_csv(release / "data.csv").num_rows != ROWS:
            return release
    raise AssertionError("twenty releases have as many rows as the source")


@every_algorithm
def test_a_release_is_made_and_its_requirement_certified(name):
    release = sf.anonymize(people(), policy_for(name))
    verdict = release.verdicts[-1]
    assert (verdict["model"], verdict["holds"]) == ("differential-privacy", True)
    assert verdict["measured"] <= 1.0
    assert release.table.num_rows > 0


@every_algorithm
def test_no_limit_on_loss_refuses_what_the_ledger_has_paid_for(name):
    """Whether a release is refused would tell how much it loses."""
    strict = policy_for(name, more="\n[publish]\nmax_loss = 0.0\n")
    assert sf.anonymize(people(), strict).table.num_rows > 0


@every_algorithm
def test_identifiers_are_not_published(name):
    assert "name" not in sf.anonymize(people(), policy_for(name)).table.column_names


@every_algorithm
def test_nothing_published_tells_the_number_of_rows(name, place):
    """Not in keys, not in figures, not in the report."""
    release = release_of_other_length(name, place)
    manifest = json.loads((release / "manifest.json").read_text())
    assert not {"rows_in", "rows_suppressed", "seconds"} & set(manifest)
    report = (release / "report.html").read_text()
    assert f"{ROWS:,}" not in report
    assert "rows in the source" not in report


def test_the_private_record_has_what_the_manifest_may_not_say(place):
    assert main(["anonymize", "safepub.toml", "--out", "release"]) == 0
    audit = json.loads((place / "release/private/audit.json").read_text())
    assert audit["source"]["rows_in"] == ROWS
    assert audit["seed"] is None


@every_algorithm
def test_the_manifest_states_guarantee_neighbors_reach_and_ledger(name):
    privacy = sf.anonymize(people(), policy_for(name)).manifest["privacy"]
    assert "e^1 = 2.718 times as likely" in privacy["guarantee"]
    assert privacy["neighbors"] == "add-remove"
    assert privacy["ledger"]["entries"]
    assert privacy["ledger"]["epsilon"] <= 1.0 + 1e-9
    assert privacy["covers"] in privacy["guarantee"]


def test_truthful_rows_in_private_cells_are_covered_by_their_cuts_alone():
    privacy = sf.anonymize(people(), policy_for("dp-anonym")).manifest["privacy"]
    assert privacy["covers"] == "the cuts alone"
    assert privacy["does_not_cover"].startswith("Not covered: how many rows a cell has")


def test_the_release_says_that_the_amplified_figure_needs_a_secret_sample():
    privacy = sf.anonymize(people(), policy_for("dp-anonym")).manifest["privacy"]
    assert "for rows known to be drawn" in privacy["does_not_cover"]


def test_the_amplified_figure_stands_beside_that_of_the_sample():
    figures = sf.anonymize(people(), policy_for("dp-anonym")).manifest["privacy"][
        "figures"
    ]
    assert figures["epsilon_amplified"] < figures["epsilon_on_the_sample"]


def test_a_pure_guarantee_claims_no_delta():
    privacy = sf.anonymize(people(), policy_for("dp-synthesis")).manifest["privacy"]
    assert privacy["delta"] == 0
    assert "but for" not in privacy["guarantee"]


def test_the_report_shows_the_guarantee_and_every_use(place):
    release = sf.anonymize(people(), policy_for("dp-anonym"))
    release.report(place / "report.html")
    report = (place / "report.html").read_text()
    assert release.manifest["privacy"]["guarantee"] in report
    assert "counts of every value in every cell, level 4" in report


def test_the_report_of_synthetic_records_does_not_call_them_kept(place):
    release = sf.anonymize(people(), policy_for("dp-synthesis"))
    release.report(place / "report.html")
    report = (place / "report.html").read_text()
    assert "drawn from noisy counts" in report
    assert "Published as they were" not in report


def test_safepub_generalizes_sensitive_columns_too():
    table = sf.anonymize(people(), policy_for("safepub")).table
    shown = set(table.column("disease").to_pylist())
    assert shown <= {"lung", "other", "*"}


def test_cells_show_boxes_of_the_tree_not_of_the_rows():
    """Every published age is a node of the hierarchy, whichever rows are in it."""
    table = sf.anonymize(people(), policy_for("dp-anonym")).table
    nodes = {"<= 20", ">= 80", "*"}
    ages = set(table.column("age").to_pylist())
    assert all(a in nodes or a.startswith("[") or a.isdigit() for a in ages)


def test_nothing_is_measured_on_columns_that_are_published_exactly():
    """No ledger is charged for such a figure, nor for a refusal that depends on it."""
    table = people().append_column("cost", pa.array(range(ROWS)))
    more = '[columns.cost]\nrole = "insensitive"\n'
    release = sf.anonymize(table, policy_for("dp-anonym", more=more))
    assert "cost" in release.table.column_names
    assert not {"unique_with_exact_columns", "rare_values"} & set(release.risk)


TAILS = """
version = 1
[columns.age]
role = "quasi"
kind = "integer"
hierarchy = { intervals = [10, 20], bottom = 20, top = 80 }
[[require]]
model = "differential-privacy"
epsilon = 1.0
delta = 1e-6
"""


@pytest.mark.parametrize(
    "end",
    [
        '[algorithm]\nname = "safepub"\nlevels = { age = 0 }\n',
        '[algorithm]\nname = "dp-anonym"\nhierarchies = false\ndepth = 16\n'
        '[[require]]\nmodel = "k-anonymity"\nk = 2\n',
    ],
)
def test_a_leaf_that_stands_for_many_values_shows_none_of_them(end):
    """Whole numbers that occur once lie in a tail with a thousand others."""
    ages = [*range(20), *[5] * 2000, *[50] * 2000, *range(100, 120)]
    release = sf.anonymize(
        pa.table({"age": pa.array(ages, pa.int64())}), sf.Policy.parse(TAILS + end)
    )
    shown = set(release.table.column("age").to_pylist())
    assert {str(cell) for cell in shown}.isdisjoint(map(str, ages[:20] + ages[-20:]))


def test_the_bounds_of_a_tail_are_numbers():
    text = TAILS + '[algorithm]\nname = "safepub"\nlevels = { age = 0 }\n'
    asked = sf.Policy.parse(text + '[publish]\nnumbers = "bounds"\n')
    ages = pa.array([5] * 2000 + [50] * 2000 + [95] * 2000)
    table = sf.anonymize(pa.table({"age": ages}), asked).table
    ends = [table.column(name).to_pylist() for name in ("age_from", "age_to")]
    assert set(zip(*ends, strict=True)) == {(None, "20"), ("50", "50"), ("80", None)}


def test_a_tuple_that_too_few_rows_share_is_never_published(monkeypatch):
    """What is published is counted again: here an operator shows each row's number."""

    def told_apart(operator, material):
        number = pa.array(range(len(material.rows)))
        draft = publish(operator, material)
        return replace(draft, table=draft.table.append_column("row", number))

    publish = Generalize.publish
    monkeypatch.setattr(Generalize, "publish", told_apart)
    with pytest.raises(GuaranteeError, match=r"A published tuple has 1 rows; .* on 74"):
        sf.anonymize(people(), policy_for("safepub"))


# What is refused, and when.


@every_algorithm
@pytest.mark.parametrize("seed", [Seed.guessable(3), Seed.replay("00" * 16)])
def test_a_seed_is_refused(name, seed):
    with pytest.raises(RefusedError, match=r"A seed is given, and '.*' draws noise"):
        sf.anonymize(people(), policy_for(name), seed=seed)


def test_an_algorithm_without_the_guarantee_is_refused():
    asked = sf.Policy.parse(POLICY + '[algorithm]\nname = "mondrian"\n')
    with pytest.raises(
        RefusedError, match="'mondrian' does not provide differential-privacy"
    ):
        sf.anonymize(people(), asked)


def test_a_private_algorithm_without_the_requirement_is_refused():
    text = POLICY[: POLICY.index("[[require]]")] + ALGORITHMS["dp-anonym"]
    with pytest.raises(RefusedError, match="needs a privacy budget, and"):
        sf.anonymize(people(), sf.Policy.parse(text))


def test_two_process_requirements_are_refused():
    again = '[[require]]\nmodel = "differential-privacy"\nepsilon = 0.5\n'
    with pytest.raises(RefusedError, match="2 requirements are about how"):
        sf.anonymize(people(), policy_for("safepub", more=again))


@pytest.mark.parametrize("name", ["safepub", "dp-synthesis"])
def test_a_kept_column_without_a_hierarchy_is_refused(name):
    table = people().append_column("note", pa.array(["x"] * ROWS))
    text = POLICY.replace("version = 1", 'version = 1\nunlisted = "keep"')
    with pytest.raises(RefusedError, match="Column 'note' has no hierarchy"):
        sf.anonymize(table, policy_for(name, text))


def test_a_sensitive_column_without_a_hierarchy_is_refused():
    lines = POLICY.splitlines(keepends=True)
    text = "".join(line for line in lines if "lung" not in line)
    with pytest.raises(RefusedError, match="Column 'disease' has no hierarchy"):
        sf.anonymize(people(), policy_for("safepub", text))


@every_algorithm
@pytest.mark.parametrize("spec", ['"auto"', '"free"', "{ quantiles = [4, 2] }"])
def test_a_hierarchy_fitted_to_the_data_is_refused(name, spec):
    text = POLICY.replace("{ intervals = [10, 20], bottom = 20, top = 80 }", spec)
    with pytest.raises(RefusedError, match="may not depend on the data"):
        sf.anonymize(people(), policy_for(name, text))


@pytest.mark.parametrize(
    ("more", "text"),
    [
        (
            '[publish]\noperator = "suppress"\n',
            "'suppress' would show what the rows say",
        ),
        ('[publish]\nnumbers = "mean"\n', "'generalize' would show"),
        ('[publish]\norder = "source"\n', "order of the source is not covered"),
    ],
)
def test_ways_of_publishing_that_show_the_rows_are_refused(more, text):
    with pytest.raises(RefusedError, match=text):
        sf.anonymize(people(), policy_for("dp-anonym", more=more))


def test_pseudonyms_are_refused():
    text = POLICY.replace(
        'role = "identifier"', 'role = "identifier"\npseudonymize = "keyed-hash"'
    )
    with pytest.raises(RefusedError, match="Pseudonyms tell rows apart"):
        sf.anonymize(people(), policy_for("dp-anonym", text))


def test_dropping_rows_does_not_go_with_substitution():
    text = POLICY.replace("[data]", '[data]\nmissing_as = "drop"')
    asked = policy_for("dp-anonym", text).with_setting(
        "algorithm.sampling", "without-replacement"
    )
    with pytest.raises(RefusedError, match="substituting a row may change the number"):
        sf.anonymize(people(), asked)


def test_a_value_outside_the_declared_domain_is_an_error_that_only_counts():
    table = people().set_column(2, "city", pa.array(["Secretville"] * ROWS))
    with pytest.raises(DataError, match=f"{ROWS:,} of {ROWS:,} cells") as caught:
        sf.anonymize(table, policy_for("dp-anonym"))
    assert "Secretville" not in str(caught.value)
    assert "ledger" not in str(caught.value)


# The ledger across releases.

LEDGER = '[privacy]\nledger = "ledger.json"\nepsilon = 2.0\ndelta = 1e-5\n'


def test_releases_share_a_ledger_until_it_is_spent(place):
    asked = sf.Policy.parse(POLICY + ALGORITHMS["dp-synthesis"] + LEDGER, base=place)
    for _ in range(2):
        release = sf.anonymize(people(), asked)
    assert release.manifest["privacy"]["across_releases"].startswith(
        "Charged to a ledger"
    )
    with pytest.raises(BudgetError, match="the ledger has epsilon 0"):
        sf.anonymize(people(), asked)


def test_a_spent_ledger_ends_with_exit_code_4_and_writes_nothing(place):
    spent = LEDGER.replace("epsilon = 2.0", "epsilon = 0.5")
    (place / "spent.toml").write_text(POLICY + ALGORITHMS["safepub"] + spent)
    assert main(["anonymize", "spent.toml", "--out", "release"]) == 4
    assert not (place / "release").exists()
    assert not (place / "ledger.json").exists()


def test_a_refused_policy_is_not_charged(place):
    asked = sf.Policy.parse(
        POLICY + '[algorithm]\nname = "mondrian"\n' + LEDGER, base=place
    )
    with pytest.raises(RefusedError):
        sf.anonymize(people(), asked)
    assert not (place / "ledger.json").exists()


@every_algorithm
def test_a_machine_without_opendp_is_not_charged(name, place, monkeypatch):
    monkeypatch.setitem(sys.modules, "opendp.prelude", None)
    opendp.cache_clear()
    with pytest.raises(UsageError, match="needs OpenDP"):
        sf.anonymize(people(), policy_for(name, more=LEDGER), base=place)
    assert not (place / "ledger.json").exists()


@pytest.mark.parametrize(
    ("name", "key", "value", "text"),
    [
        ("safepub", "algorithm.levels", {"age": 9}, "level 9 of 'age'"),
        ("safepub", "algorithm.sample", 0.9, "'sample' is 0.9"),
        ("safepub", "require.0.budget", {"luck": 1}, "budget names 'luck'"),
        (
            "dp-anonym",
            "require.0.budget",
            {"selection": 1},
            "No budget is left to count",
        ),
        ("dp-anonym", "require.1.k", 1, "groups of 1 would show"),
        (
            "dp-synthesis",
            "require.0.budget",
            {"count": 1},
            "No budget is left to count",
        ),
    ],
)
def test_settings_that_no_data_could_save_are_not_charged(
    name, key, value, text, place
):
    whole = policy_for(name, more=LEDGER).model_dump(mode="json", exclude_unset=True)
    *path, last = key.split(".")
    inner: Any = whole
    for step in path:
        inner = inner[int(step) if step.isdigit() else step]
    inner[last] = value
    with pytest.raises((PolicyError, RefusedError), match=text):
        sf.anonymize(people(), sf.Policy.model_validate(whole), base=place)
    assert not (place / "ledger.json").exists()


def test_a_budget_of_all_releases_without_a_ledger_is_refused():
    more = "[privacy]\nepsilon = 2.0\n"
    with pytest.raises(PolicyError, match="no ledger is named"):
        sf.anonymize(people(), policy_for("dp-synthesis", more=more))


def test_a_run_that_fails_on_its_data_stays_charged(place):
    asked = sf.Policy.parse(POLICY + ALGORITHMS["dp-anonym"] + LEDGER, base=place)
    charged = (
        "The ledger was charged epsilon 1, delta 1e-06 before this run used any cell; "
        "this stays spent."
    )
    with pytest.raises(InfeasibleError, match="none of") as caught:
        sf.anonymize(people(3), asked)
    assert charged in str(caught.value)
    assert len(json.loads((place / "ledger.json").read_text())["charges"]) == 1


def test_without_a_ledger_the_manifest_says_that_runs_add_up():
    release = sf.anonymize(people(), policy_for("dp-synthesis"))
    assert "repeated runs" in release.manifest["privacy"]["across_releases"]


def test_the_place_of_the_ledger_is_not_published(place):
    asked = sf.Policy.parse(POLICY + ALGORITHMS["dp-synthesis"] + LEDGER, base=place)
    assert "ledger.json" not in json.dumps(sf.anonymize(people(), asked).manifest)


def test_a_ledger_that_does_not_exist_needs_a_budget(place):
    asked = sf.Policy.parse(
        POLICY + ALGORITHMS["safepub"] + '[privacy]\nledger = "none.json"\n', base=place
    )
    with pytest.raises(PolicyError, match=r"'none\.json' does not exist"):
        sf.anonymize(people(), asked)


# Subjects.


def test_with_subjects_the_guarantee_is_about_subjects():
    table = people().append_column("person", pa.array(np.arange(ROWS) // 2))
    text = POLICY + '[columns.person]\nrole = "subject"\n'
    release = sf.anonymize(table, policy_for("dp-synthesis", text))
    assert release.manifest["privacy"]["unit"] == "subject"
    assert "one subject" in release.manifest["privacy"]["guarantee"]
    assert release.table.num_rows < 0.6 * ROWS


def test_nothing_published_counts_subjects_where_the_guarantee_covers_all():
    """Two rows per person, all alike: the file shows rows, and so does the risk."""
    table = people().append_column("person", pa.array(np.arange(ROWS) // 2))
    text = POLICY.replace("delta = 1e-6", "delta = 1e-4")
    text += '[columns.person]\nrole = "subject"\n'
    more = "rows_per_subject = 2\nlevels = { age = 3, city = 2, disease = 2 }\n"
    release = sf.anonymize(table, policy_for("safepub", text, more))
    assert release.risk["prosecutor_max"] == 1 / release.table.num_rows


def test_k_counts_subjects_in_private_cells():
    table = people().append_column("person", pa.array(np.arange(ROWS) // 2))
    text = POLICY + '[columns.person]\nrole = "subject"\n'
    release = sf.anonymize(table, policy_for("dp-anonym", text))
    assert release.verdicts[0]["measured"] >= 5


def test_how_many_subjects_share_a_cell_is_not_published(place):
    """The file shows rows; with two rows per subject nothing pays for the subjects."""
    table = people().append_column("person", pa.array(np.arange(ROWS) // 2))
    text = POLICY + '[columns.person]\nrole = "subject"\n'
    two = policy_for("dp-anonym", text).with_setting("algorithm.rows_per_subject", 2)
    release = sf.anonymize(table, two)
    release.save(place / "release")
    assert release.verdicts[0]["holds"]
    assert release.verdicts[0]["measured"] is None
    assert release.risk == {}
    audit = json.loads((place / "release/private/audit.json").read_text())
    assert audit["requirements"][0]["measured"] >= 5


# Checking.


def test_check_asks_only_what_a_table_can_show(place):
    assert main(["anonymize", "dp-anonym.toml", "--out", "release"]) == 0
    asked = sf.Policy.load(place / "dp-anonym.toml")
    found = sf.check(place / "release/data.csv", asked)
    assert [verdict["model"] for verdict in found.verdicts] == ["k-anonymity"]
    assert found.holds


def test_check_of_differential_privacy_alone_is_refused():
    asked = policy_for("safepub")
    release = sf.anonymize(people(), asked)
    with pytest.raises(
        RefusedError, match="differential-privacy cannot be checked on a table"
    ):
        sf.check(release.table, asked)
