"""Every algorithm × model × operator: what is not refused must be proven.

A draft that fails its proof (exit code 70) is a bug of ours, whatever was combined.
`combinations` gives one check for each combination of the catalogue, lazily: each draws
a few small tables, with persons, missing values, typed columns and a population, and
runs the whole line on them. `sampled_combinations` gives a part of them in which every
algorithm, model, operator and pair of model and operator occurs.
"""

from __future__ import annotations

import tempfile
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import fields
from functools import cache, partial
from itertools import product
from pathlib import Path
from typing import Any, NamedTuple

import pyarrow as pa
import pyarrow.parquet as pq
from hypothesis import given, settings
from hypothesis import seed as drawn_from
from hypothesis import strategies as st

from sfumato import api, registry
from sfumato.data.schema import Kind, Role
from sfumato.data.seeds import Seed
from sfumato.errors import GuaranteeError, InstallationError, SfumatoError
from sfumato.models.base import OutputModel, ReferenceModel, Scope, SensitiveModel
from sfumato.policy import Policy
from sfumato.publish.base import Form
from sfumato.testing.awkward_tables import Awkward
from sfumato.testing.conformance_check import CALM, Check, must, variants
from sfumato.testing.strategies import example_parameters, tables

EXAMPLES = 4
"""Tables drawn for each combination."""
NAME = "what is not refused is proven"

Options = Mapping[str, Any]


class Combination(NamedTuple):
    """One entry of each kind, with its options."""

    algorithm: str
    algorithm_options: Options
    model: str
    operator: str
    operator_options: Options

    def __str__(self) -> str:
        parts = (
            _summary(self.algorithm, self.algorithm_options),
            self.model,
            _summary(self.operator, self.operator_options),
        )
        return " × ".join(parts)


def _summary(name: str, options: Options) -> str:
    chosen = ", ".join(f"{key}={value}" for key, value in options.items())
    return f"{name}({chosen})" if chosen else name


def combinations(
    *, examples: int = EXAMPLES, seed: int | None = None
) -> Iterator[Check]:
    """A check for each combination of the catalogue.

    Another `seed` draws other tables; None: always the same.
    """
    for combination in every_combination():
        yield check_of(combination, examples=examples, seed=seed)


def sampled_combinations(*, examples: int = EXAMPLES) -> Iterator[Check]:
    """A fixed part of them: each model with each operator and its options, by turns
    with every algorithm, and each algorithm and its options with every model, by turns
    with every operator."""
    algorithms = list(with_options("algorithms"))
    operators = list(with_options("operators"))
    models = output_models()
    chosen: dict[str, Combination] = {}
    for at, (model, operator) in enumerate(product(models, operators)):
        found = Combination(*algorithms[at % len(algorithms)], model, *operator)
        chosen[str(found)] = found
    for at, (algorithm, model) in enumerate(product(algorithms, models)):
        found = Combination(*algorithm, model, *operators[at % len(operators)])
        if at % 3 == 0:
            chosen[str(found)] = found
    for combination in chosen.values():
        yield check_of(combination, examples=examples)


def every_combination() -> Iterator[Combination]:
    """Every algorithm, model and operator of the catalogue with all their options."""
    algorithms = with_options("algorithms")
    operators = list(with_options("operators"))
    for algorithm, model, operator in product(algorithms, output_models(), operators):
        yield Combination(*algorithm, model, *operator)


def output_models() -> list[str]:
    """The models of the catalogue that a published table can show."""
    names = registry.names("models")
    return [n for n in names if issubclass(registry.load("models", n), OutputModel)]


def with_options(kind: str) -> Iterator[tuple[str, Options]]:
    """The names of a kind, each with every set of options to check."""
    for name in registry.names(kind):
        for chosen in variants(registry.load(kind, name)).values():
            yield name, chosen


def check_of(
    combination: Combination, *, examples: int = EXAMPLES, seed: int | None = None
) -> Check:
    """Whether drawn tables are released with a proof, or refused, never failed."""
    run = partial(_try, combination, examples, seed)
    return Check(NAME, run, str(combination))


@cache
def endings() -> Counter[str]:
    """How the runs of this process ended: "released", or the name of the error."""
    return Counter()


def _try(combination: Combination, examples: int, seed: int | None) -> None:
    @settings(CALM, max_examples=examples, derandomize=seed is None)
    @given(cases(combination))
    def tried(case: Case) -> None:
        with tempfile.TemporaryDirectory() as directory:
            endings()[ending(combination, case, Path(directory))] += 1

    (tried if seed is None else drawn_from(seed)(tried))()


class Case(NamedTuple):
    """A drawn table, and what a policy asks of it."""

    table: Awkward
    people: pa.Table
    parameters: Options
    settings: Options


def ending(combination: Combination, case: Case, directory: Path) -> str:
    """How a run ended; a draft that fails its proof, or any other error, fails."""
    try:
        release = api.anonymize(
            case.table.source, policy_of(combination, case, directory)
        )
    except (GuaranteeError, InstallationError):
        raise
    except SfumatoError as error:
        must(error.exit_code != GuaranteeError.exit_code, "an error without a kind")
        must(error.hint, f"a {type(error).__name__} has no hint: {error}")
        return type(error).__name__
    must(all(v["holds"] for v in release.verdicts), "a release that is not proven")
    return "released"


def policy_of(combination: Combination, case: Case, directory: Path) -> Policy:
    """The policy that a case stands for; its population lies in `directory`."""
    parameters = dict(case.parameters)
    if "population" in parameters:
        pq.write_table(case.people, directory / "people.parquet")
        parameters["population"] = str(directory / "people.parquet")
    by_role: dict[str, list[str]] = {}
    for name, role in case.table.roles.items():
        by_role.setdefault(role.value, []).append(name)
    return Policy.build(
        **by_role,
        kinds={name: kind.value for name, kind in case.table.kinds.items()},
        require=[*case.settings["beside"], {"model": combination.model, **parameters}],
        algorithm={"name": combination.algorithm, **combination.algorithm_options},
        publish={
            "operator": combination.operator,
            **combination.operator_options,
            **case.settings["publish"],
        },
        missing_as=case.settings["missing_as"],
        hierarchies=case.settings["hierarchies"],
    )


@st.composite
def cases(draw: st.DrawFn, combination: Combination) -> Case:
    """Small tables with all that makes a combination hard, and settings for them."""
    model = registry.load("models", combination.model)
    columns = 2 if issubclass(model, SensitiveModel) else None
    certified = registry.load("algorithms", combination.algorithm).certifies
    drawn = tables(max_rows=10, max_columns=2, sensitive=columns)
    table = draw(_declared() if certified else drawn)
    return Case(
        table=table,
        people=draw(_people(table)),
        parameters=draw(_parameters(model)),
        settings={
            "missing_as": draw(st.sampled_from(["value", "any", "drop"])),
            "hierarchies": table.hierarchies or draw(_hierarchies(table)),
            "beside": [*([_BUDGET] if certified else []), *draw(_least(combination))],
            "publish": {"max_suppressed": draw(st.sampled_from([0, 0.1, 0.5]))},
        },
    )


def _least(combination: Combination) -> st.SearchStrategy[list[Options]]:
    """Draw an optional second requirement, on the size of groups."""
    form = registry.load("operators", combination.operator).form
    name = "k-anonymity" if form is Form.CELLS else "group-size"
    return st.sampled_from([[], [{"model": name, "k": 2}]])


@st.composite
def _declared(draw: st.DrawFn) -> Awkward:
    """A table with declared columns, for algorithms that a ledger certifies."""
    seed = Seed(draw(st.binary(min_size=4, max_size=4)))
    rows = draw(st.sampled_from([40, 200]))
    letters = ["abcd"[int(4 * share)] for share in seed.child("place").uniform(rows)]
    values = ["abcd"[int(4 * share)] for share in seed.child("value").uniform(rows)]
    ages = (15 + 70 * seed.child("age").uniform(rows)).astype(int)
    cells = {"age": ages, "place": letters, "value": values}
    roles = {"age": Role.QUASI, "place": Role.QUASI, "value": Role.SENSITIVE}
    kinds = {"age": Kind.INTEGER, "place": Kind.CATEGORY, "value": Kind.CATEGORY}
    if draw(st.booleans()):
        persons = seed.child("person").uniform(rows) * rows / 2
        cells["person"] = [f"person {int(number)}" for number in persons]
        roles["person"], kinds["person"] = Role.SUBJECT, Kind.CATEGORY
    tree = {"tree": {"north": ["a", "b"], "south": ["c", "d"]}}
    age = {"intervals": [10, 20], "bottom": 20, "top": 80}
    written = {"age": age, "place": tree, "value": tree}
    return Awkward("declared", pa.table(cells), roles, kinds, hierarchies=written)


@st.composite
def _parameters(draw: st.DrawFn, model: type[OutputModel]) -> dict[str, Any]:
    """Parameters of a model, with the options that all of its kind share."""
    found = dict(draw(example_parameters(model)))
    own = {field.name for field in fields(model)}
    if model.scope is Scope.POPULATION and "population" in own and draw(st.booleans()):
        found.pop("sampling_fraction", None)
        found["population"] = "people"
    if issubclass(model, SensitiveModel) and draw(st.booleans()):
        found["others_known"] = True
    if issubclass(model, ReferenceModel) and draw(st.booleans()):
        found["reference"] = "source"
    return {name: value for name, value in found.items() if value is not None}


@st.composite
def _people(draw: st.DrawFn, table: Awkward) -> pa.Table:
    """A population: each row of the table some times over, and perhaps others."""
    quasi = [name for name, role in table.roles.items() if role is Role.QUASI]
    rows = table.rows
    times = draw(st.lists(st.integers(0, 3), min_size=rows, max_size=rows))
    places = [row for row, count in enumerate(times) for _ in range(count)] or [0]
    mixed = {
        name: table.source.column(name).take(
            pa.array([*places, *draw(st.permutations(range(rows)))])
        )
        for name in quasi
    }
    return pa.table(mixed)


@st.composite
def _hierarchies(draw: st.DrawFn, table: Awkward) -> dict[str, Any]:
    """Hierarchies for some of the columns, by their kinds."""
    found = {}
    for name, kind in table.kinds.items():
        fitting = _HIERARCHIES.get(kind)
        if table.roles[name] is Role.QUASI and fitting and draw(st.booleans()):
            found[name] = fitting
    return found


_BUDGET: Options = {"model": "differential-privacy", "epsilon": 4, "delta": 1e-3}

_HIERARCHIES: Mapping[Kind, Options] = {
    Kind.INTEGER: {"intervals": [2, 4]},
    Kind.DECIMAL: {"intervals": [0.5, 1]},
    Kind.CODE: {"prefix": [3, 1]},
    Kind.DATE: {"calendar": ["month", "year"]},
    Kind.CATEGORY: {"tree": {"Latin": ["a", "b", "c"], "other": ["é", "東"]}},
}
