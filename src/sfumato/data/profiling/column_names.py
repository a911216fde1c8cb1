"""What the name of a column says about it, in several languages."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from functools import cache
from itertools import pairwise

from sfumato.data.profiling.name_words import (
    CODE_BOOK,
    CODE_BOOK_BEGINNINGS,
    CODE_BOOK_ENDS,
    FIRST_CIRCUMSTANCE,
    IDENTIFIER,
    KNOWN,
    NAME_PARTS,
    NUMBER_ENDINGS,
    NUMBER_WORDS,
    OTHERS,
    PERSON,
    SENSITIVE,
    WEIGHT,
    WEIGHT_PARTS,
    Concept,
)
from sfumato.data.schema import Role


def words(name: str) -> tuple[str, ...]:
    """The words of a column's name: `HomeZip_code` gives home, zip, code."""
    spelled = re.sub(r"[äöüÄÖÜ]", lambda found: _UMLAUTS[found[0].lower()], name)
    plain = unicodedata.normalize("NFKD", spelled.replace("ß", "ss"))
    ascii_only = plain.encode("ascii", "ignore").decode()
    spaced = re.sub(r"(?<=[a-z])(?=[A-Z])", " ", ascii_only)
    return tuple(re.findall(r"[a-z]+[0-9]*|[0-9]+", spaced.lower()))


_UMLAUTS = {"ä": "ae", "ö": "oe", "ü": "ue"}


def role_of_name(name: str) -> tuple[Role, str] | None:
    """The role that a column's name points to, and the word that does."""
    parts = words(name)
    found = _weight(parts) or _identifier(parts)
    if found is not None:
        return found
    word = known_word(parts, SENSITIVE)
    if word:
        return Role.SENSITIVE, f"'{word}' in its name"
    known = _known_concept(parts)
    return (Role.QUASI, f"{known[0]}: '{known[1]}' in its name") if known else None


def concept_of_name(name: str) -> Concept | None:
    """What a column is about that an outsider may know, by its name."""
    known = _known_concept(words(name))
    return known[0] if known else None


def _known_concept(parts: tuple[str, ...]) -> tuple[Concept, str] | None:
    for concept, known in KNOWN.items():
        word = known_word(parts, known)
        # Hours per week are no date.
        if word and not (concept is Concept.DATE and "per" in parts):
            return concept, word
    return _of_a_code_book("".join(parts))


def _of_a_code_book(name: str) -> tuple[Concept, str] | None:
    """What a short word with the letters of code books around it is about."""
    concepts = (c for c, pattern in _code_book().items() if pattern.fullmatch(name))
    concept = next(concepts, None)
    return (concept, name) if concept is not None else None


@cache
def _code_book() -> dict[Concept, re.Pattern[str]]:
    begin, end = (
        text.replace(" ", "|") for text in (CODE_BOOK_BEGINNINGS, CODE_BOOK_ENDS)
    )
    return {
        concept: re.compile(f"({begin})?({text.replace(' ', '|')})[0-9]*({end})?[0-9]*")
        for concept, text in CODE_BOOK.items()
    }


def is_circumstance(concept: Concept) -> bool:
    """Whether a concept is known to fewer people than those about the person."""
    order = list(Concept)
    return order.index(concept) >= order.index(FIRST_CIRCUMSTANCE)


def is_plain_name(name: str) -> bool:
    """Whether a name is one word that says what the column is about: `race`."""
    parts = words(name)
    return len(parts) == 1 and any(parts[0] in known for known in KNOWN.values())


def is_about_others(name: str) -> bool:
    """Whether a name points to another person, or to the past."""
    return known_word(words(name), OTHERS) is not None


def names_a_person_number(name: str) -> bool:
    """Whether a name reads like the number of a person: `patient_id`, `PersonNr`."""
    parts = set(words(name))
    others = parts - {"id", "nr", "no", "number", "key", "code"}
    return bool(others) and others <= set(PERSON)


def ends_like_a_number(name: str) -> bool:
    """Whether a name ends like that of a number: `DUPERSID`, `Kundennummer`."""
    last = words(name)[-1:]
    return last != () and last[0].endswith(NUMBER_ENDINGS)


def ends_in_number(name: str) -> bool:
    """Whether a name ends in the word for number: `Kundennummer`, `order_number`."""
    last = words(name)[-1:]
    return last != () and last[0].endswith(NUMBER_WORDS)


def names_an_area_code(name: str) -> bool:
    """Whether a name reads like a postal code."""
    return concept_of_name(name) is Concept.POSTCODE


def _weight(parts: tuple[str, ...]) -> tuple[Role, str] | None:
    known = known_word(parts, WEIGHT)
    about = set(WEIGHT_PARTS) & set(parts)
    if known or ({"weight", "weights"} & set(parts) and about):
        return Role.WEIGHT, f"'{known or 'weight'}' in its name"
    return None


def _identifier(parts: tuple[str, ...]) -> tuple[Role, str] | None:
    word = known_word(parts, IDENTIFIER)
    if word is None and "name" in parts:
        others = set(parts) - {"name"} - set(NAME_PARTS) - set(PERSON)
        word = None if others else "name"
    if word is None and parts and parts[-1] in ("id", "nr"):
        word = parts[-1]
    return (Role.IDENTIFIER, f"'{word}' in its name") if word else None


def known_word(parts: Sequence[str], known: tuple[str, ...]) -> str | None:
    """The first word, or pair of neighbors, that a list of words has.

    Only single words are compared with beginnings and ends.
    """
    whole = frozenset(known)
    pairs = [a + b for a, b in pairwise(parts)]
    bare = [part.rstrip("0123456789") for part in parts]
    found = next((word for word in (*pairs, *parts, *bare) if word in whole), None)
    begun = _beginnings_and_ends(known)
    return found or next((word for word in bare if begun.fullmatch(word)), None)


@cache
def _beginnings_and_ends(known: tuple[str, ...]) -> re.Pattern[str]:
    open_words = [word for word in known if "*" in word]
    return re.compile("|".join(re.escape(w).replace(r"\*", ".*") for w in open_words))
