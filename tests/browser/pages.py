"""The pages that Sfumato makes, by name; every test in this directory opens each."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from sfumato.cli import main

ADULT = """
version = 1
unlisted = "drop"
[data]
missing = ["?"]
[columns.age]
role = "quasi"
hierarchy = { intervals = [5, 10, 20] }
[columns.education]
role = "quasi"
[columns.marital-status]
role = "quasi"
[columns.race]
role = "quasi"
[columns.sex]
role = "quasi"
[columns.native-country]
role = "quasi"
[columns.occupation]
role = "sensitive"
[columns.salary-class]
role = "insensitive"
[[require]]
model = "k-anonymity"
k = 10
[[require]]
model = "l-diversity"
l = 3
[algorithm]
name = "mondrian"
[report]
loss_by = ["race", "sex"]
"""


@dataclass(frozen=True)
class Workshop:
    """A directory in which releases are made, each once."""

    directory: Path
    shared_data: Callable[[], Path]
    """Finds the real tables, or skips the test."""

    @cached_property
    def demo(self) -> Path:
        """The release of the demo."""
        place = self.directory / "demo"
        assert main(["demo", "--out", str(place)]) == 0
        return place / "release"

    @cached_property
    def adult(self) -> Path:
        """A release of Adult."""
        policy = self.directory / "adult.toml"
        policy.write_text(ADULT, encoding="utf-8")
        source = self.shared_data() / "adult" / "adult_clean_30162.csv.gz"
        place = self.directory / "adult"
        words = ["anonymize", policy, "--data", source, "--out", place, "--quiet"]
        assert main([str(word) for word in words]) == 0
        return place

    def compared(self, name: str, *words: str) -> Path:
        """The page of a comparison of the demo's table."""
        policy = self.demo.parent / "policy.toml"
        place = self.directory / f"{name}.html"
        words = ("compare", str(policy), "--page", str(place), "--workers", "1", *words)
        if not place.exists():
            main([*words])
        return place


FEW = (
    *("--set", 'compare.algorithms=["mondrian", "k-member"]'),
    *("--set", 'compare.set={"require.0.k"=[5, 10, 5000]}'),
    *("--set", "accept.prosecutor_max=0.15"),
)
DIALED = ("--dial", "--steps", "3", "--set", "publish.max_loss=1")
PAGES: dict[str, Callable[[Workshop], Path]] = {
    "demo": lambda workshop: workshop.demo / "report.html",
    "demo, private": lambda workshop: workshop.demo / "private" / "report.html",
    "adult": lambda workshop: workshop.adult / "report.html",
    "adult, private": lambda workshop: workshop.adult / "private" / "report.html",
    "comparison": lambda workshop: workshop.compared("comparison", *FEW),
    "dial": lambda workshop: workshop.compared("dial", *DIALED),
}
"""Where each page is, in a workshop."""
STILL = [name for name in PAGES if name not in ("comparison", "dial")]
"""Pages that have no script."""
