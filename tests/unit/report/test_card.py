"""The fragment that a notebook shows of a release."""

from __future__ import annotations

from sfumato.report.card import card

MANIFEST = {
    "rows_out": 1200,
    "groups": 30,
    "rows_suppressed": 4,
    "risk": {"prosecutor_max": 0.2},
    "requirements": [
        {"model": "<k>", "holds": True, "measured": 5, "parameters": {"k": 5}},
        {"model": "l", "holds": False, "measured": 1, "parameters": {"l": 2}},
    ],
    "not_for_publication": 'Made with a "guessable" seed & more.',
}


def test_counts_and_risk_are_said():
    expected = "1,200 rows, 30 groups, 4 rows suppressed, highest risk 20.0%."
    assert expected in card(MANIFEST)


def test_text_is_escaped():
    text = card(MANIFEST)
    assert "&lt;k&gt;" in text
    assert "Made with a &#34;guessable&#34; seed &amp; more." in text


def test_verdicts_are_said_in_words():
    text = card(MANIFEST)
    assert text.count("✓ holds") == 1
    assert text.count("✗ does not hold") == 1


def test_a_release_without_a_warning_has_none():
    text = card({**MANIFEST, "not_for_publication": None})
    assert "guessable" not in text
    assert text.count("<p") == 1
