"""Tables, constraints and runs for DIVA (Milani, Huang and Chiang, EDBT 2021).

Constraints are proportional (tolerance 0.2) on the commonest values of a few columns in
turn, every fifth on a pair of values. No column has a hierarchy: a cell shows its value
or a star. Accuracy is the share of cells that keep their value; the discernibility of
the groups (DM) is beside it. The conflict rate is the mean over pairs of constraints of
the share of the smaller target's rows that both have. Every run is checked against k and
the constraints, from its groups alone.
"""

from __future__ import annotations

import math
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations, zip_longest
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.csv

from benchmarks.sources import directory
from sfumato.algorithms.base import Algorithm, Request
from sfumato.algorithms.clustering.k_member import KMember
from sfumato.algorithms.clustering.oka import Oka
from sfumato.algorithms.diva.constraint_targets import Sigma
from sfumato.algorithms.diva.diva import STRATEGIES, Diva
from sfumato.algorithms.diva.row_subsets import starred_axis
from sfumato.algorithms.partition.mondrian import Mondrian
from sfumato.data.grouping import Grouping
from sfumato.data.schema import Kind, Role
from sfumato.data.seeds import Seed
from sfumato.errors import InfeasibleError, SearchError
from sfumato.models.diversity import Diversity
from sfumato.models.k_anonymity import KAnonymity
from sfumato.publish.group_spans import Extent
from sfumato.testing.awkward_tables import Awkward, request_for

LEAST = 60
"""Values that fewer rows have get no constraint, whatever k."""
TOLERANCE = 0.2
STARTS = 10
"""Random sets from which one at a given conflict rate is sought."""
Places = npt.NDArray[np.int64]


@dataclass(frozen=True)
class Data:
    """A table of text, and the columns that constraints are on."""

    name: str
    table: pa.Table
    on: tuple[str, ...]
    numbers: tuple[str, ...] = ()

    def first(self, rows: int | None) -> Data:
        """Some of its rows, drawn without replacement."""
        order = np.random.default_rng(5).permutation(self.table.num_rows)[:rows]
        return replace(self, table=self.table.take(pa.array(order)))

    def request(self, k: int, constraints: Sequence[Diversity], seed: int) -> Request:
        """k-anonymity and these constraints; all columns are quasi-identifiers."""
        names = self.table.column_names
        kinds = {n: Kind.INTEGER if n in self.numbers else Kind.CATEGORY for n in names}
        drawn = Awkward(self.name, self.table, dict.fromkeys(names, Role.QUASI), kinds)
        models = [KAnonymity(k=k), *constraints]
        return request_for(drawn, models, seed=Seed.guessable(seed), threads=2)


def targets(data: Data) -> Iterator[dict[str, str]]:
    """The commonest values of each column in turn; every fifth is a pair of values."""
    ranked = [[(name, value) for value in _common(data, name)] for name in data.on]
    last: list[tuple[str, str]] = []
    for turn in zip_longest(*ranked):
        for named in filter(None, turn):
            yield dict([named])
            last.append(named)
            if len(last) == 4:
                yield dict(last[:2])
                last = []


def _common(data: Data, name: str) -> list[str]:
    counts = data.table.column(name).value_counts()
    pairs = [(e["counts"].as_py(), e["values"].as_py()) for e in counts]
    return [value for count, value in sorted(pairs, reverse=True) if count >= LEAST]


def proportional(data: Data, number: int, k: int, keep: float) -> list[Diversity]:
    """So many constraints, each about a share of the rows that have the values."""
    found = []
    for where in targets(data):
        rows = np.ones(data.table.num_rows, dtype=np.bool_)
        for name, value in where.items():
            rows &= np.asarray(data.table.column(name).to_numpy() == value)
        asked = _about(where, keep * int(rows.sum()))
        if (asked.at_least or 0) >= k:
            found.append(asked)
        if len(found) == number:
            break
    return found


def _about(where: Mapping[str, str], aim: float) -> Diversity:
    """Ask for about so many rows."""
    low, high = math.ceil((1 - TOLERANCE) * aim), math.floor((1 + TOLERANCE) * aim)
    return Diversity(where=dict(where), at_least=low, at_most=high)


def combined(data: Data, columns: Sequence[str]) -> list[Diversity]:
    """A constraint on every common value, and on every common combination of values."""
    found = []
    for size in range(1, len(columns) + 1):
        for names in combinations(columns, size):
            counts = data.table.group_by(names).aggregate([([], "count_all")])
            for where in counts.sort_by([(n, "ascending") for n in names]).to_pylist():
                rows = where.pop("count_all")
                if rows >= LEAST:
                    found.append(_about(where, rows))
    return found


class Overlaps:
    """How much the constraints of a pool overlap, and sets of them at a given rate."""

    def __init__(self, request: Request, k: int) -> None:
        """The overlaps of all constraints of a request."""
        rows = Sigma.of(request, k=k).overlaps
        sizes = np.diag(rows)
        self.shares = rows / np.minimum.outer(sizes, sizes)
        np.fill_diagonal(self.shares, 0.0)

    def rate(self, chosen: Places) -> float:
        """The conflict rate of a set."""
        pairs = len(chosen) * (len(chosen) - 1)
        return float(self.shares[np.ix_(chosen, chosen)].sum() / pairs)

    def near(self, goal: float, number: int, random: np.random.Generator) -> Places:
        """A set at about that rate: the best of several that start at random."""
        drawn = [random.permutation(len(self.shares))[:number] for _ in range(STARTS)]
        found = [self._improved(chosen, goal) for chosen in drawn]
        return min(found, key=lambda chosen: abs(self.rate(chosen) - goal))

    def _improved(self, chosen: Places, goal: float) -> Places:
        """Swap one constraint at a time for the best other one, while that helps."""
        while True:
            gap = abs(self._swapped(chosen) - goal)
            leaves, enters = np.unravel_index(gap.argmin(), gap.shape)
            if gap[leaves, enters] >= abs(self.rate(chosen) - goal) - 1e-12:
                return chosen
            chosen = np.where(np.arange(len(chosen)) == leaves, enters, chosen)

    def _swapped(self, chosen: Places) -> npt.NDArray[np.float64]:
        """(member, other): the rate once the other stands in the member's place."""
        among = self.shares[chosen]
        inner = among[:, chosen]
        total = inner.sum() / 2 - inner.sum(axis=1)
        rates = total[:, None] + among.sum(axis=0)[None, :] - among
        rates[:, chosen] = np.inf
        return np.asarray(rates / (len(chosen) * (len(chosen) - 1) / 2))


def stars(request: Request, grouping: Grouping) -> int:
    """Cells that show no value."""
    sizes, cells = grouping.sizes(), 0
    for place, coded in enumerate(request.quasi):
        cells += int(sizes[Extent.of(coded, grouping, place).shown_values < 0].sum())
    return cells


@dataclass(frozen=True)
class Run:
    """One run: what it kept, its groups, its time; None where it found no answer."""

    accuracy: float
    discernibility: float
    seconds: float
    rows: int
    facts: Mapping[str, Any]

    @property
    def group_size(self) -> float:
        """How many rows the group of a row has, on average."""
        return self.discernibility / self.rows


def run(algorithm: Algorithm, request: Request) -> Run | None:
    """One run, checked independently of the algorithm."""
    begin = time.process_time()
    try:
        solution = algorithm.solve(request)
    except (InfeasibleError, SearchError):
        return None
    seconds = time.process_time() - begin
    grouping = solution.grouping
    groups = request.groups(grouping)
    if not all(model.verify(groups).holds for model in request.models):
        raise SystemExit(f"{algorithm.name} broke a requirement.")
    share = stars(request, grouping) / (request.rows * len(request.quasi))
    sizes = grouping.sizes().astype(np.float64)
    return Run(
        1 - share, float((sizes**2).sum()), seconds, request.rows, solution.facts
    )


def starred(data: Data, k: int, seed: int = 1) -> Request:
    """A request for algorithms that know no constraints; they too count stars."""
    plain = data.request(k, [], seed)
    return Request(
        quasi=tuple(map(starred_axis, plain.quasi)),
        models=plain.models,
        seed=plain.seed,
    )


def strategies(base: str) -> dict[str, Algorithm]:
    """DIVA's three."""
    return {s: Diva(strategy=s, base=base, loss="stars") for s in STRATEGIES}


BASELINES: dict[str, Algorithm] = {
    "Mondrian": Mondrian(),
    "k-member": KMember(),
    "OKA": Oka(),
}


def read(paths: Sequence[Path], columns: Sequence[str]) -> pa.Table:
    """Columns of CSV files, as text."""
    options = pyarrow.csv.ConvertOptions(
        include_columns=list(columns),
        column_types=dict.fromkeys(columns, pa.string()),
        strings_can_be_null=False,
    )
    return pa.concat_tables(
        [pyarrow.csv.read_csv(path, convert_options=options) for path in paths]
    )


def census() -> Data:
    """Census-Income, both parts: 299,285 rows."""
    folder = directory() / "census_income"
    names = (
        *("age", "sex", "race", "marital_stat", "education"),
        *("country_of_birth_self", "class_of_worker"),
    )
    files = [folder / f"census_income_{part}.csv.gz" for part in ("train", "test")]
    on = ("race", "sex", "marital_stat", "education", "class_of_worker")
    return Data("census", read(files, names), on, ("age",))


def pantheon() -> Data:
    """Pantheon: 11,341 rows."""
    names = (
        *("gender", "continentName", "countryName"),
        *("birthcity", "birthyear", "occupation"),
    )
    table = read([directory() / "pantheon" / "pantheon.csv"], names)
    return Data("pantheon", table, ("gender", "continentName", "occupation"))


def german() -> Data:
    """German credit: 1,000 rows."""
    names = (
        *("age", "personal_status_sex", "job"),
        *("housing", "foreign_worker", "purpose"),
    )
    table = read([directory() / "german" / "german.csv"], names)
    on = ("personal_status_sex", "job", "housing", "purpose", "foreign_worker")
    return Data("german", table, on, ("age",))


def made(distribution: str) -> Data:
    """A population of 100,000 with seven columns, drawn from one distribution."""
    generator, rows = np.random.default_rng(3), 100_000
    sizes = {"sex": 2, "race": 6, "status": 7, "work": 12, "town": 40, "job": 80}
    cells: dict[str, list[str]] = {}
    for name, size in sizes.items():
        shares = _shares(distribution, size)
        codes = generator.choice(size, rows, p=shares)
        cells[name] = [f"{name} {code:02d}" for code in codes]
    cells["age"] = generator.integers(18, 90, rows).astype(str).tolist()
    return Data(
        distribution, pa.table(cells), ("race", "sex", "status", "work"), ("age",)
    )


def _shares(distribution: str, size: int) -> npt.NDArray[np.float64]:
    at = np.arange(size)
    weights = {
        "uniform": np.ones(size),
        "zipfian": 1.0 / (at + 1),
        "gaussian": np.exp(-0.5 * ((at - (size - 1) / 2) / (size / 5)) ** 2),
    }[distribution]
    return np.asarray(weights / weights.sum())


def tangled(seed: int, *, rows: int = 60, number: int = 8, k: int = 4) -> Data:
    """A small table of three columns."""
    generator = np.random.default_rng(seed)
    cells = {
        name: generator.choice(list("abcd"), rows, p=[0.4, 0.3, 0.2, 0.1]).tolist()
        for name in ("x", "y", "z")
    }
    return Data(f"tangled {seed}", pa.table(cells), ("x", "y", "z"))


def narrow(data: Data, seed: int, number: int, k: int) -> list[Diversity]:
    """Ranges of width two around the counts of a known release: they can be met."""
    generator = np.random.default_rng(seed)
    request = data.request(k, [], 1)
    drawn = generator.permutation(data.table.num_rows) // (k + 1)
    order = np.lexsort([q.codes for q in request.quasi])
    group_of = np.empty(len(drawn), dtype=np.int32)
    group_of[order] = np.arange(len(drawn)) // (k + 1)
    grouping = Grouping.renumbered(group_of)
    sizes, found = grouping.sizes(), {}
    for place, coded in enumerate(request.quasi):
        codes = Extent.of(coded, grouping, place).shown_values
        for code in np.unique(codes[codes >= 0]):
            count = int(sizes[codes == code].sum())
            found[coded.name, coded.axis.labels[code]] = count
    chosen = generator.permutation(len(found))[:number]
    listed = [list(found.items())[place] for place in chosen]
    return [
        Diversity(where={name: value}, at_least=max(count - 1, 1), at_most=count + 1)
        for (name, value), count in listed
    ]
