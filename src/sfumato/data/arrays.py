"""The types of arrays: one name per element type, in the whole project."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]
Counts = npt.NDArray[np.int64]
"""Whole numbers that count rows or persons."""
Codes = npt.NDArray[np.int32]
"""Positions of values on their axis, or of cells in a dictionary."""
Flags = npt.NDArray[np.bool_]
Bytes = npt.NDArray[np.uint8]
"""Flags and small states as compiled code stores them."""
Signs = npt.NDArray[np.int8]
Words = npt.NDArray[np.uint64]
"""Machine words: bits, packed records, states of random streams."""
Hashes = npt.NDArray[np.uint32]
