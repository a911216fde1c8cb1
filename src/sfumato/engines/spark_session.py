"""The Spark session that counts: the one that is active, or one of our own.

A session of our own is quiet: a fault that Spark logs may quote cells. All that it leaves
on disk (what it spills, its launcher, its settings) is in one private directory, which is
removed with the process.
"""

from __future__ import annotations

import atexit
import os
import signal
import sys
import threading
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from tempfile import mkdtemp
from typing import Any

from sfumato.data.unfinished_files import UNFINISHED, remove
from sfumato.engines.java_runtime import find_java, write_launcher
from sfumato.errors import InstallationError, OutputError

QUIET = """\
rootLogger.level = off
logger.python.name = org.apache.spark.api.python.PythonGatewayServer
logger.python.level = off
rootLogger.appenderRef.null.ref = null
appender.null.type = Null
appender.null.name = null
"""
LEAST_MEMORY = 1 << 30
"""The memory of a session of our own, in bytes, if the limit is lower."""
SETTINGS = ("PYSPARK_SUBMIT_ARGS", "SPARK_CONF_DIR", "SPARK_HOME")
"""Variables by which somebody says how Spark is to be run."""


def spark_session(memory_limit: int) -> Any:
    """The active Spark session; without one, a session of our own."""
    sql = _library()
    active = sql.SparkSession.getActiveSession()
    if active is not None:
        return active
    if os.environ.get("SPARK_REMOTE"):
        return sql.SparkSession.builder.getOrCreate()
    return _own_session(sql.SparkSession.builder, memory_limit)


def _library() -> Any:
    try:
        import pyspark.sql
    except ImportError:
        raise InstallationError(
            "Counting on Spark needs pyspark, which is not installed.",
            hint="pip install 'sfumato[spark]'",
        ) from None
    return pyspark.sql


def _own_session(builder: Any, memory_limit: int) -> Any:
    java = find_java()
    home = private_directory("sfumato-spark-")
    write_launcher(java, home)
    for name, value in _settings(home, memory_limit).items():
        builder = builder.config(name, value)
    python = os.environ.get("PYSPARK_PYTHON", sys.executable)
    with _environment(JAVA_HOME=str(home), PYSPARK_PYTHON=python), _own_signals():
        try:
            session = builder.getOrCreate()
        except Exception:
            # What Spark says here may quote the environment of the process.
            raise InstallationError(
                f"Spark did not start with Java {java.version} ({java.found}).",
                hint="Run 'sfumato doctor', and try another Java in JAVA_HOME.",
            ) from None
    atexit.register(_stop, session, home)
    UNFINISHED.before(lambda: _kill(home))
    return session


def private_directory(prefix: str) -> Path:
    """A directory for what this process alone uses, removed at its end."""
    try:
        place = Path(mkdtemp(prefix=prefix))
    except OSError as fault:
        raise OutputError(
            f"No directory can be made to spill to: {fault.strerror}.",
            hint="Name another place for temporary files in TMPDIR.",
        ) from None
    held = ExitStack()
    held.enter_context(UNFINISHED.holding(place))
    held.callback(remove, place)
    atexit.register(held.close)
    return place


def _settings(home: Path, memory_limit: int) -> dict[str, str]:
    """What a session of our own needs; who configures Spark decides the rest."""
    (home / "log4j2.properties").write_text(QUIET)
    for name in ("local", "tmp"):
        (home / name).mkdir()
    java = f"-Dlog4j2.configurationFile={home / 'log4j2.properties'}"
    own = {
        "spark.app.name": "sfumato",
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
        "spark.local.dir": str(home / "local"),
        "spark.sql.warehouse.dir": str(home / "tmp"),
        "spark.driver.extraJavaOptions": f"{java} -Djava.io.tmpdir={home / 'tmp'}",
        "spark.executor.extraJavaOptions": java,
    }
    if any(name in os.environ for name in SETTINGS):
        return own
    # A session on this machine alone: few parts, and Java told how much memory it has.
    megabytes = max(memory_limit, LEAST_MEMORY) >> 20
    return own | {
        "spark.driver.memory": f"{megabytes}m",
        "spark.driver.bindAddress": "127.0.0.1",
        "spark.driver.host": "127.0.0.1",
        "spark.sql.shuffle.partitions": str(4 * (os.cpu_count() or 1)),
    }


@contextmanager
def _environment(**variables: str) -> Iterator[None]:
    """Set variables for what is started meanwhile."""
    before = {name: os.environ.get(name) for name in variables}
    os.environ.update(variables)
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                os.environ.pop(name, None)
            else:
                os.environ[name] = value


@contextmanager
def _own_signals() -> Iterator[None]:
    """Keep what this process does on Ctrl-C: Spark would put its own in place."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.getsignal(signal.SIGINT)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


def _stop(session: Any, home: Path) -> None:
    """End the session and its Java, which would go on writing while all is removed."""
    with suppress(Exception):
        session.stop()
    _kill(home)


def _kill(home: Path) -> None:
    """End the Java processes of our session, before what they write is removed."""
    with suppress(OSError, ValueError):
        for line in (home / "processes").read_text().split():
            if _is_ours(int(line), home):
                os.kill(int(line), signal.SIGKILL)


def _is_ours(process: int, home: Path) -> bool:
    """Whether a number is still that of a process that we started."""
    try:
        words = Path(f"/proc/{process}/cmdline").read_bytes()
    except OSError:
        return False
    return os.fsencode(home) in words
