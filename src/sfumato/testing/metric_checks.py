"""What every utility metric must meet."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial
from types import MappingProxyType

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from sfumato.metrics.base import ComparisonMetric, Metric, MetricInput
from sfumato.testing.comparison_checks import comparison_checks
from sfumato.testing.conformance_check import CALM, Check, must


def check_metric(metric_class: type[Metric] | type[ComparisonMetric]) -> list[Check]:
    """Every check of a metric, on drawn releases."""
    named = Check("has a name and a sentence", partial(_is_named, metric_class))
    if issubclass(metric_class, ComparisonMetric):
        return [named, *comparison_checks(metric_class())]
    return [
        named,
        *(
            Check(name, partial(_ask, metric_class(), judge))
            for name, judge in _STATEMENTS.items()
        ),
    ]


def _is_named(metric_class: type[Metric] | type[ComparisonMetric]) -> None:
    must(
        re.fullmatch(r"[a-z0-9]+(_[a-z0-9]+)*", metric_class.name),
        "the name is not lowercase words joined by underscores",
    )
    must(metric_class.sentence.strip().endswith("."), "the sentence has no full stop")


@st.composite
def releases(draw: st.DrawFn) -> MetricInput:
    """Releases in numbers: up to five groups and three quasi-identifiers."""
    groups, columns = draw(st.integers(0, 5)), draw(st.integers(1, 3))
    rows = draw(st.lists(st.integers(1, 9), min_size=groups, max_size=groups))
    cells = st.lists(
        st.integers(0, 4).map(lambda quarters: quarters / 4),
        min_size=groups * columns,
        max_size=groups * columns,
    )
    sizes = np.array(rows, dtype=np.int64)
    out = int(sizes.sum())
    return MetricInput(
        rows_in=out + draw(st.integers(0 if out else 1, 5)),
        rows_out=out,
        group_rows=sizes,
        ncp=np.array(draw(cells)).reshape(groups, columns),
        loss=np.array(draw(cells)).reshape(groups, columns),
        published_sizes=sizes.copy(),
        k=draw(st.integers(1, 5)),
    )


MetricStatement = Callable[[Metric, MetricInput], None]


def _ask(metric: Metric, judge: MetricStatement) -> None:
    @CALM
    @given(releases())
    def judged(release: MetricInput) -> None:
        judge(metric, release)

    judged()


def _is_a_number(metric: Metric, release: MetricInput) -> None:
    measured = metric.measure(release)
    must(isinstance(measured, float | int), "the measure is not a number")
    must(math.isfinite(measured) and measured >= 0, f"the measure is {measured}")


def _ignores_the_numbering(metric: Metric, release: MetricInput) -> None:
    turned = replace(
        release,
        group_rows=release.group_rows[::-1],
        ncp=release.ncp[::-1],
        loss=release.loss[::-1],
        published_sizes=release.published_sizes[::-1],
    )
    first, second = metric.measure(release), metric.measure(turned)
    must(math.isclose(first, second, abs_tol=1e-9), "the order of groups matters")


def _grows_with_the_loss(metric: Metric, release: MetricInput) -> None:
    starred = replace(
        release, ncp=np.ones_like(release.ncp), loss=np.ones_like(release.loss)
    )
    before, after = metric.measure(release), metric.measure(starred)
    must(after >= before - 1e-9, "a release that shows nothing measures less")


def _leaves_input_alone(metric: Metric, release: MetricInput) -> None:
    arrays = (release.group_rows, release.ncp, release.loss, release.published_sizes)
    before = [array.copy() for array in arrays]
    metric.measure(release)
    same = all(np.array_equal(a, b) for a, b in zip(before, arrays, strict=True))
    must(same, "an input array was changed")


_STATEMENTS: Mapping[str, MetricStatement] = MappingProxyType(
    {
        "the measure is a number of at least 0": _is_a_number,
        "the numbering of groups does not matter": _ignores_the_numbering,
        "a release that shows nothing measures no less": _grows_with_the_loss,
        "the input is left as it was": _leaves_input_alone,
    }
)
