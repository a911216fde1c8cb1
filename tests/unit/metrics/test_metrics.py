import numpy as np
import pytest

from sfumato import registry
from sfumato.metrics.base import Metric, MetricInput

# Ten source rows; groups of 3 and 5 rows are published, 2 rows are suppressed. Column 1
# costs 0.5 in group 0 and 0 in group 1; column 2 costs 1 and 0.2.
OUTCOME = MetricInput(
    rows_in=10,
    rows_out=8,
    group_rows=np.array([3, 5]),
    ncp=np.array([[0.5, 1.0], [0.0, 0.2]]),
    loss=np.array([[0.25, 1.0], [0.0, 0.0]]),
    published_sizes=np.array([3, 5]),
    k=2,
)
EXPECTED = {
    "ncp": (3 * 1.5 + 5 * 0.2 + 2 * 2) / 20,
    "generalized_loss": (3 * 1.25 + 2 * 2) / 20,
    "discernibility": 9 + 25 + 2 * 10,
    "average_class_size": 8 / 2 / 2,
    "suppressed_share": 0.2,
}


PUBLISHED = [
    name
    for name in registry.CATALOGUE["metrics"]
    if issubclass(registry.load("metrics", name), Metric)
]


def test_a_manifest_publishes_no_metric_that_looks_at_the_original():
    assert set(PUBLISHED) == set(EXPECTED)


@pytest.mark.parametrize("name", PUBLISHED)
def test_metric_equals_its_definition_on_a_worked_case(name):
    measured = registry.load("metrics", name)().measure(OUTCOME)
    assert measured == pytest.approx(EXPECTED[name])
