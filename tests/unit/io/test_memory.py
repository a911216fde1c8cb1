"""A table that does not fit is refused before it is read, with what it needs."""

from __future__ import annotations

import errno
import gzip
import subprocess
import sys

import pyarrow as pa
import pyarrow.parquet as parquet
import pytest

from sfumato.errors import DataError
from sfumato.io import compression, memory
from sfumato.io.read import read_source

FREE = 1_000_000


@pytest.fixture
def small_machine(tmp_path, monkeypatch):
    """A machine on which one megabyte is free."""
    meminfo = tmp_path / "meminfo"
    meminfo.write_text(f"MemTotal: 9999999 kB\nMemAvailable: {FREE // 1000} kB\n")
    monkeypatch.setattr(memory, "MEMINFO", meminfo)
    monkeypatch.setattr(memory, "CGROUP", tmp_path / "none")
    monkeypatch.setattr(memory, "PROCESS", tmp_path / "none")


def test_a_gzip_bomb_is_refused(small_machine, tmp_path):
    bomb = tmp_path / "bomb.csv.gz"
    bomb.write_bytes(gzip.compress(b"a,b\n" + b"1,2\n" * 1_000_000))
    with pytest.raises(
        DataError,
        match=r"bomb.csv.gz' unpacks to 4,000,004 bytes in 1,000,001 lines or more; "
        r".* 0\.9 GB of memory, and 0\.0 GB are free",
    ):
        read_source(bomb)


@pytest.mark.parametrize("end", ["\n", "\r", "\r\n"])
def test_many_lines_of_few_bytes_take_the_memory_of_their_rows(
    tmp_path, monkeypatch, end
):
    # Measured: a run takes 285 bytes for each line of this file, 40 times its bytes.
    tiny = tmp_path / "tiny.csv.gz"
    tiny.write_bytes(
        gzip.compress(("name,age,ill" + f"{end}A,20,x" * 100_000).encode())
    )
    monkeypatch.setattr(compression, "free_memory", lambda: 285 * 100_000)
    with pytest.raises(DataError, match=r"100,00\d lines or more"):
        read_source(tiny)
    monkeypatch.setattr(compression, "free_memory", lambda: 1000 * 100_000)
    assert read_source(tiny).num_rows == 100_000


def test_a_large_file_is_refused_before_it_is_read(small_machine, tmp_path):
    large = tmp_path / "large.csv"
    large.write_bytes(b"a,b\n" + b"1,2\n" * 300_000)
    with pytest.raises(DataError, match=r"has 1,200,004 bytes; .* 0.0 GB of memory"):
        read_source(large)


def test_many_rows_in_few_bytes_are_refused(small_machine, tmp_path):
    dense = tmp_path / "dense.parquet"
    parquet.write_table(pa.table({"a": pa.array([7] * 1_000_000)}), dense)
    assert dense.stat().st_size < 10_000
    with pytest.raises(DataError, match=r"dense.parquet' has 1,000,000 rows"):
        read_source(dense)


def test_packed_batches_that_grow_are_refused(small_machine, tmp_path):
    packed = tmp_path / "packed.arrow"
    table = pa.table({"a": pa.array([7] * 1_000_000)})
    options = pa.ipc.IpcWriteOptions(compression="zstd")
    with pa.ipc.new_file(str(packed), table.schema, options=options) as writer:
        writer.write_table(table)
    assert packed.stat().st_size < FREE // 2
    with pytest.raises(DataError, match=r"packed.arrow' has more than"):
        read_source(packed)


def test_what_fits_is_read(small_machine, tmp_path):
    small = tmp_path / "small.csv.gz"
    small.write_bytes(gzip.compress(b"a,b\n1,2\n"))
    assert read_source(small).num_rows == 1


def test_a_container_has_what_its_limit_leaves_and_its_caches_hold(
    tmp_path, monkeypatch
):
    (tmp_path / "memory.max").write_text("1000000\n")
    (tmp_path / "memory.current").write_text("900000\n")
    (tmp_path / "memory.stat").write_text(
        "anon 5\ninactive_file 300000\nactive_file 7\n"
    )
    monkeypatch.setattr(memory, "MEMINFO", tmp_path / "none")
    monkeypatch.setattr(memory, "CGROUP", tmp_path)
    assert memory.free_memory() == 400_007


def test_a_container_without_a_limit_has_what_the_machine_has(tmp_path, monkeypatch):
    (tmp_path / "memory.max").write_text("max\n")
    (tmp_path / "memory.current").write_text("900000\n")
    (tmp_path / "memory.stat").write_text("")
    (tmp_path / "meminfo").write_text("MemAvailable: 5 kB\n")
    monkeypatch.setattr(memory, "MEMINFO", tmp_path / "meminfo")
    monkeypatch.setattr(memory, "CGROUP", tmp_path)
    assert memory.free_memory() == 5 * 1024


def limited_group(directory, most, used):
    directory.mkdir(parents=True)
    (directory / "memory.max").write_text(f"{most}\n")
    (directory / "memory.current").write_text(f"{used}\n")
    (directory / "memory.stat").write_text("")


def test_of_nested_control_groups_the_tightest_counts(tmp_path, monkeypatch):
    limited_group(tmp_path / "groups" / "system", 5_000_000, 1_000_000)
    limited_group(tmp_path / "groups" / "system" / "job", "max", 0)
    (tmp_path / "cgroup").write_text("1:cpu:/elsewhere\n0::/system/job\n")
    monkeypatch.setattr(memory, "MEMINFO", tmp_path / "none")
    monkeypatch.setattr(memory, "CGROUP", tmp_path / "groups")
    monkeypatch.setattr(memory, "PROCESS", tmp_path)
    assert memory.free_memory() == 4_000_000


def test_a_group_of_the_first_version_is_found_by_its_controller(tmp_path, monkeypatch):
    place = tmp_path / "groups" / "memory" / "job"
    place.mkdir(parents=True)
    (place / "memory.limit_in_bytes").write_text("3000000\n")
    (place / "memory.usage_in_bytes").write_text("1000000\n")
    (place / "memory.stat").write_text("inactive_file 5\n")
    (tmp_path / "cgroup").write_text("4:cpu:/elsewhere\n7:hugetlb,memory:/job\n")
    monkeypatch.setattr(memory, "MEMINFO", tmp_path / "none")
    monkeypatch.setattr(memory, "CGROUP", tmp_path / "groups")
    monkeypatch.setattr(memory, "PROCESS", tmp_path)
    assert memory.free_memory() == 2_000_005


UNDER_A_LIMIT = """
import resource, sys
from sfumato.io.memory import free_memory
before = free_memory()
most = int(sys.argv[1])
resource.setrlimit(resource.RLIMIT_AS, (most, most))
print(free_memory())
"""


def test_what_a_process_may_address_limits_what_is_free():
    pytest.importorskip("resource")
    most = 300_000_000
    run = subprocess.run(
        [sys.executable, "-c", UNDER_A_LIMIT, str(most)], capture_output=True, text=True
    )
    assert run.returncode == 0, run.stderr
    assert 0 < int(run.stdout) < most


@pytest.mark.parametrize(
    "fault",
    [
        MemoryError(),
        pa.ArrowMemoryError("realloc of size 5 failed"),
        OSError(errno.ENOMEM, "Cannot allocate memory"),
        ImportError("mtrand.so: failed to map segment from shared object"),
        RuntimeError("can't start new thread"),
        pa.ArrowException("Unknown error: std::bad_alloc"),
    ],
    ids=repr,
)
def test_memory_that_ran_out_is_known_however_it_is_told(fault):
    assert memory.ran_out(fault)
    outer = ValueError("import failed")
    outer.__context__ = fault
    assert memory.ran_out(outer)


@pytest.mark.parametrize(
    "fault", [ValueError("no"), OSError(errno.ENOSPC, "full"), ImportError("no numba")]
)
def test_other_faults_are_not_taken_for_it(fault):
    assert not memory.ran_out(fault)
