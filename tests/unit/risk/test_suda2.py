"""SUDA2 agrees with its definition and with values that others published.

The published ones are the test values of sdcMicro 5.8 on its own data, and the table of
scores in the SDC Practice Guide of the World Bank (section on SUDA).
"""

from itertools import combinations

import numpy as np
import pandas as pd
import pytest

from sfumato.risk.figures.suda2 import set_weights, suda2

KEYS = ["urbrur", "roof", "walls", "water", "electcon", "relat", "sex"]
GUIDE = pd.DataFrame(
    {
        "residence": list("UUUURUUUUU"),
        "gender": list("FFFMFMFMFF"),
        "education": ["SI", "SI", "PI", "SC", "SC", "SC", "PC", "PS", "SI", "SI"],
        "labor": list("EENEUENUNN"),
    }
)


def coded(frame):
    return {
        name: pd.factorize(frame[name], sort=True)[0].astype(np.int32) for name in frame
    }


@pytest.fixture(scope="module")
def testdata2(shared_data):
    return pd.read_csv(shared_data / "sdcmicro" / "testdata2.csv")


def test_the_first_record_of_testdata2_scores_180(testdata2):
    assert suda2(coded(testdata2[KEYS])).score[0] == 180


def test_the_first_record_of_testdata2_scores_2_on_five_keys(testdata2):
    keys = ["urbrur", "roof", "walls", "water", "sex"]
    assert suda2(coded(testdata2[keys])).score[0] == 2


def test_the_first_record_of_testdata2_scores_2_73_as_the_ihsn_counts(testdata2):
    found = suda2(coded(testdata2[KEYS]), scoring="ihsn")
    assert round(found.score[0], 2) == 2.73


def test_the_scores_of_the_practice_guide():
    assert suda2(coded(GUIDE), largest=3).score.tolist() == [
        *(0, 0, 6, 0, 12, 0, 6, 10, 0, 0)
    ]


def test_the_dis_scores_of_the_practice_guide():
    found = suda2(coded(GUIDE), scoring="ihsn", fraction=0.01).dis.round(4)
    assert found.tolist() == [0, 0, 0.0051, 0, 0.0107, 0, 0.0051, 0.0088, 0, 0]


def test_the_scores_of_the_book_example():
    frame = pd.DataFrame(
        {
            "age": ["20s"] * 7 + ["60s"],
            "gender": ["m"] * 4 + ["f"] * 3 + ["m"],
            "income": ["50k+"] * 2 + ["50k-"] * 6,
            "education": ["h"] * 4 + ["u", "h", "m", "u"],
        }
    )
    assert suda2(coded(frame)).score[4:].tolist() == [4, 2, 6, 8]


@pytest.mark.parametrize("order", ["abc", "acb", "cab", "cba"])
def test_the_contributions_of_columns_do_not_depend_on_their_order(order):
    frame = pd.DataFrame({"a": [2, 1, 1], "b": [0, 3, 0], "c": [0, 6, 0]})
    found = suda2(coded(frame[list(order)])).contributions
    assert found == {name: {"a": 0.5, "b": 0.375, "c": 0.375}[name] for name in order}


def minimal_sets(rows, columns, largest):
    """By definition: the minimal unique sets of columns of each row."""
    found = []
    for row in rows:
        unique = [
            set(chosen)
            for size in range(1, largest + 1)
            for chosen in combinations(range(columns), size)
            if sum(all(other[c] == row[c] for c in chosen) for other in rows) == 1
        ]
        found.append([s for s in unique if not any(t < s for t in unique)])
    return found


@pytest.mark.parametrize("seed", range(12))
def test_scores_equal_the_definition_on_random_tables(seed):
    draw = np.random.default_rng(seed)
    columns = int(draw.integers(1, 6))
    largest = int(draw.integers(1, columns + 1))
    rows = draw.integers(0, draw.integers(2, 5), (int(draw.integers(1, 25)), columns))
    weight = set_weights(columns, largest, "elliot")
    expected = [
        sum(weight[len(s) - 1] for s in sets)
        for sets in minimal_sets(rows.tolist(), columns, largest)
    ]
    named = {str(c): rows[:, c].astype(np.int32) for c in range(columns)}
    assert suda2(named, largest=largest).score.tolist() == expected


def test_a_record_that_another_repeats_scores_nothing():
    twins = {"a": np.array([0, 0, 1], "i4"), "b": np.array([5, 5, 6], "i4")}
    assert suda2(twins).score.tolist() == [0, 0, 2]


def test_progress_ends_at_one():
    seen = []
    suda2(coded(GUIDE), progress=lambda _step, share: seen.append(share))
    assert seen[-1] == 1.0
    assert seen == sorted(seen)
