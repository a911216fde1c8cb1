"""One secret seed per run, and every random draw derived from it.

Draws come from SHAKE-256, keyed by the seed and by a path of names, so that a draw
does not depend on which draws were made before it, on threads or on engines. Compiled
code that tries many things at random begins a stream of its own
(`kernels/common/random_streams.py`) for each piece of work with a word from here.
"""

from __future__ import annotations

import hashlib
import secrets
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from sfumato.data.safe_repr import SafeRepr
from sfumato.errors import UsageError

SEED_BYTES = 16


@dataclass(frozen=True, repr=False)
class Seed(SafeRepr):
    """A secret and the path of names that leads from it to one stream of draws."""

    secret: bytes
    path: tuple[str, ...] = ()
    insecure: bool = False
    replayed: bool = False
    """Whether it was given from outside, to repeat an earlier run."""

    @classmethod
    def fresh(cls) -> Seed:
        """Draw a seed from the operating system's source of randomness."""
        return cls(secrets.token_bytes(SEED_BYTES))

    @classmethod
    def replay(cls, text: str) -> Seed:
        """Restore the seed of an earlier run from the text in its audit record."""
        try:
            secret = bytes.fromhex(text)
        except ValueError:
            secret = b""
        if len(secret) != SEED_BYTES:
            raise UsageError(
                "A seed is 32 hexadecimal digits.",
                hint="Copy it from private/audit.json of the run to repeat.",
            )
        return cls(secret, replayed=True)

    @classmethod
    def guessable(cls, number: int) -> Seed:
        """Make a seed for tests and papers; never publish releases made with it."""
        return cls(b"sfumato-insecure" + str(number).encode(), insecure=True)

    def child(self, *names: str | int) -> Seed:
        """Return the seed of a part of the work."""
        path = (*self.path, *map(str, names))
        return Seed(self.secret, path, self.insecure, self.replayed)

    def hex(self) -> str:
        """Return the secret as hexadecimal text, only for the private audit record."""
        return self.secret.hex()

    def words(self, count: int) -> npt.NDArray[np.uint64]:
        """`count` independent uniform 64-bit numbers."""
        stream = hashlib.shake_256(self._key())
        return np.frombuffer(stream.digest(8 * count), dtype="<u8").astype(np.uint64)

    def uniform(self, count: int) -> npt.NDArray[np.float64]:
        """`count` independent uniform numbers in [0, 1)."""
        return (self.words(count) >> np.uint64(11)).astype(np.float64) * 2.0**-53

    def permutation(self, count: int) -> npt.NDArray[np.int64]:
        """A uniformly random order of 0 … count − 1."""
        return _order(self.words(count))

    def _key(self) -> bytes:
        parts = [self.secret, *(name.encode() for name in self.path)]
        return b"".join(len(part).to_bytes(8, "big") + part for part in parts)


def _order(words: npt.NDArray[np.uint64]) -> npt.NDArray[np.int64]:
    """The order that sorts words.

    Sorting numbers is several times as fast as sorting places by numbers, so that the
    place of each word takes its lowest bits. They do not matter, unless two words agree
    in all others.
    """
    room = np.uint64((1 << len(words).bit_length()) - 1)
    sorted_words = (words & ~room) | np.arange(len(words), dtype=np.uint64)
    sorted_words.sort()
    places = (sorted_words & room).astype(np.int64)
    sorted_words &= ~room
    if (sorted_words[1:] == sorted_words[:-1]).any():
        return np.argsort(words).astype(np.int64, copy=False)
    return places
