"""The docstrings of the public functions: every argument, and an example that runs."""

from __future__ import annotations

import doctest
import inspect
import re

import pytest

import sfumato as sf
from sfumato import errors
from sfumato.argument_meanings import EXAMPLES, MEANINGS, RETURNS
from sfumato.errors import SfumatoError
from sfumato.policy.keywords import Settings

FUNCTIONS = [name for name in sf.__all__ if inspect.isfunction(getattr(sf, name))]
every = pytest.mark.parametrize("name", FUNCTIONS)


@every
def test_every_argument_has_a_meaning(name):
    parameters = inspect.signature(getattr(sf, name)).parameters
    own = [each for each in parameters if each not in Settings.__annotations__]
    assert [
        each for each in own if f"    {each}: " not in getattr(sf, name).__doc__
    ] == []


@every
def test_a_docstring_says_what_is_returned_and_raised(name):
    text = getattr(sf, name).__doc__
    assert RETURNS[name] in text
    raised = re.findall(r"^    (\w+): ", text.partition("Raises:")[2], re.MULTILINE)
    assert raised
    assert [e for e in raised if not issubclass(getattr(errors, e), SfumatoError)] == []


@every
def test_an_example_runs_as_it_says(name):
    found = doctest.DocTestParser().get_doctest(EXAMPLES[name], {}, name, None, 0)
    assert doctest.DocTestRunner(verbose=False).run(found).failed == 0


def test_no_meaning_is_of_an_argument_that_is_gone():
    used = {p for n in FUNCTIONS for p in inspect.signature(getattr(sf, n)).parameters}
    assert set(MEANINGS) - used == set()
