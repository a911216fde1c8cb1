"""What the arguments of the public functions mean, in one place for all of them."""

from __future__ import annotations

import inspect
from collections.abc import Iterable
from textwrap import fill, indent

DATA = "a path, `URL#table` of a database, or a frame of pandas, polars or Arrow"
PUBLISHED = (
    "a result of `anonymize`, a release directory, or a published file or frame of any "
    "tool"
)
MEANINGS = {
    "data": f"The table: {DATA}.",
    "policy": "A `Policy` or the path of a policy file; left out, settings say all.",
    "original": f"The source of the release: {DATA}.",
    "published": f"What was published: {PUBLISHED}.",
    "release": f"What was published: {PUBLISHED}.",
    "record": f"One person's values, in one row: {DATA}.",
    "after": "Directories of earlier releases of the same people.",
    "seed": "Repeats a run, or its random draws; left out, a fresh one.",
    "insecure_seed": "A guessable seed, for tests and papers only.",
    "threads": "How many threads to use; left out, all cores.",
    "workers": "How many processes to use; left out, one per core.",
    "progress": "True for a bar, or a function of a step's name and the share done.",
    "base": "Where relative paths start; left out, the policy's directory.",
    "engine": "What counts a table that does not fit in memory; left out, chosen.",
    "memory_limit": "How much memory the engine may use, such as '2GB'.",
    "form": "How it was published; left out, what policy and cells show.",
    "rows": "The private record of the release: which row is which.",
    "same_order": "Whether the rows of both tables are in the same order.",
    "workload": "A `Workload`, or the path of a file of queries.",
    "learn": "Whether models are trained on the release.",
    "target": "The column that models learn; left out, the first sensitive one.",
    "sample": "The largest number of rows, or people, that are drawn at random.",
    "fraction": "The share of the population that is in the original.",
    "population": "A file with the quasi-identifiers of the whole population.",
    "household": "The column that says who lives together.",
    "suda": "Whether special uniques are scored.",
    "names": "Attacks of the catalogue, or 'all'.",
    "known": "The columns that the attacker knows; left out, all quasi-identifiers.",
    "control": "A table of people who are not in the original.",
    "others": "Directories of other releases of the same people.",
    "requirements": "Further models that must hold.",
    "groups": "The private record of a release whose cells do not show its groups.",
    "manifest": "The manifest of the release: what kind of values columns have.",
    "risk": "The figure of risk to compare by; left out, `prosecutor_max`.",
    "utility": "The figure of utility to compare by; left out, `ncp`.",
    "dial": "Sweep the trade-off of `tgc` in so many steps instead.",
    "spend": "Whether candidates may be charged to a ledger.",
    "allow_weaker": "Whether candidates that ask less than the policy are tried, too.",
    "stop": "An event that ends the work and keeps what is finished.",
    "profile": "A named set of requirements and column rules.",
    "delimiter": "The character between cells of a CSV file; left out, detected.",
    "encoding": "The encoding of a CSV file; left out, detected.",
    "multiline": "Whether cells of a CSV file may have several lines.",
    "missing": "Texts that mean there is no value; left out, detected.",
    "column": "The name of a published column.",
    "of": "Bound the 'published' rows, or all rows of the 'source'.",
    "ends": "The lowest and the highest value that the column can have.",
    "k": "The smallest size of a group; left out, 5.",
    "measure": "The error to lower; left out, one that fits the queries.",
    "train_share": "The share of the queries that the search sees.",
    "trials": "How many settings may be tried.",
    "keep": "Columns and options that stay as they are.",
    "split_seed": "The seed of the split of the queries.",
    "resamples": "How many bootstrap samples the intervals are from.",
}
SETTINGS = (
    "Settings of a policy instead of a file: `quasi`, `sensitive`, `k`, `l`, … "
    "(`Policy.build` takes the same)."
)
RETURNS = {
    "propose": "A `Policy` that runs as it is.",
    "advise": "An `Advice`: feasible or not, and edits with their gain.",
    "anonymize": "A `Release`, proven; `save` writes it.",
    "check": "A `CheckResult`: the verdicts, and what risk remains.",
    "workload_error": "The error of every query, with intervals.",
    "assess": "An `Assessment`: utility and risk; private.",
    "tune": "The tuned policy, and its error on queries that it never saw.",
    "compare": "A `Comparison`; `release` makes the chosen candidate.",
    "attack": "How each attack went, and the bound that was promised; private.",
    "bounds": "`Bounds` of mean, shares and quantiles, and which rows they cover.",
    "look_up": "How many rows may be the person's, and what follows; private.",
}
WRONG_INPUT = (
    "UsageError: The call cannot be understood.",
    "PolicyError: The policy contradicts itself or the data.",
    "DataError: A table cannot be read.",
    "HierarchyError: A hierarchy does not fit its column.",
)
NO_RELEASE = (
    "RefusedError: The combination would not keep its promise.",
    "InfeasibleError: No release meets the requirements.",
    "LossError: The release would lose more than `publish.max_loss` allows.",
    "BudgetError: The privacy budget is spent.",
    "SearchError: The search ended without an answer.",
    "GuaranteeError: The draft failed its proof; nothing is returned.",
)
RAISES = {
    "bounds": (*WRONG_INPUT, "RefusedError: Nothing follows from the cells."),
    "propose": WRONG_INPUT[:3],
    "anonymize": WRONG_INPUT + NO_RELEASE,
    "compare": (*WRONG_INPUT, NO_RELEASE[0], NO_RELEASE[3]),
    "tune": WRONG_INPUT + NO_RELEASE[:3],
}
"""Errors of `sfumato.errors`; of functions that are not listed: wrong input alone."""
PEOPLE = """\
>>> import pyarrow as pa
>>> import sfumato as sf
>>> people = pa.table({"age": [23, 25, 31, 34], "ill": ["flu", "cut", "flu", "burn"]})
>>> roles = {"quasi": "age", "sensitive": "ill"}
"""
RELEASED = f"{PEOPLE}>>> release = sf.anonymize(people, **roles, k=2)\n"
EXAMPLES = {
    "compare": (
        f"{PEOPLE}>>> policy = sf.Policy.build(**roles, k=2)\n"
        '>>> few = policy.with_setting("compare.algorithms", ["mondrian", "k-member"])\n'
        '>>> few = few.with_setting("compare.set", {"require.0.k": [2]})\n'
        ">>> sf.compare(people, few, workers=1).pick('min-risk').name\n"
        "'mondrian, k = 2'\n"
    ),
    "tune": (
        f"{PEOPLE}>>> from sfumato.workload.queries import Query\n"
        ">>> asked = sf.Workload(queries=(Query(), Query(histogram='ill')))\n"
        ">>> policy = sf.Policy.build(**roles, k=2, algorithm='mondrian')\n"
        ">>> sf.tune(people, policy, asked, trials=1).better\nFalse\n"
    ),
    "propose": f"{PEOPLE}>>> sf.propose(people, k=2).role('age').value\n'quasi'\n",
    "advise": f"{PEOPLE}>>> sf.advise(people, **roles, k=2).feasible\nTrue\n",
    "anonymize": f"{RELEASED}>>> release.verdicts[0]['measured']\n2.0\n",
    "check": f"{PEOPLE}>>> sf.check(people, **roles, k=2).holds\nFalse\n",
    "assess": f"{RELEASED}>>> sf.assess(people, release).risk['k']\n2.0\n",
    "workload_error": (
        f"{RELEASED}>>> from sfumato.workload.queries import Query\n"
        ">>> asked = sf.Workload(queries=(Query(histogram='ill'),))\n"
        ">>> sf.workload_error(people, release, asked).average_relative.value\n0.0\n"
    ),
    "attack": (
        f"{RELEASED}>>> sf.attack(release, people, 'linkage')['linkage'].success\n0.5\n"
    ),
    "bounds": (
        f"{RELEASED}>>> sf.bounds(release, 'age').mean\nBetween(low=27.0, high=29.5)\n"
    ),
    "look_up": (
        f"{RELEASED}>>> who = pa.table({{'age': [23]}})\n"
        ">>> sf.look_up(release, who).rows\n2\n"
    ),
}


def documented(name: str, text: str | None, names: Iterable[str]) -> str:
    """A docstring with the arguments, what is returned and raised, and an example."""
    listed = list(names)
    own = listed[: listed.index("identifier")] if "identifier" in listed else listed
    known = [each for each in own if each in MEANINGS]
    errors = RAISES.get(name, WRONG_INPUT)
    parts = [
        inspect.cleandoc(text or ""),
        "Args:\n" + "\n".join(_line(each, MEANINGS[each]) for each in known),
        f"Returns:\n    {RETURNS[name]}",
        "Raises:\n" + "\n".join(_line(*each.split(": ")) for each in errors),
        "Example:\n" + indent(EXAMPLES[name], "    "),
    ]
    if "quasi" in listed:
        parts[1] += "\n" + _line("**settings", SETTINGS)
    return "\n\n".join(parts)


def _line(name: str, meaning: str) -> str:
    said = f"{name}: {meaning}"
    return fill(said, 84, initial_indent="    ", subsequent_indent=" " * 8)
