"""The slides' walk: what each model says about one man, and what breaks it.

The first 5,000 rows of Adult without missing values, in the slides' groups of values;
sex and race are suppressed there, and left out here.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any

import pandas as pd

import sfumato as sf
from benchmarks.sources import directory
from experiments.results import (
    Finding,
    Line,
    Listing,
    Panel,
    Point,
    Result,
    Scale,
    Verdict,
    exact,
    judged,
)

ROWS = 5000
SCHOOL = (
    *("1st-4th", "5th-6th", "7th-8th", "9th"),
    *("10th", "11th", "12th", "Preschool"),
)
EUROPE = (
    *("Holand-Netherlands", "England", "Germany", "Greece", "Italy", "Poland"),
    *("Portugal", "Ireland", "France", "Scotland", "Yugoslavia", "Hungary"),
)
OCCUPATIONS = {
    "1": ("Tech-support", "Craft-repair", "Prof-specialty", "Machine-op-inspct"),
    "2": ("Sales", "Exec-managerial", "Handlers-cleaners"),
}
"""All others are group 3."""
GROUPS: dict[str, Callable[[str], str]] = {
    "age": lambda v: "1-30" if int(v) <= 30 else "31-60" if int(v) <= 60 else "61-120",
    "education": lambda v: (
        "School"
        if v in SCHOOL
        else "Undergraduate"
        if v in ("Some-college", "Bachelors")
        else "Graduate"
    ),
    "marital-status": lambda v: (
        "spouse present"
        if v in ("Married-civ-spouse", "Married-AF-spouse")
        else "spouse not present"
    ),
    "native-country": lambda v: "Europe" if v in EUROPE else "A*a",
    "workclass": lambda v: (
        "Government"
        if v.endswith("-gov")
        else "Unemployed"
        if v == "Without-pay"
        else "Non-Government"
    ),
}
QUASI = (*GROUPS, "salary-class")
K = {"model": "k-anonymity", "k": 3}
STEPS: dict[str, list[dict[str, Any]]] = {
    "3-anonymous": [K],
    "3-diverse": [K, {"model": "l-diversity", "l": 3}],
    "0.3-close": [K, {"model": "t-closeness", "t": 0.3, "distance": "equal"}],
}
ATTACKS = ("linkage", "homogeneity", "guess", "skewness")
PERSON = {
    "age": "48",
    "education": "7th-8th",
    "marital-status": "Married-civ-spouse",
    "native-country": "Italy",
    "workclass": "Self-emp-not-inc",
    "salary-class": "<=50K",
}


@dataclass(frozen=True)
class Step:
    """One table of the walk: its release, what it says about the man, its attacks."""

    release: sf.Release
    looked_up: Mapping[str, float]
    attacks: Any


def people() -> pd.DataFrame:
    """The rows of the slides."""
    path = directory() / "adult" / "adult_clean_30162.csv.gz"
    return pd.read_csv(path, dtype=str).head(ROWS)


def grouped(table: pd.DataFrame) -> pd.DataFrame:
    """The table in the slides' groups of values."""
    changed = {name: table[name].map(rule) for name, rule in GROUPS.items()}
    return table.assign(**changed)[[*QUASI, "occupation"]]


def reading(table: pd.DataFrame, require: list[dict[str, Any]]) -> sf.Policy:
    """A policy that says which values a published group of values stands for."""
    in_groups = grouped(table)
    trees = {
        name: {
            "tree": {
                str(label): sorted(set(values))
                for label, values in table.groupby(in_groups[name])[name]
            }
        }
        for name in GROUPS
    }
    return sf.Policy.build(
        quasi=list(QUASI),
        sensitive=["occupation"],
        kinds={"age": "category"},
        drop=[n for n in table if n not in (*QUASI, "occupation")],
        hierarchies=trees,
        require=require,
    )


@cache
def walk() -> dict[str, Step]:
    """All three releases."""
    table = people()
    person = pd.DataFrame([PERSON])
    found = {}
    for name, require in STEPS.items():
        policy = sf.Policy.build(
            quasi=list(QUASI),
            sensitive=["occupation"],
            require=require,
            kinds=dict.fromkeys(QUASI, "category"),
        )
        release = sf.anonymize(grouped(table), policy, insecure_seed=2)
        asked = reading(table, require)
        answer = sf.look_up(release.data, person, asked).values["occupation"]
        attacks = sf.attack(release.data, table, list(ATTACKS), asked)
        shares = {value: share for value, share, _ in answer}
        found[name] = Step(release, shares, attacks)
    return found


def run(scale: Scale, name: str) -> Result:
    """The walk; it is small enough to be run in full always."""
    del scale
    steps = walk()
    shares = grouped_occupations()
    return Result(
        name=name,
        title="Slides: from k-anonymity to t-closeness, each broken in turn",
        source=f"Adult without missing values, its first {ROWS:,} rows; algorithm `best`, "
        "one seed.",
        spread="Whiskers: 95 % intervals over people (Wilson's; of a mean for skewness).",
        panels=tuple(_panels(steps)),
        listings=(_said(steps),),
        findings=tuple(_findings(steps, shares)),
    )


def grouped_occupations() -> dict[str, float]:
    """The share of each of the slides' three groups of occupations."""
    of = {value: name for name, values in OCCUPATIONS.items() for value in values}
    counted = people()["occupation"].map(lambda v: of.get(v, "3")).value_counts()
    return {str(group): count / ROWS for group, count in counted.items()}


def _panels(steps: Mapping[str, Step]) -> Iterator[Panel]:
    worst = tuple(
        Line(name, tuple(exact(i, s.attacks[name].worst) for i, s in _numbered(steps)))
        for name in ("guess", "skewness")
    )
    rates = tuple(
        Line(
            name,
            tuple(
                Point(i, r.success, r.low, r.high)
                for i, s in _numbered(steps)
                for r in [s.attacks[name]]
            ),
        )
        for name in ATTACKS
    )
    titles = ("All people: success of attacks", "The worst group")
    for title, lines in zip(titles, (rates, worst), strict=True):
        yield Panel(
            title=title,
            x="release",
            y="share of people, or shift",
            lines=lines,
            x_names=tuple(steps),
        )


def _numbered(steps: Mapping[str, Step]) -> Iterator[tuple[int, Step]]:
    return enumerate(steps.values())


def _said(steps: Mapping[str, Step]) -> Listing:
    rows = tuple(
        (
            name,
            f"{step.looked_up.get('Craft-repair', 0.0):.1%}",
            str(len(step.looked_up)),
            f"{step.release.utility['ncp']:.4f}",
        )
        for name, step in steps.items()
    )
    header = ("release", "his occupation", "occupations possible", "NCP")
    return Listing("The man of 48 from Italy", header, rows)


def _findings(
    steps: Mapping[str, Step], shares: Mapping[str, float]
) -> Iterator[Finding]:
    k, l, t = steps.values()
    certain = k.looked_up.get("Craft-repair", 0.0)
    yield Finding(
        "slides k-anonymity result",
        judged([certain == 1.0]),
        f"His three candidates are all Craft-repair; {k.attacks['homogeneity'].success:.2%}"
        " of all people are in such groups.",
    )
    spread = max(shares.values()) - min(shares.values())
    yield Finding(
        "slides occupation groups",
        Verdict.HOLDS if spread < 0.1 else Verdict.IN_PART,
        "Shares " + ", ".join(f"{shares[g]:.1%}" for g in sorted(shares)) + ".",
    )
    yield Finding(
        "slides l-diversity result",
        judged([len(l.looked_up) >= 3 and l.attacks["homogeneity"].success == 0]),
        f"{len(l.looked_up)} occupations are possible for him; nobody's is certain.",
    )
    common = (people()["occupation"] == "Exec-managerial").sum()
    yield Finding(
        "slides skewness",
        judged([common == 663, l.attacks["guess"].worst > 0.5]),
        f"{common} of {ROWS:,} are Exec-managerial, as printed; in the worst 3-diverse "
        f"group one value has {l.attacks['guess'].worst:.1%} of the rows.",
    )
    yield Finding(
        "slides t-closeness result",
        judged(
            [t.attacks["homogeneity"].success == 0, t.attacks["skewness"].worst <= 0.3]
        ),
        f"Nobody's value is certain; no group is further than "
        f"{t.attacks['skewness'].worst:.3f} from the table (3-diverse: "
        f"{l.attacks['skewness'].worst:.3f}); the worst group has "
        f"{t.attacks['guess'].worst:.1%} of one value.",
    )
    losses = [step.release.utility["ncp"] for step in (k, l, t)]
    yield Finding(
        "slides quality",
        judged([losses[0] < losses[1], losses[1] < losses[2]]),
        "NCP beyond the slides' own groups: " + ", ".join(f"{x:.4f}" for x in losses),
    )
    yield _together()
    yield _disclosure(k, l, t)


def _together() -> Finding:
    """Whether t-closeness alone leaves groups that are too small."""
    policy = sf.Policy.build(
        quasi=list(QUASI),
        sensitive=["occupation"],
        require=[each for each in STEPS["0.3-close"] if each is not K],
        kinds=dict.fromkeys(QUASI, "category"),
    )
    release = sf.anonymize(grouped(people()), policy, insecure_seed=2)
    sizes = release.data.groupby(list(QUASI)).size()
    small = int(sizes[sizes < K["k"]].sum())
    return Finding(
        "slides together",
        judged([small > 0]),
        f"Required alone, t = 0.3 leaves {small} of {ROWS:,} people in groups of fewer "
        f"than {K['k']}; the smallest group has {sizes.min()} rows. Small groups are far "
        "from the table anyway: here t-closeness implies k-anonymity.",
    )


def _disclosure(k: Step, l: Step, t: Step) -> Finding:
    """The marks of table 2.5 of Kuksina 2023, tried by attacks."""
    met = [
        k.attacks["linkage"].worst <= 1 / 3 + 1e-9,
        k.attacks["homogeneity"].success > 0,
        l.attacks["homogeneity"].success == 0,
        t.attacks["skewness"].worst < l.attacks["skewness"].worst,
    ]
    return Finding(
        "kuksina table 2.5",
        Verdict.IN_PART if all(met) else judged(met),
        "Attacks agree for k (linkage at most 1/3, homogeneity succeeds) and l "
        "(homogeneity ends). Inference is lowered by t-closeness, not prevented: guesses "
        f"by group are right for {t.attacks['guess'].success:.1%}, by the table alone for "
        f"{t.attacks['guess'].baseline:.1%}. Differential privacy does not "
        "prevent inference either: what is true of everyone can be learned about anyone.",
    )
