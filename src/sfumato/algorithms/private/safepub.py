"""SafePub: truthful, coarse rows of a sample, with differential privacy end to end."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import product
from math import ceil, prod
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from sfumato.algorithms.base import Request, Solution
from sfumato.algorithms.private.private_algorithm import (
    PrivateAlgorithm,
    asked_rows,
    refuse_beyond_groups,
    require,
    share,
)
from sfumato.data.arrays import Ints
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
        the binomial distribution is at most δ: 74 for (1, 1e-6).
    Cost: one pass over the distinct tuples; with a search, one per candidate.
    Limits: needs δ above 0, and groups far larger than k-anonymity would.
        `max_suppressed` does not apply: how much is left out follows from the budget.
    Reference: Li, Qardaji and Su 2012; Bild, Kuhn and Prasser 2018.
    """

    name: ClassVar[str] = "safepub"
    sentence: ClassVar[str] = (
        "Publishes true rows of a sample at fixed levels, where enough rows are alike."
    )
    examples: ClassVar[OptionExamples] = ({"rows_per_subject": 2, "sample": 0.3},)
    covers: ClassVar[str] = "the whole release"
    leaves_open: ClassVar[str] = (
        "Nothing of the release is outside the guarantee; what is in private/ is."
    )

    levels: Mapping[str, int] | None = None
    """The level of each column; left out: the middle of its hierarchy, rounded up."""
    sample: float | None = None
    """The share of rows that is drawn; left out: the highest that epsilon allows."""

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.sample is not None:
            share(self, "sample")
        for level in (self.levels or {}).values():
            good = type(level) is int and level >= 0
            require(good, self, "levels", "a table of whole numbers from 0")

    def check_models(self, request: Request) -> None:
        refuse_beyond_groups(self, request)
        for model in request.models:
            if isinstance(model, SensitiveModel):
                raise RefusedError(
                    f"'safepub' counts sensitive values among the cells; {model.name} "
                    "has nothing to judge.",
                    hint="Remove the requirement: differential privacy covers every "
                    "column.",
                )
        if request.models and request.subject is not None and self.rows_per_subject > 1:
            raise RefusedError(
                f"{request.models[0].name} counts subjects, which 'safepub' does not "
                f"publish; up to {self.rows_per_subject} rows of each are used.",
                hint="Set rows_per_subject = 1, or remove the requirement.",
            )
        wanted = self.model(request)
        if wanted.delta <= 0:
            raise RefusedError(
                "'safepub' needs delta above 0; delta is 0.",
                hint="Set delta of differential-privacy, such as 1e-6.",
            )
        if self.levels is not None and wanted.shares(PARTS)["search"] > 0:
            raise PolicyError(
                "safepub: 'levels' are given, and budget has a share for 'search'.",
                hint="Give one of the two.",
            )
        self._levels((*request.quasi, *request.beside))
        self._smallest(self._release(request), request)

    def search(self, request: Request) -> Solution:
        used, rows = self.used(request)
        account = self.row_account(request)
        axes = (*used.quasi, *used.beside)
        shares = self.model(request).shares(PARTS)
        release = self._release(request)
        rate, k = self._rate(release), self._smallest(release, request)
        levels = self._levels(axes)
        if shares["search"] > 0:
            budget = account.budget.epsilon * shares["search"]
            choice = Exponential(epsilon=budget, sensitivity=SENSITIVITY)
            levels = _searched(axes, k, choice, account)
        group_of, count = self._publish(axes, levels, rate, k, release, account)
        self.settle(request, account)
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
            },
            quasi=(*request.quasi, *request.beside),
        )

    def least_rows(self, solution: Solution) -> int:
        return int(solution.facts["k"])

    def _release(self, request: Request) -> Cost:
        """What drawing and publishing may cost per row."""
        budget, shares = self.row_account(request).budget, self.model(request).shares
        return Cost(budget.epsilon * shares(PARTS)["release"], budget.delta)

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

    def _levels(self, axes: tuple[CodedAxis, ...]) -> Levels:
        given = self.levels or {}
        strange = sorted(set(given) - {coded.name for coded in axes})
        if strange:
            raise PolicyError(
                f"safepub: 'levels' names '{strange[0]}', which is not published.",
                hint=f"Published are: {', '.join(coded.name for coded in axes)}.",
            )
        return tuple(self._level(coded, given) for coded in axes)

    def _level(self, coded: CodedAxis, given: Mapping[str, int]) -> int:
        top = coded.axis.height - 1
        level = given.get(coded.name, ceil(top / 2))
        if level > top:
            raise PolicyError(
                f"safepub: 'levels' asks for level {level} of '{coded.name}', which has "
                f"levels 0 to {top}.",
                hint="Level 0 shows values, the last one '*'.",
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
                f"differential-privacy: no published tuple is shared by {k} drawn rows; "
                f"the largest group has {int(sizes.max(initial=0))}.",
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


def _searched(
    axes: tuple[CodedAxis, ...], k: int, choice: Exponential, account: Ledger
) -> Levels:
    """Levels chosen by the exponential mechanism: precision of the rows that remain.

    A candidate's score is its rows in groups of k or more, each worth the share of
    precision that the levels leave, over k: a row more or less moves a group of k rows
    across the limit at most, so that scores have sensitivity 1.
    """
    heights = [coded.axis.height for coded in axes]
    if prod(heights) > MOST_CANDIDATES:
        raise RefusedError(
            f"{len(heights)} quasi-identifiers have more than {MOST_CANDIDATES} "
            "combinations of levels, too many to choose from.",
            hint="Give 'levels', or use shorter hierarchies.",
        )
    candidates = list(product(*(range(height) for height in heights)))
    account.charge(
        f"one of {len(candidates)} combinations of levels", choice.cost, rows="all rows"
    )
    distinct, counts = _collapsed(axes)
    scores = [_score(distinct, counts, levels, k) for levels in candidates]
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
    distinct: tuple[CodedAxis, ...], counts: Ints, levels: Levels, k: int
) -> float:
    groups = _tuples(distinct, levels, np.arange(len(counts)))
    sizes = np.bincount(groups, weights=counts, minlength=1)
    kept = float(sizes[sizes >= k].sum())
    return kept / k * _precision(distinct, levels)


def _precision(axes: tuple[CodedAxis, ...], levels: Levels) -> float:
    """1 less the mean generalized loss of the levels over the declared domain."""
    losses: list[Any] = [
        coded.axis.node_loss[coded.axis.levels[level]].mean()
        for coded, level in zip(axes, levels, strict=True)
    ]
    return float(1.0 - np.mean(losses))
