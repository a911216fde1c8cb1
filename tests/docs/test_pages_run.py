"""What the tutorial and the how-to pages show is run, page by page."""

from __future__ import annotations

from pathlib import Path

import pyarrow.csv as pa_csv
import pytest

from tests.conftest import ROOT
from tools.run_page import Block, Printed, blocks, renewed, run

DOCS = ROOT / "docs"
TUTORIAL = DOCS / "tutorial.md"
PAGES = [
    path.relative_to(DOCS).as_posix()
    for pattern in (
        "how-to/*.md",
        "reference/*.md",
        "advise.md",
        "assess.md",
        "policy.md",
    )
    for path in sorted(DOCS.glob(pattern))
    if next(blocks(path.read_text(encoding="utf-8")), None) is not None
]


def wrong(page: Path, place: Path) -> list[Printed]:
    """The commands of a page that print something else than it says."""
    results = run(page.read_text(encoding="utf-8"), place)
    return [each for _, outputs in results for each in outputs if not each.agrees]


@pytest.fixture
def tutorial_files(tmp_path) -> Path:
    """A directory with the table and the policy of the tutorial."""
    from sfumato.demo import hospital

    pa_csv.write_csv(hospital(rows=600), tmp_path / "patients.csv")
    text = TUTORIAL.read_text(encoding="utf-8")
    policy = next(each for each in blocks(text) if each.said == "policy.toml")
    (tmp_path / "policy.toml").write_text(policy.text, encoding="utf-8")
    return tmp_path


def test_the_tutorial_runs_as_it_says(tmp_path):
    assert wrong(TUTORIAL, tmp_path) == []


@pytest.mark.parametrize("name", PAGES)
def test_a_page_runs_as_it_says(name, tutorial_files):
    assert wrong(DOCS / name, tutorial_files) == []


PAGE = """# A page

<!-- file: some.txt -->
```text
one
```

```console
$ cat some.txt
1 two
$ printf 'a 1\\nb\\nc 2\\n'
a 7
…
```

<!-- ends with: 3 -->
```sh
exit 3
```

```python
found = open("some.txt").read()
```

<!-- shown: it never ends -->
```sh
sleep 1000
```

```python
assert found == "one\\n"
```
"""


def test_blocks_run_in_order_and_share_their_names(tmp_path):
    outputs = [each for _, found in run(PAGE, tmp_path) for each in found]
    assert [(each.printed, each.agrees) for each in outputs] == [
        ("one\n", False),
        ("a 1\nb\nc 2\n", True),
    ]


def test_what_a_page_says_is_renewed_except_where_it_is_short(tmp_path):
    page = renewed(PAGE, tmp_path)
    assert "$ cat some.txt\none\n" in page
    assert "a 7\n…\n" in page


def test_another_exit_code_is_an_error(tmp_path):
    with pytest.raises(AssertionError, match="ended with 3"):
        list(run("```sh\nexit 3\n```\n", tmp_path))


def test_a_draw_is_compared_by_its_number_of_lines(tmp_path):
    page = "<!-- drawn: at random -->\n```console\n$ seq 3\nx\ny\nz\n```\n"
    assert all(e.agrees for _, found in run(page, tmp_path) for e in found)


def test_a_block_knows_the_comment_above_it():
    found = [(each.language, each.kind, each.said) for each in blocks(PAGE)]
    assert found[0] == ("text", "file", "some.txt")
    assert found[2] == ("sh", "ends with", "3")
    assert Block("sh", "", None, None, (0, 0)).ends_with == 0
