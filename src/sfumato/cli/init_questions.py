"""The questions of `sfumato init --interactive`: what the data cannot tell."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from sfumato.data.profiling.column_roles import Decision
from sfumato.data.schema import Role
from sfumato.errors import UsageError
from sfumato.policy.profiles import PROFILES

if TYPE_CHECKING:
    import pyarrow as pa

    from sfumato.data.profiling.infer import Guess

Prompt = Callable[[str], str]
RECIPIENTS = MappingProxyType(
    {str(place): name for place, name in enumerate(PROFILES, start=1)}
)
ANSWERS = MappingProxyType(
    {
        "k": Decision(Role.QUASI, "you said that others may know it"),
        "s": Decision(Role.SENSITIVE, "you said that nobody may learn it"),
        "d": Decision(Role.INSENSITIVE, "you left it out", drop=True),
    }
)
TRIES = 3
"""After so many answers that cannot be read, no more is asked."""


def answered(
    source: pa.Table, settings: Mapping[str, Any], prompt: Prompt
) -> dict[str, Any]:
    """Ask who receives the data, how large groups are, and about unclear columns."""
    from sfumato.policy.propose import propose

    profile = settings["profile"] or _recipient(prompt)
    k = settings["k"] or _group_size(prompt, PROFILES[profile].k if profile else 5)
    first = propose(source, **{**settings, "profile": profile, "k": k})
    unclear = [guess for guess in first.inference.guesses if not guess.understood]
    given = {guess.name: _column(guess, prompt) for guess in unclear}
    said = {name: one for name, one in given.items() if one is not None}
    return {"profile": profile, "k": k, "given": said}


def _recipient(prompt: Prompt) -> str | None:
    lines = [f"  {key}  {PROFILES[name].title}" for key, name in RECIPIENTS.items()]
    question = "\n".join(["Who gets the release?", *lines, "  Enter: none of these"])
    choice = _choice(prompt, f"{question}\n> ", RECIPIENTS)
    return RECIPIENTS[choice] if choice else None


def _group_size(prompt: Prompt, usual: int) -> int:
    for _ in range(TRIES):
        said = prompt(f"How many people are to look alike, at least? [{usual}] ")
        text = said.strip()
        if not text and said:
            return usual
        if text.isdecimal() and int(text) >= usual:
            return int(text)
        if not said:
            break
    raise _unread(f"a whole number from {usual} on")


def _column(guess: Guess, prompt: Prompt) -> Decision | None:
    """Ask about one column; None keeps what was decided."""
    fate = "left out" if guess.drop else str(guess.role)
    question = (
        f"Column '{guess.name}', {guess.power.distinct:,} different values: "
        f"k = others may know it, s = sensitive, d = leave it out [{fate}] "
    )
    choice = _choice(prompt, question, ANSWERS)
    return ANSWERS[choice] if choice else None


def _choice(prompt: Prompt, question: str, allowed: Mapping[str, object]) -> str | None:
    """The key of an answer; None for an empty line."""
    for _ in range(TRIES):
        said = prompt(question)
        text = said.strip().lower()
        if not text and said:
            return None
        if text in allowed:
            return text
        if not said:
            break
    raise _unread(f"one of {', '.join(allowed)}, or Enter")


def _unread(expected: str) -> UsageError:
    return UsageError(
        f"No answer could be read; expected {expected}. Nothing was written.",
        hint="Run it again, or leave --interactive out.",
    )
