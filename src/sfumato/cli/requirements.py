"""Requirements written on the command line, in the words of the policy file."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sfumato.errors import RefusedError, UsageError

if TYPE_CHECKING:
    from sfumato.models.base import OutputModel

OPENING, CLOSING = "[{", "]}"


def parse_value(text: str) -> Any:
    """Parse a value as TOML; anything else is text."""
    import tomllib

    try:
        read = tomllib.loads(f"value = {text}")
    except (ValueError, RecursionError):
        # Not TOML, a number with thousands of digits, or lists nested too deeply.
        return text
    return read["value"] if len(read) == 1 else text


def parse_pair(text: str, *, option: str) -> tuple[str, Any]:
    """Parse `KEY=VALUE`, for `--set` and inside `--require`."""
    key, equals, value = text.partition("=")
    if not equals or not key.strip():
        raise UsageError(
            f"{option}: a setting is written KEY=VALUE.",
            hint=f"For example: {option} publish.max_suppressed=0.05"
            if option == "--set"
            else "For example: --require model=t-closeness,t=0.2,on=diagnosis",
        )
    return key.strip(), parse_value(value.strip())


def split_names(text: str | None) -> list[str]:
    """Split column names at commas; quotes keep a comma in a name."""
    import csv

    if not text:
        return []
    return [name.strip() for name in next(csv.reader([text], skipinitialspace=True))]


def parse_requirement(text: str) -> OutputModel:
    """Parse `model=t-closeness,t=0.2,on=diagnosis` as a model."""
    parts = _split_outside_brackets(text)
    pairs = [parse_pair(part, option="--require") for part in parts]
    settings = dict(pairs)
    if len(settings) < len(pairs):
        raise UsageError(
            "--require gives a setting more than once.",
            hint="Write each setting once; repeat --require for another requirement.",
        )
    name = settings.pop("model", None)
    if name is None:
        raise UsageError(
            "--require does not say which model it means.",
            hint="Begin with model=NAME; 'sfumato list models' has the names.",
        )
    return output_model(str(name), settings)


def output_model(name: str, parameters: dict[str, Any]) -> OutputModel:
    """Make a catalogue model that can be judged on a published table."""
    from sfumato.models.base import OutputModel
    from sfumato.policy.instantiate import make_model
    from sfumato.policy.line_numbers import Origin

    here = Origin("the command line")
    model = make_model({"model": name, **parameters}, origin=here)
    if not isinstance(model, OutputModel):
        raise RefusedError(
            f"'{name}' is certified by how a release is made; a table alone cannot "
            "prove it.",
            hint="Look at the manifest of the release instead.",
        )
    return model


def _split_outside_brackets(text: str) -> list[str]:
    """Split at commas outside brackets and quotes."""
    parts, depth, quoted = [""], 0, False
    for letter in text:
        quoted ^= letter == '"'
        depth += (letter in OPENING) - (letter in CLOSING)
        if letter == "," and depth == 0 and not quoted:
            parts.append("")
        else:
            parts[-1] += letter
    return parts
