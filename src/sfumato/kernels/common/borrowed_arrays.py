"""Borrow arrays inside compiled code, so that their references are not counted.

Compiled code counts references to arrays, atomically, whenever one is taken out of a
tuple. In kernels that visit millions of small groups this costs more than the work,
and threads wait for each other's counts. The caller of a kernel holds its arrays
until the kernel returns, so the kernel can use them uncounted.

Cost: none at run time; a few instructions per array when a kernel is compiled.
Invariant: data, shape and strides are those of the array given; nothing that is
borrowed may be returned or outlive the call.
"""

from __future__ import annotations

from typing import Any

from sfumato.kernels.compilation.decorators import intrinsic


@intrinsic
def borrow(_context: Any, kind: Any) -> Any:
    """Return the same array or tuple of arrays, uncounted, while the caller's lives."""

    def generate(context: Any, builder: Any, _signature: Any, arguments: Any) -> Any:
        return _uncounted(context, builder, kind, arguments[0])

    return kind(kind), generate


def _uncounted(context: Any, builder: Any, kind: Any, value: Any) -> Any:
    from numba.core import types

    if isinstance(kind, types.Array):
        array = context.make_array(kind)(context, builder, value)
        # A null counter makes every increment and decrement do nothing.
        counter = array.meminfo.type
        array.meminfo = counter(None)
        return array._getvalue()
    if isinstance(kind, types.BaseTuple):
        members: tuple[Any, ...] = tuple(kind)
        for place, part in enumerate(members):
            inner = builder.extract_value(value, place)
            inner = _uncounted(context, builder, part, inner)
            value = builder.insert_value(value, inner, place)
    return value
