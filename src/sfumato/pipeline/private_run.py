"""Run under a process model: refuse early, charge first, use only declared axes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from math import exp
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from sfumato.algorithms.base import Algorithm, Request, Solution
from sfumato.algorithms.private.private_algorithm import PrivateAlgorithm
from sfumato.data.schema import Role
from sfumato.data.seeds import Seed
from sfumato.data.table import Table
from sfumato.dp.account import Account, Balance
from sfumato.dp.cost import Cost, Relation, Unit
from sfumato.dp.ledger import Ledger
from sfumato.dp.mechanism import opendp
from sfumato.errors import GuaranteeError, PolicyError, RefusedError, SfumatoError
from sfumato.hierarchies.axis import CodedAxis
from sfumato.hierarchies.declared_domain import Declared, declared_axis, refuse_fitted
from sfumato.models.base import ProcessModel, Verdict
from sfumato.pipeline.code_table import CODED
from sfumato.pipeline.declared_cells import (
    check_cells,
    fitted_columns,
    refuse_unread_types,
)
from sfumato.pipeline.run import Run
from sfumato.policy import Policy
from sfumato.publish.base import Draft, Operator

NEIGHBORS = {
    Relation.ADD_REMOVE: "one table has {one} that another lacks",
    Relation.SUBSTITUTION: "two tables of one size differ in {one}",
}
ALONE = (
    "No ledger is shared with other releases: the costs of repeated runs, and of other "
    "releases about the same people, add up."
)
TOGETHER = "Charged to a ledger that all releases about these people share."


@dataclass(frozen=True, eq=False, kw_only=True)
class Certificate:
    """What certifies a process model: the requirement, the algorithm, and the ledger."""

    model: ProcessModel
    algorithm: PrivateAlgorithm
    ledger: Ledger
    balance: Balance | None
    """The balance of the ledger file after this release was charged."""
    subjects: bool

    @contextmanager
    def telling_charge(self) -> Iterator[None]:
        """Let every error say that the ledger file was charged before it."""
        try:
            yield
        except SfumatoError as fault:
            if self.balance is not None:
                cost = self.model.cost
                fault.also(
                    f"The ledger was charged epsilon {cost.epsilon:g}, delta "
                    f"{cost.delta:g} before this run used any cell; this stays spent."
                )
            raise

    def verdict(self) -> Verdict:
        """Judge the requirement by the ledger."""
        return self.model.certify(self.ledger)

    def insist(self, solution: Solution, published: npt.NDArray[np.int64]) -> None:
        """Stop if the run overspent, or if a published tuple has too few rows.

        `published` has the rows of each distinct published tuple.
        """
        least = self.algorithm.least_rows(solution)
        smallest = int(published.min(initial=least))
        if smallest < least:
            raise GuaranteeError(
                f"A published tuple has {smallest:,} rows; {self.model} rests on "
                f"{least:,}.",
                hint="Nothing was written. Please report this with the policy.",
            )
        if not self.verdict().holds:
            raise GuaranteeError(
                f"The run spent {self.ledger.spent}; {self.model} was asked for.",
                hint="Nothing was written. Please report this with the policy.",
            )

    def sentence(self) -> str:
        """The guarantee in one sentence."""
        cost, delta = self.model.cost, self.ledger.spent.delta
        but = f", but for a probability of {delta:g}" if delta else ""
        return (
            f"Whenever {self.neighbors()}, any outcome of "
            f"{self.algorithm.covers} is at most e^{cost.epsilon:g} = "
            f"{exp(cost.epsilon):.4g} times as likely for one as for the other{but}."
        )

    def neighbors(self) -> str:
        """When two tables are neighbors, in words."""
        one = "one subject" if self.subjects else "one row"
        return NEIGHBORS[self.ledger.relation].format(one=one)

    def record(self) -> dict[str, Any]:
        """The manifest's entry about the guarantee."""
        return {
            "guarantee": self.sentence(),
            "neighbors": str(self.ledger.relation),
            "unit": "subject" if self.subjects else "row",
            "synthetic": self.algorithm.synthetic,
            "covers": self.algorithm.covers,
            "does_not_cover": self.algorithm.leaves_open,
            "epsilon": self.model.cost.epsilon,
            "delta": self.ledger.spent.delta,
            "ledger": self.ledger.record(),
            "across_releases": ALONE if self.balance is None else TOGETHER,
        }


def open_certificate(run: Run) -> Certificate | None:
    """Refuse what cannot be promised, charge the ledger file, and open a ledger.

    Returns None if no process model is required. What the check of cells tells is for
    the data steward alone.
    """
    policy, algorithm = run.policy, run.algorithm
    models = policy.process_models()
    if not models and not isinstance(algorithm, PrivateAlgorithm):
        return None
    model = _one_model(models, algorithm)
    if not isinstance(algorithm, PrivateAlgorithm):
        raise _no_guarantee(model, algorithm)
    _refuse_settings(policy, algorithm, run.operator, run.seed)
    policy.check_columns(run.source.column_names)
    for name in columns_on_axes(run, algorithm):
        refuse_fitted(declared_column(run, name))
    ledger = Ledger(budget=model.cost, relation=algorithm.relation)
    algorithm.check(_without_rows(run, algorithm, ledger))
    opendp()
    refuse_unread_types(_declared_columns(run), run.source)
    if policy.privacy.precheck != "off":
        _check_cells(run)
    return Certificate(
        model=model,
        algorithm=algorithm,
        ledger=ledger,
        balance=_charged(run, model.cost, algorithm.relation),
        subjects=bool(policy.names(Role.SUBJECT)),
    )


def _check_cells(run: Run) -> None:
    policy = run.policy
    dropped = policy.data.missing_as == "drop"
    check_cells(
        _declared_columns(run),
        run.source,
        drop=policy.names(Role.QUASI, Role.SENSITIVE) if dropped else (),
        strict=policy.privacy.precheck == "refuse",
    )


def declared_source(run: Run) -> pa.Table:
    """The source; under a process model, cells outside their domains are missing."""
    source = run.source
    if run.policy.process_models():
        for column in fitted_columns(_declared_columns(run), source):
            place = source.column_names.index(column.name)
            source = source.set_column(place, column.name, column.cells)
    return source


def outside_counts(run: Run) -> dict[str, int]:
    """How many cells of each column are outside its domain; private."""
    columns = fitted_columns(_declared_columns(run), run.source)
    return {column.name: column.outside for column in columns if column.outside}


def _declared_columns(run: Run) -> list[Declared]:
    """What is declared of all columns whose cells are coded."""
    whole = getattr(run.algorithm, "every_column", False)
    roles = (*CODED, Role.INSENSITIVE) if whole else CODED
    names = [n for n in run.source.column_names if run.policy.role(n) in roles]
    return [declared_column(run, name) for name in names]


def every_column(policy: Policy) -> bool:
    """Whether the policy's guarantee covers all published columns as cells."""
    if not policy.process_models():
        return False
    return bool(getattr(policy.algorithm_instance(), "every_column", False))


def _one_model(models: Sequence[ProcessModel], algorithm: Algorithm) -> ProcessModel:
    if not models:
        raise RefusedError(
            f"'{algorithm.name}' needs a privacy budget, and the policy requires none.",
            hint='Add [[require]] with model = "differential-privacy" and epsilon.',
        )
    if len(models) > 1:
        raise RefusedError(
            f"{len(models):,} requirements are about how the release is made; only "
            "one is allowed.",
            hint="Keep the one with the smallest epsilon and delta.",
        )
    if models[0].name not in algorithm.certifies:
        raise _no_guarantee(models[0], algorithm)
    return models[0]


def _no_guarantee(model: ProcessModel, algorithm: Algorithm) -> RefusedError:
    return RefusedError(
        f"'{algorithm.name}' does not provide {model.name}: it looks at the data without a "
        "ledger.",
        hint="Set algorithm.name to 'safepub', 'dp-synthesis' or 'dp-anonym'.",
    )


def _refuse_settings(
    policy: Policy, algorithm: PrivateAlgorithm, operator: Operator, seed: Seed
) -> None:
    if seed.insecure or seed.replayed:
        raise RefusedError(
            f"A seed is given, and '{algorithm.name}' draws noise that must not be "
            "repeatable.",
            hint="Leave --seed and --insecure-seed out.",
        )
    if policy.privacy.ledger is None and policy.privacy.epsilon is not None:
        raise PolicyError(
            "privacy.epsilon is the budget of all releases, but no ledger is named "
            "to keep track of it.",
            hint="Add privacy.ledger, or remove privacy.epsilon.",
        )
    if operator.name != "generalize" or getattr(operator, "numbers", "") == "mean":
        raise RefusedError(
            f"'{algorithm.name}' decides what its cells show; '{operator.name}' would "
            "show what the rows say.",
            hint='Set publish.operator = "generalize", with intervals or bounds.',
        )
    if policy.publish.order != "random":
        raise RefusedError(
            "The order of the source is not covered by differential privacy.",
            hint='Set publish.order = "random".',
        )
    dropped = policy.data.missing_as == "drop"
    if dropped and algorithm.relation is Relation.SUBSTITUTION:
        raise RefusedError(
            "Rows with missing values are dropped, so that substituting a row may "
            "change the number of rows.",
            hint='Set missing_as = "value", or sampling = "poisson".',
        )
    if policy.pseudonymized():
        raise RefusedError(
            "Pseudonyms tell rows apart, which differential privacy cannot cover.",
            hint="Drop the identifiers.",
        )


def _without_rows(run: Run, algorithm: PrivateAlgorithm, ledger: Ledger) -> Request:
    """Build the request of a table without rows: refusing it costs no budget."""
    policy = run.policy
    nothing = pa.chunked_array([pa.array([], pa.string())])
    wanted = columns_on_axes(run, algorithm)
    axes = [declared_axis(declared_column(run, name), nothing) for name in wanted]
    quasi = tuple(a for a in axes if policy.role(a.name) is Role.QUASI)
    subjects = bool(policy.names(Role.SUBJECT))
    return Request(
        quasi=quasi,
        beside=tuple(axes[len(quasi) :]),
        models=policy.models(),
        process=policy.process_models(),
        ledger=ledger,
        sensitive=_sensitive_without_rows(policy, algorithm),
        subject=np.zeros(0, dtype=np.int32) if subjects else None,
    )


def _sensitive_without_rows(
    policy: Policy, algorithm: PrivateAlgorithm
) -> dict[str, CodedAxis]:
    """Blank axes for sensitive columns: rules only ask for their names."""
    if algorithm.every_column:
        return {}
    declared = Declared(name="", hierarchy={"tree": {"": [""]}}, with_missing=False)
    blank = declared_axis(declared, pa.chunked_array([pa.array([], pa.string())]))
    return dict.fromkeys(policy.names(Role.SENSITIVE), blank)


def columns_on_axes(run: Run, algorithm: PrivateAlgorithm) -> list[str]:
    """The columns that need a declared hierarchy: quasi-identifiers, or all."""
    columns = run.source.column_names
    wanted = [name for name in columns if run.policy.role(name) is Role.QUASI]
    return wanted + (_others(run.policy, columns) if algorithm.every_column else [])


def _others(policy: Policy, columns: Sequence[str]) -> list[str]:
    """Published columns that are not quasi-identifiers."""
    kept = (Role.SENSITIVE, Role.INSENSITIVE, Role.WEIGHT)
    return [name for name in columns if policy.role(name) in kept]


def declared_column(run: Run, name: str) -> Declared:
    """What the policy declares about a column."""
    section, data = run.policy.column(name), run.policy.data
    judged = section.role in (Role.QUASI, Role.SENSITIVE)
    complete = data.missing_as == "drop" and judged
    return Declared(
        name=name,
        hierarchy=section.hierarchy,
        kind=section.kind,
        domain=section.domain,
        order=section.order,
        missing=tuple(data.missing),
        with_missing=not complete,
        weight=section.weight,
        base=run.base,
    )


def _charged(run: Run, cost: Cost, relation: Relation) -> Balance | None:
    account, policy = account_of(run), run.policy
    if account is None:
        return None
    note = f"{policy.algorithm.name}, policy {policy.sha256()[:16]}"
    return account.charge(cost, relation=relation, note=note, unit=unit_of(policy))


def account_of(run: Run) -> Account | None:
    """The ledger file of the policy, if it names one."""
    settings = run.policy.privacy
    if settings.ledger is None:
        return None
    budget = None
    if settings.epsilon is not None:
        budget = Cost(settings.epsilon, settings.delta)
    return Account((run.base or Path()) / settings.ledger, budget)


def unit_of(policy: Policy) -> Unit:
    """What neighbors of the policy differ in: a row, or all rows of a person."""
    return Unit.SUBJECT if policy.names(Role.SUBJECT) else Unit.ROW


def declared_axes(run: Run, table: Table, *, beside: bool) -> tuple[CodedAxis, ...]:
    """The quasi-identifiers, or the other published columns, on declared axes."""
    columns = table.source.column_names
    names = _others(run.policy, columns) if beside else list(table.schema.quasi)
    return tuple(
        declared_axis(declared_column(run, name), table.source.column(name))
        for name in names
    )


def synthetic_draft(solution: Solution, request: Request, seed: Seed) -> Draft:
    """Turn synthetic records into a table, in random order."""
    records = solution.synthetic or ()
    count = len(records[0].codes)
    order = seed.permutation(count)
    columns = {coded.name: _texts(coded, order) for coded in records}
    shape = (0, len(request.quasi))
    return Draft(
        table=pa.table(columns),
        rows=np.empty(0, dtype=np.int64),
        quasi=tuple(coded.name for coded in request.quasi),
        ncp=np.zeros(shape),
        loss=np.zeros(shape),
    )


def _texts(coded: CodedAxis, order: Any) -> pa.Array:
    axis = coded.axis
    texts = [
        None if axis.missing >= 0 and text == axis.labels[axis.missing] else text
        for text in axis.node_labels
    ]
    codes = pa.array(coded.codes[order], pa.int32())
    return pa.DictionaryArray.from_arrays(codes, pa.array(texts, pa.string()))
