"""The platforms that libraries of kernels are made for."""

from __future__ import annotations

from dataclasses import dataclass

from sfumato.kernels.compilation.library import platform_name


@dataclass(frozen=True)
class Target:
    """A platform: what compilers call it, and the oldest processor that it serves."""

    triple: str
    """LLVM's name of it."""
    zig: str
    """Zig's name of it, with the oldest C library."""
    processor: str
    wheel: str
    """The platform in the name of a wheel."""
    file: str = "kernels.so"


TARGETS = {
    "linux-x86_64": Target(
        "x86_64-unknown-linux-gnu",
        "x86_64-linux-gnu.2.17",
        "x86-64-v2",
        "manylinux_2_17_x86_64",
    ),
    "linux-arm64": Target(
        "aarch64-unknown-linux-gnu",
        "aarch64-linux-gnu.2.17",
        "generic",
        "manylinux_2_17_aarch64",
    ),
    "musl-x86_64": Target(
        "x86_64-unknown-linux-musl",
        "x86_64-linux-musl",
        "x86-64-v2",
        "musllinux_1_2_x86_64",
    ),
    "musl-arm64": Target(
        "aarch64-unknown-linux-musl",
        "aarch64-linux-musl",
        "generic",
        "musllinux_1_2_aarch64",
    ),
    "macos-x86_64": Target(
        "x86_64-apple-macosx11.0",
        "x86_64-macos.11.0",
        "x86-64-v2",
        "macosx_11_0_x86_64",
        "kernels.dylib",
    ),
    "macos-arm64": Target(
        "arm64-apple-macosx11.0",
        "aarch64-macos.11.0",
        "apple-m1",
        "macosx_11_0_arm64",
        "kernels.dylib",
    ),
    "windows-x86_64": Target(
        "x86_64-w64-windows-gnu",
        "x86_64-windows-gnu",
        "x86-64-v2",
        "win_amd64",
        "kernels.dll",
    ),
}
"""By the names that `sfumato.kernels.compilation.library.platform_name` gives."""


def here() -> str:
    """The name of this machine's platform."""
    return platform_name()
