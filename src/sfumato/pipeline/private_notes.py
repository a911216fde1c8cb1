"""What every result that is computed from an original says about itself."""

from __future__ import annotations

PRIVATE = "Private: computed from the source. Do not publish or share it."
OUTSIDE = (
    "The release is differentially private. These figures are outside its guarantee: the "
    "ledger does not pay for them."
)
