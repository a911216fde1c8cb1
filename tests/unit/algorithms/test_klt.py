"""K,L,θ clustering equals its six steps, written down plainly."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from functools import partial

import numpy as np
import pytest

from sfumato.algorithms.base import Request
from sfumato.algorithms.clustering.klt import Klt
from sfumato.data.schema import Kind
from sfumato.data.seeds import Seed
from sfumato.errors import PolicyError, RefusedError, SearchError
from sfumato.hierarchies.axis import CodedAxis, Shape
from sfumato.models.group_size import GroupSize
from sfumato.models.l_diversity import LDiversity
from sfumato.models.t_closeness import TCloseness
from sfumato.models.theta_diversity import ThetaDiversity
from sfumato.testing.random_groups import flat_axis, random_tree

# The six steps, straightforward and quadratic.


class Plain:
    """A group in plain Python: its rows, its sums and its sets."""

    def __init__(self, table: Table, row: int) -> None:
        self.rows = [row]
        self.means = self.sums = list(table.points[row])
        self.sets = [{value} for value in table.points[row]]

    def join(self, table: Table, other: Plain) -> None:
        n, m = len(self.rows), len(other.rows)
        both = zip(self.means, other.means, strict=True)
        self.rows = self.rows + other.rows
        self.sums = [a + b for a, b in zip(self.sums, other.sums, strict=True)]
        self.means = [
            (a * n + b * m) / (n + m) if table.old else total / (n + m)
            for (a, b), total in zip(both, self.sums, strict=True)
        ]
        self.sets = [a | b for a, b in zip(self.sets, other.sets, strict=True)]


class Table:
    """A request as the six steps see it."""

    def __init__(self, request: Request, algorithm: Klt) -> None:
        self.old = algorithm.variant == "boger-2020"
        self.axes = [coded.axis for coded in request.quasi]
        by_tree = algorithm.categories == "hierarchy"
        self.kinds = [self.kind(axis, by_tree) for axis in self.axes]
        scaled = [
            self.scaled(*pair) for pair in zip(request.quasi, self.kinds, strict=True)
        ]
        columns = [column for column, _ in scaled]
        self.lengths = [length for _, length in scaled]
        self.points = list(zip(*columns, strict=True))
        (sensitive,) = request.sensitive.values()
        self.values = sensitive.codes.tolist()
        self.k = max([m.k for m in request.models if isinstance(m, GroupSize)] or [1])
        ls = [int(m.l) for m in request.models if isinstance(m, LDiversity)]
        thetas = [m.theta for m in request.models if isinstance(m, ThetaDiversity)]
        self.theta = min(thetas, default=1.0)
        self.l = max([1, *ls, int(np.ceil(1 / self.theta - 1e-6))])

    def kind(self, axis, by_tree) -> str:
        if axis.positions is not None or (self.old and axis.size == 2):
            return "number"
        return "tree" if by_tree and axis.shape is Shape.TREE else "set"

    def scaled(self, coded: CodedAxis, kind: str) -> tuple[list[float], float]:
        """Distances from the start of the line, and by what they are to be divided."""
        numbers = coded.axis.positions
        if kind != "number" or numbers is None:
            return [float(code) for code in coded.codes], 1.0
        known = [x for x in numbers if not np.isnan(x)]
        start = 0.0 if self.old else min(known)
        length = max(abs(x - start) for x in known) or 1.0
        steps = [-length if np.isnan(x) else x - start for x in numbers]
        if self.old:
            steps, length = [step / length for step in steps], 1.0
        return [steps[code] for code in coded.codes], length

    def place_of(self, j: int) -> int:
        return ("set", "number", "tree").index(self.kinds[j])

    def distance(self, a: Plain, b: Plain) -> float:
        n, m = len(a.rows), len(b.rows)
        total = 0.0
        # Sets first, then numbers, then trees: sums round by their order.
        for j in sorted(range(len(self.axes)), key=self.place_of):
            axis = self.axes[j]
            if self.kinds[j] == "number":
                gap = a.means[j] - b.means[j]
                term = (n * m) / (n + m) * (gap * gap)
            elif self.kinds[j] == "set":
                term = float(a.sets[j] != b.sets[j])
            else:
                both = [int(code) for code in a.sets[j] | b.sets[j]]
                node = axis.covering(np.array([min(both)]), np.array([max(both)]))
                term = float(axis.node_ncp[node[0]])
            total += axis.weight / self.lengths[j] ** 2 * term
        return total

    def counts(self, *groups: Plain) -> Counter[int]:
        return Counter(self.values[row] for group in groups for row in group.rows)

    def within_theta(self, *groups: Plain) -> bool:
        counts = self.counts(*groups)
        return max(counts.values()) <= (self.theta + 1e-9) * counts.total()

    def satisfied(self, *groups: Plain) -> bool:
        counts = self.counts(*groups)
        enough = counts.total() >= self.k and len(counts) >= self.l
        return enough and self.within_theta(*groups)

    def has_room(self, group: Plain, row: int) -> bool:
        counts = self.counts(group)
        after = max(max(counts.values()), counts[self.values[row]] + 1)
        if len(group.rows) >= self.k:
            return False
        if self.old:
            lacking = counts[self.values[row]] == 0
            return lacking or after / len(group.rows) < self.theta
        return after <= (self.theta + 1e-9) * (len(group.rows) + 1)


def grow(table: Table, rows: list[int], l: int, fill: int):
    """Steps 1 and 2."""
    groups, queue, left = [], [], sorted(rows)
    while left:
        group = Plain(table, left.pop(0))
        groups.append(group)
        while left and (len(table.counts(group)) < l or len(group.rows) < fill):
            near = min(left, key=lambda r: (table.distance(group, Plain(table, r)), r))
            left.remove(near)
            new = table.values[near] not in table.counts(group)
            if new or len(table.counts(group)) >= l:
                group.join(table, Plain(table, near))
            else:
                queue.append(near)
    return groups, queue


def nearest(table: Table, own: Plain, groups: list[Plain], serves):
    found = [g for g in groups if g is not own and serves(g)]
    return min(found, key=lambda g: table.distance(own, g), default=None)


def six_steps(request: Request, algorithm: Klt) -> list[list[int]]:
    """The groups, and last the rows that found no place."""
    table = Table(request, algorithm)
    groups: list[Plain] = []
    waiting, rounds = list(range(request.rows)), 0
    while waiting:
        rounds += 1
        few = len({table.values[row] for row in waiting}) < table.l
        if rounds > 1 and few:
            groups += [Plain(table, row) for row in sorted(waiting)]
            break
        fill = 1 if table.l > 1 else table.k
        formed, queue = grow(table, waiting, table.l, fill)
        groups += formed
        waiting = []
        for row in reversed(queue) if table.old else queue:
            own = Plain(table, row)
            group = nearest(table, own, groups, partial(table.has_room, row=row))
            if group is None:
                waiting.append(row)
            else:
                group.join(table, own)
    merge(table, groups)
    kept = [g.rows for g in groups if g.rows and table.satisfied(g)]
    return [sorted(rows) for rows in kept]


def merge(table: Table, groups: list[Plain]) -> None:
    """Step 5."""
    for group in groups:
        while group.rows and not table.satisfied(group):
            others = [g for g in groups if g.rows]
            other = nearest(table, group, others, partial(table.satisfied, group))
            if other is None:
                other = nearest(
                    table, group, others, partial(table.within_theta, group)
                )
            if other is None:
                break
            group.join(table, other)
            other.rows = []
            if table.old:
                break


# Random requests.


def request_of(seed: int, *models, rows: int = 60, **options) -> Request:
    generator = np.random.default_rng(seed)
    ages = np.sort(generator.choice(60, 9, replace=False)).astype(float)
    if options.pop("missing", False):
        ages[-1] = np.nan
    age = flat_axis(
        "age",
        9,
        kind=Kind.INTEGER,
        shape=Shape.FREE,
        positions=ages,
        missing=8 if np.isnan(ages[-1]) else -1,
    )
    tree = random_tree(generator, 6)
    losses = np.linspace(0.0, 1.0, len(tree.node_ncp))
    losses[:6] = 0.0
    axes = [
        flat_axis("sex", 2),
        replace(tree, name="job", node_ncp=losses),
        replace(age, weight=float(generator.choice([1.0, 5.0]))),
        flat_axis("town", 4),
    ]
    skewed = generator.dirichlet(np.full(7, 2.0))
    illness = flat_axis("illness", 7)
    values = generator.choice(7, rows, p=skewed).astype(np.int32)
    return Request(
        quasi=tuple(
            CodedAxis(axis, generator.integers(0, axis.size, rows).astype(np.int32))
            for axis in axes
        ),
        models=models,
        sensitive={"illness": CodedAxis(illness, values)},
        removable=options.pop("removable", rows),
        seed=Seed.guessable(1),
        **options,
    )


def groups_of(request: Request, algorithm: Klt) -> list[list[int]]:
    found = algorithm.search(request).grouping
    return [np.flatnonzero(found.group_of == g).tolist() for g in range(found.count)]


REQUIREMENTS = {
    "k, l and theta": (GroupSize(k=6), LDiversity(l=3), ThetaDiversity(theta=0.4)),
    "l above k": (GroupSize(k=2), LDiversity(l=4)),
    "theta alone": (ThetaDiversity(theta=0.5),),
    "theta that leaves rows over": (GroupSize(k=4), ThetaDiversity(theta=0.26)),
    "k alone": (GroupSize(k=5),),
}
ALGORITHMS = {
    "text": Klt(),
    "boger-2020": Klt(variant="boger-2020"),
    "hierarchy": Klt(categories="hierarchy"),
}


@pytest.mark.parametrize("asked", REQUIREMENTS)
@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_the_groups_are_those_of_the_six_steps(algorithm, asked):
    for seed in range(12):
        request = request_of(seed, *REQUIREMENTS[asked], missing=seed % 3 == 0)
        expected = six_steps(request, ALGORITHMS[algorithm])
        found = groups_of(request, ALGORITHMS[algorithm])
        assert sorted(found) == sorted(expected), f"seed {seed}"


def with_more_columns(request: Request, seed: int) -> Request:
    """Another number, whose sums round, and more categories than a node has bits."""
    generator = np.random.default_rng(seed + 1000)
    income = flat_axis(
        "income",
        30,
        kind=Kind.DECIMAL,
        shape=Shape.FREE,
        positions=np.sort(generator.normal(size=30)),
    )
    more = [
        CodedAxis(axis, generator.integers(0, axis.size, request.rows).astype(np.int32))
        for axis in (income, replace(flat_axis("country", 70), weight=0.3))
    ]
    return replace(request, quasi=(*more, *request.quasi))


@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_larger_and_wider_tables_have_the_groups_of_the_six_steps(algorithm):
    for seed in range(2):
        request = request_of(seed, *REQUIREMENTS["k, l and theta"], rows=180)
        for each in (request, with_more_columns(request, seed)):
            expected = six_steps(each, ALGORITHMS[algorithm])
            assert sorted(groups_of(each, ALGORITHMS[algorithm])) == sorted(expected)


def test_many_sensitive_values_need_no_bits():
    generator = np.random.default_rng(5)
    request = request_of(5, GroupSize(k=6), LDiversity(l=3), ThetaDiversity(theta=0.34))
    values = generator.integers(0, 90, 60).astype(np.int32) // 2 * 2
    many = {"illness": CodedAxis(flat_axis("illness", 90), values)}
    request = replace(request, sensitive=many)
    assert sorted(groups_of(request, Klt())) == sorted(six_steps(request, Klt()))


def test_two_sensitive_columns_are_diverse_in_every_group():
    request = request_of(3, GroupSize(k=4), LDiversity(l=3))
    other = np.random.default_rng(8).integers(0, 5, 60).astype(np.int32)
    both = {
        **request.sensitive,
        "income": CodedAxis(flat_axis("income", 5), other),
    }
    request = replace(request, sensitive=both, removable=0)
    grouping = Klt().solve(request).grouping
    for g in range(grouping.count):
        rows = grouping.group_of == g
        for coded in both.values():
            assert len(set(coded.codes[rows].tolist())) >= 3


def test_a_weight_draws_rows_that_agree_together():
    def agreement(weight: float) -> float:
        request = request_of(4, GroupSize(k=4), LDiversity(l=2), rows=200)
        town = request.quasi[3]
        heavy = CodedAxis(replace(town.axis, weight=weight), town.codes)
        request = replace(request, quasi=(*request.quasi[:3], heavy))
        groups = groups_of(request, Klt())
        return sum(len(set(town.codes[rows].tolist())) for rows in groups) / len(groups)

    assert agreement(10.0) < agreement(0.1)


def test_rows_without_a_place_are_counted_and_left_out():
    models = REQUIREMENTS["theta that leaves rows over"]
    found = [Klt().search(request_of(seed, *models)) for seed in range(12)]
    told = [solution.facts["rows_without_a_place"] for solution in found]
    assert told == [int((~s.grouping.kept).sum()) for s in found]
    assert max(told) > 0


def test_too_many_rows_without_a_place_end_the_search():
    models = REQUIREMENTS["theta that leaves rows over"]
    seed = next(
        seed
        for seed in range(12)
        if not Klt().search(request_of(seed, *models)).grouping.kept.all()
    )
    with pytest.raises(SearchError, match=r"no group for \d+ of 60 rows.*0 may be"):
        Klt().search(request_of(seed, *models, removable=0))


def test_models_beyond_the_six_steps_are_refused():
    with pytest.raises(RefusedError, match="does not support t-closeness"):
        Klt().solve(request_of(1, TCloseness(t=0.3)))


def test_a_subject_column_is_refused():
    subject = np.arange(60, dtype=np.int32)
    with pytest.raises(RefusedError, match="subject column"):
        Klt().solve(request_of(1, LDiversity(l=2), subject=subject))


def test_an_unknown_variant_is_refused():
    with pytest.raises(PolicyError, match="'variant' is 'boger'"):
        Klt(variant="boger")


def test_adult_is_published_whole(shared_data):
    from sfumato import anonymize
    from sfumato.io.read import read_source

    columns = ["race", "education", "sex", "age", "occupation"]
    source = read_source(shared_data / "adult" / "adult_train_32561.csv.gz")
    release = anonymize(
        source.select(columns),
        quasi=columns[:4],
        sensitive=["occupation"],
        require=[
            {"model": "group-size", "k": 10},
            {"model": "l-diversity", "l": 5},
            {"model": "theta-diversity", "theta": 0.3},
        ],
        algorithm={"name": "klt", "variant": "boger-2020"},
        publish={"operator": "swap"},
    )
    jobs = release.table.column("occupation").to_pylist()
    groups = release.group_of[release.source_rows].tolist()
    held = Counter(zip(groups, jobs, strict=True))
    sizes = Counter(groups)
    assert len(jobs) == 32561
    assert len(sizes) == 2530  # as in the published program
    assert min(sizes.values()) >= 10
    assert min(Counter(group for group, _ in held).values()) >= 5
    assert max(n / sizes[group] for (group, _), n in held.items()) <= 0.3
