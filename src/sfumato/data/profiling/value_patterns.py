"""Recognize what values are: addresses and numbers of persons, common categories."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from ipaddress import ip_address
from types import MappingProxyType

from sfumato.data.profiling.name_words import SEXES, Concept
from sfumato.data.schema import Kind
from sfumato.data.vocabularies import NAMES, order_of, plain_words, recognized

SAMPLE = 1000
ENOUGH = 0.9
"""The share of values that must look alike."""

EMAIL = re.compile(r"[^@\s]+@[^@\s]+\.[A-Za-z]{2,}")
LINK = re.compile(r"(https?|ftp)://\S+|www\.\S+\.\S+")
PHONE = re.compile(r"\+?[0-9()][0-9 ()/.\-]{5,}[0-9]")
ISO_DATE = re.compile(r"[0-9]{1,4}[-/.][0-9]{1,2}[-/.][0-9]{1,4}.*")
IBAN = re.compile(r"[A-Z]{2}[0-9]{2}[A-Z0-9]{11,30}")
CARD = re.compile(r"[0-9]{13,19}")

AREA_CODE = re.compile(r"[0-9]+-[0-9]+")
MOST_AREAS = 50
ROWS_PER_AREA = 20
"""So few codes of two numbers, each of so many rows on average, name areas."""

KNOWN_SHARE = 0.8
"""The share of distinct values that a vocabulary must know."""
FREE_WORDS = 4
"""Values of so many words on average are sentences or titles."""
FREE_SHARE = 0.2
"""… if there is a different one in so large a share of rows."""
FEWEST_VALUES = 4
"""So few values may be words of any vocabulary."""
ICD_10 = re.compile(r"[A-TV-Z][0-9][0-9AB](\.[0-9A-Z]{1,4})?")
CONCEPTS = MappingProxyType(
    {
        "country": Concept.COUNTRY,
        "us_state": Concept.REGION,
        "education": Concept.EDUCATION,
        "marital": Concept.MARITAL,
        "employment": Concept.EMPLOYMENT,
        "occupation": Concept.OCCUPATION,
    }
)
"""What the values of a vocabulary are about."""
CALENDAR = ("month", "weekday")
"""Orders of words whose values say when something was."""


def giveaway(labels: Sequence[str], rows: int) -> str | None:
    """What nearly all of these distinct values are, if it points to one person."""
    sample = [label.strip() for label in labels[:SAMPLE]]
    for what, test in _TESTS:
        if sample and sum(map(test, sample)) >= ENOUGH * len(sample):
            return None if _are_few_codes(sample, labels, rows) else what
    return None


def _are_few_codes(sample: Sequence[str], labels: Sequence[str], rows: int) -> bool:
    """Whether values such as `48-02510` are too few to be anybody's number."""
    few = len(labels) <= min(MOST_AREAS, rows / ROWS_PER_AREA)
    return few and all(map(AREA_CODE.fullmatch, sample))


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


def is_free_text(labels: Sequence[str], rows: int) -> bool:
    """Whether values are sentences or titles rather than categories."""
    if not labels or len(labels) < FREE_SHARE * rows:
        return False
    sample = labels[:SAMPLE]
    return sum(len(label.split()) for label in sample) >= FREE_WORDS * len(sample)


def meant_by(labels: Sequence[str], kind: Kind) -> tuple[Concept | None, str | None]:
    """What values are about: something others know, or something sensitive."""
    if kind in (Kind.DATE, Kind.DATETIME):
        return Concept.DATE, None
    if kind is Kind.CODE and _are_diagnoses(labels):
        return None, "codes of diagnoses (ICD-10)"
    if kind is Kind.ORDERED and order_of(labels) in CALENDAR:
        return Concept.DATE, None
    if kind is not Kind.CATEGORY or not labels:
        return None, None
    if {"".join(plain_words(label)) for label in labels} <= set(SEXES):
        return Concept.SEX, None
    name = vocabulary_of(labels)
    return (CONCEPTS[name] if name else None), None


def vocabulary_of(labels: Sequence[str], *tried: str) -> str | None:
    """The first built-in vocabulary that knows nearly all of these values."""
    if len(labels) < FEWEST_VALUES and not tried:
        return None
    for name in tried or NAMES:
        if recognized(name, labels[:SAMPLE]) >= KNOWN_SHARE:
            return name
    return None


def _are_diagnoses(labels: Sequence[str]) -> bool:
    """Whether codes read like diagnoses: several chapters, some codes with a point."""
    sample = labels[:SAMPLE]
    if sum(ICD_10.fullmatch(label) is not None for label in sample) < ENOUGH * len(
        sample
    ):
        return False
    return (
        any("." in label for label in sample)
        and len({label[0] for label in sample}) > 2
    )


_TESTS: tuple[tuple[str, Callable[[str], bool]], ...] = (
    ("e-mail addresses", is_email),
    ("web addresses", is_link),
    ("network addresses", is_network_address),
    ("account numbers (IBAN)", is_iban),
    ("card numbers", is_card),
    ("phone numbers", is_phone),
)
