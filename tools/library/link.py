"""Link compiled kernels into one shared library that needs libc and libm alone."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from tools.library.numba_code import Compiled, llvm, module_of

HERE = Path(__file__).resolve().parent
RUNTIME = HERE / "call.c"
UNKNOWN = re.compile(r"^\s+U ((?:Py|_Py|numba_|NRT_)\w+)$", re.MULTILINE)
GIVEN = re.compile(r"\b((?:NRT|numba)_\w+)\(")
DATA = ("PyExc_", "_Py_")
"""How the names begin that stand for Python objects rather than functions."""
FLAGS = (
    "-O2",
    "-shared",
    "-fPIC",
    "-fvisibility=hidden",
    "-Wl,-z,defs",
    "-Wl,-Bsymbolic",
    "-Wl,--gc-sections",
    "-s",
)


def link(entries: Iterable[Compiled], place: Path, processor: str) -> list[list[str]]:
    """Write `kernels.so`; the lines of its index: symbol, function, takes, gives."""
    machine = llvm.Target.from_default_triple().create_target_machine(
        cpu=processor, features="", opt=3, reloc="pic"
    )
    whole, lines = llvm.parse_assembly(""), []
    for number, entry in enumerate(entries):
        module, symbol = _module(entry, number, machine)
        whole.link_in(module)
        lines.append([symbol, entry.function, entry.takes, entry.gives])
    whole.verify()
    _shared_library(machine.emit_object(whole), place)
    return lines


def _module(entry: Compiled, number: int, machine: Any) -> tuple[Any, str]:
    """One entry point; kernels call it as it is, Python calls it by a trampoline."""
    inside, shown = f"sfumato_kernel_{number}", f"sfumato_entry_{number}"
    module = module_of(entry, inside)
    _drop_dead_code(module, machine)
    if entry.function.startswith("*"):
        return module, inside
    module.link_in(llvm.parse_assembly(trampoline(module, inside, shown)))
    return module, shown


def _drop_dead_code(module: Any, machine: Any) -> None:
    """Remove what the entry point does not reach, Numba's own wrappers among it."""
    manager = llvm.create_new_module_pass_manager()
    manager.add_global_dead_code_eliminate_pass()
    manager.add_strip_dead_prototype_pass()
    options = llvm.create_pipeline_tuning_options(speed_level=3)
    manager.run(module, llvm.create_pass_builder(machine, options))


def trampoline(module: Any, inside: str, shown: str) -> str:
    """A function that reads its arguments from a block of words and calls another."""
    kinds = [str(argument.type) for argument in module.get_function(inside).arguments]
    loads = [
        f"  %p{at} = getelementptr i64, ptr %words, i64 {at}\n"
        f"  %a{at} = load {kind}, ptr %p{at}"
        for at, kind in enumerate(kinds[2:])
    ]
    passed = [f"{kind} %a{at}" for at, kind in enumerate(kinds[2:])]
    return "\n".join(
        [
            f"declare i32 @{inside}({', '.join(kinds)})",
            f"define i32 @{shown}(ptr %words, ptr %result, ptr %fault) {{",
            *loads,
            f"  %status = call i32 @{inside}("
            f"{', '.join(['ptr %result', 'ptr %fault', *passed])})",
            "  ret i32 %status",
            "}",
        ]
    )


def _shared_library(code: bytes, place: Path) -> None:
    """Link machine code with the C half: calls, memory, and stubs."""
    objects, stubs = place / "kernels.o", place / "stubs.c"
    objects.write_bytes(code)
    stubs.write_text(_stubs(objects), encoding="utf-8")
    sources = [str(objects), str(RUNTIME), str(stubs)]
    out = ["-o", str(place / "kernels.so")]
    subprocess.run([*_compiler(), *FLAGS, *out, *sources, "-lm"], check=True)
    objects.unlink()
    stubs.unlink()


def _stubs(objects: Path) -> str:
    """C code for Python's names on paths that are never taken: they end the process."""
    listed = subprocess.run(
        ["nm", str(objects)], capture_output=True, text=True, check=True
    ).stdout
    given = set(GIVEN.findall(RUNTIME.read_text(encoding="utf-8")))
    names = sorted(set(UNKNOWN.findall(listed)) - given)
    data = [f"void *{name};" for name in names if name.startswith(DATA)]
    functions = [
        f"void *{name}(void) {{ abort(); }}"
        for name in names
        if not name.startswith(DATA)
    ]
    return "\n".join(["#include <stdlib.h>", *data, *functions, ""])


def _compiler() -> Sequence[str]:
    """A C compiler: the machine's own, or Zig's from the package `ziglang`."""
    for name in ("cc", "gcc", "clang"):
        if shutil.which(name):
            return [name]
    return [sys.executable, "-m", "ziglang", "cc"]
