"""Words for common categories: how people group them, and how they order them."""

from sfumato.data.vocabularies.word_groups import (
    NAMES,
    Grouped,
    group,
    group_names,
    plain_words,
    recognized,
)
from sfumato.data.vocabularies.word_orders import ORDERS, OrderName, in_order, order_of

__all__ = [
    "NAMES",
    "ORDERS",
    "Grouped",
    "OrderName",
    "group",
    "group_names",
    "in_order",
    "order_of",
    "plain_words",
    "recognized",
]
