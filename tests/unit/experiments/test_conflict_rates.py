"""Sets of DIVA's constraints, built for a conflict rate."""

import numpy as np
import pyarrow as pa
import pytest

from experiments.diva_sources import Data, Overlaps, combined
from sfumato.algorithms.diva.constraint_targets import Sigma

K = 5


@pytest.fixture(scope="module")
def towns() -> Data:
    """Each town lies in one of three lands, and 60 or more rows share a pair of values."""
    random = np.random.default_rng(1)
    town = random.integers(0, 9, 4000)
    cells = {
        "land": [f"land {t // 3}" for t in town],
        "town": [f"town {t}" for t in town],
        "sex": random.choice(["f", "m"], 4000).tolist(),
    }
    return Data("towns", pa.table(cells), ("land", "town", "sex"))


def test_combinations_ask_for_the_rows_that_have_them(towns):
    pool = combined(towns, ("land", "sex"))
    assert [sorted(c.where) for c in pool[:5]] == [["land"]] * 3 + [["sex"]] * 2
    assert len(pool) == 3 + 2 + 6
    rows = sum(value == "land 0" for value in towns.table.column("land").to_pylist())
    assert pool[0].at_least <= rows <= pool[0].at_most


@pytest.mark.parametrize("goal", [0.0, 0.25, 0.5, 0.75, 1.0])
def test_a_set_has_about_the_conflict_rate_that_is_asked_for(towns, goal):
    pool = combined(towns, ("land", "town", "sex"))
    overlaps = Overlaps(towns.request(K, pool, 1), K)
    chosen = overlaps.near(goal, 4, np.random.default_rng(2))
    asked = [pool[place] for place in chosen]
    assert len(set(chosen.tolist())) == 4
    rate = Sigma.of(towns.request(K, asked, 1), k=K).conflict_rate
    assert rate == pytest.approx(overlaps.rate(chosen))
    assert rate == pytest.approx(goal, abs=0.02)
