"""Write the pages of the catalogue from the docstrings.

Usage: python tools/catalogue.py DIRECTORY
"""

from __future__ import annotations

import inspect
import re
import sys
from collections.abc import Iterator
from dataclasses import MISSING, Field, fields, is_dataclass
from pathlib import Path
from typing import Any

from sfumato import registry

TITLES = {
    "models": "Privacy models",
    "algorithms": "Algorithms",
    "operators": "Operators",
    "metrics": "Metrics",
    "attacks": "Attacks",
}
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
    return f"# {TITLES[kind]}\n\nWritten by `make docs` from the code.\n\n{sections}"


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
            yield f"**{word}.** {' '.join(rest.split())}"


def asked(kind: str, name: str) -> Iterator[str]:
    """How a policy asks for it."""
    if kind in ASKED:
        yield f'In a policy: `{ASKED[kind].replace(chr(10), "` `")}"{name}"`'


def options(thing: type) -> Iterator[str]:
    """Its settings and their defaults."""
    if is_dataclass(thing) and fields(thing):
        rows = "\n".join(f"| `{f.name}` | {default(f)} |" for f in fields(thing))
        yield f"| setting | default |\n|---|---|\n{rows}"


def default(setting: Field[Any]) -> str:
    """What a setting is when it is left out."""
    if setting.default is not MISSING:
        return "left out" if setting.default is None else f"`{setting.default!r}`"
    return "none: must be given" if setting.default_factory is MISSING else "empty"


def blind_spot(thing: Any) -> Iterator[str]:
    """What it does not protect from."""
    if getattr(thing, "blind_spot", None):
        yield f"**Blind spot.** {thing.blind_spot}"


def main(directory: Path) -> None:
    """Write every page."""
    directory.mkdir(parents=True, exist_ok=True)
    for name, text in pages().items():
        (directory / name).write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
