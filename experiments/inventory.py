"""The five documents, and every claim with the experiment that tries it."""

from __future__ import annotations

from experiments.claims.boger import BOGER
from experiments.claims.claim import Claim
from experiments.claims.diva import DIVA
from experiments.claims.kuksina import KUKSINA
from experiments.claims.slides import SLIDES
from experiments.claims.tgc import TGC

DOCUMENTS = (BOGER, KUKSINA, SLIDES, DIVA, TGC)


def claims() -> tuple[Claim, ...]:
    """All claims of all documents."""
    return tuple(claim for document in DOCUMENTS for claim in document.claims)
