"""Check the arguments of a call from Python before any work; show progress."""

from __future__ import annotations

import inspect
import os
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from difflib import get_close_matches
from functools import wraps
from numbers import Integral, Real
from pathlib import Path
from typing import TYPE_CHECKING, Any, ParamSpec, TypeVar

from sfumato.algorithms.base import Progress, silent
from sfumato.argument_meanings import documented
from sfumato.data.seeds import Seed
from sfumato.errors import Caller, UsageError, hints_for
from sfumato.io.memory import out_of_memory
from sfumato.models.base import OutputModel
from sfumato.policy import Policy
from sfumato.policy.keywords import Settings
from sfumato.risk.table_pair import PublishedForm

if TYPE_CHECKING:
    from sfumato.workload.queries import Workload

Arguments = ParamSpec("Arguments")
Result = TypeVar("Result")
BAR_WIDTH = 30


def spelled_out(function: Callable[Arguments, Result]) -> Callable[Arguments, Result]:
    """Give a function a signature with every setting, and explain wrong calls."""
    signature = _signature(function)
    name = function.__name__

    @wraps(function)
    def call(*args: Arguments.args, **kwargs: Arguments.kwargs) -> Result:
        _check_names(name, signature, kwargs)
        try:
            bound = signature.bind(*args, **kwargs)
        except TypeError as problem:
            raise UsageError(
                f"{name}() cannot be called like this: {problem}.",
                hint=f"help(sfumato.{name}) shows its arguments.",
            ) from None
        keywords = "encoding" in signature.parameters
        written = bound.arguments.get("policy") is not None or not keywords
        with hints_for(Caller.POLICY if written else Caller.ARGUMENT):
            try:
                return function(*args, **kwargs)
            except MemoryError:
                raise out_of_memory() from None

    call.__signature__ = signature  # type: ignore[attr-defined]
    call.__doc__ = documented(name, function.__doc__, signature.parameters)
    return call


def _signature(function: Callable[..., Any]) -> inspect.Signature:
    """Return the signature, with a parameter for every setting in `**settings`."""
    own = inspect.signature(function)
    every = inspect.Parameter.VAR_KEYWORD
    named = [each for each in own.parameters.values() if each.kind is not every]
    if len(named) < len(own.parameters):
        known = {parameter.name for parameter in named}
        named += [
            inspect.Parameter(
                name,
                inspect.Parameter.KEYWORD_ONLY,
                default=None,
                annotation=kind.__forward_arg__,
            )
            for name, kind in Settings.__annotations__.items()
            if name not in known
        ]
    return own.replace(parameters=named)


def _check_names(
    name: str, signature: inspect.Signature, given: dict[str, Any]
) -> None:
    for word in given:
        if word not in signature.parameters:
            close = get_close_matches(word, signature.parameters, n=1)
            known = ", ".join(signature.parameters)
            raise UsageError(
                f"There is no setting '{word}' of {name}().",
                hint=f"Did you mean '{close[0]}'?" if close else f"There are: {known}.",
            )


def seed_of(seed: object, insecure_seed: object) -> Seed:
    """Return the requested seed: fresh, from an earlier run, or guessable."""
    if seed is not None and insecure_seed is not None:
        raise UsageError(
            "seed and insecure_seed cannot both be given.",
            hint="seed repeats a real run, insecure_seed is for tests.",
        )
    if insecure_seed is not None:
        return Seed.guessable(whole("insecure_seed", insecure_seed))
    if seed is None or isinstance(seed, Seed):
        return seed or Seed.fresh()
    if isinstance(seed, str):
        return Seed.replay(seed)
    raise UsageError(
        f"seed is a text of 32 hexadecimal digits, not {_a(seed)}: a number "
        "could be guessed, and the source rebuilt from it.",
        hint="For tests and papers there is insecure_seed=1; it marks the release as "
        "not for publication.",
    )


def threads_of(threads: object) -> int:
    """Return how many threads a call asks for; by default one per core."""
    if threads is None:
        return os.cpu_count() or 1
    return whole("threads", threads, least=1)


def share_of(name: str, value: object) -> float | None:
    """Return a share above 0 and up to 1, or None."""
    if value is None:
        return None
    share = number(name, value)
    if not 0.0 < share <= 1.0:
        raise UsageError(
            f"{name} must be above 0 and at most 1; it is {share}.",
            hint="For example 0.01.",
        )
    return share


def form_of(form: object) -> PublishedForm | None:
    """Return the stated form of a published table; None: to be recognized."""
    if form is None:
        return None
    try:
        return PublishedForm(str(form))
    except ValueError:
        known = ", ".join(f"'{each}'" for each in PublishedForm)
        raise UsageError(
            "form is none of the forms of a published table.",
            hint=f"There are: {known}.",
        ) from None


def policy_of(policy: object) -> Policy | None:
    """Return the policy that a call passes, or load it from a file."""
    if policy is None or isinstance(policy, Policy):
        return policy
    if isinstance(policy, str | os.PathLike):
        return Policy.load(Path(policy))
    raise UsageError(
        f"policy is a Policy or the path of a policy file, not {_a(policy)}.",
        hint="Policy.build(quasi=[…], k=5) makes one; or give the settings themselves.",
    )


def path_of(place: object, *, what: str) -> Path:
    """Return a path in the file system."""
    if not isinstance(place, str | os.PathLike):
        raise UsageError(
            f"{what} is a path, not {_a(place)}.", hint="Give a text or a pathlib.Path."
        )
    text = os.fspath(place)
    if not text or "\0" in text:
        fault = "a path with a zero character" if text else "an empty path"
        raise UsageError(f"{what} is {fault}.", hint="Name another place.")
    return Path(place)


def paths_of(places: object, *, what: str) -> tuple[Path, ...]:
    """Return paths in the file system: one, or a list of them."""
    if isinstance(places, str | os.PathLike):
        return (path_of(places, what=what),)
    if not isinstance(places, Sequence):
        raise UsageError(
            f"{what} is a list of paths, not {_a(places)}.",
            hint="Give texts or pathlib.Path objects.",
        )
    return tuple(path_of(place, what=what) for place in places)


def marks_of(missing: object) -> tuple[str, ...] | None:
    """Return the marks of missing values that a call names; None if it names none."""
    if missing is None or isinstance(missing, str):
        return None if missing is None else (missing,)
    if _are(missing, str):
        return tuple(missing)  # type: ignore[arg-type]
    raise UsageError(
        f"missing is a text or a list of texts, not {_a(missing)}.",
        hint="For example missing=['', '?'].",
    )


def models_of(requirements: object) -> tuple[OutputModel, ...]:
    """Return the models that a call requires."""
    if _are(requirements, OutputModel):
        return tuple(requirements)  # type: ignore[arg-type]
    raise UsageError(
        f"requirements is a list of models, not {_a(requirements)}.",
        hint="k=5 or require=[{'model': 'k-anonymity', 'k': 5}] says it without one.",
    )


def workload_of(workload: object) -> Workload:
    """Return the workload that a call passes, or load it from a file."""
    # Imported late: most calls ask no queries.
    from sfumato.workload.queries import Workload
    from sfumato.workload.workload_files import load_workload

    if isinstance(workload, Workload):
        return workload
    return load_workload(path_of(workload, what="workload"))


def _are(things: Any, kind: type) -> bool:
    """Return whether something is a list of things of one kind."""
    listed = isinstance(things, Sequence) and not isinstance(things, str | bytes)
    return listed and all(isinstance(each, kind) for each in things)


@contextmanager
def watched(progress: object) -> Iterator[Progress]:
    """Return the progress callback: a bar on stderr, the caller's function, or none."""
    if progress is True:
        bar = ProgressBar()
        try:
            yield forward(bar)
        finally:
            bar.end()
    elif not progress:
        yield silent
    elif callable(progress):
        yield forward(progress)
    else:
        raise UsageError(
            f"progress is True, False or a function, not {_a(progress)}.",
            hint="A function gets the name of a step and the share that is done.",
        )


def forward(progress: Progress) -> Progress:
    """Report progress that never goes back, also where a step's length was a guess."""
    furthest = 0.0

    def report(step: str, share: float) -> None:
        nonlocal furthest
        furthest = max(furthest, share)
        progress(step, furthest)

    return report


class ProgressBar:
    """A line on stderr that fills up."""

    def __init__(self) -> None:
        self._shown = ""

    def __call__(self, step: str, share: float) -> None:
        """Show that a step has begun, and what share of all work is done."""
        done = round(BAR_WIDTH * min(max(share, 0.0), 1.0))
        line = f"\r{step:<10.10} [{'#' * done:<{BAR_WIDTH}}] {share:4.0%}"
        if line != self._shown:
            self._write(line)
            self._shown = line

    def end(self) -> None:
        """Move past the line of the bar."""
        if self._shown:
            self._write("\n")

    def _write(self, text: str) -> None:
        # A bar that cannot be written must not stop a release.
        with suppress(OSError, ValueError, AttributeError):
            sys.stderr.write(text)
            sys.stderr.flush()


def whole(name: str, value: object, *, least: int | None = None) -> int:
    """Check a whole number of at least `least`."""
    if isinstance(value, bool) or not isinstance(value, Integral):
        raise UsageError(
            f"{name} is a whole number, not {_a(value)}.", hint="For example 1."
        )
    if least is not None and value < least:
        raise UsageError(
            f"{name} must be at least {least:,}.",
            hint=f"Leave it out, or give {least:,}.",
        )
    return int(value)


def number(name: str, value: object) -> float:
    """Check a number."""
    if isinstance(value, bool) or not isinstance(value, Real):
        raise UsageError(
            f"{name} is a number, not {_a(value)}.", hint="For example 0.5."
        )
    return float(value)


def one_of(name: str, value: object, known: Sequence[str]) -> None:
    """Refuse a word that is not a known one; None leaves the choice to us."""
    if value is not None and value not in known:
        raise UsageError(
            f"There is no {name} of this name.", hint=f"There are: {', '.join(known)}."
        )


def text_of(name: str, value: object) -> str | None:
    """Check a text, or None."""
    if value is None or isinstance(value, str):
        return value
    raise UsageError(f"{name} is a text, not {_a(value)}.", hint="Write it in quotes.")


def names_of(name: str, value: object) -> tuple[str, ...]:
    """Check names: one, or a list of them."""
    if isinstance(value, str):
        return (value,)
    if _are(value, str):
        return tuple(value)  # type: ignore[arg-type]
    raise UsageError(
        f"{name} is a name or a list of names, not {_a(value)}.",
        hint=f"For example {name}=['age'].",
    )


def _a(value: object) -> str:
    """Describe the type of a value, without the value."""
    return f"a value of type {type(value).__name__}"
