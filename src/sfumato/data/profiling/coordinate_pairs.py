"""Pair columns of latitude and longitude, which only say a place together."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType

from sfumato.data.profiling.column_names import words
from sfumato.data.profiling.column_signs import Sign, Signs
from sfumato.data.profiling.name_words import Concept

NORTH = ("lat", "lati", "latitude", "latitud", "latitudine", "breitengrad", "northing")
EAST = (
    *("lon", "lng", "long", "longi", "longitude", "longitud", "longitudine"),
    *("laengengrad", "easting"),
)
AXES = MappingProxyType(dict.fromkeys(NORTH, "north") | dict.fromkeys(EAST, "east"))


def partners(found: Sequence[Signs]) -> Mapping[str, str]:
    """The other coordinate of each column that has one: `home_lat` and `home_lon`."""
    by_axis: dict[tuple[str, ...], dict[str, str]] = {}
    for each in found:
        parts = words(each.name)
        axes = [AXES[part] for part in parts if part in AXES]
        if len(axes) == 1:
            rest = tuple(part for part in parts if part not in AXES)
            by_axis.setdefault(rest, {}).setdefault(axes[0], each.name)
    pairs = [tuple(pair.values()) for pair in by_axis.values() if len(pair) > 1]
    return {one: other for a, b in pairs for one, other in ((a, b), (b, a))}


def with_positions(found: Sequence[Signs], pairs: Mapping[str, str]) -> list[Signs]:
    """The columns; one whose name alone says little, such as `home_long`, is a position."""
    return [
        replace(
            each,
            sign=Sign.KNOWN,
            concept=Concept.POSITION,
            reason=f"{Concept.POSITION}: it goes with '{pairs[each.name]}'",
        )
        if each.name in pairs
        and each.sign >= Sign.KNOWN
        and each.concept is not Concept.POSITION
        else each
        for each in found
    ]
