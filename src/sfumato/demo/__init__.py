"""The embedded demo: a fictional hospital, its policy and its hierarchies."""

from sfumato.demo.demo_files import write
from sfumato.demo.generate import ROWS, hospital

__all__ = ["ROWS", "hospital", "write"]
