"""Pages that are mapped from disk are given back while a step goes on."""

from __future__ import annotations

from threading import Event

import numpy as np

from sfumato.data import page_watch
from sfumato.data.disk_arrays import DiskArrays


class Owner:
    def __init__(self) -> None:
        self.dropped = Event()

    def drop_pages(self) -> None:
        self.dropped.set()


def test_pages_are_dropped_while_their_owner_works():
    owner = Owner()
    assert page_watch.watch(owner) is not None
    assert owner.dropped.wait(30)


def test_nobody_watches_after_the_owner_is_gone():
    owner = Owner()
    thread = page_watch.watch(owner)
    assert thread is not None
    del owner
    thread.join(30)
    assert not thread.is_alive()


def test_nothing_is_watched_where_the_system_does_not_tell(monkeypatch, tmp_path):
    monkeypatch.setattr(page_watch, "STATM", tmp_path / "statm")
    assert page_watch.watch(Owner()) is None


def test_arrays_keep_their_values_when_pages_are_dropped():
    disk, values = DiskArrays(), np.arange(1 << 20)
    kept = disk.keep(values)
    disk.drop_pages()
    assert np.array_equal(kept, values)
