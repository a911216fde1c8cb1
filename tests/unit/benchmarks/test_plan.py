"""The plan of the benchmarks can be carried out, and its results add up."""

from __future__ import annotations

import inspect

import pytest

from benchmarks.case import Case
from benchmarks.every_entry import entry
from benchmarks.jobs import JOBS
from benchmarks.measure import Job, measured
from benchmarks.places import SCRATCH
from benchmarks.plan import plan
from benchmarks.results import Line, exponent, page, ratios
from sfumato import registry

FIGURES = {
    "cpu_seconds": 2.0,
    "wall_seconds": 1.0,
    "peak_megabytes": 100.0,
    "facts": {},
}
both_plans = pytest.mark.parametrize("quick", [False, True])


def line(label: str, *, reference: bool, **figures: float) -> Line:
    case = Case(group="sort", label=label, job="lexsort", reference=reference)
    return Line(case, {**FIGURES, **figures})


@both_plans
def test_every_case_names_a_job_and_its_parameters(quick):
    for case in plan(quick=quick):
        inspect.signature(JOBS[case.job]).bind(**case.parameters)


@both_plans
def test_every_group_has_one_reference(quick):
    cases = plan(quick=quick)
    references = [case.group for case in cases if case.reference]
    assert sorted(references) == sorted({case.group for case in cases})


@both_plans
def test_no_two_cases_have_the_same_name(quick):
    names = [case.name for case in plan(quick=quick)]
    assert len(names) == len(set(names))


def entries_of(quick: bool) -> list[tuple[str, str]]:
    cases = [case for case in plan(quick=quick) if case.job == "entry"]
    return [(case.parameters["kind"], case.parameters["name"]) for case in cases]


@both_plans
def test_every_entry_of_the_catalogue_is_measured(quick):
    listed = [(kind, name) for kind in registry.KINDS for name in registry.names(kind)]
    assert sorted(entries_of(quick)) == sorted(listed)


def test_the_first_use_of_every_algorithm_is_measured():
    cases = [case for case in plan(quick=False) if case.job == "first_use"]
    named = [case.parameters["algorithm"] for case in cases]
    assert sorted(named) == sorted(registry.names("algorithms"))


@pytest.mark.parametrize(("kind", "name"), entries_of(quick=True))
def test_the_job_of_every_entry_can_be_done(kind, name, tmp_path, monkeypatch):
    monkeypatch.setenv(SCRATCH, str(tmp_path))
    job = entry(kind=kind, name=name, rows=2_500)
    assert all(
        isinstance(fact, float | bool) for fact in job.facts(job.work()).values()
    )


def test_ratios_are_multiples_of_the_reference():
    lines = [
        line("ours", reference=False, cpu_seconds=3.0),
        line("theirs", reference=True),
    ]
    assert ratios(lines[0], lines)["cpu_seconds"] == 1.5


def test_a_case_that_failed_has_no_ratios_and_says_why():
    failed = Line(line("ours", reference=False).case, None, "failed: no memory")
    lines = [failed, line("theirs", reference=True)]
    assert ratios(failed, lines) == {}
    assert "failed: no memory" in page(lines, quick=False)


def test_growth_is_the_power_of_the_rows():
    lines = [
        Line(
            Case(group="grow", label=str(rows), job="lexsort", rows=rows),
            {**FIGURES, "cpu_seconds": 3e-6 * rows**1.5},
        )
        for rows in (100, 1000, 5000)
    ]
    assert exponent(lines) == pytest.approx(1.5)
    assert "power of 1.50" in page(lines, quick=False)


def test_cases_that_do_not_grow_have_no_exponent():
    assert exponent([line("ours", reference=False), line("b", reference=True)]) is None


def test_a_warm_job_runs_once_more_than_it_is_measured():
    calls: list[int] = []
    job = Job(work=lambda: calls.append(1), facts=lambda _: {"calls": len(calls)})
    assert measured(job, repeats=3, warm=True)["facts"] == {"calls": 4}
