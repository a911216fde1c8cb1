"""Sfumato's own cases: the search alone, the whole call, the whole command."""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

import sfumato as sf
from benchmarks.measure import Facts, Job, command
from benchmarks.places import (
    environment,
    program,
    scratch,
    synthetic,
    synthetic_csv,
)
from benchmarks.scoring import our_reader, records_of, score
from benchmarks.sources import (
    QUASI,
    SENSITIVE,
    Coded,
    Source,
    adult,
    coded,
    diverse_adult,
)
from sfumato import registry
from sfumato.algorithms.base import Request, Solution
from sfumato.algorithms.clustering.klt import Klt, Variant
from sfumato.algorithms.partition.mondrian import Cut, Mondrian
from sfumato.data.schema import Kind
from sfumato.data.seeds import Seed
from sfumato.hierarchies.axis import STAR, Axis, CodedAxis, Shape
from sfumato.kernels.compilation.library import usable
from sfumato.models.group_size import GroupSize
from sfumato.models.k_anonymity import KAnonymity
from sfumato.models.l_diversity import LDiversity
from sfumato.models.theta_diversity import ThetaDiversity

THREADS = 2


def search_adult(*, rows: int | None, k: int, cut: Cut) -> Job:
    """The search on Adult without hierarchies; utility is that of the release."""
    source = adult(rows)
    request = _request(coded(source), k)
    return Job(
        work=lambda: Mondrian(cut=cut).search(request),
        facts=lambda solution: {
            **_kernel_facts(solution),
            **_scored(_anonymized(source, k, cut), source, k),
        },
    )


def search_by(*, library: bool, rows: int | None, k: int, cut: Cut) -> Job:
    """The same search, refused unless the kernels are run in the way that is named."""
    if (usable() is not None) != library:
        raise SystemExit(f"A library of these sources serves: {not library}.")
    return search_adult(rows=rows, k=k, cut=cut)


def search_synthetic(*, rows: int, data: str, k: int, cut: Cut) -> Job:
    """The search on a made table."""
    request = _request(synthetic(rows, data), k)
    return Job(work=lambda: Mondrian(cut=cut).search(request), facts=_group_facts)


def search_klt(*, rows: int | None, variant: Variant) -> Job:
    """K,L,θ clustering of Adult, or of a larger table drawn from it."""
    table = diverse_adult(rows)
    *quasi, sensitive = (_axis(table, j) for j in range(len(table.names)))
    request = Request(
        quasi=tuple(quasi),
        sensitive={sensitive.axis.name: sensitive},
        models=(GroupSize(k=10), LDiversity(l=5), ThetaDiversity(theta=0.3)),
        seed=Seed.guessable(1),
        threads=THREADS,
    )
    return Job(
        work=lambda: Klt(variant=variant).search(request),
        facts=lambda solution: _diversity(solution, sensitive.codes),
    )


def anonymize_adult(*, rows: int | None, k: int, cut: Cut) -> Job:
    """The whole call in memory: code, search, publish, verify, measure."""
    source = adult(rows)
    frame = pa.table(source.columns)
    policy = _policy(QUASI, SENSITIVE, k, cut)
    return Job(
        work=lambda: sf.anonymize(frame, policy, threads=THREADS).table,
        facts=lambda table: _scored(table, source, k),
    )


def check_adult(*, rows: int | None, k: int) -> Job:
    """Our verifier on a published table: k, and distinct l."""
    published = _anonymized(adult(rows), k, "gain")
    return Job(
        work=lambda: sf.check(
            published, quasi=list(QUASI), sensitive=[SENSITIVE], k=1, l=1
        ),
        facts=lambda found: {
            "k": found.verdicts[0]["measured"],
            "l": found.verdicts[1]["measured"],
        },
    )


def published_adult(rows: int | None, k: int) -> pa.Table:
    """The release that both verifiers are given."""
    return _anonymized(adult(rows), k, "gain")


def anonymize_file(*, rows: int, cut: Cut) -> Job:
    """The whole command: read, solve, publish, verify twice, write."""
    data, out = synthetic_csv(rows), scratch() / f"release-{cut}"
    policy = scratch() / f"policy-{rows}-{cut}.toml"
    policy.write_text(_toml(QUASI, "disease", 5, cut, data), encoding="utf-8")
    arguments = [program("sfumato"), "anonymize", str(policy), "--out", str(out)]
    return Job(
        work=lambda: command(arguments, environment=environment()),
        commands=True,
        prepare=lambda: shutil.rmtree(out, ignore_errors=True),
    )


def anonymize_call(*, rows: int, cut: Cut) -> Job:
    """The same in this process, its libraries loaded and its memory warm."""
    data, out = synthetic_csv(rows), scratch() / f"called-{cut}"
    policy = _policy(QUASI, "disease", 5, cut)
    return Job(
        work=lambda: sf.anonymize(data, policy, threads=THREADS).save(out),
        prepare=lambda: shutil.rmtree(out, ignore_errors=True),
    )


def check_file(*, rows: int) -> Job:
    """The check as a command, asked for k = 1 so that any table passes."""
    data = synthetic_csv(rows)
    arguments = [program("sfumato"), "check", str(data), "--quasi", ",".join(QUASI)]
    arguments += ["--k", "1"]
    return Job(
        work=lambda: command(arguments, environment=environment()), commands=True
    )


def _request(table: Coded, k: int) -> Request:
    return Request(
        quasi=tuple(_axis(table, j) for j in range(len(table.names))),
        models=(KAnonymity(k=k),),
        seed=Seed.guessable(1),
        threads=THREADS,
        resolve=registry.algorithm,
    )


def _axis(table: Coded, j: int) -> CodedAxis:
    """A column without a hierarchy: free if numeric, flat if not."""
    labels, numeric = table.labels[j], table.numeric[j]
    size = len(labels)
    loss = np.zeros(size + 1)
    loss[-1] = 1.0
    leaves = np.arange(size, dtype=np.int32)
    axis = Axis(
        name=table.names[j],
        kind=Kind.INTEGER if numeric else Kind.CATEGORY,
        shape=Shape.FREE if numeric else Shape.FLAT,
        labels=labels,
        levels=np.stack([leaves, np.full(size, size, dtype=np.int32)]),
        node_labels=(*labels, STAR),
        node_ncp=loss,
        node_loss=loss,
        positions=np.array([float(x) for x in labels]) if numeric else None,
        fitted=True,
    )
    return CodedAxis(axis, np.ascontiguousarray(table.codes[j]))


def _group_facts(solution: Solution) -> Facts:
    sizes = solution.grouping.sizes()
    return {
        **_kernel_facts(solution),
        "groups": len(sizes),
        "smallest_group": int(sizes.min()),
    }


def _diversity(solution: Solution, values: npt.NDArray[np.int32]) -> Facts:
    """What the groups come to, counted from the rows."""
    group_of = solution.grouping.group_of
    kept = group_of >= 0
    counts = np.zeros((group_of.max() + 1, values.max() + 1), dtype=np.int64)
    np.add.at(counts, (group_of[kept], values[kept]), 1)
    sizes = counts.sum(axis=1)
    return {
        "groups": len(sizes),
        "left_out": int((~kept).sum()),
        "smallest_group": int(sizes.min()),
        "fewest_values": int((counts > 0).sum(axis=1).min()),
        "highest_share": float((counts.max(axis=1) / sizes).max()),
    }


def _kernel_facts(solution: Solution) -> Facts:
    """What the search says of its own compiled part, on its last run."""
    return {"kernel_seconds": float(solution.facts["kernel_seconds"])}


def _anonymized(source: Source, k: int, cut: str) -> pa.Table:
    policy = _policy(QUASI, SENSITIVE, k, cut)
    return sf.anonymize(pa.table(source.columns), policy, threads=THREADS).table


def _scored(table: pa.Table, source: Source, k: int) -> Facts:
    columns = [table.column(name).cast(pa.string()).to_pylist() for name in QUASI]
    readers = [our_reader(domain) for domain in source.domains]
    records = records_of(columns, readers)
    return score(records, source.domains, rows=source.rows, k=k).facts()


def _policy(quasi: Sequence[str], sensitive: str, k: int, cut: str) -> Any:
    path = scratch() / f"policy-adult-{k}-{cut}.toml"
    path.write_text(_toml(quasi, sensitive, k, cut, Path("adult.csv")), "utf-8")
    return sf.Policy.load(path)


def _toml(quasi: Sequence[str], sensitive: str, k: int, cut: str, data: Path) -> str:
    """A policy without hierarchies."""
    columns = "".join(
        f'[columns."{name}"]\nrole = "quasi"\nhierarchy = "flat"\n'
        if name != "age"
        else f'[columns."{name}"]\nrole = "quasi"\nkind = "integer"\n'
        for name in quasi
    )
    return (
        f'version = 1\n[data]\npath = "{data}"\n{columns}'
        f'[columns."{sensitive}"]\nrole = "sensitive"\n'
        f'[[require]]\nmodel = "k-anonymity"\nk = {k}\n'
        f'[algorithm]\nname = "mondrian"\ncut = "{cut}"\n'
    )
