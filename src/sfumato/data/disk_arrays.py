"""Keep large arrays on disk: the system loads the pages that are used, and drops others.

Every array is a file without a name, so that nothing is left behind however the process
ends. Space is reserved before an array is used: a full disk raises an error then.
"""

from __future__ import annotations

import mmap
from dataclasses import dataclass, field
from tempfile import TemporaryFile
from threading import Lock
from typing import IO, Any, TypeVar
from weakref import WeakSet

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from sfumato.data.cell_text import as_text
from sfumato.data.freed_memory import trim
from sfumato.data.page_watch import watch
from sfumato.errors import OutputError

AnyArray = TypeVar("AnyArray", bound=npt.NDArray[Any])
SMALL = 1 << 20
"""Arrays of fewer bytes stay in memory."""


class MemoryArrays:
    """Where large arrays of a run are kept: here, they stay in memory."""

    def keep(self, array: AnyArray) -> AnyArray:
        """The same array, where arrays are kept."""
        return array

    def keep_cells(self, column: Any) -> Any:
        """The same Arrow column, or array, where arrays are kept."""
        return column

    def texts(self, column: Any) -> Any:
        """The cells of a dictionary of plain texts."""
        return as_text(column)

    def release(self) -> None:
        """Let the system have memory that it can give back when it is needed."""

    def drop_pages(self) -> None:
        """Let the system have the memory of pages that come back when used."""


IN_MEMORY = MemoryArrays()


@dataclass(eq=False)
class DiskArrays(MemoryArrays):
    """Arrays of one run that are mapped from disk; small ones stay in memory."""

    _maps: WeakSet[mmap.mmap] = field(default_factory=WeakSet)
    _lock: Lock = field(default_factory=Lock)
    """Pages are also given back by the thread that watches them."""
    _watched: bool = False

    def keep(self, array: AnyArray) -> AnyArray:
        """The same array on disk; one that is there already stays as it is."""
        if array.nbytes < SMALL or _is_mapped(array):
            return array
        column = DiskColumn(self)
        column.add(np.ascontiguousarray(array))
        return column.array(array.dtype).reshape(array.shape)  # type: ignore[return-value]

    def keep_cells(self, column: Any) -> Any:
        """The same Arrow column, or array, on disk."""
        if isinstance(column, pa.ChunkedArray):
            parts = [self.keep_cells(chunk) for chunk in column.chunks]
            return pa.chunked_array(parts, column.type)
        kind = column.type
        if pa.types.is_dictionary(kind):
            indices = self.keep_cells(column.indices)
            return pa.DictionaryArray.from_arrays(
                indices, column.dictionary, ordered=kind.ordered
            )
        if pa.types.is_nested(kind) or isinstance(kind, pa.BaseExtensionType):
            return column
        buffers = [self._buffer(each) for each in column.buffers()]
        return pa.Array.from_buffers(kind, len(column), buffers, offset=column.offset)

    def texts(self, column: Any) -> Any:
        """The same: a dictionary takes less room."""
        return column

    def _buffer(self, buffer: Any) -> Any:
        if buffer is None or buffer.size < SMALL:
            return buffer
        return pa.py_buffer(self.keep(np.frombuffer(buffer, np.uint8)))

    def mapped(self, file: IO[bytes]) -> mmap.mmap:
        """Map a whole file."""
        found = mmap.mmap(file.fileno(), 0)
        with self._lock:
            self._maps.add(found)
            new, self._watched = not self._watched, True
        if new:
            watch(self)
        return found

    def release(self) -> None:
        """Let the system have the memory of all pages; they come back when used."""
        self.drop_pages()
        pa.default_memory_pool().release_unused()
        trim()

    def drop_pages(self) -> None:
        """Let the system have the memory of all pages; they come back when used."""
        with self._lock:
            maps = tuple(self._maps)
        for each in maps:
            if not each.closed:
                each.madvise(mmap.MADV_DONTNEED)


def _is_mapped(array: npt.NDArray[Any]) -> bool:
    """Whether the cells of an array are those of a file."""
    base: Any = array
    while isinstance(base, np.ndarray):
        base = base.base
    return isinstance(base.obj if isinstance(base, memoryview) else base, mmap.mmap)


class DiskColumn:
    """An array on disk that grows at its end."""

    def __init__(self, disk: DiskArrays) -> None:
        self._disk = disk
        self._file: IO[bytes] | None = None
        self._bytes = 0

    def add(self, part: npt.NDArray[Any]) -> None:
        """Append the bytes of an array."""
        try:
            if self._file is None:
                # It stays open until all parts were added.
                self._file = TemporaryFile()  # noqa: SIM115
            self._file.write(np.ravel(part).view(np.uint8).data)
        except OSError:
            raise full_disk() from None
        self._bytes += part.nbytes

    def array(self, dtype: npt.DTypeLike) -> npt.NDArray[Any]:
        """All of it; nothing can be added any more."""
        if self._file is None or not self._bytes:
            return np.zeros(0, dtype)
        try:
            with self._file as file:
                file.flush()
                return np.frombuffer(self._disk.mapped(file), dtype)
        except OSError:
            raise full_disk() from None


def full_disk() -> OutputError:
    """Build the error for a disk that cannot take what does not fit in memory."""
    return OutputError(
        "The directory for temporary files cannot take what does not fit in memory.",
        hint="Free space there, name another place in TMPDIR, or raise --memory-limit; "
        "nothing was left behind.",
    )


@dataclass(eq=False)
class ValidCells:
    """Which cells of a column are valid, in parts; parts without a null take no room."""

    parts: list[npt.NDArray[np.bool_] | int] = field(default_factory=list)

    def add(self, cells: Any) -> None:
        """Take the cells of a part in."""
        if not cells.null_count:
            self.parts.append(len(cells))
        else:
            self.parts.append(cells.is_valid().to_numpy(zero_copy_only=False))

    def bitmap(self) -> Any:
        """The bitmap as Arrow lays it out; None if all cells are valid."""
        if all(isinstance(part, int) for part in self.parts):
            return None
        flags = [
            np.ones(part, dtype=np.bool_) if isinstance(part, int) else part
            for part in self.parts
        ]
        return pa.py_buffer(np.packbits(np.concatenate(flags), bitorder="little"))
