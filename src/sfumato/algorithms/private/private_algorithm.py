"""What algorithms with a differential privacy guarantee share."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass, replace
from math import isfinite
from typing import Any, ClassVar

import numpy as np

from sfumato.algorithms.base import Algorithm, Request, Solution
from sfumato.data.arrays import Ints
from sfumato.data.rules import least_rows
from sfumato.dp.cost import Relation, per_row
from sfumato.dp.ledger import Ledger
from sfumato.dp.sampling import capped
from sfumato.errors import GuaranteeError, PolicyError, RefusedError
from sfumato.models.base import Scope
from sfumato.models.differential_privacy import DifferentialPrivacy


@dataclass(frozen=True, kw_only=True)
class PrivateAlgorithm(Algorithm):
    """An algorithm whose ledger certifies differential privacy.

    It charges the request's ledger, draws from a cryptographic source that no seed
    replays, and uses only declared axes.
    """

    certifies: ClassVar[frozenset[str]] = frozenset({DifferentialPrivacy.name})
    every_column: ClassVar[bool] = True
    """Whether the guarantee covers every published column, which are then all on
    declared axes; or only the cells of the quasi-identifiers."""
    synthetic: ClassVar[bool] = False
    """Whether its records are synthetic."""
    covers: ClassVar[str]
    """What of a release the guarantee covers, as a clause."""
    leaves_open: ClassVar[str]
    """What it does not cover, as a sentence."""

    rows_per_subject: int = 1
    """Rows of one subject that are used, where a subject column is declared; the cost
    per row is that much smaller."""

    def __post_init__(self) -> None:
        require(self.rows_per_subject >= 1, self, "rows_per_subject", "1 or more")
        whole(self, "rows_per_subject")

    @property
    def relation(self) -> Relation:
        """The neighbors that the guarantee is about."""
        return Relation.ADD_REMOVE

    def solve(self, request: Request) -> Solution:
        """Make a release within the ledger, or explain why it is impossible."""
        self.check(request)
        request.progress("private", 0.0)
        solution = self.search(request)
        self._self_check(request, solution)
        return solution

    def check(self, request: Request) -> None:
        """Refuse a request that the guarantee could not hold for."""
        if request.ledger is None:
            raise RefusedError(
                f"'{self.name}' needs a privacy budget, and the policy requires none.",
                hint='Add [[require]] with model = "differential-privacy" and epsilon.',
            )
        for coded in (*request.quasi, *request.beside):
            if coded.axis.fitted:
                raise RefusedError(
                    f"The hierarchy of '{coded.name}' is shaped by the data; under "
                    "differential privacy it may not be.",
                    hint="Declare intervals with bottom and top, a prefix, a calendar, "
                    "a file or a tree.",
                )
        self.check_models(request)
        super().check(request)

    @abstractmethod
    def check_models(self, request: Request) -> None:
        """Refuse requirements beside differential privacy that it cannot meet."""

    def least_rows(self, solution: Solution) -> int:
        """How many rows must share a published tuple for the guarantee to hold."""
        return 0

    def model(self, request: Request) -> DifferentialPrivacy:
        """The requirement whose budget is spent."""
        return next(m for m in request.process if isinstance(m, DifferentialPrivacy))

    def used(self, request: Request) -> tuple[Request, Ints]:
        """The request on the rows that subjects may contribute, and which they are."""
        if request.subject is None:
            return request, np.arange(request.rows)
        rows = capped(request.subject, self.rows_per_subject)
        return replace(request.only(rows), removable=request.removable), rows

    def row_account(self, request: Request) -> Ledger:
        """The account of single rows: a part of the subject's, where there is one."""
        ledger = ledger_of(request)
        if request.subject is None:
            return ledger
        budget = per_row(ledger.budget, size=self.rows_per_subject)
        return Ledger(budget=budget, relation=ledger.relation)

    def settle(self, request: Request, account: Ledger) -> None:
        """Record what single rows cost in the ledger of subjects."""
        if request.subject is not None:
            ledger_of(request).settle_subjects(
                "all rows of one subject", account, size=self.rows_per_subject
            )

    def _self_check(self, request: Request, solution: Solution) -> None:
        """Fail early, by name, if a search broke its promise; `verify` checks again."""
        if solution.synthetic is not None:
            return
        # What cells show is not known to the request where levels are not its own.
        models = tuple(model for model in request.models if not model.counts_values)
        judged = replace(request, models=models)
        for model in models:
            if not judged.meets(model, solution.grouping).holds:
                raise GuaranteeError(f"'{self.name}' returned groups beyond {model}.")


def ledger_of(request: Request) -> Ledger:
    """The ledger of a request that was checked to have one."""
    if request.ledger is None:
        raise GuaranteeError("A private algorithm ran without a ledger.")
    return request.ledger


def asked_rows(request: Request) -> int:
    """The smallest group that the requirements beside the process model allow."""
    return least_rows(request.rules())


def refuse_beyond_groups(algorithm: Algorithm, request: Request) -> None:
    """Refuse models that need more than single published groups to be judged."""
    for model in request.models:
        if model.counts_values:
            raise RefusedError(
                f"'{algorithm.name}' cannot be sure to keep {model.name}: how many rows "
                "show a value is decided by the rows, outside its guarantee.",
                hint="Set algorithm.name to 'safepub', which tests constraints within "
                "the budget, or to 'diva', without differential privacy.",
            )
        if model.scope is not Scope.GROUP:
            raise RefusedError(
                f"'{algorithm.name}' cannot enforce {model.name}, which judges more "
                "than single groups.",
                hint="Remove it, or use an algorithm without differential privacy.",
            )
        if getattr(model, "reference", None) == "source":
            raise RefusedError(
                f"{model.name} would publish how groups compare with the source, which "
                "no budget pays for.",
                hint='Set reference = "published".',
            )


def require(good: bool, algorithm: Algorithm, option: str, expected: str) -> None:
    """Refuse an option's value, by name."""
    if not good:
        raise PolicyError(
            f"{algorithm.name}: '{option}' is {getattr(algorithm, option)!r}.",
            hint=f"It must be {expected}.",
        )


def whole(algorithm: Algorithm, option: str) -> None:
    """Refuse an option that is not a whole number."""
    value: Any = getattr(algorithm, option)
    good = isinstance(value, int) and not isinstance(value, bool)
    require(good, algorithm, option, "a whole number")


def share(algorithm: Algorithm, option: str) -> None:
    """Refuse an option that is not a share above 0."""
    value: Any = getattr(algorithm, option)
    number = isinstance(value, int | float) and not isinstance(value, bool)
    good = number and isfinite(value) and 0 < value <= 1
    require(good, algorithm, option, "a share above 0, at most 1")
