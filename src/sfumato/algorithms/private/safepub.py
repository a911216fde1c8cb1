"""SafePub: truthful, coarse rows of a sample, with differential privacy end to end."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from itertools import product
from math import ceil, prod
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from sfumato.algorithms.base import Request, Solution
from sfumato.algorithms.private.constraint_test import ConstraintTest
from sfumato.algorithms.private.private_algorithm import (
    PrivateAlgorithm,
    asked_rows,
    refuse_beyond_groups,
    require,
    share,
)
from sfumato.algorithms.private.shown_limits import within_limits
from sfumato.algorithms.private.shown_values import (
    levels_shown,
    refuse_impossible,
    rows_showing,
    shown_values,
)
from sfumato.data.arrays import Counts, Ints
from sfumato.data.grouping import SUPPRESSED, Grouping
from sfumato.data.option_examples import OptionExamples
from sfumato.data.published_cells import distinct_tuples, packed_key
from sfumato.dp.cost import Cost
from sfumato.dp.ledger import Ledger
from sfumato.dp.noisy_choice import Exponential
from sfumato.dp.sampling import poisson
from sfumato.dp.threshold import sampling_rate, smallest_group
from sfumato.errors import InfeasibleError, PolicyError, RefusedError
from sfumato.hierarchies.axis import CodedAxis
from sfumato.models.base import SensitiveModel

MOST_CANDIDATES = 2_000
PARTS = {"search": 0.0, "release": 1.0}
PARTS_WITH_CONSTRAINTS = {"search": 0.0, "constraints": 0.1, "release": 0.9}
SENSITIVITY = 1.0 + 2.0**-20
"""Of a candidate's score: 1, and what rounding may add to scores below 2**32."""

Levels = tuple[int, ...]


@dataclass(frozen=True, kw_only=True)
class SafePub(PrivateAlgorithm):
    """Draws rows, shows every column at a fixed level, and keeps what k rows share.

    Guarantee: the whole release is (ε, δ)-differentially private under added or removed
        rows. Every row that is published is a true one.
    Method: a Poisson sample of rate β = 1 − e^−ε; every published column, sensitive
        ones too, at a level that the data does not decide (or that the exponential
        mechanism decides, within the budget); rows whose published tuple occurs fewer
        than k times are left out, with the smallest k for which the exact tail sum of
        the binomial distribution is at most δ: 74 for (1, 1e-6). Diversity constraints
        are tested before rows are drawn, by noisy counts within the budget: a test that
        is passed is followed by a release that meets them with `confidence`.
    Cost: one pass over the distinct tuples; with a search, one per candidate.
    Limits: needs δ above 0, and far larger groups than k-anonymity.
        `max_suppressed` does not apply: how much is left out follows from the budget.
    Reference: Li, Qardaji and Su 2012; Bild, Kuhn and Prasser 2018.
    """

    name: ClassVar[str] = "safepub"
    sentence: ClassVar[str] = (
        "Publishes true rows of a sample at fixed levels, where enough rows are alike."
    )
    examples: ClassVar[OptionExamples] = (
        {"rows_per_subject": 2, "sample": 0.3, "confidence": 0.9},
    )
    covers: ClassVar[str] = "the whole release"
    leaves_open: ClassVar[str] = (
        "Nothing of the release is outside the guarantee; what is in private/ is."
    )

    levels: Mapping[str, int] | None = None
    """The level of each column; left out: the middle of its hierarchy, rounded up."""
    sample: float | None = None
    """The share of rows that is drawn; left out: the highest that epsilon allows."""
    confidence: float = 0.95
    """How sure it must be, before rows are drawn, that the release will meet the lower
    bounds of diversity constraints."""

    def __post_init__(self) -> None:
        super().__post_init__()
        share(self, "confidence")
        require(self.confidence < 1, self, "confidence", "above 0, below 1")
        if self.sample is not None:
            share(self, "sample")
        for level in (self.levels or {}).values():
            good = type(level) is int and level >= 0
            require(good, self, "levels", "a table of whole numbers from 0")

    def check_models(self, request: Request) -> None:
        others = [model for model in request.models if not model.counts_values]
        refuse_beyond_groups(self, replace(request, models=tuple(others)))
        for model in request.models:
            if isinstance(model, SensitiveModel):
                raise RefusedError(
                    f"'safepub' counts sensitive values among the cells; {model.name} "
                    "has nothing to judge.",
                    hint="Remove the requirement: differential privacy covers every "
                    "column.",
                )
        if others and request.subject is not None and self.rows_per_subject > 1:
            raise RefusedError(
                f"{others[0].name} counts subjects, which 'safepub' does not "
                f"publish; up to {self.rows_per_subject:,} rows of each are used.",
                hint="Set rows_per_subject = 1, or remove the requirement.",
            )
        wanted = self.model(request)
        if wanted.delta <= 0:
            raise RefusedError(
                "'safepub' needs delta above 0; delta is 0.",
                hint="Set delta of differential-privacy, such as 1e-6.",
            )
        shares = self._shares(request)
        if self.levels is not None and shares["search"] > 0:
            raise PolicyError(
                "safepub: 'levels' are given, and budget has a share for 'search'.",
                hint="Give one of the two.",
            )
        values = shown_values(request.models)
        axes = (*request.quasi, *request.beside)
        self._levels(axes, levels_shown(axes, values))
        k = self._smallest(self._release(request), request)
        refuse_impossible(values, k=k)
        if shares.get("constraints", 1.0) <= 0:
            raise PolicyError(
                "No budget is left to test the diversity constraints.",
                hint="Give budget.constraints a share above 0.",
            )

    def search(self, request: Request) -> Solution:
        used, rows = self.used(request)
        account = self.row_account(request)
        axes = (*used.quasi, *used.beside)
        release = self._release(request)
        rate, k = self._rate(release), self._smallest(release, request)
        values = shown_values(request.models)
        test = self._test(request, account, used.rows)
        levels = self._chosen_levels(request, axes, account, test)
        if test is not None:
            test.insist(_safe_rows(test, axes, levels), account)
        sample = self._publish(axes, levels, rate, k, release, account)
        self.settle(request, account)
        shown = [(v, rows_showing(axes, levels, v.target)) for v in values]
        group_of, count = within_limits(*sample, shown, k=k)
        _refuse_delta(release.delta, int((group_of != SUPPRESSED).sum()), rate)
        whole = np.full(request.rows, SUPPRESSED, dtype=np.int32)
        whole[rows] = group_of
        names = (axis.name for axis in axes)
        return Solution(
            grouping=Grouping(
                whole, count, np.tile(np.array(levels, dtype=np.int16), (count, 1))
            ),
            facts={
                "k": k,
                "sampling_rate": rate,
                "levels": dict(zip(names, levels, strict=True)),
                **(self._test_facts(request) if test is not None else {}),
            },
            quasi=(*request.quasi, *request.beside),
        )

    def _shares(self, request: Request) -> dict[str, float]:
        """The share of epsilon of each part; constraints have one where they are tested."""
        tested = any(value.tested for value in shown_values(request.models))
        parts = PARTS_WITH_CONSTRAINTS if tested else PARTS
        return self.model(request).shares(parts)

    def _test(
        self, request: Request, account: Ledger, rows: int
    ) -> ConstraintTest | None:
        """The test of the constraints, where there are lower bounds."""
        values = tuple(v for v in shown_values(request.models) if v.tested)
        if not values:
            return None
        release = self._release(request)
        test = ConstraintTest(
            values=values,
            epsilon=account.budget.epsilon * self._shares(request)["constraints"],
            confidence=self.confidence,
            k=self._smallest(release, request),
            rate=self._rate(release),
        )
        if not test.with_shares:
            return test
        return replace(test, rows=test.count_rows(rows, account))

    def _test_facts(self, request: Request) -> dict[str, Any]:
        cost = self.model(request).cost.epsilon * self._shares(request)["constraints"]
        return {"confidence": self.confidence, "epsilon_of_constraints": cost}

    def _chosen_levels(
        self,
        request: Request,
        axes: tuple[CodedAxis, ...],
        account: Ledger,
        test: ConstraintTest | None,
    ) -> Levels:
        """The levels that are given, or those that the exponential mechanism chooses."""
        allowed = levels_shown(axes, shown_values(request.models))
        shares = self._shares(request)
        if shares["search"] <= 0:
            return self._levels(axes, allowed)
        budget = account.budget.epsilon * shares["search"]
        choice = Exponential(epsilon=budget, sensitivity=SENSITIVITY)
        k = self._smallest(self._release(request), request)
        return _searched(axes, k, choice, account, allowed, test)

    def least_rows(self, solution: Solution) -> int:
        return int(solution.facts["k"])

    def _release(self, request: Request) -> Cost:
        """What drawing and publishing may cost per row."""
        budget = self.row_account(request).budget
        return Cost(budget.epsilon * self._shares(request)["release"], budget.delta)

    def _rate(self, release: Cost) -> float:
        highest = sampling_rate(release.epsilon)
        if self.sample is not None and self.sample > highest:
            raise RefusedError(
                f"epsilon {release.epsilon:g} allows a sample of {highest:.6g}; "
                f"'sample' is {self.sample:g}.",
                hint="Leave 'sample' out, or raise epsilon.",
            )
        return highest if self.sample is None else self.sample

    def _smallest(self, release: Cost, request: Request) -> int:
        """The k that (ε, δ) demands, or a larger one that is asked for besides."""
        asked = asked_rows(request)
        return max(smallest_group(release, rate=self._rate(release)), asked)

    def _levels(self, axes: tuple[CodedAxis, ...], allowed: list[list[int]]) -> Levels:
        """The levels of the policy; `allowed` are those that show what must be shown."""
        given = self.levels or {}
        strange = sorted(set(given) - {coded.name for coded in axes})
        if strange:
            raise PolicyError(
                f"safepub: 'levels' names '{strange[0]}', which is not published.",
                hint=f"Published are: {', '.join(coded.name for coded in axes)}.",
            )
        return tuple(
            self._level(coded, given, shown)
            for coded, shown in zip(axes, allowed, strict=True)
        )

    def _level(
        self, coded: CodedAxis, given: Mapping[str, int], allowed: list[int]
    ) -> int:
        top = coded.axis.height - 1
        usual = ceil(top / 2) if len(allowed) > top else max(allowed)
        level = given.get(coded.name, usual)
        if level > top:
            raise PolicyError(
                f"safepub: 'levels' asks for level {level} of '{coded.name}', which has "
                f"levels 0 to {top}.",
                hint="Level 0 shows values, the last one '*'.",
            )
        if level not in allowed:
            raise RefusedError(
                f"diversity asks for a value of '{coded.name}' that its level {level} "
                "does not show.",
                hint=f"Set its level to {allowed[0]}, or leave it out of 'levels'.",
            )
        return level

    def _publish(
        self,
        axes: tuple[CodedAxis, ...],
        levels: Levels,
        rate: float,
        k: int,
        cost: Cost,
        account: Ledger,
    ) -> tuple[npt.NDArray[np.int32], int]:
        """Charge, draw, count and leave out."""
        account.charge(
            f"rows that at least {k} rows share, from a sample",
            cost,
            rows=f"a sample, each row with probability {rate:.6g}",
        )
        rows = len(axes[0].codes)
        drawn = poisson(rows, rate)
        groups = _tuples(axes, levels, drawn)
        sizes = np.bincount(groups, minlength=1)
        enough = sizes >= k
        if not enough.any():
            raise InfeasibleError(
                f"differential-privacy: no published tuple is shared by {k:,} drawn rows; "
                f"the largest group has {int(sizes.max(initial=0)):,}.",
                hint="Raise the levels, or epsilon and delta.",
            )
        number = np.where(enough, np.cumsum(enough) - 1, SUPPRESSED).astype(np.int32)
        group_of = np.full(rows, SUPPRESSED, dtype=np.int32)
        group_of[drawn] = number[groups]
        return group_of, int(enough.sum())


def _refuse_delta(delta: float, published: int, rate: float) -> None:
    """Refuse a δ large enough to publish a row outright.

    Judged by the rows that the guarantee covers already: a refusal based on the true
    number of rows would reveal that number, which the budget does not cover.
    """
    if delta * published / rate >= 1:
        raise RefusedError(
            f"delta is {delta:g}: where {published} rows are published, so large a "
            "delta may reveal one of them outright.",
            hint="Set delta far below 1 / rows.",
        )


def _tuples(axes: tuple[CodedAxis, ...], levels: Levels, rows: Ints) -> Ints:
    """The number of each row's published tuple."""
    return np.unique(_key(_shown(axes, levels, rows)), return_inverse=True)[1]


def _shown(
    axes: tuple[CodedAxis, ...], levels: Levels, rows: Ints
) -> list[npt.NDArray[np.int32]]:
    return [
        coded.axis.levels[level][coded.codes[rows]]
        for coded, level in zip(axes, levels, strict=True)
    ]


def _key(columns: list[npt.NDArray[np.int32]]) -> Ints:
    return packed_key([c - c.min(initial=0) for c in columns], len(columns[0]))


def _safe_rows(
    test: ConstraintTest, axes: tuple[CodedAxis, ...], levels: Levels
) -> Counts:
    every = np.arange(len(axes[0].codes))
    groups = _tuples(axes, levels, every)
    return test.safe_rows(axes, levels, groups, np.ones_like(every))


def _searched(
    axes: tuple[CodedAxis, ...],
    k: int,
    choice: Exponential,
    account: Ledger,
    allowed: list[list[int]],
    test: ConstraintTest | None,
) -> Levels:
    """Levels chosen by the exponential mechanism: precision of the rows that remain.

    A candidate's score is its rows in groups of k or more, each worth the share of
    precision that the levels leave, over k: a row more or less moves a group of k rows
    across the limit at most, so that scores have sensitivity 1. Where constraints are
    tested, the score is at most what they have to spare, which has sensitivity 1
    too: levels that would fail the test are worth less than any that would not.
    """
    if prod(map(len, allowed)) > MOST_CANDIDATES:
        raise RefusedError(
            f"{len(allowed):,} quasi-identifiers have more than {MOST_CANDIDATES:,} "
            "combinations of levels, too many to choose from.",
            hint="Give 'levels', or use shorter hierarchies.",
        )
    candidates = list(product(*allowed))
    account.charge(
        f"one of {len(candidates)} combinations of levels", choice.cost, rows="all rows"
    )
    distinct, counts = _collapsed(axes)
    scores = [_score(distinct, counts, levels, k, test) for levels in candidates]
    return candidates[choice.select(scores)]


def _collapsed(axes: tuple[CodedAxis, ...]) -> tuple[tuple[CodedAxis, ...], Ints]:
    """The distinct tuples of the rows, and how often each occurs."""
    codes = [coded.codes for coded in axes]
    number, cells = distinct_tuples(codes, len(codes[0]))
    columns = (
        CodedAxis(coded.axis, np.ascontiguousarray(cells[:, place]))
        for place, coded in enumerate(axes)
    )
    return tuple(columns), np.bincount(number, minlength=len(cells))


def _score(
    distinct: tuple[CodedAxis, ...],
    counts: Ints,
    levels: Levels,
    k: int,
    test: ConstraintTest | None = None,
) -> float:
    groups = _tuples(distinct, levels, np.arange(len(counts)))
    sizes = np.bincount(groups, weights=counts, minlength=1)
    kept = float(sizes[sizes >= k].sum())
    score = kept / k * _precision(distinct, levels)
    if test is None:
        return score
    return min(score, test.spare(test.safe_rows(distinct, levels, groups, counts)))


def _precision(axes: tuple[CodedAxis, ...], levels: Levels) -> float:
    """1 less the mean generalized loss of the levels over the declared domain."""
    losses: list[Any] = [
        coded.axis.node_loss[coded.axis.levels[level]].mean()
        for coded, level in zip(axes, levels, strict=True)
    ]
    return float(1.0 - np.mean(losses))
