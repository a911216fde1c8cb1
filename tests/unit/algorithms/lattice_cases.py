"""Random small tables, and what their lattice nodes do by definition, row by row."""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import product

import numpy as np

from sfumato.algorithms.base import Request
from sfumato.data.schema import Kind
from sfumato.data.seeds import Seed
from sfumato.hierarchies.axis import Axis, CodedAxis, Shape

Keeps = Callable[[Sequence[int], Sequence[int]], bool]
"""Whether a group with these sensitive codes is kept, beside all kept codes."""


def tree_axis(name: str, paths: Sequence[Sequence[str]], weight: float = 1.0) -> Axis:
    """An axis from one row of labels per leaf, leaf first, root last."""
    height = len(paths[0])
    labels: list[str] = [path[0] for path in paths]
    ncp, loss = [0.0] * len(paths), [0.0] * len(paths)
    levels = np.zeros((height, len(paths)), dtype=np.int32)
    levels[0] = np.arange(len(paths))
    for level in range(1, height):
        seen: dict[str, int] = {}
        for leaf, path in enumerate(paths):
            if path[level] not in seen:
                seen[path[level]] = len(labels)
                under = sum(other[level] == path[level] for other in paths)
                labels.append(path[level])
                ncp.append(0.0 if under == 1 else under / len(paths))
                loss.append((under - 1) / max(len(paths) - 1, 1))
            levels[level, leaf] = seen[path[level]]
    return Axis(
        name=name,
        kind=Kind.CATEGORY,
        shape=Shape.TREE,
        labels=tuple(labels[: len(paths)]),
        levels=levels,
        node_labels=tuple(labels),
        node_ncp=np.array(ncp),
        node_loss=np.array(loss),
        weight=weight,
    )


def random_axis(
    random: np.random.Generator, name: str, *, most_leaves: int = 6
) -> Axis:
    """An axis with a few leaves and levels whose nodes are nested runs."""
    leaves = int(random.integers(2, most_leaves + 1))
    runs = [np.arange(leaves)]
    for _ in range(int(random.integers(0, 3))):
        _, below = np.unique(runs[-1], return_inverse=True)
        joins = random.random(int(below.max()) + 1) < 0.5
        joins[0] = False
        runs.append((np.arange(len(joins)) - np.cumsum(joins))[below])
    paths = [
        [*(f"{level}:{run[leaf]}" for level, run in enumerate(runs)), "*"]
        for leaf in range(leaves)
    ]
    return tree_axis(name, paths, weight=float(random.choice([1.0, 1.0, 0.5, 2.0])))


def random_request(
    random: np.random.Generator,
    models: Sequence[object],
    *,
    columns: int = 3,
    rows: int = 30,
    removable: int = 0,
    values: int = 4,
) -> Request:
    """A request on random rows, some of them far likelier than others."""
    axes = [random_axis(random, f"q{j}") for j in range(columns)]
    quasi = []
    for axis in axes:
        shares = random.dirichlet(np.full(axis.size, 0.7))
        codes = random.choice(axis.size, size=rows, p=shares).astype(np.int32)
        quasi.append(CodedAxis(axis, codes))
    paths = [[f"v{i}", "ab"[i % 2], "*"] for i in range(values)]
    paths.sort(key=lambda path: path[1])
    shares = random.dirichlet(np.full(values, 2.0))
    sensitive = random.choice(values, size=rows, p=shares).astype(np.int32)
    return Request(
        quasi=tuple(quasi),
        models=tuple(models),
        sensitive={"s": CodedAxis(tree_axis("s", paths), sensitive)},
        removable=removable,
        seed=Seed.guessable(1),
    )


@dataclass(frozen=True)
class Finding:
    """What a node does, by definition."""

    node: tuple[int, ...]
    suppressed: int
    sizes: tuple[int, ...]
    losses: dict[str, float]


def all_nodes(request: Request) -> Iterator[tuple[int, ...]]:
    """Every choice of one level per column."""
    return product(*(range(coded.axis.height) for coded in request.quasi))


def groups_at(request: Request, node: tuple[int, ...]) -> list[list[int]]:
    """The rows of each group at a node: rows whose labels are the same."""
    groups: dict[tuple[int, ...], list[int]] = defaultdict(list)
    for row in range(request.rows):
        cells = zip(request.quasi, node, strict=True)
        shown = tuple(int(c.axis.levels[level, c.codes[row]]) for c, level in cells)
        groups[shown].append(row)
    return list(groups.values())


def find(request: Request, node: tuple[int, ...], k: int, keeps: Keeps) -> Finding:
    """Group rows by their labels, drop groups that may not stay, measure the rest."""
    kept = _kept(request, groups_at(request, node), keeps)
    return Finding(
        node=node,
        suppressed=request.rows - sum(map(len, kept)),
        sizes=tuple(map(len, kept)),
        losses=losses_of(request, node, kept, k),
    )


def _kept(request: Request, groups: list[list[int]], keeps: Keeps) -> list[list[int]]:
    """Drop groups until those that are left may all stay beside each other.

    Those that may not stay on their own, beside nobody, go first.
    """
    codes = request.sensitive["s"].codes.tolist()
    groups = [g for g in groups if keeps([codes[row] for row in g], [])]
    while True:
        everyone = [codes[row] for group in groups for row in group]
        left = [g for g in groups if keeps([codes[row] for row in g], everyone)]
        if len(left) == len(groups):
            return left
        groups = left


def losses_of(
    request: Request, node: tuple[int, ...], kept: Sequence[list[int]], k: int
) -> dict[str, float]:
    """The loss of a node with some groups kept, by every metric."""
    rows = request.rows
    published = {row for group in kept for row in group}
    total = sum(coded.axis.weight for coded in request.quasi)
    ncp = loss = bits = most_bits = 0.0
    for coded, level in zip(request.quasi, node, strict=True):
        axis, weight = coded.axis, coded.axis.weight
        seen = Counter(coded.codes.tolist())
        under = Counter(axis.levels[level, coded.codes].tolist())
        for row, code in enumerate(coded.codes.tolist()):
            at = int(axis.levels[level, code])
            stays = row in published
            ncp += weight * (axis.node_ncp[at] if stays else 1.0)
            loss += weight * (axis.node_loss[at] if stays else 1.0)
            share = (under[at] if stays else rows) / seen[code]
            bits += weight * math.log2(share)
            most_bits += weight * math.log2(rows / seen[code])
    squares = sum(len(group) ** 2 for group in kept)
    return {
        "ncp": ncp / rows / total,
        "generalized_loss": loss / rows / total,
        "entropy": bits / most_bits if most_bits else 0.0,
        "discernibility": squares + rows * (rows - len(published)),
        "average_class_size": len(published) / len(kept) / k if kept else math.inf,
    }


def size_at_least(k: int) -> Keeps:
    """k-anonymity."""
    return lambda codes, _everyone: len(codes) >= k


def distinct_at_least(k: int, values: int) -> Keeps:
    """k-anonymity and distinct l-diversity."""
    return lambda codes, _: len(codes) >= k and len(set(codes)) >= values


def entropy_at_least(k: int, values: float) -> Keeps:
    """k-anonymity and entropy l-diversity."""

    def keeps(codes: Sequence[int], _everyone: Sequence[int]) -> bool:
        shares = [count / len(codes) for count in Counter(codes).values()]
        entropy = -sum(share * math.log(share) for share in shares)
        return len(codes) >= k and entropy >= math.log(values) - 1e-9

    return keeps


def recursive(k: int, c: float, values: int) -> Keeps:
    """k-anonymity and recursive (c, l)-diversity."""

    def keeps(codes: Sequence[int], _everyone: Sequence[int]) -> bool:
        counts = sorted(Counter(codes).values(), reverse=True)
        tail = sum(counts[values - 1 :])
        return len(codes) >= k and tail > 0 and counts[0] < c * tail - 1e-12

    return keeps


def share_at_most(k: int, limit: float) -> Keeps:
    """k-anonymity, and no value with more than this share of a group."""

    def keeps(codes: Sequence[int], _everyone: Sequence[int]) -> bool:
        largest = max(Counter(codes).values()) / len(codes)
        return len(codes) >= k and largest <= limit + 1e-9

    return keeps


def close(
    k: int, t: float, steps: Sequence[Sequence[int]], source: Sequence[int] | None
) -> Keeps:
    """k-anonymity and t-closeness; `steps` are the nodes of each code per level.

    Groups are compared with the kept rows, or with the source if it is given.
    """

    def keeps(codes: Sequence[int], everyone: Sequence[int]) -> bool:
        reference = everyone if source is None else source
        if len(codes) < k or not reference:
            return len(codes) >= k
        distance = sum(_variation(codes, reference, nodes) for nodes in steps)
        return distance / len(steps) <= t + 1e-9

    return keeps


def _variation(
    codes: Sequence[int], reference: Sequence[int], nodes: Sequence[int]
) -> float:
    here = Counter(nodes[code] for code in codes)
    there = Counter(nodes[code] for code in reference)
    return (
        sum(
            abs(here[node] / len(codes) - there[node] / len(reference))
            for node in here.keys() | there.keys()
        )
        / 2
    )


def best_by_definition(findings: Sequence[Finding], metric: str) -> Finding:
    """Lowest loss, then lowest sum of levels, then lowest levels."""
    lowest = min(finding.losses[metric] for finding in findings)
    slack = 1e-12 * max(1.0, lowest)
    tied = [f for f in findings if f.losses[metric] <= lowest + slack]
    return min(tied, key=lambda finding: (sum(finding.node), finding.node))
