"""No candidate asks less than the policy, unless somebody answers for it."""

from __future__ import annotations

import json

import pyarrow as pa
import pytest

import sfumato as sf
from sfumato.errors import PolicyError, RefusedError, UsageError
from sfumato.pipeline.comparison.candidate_policies import (
    candidates,
    dialed,
    left_out,
    left_out_note,
)
from sfumato.pipeline.comparison.policy_floor import (
    lowered,
    lowering_records,
    still_lowered,
)
from sfumato.pipeline.comparison.try_candidate import try_candidate
from sfumato.policy import Policy

POLICY = """
[columns]
name = { role = "identifier" }
age = { role = "quasi" }
city = { role = "quasi" }
illness = { role = "sensitive" }
cost = { role = "insensitive" }
[[require]]
model = "k-anonymity"
k = 5
[[require]]
model = "l-diversity"
l = 2
[publish]
max_loss = 1.0
"""
COMPARE = """
[compare]
algorithms = ["mondrian", "datafly"]
set = { "require.0.k" = [2, 5, 10] }
"""


@pytest.fixture(autouse=True)
def in_process(monkeypatch: pytest.MonkeyPatch) -> None:
    """Run candidates in this process: a worker needs a second to start."""

    def run(work, tried, **_):
        return {e.number: try_candidate(work, e.policy) for e in tried}, False

    from sfumato.pipeline.comparison import compare_policies

    monkeypatch.setattr(compare_policies, "run_candidates", run)


def policy(**settings: object) -> Policy:
    changed = {key.replace("__", "."): value for key, value in settings.items()}
    return Policy.parse(POLICY).with_settings(changed)


def table(rows: int = 120) -> pa.Table:
    return pa.table(
        {
            "name": [f"canary-{i}" for i in range(rows)],
            "age": [20 + i % 37 for i in range(rows)],
            "city": [("Bari", "Rome", "Pisa")[i % 3] for i in range(rows)],
            "illness": [f"D{i % 4}" for i in range(rows)],
            "cost": [i % 2 for i in range(rows)],
        }
    )


def compared(*, allow_weaker: bool = True) -> sf.Comparison:
    return sf.compare(
        table(), Policy.parse(POLICY + COMPARE), allow_weaker=allow_weaker
    )


def told(**settings: object) -> list[str]:
    return [each.told() for each in lowered(policy(), policy(**settings))]


def test_a_smaller_k_is_below_the_policy_and_named_with_both_numbers():
    assert told(require__0__k=2) == ["k = 2 instead of 5"]
    assert told(require__0__k=5) == []
    assert told(require__0__k=7) == []


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"require": []}, "k-anonymity = not required instead of required"),
        ({"require.0.model": "group-size"}, "k-anonymity = not required"),
        ({"columns.age.role": "insensitive"}, "age = insensitive instead of quasi"),
        ({"columns.illness.role": "quasi"}, "illness = quasi instead of sensitive"),
        ({"columns.name.role": "insensitive"}, "name = insensitive instead of ident"),
        ({"columns.cost.keep_as_is": True}, "keep_as_is of cost = yes instead of no"),
        ({"columns.illness.hierarchy": "flat"}, "hierarchy of illness = flat instead"),
        ({"data.missing_as": "value"}, "missing_as = value instead of any"),
        ({"unlisted": "keep"}, "unlisted = keep instead of error"),
        ({"require.1.kind": "recursive", "require.1.c": 3.0}, "kind = recursive"),
        ({"require.1.on": "illness"}, "on = illness instead of nothing"),
    ],
)
def test_what_else_asks_less_is_below_the_policy_too(settings, words):
    asked = policy(data__missing_as="any")
    said = [each.told() for each in lowered(asked, asked.with_settings(settings))]
    assert any(words in text for text in said)


@pytest.mark.parametrize(
    "settings",
    [
        {"require.1.l": 3},
        {"require.1.kind": "entropy"},
        {"columns.cost.role": "sensitive"},
        {"columns.city.drop": True},
        {"columns.city.role": "identifier"},
        {"columns.age.hierarchy": {"intervals": [10]}},
        {"publish.operator": "suppress"},
        {"publish.max_suppressed": 0.1},
        {"data.missing_as": "any"},
    ],
)
def test_what_asks_as_much_is_not_below_the_policy(settings):
    assert lowered(policy(), policy().with_settings(settings)) == ()


def test_candidates_of_the_policy_below_it_are_left_out_and_named():
    asked = Policy.parse(POLICY + COMPARE)
    found = candidates(asked, rows=120)
    assert [each.name for each in found] == [
        "mondrian, k = 5",
        "mondrian, k = 10",
        "datafly, k = 5",
        "datafly, k = 10",
    ]
    assert [each.number for each in found] == [1, 2, 3, 4]
    assert left_out_note(left_out(asked, rows=120)) == (
        "2 candidates of [compare] are below the policy and left out (k = 2 instead "
        "of 5); --allow-weaker tries them, too."
    )


def test_where_every_candidate_is_below_the_policy_nothing_is_compared():
    asked = policy(compare__set={"require.0.k": [2, 3]})
    with pytest.raises(PolicyError, match=r"less than the policy: k = 2 instead of 5"):
        candidates(asked, rows=120)


def test_a_dial_keeps_the_floor_too():
    asked = policy(compare__set={"require.0.k": [2, 5]})
    assert {e.settings["require.0.k"] for e in dialed(asked, steps=3)} == {5}
    weaker = dialed(asked, steps=3, allow_weaker=True)
    assert {each.settings["require.0.k"] for each in weaker} == {2, 5}


def test_a_weaker_candidate_is_on_no_front_and_accepted_by_nobody():
    found = compared()
    weaker = [each for each in found.candidates if each.weaker]
    assert [each.name for each in weaker] == ["mondrian, k = 2", "datafly, k = 2"]
    assert all(each.finished for each in weaker)
    assert not any(each.on_front or each.accepted for each in weaker)
    assert not {each.number for each in weaker} & set(found.picks().values())
    beaten = {each.dominated_by for each in found.candidates}
    assert not {each.number for each in weaker} & beaten


def test_json_page_and_plot_name_what_is_below_the_policy(tmp_path):
    found = compared()
    record = found.record()["candidates"][0]
    assert record["below_policy"] == [
        {"setting": "require.0.k", "name": "k", "asked": 5, "instead": 2}
    ]
    found.page(tmp_path / "page.html")
    page = (tmp_path / "page.html").read_text("utf-8")
    assert page.count("below the policy: k = 2 instead of 5") >= 4
    assert '<tr id="c1" class="weaker"' in page
    assert 'class="point k0 weaker"' in page


def test_a_comparison_says_which_candidates_it_left_out():
    found = compared(allow_weaker=False)
    assert "k = 2 instead of 5" in found.record()["notes"][0]


def test_a_weaker_candidate_is_released_only_with_a_name_and_a_reason():
    found = compared()
    with pytest.raises(RefusedError, match=r"below the policy: k = 2 instead of 5"):
        found.release(1)
    with pytest.raises(RefusedError, match="below the policy"):
        found.release(1, by="Ada Byron")
    with pytest.raises(UsageError, match="'because' has 3 characters"):
        found.release(1, by="Ada Byron", because="a\0b")


def test_manifest_and_both_editions_keep_what_was_asked(tmp_path):
    release = compared().release(1, by="Ada Byron", because="the board agreed")
    manifest = release.save(tmp_path / "release")
    kept = manifest["lowered"][0]
    assert (kept["asked"], kept["instead"], kept["by"]) == (5, 2, "Ada Byron")
    words = f"asked: 5; lowered to 2 by Ada Byron on {kept['date']} because the board"
    for name in ("report.html", "private/report.html"):
        assert words in (tmp_path / "release" / name).read_text("utf-8")


def test_a_release_that_keeps_the_policy_has_no_such_history():
    assert "lowered" not in compared().release("min-loss").manifest


def test_what_was_lowered_is_forgotten_once_the_policy_asks_as_much_again():
    lower = policy(require__0__k=2)
    changes = lowered(policy(), lower)
    kept = lowering_records(changes, by="Ada Byron", because="agreed")
    assert still_lowered(lower, kept[0])
    assert still_lowered(policy(require__0__k=4), kept[0])
    assert not still_lowered(policy(), kept[0])
    assert json.loads(json.dumps(kept)) == kept


def test_no_knee_of_two_points_is_picked():
    asked = policy(
        compare__algorithms=["mondrian"], compare__set={"require.0.k": [5, 10]}
    )
    found = sf.compare(table(), asked)
    assert set(found.picks()) == {"min-risk", "min-loss"}
    with pytest.raises(UsageError, match="the front has 2 points, and a knee needs 3"):
        found.pick("knee")


@pytest.mark.parametrize("role", ["sensitive", "insensitive"])
@pytest.mark.parametrize(
    ("settings", "weaker"),
    [
        ({"bands": 100}, ["bands of visits = 100 instead of 1,000"]),
        ({"bands": 1_500}, ["bands of visits = 1,500 instead of 1,000"]),
        ({"bands": 2_000, "top": 8_000}, []),
        ({"top": 20_000}, ["top of visits = 20,000 instead of 10,000"]),
        ({"bottom": 0}, ["bottom of visits = 0 instead of 100"]),
        ({"bottom": 200}, []),
    ],
)
def test_finer_bands_are_below_the_policy(role, settings, weaker):
    section = {"role": role, "bands": 1_000, "bottom": 100, "top": 10_000}
    asked = policy().with_settings({"columns.visits": section})
    tried = asked.with_settings({"columns.visits": section | settings})
    assert [each.told() for each in lowered(asked, tried)] == weaker
