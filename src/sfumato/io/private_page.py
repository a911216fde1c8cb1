"""Write a page that only its owner can read."""

from __future__ import annotations

import os
import secrets
from pathlib import Path

from sfumato.data.unfinished_files import UNFINISHED
from sfumato.errors import OutputError
from sfumato.io.atomic_files import own_file


def write_private_page(place: str | os.PathLike[str], text: str) -> None:
    """Write a whole new file of mode 0600, never over an existing one."""
    path = Path(place)
    if path.exists() or path.is_symlink():
        raise OutputError(
            f"'{path}' exists already.",
            hint="Name another file, or move the old one away.",
        )
    aside = path.with_name(f".{path.name}.{secrets.token_hex(6)}")
    try:
        with UNFINISHED.holding(aside):
            own_file(aside).write_text(text, encoding="utf-8")
            aside.replace(path)
    except OSError as fault:
        raise OutputError(
            f"'{path}' cannot be written: {fault.strerror}.",
            hint="Name another place.",
        ) from None
    finally:
        aside.unlink(missing_ok=True)
