"""Recognize values that identify people: addresses, account and phone numbers."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from ipaddress import ip_address

SAMPLE = 1000
ENOUGH = 0.9
"""The share of values that must look alike."""

EMAIL = re.compile(r"[^@\s]+@[^@\s]+\.[A-Za-z]{2,}")
LINK = re.compile(r"(https?|ftp)://\S+|www\.\S+\.\S+")
PHONE = re.compile(r"\+?[0-9()][0-9 ()/.\-]{5,}[0-9]")
ISO_DATE = re.compile(r"[0-9]{1,4}[-/.][0-9]{1,2}[-/.][0-9]{1,4}.*")
IBAN = re.compile(r"[A-Z]{2}[0-9]{2}[A-Z0-9]{11,30}")
CARD = re.compile(r"[0-9]{13,19}")


def giveaway(labels: Sequence[str]) -> str | None:
    """What nearly all of these distinct values are, if it points to one person."""
    sample = [label.strip() for label in labels[:SAMPLE]]
    for what, test in _TESTS:
        if sample and sum(map(test, sample)) >= ENOUGH * len(sample):
            return what
    return None


def is_email(text: str) -> bool:
    """Whether a text is an e-mail address."""
    return EMAIL.fullmatch(text) is not None


def is_link(text: str) -> bool:
    """Whether a text is the address of a web page."""
    return LINK.fullmatch(text) is not None


def is_phone(text: str) -> bool:
    """Whether a text is a phone number: digits in parts, or after a plus."""
    if not PHONE.fullmatch(text) or ISO_DATE.fullmatch(text):
        return False
    digits = sum(map(str.isdigit, text))
    in_parts = text.startswith("+") or any(mark in text for mark in " ()/-")
    return in_parts and 7 <= digits <= 15


def is_network_address(text: str) -> bool:
    """Whether a text is the address of a computer."""
    try:
        ip_address(text)
    except ValueError:
        return False
    return True


def is_iban(text: str) -> bool:
    """Whether a text is an account number whose check digits are right."""
    plain = text.replace(" ", "").upper()
    if not IBAN.fullmatch(plain):
        return False
    turned = plain[4:] + plain[:4]
    return int("".join(str(int(letter, 36)) for letter in turned)) % 97 == 1


def is_card(text: str) -> bool:
    """Whether a text is a card number whose check digit is right (Luhn)."""
    plain = re.sub(r"[ -]", "", text)
    if not CARD.fullmatch(plain):
        return False
    digits = [int(digit) for digit in reversed(plain)]
    doubled = sum(sum(divmod(2 * digit, 10)) for digit in digits[1::2])
    return (sum(digits[::2]) + doubled) % 10 == 0


_TESTS: tuple[tuple[str, Callable[[str], bool]], ...] = (
    ("e-mail addresses", is_email),
    ("web addresses", is_link),
    ("network addresses", is_network_address),
    ("account numbers (IBAN)", is_iban),
    ("card numbers", is_card),
    ("phone numbers", is_phone),
)
