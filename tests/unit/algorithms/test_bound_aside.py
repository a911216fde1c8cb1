"""The lower bound beside a search: the same result, and no thread that is left behind."""

from __future__ import annotations

import threading
import time
from dataclasses import replace

import numpy as np
import pytest

from sfumato import registry
from sfumato.algorithms.best.best import Best
from sfumato.algorithms.best.bound_aside import BoundAside
from sfumato.algorithms.best.loss_bound import MeanLossBound
from sfumato.errors import InfeasibleError
from sfumato.models.k_anonymity import KAnonymity
from tests.unit.algorithms.lattice_cases import random_request

FOUND = MeanLossBound(loss=0.5, low=0.5, high=0.5, rows=40)


@pytest.fixture
def request_of_forty():
    random, models = np.random.default_rng(3), [KAnonymity(k=3)]
    found = random_request(random, models, columns=3, rows=40, values=4)
    return replace(found, resolve=registry.algorithm)


@pytest.mark.parametrize("threads", [1, 2, 4])
def test_the_bound_does_not_depend_on_threads(request_of_forty, threads):
    alone = Best().solve(replace(request_of_forty, threads=1))
    beside = Best().solve(replace(request_of_forty, threads=threads))
    assert beside.facts["bound"] == alone.facts["bound"]
    assert beside.facts["loss"] == alone.facts["loss"]


@pytest.mark.parametrize("alone", [{"threads": 1}, {"memory_short": True}])
def test_one_thread_or_little_memory_computes_it_when_asked_for(
    request_of_forty, alone
):
    asked = []

    def compute(request):
        asked.append(threading.current_thread())
        return FOUND

    with BoundAside(replace(request_of_forty, **alone), compute) as aside:
        assert not asked
        assert aside.result() is FOUND
    assert asked == [threading.current_thread()]


def test_progress_is_reported_by_the_thread_that_searches(request_of_forty):
    told = []

    def compute(request):
        request.progress("halfway", 0.5)
        time.sleep(0.3)
        return FOUND

    def progress(step, share):
        told.append((threading.current_thread(), step, share))

    with BoundAside(replace(request_of_forty, progress=progress), compute) as aside:
        aside.result()
    assert {each[0] for each in told} == {threading.current_thread()}
    assert ("halfway", 0.5) in {each[1:] for each in told}


def test_a_search_that_fails_ends_it(request_of_forty):
    rounds = []

    def compute(request):
        for number in range(10_000):
            request.progress("searching", 0.0)
            rounds.append(number)
            time.sleep(0.001)

    def fail():
        with BoundAside(request_of_forty, compute):
            raise InfeasibleError("There is no such grouping.", hint="Ask for less.")

    before = threading.active_count()
    with pytest.raises(InfeasibleError):
        fail()
    assert threading.active_count() == before
    assert len(rounds) < 10_000


def test_its_own_faults_are_raised(request_of_forty):
    def compute(request):
        raise MemoryError

    with BoundAside(request_of_forty, compute) as aside, pytest.raises(MemoryError):
        aside.result()
