"""What every page shows is run, page by page, and nothing is left out."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pyarrow.csv as pa_csv
import pytest
from markdown_it import MarkdownIt

from tests.conftest import ROOT
from tools.run_page import Block, Printed, blocks, renewed, run

TUTORIAL = ROOT / "docs" / "tutorial.md"
RUN = {"console", "sh", "python"}
"""Languages of blocks that the runner runs."""
PARSED = {"toml"}
"""Languages of blocks that `test_examples.py` loads, each as a policy."""
DRAWINGS = {"ARCHITECTURE.md"}
"""Pages whose blocks of text are drawings."""
PAGES = {
    path.relative_to(ROOT).as_posix(): path.read_text(encoding="utf-8")
    for pattern in ("*.md", "docs/**/*.md", "benchmarks/*.md", "tests/plugin/*.md")
    for path in sorted(ROOT.glob(pattern))
}
every_page = pytest.mark.parametrize("name", PAGES)


def is_run(block: Block) -> bool:
    return block.language in RUN and block.kind not in {"file", "adds to", "tested by"}


WITH_COMMANDS = [
    name
    for name, text in PAGES.items()
    if any(map(is_run, blocks(text))) and name != "docs/tutorial.md"
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


@pytest.mark.parametrize("name", WITH_COMMANDS)
def test_a_page_runs_as_it_says(name, tutorial_files):
    assert wrong(ROOT / name, tutorial_files) == []


def fences(text: str) -> Iterator[str]:
    """Every block of code that a reader sees, also inside tabs, without directives."""
    open_tabs = re.sub(r"^:::+.*$|^:\w[\w-]*:.*$", "", text, flags=re.MULTILINE)
    for token in MarkdownIt().parse(open_tabs):
        if token.type == "code_block":
            yield token.content
        if token.type == "fence" and not token.info.startswith("{"):
            yield token.content


@every_page
def test_the_runner_sees_every_block_of_a_page(name):
    assert [block.text for block in blocks(PAGES[name])] == list(fences(PAGES[name]))


@every_page
def test_every_block_of_a_page_is_run_written_loaded_or_tested_by_name(name):
    assert [block for block in blocks(PAGES[name]) if not is_tried(block, name)] == []


def is_tried(block: Block, name: str) -> bool:
    if block.kind == "tested by":
        test = (ROOT / str(block.said)).read_text(encoding="utf-8")
        return Path(name).name in test
    written = block.kind in {"file", "adds to"}
    drawn = block.language == "text" and name in DRAWINGS
    return written or drawn or block.language in RUN | PARSED


@every_page
def test_every_file_that_a_page_shows_is_used_on_it(name):
    found = [block for block in blocks(PAGES[name]) if block.kind == "file"]
    commands = "".join(b.text for b in blocks(PAGES[name]) if b.language in RUN)
    tests = "".join(p.read_text("utf-8") for p in Path(__file__).parent.glob("*.py"))
    policies = "".join(b.text for b in blocks(PAGES[name]) if b.language == "toml")
    used = commands + policies + tests
    assert [block.said for block in found if str(block.said) not in used] == []


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

<!-- adds to: some.txt -->
```text
two
```

<!-- tested by: another.py -->
```sh
sleep 1000
```

```python
assert found == "one\\n"
assert open("some.txt").read() == "one\\ntwo\\n"
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
