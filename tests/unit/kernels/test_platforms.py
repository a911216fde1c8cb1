"""Machine code is made for every platform, and what is shown of it can be found."""

from __future__ import annotations

import re

import pytest

from tools.library.link import check_symbols
from tools.library.numba_code import llvm, machine_code
from tools.library.targets import TARGETS
from tools.try_container import Stage, steps, take
from tools.try_platform import tags

ENTRY = """
define i32 @sfumato_entry_0(ptr %words) {
  ret i32 0
}
define internal i32 @inner() {
  ret i32 1
}
"""
STARTS = {
    "linux-x86_64": b"\x7fELF\x02\x01",
    "musl-arm64": b"\x7fELF\x02\x01",
    "macos-arm64": b"\xcf\xfa\xed\xfe\x0c\x00\x00\x01",
    "windows-x86_64": b"\x64\x86",
}
"""How object files begin: ELF of 64 bits, Mach-O for arm64, COFF for x86-64."""


def code_for(platform: str) -> bytes:
    target = TARGETS[platform]
    bitcode = llvm.parse_assembly(ENTRY).as_bitcode()
    code, _ = machine_code(bitcode, target.triple, target.processor)
    return code


@pytest.mark.parametrize("platform", STARTS)
def test_code_has_the_format_of_its_platform(platform):
    assert code_for(platform).startswith(STARTS[platform])


def test_windows_is_told_what_to_show_and_nothing_else():
    assert re.findall(rb"[-/]export:\"?(\w+)", code_for("windows-x86_64")) == [
        b"sfumato_entry_0"
    ]


def test_a_library_that_hides_an_entry_is_refused(tmp_path):
    library = tmp_path / "kernels.so"
    library.write_bytes(b"\0sfumato_call\0sfumato_entry_10\0")
    check_symbols(library, ["sfumato_call", "sfumato_entry_10"])
    with pytest.raises(SystemExit, match=r"does not show 1 symbols: sfumato_entry_1$"):
        check_symbols(library, ["sfumato_call", "sfumato_entry_1"])


def test_a_step_that_is_not_tried_is_named(tmp_path):
    with pytest.raises(SystemExit, match="a step that is not tried: VOLUME"):
        take(steps('# words\nENV A=b\nVOLUME ["/data"]\n'), tmp_path)


def test_steps_of_a_dockerfile_set_what_its_program_runs_with(tmp_path):
    text = 'ENV A=b\nUSER 5:6\nWORKDIR \\\n /data\nENTRYPOINT ["sfumato"]\n'
    assert take(steps(text), tmp_path) == Stage(tmp_path, {"A": "b"}, 5, ["sfumato"])


@pytest.mark.parametrize(
    ("platform", "names"),
    [
        ("macos-arm64", ["macosx_11_0_arm64"]),
        ("musl-x86_64", ["musllinux_1_2_x86_64", "musllinux_1_1_x86_64"]),
        (
            "linux-arm64",
            [
                "manylinux_2_17_aarch64",
                "manylinux_2_28_aarch64",
                "manylinux2014_aarch64",
            ],
        ),
    ],
)
def test_dependencies_may_be_made_for_other_c_libraries_than_ours(platform, names):
    assert tags(platform) == names
