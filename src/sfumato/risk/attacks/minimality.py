"""Minimality: what the choice of groups reveals to an attacker who knows the algorithm."""

from __future__ import annotations

from dataclasses import dataclass
from time import monotonic
from typing import ClassVar

import numpy as np

from sfumato.algorithms.base import Progress
from sfumato.data.arrays import Codes, Floats
from sfumato.data.grouping import Grouping
from sfumato.data.rules import View
from sfumato.data.seeds import Seed
from sfumato.hierarchies.sensitive_axis import roll_up
from sfumato.risk.attacks.attribute import AttributeAttack
from sfumato.risk.attacks.base import AttackInput, AttackResult
from sfumato.risk.possible_worlds import (
    Published,
    Remake,
    Rerun,
    drawn_posteriors,
    exact_posteriors,
    guessed,
)

MOST_ROWS = 5_000
"""The largest table: the algorithm runs on it repeatedly, and more rows take too long."""


@dataclass(frozen=True, kw_only=True)
class Minimality(AttributeAttack):
    """Guess a sensitive value from the groups that the algorithm did not make.

    Knows: everybody's quasi-identifiers and other sensitive values, the policy and the
    algorithm.
    Success: the share of people whose value is guessed right. The algorithm runs on
    worlds in which the values of a group are assigned to its people differently, on all
    such worlds if they are few. Worlds that lead to other groups are ruled out. The
    worst figure is the largest chance that the attacker gives to a value.
    Baseline: guessing the commonest value of a person's group.
    Cost: it runs the algorithm up to 200 times, and comes after the other attacks. On
    3,000 rows that takes about half a minute with `mondrian`, minutes with `best`.
    Bound: none. `blind` and `simulatable` make groups that tell next to nothing.
    Reference: Wong, Fu, Wang and Pei 2007.
    """

    name: ClassVar[str] = "minimality"
    sentence: ClassVar[str] = "Ask why the groups are no smaller than they are."
    knows: ClassVar[str] = "everybody's quasi-identifiers, the policy and the algorithm"
    slow: ClassVar[str] = "runs the algorithm up to 200 times, which may take minutes"

    worlds: int = 200
    """How many worlds are tried."""

    def refusal(self, scene: AttackInput) -> str | None:
        if scene.rerun is None:
            return "groups made under a process model tell what its budget allows"
        if scene.pair.source_row is None:
            return "nothing says which row is whose (private/rows.parquet)"
        if scene.pair.rows > MOST_ROWS:
            return f"it runs the algorithm again and again; {MOST_ROWS:,} rows at most"
        return super().refusal(scene)

    def attack(self, scene: AttackInput, view: View) -> AttackResult:
        assert scene.rerun is not None
        rerun = scene.rerun()
        seen = _published(scene, rerun, view.column)
        seed, total = scene.seed.child("minimality"), min(seen.worlds(), self.worlds)
        remake = _counted(rerun.remake(view.column), total, scene.progress)
        if seen.worlds() <= self.worlds:
            beliefs = exact_posteriors(seen, remake, seed)
        else:
            beliefs = drawn_posteriors(seen, remake, seed, self.worlds)
        there = np.flatnonzero(seen.group >= 0)
        _, to_new = roll_up(rerun.request.sensitive[view.column].axis, view.level)
        truth = to_new[seen.values[there]]
        shares = _rolled(seen.shares()[there], to_new)
        found = _rolled(beliefs[there], to_new)
        return self.result(
            scene,
            guessed(found, truth),
            baseline=float(guessed(shares, truth).mean()) if len(truth) else 0.0,
            worst=float(found.max(initial=0.0)),
            column=view.column,
            rows=rerun.rows[there],
        )


def _counted(remake: Remake, total: int, progress: Progress) -> Remake:
    """The same, saying before each world which one it is, and how long the rest takes."""
    started, done = monotonic(), 0

    def counted(values: Codes, seed: Seed) -> Grouping:
        nonlocal done
        step = f"world {done + 1:,} of {total:,}"
        if done:
            left = (monotonic() - started) / done * (total - done)
            step += f", about {left:,.0f} s left"
        progress(step, done / total)
        done += 1
        return remake(values, seed)

    return counted


def _published(scene: AttackInput, rerun: Rerun, column: str) -> Published:
    """The published groups of the rows that the algorithm was given."""
    assert scene.published_row is not None
    row = scene.published_row[rerun.rows]
    group = np.where(row >= 0, scene.pair.groups[row], -1)
    return Published(Grouping.renumbered(group), rerun.values(column))


def _rolled(beliefs: Floats, to_new: Codes) -> Floats:
    """Beliefs about the nodes of a level, from those about values."""
    rolled = np.zeros((len(beliefs), int(to_new.max(initial=-1)) + 1))
    np.add.at(rolled.T, to_new[: beliefs.shape[1]], beliefs.T)
    return rolled
