"""Cases under differential privacy: declared domains, and a budget."""

from __future__ import annotations

from random import Random
from typing import Any

from sfumato import registry
from tests.fuzz.cases import Case, Column
from tests.fuzz.settings import draw_options
from tests.fuzz.values import canary


def private_case(name: str, random: Random) -> Case:
    """A table whose columns have declared domains, for an algorithm with a ledger."""
    rows = random.choice([40, 300, 600])
    case = Case(
        name=name,
        door=random.choice(["command", "arrow"]),
        format=random.choice(["csv", "parquet", "arrow"]),
        columns={},
        policy={"columns": {}, "data": {}},
    )
    _number(random, case, rows)
    for column, role in (("city", "quasi"), ("illness", "sensitive")):
        _words(random, case, column, role, rows)
    if random.random() < 0.3:
        cells = tuple(f"person{random.randrange(rows // 2):06}" for _ in range(rows))
        case.columns["person"] = Column(kind="category", cells=cells)
        case.policy["columns"]["person"] = {"role": "subject"}
    _requirements(random, case)
    return case


def _number(random: Random, case: Case, rows: int) -> None:
    cells = tuple(str(random.randint(15, 90)) for _ in range(rows))
    kind = "string" if case.is_csv else random.choice(["string", "int64"])
    case.columns["age"] = Column(kind="integer", cells=cells, type=kind)
    spec: dict[str, Any] = {"intervals": [5, 10, 20]}
    section: dict[str, Any] = {"role": "quasi", "kind": "integer", "hierarchy": spec}
    if random.random() < 0.5:
        spec |= {"bottom": 20, "top": 80}
    else:
        section["domain"] = {"low": 15, "high": 90}
    case.policy["columns"]["age"] = section


def _words(random: Random, case: Case, name: str, role: str, rows: int) -> None:
    leaves = [canary(random) for _ in range(4)]
    tree = {canary(random): leaves[:2], canary(random): leaves[2:]}
    paths = {
        leaf: [leaf, label, "*"] for label, below in tree.items() for leaf in below
    }
    cells = tuple(random.choice(leaves[:3]) for _ in range(rows))
    case.columns[name] = Column(kind="category", cells=cells, paths=paths)
    case.policy["columns"][name] = {"role": role, "hierarchy": {"tree": tree}}


def _requirements(random: Random, case: Case) -> None:
    names = [
        name
        for name in registry.names("algorithms")
        if registry.load("algorithms", name).certifies
    ]
    name = random.choice(names)
    epsilon = random.choice([0.5, 1.0, 2.0])
    delta = random.choice([0.0, 1e-6, 1e-3]) if name != "safepub" else 1e-3
    wanted: dict[str, Any] = {"model": "differential-privacy", "epsilon": epsilon}
    if delta:
        wanted["delta"] = delta
    case.policy["require"] = [wanted]
    if not registry.load("algorithms", name).every_column:
        case.policy["require"].append({"model": "k-anonymity", "k": 3})
    options = draw_options(random, "algorithms", name)
    options.pop("refine", None)
    options.pop("seconds", None)
    if name == "dp-anonym" and random.random() < 0.3:
        strict = options.get("mode") != "relaxed"
        options["depth"] = random.choice([12, 40, "unlimited" if strict else 20])
    case.policy["algorithm"] = {"name": name, **options}
    case.policy["publish"] = {"operator": "generalize", "max_suppressed": 0.5}
    if random.random() < 0.3:
        case.policy["privacy"] = {
            "ledger": "ledger.json",
            "epsilon": 5.0,
            "delta": 0.01,
        }
