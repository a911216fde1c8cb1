"""Try every algorithm × model × operator: `python -m tests.fuzz.combinations`.

The tests run a fixed part of the product; this runs all of it, on tables drawn anew.
"""

from __future__ import annotations

import argparse
import random
import sys
import time

from sfumato.testing.combination_checks import combinations, endings
from sfumato.testing.conformance_check import Check


def main() -> int:
    parser = argparse.ArgumentParser(
        prog="python -m tests.fuzz.combinations", description=__doc__
    )
    parser.add_argument("--minutes", type=float, default=30.0)
    parser.add_argument("--seed", default="", help="a fresh one unless given")
    options = parser.parse_args()
    seed = options.seed or str(int(time.time()))
    print(
        f"Combinations, seed {seed}, at most {options.minutes:g} minutes.", flush=True
    )
    return try_all(seed, until=time.monotonic() + 60 * options.minutes)


def try_all(seed: str, *, until: float) -> int:
    """Try all combinations in random order, or as many as time allows."""
    generator = random.Random(seed)
    checks = list(combinations(seed=generator.getrandbits(32)))
    generator.shuffle(checks)
    found = tried = 0
    while tried < len(checks) and time.monotonic() < until:
        found += _fails(checks[tried])
        tried += 1
    print(f"{tried} of {len(checks)} combinations, {found} findings.")
    for ending, number in endings().most_common():
        print(f"  {number:6} {ending}")
    return int(found > 0)


def _fails(check: Check) -> bool:
    try:
        check()
    except Exception as fault:
        print(f"FOUND {check.case}: {type(fault).__name__}: {fault}", flush=True)
        return True
    return False


if __name__ == "__main__":
    sys.exit(main())
