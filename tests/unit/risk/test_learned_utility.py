"""What models learn from a release, tested on people whom they did not see."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest

import sfumato as sf
from sfumato.errors import UsageError
from tests.other_tools import other_tool

other_tool("sklearn")
ROWS = 400


def people(rows=ROWS, seed=2):
    """Illness and pay follow age; the city tells nothing."""
    random = np.random.default_rng(seed)
    age = random.integers(18, 80, rows)
    ill = np.where(age + random.normal(0, 4, rows) > 50, "gout", "flu")
    pay = 10 * age + random.normal(0, 20, rows)
    return pa.table(
        {
            "age": age,
            "city": random.choice(["Bari", "Pisa", "Rome"], rows),
            "illness": ill,
            "pay": np.round(pay, 1),
        }
    )


def learned(published, *, original=None, **more):
    found = sf.assess(
        people() if original is None else original,
        published,
        quasi=["age", "city"],
        sensitive=["illness", "pay"],
        learn=True,
        **more,
    )
    return found.utility["learned"]


def scrambled(table):
    """The same rows, with ages that tell nothing."""
    random = np.random.default_rng(0)
    ages = pa.array(random.permutation(table.column("age").to_numpy()))
    return table.set_column(0, "age", ages)


def test_an_exact_copy_teaches_what_the_original_does():
    found = learned(people(), same_order=True)
    assert found["held_out"]
    for scores in found["models"].values():
        assert scores["original"] == scores["release"]
        assert scores["difference"] == {"value": 0.0, "low": 0.0, "high": 0.0}


def test_a_model_learns_more_than_the_usual_answer():
    found = learned(people(), same_order=True)
    assert found["models"]["linear"]["release"]["low"] > found["baseline"]["high"]


def test_a_release_that_tells_nothing_teaches_the_usual_answer():
    blank = people().set_column(0, "age", pa.array(["*"] * ROWS))
    blank = blank.set_column(1, "city", pa.array(["*"] * ROWS))
    blank = blank.drop_columns(["pay"])
    found = learned(blank, same_order=True)
    assert found["models"]["boosting"]["release"] == found["baseline"]


def test_scrambled_columns_lose_their_importance():
    shown = scrambled(people())
    found = learned(shown, same_order=True, target="illness", form="microaggregated")
    ages = found["importance"]["age"]
    assert ages["original"] > 0.05
    assert ages["release"] < ages["original"] / 2


def test_numbers_are_learned_by_regression():
    found = learned(people(), same_order=True, target="pay")
    assert (found["task"], found["measure"]) == ("regression", "r2")
    assert found["models"]["linear"]["release"]["value"] > 0.9
    assert abs(found["baseline"]["value"]) < 0.1


def test_the_result_says_that_nobody_was_held_out():
    assert not learned(people())["held_out"]


def test_the_sample_bounds_the_rows():
    assert learned(people(), same_order=True, sample=100)["rows"] == 100


def test_the_same_seed_gives_the_same_figures():
    assert learned(people(), seed=3) == learned(people(), seed=3)


def test_an_unknown_target_is_refused():
    with pytest.raises(UsageError, match="'height' is not a column of both tables"):
        learned(people(), target="height")


def test_too_few_rows_are_refused():
    few = people(rows=8)
    with pytest.raises(UsageError, match="Learning takes 10 rows"):
        learned(few, original=few)


def test_without_scikit_learn_the_error_says_how_to_get_it(monkeypatch):
    import importlib

    real = importlib.import_module

    def absent(name, *rest):
        if name.startswith("sklearn"):
            raise ImportError(name)
        return real(name, *rest)

    monkeypatch.setattr("sfumato.risk.learned.scikit.import_module", absent)
    with pytest.raises(UsageError, match="needs scikit-learn") as caught:
        learned(people())
    assert caught.value.hint == "pip install 'sfumato[learn]'"
    assert caught.value.exit_code == 2


def test_columns_without_a_role_are_learned_from_too():
    table = people().append_column("hint", people().column("illness"))
    found = sf.assess(
        table,
        table,
        quasi="age",
        sensitive="illness",
        insensitive=["city", "pay", "hint"],
        learn=True,
        same_order=True,
    ).utility["learned"]
    assert set(found["importance"]) == {"age", "city", "pay", "hint"}
    assert found["models"]["linear"]["release"]["value"] == 1.0
