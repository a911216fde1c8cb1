"""Absurd settings and inputs, each with what the error must name."""

from __future__ import annotations

import gzip
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as parquet

ROWS = 40
NAME, ILLNESS = "Quirinalis", "Zymurgosis"
"""Cells that no message may show."""
POLICY = """\
version = 1

[data]
path = "people.csv"

[columns.name]
role = "identifier"

[columns.age]
role = "quasi"
kind = "integer"

[columns.size]
role = "quasi"
kind = "decimal"

[columns.born]
role = "quasi"
kind = "date"

[columns.zip]
role = "quasi"
kind = "code"

[columns.illness]
role = "sensitive"

[[require]]
model = "k-anonymity"
k = 4

[[require]]
model = "l-diversity"
l = 2

[[require]]
model = "t-closeness"
t = 0.9

[algorithm]
name = "mondrian"

[publish]
operator = "generalize"
"""


def people(**cells: object) -> str:
    """The table; a keyword replaces all cells of a column, or gives them in turn."""
    lines = ["name,age,size,born,zip,illness"]
    for row in range(ROWS):
        good = {
            "name": f"{NAME}{row}",
            "age": 20 + row % 30,
            "size": 1.5 + row % 7,
            "born": f"19{50 + row % 40}-0{1 + row % 9}-11",
            "zip": f"0{row % 9}2{row % 10}1",
            "illness": f"{ILLNESS}{row % 4}",
        }
        for name, values in cells.items():
            good[name] = (
                values[row % len(values)] if isinstance(values, list) else values
            )
        lines.append(",".join(str(cell) for cell in good.values()))
    return "\n".join(lines) + "\n"


Prepare = Callable[[Path], None]


def nothing(_place: Path) -> None:
    """Leave the place as it is."""


@dataclass(frozen=True)
class Case:
    """A command that must be refused, what is prepared for it, what must be named."""

    words: tuple[str, ...]
    named: str
    prepare: Prepare = nothing
    code: int = 2


def setting(text: str, *, named: str = "", code: int = 2) -> Case:
    """A setting of the policy, for one run."""
    words = ("anonymize", "policy.toml", "--set", text)
    return Case(words, named or text.split("=")[0].split(".")[-1], code=code)


def hierarchy(column: str, text: str) -> Case:
    """A hierarchy of a column."""
    return setting(f"columns.{column}.hierarchy={text}", named=f"{column}")


def policy_file(content: bytes | str, *, named: str = "policy.toml") -> Case:
    """Another policy file."""
    raw = content.encode() if isinstance(content, str) else content
    return Case(
        ("anonymize", "policy.toml"),
        named,
        lambda place: _write(place / "policy.toml", raw),
    )


def table(name: str, content: bytes | str, *more: str, named: str = "") -> Case:
    """Another table, and settings for it."""
    raw = content.encode() if isinstance(content, str) else content
    words = [word for text in more for word in ("--set", text)]
    return Case(
        ("anonymize", "policy.toml", "--data", name, *words),
        named or name,
        lambda place: _write(place / name, raw),
    )


def _write(place: Path, content: bytes) -> None:
    place.write_bytes(content)


def _anatomy(count: str) -> Case:
    def prepare(place: Path) -> None:
        (place / "data.csv").write_text("age,group\n1,0\n2,0\n")
        (place / "sensitive.csv").write_text(
            f"group,illness,count\n0,{ILLNESS},{count}\n0,other,1\n"
        )
        (place / "anatomy.toml").write_text(
            'version = 1\n[columns.age]\nrole = "quasi"\n[columns.illness]\n'
            'role = "sensitive"\n[[require]]\nmodel = "l-diversity"\nl = 2\n'
            '[publish]\noperator = "anatomize"\n'
        )

    words = ("check", "data.csv", "--policy", "anatomy.toml")
    return Case(words, "count", prepare)


def _record(**columns: pa.Array) -> Case:
    """A private record that is not what a release writes."""

    def prepare(place: Path) -> None:
        parquet.write_table(pa.table(columns), place / "rows.parquet")

    words = ("check", "people.csv", "--quasi", "zip", "--k", "1")
    return Case((*words, "--groups", "rows.parquet"), "rows.parquet", prepare)


def _bytes_record(content: bytes) -> Case:
    words = ("check", "people.csv", "--quasi", "zip", "--k", "1")
    return Case(
        (*words, "--groups", "rows.parquet"),
        "rows.parquet",
        lambda place: _write(place / "rows.parquet", content),
    )


def _parquet(place: Path, **cells: object) -> None:
    parquet.write_table(pa.table(cells), place)


QUERIES = b"".join(
    b"select count(*) from t where age > %d;\n" % age for age in range(20, 40)
)
DEEP = "[" * 100_000


def _deep(words: tuple[str, ...], place: str) -> Case:
    """A command that reads a file whose content is nested without end."""

    def prepare(home: Path) -> None:
        (home / place).parent.mkdir(exist_ok=True)
        (home / place).write_text(DEEP)

    return Case(words, place.split("/")[0], prepare)


def _sql(condition: bytes) -> Case:
    """A workload of one statement."""
    statement = b"select count(*) from t where " + condition
    return Case(
        ("tune", "policy.toml", "--workload", "q.sql"),
        "q.sql",
        lambda place: _write(place / "q.sql", statement),
    )


def _tune(*words: str, named: str) -> Case:
    """Tuning for a good workload, with other options."""
    return Case(
        ("tune", "policy.toml", "--workload", "q.sql", *words),
        named,
        lambda place: _write(place / "q.sql", QUERIES),
    )


CHECK = ("check", "people.csv", "--quasi", "zip", "--k", "1")
NESTED = [
    _deep(("anonymize", "policy.toml", "--force"), "release/manifest.json"),
    _deep((*CHECK, "--manifest", "manifest.json"), "manifest.json"),
    _deep(("tune", "policy.toml", "--workload", "w.json"), "w.json"),
    _sql(b"(" * 2000 + b"age > 1" + b")" * 2000),
    _sql(b" and ".join([b"age > 1"] * 3000)),
]
NUMBERS = [
    setting(f"require.0.k={value}", named="require")
    for value in ("0", "-1", "1.5", "five", "true", "[]", "nan", "inf", "1e300", "{}")
]
HUGE = [
    setting(f"require.0.k={10**30}", named="require[0].k"),
    setting(f"require.1.l={10**30}", named="require[1].l"),
    setting("require.0.k=41", named="40", code=3),
    setting(f"require.0.k={10**15}", named="40", code=3),
    setting("require.1.l=5", named="illness", code=3),
]
MODELS = [
    *(setting(f"require.1.l={v}", named="l") for v in ("0", "-1", "two", "nan", "[2]")),
    *(setting(f"require.2.t={v}", named="t") for v in ("-0.1", "nan", '"x"', "inf")),
    setting("require.0.model=no-such"),
    setting("require.0.model=5"),
    setting("require.0.model=''"),
    setting("require.1.on=age"),
    setting("require.1.on=no-such"),
    setting("require.0.nonsense=1"),
    setting("require=5"),
    setting("require=[]"),
    setting("require.9.k=1"),
    setting("require.x.k=1"),
    setting("require=[{}]"),
    setting("require=[5]"),
]
PUBLISH = [
    *(
        setting(f"publish.max_suppressed={value}")
        for value in ("-0.1", "1.1", "nan", "inf", '"x"', "[]")
    ),
    setting("publish.operator=no-such"),
    setting("publish.operator=5"),
    setting("publish.numbers=no-such"),
    setting("publish.flat=no-such"),
    setting("publish.order=no-such"),
    setting("publish.format=xls"),
    setting("publish.nonsense=1"),
    setting("publish=5"),
    setting("algorithm.name=no-such"),
    setting("algorithm.name=5"),
    setting("algorithm.nonsense=1"),
    setting("algorithm=5"),
    setting('report.loss_by=["no-such"]'),
    setting("report.loss_by=5"),
    setting("privacy.epsilon=0"),
    setting("privacy.epsilon=nan"),
    setting("privacy.delta=1"),
    setting("privacy.delta=-1"),
    setting("privacy.ledger=5"),
    setting("privacy.nonsense=1"),
    setting("unlisted=no-such"),
    setting("version=2"),
    setting("version=one"),
    setting("nonsense=1"),
    setting("a.b.c=1", named="a"),
    setting("=1", named="--set"),
    setting("no-value", named="--set"),
]
DATA = [
    setting("data.path=", named="path"),
    setting("data.path=nowhere.csv", named="nowhere.csv"),
    setting("data.path=.", named="."),
    setting(r'data.path="a\u0000b.csv"', named="path"),
    setting("data.path=5"),
    setting("data.path=people.xyz", named="people.xyz"),
    setting("data.path=" + "a" * 5000 + ".csv", named="aaa"),
    setting("data.format=xls"),
    *(
        setting(f"data.delimiter={value}")
        for value in (
            "",
            ",,",
            "é",
            r'"\u0000"',
            r'"\n"',
            r'"\r"',
            "'\"'",
            "5",
            "€",
            r'"\ufeff"',
        )
    ),
    *(
        setting(f"data.encoding={name}")
        for name in (
            "base64",
            "rot13",
            "undefined",
            "hex",
            "zlib",
            "bz2",
            "uu",
            "quopri",
            "no-such",
            '""',
            r'"utf-8\u0000"',
            "idna",
            "punycode",
            "unicode_escape",
            "raw_unicode_escape",
        )
    ),
    setting("data.missing=5"),
    setting("data.missing=[5]"),
    setting("data.missing_as=no-such"),
    setting("data.decimal=;"),
    setting("data.nonsense=1"),
    setting("data=5"),
]
COLUMNS = [
    setting("columns.age.role=no-such"),
    setting("columns.age.kind=no-such"),
    setting("columns.age.kind=date", named="age"),
    setting("columns.illness.kind=integer", named="illness"),
    setting("columns.illness.kind=decimal", named="illness"),
    setting("columns.illness.kind=datetime", named="illness"),
    setting("columns.illness.kind=ordered", named="illness"),
    *(
        setting(f"columns.age.weight={value}", named="weight")
        for value in ("0", "-1", "nan", "inf", '"x"', "1e-320", "[]")
    ),
    setting('columns.age.order=["a"]', named="order"),
    setting("columns.age.drop=x", named="drop"),
    setting("columns.age.pseudonymize=x", named="pseudonymize"),
    setting("columns.age.pseudonymize=keyed-hash", named="pseudonymize"),
    setting("columns.age.domain=[]", named="domain"),
    setting("columns.age.domain=5", named="domain"),
    setting("columns.age.nonsense=1"),
    setting("columns.nobody.role=quasi", named="nobody"),
    setting("columns.age=5"),
    setting("columns=5"),
    setting("columns={}", named="columns"),
    setting("columns.name.hierarchy=auto", named="name"),
]
HIERARCHIES = [
    *(
        hierarchy("age", text)
        for text in (
            "nowhere.csv",
            '""',
            "5",
            "[]",
            "{}",
            "{ intervals = [] }",
            "{ intervals = [0] }",
            "{ intervals = [-1] }",
            "{ intervals = [1] }",
            "{ intervals = [1.5] }",
            '{ intervals = ["a"] }',
            "{ intervals = [nan] }",
            "{ intervals = [inf] }",
            "{ intervals = [true] }",
            "{ intervals = [1e29] }",
            "{ intervals = [1e300] }",
            f"{{ intervals = [{10**30}] }}",
            f"{{ intervals = [{10**400}] }}",
            "{ intervals = [5, 7] }",
            "{ intervals = [10, 5] }",
            "{ intervals = [5, 5] }",
            "{ intervals = 5 }",
            '{ intervals = [5], origin = "x" }',
            "{ intervals = [5], origin = nan }",
            "{ intervals = [5], origin = inf }",
            "{ intervals = [5], origin = 1e300 }",
            f"{{ intervals = [5], origin = {10**30} }}",
            f"{{ intervals = [5], origin = {10**400} }}",
            "{ intervals = [5], origin = 0.5 }",
            "{ intervals = [5], bottom = 50, top = 10 }",
            "{ intervals = [5], bottom = nan }",
            "{ intervals = [5], top = inf }",
            f"{{ intervals = [5], top = {10**400} }}",
            "{ intervals = [5], nonsense = 1 }",
            "{ intervals = [5], quantiles = [4] }",
            "{ quantiles = [1] }",
            "{ quantiles = [0] }",
            "{ quantiles = [-3] }",
            "{ quantiles = [2.5] }",
            "{ quantiles = [1e12] }",
            "{ quantiles = [1000000000000] }",
            f"{{ quantiles = [{10**30}] }}",
            "{ quantiles = [3, 2] }",
            "{ prefix = [3] }",
            '{ calendar = ["year"] }',
            "{ tree = 5 }",
            "{ tree = {} }",
            '{ tree = "nowhere.json" }',
            "{ file = 5 }",
            '{ file = "policy.toml" }',
            '{ file = "people.csv" }',
            '{ file = "people.csv", delimiter = "é" }',
            '{ file = "people.csv", delimiter = "" }',
            r'{ file = "people.csv", delimiter = "\n" }',
            r'{ file = "people.csv", delimiter = "\u0000" }',
            '{ file = "people.csv", header = 5 }',
            '{ file = "people.csv", trust = "x" }',
            r'{ file = "a\u0000b.csv" }',
            '{ file = "." }',
        )
    ),
    *(
        hierarchy("size", text)
        for text in (
            "{ intervals = [1e-320] }",
            "{ intervals = [5e-324] }",
            "{ intervals = [1e-300] }",
            "{ intervals = [0.1, 0.25] }",
            "{ intervals = [1], origin = 1e300 }",
            "{ intervals = [1], origin = 1e-320, bottom = inf }",
        )
    ),
    *(
        hierarchy("born", text)
        for text in (
            '{ calendar = ["week"] }',
            '{ calendar = ["year", "month"] }',
            "{ calendar = [] }",
            "{ calendar = 5 }",
            "{ intervals = [1] }",
            "{ intervals = [1e29] }",
            "{ intervals = [30], bottom = 5 }",
            '{ intervals = [30], top = "no date" }',
            "{ intervals = [30], origin = 1.5 }",
        )
    ),
    *(
        hierarchy("zip", text)
        for text in (
            "{ prefix = [0] }",
            "{ prefix = [-1] }",
            "{ prefix = [2, 3] }",
            '{ prefix = ["a"] }',
            "{ prefix = [1.5] }",
            "{ prefix = [] }",
            "free",
            "{ intervals = [5] }",
        )
    ),
]
POLICIES = [
    policy_file(""),
    policy_file("a"),
    policy_file(b"\xff\xfe\x00"),
    policy_file("a = " + "[" * 100_000),
    policy_file("a = " + "[" * 5_000 + "]" * 5_000),
    policy_file("a = " + "{b = " * 5_000 + "1" + "}" * 5_000),
    policy_file(".".join("a" * 5_000) + " = 1"),
    policy_file("[" + ".".join("a" * 5_000) + "]\nb = 1"),
    policy_file(POLICY.replace("k = 4", "k = " + "9" * 5_000), named=""),
    policy_file(POLICY.replace("k = 4", "k = 0x" + "f" * 5_000), named="k"),
    policy_file(POLICY.replace("k = 4", "k = 4\nk = 5")),
    policy_file(POLICY.replace("k = 4", "k = 1979-05-27"), named="k"),
    policy_file(POLICY + "\x00"),
    Case(("anonymize", "nowhere.toml"), "nowhere.toml"),
    Case(("anonymize", "."), "."),
    Case(("anonymize", "a\0b.toml"), "null character"),
    Case(("anonymize", "policy\udcff.toml"), "policy"),
    Case(("anonymize", "a" * 5000), "aaa"),
]
COMMANDS = [
    Case(("anonymize", "policy.toml", "--seed", "xyz"), "seed"),
    Case(("anonymize", "policy.toml", "--seed", ""), "seed"),
    Case(("anonymize", "policy.toml", "--seed", "é" * 32), "seed"),
    Case(("anonymize", "policy.toml", "--insecure-seed", "x"), "insecure-seed"),
    Case(
        ("anonymize", "policy.toml", "--insecure-seed", "1", "--seed", "00"),
        "--insecure-seed",
    ),
    Case(("anonymize", "policy.toml", "--data", "nowhere.csv"), "nowhere.csv"),
    Case(("anonymize", "policy.toml", "--data", "a\0b.csv"), "null character"),
    Case(
        ("anonymize", "policy.toml", "--set", "publish.max_loss=" + "9" * 5000),
        "publish.max_loss",
    ),
    Case(
        ("anonymize", "policy.toml", "--set", "publish.max_loss=" + "[" * 5000),
        "publish.max_loss",
    ),
    Case(("anonymize", "policy.toml", "--data", "a\udcff.csv"), "a"),
    Case(("anonymize", "policy.toml", "--out", "people.csv"), "people.csv"),
    Case(("anonymize", "policy.toml", "--out", "people.csv/x"), "people.csv"),
    Case(("anonymize", "policy.toml", "--out", "nowhere/x"), "nowhere"),
    Case(("anonymize", "policy.toml", "--out", "a\0b"), "null character"),
    Case(("anonymize", "policy.toml", "--out", "a" * 5000), "aaa"),
    Case(("anonymize", "policy.toml", "--no-such"), "--no-such"),
    Case(("anonymize",), "POLICY"),
    Case(("no-such",), "no-such"),
    Case(("list", "no-such"), "no-such"),
    Case(("init", "nowhere.csv", "-o", "p.toml"), "nowhere.csv"),
    Case(("init", ".", "-o", "p.toml"), "."),
    Case(("init", "a\0b.csv"), "null character"),
    Case(("init", "people.csv", "-o", "policy.toml"), "policy.toml"),
    Case(("init", "people.csv", "-o", "nowhere/policy.toml"), "nowhere"),
    Case(("init", "people.csv", "-o", "a\0b"), "null character"),
    Case(("init", "people.csv", "-o", "p.toml", "--encoding", "base64"), "encoding"),
    Case(("init", "people.csv", "-o", "p.toml", "--delimiter", "é"), "delimiter"),
    Case(("init", "people.csv", "-o", "p.toml", "--delimiter", "ab"), "delimiter"),
    Case(("check", "people.csv"), "--quasi"),
    Case(("check", "people.csv", "--quasi", "zip"), "requirement"),
    Case(("check", "people.csv", "--quasi", "nobody", "--k", "2"), "nobody"),
    Case(("check", "people.csv", "--quasi", "", "--k", "2"), "quasi"),
    Case(("check", "people.csv", "--quasi", "zip", "--k", "0"), "k"),
    Case(("check", "people.csv", "--quasi", "zip", "--k", "x"), "--k"),
    Case(("check", "people.csv", "--quasi", "zip", "--l", "nan"), "l"),
    Case(("check", "people.csv", "--quasi", "zip", "--t", "inf"), "t"),
    Case(("check", "people.csv", "--quasi", "zip", "--require", "x"), "--require"),
    Case(
        ("check", "people.csv", "--quasi", "zip", "--require", "model=k-anonymity,k=x"),
        "k",
    ),
    Case(("check", "people.csv", "--quasi", "zip", "--missing-as", "no"), "missing-as"),
    Case(
        ("check", "people.csv", "--quasi", "zip", "--k", "1", "--encoding", "rot13"),
        "encoding",
    ),
    Case(
        ("check", "people.csv", "--quasi", "zip", "--k", "1", "--delimiter", "é"),
        "delimiter",
    ),
    Case(
        ("check", "people.csv", "--quasi", "zip", "--k", "1", "--groups", "nowhere"),
        "nowhere",
    ),
    Case(("check", "people.csv", "--policy", "nowhere.toml"), "nowhere.toml"),
    Case(("tune", "policy.toml"), "--workload"),
    Case(("tune", "policy.toml", "--workload", "nowhere.toml"), "nowhere.toml"),
    Case(("tune", "policy.toml", "--workload", "people.csv"), "people.csv"),
    Case(("tune", "policy.toml", "--workload", "policy.toml"), "policy.toml"),
    Case(
        ("tune", "policy.toml", "--workload", "policy.toml", "--trials", "0"), "trials"
    ),
    _tune("--train-share", "2", named="train"),
    _tune("--train-share", "nan", named="train"),
    _tune("--keep", "nobody", named="nobody"),
    _tune("--split-seed", "-1", named="split-seed"),
    _tune("--out", "people.csv", named="people.csv"),
    _tune("--out", "nowhere/tuned.toml", named="nowhere"),
    Case((*CHECK, "--require", "model=k-anonymity,k=5,k=6"), "--require"),
]
TABLES = [
    table("empty.csv", ""),
    table("header.csv", "name,age,size,born,zip,illness\n"),
    table("ragged.csv", people() + f"{NAME},1\n"),
    table("quote.csv", people() + f'"{NAME},1,2,3,4,5\n'),
    table("zero.csv", b"\0" * 500),
    table("latin.csv", people().replace(ILLNESS, "Zymurgösis").encode("latin-1")),
    table("twice.csv", "a,a\n1,2\n"),
    table("unnamed.csv", "a,\n1,2\n"),
    table("whole.csv.gz", gzip.compress(people().encode())[:-20]),
    table("plain.csv.gz", people()),
    table("text.parquet", people()),
    table("text.arrow", people()),
    table("sheet.csv", b"PK\x03\x04" + b"x" * 90),
    table("table.xlsx", b"PK\x03\x04" + b"x" * 90),
    table("other.csv", "a,b\n1,2\n", named="columns"),
    table("word.csv", people(age=["x"]), named="age"),
    table("infinite.csv", people(size=["1e400", "1"]), named="size"),
    table(
        "giants.csv",
        people(size=["1e300", "-1e300"]),
        "columns.size.hierarchy={ intervals = [1] }",
        named="size",
    ),
    table("long.csv", people(age=["9" * 30, "1"]), named="age"),
    table("late.csv", people(born=["99999-01-01", "2000-01-01"]), named="born"),
    table("february.csv", people(born=["2001-02-30", "2000-01-01"]), named="born"),
    table("star.csv", people(zip=["*", "00000"]), named="zip"),
]
RECORDS = [
    *(
        _anatomy(count)
        for count in ("-1", "100000000000000", "x", "1.5", "", "nan", "9" * 30)
    ),
    _bytes_record(b""),
    _bytes_record(b"PAR1"),
    _bytes_record(b"x" * 100),
    _record(a=pa.array([1])),
    _record(published_row=pa.array([0]), group=pa.array([0])),
    _record(published_row=pa.array(["a"] * ROWS), group=pa.array([0] * ROWS)),
    _record(published_row=pa.array(range(ROWS)), group=pa.array(["a"] * ROWS)),
    _record(published_row=pa.array([0] * ROWS), group=pa.array([0] * ROWS)),
    _record(published_row=pa.array(range(1, ROWS + 1)), group=pa.array([0] * ROWS)),
    _record(published_row=pa.array(range(ROWS)), group=pa.array([2**40] * ROWS)),
    _record(published_row=pa.array(range(ROWS)), group=pa.array([-5] * ROWS)),
    _record(published_row=pa.array(range(ROWS)), group=pa.nulls(ROWS, pa.int32())),
    _record(
        published_row=pa.array(range(ROWS)),
        group=pa.array([0] * ROWS),
        subject=pa.array([0.5] * ROWS),
    ),
]
CASES = [
    *NESTED,
    *NUMBERS,
    *HUGE,
    *MODELS,
    *PUBLISH,
    *DATA,
    *COLUMNS,
    *HIERARCHIES,
    *POLICIES,
    *COMMANDS,
    *TABLES,
    *RECORDS,
]
