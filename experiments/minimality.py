"""What the minimality attack gains, algorithm by algorithm, and what it costs to stop it.

Usage: python -m experiments.minimality small [TABLES]
       python -m experiments.minimality adult ADULT_CSV [ROWS [WORLDS]]

`small`: random tables of seven rows under k = 2 and l = 2 (distinct). The attacker tries
every way of dealing the values of each group to its people, runs the algorithm on it, and
keeps the ways that give the published groups. `adult`: a sample of Adult, on which worlds
are drawn and count for the groups that are made again; and the loss on the whole table.
"""

from __future__ import annotations

import sys
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.csv as pa_csv

import sfumato as sf
from sfumato import registry
from sfumato.algorithms.base import Algorithm
from sfumato.algorithms.request import Request
from sfumato.data.arrays import Floats
from sfumato.data.coding import code_column
from sfumato.data.grouping import Grouping
from sfumato.data.seeds import Seed
from sfumato.errors import InfeasibleError
from sfumato.hierarchies.axis import CodedAxis
from sfumato.hierarchies.build import build
from sfumato.models.k_anonymity import KAnonymity
from sfumato.models.l_diversity import LDiversity
from sfumato.publish.group_spans import Extent
from sfumato.risk.possible_worlds import (
    Published,
    Remake,
    Rerun,
    drawn_posteriors,
    exact_posteriors,
    guessed,
)

ROWS = 7
CANDIDATES: tuple[tuple[str, str, dict[str, Any]], ...] = (
    ("mondrian, widest", "mondrian", {"cut": "widest"}),
    ("mondrian, gain", "mondrian", {"cut": "gain"}),
    ("optimal", "optimal", {}),
    ("datafly", "datafly", {}),
    ("k-member", "k-member", {}),
    ("best", "best", {}),
    ("blind", "blind", {}),
    ("simulatable", "simulatable", {}),
    ("harvest", "harvest", {}),
    ("incognito", "incognito", {}),
    ("local-optimal", "local-optimal", {}),
    ("top-down", "top-down", {}),
    ("bottom-up", "bottom-up", {}),
)
SAMPLED = ("mondrian", "optimal", "best", "k-member", "blind", "simulatable")
AGES = {"intervals": [2, 4], "bottom": 0, "top": 8}
TOWNS = {"tree": {"any": {"north": ["a", "b"], "south": ["c", "d"]}}}
ADULT = ("age", "sex", "race", "marital-status", "education", "workclass")


def coded(name: str, values: list[str], hierarchy: Any) -> CodedAxis:
    """A column on its axis."""
    return build(code_column(name, pa.chunked_array([pa.array(values)])), hierarchy)


def drawn_request(generator: np.random.Generator) -> Request:
    """A random table of a few people; one illness is as common as the others together."""
    ill = generator.choice(list("xyz"), size=ROWS, p=(0.5, 0.25, 0.25))
    return Request(
        quasi=(
            coded("age", [str(n) for n in generator.integers(0, 8, ROWS)], AGES),
            coded("town", list(generator.choice(list("abcd"), ROWS)), TOWNS),
        ),
        models=(KAnonymity(k=2), LDiversity(l=2)),
        sensitive={"ill": coded("ill", list(ill), "flat")},
        seed=Seed.guessable(1),
        threads=1,
        resolve=registry.algorithm,
    )


def remade(algorithm: Algorithm, request: Request, name: str) -> Remake:
    """The algorithm on other values of a sensitive column."""
    rows = np.arange(request.rows)
    return Rerun(algorithm=algorithm, request=request, rows=rows).remake(name)


def ncp(request: Request, grouping: Grouping) -> float:
    """The loss of a grouping."""
    columns = [
        Extent.of(coded, grouping, place).ncp()
        for place, coded in enumerate(request.quasi)
    ]
    per_group = np.mean(columns, axis=0)
    return float((per_group * grouping.sizes()).sum() / request.rows)


@dataclass
class Tally:
    """What the attack achieved on all people of all tables."""

    group: list[Floats]
    """The chance of the right guess from the group's values alone."""
    attack: list[Floats]
    """The same for an attacker who knows the algorithm."""
    sure: list[Floats]
    """Whether the attacker is certain, and the group alone leaves a doubt."""
    losses: list[float]

    def add(self, shares: Floats, beliefs: Floats, loss: float) -> None:
        """Count the people of one table."""
        self.group.append(shares.max(axis=1))
        self.attack.append(beliefs.max(axis=1))
        certain = np.isclose(beliefs.max(axis=1), 1.0) & (shares.max(axis=1) < 1.0)
        self.sure.append(certain.astype(np.float64))
        self.losses.append(loss)

    def line(self, name: str) -> str:
        """A line of the table in the documentation."""
        group, attack = np.concatenate(self.group), np.concatenate(self.attack)
        return (
            f"| {name} | {group.mean():.3f} | {attack.mean():.3f} | "
            f"{(attack - group).mean():+.3f} | {np.concatenate(self.sure).mean():.1%} | "
            f"{np.mean(self.losses):.3f} |"
        )


def small(tables: int) -> None:
    """The exact attack on random small tables."""
    say("| algorithm | group alone | attack | advantage | certain | NCP |")
    say("|---|---|---|---|---|---|")
    for label, name, options in CANDIDATES:
        generator = np.random.default_rng(17)
        tally, algorithm = Tally([], [], [], []), registry.algorithm(name)(**options)
        while len(tally.losses) < tables:
            attack_one(drawn_request(generator), algorithm, tally)
        say(tally.line(label))


def attack_one(request: Request, algorithm: Algorithm, tally: Tally) -> None:
    """Attack one table, unless it has no release."""
    remake, seed = remade(algorithm, request, "ill"), request.seed
    values = request.sensitive["ill"].codes
    try:
        published = Published(remake(values, seed), values)
    except InfeasibleError:
        return
    beliefs = exact_posteriors(published, remake, seed)
    tally.add(published.shares(), beliefs, ncp(request, published.grouping))


def adult(path: str, rows: int, worlds: int) -> None:
    """Worlds drawn on a sample of Adult, and the loss on the whole table."""
    table = pa_csv.read_csv(path).select([*ADULT, "occupation"])
    chosen = np.random.default_rng(3).permutation(table.num_rows)[:rows]
    part = table.take(np.sort(chosen))
    say("| algorithm | group alone | attack | advantage | NCP of the sample |")
    say("|---|---|---|---|---|")
    for label, name, options in CANDIDATES:
        if name in SAMPLED:
            say(attack_sample(part, label, {"name": name, **options}, worlds))
    say("\n| l | mondrian | best | blind | simulatable |\n|---|---|---|---|---|")
    for l in (2, 3, 4, 5):
        names = ("mondrian", "best", "blind", "simulatable")
        losses = [released(table, {"name": name}, l) for name in names]
        say(f"| {l} | " + " | ".join(f"{loss:.3f}" for loss in losses) + " |")


def released(table: pa.Table, algorithm: dict[str, Any], l: int) -> float:
    """The loss of a release of the whole table."""
    made = sf.anonymize(
        table,
        quasi=list(ADULT),
        sensitive="occupation",
        k=5,
        l=l,
        algorithm=algorithm,
        max_loss=1.0,
        insecure_seed=1,
    )
    return made.utility["ncp"]


def attack_sample(
    table: pa.Table, label: str, algorithm: dict[str, Any], worlds: int
) -> str:
    """Attack a release of a sample; success is measured on the true values."""
    texts = {
        name: [str(v) for v in table[name].to_pylist()] for name in table.column_names
    }
    free = {"age": "free"}
    request = Request(
        quasi=tuple(coded(n, texts[n], free.get(n, "auto")) for n in ADULT),
        models=(KAnonymity(k=5), LDiversity(l=3)),
        sensitive={"occupation": coded("occupation", texts["occupation"], "flat")},
        seed=Seed.guessable(1),
        resolve=registry.algorithm,
    )
    name = algorithm.pop("name")
    remake = remade(registry.algorithm(name)(**algorithm), request, "occupation")
    truth = request.sensitive["occupation"].codes
    published = Published(remake(truth, request.seed), truth)
    beliefs = drawn_posteriors(published, remake, Seed.guessable(2), worlds)
    group, attack = guessed(published.shares(), truth), guessed(beliefs, truth)
    error = 1.96 * (attack - group).std() / np.sqrt(len(truth))
    return (
        f"| {label} | {group.mean():.3f} | {attack.mean():.3f} | "
        f"{(attack - group).mean():+.3f} ± {error:.3f} | "
        f"{ncp(request, published.grouping):.3f} |"
    )


def say(line: str) -> None:
    """Print a line at once."""
    sys.stdout.write(line + "\n")
    sys.stdout.flush()


if __name__ == "__main__":
    match sys.argv[1:]:
        case ["small", *rest]:
            small(int(rest[0]) if rest else 100)
        case ["adult", path, *rest]:
            numbers = [int(word) for word in rest]
            adult(path, *(numbers + [300, 100][len(numbers) :]))
        case _:
            raise SystemExit(__doc__)
