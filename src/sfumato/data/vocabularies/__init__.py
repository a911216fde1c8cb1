"""Words for common categories, and how people group them."""

from sfumato.data.vocabularies.word_groups import (
    NAMES,
    Grouped,
    group,
    plain_words,
    recognized,
)

__all__ = ["NAMES", "Grouped", "group", "plain_words", "recognized"]
