"""Profiles: sets of requirements and column rules that a named source asks for.

`docs/profiles.md` says which sentence of which source each of them follows.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from types import MappingProxyType

from sfumato.data.profiling.column_names import known_word, words
from sfumato.data.profiling.column_signs import Sign, Signs, known_labels
from sfumato.data.profiling.name_words import Concept
from sfumato.data.schema import Kind
from sfumato.data.vocabularies import recognized
from sfumato.errors import UsageError
from sfumato.hierarchies.levels import known_numbers

Rule = Callable[[Signs], str | None]
"""Why a column must be left out; None if it need not be."""

OLDEST = 89
"""HIPAA: ages above this one are told together."""
LIFETIME = 90
YEARS = (1000, 2200)
SMALL_ZIP_AREAS = frozenset(
    [
        *("036", "059", "063", "102", "203", "556", "692", "790", "821"),
        *("823", "830", "831", "878", "879", "884", "890", "893"),
    ]
)
"""Areas of three digits with 20,000 people or fewer, as listed for the census of 2000."""
SMALLER_THAN_A_STATE = (
    *("county", "district", "kreis", "landkreis", "distrito", "canton", "precinct"),
    *("parish", "borough", "departement", "departamento"),
)


@dataclass(frozen=True, kw_only=True)
class Profile:
    """What a named source asks of a release."""

    name: str
    title: str
    source: str
    k: int
    k_reason: str
    l: int
    rules: tuple[Rule, ...] = ()

    def leaves_out(self, found: Signs) -> str | None:
        """Why a column must be left out, by the first rule that says so."""
        reasons = (rule(found) for rule in self.rules)
        return next((reason for reason in reasons if reason is not None), None)


PLAIN = Profile(name="", title="", source="", k=5, k_reason="", l=2)
"""What is asked for without a profile."""


def profile_of(name: str) -> Profile:
    """The profile with a name, or an error that lists the names."""
    if name in PROFILES:
        return PROFILES[name]
    raise UsageError(
        f"There is no profile '{name}'.", hint=f"There are: {', '.join(PROFILES)}."
    )


def _about(*concepts: Concept, because: str) -> Rule:
    def rule(found: Signs) -> str | None:
        return because if found.concept in concepts else None

    return rule


def _small_area(found: Signs) -> str | None:
    """States may stay; what is smaller may not."""
    if found.concept is not Concept.REGION:
        return None
    smaller = known_word(words(found.name), SMALLER_THAN_A_STATE) is not None
    states = recognized("us_state", known_labels(found.column)) >= STATES
    named = bool({"state", "states"} & set(words(found.name)))
    return None if not smaller and (states or named) else AREA_REASON


STATES = 0.8
AREA_REASON = "areas smaller than a state must go (45 CFR 164.514(b)(2)(i)(B))"


def _postal_code(found: Signs) -> str | None:
    if found.concept is not Concept.POSTCODE:
        return None
    codes = known_labels(found.column)
    if all(len(code) == 3 for code in codes) and not SMALL_ZIP_AREAS & set(codes):
        return None
    return (
        "cut zip codes to three digits, and those of areas of 20,000 people or fewer "
        "to 000, before you publish them (45 CFR 164.514(b)(2)(i)(B))"
    )


def _date(found: Signs) -> str | None:
    """Only years may stay, and no year that tells an age above 89."""
    dated = found.column.kind in (Kind.DATE, Kind.DATETIME)
    if not dated and found.concept not in (Concept.DATE, Concept.BIRTH):
        return None
    if dated or not _are_years(found):
        return "of dates only the year may stay (45 CFR 164.514(b)(2)(i)(C))"
    first = datetime.now(UTC).year - LIFETIME
    old = known_numbers(found.column)[:2]
    if found.concept is Concept.BIRTH and len(old) and old[-1] < first:
        return (
            f"tell years of birth before {first} together, as one year, "
            "before you publish them (45 CFR 164.514(b)(2)(i)(C))"
        )
    return None


def _are_years(found: Signs) -> bool:
    known = known_numbers(found.column)
    low, high = YEARS
    return len(known) > 0 and bool(low <= known[0] and known[-1] <= high)


def _age(found: Signs) -> str | None:
    """Ages above 89 are one value, or they must be made one."""
    if found.concept is not Concept.AGE or not found.column.kind.numeric:
        return None
    if int((known_numbers(found.column) > OLDEST).sum()) <= 1:
        return None
    return (
        "write 90 for every age above 89 before you publish them "
        "(45 CFR 164.514(b)(2)(i)(C))"
    )


def _weight(found: Signs) -> str | None:
    if found.sign is not Sign.WEIGHT or found.power.distinct < 2:
        return None
    return "weights of a public file can tell strata and places"


_PLACES = _about(*(Concept.CITY, Concept.POSITION, Concept.AREA), because=AREA_REASON)
_FINE_PLACES = _about(
    *(Concept.CITY, Concept.POSITION, Concept.POSTCODE, Concept.AREA),
    because="public files show no places of fewer than 100,000 people",
)

PROFILES = MappingProxyType(
    {
        profile.name: profile
        for profile in (
            Profile(
                name="ema-0070",
                title="clinical data published under EMA policy 0070",
                source="EMA/90915/2016, external guidance on policy 0070",
                k=12,
                k_reason="a chance of 1 in 12 at most: below the threshold of 0.09",
                l=2,
            ),
            Profile(
                name="hipaa-safe-harbor",
                title="health data de-identified by HIPAA's Safe Harbor method",
                source="45 CFR 164.514(b)(2)",
                k=5,
                k_reason="beyond the rule, which asks for no group size",
                l=2,
                rules=(_PLACES, _small_area, _postal_code, _date, _age),
            ),
            Profile(
                name="public-use",
                title="a file that anybody may download",
                source="IPC Ontario, De-identification Guidelines for Structured Data",
                k=20,
                k_reason="a chance of 0.05 at most, for sensitive data in public",
                l=3,
                rules=(_FINE_PLACES, _weight),
            ),
            Profile(
                name="research-use",
                title="a file for researchers who signed an agreement",
                source="El Emam and Arbuckle, Anonymizing Health Data (2013)",
                k=5,
                k_reason="a chance of 0.2 at most, for known recipients",
                l=2,
            ),
        )
    }
)
