"""The name and the definition of each measure, as the report prints them."""

from __future__ import annotations

from typing import NamedTuple


class Measure(NamedTuple):
    """A measure's name for people, its definition, and how its number is written."""

    title: str
    definition: str
    share: bool = False


MEASURES = {
    "ncp": Measure(
        "Normalized certainty penalty (NCP)",
        "How much of its column's range an average quasi-identifier cell now covers: "
        "0 is the exact value, 100% is no information. Cells of suppressed rows "
        "count as 100%.",
        share=True,
    ),
    "ncp_per_row": Measure(
        "NCP per row",
        "The penalties of a row's quasi-identifier cells added up, averaged over rows.",
    ),
    "generalized_loss": Measure(
        "Generalized loss",
        "The share of a column's other values that a cell no longer tells apart from "
        "its own; 0 is the exact value, 100% is no information.",
        share=True,
    ),
    "discernibility": Measure(
        "Discernibility",
        "The sum of squared group sizes, plus all source rows for each suppressed row. "
        "Lower is better; compare it only on the same source.",
    ),
    "average_class_size": Measure(
        "Average class size",
        "Published rows divided by groups and by k; 1 is the best that k allows.",
    ),
    "suppressed_share": Measure(
        "Suppressed rows",
        "The share of source rows that were left out of the release.",
        share=True,
    ),
    "precision": Measure(
        "Precision",
        "One less the mean height of a cell in its hierarchy; 1 is exact.",
    ),
    "non_uniform_entropy": Measure(
        "Non-uniform entropy",
        "The share of the bits about the original's values that cells no longer tell.",
        share=True,
    ),
    "kl_divergence": Measure(
        "KL divergence of columns",
        "How far a column's distribution is from the original's, in bits, on average.",
    ),
    "kl_divergence_of_pairs": Measure(
        "KL divergence of pairs of columns",
        "How far the distribution of two columns is from the original's, in bits.",
    ),
    "classification_metric": Measure(
        "Classification metric (CM)",
        "The share of rows that are suppressed, or whose sensitive value is not the "
        "most frequent one of their group.",
        share=True,
    ),
    "q_diversity": Measure(
        "Average Q-diversity (UM)",
        "What a group covers of each quasi-identifier, added up, averaged over groups.",
    ),
    "squared_error": Measure(
        "Squared error of numbers (SSE/SST)",
        "The squared error of numbers, as a share of their variance.",
        share=True,
    ),
    "mean_shift": Measure(
        "Shift of means",
        "How far means of numbers move, in standard deviations.",
    ),
    "variance_shift": Measure(
        "Shift of variances",
        "How much variances of numbers change, as a share of them.",
        share=True,
    ),
    "correlation_shift": Measure(
        "Shift of correlations",
        "How much correlations of two columns of numbers change.",
    ),
    "suppressed_cells": Measure(
        "Suppressed cells",
        "The share of quasi-identifier cells that tell nothing.",
        share=True,
    ),
    "suppressed_people": Measure(
        "Suppressed people, worst value",
        "The highest share of people with one value whose rows are suppressed.",
        share=True,
    ),
    "false_cells": Measure(
        "False cells",
        "The share of quasi-identifier cells that do not hold the true value.",
        share=True,
    ),
    "prosecutor_max": Measure(
        "Highest re-identification risk",
        "The chance that somebody who knows all quasi-identifiers of a person in the "
        "table picks the right row: one divided by the smallest group.",
        share=True,
    ),
    "value_max": Measure(
        "Highest chance to guess a sensitive value",
        "The chance that somebody who knows a person's group names the person's "
        "sensitive value: the share of the commonest value in the worst group.",
        share=True,
    ),
    "prosecutor_mean": Measure(
        "Average re-identification risk",
        "The same chance, averaged over all published rows: groups divided by rows.",
        share=True,
    ),
    "unique_with_exact_columns": Measure(
        "Rows unique with exact columns",
        "The share of rows that are unique by the published quasi-identifiers together "
        "with all insensitive columns and weights. An empty cell counts as a value.",
        share=True,
    ),
}

TREATMENTS = {
    "dropped": "left out",
    "pseudonymized": "replaced by pseudonyms",
    "generalize": "made coarser where needed",
    "microaggregate": "one representative value per group",
    "suppress": "* where a group disagrees",
    "kept": "as it was",
    "banded": "in intervals that the policy fixes",
    "swapped": "permuted within groups",
    "apart": "in a table of their own",
    "synthetic": "drawn from noisy counts",
}

GROUPS = {
    "swap": "groups of rows within which sensitive values were permuted",
    "anatomize": "groups of rows whose sensitive values stand in a table of their own",
}
"""How groups are described, for forms that differ from the default below."""
ALIKE = "groups of rows that show the same quasi-identifiers"

LIMITS = (
    (
        "The promises hold for an attacker who knows the columns listed as quasi-"
        "identifiers. Columns published as they were can identify people too, if an "
        "attacker knows them from elsewhere: choosing the roles is a human decision."
    ),
    (
        "What a whole group has in common can be learned about each of its members, "
        "also by an attacker who never finds the right row."
    ),
)
"""What every report says; a manifest adds the limits of its own release."""


def groups(operator: str) -> str:
    """What the groups of a release are."""
    return GROUPS.get(operator, ALIKE)


def measure(key: str) -> Measure:
    """Return the text for a measure; without an entry, its key."""
    return MEASURES.get(key, Measure(key.replace("_", " ").capitalize(), ""))


class CellWords(NamedTuple):
    """A form of published cells: its name, its meaning, and how to compute with it."""

    title: str
    means: str
    compute: str


CELL_FORMS = {
    "value": CellWords("a value", "The value itself.", "Use it as it is."),
    "band": CellWords(
        "a band",
        "[20, 24], [20, 25), >= 60 or <= 18: some value in it. The policy fixes widths "
        "and ends; it may leave the values between two tails as they are.",
        "Count rows by band; both ends of a band, where it has two, give bounds.",
    ),
    "interval": CellWords(
        "an interval",
        "[20, 24]: some value from 20 to 24, both ends included.",
        "Compute with both ends to get bounds; with the middle to get a guess.",
    ),
    "half-open": CellWords(
        "a half-open interval",
        "[20, 25): some value from 20 on, below 25.",
        "As with an interval; the upper end does not belong to it.",
    ),
    "set": CellWords(
        "a set",
        "{a|b}: one of these values. A value that contains | stands in quotes.",
        "Count the row once, spread evenly over the values of the set.",
    ),
    "prefix": CellWords(
        "first characters",
        "041*: some code that begins with 041.",
        "Compare the characters before the star.",
    ),
    "label": CellWords(
        "a label",
        "A name for several values: a node of the column's hierarchy, such as a region, "
        "a month (2024-05), a quarter (2024-Q2) or a decade (1970s).",
        "Group by it, or spread the row evenly over the values below it.",
    ),
    "star": CellWords(
        "*",
        "Any value of the column: nothing is told.",
        "Leave the row out of what needs the column, or spread it over all values.",
    ),
    "missing": CellWords(
        "empty",
        "The value is missing, in the source already.",
        "Treat it as a missing value.",
    ),
    "typical": CellWords(
        "a typical value",
        "The mean, the median or the most frequent value of the row's group. It need not "
        "be the value of any row.",
        "Means stay right; variances come out too small.",
    ),
    "low": CellWords(
        "the lowest value",
        "The value is this or higher; the column with _to has the highest.",
        "Compute with both columns to get bounds.",
    ),
    "high": CellWords(
        "the highest value",
        "The value is this or lower; the column with _from has the lowest.",
        "Compute with both columns to get bounds.",
    ),
    "pseudonym": CellWords(
        "a pseudonym",
        "The same person, or thing, has the same text. Nobody can compute it back "
        "without the steward's key.",
        "Use it to tell rows apart or to put them together.",
    ),
    "group": CellWords(
        "a group number",
        "Rows with the same number form a group.",
        "Join the second table by it: README.txt says how.",
    ),
    "swapped": CellWords(
        "a swapped value",
        "A true value of some row of the group, not always of this row.",
        "Counts of the column alone are exact; beside other columns they are estimates.",
    ),
    "apart": CellWords(
        "in the second table",
        "The values of each group and how often each occurs in it.",
        "Spread them evenly over the rows of the group.",
    ),
    "synthetic": CellWords(
        "a synthetic value",
        "Drawn from noisy counts: no row stands for a person.",
        "Compute as usual; answers have the error of the noise.",
    ),
}
