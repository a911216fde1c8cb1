"""Words for common categories, and how people group them."""

from sfumato.data.vocabularies.word_groups import (
    NAMES,
    Grouped,
    group,
    group_names,
    plain_words,
    recognized,
)

__all__ = ["NAMES", "Grouped", "group", "group_names", "plain_words", "recognized"]
