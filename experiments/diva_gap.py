"""How far DIVA is from the best possible release, on tables small enough to try all.

Usage: python -m experiments.diva_gap [NUMBER]

Random tables of up to eight rows, two or three columns and one to three constraints.
Trying everything means all partitions into groups of k rows or more, and in each every
way to hide values that constraints name.
"""

from __future__ import annotations

import sys

import numpy as np

from sfumato.algorithms.diva.diva import STRATEGIES, Diva
from sfumato.errors import InfeasibleError, SearchError
from tests.unit.algorithms.diva_cases import Case, drawn, fewest_stars, stars_of


def stars(case: Case, strategy: str, tries: int) -> int | None:
    """The stars of an answer, checked by definition; None if there is none."""
    algorithm = Diva(strategy=strategy, loss="stars", tries=tries)
    try:
        grouping = algorithm.solve(case.request()).grouping
    except InfeasibleError:
        return None
    except SearchError:
        return -1
    found, met, smallest = stars_of(case, grouping)
    if not met or smallest < case.k:
        raise SystemExit("An answer breaks a requirement.")
    return found


def main(number: int) -> None:
    """Draw cases, try everything, and compare."""
    generator = np.random.default_rng(11)
    cases = [drawn(generator) for _ in range(number)]
    best = [fewest_stars(case) for case in cases]
    sys.stdout.write(
        f"{number} tables, {sum(each is not None for each in best)} can be released\n"
    )
    for tries in (1, 20):
        for strategy in STRATEGIES:
            found = [stars(case, strategy, tries) for case in cases]
            report(f"{strategy}, {tries} answers compared", found, best)


def report(name: str, found: list[int | None], best: list[int | None]) -> None:
    """Agreement on what is possible, and the gap in stars."""
    pairs = list(zip(found, best, strict=True))
    agree = sum((f is None) == (b is None) and f != -1 for f, b in pairs)
    gaps = np.array([f / b - 1 for f, b in pairs if f is not None and b])
    without = [f for f, b in pairs if f is not None and b == 0]
    sys.stdout.write(
        f"{name:32} agrees on {agree} of {len(pairs)}; gap: median {np.median(gaps):.1%}, "
        f"mean {gaps.mean():.1%}, nine of ten within {np.quantile(gaps, 0.9):.1%}, "
        f"best {np.mean(gaps == 0):.0%}; of {len(without)} that need no star, "
        f"{without.count(0)} have none\n"
    )
    sys.stdout.flush()


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 200)
