"""All code that depends on Numba's internals: types, bitcode, calling convention.

Every entry point is a function `status f(result*, fault**, words…)` in LLVM bitcode.
Arrays are flattened to counter, parent, items, item size, data, shape and strides, and
tuples to their parts. Other versions of Numba may do it otherwise: VERSION is the one
this was written for, and a test compares.
"""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any

import numba.core.types
from numba.core import callconv, codegen, cpu, dispatcher
from numba.core.caching import NullCache
from numba.core.registry import cpu_target

import sfumato.kernels
from sfumato.kernels.compilation.library import split_kinds
from sfumato.kernels.compilation.options import WITHOUT_DOOR

VERSION = "0.68"
llvm: Any = importlib.import_module("llvmlite.binding")
types: Any = numba.core.types
NUMBERS = {
    "b1": "boolean",
    **{f"i{size}": f"int{8 * size}" for size in (1, 2, 4, 8)},
    **{f"u{size}": f"uint{8 * size}" for size in (1, 2, 4, 8)},
    **{f"f{size}": f"float{8 * size}" for size in (4, 8)},
}


def stop_at_bitcode() -> None:
    """Have Numba leave every function as bitcode: no machine code, no cache.

    Numba optimizes and generates each inner kernel by itself and again inside each of
    its callers. Here all kernels are linked first, and that is done once.
    """
    libraries: Any = codegen.JITCodeLibrary
    contexts: Any = cpu.CPUContext
    caches: Any = dispatcher
    libraries.finalize = _keep
    # Numba tells functions apart by what would call them, a built-in of its own each.
    contexts.get_executable = lambda *_: [].append
    caches.FunctionCache = lambda _function: NullCache()
    conventions: Any = callconv.CPUCallConv
    conventions.build_excinfo_struct = _fault_without_place


def _fault_without_place(
    _convention: Any, kind: Any, words: Any, _place: Any, _function: Any
) -> tuple[Any, Any, None]:
    """What compiled code holds of a fault: no file of the machine that compiles it."""
    return kind, words, None


def _keep(library: Any) -> None:
    library._finalized = True


@dataclass(frozen=True, eq=False)
class Compiled:
    """A compiled function that something outside of it calls."""

    function: str
    """`module.name`, behind a star where kernels call it through a pointer."""
    takes: str
    gives: str
    library: Any
    """Numba's code library."""
    native_name: str

    @property
    def is_pointer(self) -> bool:
        """Whether kernels call it through a pointer."""
        return self.function.startswith("*")


def compile_entry(function: str, takes: str) -> Compiled:
    """Compile an entry point to bitcode: its name, and the kinds of its arguments.

    A pointer's kinds end with what it gives, behind an arrow.
    """
    module, _, name = function.removeprefix("*").rpartition(".")
    found = getattr(importlib.import_module(module), name)
    gives = ""
    if function.startswith("*"):
        takes, _, gives = takes.rpartition("->")
    arguments = tuple(type_of(kind) for kind in split_kinds(takes))
    kernel = _without_wrappers(found)
    kernel.compile(type_of(gives)(*arguments) if gives else arguments)
    made = kernel.overloads[arguments]
    return Compiled(
        function,
        ",".join(kind_of(part, module=False) for part in arguments),
        kind_of(made.signature.return_type, module=True),
        made.library,
        made.fndesc.llvm_func_name,
    )


@cache
def _without_wrappers(function: Any) -> Any:
    """A kernel that is compiled without the ways into it that Numba itself uses."""
    if not isinstance(function, dispatcher.Dispatcher):
        options: Any = WITHOUT_DOOR
        return numba.njit(**options)(function)
    function.targetoptions.update(WITHOUT_DOOR)
    return function


def kind_of(kind: Any, *, module: bool, whole: bool = False) -> str:
    """A type in the words of `sfumato.kernels.compilation.library`.

    `module` adds the modules of named tuples, `whole` the signatures of pointers.
    """
    if isinstance(kind, types.Array):
        ending = "" if kind.mutable else "r"
        return f"{_number(kind.dtype)}:{kind.ndim}{kind.layout}{ending}"
    if isinstance(kind, types.BaseTuple):
        parts = ",".join(kind_of(part, module=module, whole=whole) for part in kind)
        return f"{_tuple_name(kind, module=module)}({parts})"
    if isinstance(kind, types.FunctionType):
        return f"p{_signature(kind)}" if whole else "p"
    if isinstance(kind, types.NoneType):
        return "n"
    return _number(kind)


def _tuple_name(kind: Any, *, module: bool) -> str:
    if not isinstance(kind, types.BaseNamedTuple):
        return ""
    made = kind.instance_class
    return f"{made.__module__}.{made.__name__}" if module else str(made.__name__)


def _signature(kind: Any) -> str:
    made = kind.signature
    takes = ",".join(kind_of(part, module=False, whole=True) for part in made.args)
    return f"[{takes}->{kind_of(made.return_type, module=False, whole=True)}]"


def _number(kind: Any) -> str:
    if isinstance(kind, types.Boolean):
        return "b1"
    if isinstance(kind, types.Integer):
        return f"{'i' if kind.signed else 'u'}{kind.bitwidth // 8}"
    if isinstance(kind, types.Float):
        return f"f{kind.bitwidth // 8}"
    raise ValueError(f"A kernel takes or gives {kind}, which no entry point can.")


def type_of(kind: str) -> Any:
    """The type that a whole kind stands for."""
    if kind == "n":
        return types.none
    if kind.startswith("p["):
        takes, _, gives = kind[2:-1].rpartition("->")
        return types.FunctionType(type_of(gives)(*map(type_of, split_kinds(takes))))
    if kind.endswith(")"):
        name, _, parts = kind[:-1].partition("(")
        members = [type_of(part) for part in split_kinds(parts)]
        return types.BaseTuple.from_types(members, _tuples()[name] if name else None)
    number, _, array = kind.partition(":")
    dtype = getattr(types, NUMBERS[number])
    if not array:
        return dtype
    return types.Array(dtype, int(array[0]), array[1], readonly=array.endswith("r"))


@cache
def _tuples() -> Mapping[str, type]:
    """The named tuples that kernels take and give, by name."""
    path, prefix = sfumato.kernels.__path__, "sfumato.kernels."
    modules = (
        importlib.import_module(found.name)
        for found in pkgutil.walk_packages(path, prefix)
    )
    return {
        made.__name__: made
        for module in modules
        for made in vars(module).values()
        if isinstance(made, type) and issubclass(made, tuple) and made is not tuple
    }


def linked(entries: Iterable[tuple[str, Compiled]]) -> bytes:
    """Link entry points with all they call; bitcode that is not optimized yet.

    Only the symbols given are seen from outside; pointers are called as they are, others
    through a trampoline.
    """
    listed = list(entries)
    whole = llvm.parse_assembly("")
    for module in _modules(compiled.library for _, compiled in listed):
        whole.link_in(module)
    for symbol, compiled in listed:
        _show(whole, compiled, symbol)
    shown = {symbol for symbol, _ in listed}
    for thing in (*whole.functions, *whole.global_variables):
        if not thing.is_declaration and thing.name not in shown:
            thing.linkage = "internal"
    whole.verify()
    code: bytes = whole.as_bitcode()
    return code


def machine_code(
    bitcode: bytes, triple: str, processor: str
) -> tuple[bytes, list[str]]:
    """Optimize a module as a whole for a platform; its object file, and what it lacks."""
    llvm.initialize_all_targets()
    llvm.initialize_all_asmprinters()
    machine = llvm.Target.from_triple(triple).create_target_machine(
        cpu=processor, features="", opt=3, reloc="pic"
    )
    module = llvm.parse_bitcode(bitcode)
    module.triple, module.data_layout = triple, str(machine.target_data)
    library = cpu_target.target_context.codegen().create_library("kernels")
    library._codegen._tm = machine
    library._final_module = module
    library._optimize_final_module()
    if "windows" in triple:
        _export(module)
    names = [
        thing.name
        for thing in (*module.functions, *module.global_variables)
        if thing.is_declaration
    ]
    code: bytes = machine.emit_object(module)
    return code, names


def _export(module: Any) -> None:
    """Mark what is seen from outside: Windows shows nothing by itself."""
    for function in module.functions:
        if not function.is_declaration and function.linkage == llvm.Linkage.external:
            function.storage_class = "dllexport"


def _modules(libraries: Iterable[Any]) -> Iterator[Any]:
    """The bitcode of each library and of every one it is linked with, once."""
    waiting, seen = list(libraries), set()
    while waiting:
        library = waiting.pop()
        if library in seen:
            continue
        seen.add(library)
        waiting.extend(library._linking_libraries)
        module = library._final_module.clone()
        for function in module.functions:
            if (
                not function.is_declaration
                and function.linkage == llvm.Linkage.external
            ):
                function.linkage = "weak_odr"
        yield module


def _show(module: Any, compiled: Compiled, symbol: str) -> None:
    """Let an entry point be seen under its symbol."""
    function = module.get_function(compiled.native_name)
    if compiled.is_pointer:
        alias = _pass_on(function, symbol)
    else:
        alias = trampoline(function, symbol)
    module.link_in(llvm.parse_assembly(alias))


def _pass_on(function: Any, symbol: str) -> str:
    """A function under another name that passes its arguments on."""
    kinds = [str(argument.type) for argument in function.arguments]
    listed = ", ".join(f"{kind} %a{at}" for at, kind in enumerate(kinds))
    return "\n".join(
        [
            f'declare i32 @"{function.name}"({", ".join(kinds)})',
            f"define i32 @{symbol}({listed}) {{",
            f'  %status = call i32 @"{function.name}"({listed})',
            "  ret i32 %status",
            "}",
        ]
    )


def trampoline(function: Any, symbol: str) -> str:
    """A function that reads its arguments from a block of words and calls another."""
    kinds = [str(argument.type) for argument in function.arguments]
    loads = [
        f"  %p{at} = getelementptr i64, ptr %words, i64 {at}\n"
        f"  %a{at} = load {kind}, ptr %p{at}"
        for at, kind in enumerate(kinds[2:])
    ]
    passed = [f"{kind} %a{at}" for at, kind in enumerate(kinds[2:])]
    return "\n".join(
        [
            f'declare i32 @"{function.name}"({", ".join(kinds)})',
            f"define i32 @{symbol}(ptr %words, ptr %result, ptr %fault) {{",
            *loads,
            f'  %status = call i32 @"{function.name}"('
            f"{', '.join(['ptr %result', 'ptr %fault', *passed])})",
            "  ret i32 %status",
            "}",
        ]
    )
