"""All that depends on the insides of Numba: where compiled kernels are, and their form.

Every entry point is a function `status f(result*, fault**, words…)` in LLVM bitcode.
Arrays are flattened to counter, parent, items, item size, data, shape and strides, and
tuples to their parts. Other versions of Numba may do it otherwise: VERSION is the one
this was written for, and a test compares.
"""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numba.core.types
from numba.core import ccallback
from numba.core.dispatcher import Dispatcher

import sfumato.kernels

VERSION = "0.68"
llvm: Any = importlib.import_module("llvmlite.binding")
types: Any = numba.core.types


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


class Recorder:
    """Notes every function pointer that is compiled while it is switched on."""

    def __init__(self) -> None:
        self.pointers: list[Any] = []
        pointers: Any = ccallback.CFunc
        plain = pointers.compile
        noted = self.pointers

        def compile_and_note(pointer: Any) -> None:
            plain(pointer)
            noted.append(pointer)

        pointers.compile = compile_and_note

    def found(self) -> Iterator[Compiled]:
        """Every entry point that has been compiled so far, in a fixed order."""
        every = {
            (c.function, c.takes): c for c in (*_doors(), *map(_pointed, self.pointers))
        }
        yield from (every[key] for key in sorted(every))


def _doors() -> Iterator[Compiled]:
    """Kernels that Python calls, once for all the kinds of arguments they were given."""
    for module in _modules():
        for kernel in vars(module).values():
            if _is_door(kernel) and kernel.__module__ == module.__name__:
                name = f"{kernel.__module__}.{kernel.__name__}"
                for made in kernel.overloads.values():
                    if is_specialized(made.signature):
                        continue
                    native = made.fndesc.llvm_func_name
                    yield _compiled(name, made.signature, made.library, native)


def is_specialized(signature: Any) -> bool:
    """Whether it was compiled for one value of an argument, as only kernels ask for.

    Its arguments look like those of the general one, and it ignores some of them.
    """
    return any(isinstance(part, types.Literal) for part in signature.args)


def _modules() -> Iterator[Any]:
    path, prefix = sfumato.kernels.__path__, "sfumato.kernels."
    for found in pkgutil.walk_packages(path, prefix):
        yield importlib.import_module(found.name)


def _is_door(kernel: Any) -> bool:
    if not isinstance(kernel, Dispatcher):
        return False
    options = kernel.targetoptions
    return not options.get("no_cpython_wrapper") and options.get("inline") != "always"


def _pointed(pointer: Any) -> Compiled:
    function = pointer._pyfunc
    name = f"*{function.__module__}.{function.__name__}"
    native = pointer.native_name.removeprefix("cfunc.")
    return _compiled(name, pointer._sig, pointer._library, native)


def _compiled(name: str, signature: Any, library: Any, native: str) -> Compiled:
    takes = ",".join(kind_of(part, module=False) for part in signature.args)
    gives = kind_of(signature.return_type, module=True)
    return Compiled(name, takes, gives, library, native)


def kind_of(kind: Any, *, module: bool) -> str:
    """A type in the words of `sfumato.kernels.compilation.library`."""
    if isinstance(kind, types.Array):
        ending = "" if kind.mutable else "r"
        return f"{_number(kind.dtype)}:{kind.ndim}{kind.layout}{ending}"
    if isinstance(kind, types.BaseNamedTuple):
        made = kind.instance_class
        name = f"{made.__module__}.{made.__name__}" if module else made.__name__
        return f"{name}({','.join(kind_of(k, module=module) for k in kind)})"
    if isinstance(kind, types.BaseTuple):
        return f"({','.join(kind_of(k, module=module) for k in kind)})"
    if isinstance(kind, types.FunctionType):
        return "p"
    if isinstance(kind, types.NoneType):
        return "n"
    return _number(kind)


def _number(kind: Any) -> str:
    if isinstance(kind, types.Boolean):
        return "b1"
    if isinstance(kind, types.Integer):
        return f"{'i' if kind.signed else 'u'}{kind.bitwidth // 8}"
    if isinstance(kind, types.Float):
        return f"f{kind.bitwidth // 8}"
    raise ValueError(f"A kernel takes or gives {kind}, which no entry point can.")


def module_of(compiled: Compiled, symbol: str) -> Any:
    """The function and all it calls, as bitcode that shows this symbol alone."""
    code = compiled.library._get_module_for_linking().as_bitcode()
    module, wanted = llvm.parse_bitcode(code), compiled.native_name
    for function in module.functions:
        if not function.is_declaration:
            shown = function.name == wanted
            function.linkage = "external" if shown else "internal"
    for variable in module.global_variables:
        if not variable.is_declaration:
            variable.linkage = "internal"
    module.get_function(wanted).name = symbol
    return module
