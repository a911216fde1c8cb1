"""Advise on a policy with a process model from what it declares, without any cell.

Whatever advice says about the data would be outside the budget. So this looks at the
policy, at the hierarchies and domains it declares, and at the ledger.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

import pyarrow as pa

from sfumato import registry
from sfumato.algorithms.base import Algorithm
from sfumato.algorithms.private.private_algorithm import PrivateAlgorithm
from sfumato.data.schema import Kind
from sfumato.errors import SfumatoError
from sfumato.hierarchies.declared_domain import (
    Declared,
    declared_axis,
    fitting_kind,
    refuse_fitted,
)
from sfumato.models.base import ProcessModel
from sfumato.pipeline.advice.advice import UNREAD, Advice, Outlook
from sfumato.pipeline.advice.fitting_algorithm import (
    FITS,
    algorithm_settings,
    operator_settings,
)
from sfumato.pipeline.advice.suggestions import Suggestion, Topic, numbered
from sfumato.pipeline.private_run import (
    account_of,
    columns_on_axes,
    declared_column,
    unit_of,
)
from sfumato.pipeline.run import Run
from sfumato.policy import Policy
from sfumato.policy.edit_text import toml_key
from sfumato.report.number_text import amount, counted

FIRST = ("safepub", "dp-synthesis", "dp-anonym")
"""The algorithms to take, in this order, where the policy's own gives no guarantee."""


def advise_unread(policy: Policy, base: Path | None) -> Advice:
    """Analyze a policy with a process model; the data are not opened."""
    return ProcessAnalysis.of(policy, base).advice()


@dataclass(frozen=True, eq=False, kw_only=True)
class ProcessAnalysis:
    """What a policy declares, and the algorithm that can give its guarantee."""

    run: Run
    """On a table without rows, with the columns that the policy names."""
    place: int
    model: ProcessModel
    algorithm: PrivateAlgorithm
    needed: tuple[Suggestion, ...]

    @classmethod
    def of(cls, policy: Policy, base: Path | None) -> ProcessAnalysis:
        empty = pa.table({name: pa.array([], pa.string()) for name in policy.columns})
        run = Run(policy=policy, source=empty, base=base)
        models = [
            (place, model)
            for place, model in enumerate(policy.requirements())
            if isinstance(model, ProcessModel)
        ]
        place, model = models[0]
        needed = [*_settings_needed(run)]
        algorithm: Algorithm = run.algorithm
        if not isinstance(algorithm, PrivateAlgorithm):
            needed.append(_algorithm_needed(policy, algorithm, model))
            algorithm = registry.algorithm(FIRST[0])()
        assert isinstance(algorithm, PrivateAlgorithm)
        return cls(
            run=run,
            place=place,
            model=model,
            algorithm=algorithm,
            needed=tuple(needed),
        )

    def advice(self) -> Advice:
        """Put together what the declarations and the ledger tell."""
        budget, outlook = self._budget()
        sizes, fitted = self._domains()
        needed = [*self.needed, *budget, *fitted]
        return Advice(
            policy=self.run.policy,
            feasible=not needed and outlook.feasible,
            outlooks=(outlook,),
            suggestions=numbered([*needed, *self._smaller(sizes)]),
            columns=tuple(
                {"column": name, "declared_values": size}
                for name, size in sorted(sizes.items(), key=lambda pair: -pair[1])
            ),
            algorithms=_fits(self.model),
            notes=(UNREAD, *self._notes(sizes, budget, outlook)),
            facts={"search": None, "combinations": math.prod(sizes.values())},
            unread=True,
        )

    def _budget(self) -> tuple[list[Suggestion], Outlook]:
        """Compare what a release costs with what the ledger has left."""
        cost, account = self.model.cost, account_of(self.run)
        left = None
        if account is not None:
            relation, unit = self.algorithm.relation, unit_of(self.run.policy)
            left = account.balance(relation=relation, unit=unit).left
        affordable = left is None or cost.within(left)
        message = ""
        edits = []
        if left is not None and not affordable:
            message = (
                f"A release costs epsilon {cost.epsilon:g}, delta {cost.delta:g}; the "
                f"ledger has epsilon {left.epsilon:g}, delta {left.delta:g} left."
            )
            if left.epsilon > 0:
                edits.append(self._cheaper(message, left.epsilon, left.delta))
        return edits, Outlook(
            place=self.place,
            model=self.model.name,
            parameters=self.model.parameters(),
            feasible=affordable,
            message=message,
            unread=True,
            left=None if left is None else asdict(left),
        )

    def _cheaper(self, message: str, epsilon: float, delta: float) -> Suggestion:
        key = f"require.{self.place}"
        settings = {}
        if self.model.cost.epsilon > epsilon:
            settings[f"{key}.epsilon"] = epsilon
        if self.model.cost.delta > delta:
            settings[f"{key}.delta"] = delta
        return Suggestion(
            topic=Topic.BUDGET,
            text=f"Ask for no more than the ledger has left: epsilon {epsilon:g}, delta "
            f"{delta:g}.",
            reason=f"{message} Then nothing is left for later releases.",
            settings=settings,
            needed=True,
        )

    def _domains(self) -> tuple[dict[str, int], list[Suggestion]]:
        """The size of each declared domain, and columns that declare none."""
        nothing = pa.chunked_array([pa.array([], pa.string())])
        sizes, fitted = {}, []
        for name in columns_on_axes(self.run, self.algorithm):
            declared = declared_column(self.run, name)
            try:
                refuse_fitted(declared)
                sizes[name] = declared_axis(declared, nothing).axis.size
            except SfumatoError as fault:
                fitted.append(_undeclared(declared, fault))
        return sizes, fitted

    def _smaller(self, sizes: Mapping[str, int]) -> Iterator[Suggestion]:
        """Fewer combinations: the column with most values first."""
        cells = math.prod(sizes.values())
        for name, size in sorted(sizes.items(), key=lambda pair: -pair[1]):
            if len(sizes) > 1 and size > 1:
                yield Suggestion(
                    topic=Topic.COLUMN,
                    text=f"Leave out '{name}', or declare fewer values for it.",
                    reason=f"Each combination of values is counted with noise. It has "
                    f"{counted(size, 'value')}: without it, {cells // size:,} of "
                    f"{counted(cells, 'combination')} are left.",
                    settings={f"columns.{toml_key(name)}.drop": True},
                    weaker=True,
                    facts={"combinations": cells, "combinations_left": cells // size},
                )

    @property
    def _complete(self) -> bool:
        return self.run.policy.data.missing_as == "drop"

    def _notes(
        self, sizes: Mapping[str, int], budget: Sequence[Suggestion], outlook: Outlook
    ) -> Iterator[str]:
        if outlook.message and not budget:
            yield f"{outlook.message} A spent budget cannot be given back."
        missing = "" if self._complete else "; a missing cell counts as one more value"
        yield (
            f"The declared columns have {amount(math.prod(sizes.values()))} "
            f"combinations of values{missing}."
        )
        if self.run.policy.unlisted == "keep":
            yield "Columns that the policy does not list are not considered."


def _settings_needed(run: Run) -> Iterator[Suggestion]:
    """Settings that a release under a process model may not have."""
    policy = run.policy
    if run.operator.name != "generalize":
        yield Suggestion(
            topic=Topic.OPERATOR,
            text="Publish by 'generalize'.",
            reason=f"'{run.operator.name}' would show what the rows say.",
            settings=operator_settings(policy, "generalize"),
            needed=True,
        )
    if policy.publish.order != "random":
        yield Suggestion(
            topic=Topic.OPERATOR,
            text="Publish rows in random order.",
            reason="The order of the source is not covered by differential privacy.",
            settings={"publish.order": "random"},
            needed=True,
        )


def _algorithm_needed(
    policy: Policy, own: Algorithm, model: ProcessModel
) -> Suggestion:
    return Suggestion(
        topic=Topic.ALGORITHM,
        text=f"Set the algorithm to '{FIRST[0]}'.",
        reason=f"'{own.name}' does not provide {model.name}; {', '.join(FIRST)} do.",
        settings=algorithm_settings(policy, FIRST[0]),
        needed=True,
    )


def _undeclared(declared: Declared, fault: SfumatoError) -> Suggestion:
    """What a column lacks: its kind, or a declaration that only its owner can write."""
    name, kind = declared.name, fitting_kind(declared)
    key = f"columns.{toml_key(name)}"
    if declared.kind is None and kind is not None:
        whole = ", or integer if all its values are whole numbers"
        return Suggestion(
            topic=Topic.COLUMN,
            text=f"Declare the kind of '{name}': {kind}"
            f"{whole if kind is Kind.DECIMAL else ''}.",
            reason="Its hierarchy is made of numbers or dates, and the cells may not "
            "decide which.",
            settings={f"{key}.kind": str(kind)},
            needed=True,
        )
    return Suggestion(
        topic=Topic.COLUMN,
        text=f"Declare '{name}' completely, or leave it out.",
        reason=f"{fault.message} {fault.hint or ''} Applying this leaves it out.",
        settings={f"{key}.drop": True},
        needed=True,
        weaker=True,
    )


def _fits(model: ProcessModel) -> dict[str, str]:
    """Each algorithm: whether it gives the guarantee of a process model."""
    found = {}
    for name in registry.names("algorithms"):
        gives = model.name in registry.algorithm(name).certifies
        found[name] = FITS if gives else f"'{name}' does not provide {model.name}."
    return found
