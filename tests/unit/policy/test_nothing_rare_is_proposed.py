"""`init` proposes no column exactly that has rare values, or that undoes k."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pyarrow as pa
import pytest

from sfumato.data.profiling.infer import infer
from sfumato.data.profiling.quick_grouping import quick_groups
from sfumato.data.schema import Role
from sfumato.policy import Policy
from sfumato.policy.propose import propose
from sfumato.studio.worker_tasks import profile_record

ROWS = 6_000
K = 5
NAMED = {
    "age": range(18, 80),
    "sex": "fm",
    "education": ["basic", "high school", "college"],
    "marital": ["single", "married", "divorced"],
    "country": ["US", "MX", "CA"],
    "race": ["White", "Black", "Asian"],
    "occupation": ["clerk", "nurse", "driver", "teacher"],
    "household_size": range(1, 6),
    "citizenship": ["yes", "no"],
    "language": ["en", "es"],
    "industry": "wxyz",
}
"""More than ten columns that others know: what comes after them stays beside them."""


def people(**more):
    draw = np.random.default_rng(4)
    known = {name: draw.choice(list(of), ROWS) for name, of in NAMED.items()}
    return pa.table(known | more)


def visits():
    """Visits to a hospital: mostly none, one person has 51 (as `hospvis`)."""
    draw = np.random.default_rng(1)
    counts = np.where(draw.random(ROWS) < 0.93, 0, draw.geometric(0.6, ROWS))
    counts[:6] = [51, 17, 17, 23, 30, 12]
    return counts


def limits():
    """Credit limits: most at two round amounts, some of a few persons (`LIMIT_BAL`)."""
    draw = np.random.default_rng(2)
    amounts = np.where(draw.random(ROWS) < 0.9, 50_000, 200_000)
    amounts[:40] = 10_000 * draw.integers(6, 19, 40)
    amounts[:2] = [1_000_000, 780_000]
    return amounts


def hours():
    """Weekly hours: most 40, single odd values (as `whrswk`)."""
    draw = np.random.default_rng(3)
    worked = draw.choice([0, 40], ROWS, p=[0.2, 0.8])
    worked[:50] = draw.integers(1, 99, 50)
    return worked


def section(text, name):
    return text.split(f"[columns.{name}]\n")[1].split("\n\n")[0]


CASES = {"hospvis": visits, "LIMIT_BAL": limits, "whrswk": hours}


@pytest.mark.parametrize("name", CASES)
def test_rare_numbers_get_bands_or_tails_and_the_reason(name):
    values = CASES[name]()
    text = propose(people(**{name: values}), path=None).text
    said = Policy.parse(text).column(name)
    assert said.role is Role.INSENSITIVE
    assert "values have fewer than 5 rows" in section(text, name)
    shown = Counter(_published(int(value), said) for value in values)
    assert min(shown.values()) >= K
    assert len(shown) >= 2


def _published(value, said):
    if said.top is not None and value >= said.top:
        return "top"
    if said.bottom is not None and value <= said.bottom:
        return "bottom"
    return value if said.bands is None else value // int(said.bands)


def test_words_that_few_have_are_left_out():
    words = np.random.default_rng(5).choice(["p", "q"], ROWS, p=[0.9, 0.1])
    words[:3] = "r"
    text = propose(people(zyx=words), path=None).text
    assert Policy.parse(text).column("zyx").drop
    assert "1 of 3 values have fewer than 5 rows" in section(text, "zyx")


def test_a_value_of_many_rows_of_few_persons_is_rare():
    person = [f"p{row // 3}" for row in range(ROWS)]
    values = np.where(np.arange(ROWS) < 9, 1, 0)
    table = people(person_id=person, hospvis=values)
    found = infer(table, k=K)
    assert found["person_id"].role is Role.SUBJECT
    assert "1 of 2 values have fewer than 5 persons" in found["hospvis"].role_reason
    assert found["hospvis"].drop


def test_k_that_is_asked_decides_what_is_rare():
    values = np.where(np.arange(ROWS) < 12, 1, 0)
    assert not infer(people(hospvis=values), k=5)["hospvis"].drop
    assert infer(people(hospvis=values), k=20)["hospvis"].drop


def test_common_values_that_make_rows_unique_get_wider_bands():
    """Every value has hundreds of rows; exactly, 58% of rows would be unique."""
    values = np.random.default_rng(6).integers(0, 20, ROWS) * 10_000
    table = people(LIMIT_BAL=values)
    found = infer(table, k=K)
    quasi = [found.columns[name] for name in found.names(Role.QUASI)]
    codes = found.columns["LIMIT_BAL"].codes.astype(np.int64)
    groups = quick_groups(quasi, ROWS, k=K)
    assert groups.made_unique([codes]) > 0.5
    guess = found["LIMIT_BAL"]
    assert "of rows would be unique by it in groups of 5" in guess.role_reason
    assert guess.drop or guess.coding is not None
    if guess.coding is not None:
        assert groups.made_unique([codes // int(guess.coding.bands // 10_000)]) <= 0.2


def test_columns_that_are_harmless_alone_are_counted_together():
    draw = np.random.default_rng(7)
    bits = {f"zq{at}": draw.choice(["p", "q"], ROWS, p=[0.7, 0.3]) for at in range(4)}
    found = infer(people(**bits), k=K)
    dropped = [name for name in bits if found[name].drop]
    assert 0 < len(dropped) < 4
    assert "with the other exact columns" in found[dropped[0]].role_reason


@pytest.mark.parametrize("share", [0.5, 0.8, 0.95])
def test_one_random_column_of_two_values_stays(share):
    words = np.random.default_rng(8).choice(["p", "q"], ROWS, p=[share, 1 - share])
    guess = infer(people(zyx=words), k=K)["zyx"]
    assert (guess.role, guess.drop, guess.coding) == (Role.INSENSITIVE, False, None)


def test_no_proposal_leaves_a_rare_value_exact():
    draw = np.random.default_rng(9)
    for _ in range(10):
        sizes = draw.integers(2, 400, 6)
        more = {f"x{at}": draw.zipf(1.7, ROWS) % size for at, size in enumerate(sizes)}
        policy = Policy.parse(propose(people(**more), path=None).text)
        for name in policy.names(Role.INSENSITIVE, Role.WEIGHT):
            said = policy.column(name)
            shown = Counter(_published(int(value), said) for value in more[name])
            assert min(shown.values()) >= K


def test_the_columns_step_of_the_studio_tells_the_same_reason():
    record = profile_record(infer(people(hospvis=visits()), k=K))
    reason = record["columns"]["hospvis"]["role_reason"]
    assert "values have fewer than 5 rows" in reason
    assert reason in propose(people(hospvis=visits()), path=None).text
