"""One Spark session for all tests here: `make test` runs them in a process of their own."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from sfumato.engines.java_runtime import find_java
from sfumato.engines.spark_session import spark_session
from sfumato.errors import InstallationError
from tests.conftest import absent

SUBMIT = (
    "--master local[2] --driver-memory 1g --conf spark.sql.shuffle.partitions=2 "
    "--conf spark.default.parallelism=2 pyspark-shell"
)
QUICK = "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC -Xshare:auto"
"""Java compiles little: the tests are over before more would pay."""


@pytest.fixture(scope="session")
def spark() -> Iterator[Any]:
    """The session that Sfumato starts, with two workers."""
    try:
        find_java()
    except InstallationError as fault:
        absent(str(fault))
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PYSPARK_SUBMIT_ARGS", SUBMIT)
        patch.setenv("JDK_JAVA_OPTIONS", QUICK)
        session = spark_session(10**9)
    yield session
    session.stop()
