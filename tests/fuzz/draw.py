"""Whole cases drawn at random: a table, a policy for it, and a way to run it."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from random import Random
from typing import Any

from sfumato import registry
from sfumato.models.base import OutputModel, ProcessModel, SensitiveModel
from sfumato.policy import Policy
from sfumato.publish.base import Form
from tests.fuzz.cases import NESTED, Case, Column
from tests.fuzz.hierarchies import draw_hierarchy
from tests.fuzz.private import private_case
from tests.fuzz.requirements import draw_requirement
from tests.fuzz.settings import draw_options
from tests.fuzz.values import FLAVORS, MARKS, canary, draw_canaries, draw_column

READ = ("csv", "parquet", "arrow")
WRITTEN = (*READ, "csv.gz", "csv.zst")
"""The formats whose cells the oracle reads by itself. Files of statistics programs,
workbooks and databases change what cells are; `tests/unit/io` tests them."""
DOORS = ("command", "command", "command --json", "arrow", "pandas", "polars")
FRAMES = frozenset({"pandas", "polars"})
"""Doors that take texts alone: their own types would change what is published."""
ROWS = (1, 2, 3, 5, 8, 8, 12, 12, 20, 20, 30, 30, 40, 60, 150)
NAMES = ("q", "home zip", "alter", "Größe", "a.b", "x y,z")


@cache
def schema() -> dict[str, Any]:
    """What a policy may say, by its sections."""
    found: dict[str, Any] = Policy.json_schema()["$defs"]
    return found


def allowed(section: str, key: str) -> list[Any]:
    """The choices of a key in the schema."""
    entry = schema()[section]["properties"][key]
    options = [entry, *entry.get("anyOf", [])]
    return [value for option in options for value in option.get("enum", [])]


def draw_case(name: str) -> Case:
    """The case behind a name: the same every time."""
    random = Random(name)
    if random.random() < 0.06:
        return private_case(name, random)
    return _with_policy(random, draw_table(name, random, door=random.choice(DOORS)))


def draw_table(name: str, random: Random, *, door: str) -> Case:
    """A table with a role for each column, and hierarchies for some."""
    form = "csv" if door in FRAMES else random.choice(READ)
    rows = random.choice(ROWS)
    marks = tuple(random.sample(MARKS, random.choice([1, 1, 2, 3])))
    case = Case(name=name, door=door, format=form, columns={}, policy={"columns": {}})
    case.policy["data"] = _data(random, form, marks, door)
    for number in range(random.choice([1, 1, 2, 2, 3, 3, 4])):
        _add(random, case, f"{random.choice(NAMES)}{number}", "quasi", rows, marks)
    for number in range(random.choice([0, 1, 1, 1, 2])):
        _add(random, case, f"s{number}", "sensitive", rows, marks)
    _add_others(random, case, rows)
    return _with_hierarchies(random, case)


def _data(
    random: Random, form: str, marks: tuple[str, ...], door: str
) -> dict[str, Any]:
    data: dict[str, Any] = {}
    if marks != ("",):
        data["missing"] = list(marks)
    if random.random() < 0.35:
        data["missing_as"] = random.choice(allowed("Data", "missing_as"))
    if form == "csv" and door not in FRAMES:
        if random.random() < 0.4:
            data["delimiter"] = random.choice([",", ";", "\t", "|"])
        if random.random() < 0.2:
            data["encoding"] = random.choice(["utf-8", "utf-16"])
        if random.random() < 0.1:
            data["decimal"] = random.choice([".", ","])
    if random.random() < 0.1:
        data["format"] = form
    return data


def _add(
    random: Random, case: Case, name: str, role: str, rows: int, marks: tuple[str, ...]
) -> None:
    gaps: tuple[str | None, ...] = ()
    if random.random() < 0.35:
        # In a CSV file a null is an empty cell, which may be a value.
        gaps = marks if case.is_csv and "" not in marks else (None, *marks)
    flavor = FLAVORS[random.choice(list(FLAVORS))]
    column = draw_column(random, flavor, rows=rows, csv_file=case.is_csv, gaps=gaps)
    case.columns[name] = column
    section: dict[str, Any] = {"role": role}
    if column.kind == "ordered":
        section["kind"] = column.kind
        known = {c for c in column.cells if c is not None and c not in marks}
        section["order"] = sorted(known) or ["nothing"]
        random.shuffle(section["order"])
    elif random.random() < 0.5:
        section["kind"] = column.kind
    if role == "quasi" and random.random() < 0.2:
        section["weight"] = random.choice([0.25, 1.0, 3.0])
    case.policy["columns"][name] = section


def _add_others(random: Random, case: Case, rows: int) -> None:
    """Columns that are no quasi-identifiers and not judged."""
    if random.random() < 0.6:
        _put(
            case, "name", draw_canaries(random, rows=rows, repeated=False, nested=False)
        )
        case.policy["columns"]["name"] = {"role": "identifier"}
        if random.random() < 0.2:
            case.policy["columns"]["name"]["pseudonymize"] = "keyed-hash"
    if random.random() < 0.5:
        nested = case.door.startswith("command") and not case.is_csv
        nested = nested and random.random() < 0.6
        repeated = random.random() < 0.5
        _put(
            case,
            "note",
            draw_canaries(random, rows=rows, repeated=repeated, nested=nested),
        )
        case.policy["columns"]["note"] = _kept(random, {"role": "insensitive"})
    if random.random() < 0.25:
        persons = max(1, rows // random.choice([1, 2, 3]))
        cells = tuple(f"person{random.randrange(persons):06}" for _ in range(rows))
        _put(case, "person", Column(kind="category", cells=cells))
        section = {"role": "subject"}
        if random.random() < 0.2:
            section["pseudonymize"] = "keyed-hash"
        case.policy["columns"]["person"] = section
    if random.random() < 0.2:
        cells = tuple(str(random.choice([1, 1.5, 4, 10])) for _ in range(rows))
        _put(case, "weight", Column(kind="decimal", cells=cells))
        case.policy["columns"]["weight"] = _kept(random, {"role": "weight"})
    if random.random() < 0.2:
        _put(
            case, "gone", draw_canaries(random, rows=rows, repeated=True, nested=False)
        )
        case.policy["columns"]["gone"] = {"drop": True}
    if random.random() < 0.15:
        _put(
            case, "more", draw_canaries(random, rows=rows, repeated=True, nested=False)
        )
        case.policy["unlisted"] = random.choice(["keep", "drop"])
    if random.random() < 0.03:
        first = case.names("quasi")[0]
        _put(case, f"{first}_from", Column(kind="integer", cells=("7",) * rows))
        case.policy["columns"][f"{first}_from"] = {"role": "insensitive"}


def _kept(random: Random, section: dict[str, Any]) -> dict[str, Any]:
    """Say that a column is meant to leave as it is, where a policy can say so."""
    if (
        "keep_as_is" in schema()["ColumnSection"]["properties"]
        and random.random() < 0.98
    ):
        section["keep_as_is"] = True
    return section


def _put(case: Case, name: str, column: Column) -> None:
    case.columns[name] = column


def known_values(case: Case, name: str) -> list[str]:
    """The values of a column as texts, without its gaps."""
    marks = case.missing_marks()
    texts = case.columns[name].texts(case.is_csv)
    return [t for t in dict.fromkeys(texts) if t is not None and t not in marks]


def _with_hierarchies(random: Random, case: Case) -> Case:
    for name in [*case.names("quasi"), *case.names("sensitive")]:
        sensitive = name in case.names("sensitive")
        if sensitive and random.random() < 0.5:
            continue
        column, leaves = case.columns[name], known_values(case, name)
        if not leaves:
            continue
        drawn = draw_hierarchy(random, name, column, leaves=leaves, judged=sensitive)
        if drawn.spec is not None:
            case.policy["columns"][name]["hierarchy"] = drawn.spec
        if not sensitive and drawn.spec in (None, "free"):
            _add_resolution(case, name, leaves)
        case.files.update(drawn.files)
        case.columns[name] = replace(column, paths=drawn.paths)
    return case


def _add_resolution(case: Case, name: str, leaves: list[str]) -> None:
    """Put some numbers on a grid; drawn apart, so that all else stays as it was."""
    apart = Random(f"{name} {len(leaves)} {leaves[0]}")
    if case.columns[name].kind in ("integer", "decimal") and apart.random() < 0.3:
        steps = [0.1, 0.5, 3.0, 7.0, 25.0, 1e-9, 1e9]
        case.policy["columns"][name]["resolution"] = apart.choice(steps)


def _with_policy(random: Random, case: Case) -> Case:
    publish = _publish(random, case)
    case.policy["publish"] = publish
    if random.random() < 0.25:
        case = replace(case, population=draw_population(random, case))
    form = registry.load("operators", publish.get("operator", "generalize")).form
    wanted = draw_models(random, case, form)
    case.policy["require"] = [draw_requirement(random, case, model) for model in wanted]
    case.policy["algorithm"] = _algorithm(random, wanted)
    if random.random() < 0.15:
        listed = [*case.names("quasi"), *case.names("sensitive")]
        case.policy["report"] = {"loss_by": [random.choice(listed)]}
    told_apart = case.names("identifier") or case.names("subject")
    if told_apart and random.random() < 0.15:
        case.policy["privacy"] = {"link_key": "link.key"}
        case.files["link.key"] = canary(random) * 2
    if random.random() < 0.03:
        # Settings of `compare`; they change no release.
        case.policy["compare"] = {"algorithms": ["mondrian"], "operators": ["suppress"]}
        case.policy["accept"] = {"ncp": 0.5}
    return _add_late(case)


def _add_late(case: Case) -> Case:
    """Keys that came later; drawn apart, so that all else stays as it was."""
    apart = Random(f"late {case.name}")
    cells = [cell for c in case.columns.values() for cell in c.cells if cell]
    if apart.random() < 0.1 and not any(cell.endswith(" ") for cell in cells):
        case.policy["publish"]["trim"] = True
    broken = case.is_csv and any("\n" in cell for cell in cells)
    if broken and case.door not in FRAMES and apart.random() < 0.8:
        case.policy["data"]["multiline"] = True
    return case


def _publish(random: Random, case: Case) -> dict[str, Any]:
    operators = [
        name
        for name in registry.names("operators")
        if registry.load("operators", name).form is Form.CELLS
        or (case.names("sensitive") and not case.names("subject"))
    ]
    name = random.choice([*operators, "generalize", "generalize"])
    publish: dict[str, Any] = {"operator": name}
    publish |= draw_options(random, "operators", name)
    if random.random() < 0.5:
        publish["max_suppressed"] = random.choice([0.05, 0.1, 0.3, 0.5, 1.0])
    if random.random() < 0.1:
        publish["spreadsheet_safe"] = True
    if random.random() < 0.1:
        publish["order"] = random.choice(allowed("Publish", "order"))
    if random.random() < 0.3:
        publish["format"] = random.choice(_formats(case))
    if "max_loss" in schema()["Publish"]["properties"] and random.random() < 0.9:
        publish["max_loss"] = 1.0
    return publish


def _formats(case: Case) -> list[str]:
    """The formats that hold the table: a CSV file has no place for nested cells."""
    nested = any(column.type in NESTED for column in case.columns.values())
    return [form for form in WRITTEN if not (nested and form.startswith("csv"))]


def draw_population(random: Random, case: Case) -> dict[str, Column]:
    """The quasi-identifiers of the source's rows, and of more people."""
    names = case.names("quasi")
    texts = {name: case.columns[name].texts(case.is_csv) for name in names}
    more = random.choice([0, case.rows, 3 * case.rows])
    result = {}
    for name in names:
        extra = [random.choice(texts[name]) for _ in range(more)]
        column = case.columns[name]
        result[name] = replace(column, cells=(*texts[name], *extra), type="string")
    return result


def draw_models(random: Random, case: Case, form: Form) -> list[str]:
    """Names of models that suit the table and the operator, mostly."""
    names = [name for name in registry.names("models") if _suits(case, form, name)]
    if random.random() < 0.03:
        names = list(registry.names("models"))
    usual = "k-anonymity" if form is Form.CELLS else "group-size"
    wanted = [usual] if random.random() < 0.35 else []
    while len(wanted) < random.choice([1, 1, 1, 2, 2, 3]):
        wanted.append(random.choice(names))
    return wanted


def _suits(case: Case, form: Form, name: str) -> bool:
    model = registry.load("models", name)
    if issubclass(model, ProcessModel):
        return False
    if issubclass(model, SensitiveModel) and not case.names("sensitive"):
        return False
    if name == "delta-presence" and case.population is None:
        return False
    return form is Form.CELLS or not _needs_cells(model)


def _needs_cells(model: type[OutputModel]) -> bool:
    return bool(model.needs_cells)


def _algorithm(random: Random, wanted: list[str]) -> dict[str, Any]:
    names = [
        name
        for name in registry.names("algorithms")
        if not registry.load("algorithms", name).certifies
    ]
    if "diversity" in wanted and random.random() < 0.8:
        names = ["diva"]
    if random.random() < 0.05:
        return {}
    name = random.choice(names)
    return {"name": name, **draw_options(random, "algorithms", name)}
