"""Calls from Python: what they take, what they show, and how they fail."""

from __future__ import annotations

import inspect
from copy import copy
from typing import Any

import numpy as np
import pandas as pd
import pytest

import sfumato as sf
from sfumato.errors import (
    DataError,
    OutputError,
    PolicyError,
    SfumatoError,
    UsageError,
)
from sfumato.pipeline.tuning import Tuned
from sfumato.policy.keywords import KNOWN, Settings
from sfumato.workload.answer_errors import WorkloadError

SETTINGS = {"quasi": ["age"], "sensitive": ["illness"], "k": 2, "algorithm": "mondrian"}
HEX = "00112233445566778899aabbccddeeff"


@pytest.fixture
def people():
    ages = [20, 21, 22, 23, 30, 31, 44, 45, 46, 47]
    return pd.DataFrame({"age": ages, "illness": list("uvuvuvuvuv")})


def test_a_seed_from_an_audit_record_replays_a_run(people):
    first = sf.anonymize(people, seed=HEX, **SETTINGS)
    again = sf.anonymize(people, seed=HEX, **SETTINGS)
    pd.testing.assert_frame_equal(first.data, again.data)
    assert "not_for_publication" not in first.manifest


def test_an_insecure_seed_marks_the_release(people):
    release = sf.anonymize(people, insecure_seed=1, **SETTINGS)
    assert "not_for_publication" in release.manifest


def test_a_number_is_no_seed_and_the_error_says_what_is(people):
    with pytest.raises(
        UsageError, match=r"(?s)seed is a text of 32 hex.*insecure_seed=1"
    ) as e:
        sf.anonymize(people, seed=1, **SETTINGS)
    assert "not for publication" in e.value.hint


def test_the_path_of_a_policy_file_is_a_policy(people, tmp_path):
    place = tmp_path / "policy.toml"
    place.write_text(sf.Policy.build(**SETTINGS).dump())
    release = sf.anonymize(people, str(place), seed=HEX)
    assert release.data.equals(sf.anonymize(people, place, seed=HEX).data)
    assert sf.check(release.data, place).holds


def test_progress_true_shows_a_bar_that_fills_up(people, capsys):
    sf.anonymize(people, progress=True, **SETTINGS)
    shown = capsys.readouterr().err
    assert "\rsolve" in shown
    assert shown.endswith(f"[{'#' * 30}] 100%\n")


def test_progress_may_be_a_function_of_step_and_share(people, capsys):
    seen = []
    sf.anonymize(people, progress=lambda *told: seen.append(told), **SETTINGS)
    assert seen[0][0] == "code"
    assert capsys.readouterr().err == ""


def test_threads_do_not_show_in_the_result(people):
    one, two = (
        sf.anonymize(people, threads=count, seed=HEX, **SETTINGS) for count in (1, 2)
    )
    pd.testing.assert_frame_equal(one.data, two.data)


def test_the_version_is_that_of_the_package():
    from importlib.metadata import version

    assert sf.__version__ == version("sfumato")


def test_a_proposal_is_a_policy_that_can_be_used(people):
    policy = sf.propose(people)
    assert isinstance(policy, sf.Policy)
    assert policy.column("age").role == "quasi"
    assert policy.column("illness").role == "sensitive"
    release = sf.anonymize(people, policy.with_setting("require.0.k", 2), seed=HEX)
    assert all(verdict["holds"] for verdict in release.verdicts)


def test_a_proposal_for_a_file_names_it(people, tmp_path):
    place = tmp_path / "people.csv"
    people.to_csv(place, index=False, sep=";")
    policy = sf.propose(place, missing="v")
    assert policy.data.path == str(place)
    assert policy.data.delimiter == ";"
    assert policy.data.missing == ("v",)


@pytest.mark.parametrize("name", ["anonymize", "check", "workload_error"])
def test_signatures_show_every_setting(name):
    shown = inspect.signature(getattr(sf, name)).parameters
    assert set(Settings.__annotations__) <= set(shown)
    assert not any(each.kind is each.VAR_KEYWORD for each in shown.values())


def test_the_settings_that_editors_show_are_those_that_are_read():
    assert set(Settings.__annotations__) == set(KNOWN)


def test_numbers_and_names_of_other_libraries_are_taken(people):
    settings = SETTINGS | {"quasi": pd.Index(["age"]), "k": np.int64(2)}
    assert sf.anonymize(people, seed=HEX, **settings).verdicts[0]["parameters"] == {
        "k": 2
    }


WRONG = {
    "no data": ((), {}, "missing a required argument: 'data'"),
    "too much": ((1, 2, 3), {}, "too many positional arguments"),
    "a typo": ((), {"quasy": "age"}, "no setting 'quasy'.*'quasi'"),
    "policy is a number": ((None, 5), {}, "policy is a Policy or the path"),
    "policy is a dict": ((None, {"k": 2}), {}, "policy is a Policy or the path"),
    "policy is a frame": ((None, pd.DataFrame()), {}, "policy is a Policy or the"),
    "policy is nowhere": ((None, "nowhere.toml"), {}, "no policy file 'nowhere"),
    "policy and settings": ((None, sf.Policy()), {"k": 2}, "cannot both be given"),
    "seed is bytes": ((None,), {"seed": b"00"}, "seed is a text of 32"),
    "seed is short": ((None,), {"seed": "abc"}, "32 hexadecimal digits"),
    "two seeds": ((None,), {"seed": HEX, "insecure_seed": 1}, "cannot both"),
    "insecure text": ((None,), {"insecure_seed": "1"}, "insecure_seed is a whole"),
    "insecure truth": ((None,), {"insecure_seed": True}, "insecure_seed is a whole"),
    "no threads": ((None,), {"threads": 0}, "threads must be at least 1"),
    "threads are text": ((None,), {"threads": "2"}, "threads is a whole number"),
    "progress is text": ((None,), {"progress": "yes"}, "progress is True, False or"),
    "quasi is a number": ((None,), {"quasi": 5}, "'quasi' is not the name"),
    "quasi has a number": ((None,), {"quasi": ["age", 5]}, "'quasi' is not the name"),
    "kinds is a list": ((None,), {"kinds": ["age"]}, "'kinds' is not a dict"),
    "require is a table": ((None,), {"require": {"k": 2}}, "'require' is not a list"),
    "require has texts": ((None,), {"require": ["k"]}, "'require' is not a table"),
    "algorithm is a number": ((None,), {"algorithm": 5}, "'algorithm' is not a table"),
    "publish is a text": ((None,), {"publish": "swap"}, "'publish' is not a table"),
    "privacy is a text": ((None,), {"privacy": "all"}, "'privacy' is not a table"),
    "loss_by is a number": ((None,), {"loss_by": 5}, "'loss_by' is not the name"),
    "k is a text": ((None,), {"quasi": "age", "k": "2"}, "k is a text, not a whole"),
    "k is a half": ((None,), {"quasi": "age", "k": 2.5}, "not a whole number"),
    "missing is a number": ((None,), {"missing": 5}, "data.missing is a whole number"),
    "data is a number": ((5,), {"quasi": "age", "k": 2}, "cannot be made of int"),
    "data is nowhere": (("nowhere.csv",), {"quasi": "a", "k": 2}, "no file 'nowhere"),
    "no such column": ((None,), {"quasi": "agee", "k": 2}, "no such column"),
}


@pytest.mark.parametrize("name", WRONG)
def test_a_wrong_call_gets_an_error_of_ours(name, people):
    args, settings, text = WRONG[name]
    given = tuple(people if each is None else each for each in args)
    with pytest.raises(SfumatoError, match=f"(?s){text}") as caught:
        sf.anonymize(*given, **settings)
    assert caught.value.exit_code == 2


def test_a_place_that_is_no_path_is_an_error_of_ours(people, tmp_path):
    release = sf.anonymize(people, seed=HEX, **SETTINGS)
    with pytest.raises(UsageError, match="A release's place is a path"):
        release.save(5)
    with pytest.raises(OutputError, match="cannot be written"):
        release.report(tmp_path / "none" / "report.html")


def test_a_private_record_that_is_damaged_is_named(people, tmp_path):
    release = sf.anonymize(people, seed=HEX, **SETTINGS)
    damaged = tmp_path / "rows.parquet"
    pd.DataFrame({"published_row": [0, 0], "group": [0, 1]}).to_parquet(damaged)
    with pytest.raises(DataError, match=r"rows.parquet. is a damaged private record"):
        sf.check(release.data, groups=damaged, **SETTINGS | {"algorithm": None})


CLAIM: dict[str, Any] = {"quasi": "age", "k": 1}
ELSEWHERE: dict[str, Any] = {
    "manifest": (
        lambda people: sf.check(people, manifest=5, **CLAIM),
        "manifest is a p",
    ),
    "base": (lambda people: sf.check(people, base=5, **CLAIM), "base is a path"),
    "requirements": (
        lambda people: sf.check(people, quasi="age", requirements="k"),
        "requirements is a list of models",
    ),
    "missing": (lambda people: sf.propose(people, missing=5), "missing is a text or a"),
    "workload": (
        lambda people: sf.workload_error(people, people, 5),
        "workload is a path, not a value of type int",
    ),
    "no workload": (
        lambda people: sf.workload_error(people, people, "none.toml"),
        "There is no workload 'none.toml'",
    ),
    "no path": (lambda _: sf.Policy.load(5), "path is a text, not a value of type int"),
    "no text": (lambda _: sf.Policy.parse(5), "text is a text, not a value of type in"),
    "zero": (lambda _: sf.Policy.load("a\0b"), "cannot be read"),
    "long": (lambda _: sf.check("x" * 5000 + ".csv", **CLAIM), "There is no file"),
    "delimiter": (
        lambda people: sf.propose(people, delimiter=5),
        "delimiter is a text, not a value of type int",
    ),
    "encoding": (
        lambda people: sf.propose(people, encoding=5),
        "encoding is a text, not a value of type int",
    ),
    "settings": (
        lambda _: sf.Policy().with_settings(5),
        "settings is a dict, not a value of type int",
    ),
    "a loop": (
        lambda people: sf.anonymize(people, quasi="age", publish=_endless()),
        "the settings are nested too deeply",
    ),
}


def _endless() -> dict[str, Any]:
    """A dict that is in itself."""
    settings: dict[str, Any] = {}
    settings["numbers"] = settings
    return settings


QUERIES = "".join(f"select count(*) from t where age > {a};" for a in range(20, 40))
OPTIONS: dict[str, tuple[dict[str, Any], str]] = {
    "share is text": ({"train_share": "x"}, "train_share is a number, not a value"),
    "share is nan": ({"train_share": float("nan")}, "A train share of nan leaves one"),
    "no trials": ({"trials": 0}, "trials must be at least 1"),
    "half a trial": ({"trials": 1.5}, "trials is a whole number, not a value of type"),
    "keep is a number": ({"keep": 5}, "keep is a name or a list of names"),
    "keep has numbers": ({"keep": [5]}, "keep is a name or a list of names"),
    "keep is nobody": ({"keep": "agee"}, "'agee' is neither a quasi-identifier nor"),
    "split below zero": ({"split_seed": -1}, "split_seed must be at least 0"),
    "split is text": ({"split_seed": "x"}, "split_seed is a whole number, not a value"),
    "no such measure": ({"measure": "x"}, "There is no measure of this name"),
    "measure is a number": ({"measure": 5}, "There is no measure of this name"),
}


@pytest.fixture
def queries(tmp_path):
    place = tmp_path / "queries.sql"
    place.write_text(QUERIES)
    return place


@pytest.mark.parametrize("name", OPTIONS)
def test_a_wrong_option_of_tune_gets_an_error_of_ours(name, people, queries):
    options, text = OPTIONS[name]
    with pytest.raises(SfumatoError, match=text) as caught:
        sf.tune(people, sf.Policy.build(**SETTINGS), queries, **options)
    assert caught.value.exit_code == 2


@pytest.mark.parametrize(
    ("option", "text"),
    [
        ({"resamples": 0}, "resamples must be at least 1"),
        ({"resamples": "x"}, "resamples is a whole number"),
        ({"seed": -1}, "seed must be at least 0"),
        ({"seed": 1.5}, "seed is a whole number"),
    ],
)
def test_a_wrong_option_of_workload_error_gets_an_error_of_ours(
    option, text, people, queries
):
    release = sf.anonymize(people, seed=HEX, **SETTINGS)
    with pytest.raises(UsageError, match=text):
        sf.workload_error(people, release, queries, **option)


@pytest.mark.parametrize("name", ELSEWHERE)
def test_a_wrong_call_of_any_function_gets_an_error_of_ours(name, people):
    call, text = ELSEWHERE[name]
    with pytest.raises(SfumatoError, match=text) as caught:
        call(people)
    assert caught.value.exit_code == 2


@pytest.mark.parametrize("place", ["", "a\0b"])
def test_a_place_that_cannot_be_is_an_error_of_ours(place, people):
    release = sf.anonymize(people, seed=HEX, **SETTINGS)
    for write in (release.save, release.report):
        with pytest.raises(UsageError, match=r"place is a(n empty| path with a zero)"):
            write(place)


BY_HAND: dict[str, tuple[Any, tuple[Any, ...], dict[str, Any], str]] = {
    "nothing": (sf.Release, (), {}, r"Release\(\) cannot.*sfumato.anonymize\("),
    "a typo": (sf.Release, (), {"tabel": 1}, r"Release\(\).*sfumato.anonymize\("),
    "other things": (sf.Release, (1, 2), {}, r"Release\(\).*sfumato.anonymize\("),
    "no findings": (sf.CheckResult, (), {}, r"CheckResult\(\).*sfumato.check\("),
    "queries by place": (sf.Workload, ([],), {}, r"Workload\(\).*workload file"),
    "no queries": (sf.Workload, (), {"queries": [5]}, "list of Query objects"),
    "no tuning": (Tuned, (), {}, r"Tuned\(\).*sfumato.tune\("),
    "no errors": (WorkloadError, (), {}, r"sfumato.workload_error\("),
}


@pytest.mark.parametrize("name", BY_HAND)
def test_a_result_made_by_hand_says_which_function_makes_it(name: str) -> None:
    make, args, kwargs, text = BY_HAND[name]
    with pytest.raises(UsageError, match=f"(?s){text}") as caught:
        make(*args, **kwargs)
    assert caught.value.__cause__ is None


def test_results_can_be_copied(people):
    release = sf.anonymize(people, seed=HEX, **SETTINGS)
    assert copy(release).table is release.table


@pytest.mark.parametrize("wrong", [{"foo": 1}, {"columns": 3}, {"unlisted": "no"}])
def test_a_policy_made_by_hand_is_refused_in_our_words(wrong):
    with pytest.raises(PolicyError, match=next(iter(wrong))) as error:
        sf.Policy(**wrong)
    assert error.value.__cause__ is None


def test_memory_that_runs_out_in_a_call_is_an_error_of_ours(people):
    def fail(_step: str, _share: float) -> None:
        raise MemoryError

    with pytest.raises(DataError, match=r"Memory ran out; .* free now") as error:
        sf.anonymize(people, progress=fail, **SETTINGS)
    assert error.value.__cause__ is None


@pytest.mark.parametrize("function", [sf.assess, sf.attack])
def test_a_release_in_the_place_of_its_original_is_refused(people, function):
    release = sf.anonymize(people, **SETTINGS)
    tables = (release, people) if function is sf.assess else (people, release)
    with pytest.raises(UsageError, match=r"(?s)itself a release.*The order is assess"):
        function(*tables)
