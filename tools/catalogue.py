"""Write what the documentation takes from the code: the catalogue and policy tables.

Usage: python -m tools.catalogue DOCS
"""

from __future__ import annotations

import inspect
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from sfumato import registry
from sfumato.cli import choices
from tools.policy_tables import filled
from tools.setting_meanings import settings_of, table

DOCS = Path(__file__).resolve().parents[1] / "docs"

TITLES = {
    "models": "Catalogue: privacy models",
    "algorithms": "Catalogue: algorithms",
    "operators": "Catalogue: operators",
    "metrics": "Catalogue: metrics",
    "attacks": "Catalogue: attacks",
}
GENERATED = (
    "What each of them does, and every setting with its type, default and meaning. This "
    "page is written from the code."
)
CHOICES = re.compile(r"<!-- choices -->\n.*?<!-- end -->", re.DOTALL)
FIGURES = re.compile(r"<!-- figures -->\n.*?<!-- end -->", re.DOTALL)
LIST = re.compile(r"<!-- pages -->\n.*?<!-- end -->", re.DOTALL)
WORDS = (
    "Guarantee|Knows|Success|Baseline|Control|Bound"
    "|Method|Cost|Limits|Reference|Example"
)
ASKED = {
    "models": "[[require]]\nmodel = ",
    "algorithms": "[algorithm]\nname = ",
    "operators": "[publish]\noperator = ",
}


def pages() -> dict[str, str]:
    """The text of each page, by file name; kinds without entries have none."""
    return {
        f"{kind}.md": page(kind) for kind in registry.KINDS if registry.CATALOGUE[kind]
    }


def page(kind: str) -> str:
    """All entries of one kind."""
    sections = "\n".join(section(kind, name) for name in registry.CATALOGUE[kind])
    return f"# {TITLES[kind]}\n\n{GENERATED}\n\n{sections}"


def section(kind: str, name: str) -> str:
    """One entry: what it promises, how it is asked for, what can be set."""
    thing = registry.load(kind, name)
    parts = [
        f"## {name}",
        thing.sentence,
        *paragraphs(thing),
        *asked(kind, name),
        *options(thing),
        *blind_spot(thing),
        *further(kind, name),
    ]
    return "\n\n".join(parts) + "\n"


def paragraphs(thing: type) -> Iterator[str]:
    """The parts of the docstring, each with its word in bold; examples as code."""
    text = inspect.cleandoc(thing.__doc__ or "")
    for part in re.split(rf"\n+(?=(?:{WORDS}):)", text)[1:]:
        word, _, rest = part.partition(":")
        if word == "Example":
            yield f"**Example.**\n\n```pycon\n{inspect.cleandoc(rest)}\n```"
        else:
            yield f"**{word}.** {capitalized(joined(rest))}"


def joined(text: str) -> str:
    """A part of a docstring on one line; the items of a list stay lines of their own."""
    first, *items = re.split(r"\n\s*- ", text)
    listed = "".join(f"\n- {' '.join(item.split())}" for item in items)
    return " ".join(first.split()) + ("\n" + listed if listed else "")


def capitalized(text: str) -> str:
    """A sentence that begins with a capital, unless it begins with a symbol."""
    word = re.match(r"[a-z]+(?=[ ,:;])", text)
    symbol = word is None or (len(word[0]) == 1 and word[0] != "a")
    return text if symbol else text[0].upper() + text[1:]


def asked(kind: str, name: str) -> Iterator[str]:
    """How a policy asks for it."""
    if kind in ASKED:
        yield f'In a policy: `{ASKED[kind].replace(chr(10), "` `")}"{name}"`'


def options(thing: type) -> Iterator[str]:
    """Its settings, their types, defaults and meanings."""
    settings = settings_of(thing)
    if settings:
        yield table(settings)


def further(kind: str, name: str) -> Iterator[str]:
    """Where there is more about it."""
    if (DOCS / kind / f"{name}.md").is_file():
        yield f"More: [{name}](../{kind}/{name}.md)."


def blind_spot(thing: Any) -> Iterator[str]:
    """What it does not protect from."""
    if getattr(thing, "blind_spot", None):
        yield f"**Blind spot.** {thing.blind_spot}"


def listed(page: str) -> str:
    """The page about algorithms with a list of those that have a page."""
    rows = [
        f"| [{name}]({name}.md) | {registry.load('algorithms', name).sentence} |"
        for name in registry.CATALOGUE["algorithms"]
        if (DOCS / "algorithms" / f"{name}.md").is_file()
    ]
    text = "\n".join(["| page | what it does |", "|---|---|", *rows])
    return LIST.sub(f"<!-- pages -->\n{text}\n<!-- end -->", page)


def chosen(page: str) -> str:
    """The page that helps to choose, with its two tables."""
    page = CHOICES.sub(f"<!-- choices -->\n{_choices()}\n<!-- end -->", page)
    return FIGURES.sub(f"<!-- figures -->\n{_figures()}\n<!-- end -->", page)


def _choices() -> str:
    rows = [
        "| about | if it is | require | algorithm | operator |",
        "|---|---|---|---|---|",
    ]
    topic = None
    for each in choices.RECOMMENDATIONS:
        title = "" if each.topic == topic else f"**{each.topic}**"
        algorithm = f"[{each.algorithm}](catalogue/algorithms.md#{each.algorithm})"
        operator = f"[{each.operator}](operators/{each.operator}.md)"
        rows.append(
            f"| {title} | {each.case} | {each.model} | {algorithm} | {operator} |"
        )
        topic = each.topic
    return "\n".join(rows)


def _figures() -> str:
    head = " | ".join(choices.COLUMNS.values())
    rows = [
        f"| choice | table | {head} |",
        "|---|---|" + "---:|" * len(choices.COLUMNS),
    ]
    for name, tables in choices.measured().items():
        for place, figures in tables.items():
            cells = (choices.figure_text(figures.get(k), k) for k in choices.COLUMNS)
            rows.append(f"| {name} | {place} | {' | '.join(cells)} |")
    return "\n".join(rows)


FILLED = {
    "policy.md": filled,
    "algorithms/README.md": listed,
    "choose.md": chosen,
}


def main(docs: Path) -> None:
    """Write every page of the catalogue, and the parts of other pages."""
    (docs / "catalogue").mkdir(parents=True, exist_ok=True)
    for name, text in pages().items():
        (docs / "catalogue" / name).write_text(text, encoding="utf-8")
    for name, fill in FILLED.items():
        page = docs / name
        page.write_text(fill(page.read_text("utf-8")), encoding="utf-8")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
