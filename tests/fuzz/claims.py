"""Whether a published table meets a requirement, by the requirement's definition."""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Iterator, Sequence
from functools import partial
from itertools import combinations
from typing import Any

from sfumato.testing import model_oracles as oracles
from sfumato.testing.model_oracles import OracleGroup, OracleMeasure
from tests.fuzz.meaning import NUMERIC
from tests.fuzz.proof import Proof, Rows, UnknownError, View, Wanted, collected
from tests.fuzz.release import Release
from tests.fuzz.risks import poisson_size, unique_chance

SLACK = 1e-7
"""What rounding may make of a measure."""


def holds(proof: Proof, wanted: Wanted) -> bool:
    """Whether the published table meets a requirement, for each meaning of a gap."""
    test = TESTS.get(wanted["model"])
    if test is None:
        raise UnknownError(wanted["model"])
    return test(Proof(proof.release, closed=True), wanted) and test(proof, wanted)


def _every_view(
    test: Callable[[Wanted, OracleGroup], bool],
) -> Callable[[Proof, Wanted], bool]:
    def holds(proof: Proof, wanted: Wanted) -> bool:
        return all(
            view.all(lambda group: test(wanted, group)) for view in proof.views(wanted)
        )

    return holds


def _sizes(proof: Proof, wanted: Wanted) -> bool:
    return all(proof.size(rows) >= wanted["k"] for rows in proof.judged)


def _rows(proof: Proof, wanted: Wanted) -> bool:
    return all(len(rows) >= wanted["k"] for rows in proof.judged)


def _at_least(measured: float, limit: float) -> bool:
    return measured >= limit - SLACK


def _at_most(measured: float, limit: float) -> bool:
    return measured <= limit + SLACK


def _diverse(proof: Proof, wanted: Wanted) -> bool:
    kind = wanted.get("kind", "distinct")
    l = wanted["l"]
    if kind == "distinct":
        return _every_view(lambda w, g: _at_least(oracles.distinct(g), l))(
            proof, wanted
        )
    if kind == "entropy":
        return _every_view(lambda w, g: _at_least(oracles.effective_number(g), l))(
            proof, wanted
        )
    c = wanted["c1"] if kind.startswith("negative") else wanted["c"]
    for view in proof.views(wanted):
        exempt = _listed(view, wanted.get("may_disclose", ()), kind != "recursive")
        factor = oracles.recursive_factor(int(l), exempt)
        if not view.all(partial(_below, factor, c)):
            return False
        required = _listed(
            view, wanted.get("must_occur", ()), kind.startswith("negative")
        )
        if kind.startswith("negative") and len(required) < len(wanted["must_occur"]):
            return False
        if required:
            rarest = oracles.rarest_required(required)
            if not view.all(partial(_reaches, rarest, wanted["c2"])):
                return False
    return True


def _within(measure: OracleMeasure, limit: float, group: OracleGroup) -> bool:
    return _at_most(measure(group), limit)


def _below(measure: OracleMeasure, limit: float, group: OracleGroup) -> bool:
    """Strictly: a ratio that is exactly the limit breaks it."""
    return measure(group) < limit


def _reaches(measure: OracleMeasure, limit: float, group: OracleGroup) -> bool:
    return _at_least(measure(group), limit)


def _listed(view: View, texts: Sequence[str], used: bool) -> list[Hashable]:
    """Values that a requirement names, as far as the column has them."""
    if not used:
        return []
    if view.level:
        raise UnknownError("values named at a level")
    _require_own_words(view.proof, view.column)
    reader = view.proof.release.reader(view.column)
    present = set(view.domain.order)
    found = [reader.key(text) for text in texts]
    return [v for v in found if v in present]


def _require_own_words(proof: Proof, column: str) -> None:
    """Values of a typed column of moments are named as the product writes them."""
    case = proof.release.case
    if not case.is_csv and case.columns[column].type.startswith("timestamp"):
        raise UnknownError("how moments are written")


def _distance(view: View, asked: str | None) -> OracleMeasure:
    reader = view.proof.release.reader(view.column)
    hierarchy = view.proof.release.case.policy["columns"][view.column].get("hierarchy")
    line = view.domain.numbers is not None
    if asked is None:
        ordered = line or (reader.kind == "ordered" and view.level == 0)
        unwritten = hierarchy not in (None, "flat", "free") and reader.paths is None
        if view.level and reader.kind in (*NUMERIC, "ordered"):
            raise UnknownError("the order of labels")
        if not ordered and unwritten:
            raise UnknownError("a hierarchy that is not written down")
        asked = "ordered" if ordered else "hierarchical" if reader.paths else "equal"
    if asked == "hierarchical" and view.domain.paths is None:
        if hierarchy not in (None, "flat", "free"):
            raise UnknownError("a hierarchy that is not written down")
        return oracles.variational
    if asked == "hierarchical" and _height_of(view) == 0:
        return oracles.variational
    return {
        "equal": oracles.variational,
        "ordered": oracles.ordered,
        "hierarchical": oracles.hierarchical,
    }[asked]


def _height_of(view: View) -> int:
    paths = view.domain.paths
    return len(next(iter(paths.values()))) - 1 if paths else 0


def _close(proof: Proof, wanted: Wanted) -> bool:
    for view in proof.views(wanted):
        distance = _distance(view, wanted.get("distance"))
        if not view.all(partial(_within, distance, wanted["t"])):
            return False
    return True


def _close_to_some(proof: Proof, wanted: Wanted) -> bool:
    """(n, t): a group is large, or near to a natural superset that is."""
    for view in proof.views(wanted):
        distance = _distance(view, wanted.get("distance"))
        for rows in view.parts(proof.groups):
            if proof.size(rows) < wanted["n"] and not any(
                all(
                    _at_most(distance(read), wanted["t"])
                    for read in view.readings(view.group(rows, reference))
                )
                for reference in _references(view, rows, wanted["n"])
            ):
                return False
    return True


def _references(view: View, rows: Rows, n: int) -> Iterator[dict[Hashable, float]]:
    """The distributions of the table and of the natural supersets of a group."""
    proof, tiny = view.proof, 1e-300
    everywhere = dict.fromkeys(set(view.reference), tiny)
    if proof.size(range(len(proof.keys))) >= n:
        yield view.reference
    if proof.release.operator in ("swap", "anatomize"):
        return
    for known in _known_sets(proof, len(proof.quasi)):
        cells = _projected(proof, known)
        superset = [r for r, cell in enumerate(cells) if cell == cells[rows[0]]]
        if proof.size(superset) >= n:
            yield everywhere | view.shares(view.pairs(superset))


def _known_sets(proof: Proof, most: int) -> Iterator[tuple[str, ...]]:
    for size in range(most + 1):
        yield from combinations(proof.quasi, size)


def _projected(proof: Proof, known: Sequence[str]) -> list[Hashable]:
    names = [n for quasi in known for n in proof.release.shown_as(quasi)]
    return [tuple(row[name] for name in names) for row in proof.release.rows]


def _alike(proof: Proof, wanted: Wanted) -> bool:
    def test(w: Wanted, group: OracleGroup) -> bool:
        if any(value not in group.reference for value in group.counts):
            return False
        if w.get("kind") != "enhanced":
            return _at_most(oracles.gain(group), w["beta"])
        return all(
            _at_most(
                _gain(group, value), min(w["beta"], -math.log(group.reference[value]))
            )
            for value in group.counts
        )

    return _every_view(test)(proof, wanted)


def _gain(group: OracleGroup, value: Hashable) -> float:
    before = group.reference[value]
    return (group.counts[value] / group.total - before) / before


def _undisclosed(wanted: Wanted, group: OracleGroup) -> bool:
    return _below(oracles.log_ratio, wanted["delta"], group)


def _lkc(proof: Proof, wanted: Wanted) -> bool:
    """Every set of at most L quasi-identifiers, by counting its rows."""
    views = list(proof.views(wanted))
    for known in _known_sets(proof, min(wanted["l"], len(proof.quasi))):
        sets = collected(_projected(proof, known))
        if proof.missing_any:
            sets += proof.candidates(known) if known else []
        for rows in sets:
            if proof.size(rows) < wanted["k"]:
                return False
            for view in views:
                for read in view.readings(view.group(rows)):
                    if not _at_most(oracles.commonest_share(read), wanted["c"]):
                        return False
    return True


def _average(proof: Proof, wanted: Wanted) -> bool:
    if proof.missing_any:
        fewest = _fewest_candidates(proof)
        return _at_most(sum(1 / n for n in fewest) / len(fewest), wanted["at_most"])
    sizes = [proof.size(rows) for rows in proof.groups]
    return _at_most(len(sizes) / sum(sizes), wanted["at_most"])


def _fewest_candidates(proof: Proof) -> list[int]:
    """How many rows each person may be, at least: each row is a person."""
    if proof.release.case.names("subject"):
        raise UnknownError("risks of persons whose cells are missing")
    fewest = [len(proof.keys)] * len(proof.keys)
    # Whoever is a candidate of a filled-in person may be that person.
    for rows in proof.candidates(proof.quasi):
        for row in rows:
            fewest[row] = min(fewest[row], len(rows))
    return fewest


def _unique(proof: Proof, wanted: Wanted) -> bool:
    if proof.missing_any:
        if wanted.get("of") == "population":
            raise UnknownError("people whose cells are missing")
        number = _fewest_candidates(proof).count(1)
        return _at_most(number / len(proof.keys), wanted["at_most"])
    sizes = [proof.size(rows) for rows in proof.groups]
    alone = [rows for rows in proof.groups if proof.size(rows) == 1]
    expected = float(len(alone))
    if wanted.get("of") == "population":
        if any(w.get("population") for w in proof.release.case.policy["require"]):
            expected = sum(len(_matches(proof, rows)) <= 1 for rows in alone)
        elif "sampling_fraction" not in wanted:
            raise UnknownError("nothing says how large the population is")
        else:
            expected *= unique_chance(
                sizes, wanted["sampling_fraction"], wanted.get("estimator", "zayatz")
            )
    return _at_most(expected / sum(sizes), wanted["at_most"])


def _mapped(proof: Proof, wanted: Wanted) -> bool:
    if wanted.get("population"):
        return all(len(_matches(proof, rows)) >= wanted["k"] for rows in proof.groups)
    fraction = wanted["sampling_fraction"]
    if fraction == "weights":
        release = proof.release
        weights = release.source(release.case.names("weight")[0])
        used = {
            line["source_row"] for line in release.record if line["group"] is not None
        }
        if len(used) != len(release.record):
            raise UnknownError("weights of a table with rows left out")
        fraction = len(weights) / sum(float(w) for w in weights if w)
    needed = poisson_size(
        wanted["k"],
        fraction,
        wanted.get("significance", 0.05),
        truncated=wanted.get("estimator") == "zero-truncated-poisson",
    )
    return all(proof.size(rows) >= needed for rows in proof.groups)


def _matches(proof: Proof, rows: Rows) -> list[int]:
    """The people of the population that a group's cells may stand for."""
    release = proof.release
    population = release.case.population
    assert population is not None
    shown = release.rows[rows[0]]
    people = range(len(next(iter(population.values())).cells))
    return [person for person in people if _stands_for(release, shown, person)]


def _stands_for(release: Release, shown: dict[str, Any], person: int) -> bool:
    population = release.case.population or {}
    for name in release.case.names("quasi"):
        reader, value = release.reader(name), population[name].cells[person]
        cells = [shown[each] for each in release.shown_as(name)]
        if len(cells) == 2:
            if not reader.between(cells[0], cells[1], value):
                return False
        elif not reader.covers(cells[0], value):
            return False
    return True


def _present(proof: Proof, wanted: Wanted) -> bool:
    matched: set[int] = set()
    for rows in proof.groups:
        people = _matches(proof, rows)
        matched.update(people)
        share = proof.size(rows) / len(people) if people else math.inf
        if not wanted.get("lower", 0.0) - SLACK <= share <= wanted["upper"] + SLACK:
            return False
    population = proof.release.case.population or {}
    everybody = len(next(iter(population.values())).cells)
    return not wanted.get("lower") or len(matched) == everybody


def _visible(proof: Proof, wanted: Wanted) -> bool:
    if wanted.get("generate"):
        raise UnknownError("constraints that the source decides")
    rows = proof.release.rows
    for name in wanted["where"]:
        _require_own_words(proof, name)
    found = sum(
        all(row[name] == str(value) for name, value in wanted["where"].items())
        for row in rows
    )

    def amount(limit: Any) -> float:
        return limit * len(rows) if isinstance(limit, float) else limit

    low, high = wanted.get("at_least", 0), wanted.get("at_most", len(rows))
    return amount(low) - SLACK <= found <= amount(high) + SLACK


TESTS: dict[str, Callable[[Proof, Wanted], bool]] = {
    "k-anonymity": _sizes,
    "group-size": _rows,
    "k-map": _mapped,
    "average-risk": _average,
    "uniqueness": _unique,
    "l-diversity": _diverse,
    "p-sensitive": lambda p, w: (
        _sizes(p, w) and _every_view(lambda _, g: oracles.distinct(g) >= w["p"])(p, w)
    ),
    "alpha-k": lambda p, w: (
        _sizes(p, w)
        and _every_view(lambda _, g: _at_most(oracles.commonest_share(g), w["alpha"]))(
            p, w
        )
    ),
    "theta-diversity": _every_view(
        lambda w, g: _at_most(oracles.commonest_share(g), w["theta"])
    ),
    "t-closeness": _close,
    "n-t-closeness": _close_to_some,
    "beta-likeness": _alike,
    "delta-disclosure": _every_view(_undisclosed),
    "delta-presence": _present,
    "range-disclosure": _every_view(
        lambda w, g: _at_most(oracles.s_diversity(w["r"])(g), w["at_most"])
    ),
    "lkc": _lkc,
    "diversity": _visible,
}
