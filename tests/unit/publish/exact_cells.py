"""Read published cells as exact fractions, without the code under test."""

import re
from fractions import Fraction

MONTHS = (31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31)


def number_of(text, kind):
    """The exact number behind a value: days for dates, seconds for datetimes."""
    if kind not in ("date", "datetime"):
        return Fraction(text.strip())
    found = re.fullmatch(
        r"(-?\d{4,})-(\d\d)-(\d\d)(?:[T ](\d\d):(\d\d)(?::(\d\d(?:\.\d+)?))?)?",
        text.strip(),
    )
    year, month, day, *clock = (Fraction(part or 0) for part in found.groups())
    days = _first_day(int(12 * year + month - 1)) + day - 1
    if kind == "date":
        return days
    hours, minutes, seconds = clock
    return days * 86_400 + hours * 3600 + minutes * 60 + seconds


def contains(cell, value, kind):
    """Whether a published cell may stand for a source value."""
    if cell == "*":
        return True
    if cell is None or value is None:
        return cell is None and value is None
    number = number_of(value, kind)
    low, high, last = _ends(cell, kind)
    if low is not None and number < low:
        return False
    return high is None or (number <= high if last else number < high)


def between(low, high, value, kind):
    """Whether two bounds enclose a value; an empty one is no bound."""
    number = number_of(value, kind)
    above = not low or number_of(low, kind) <= number
    return above and (not high or number <= number_of(high, kind))


def _ends(cell, kind):
    """The lowest number of a cell, the highest, and whether the latter belongs."""
    found = re.fullmatch(r"\[(.+), (.+)([\])])", cell)
    if found:
        return number_of(found[1], kind), number_of(found[2], kind), found[3] == "]"
    found = re.fullmatch(r"(>=|<=|<) (.+)", cell)
    if found:
        end = number_of(found[2], kind)
        return (end, None, True) if found[1] == ">=" else (None, end, found[1] == "<=")
    if kind in ("date", "datetime") and not re.match(r"-?\d{4,}-\d\d-\d\d", cell):
        return _calendar(cell, kind)
    if kind == "datetime" and len(cell) == 10:
        day = number_of(cell, kind)
        return day, day + 86_400, False
    return number_of(cell, kind), number_of(cell, kind), True


def _calendar(cell, kind):
    found = re.fullmatch(r"(\d{4})(?:-(\d\d)|-Q(\d)|(s))?", cell)
    year, month, quarter, decade = found.groups()
    year, first, count = int(year), 1, 12
    if month:
        first, count = int(month), 1
    elif quarter:
        first, count = 3 * int(quarter) - 2, 3
    months = 12 * year + first - 1 + (120 if decade else count)
    low, high = _first_day(12 * year + first - 1), _first_day(months)
    unit = 86_400 if kind == "datetime" else 1
    return Fraction(low * unit), Fraction(high * unit), False


def _first_day(months):
    """The ordinal of the first day of a month, counted without a calendar library."""
    year, month = divmod(months, 12)
    before = year - 1
    days = 365 * before + before // 4 - before // 100 + before // 400
    leap = month > 1 and (year % 4 == 0) and (year % 100 != 0 or year % 400 == 0)
    return days + sum(MONTHS[:month]) + leap + 1
