"""Other algorithms, for those that work with them."""

from __future__ import annotations

from typing import Any

from sfumato.algorithms.request import Request
from sfumato.errors import PolicyError


def find(request: Request, name: str) -> Any:
    """The class of another algorithm; a request by itself knows the common ones."""
    if request.resolve is not None:
        return request.resolve(name)
    from sfumato.algorithms.harvest import Harvest
    from sfumato.algorithms.k_member import KMember
    from sfumato.algorithms.mondrian import Mondrian

    for kind in (Harvest, KMember, Mondrian):
        if kind.name == name:
            return kind
    raise PolicyError(f"There is no algorithm '{name}' at hand.")
