"""Gupta, Prakash and Singh: slides on k-anonymity, l-diversity and t-closeness."""

from experiments.claims.claim import Claim, Document

SLIDES = Document(
    "slides",
    "Gupta, Prakash and Singh, Data privacy using k-anonymity, l-diversity and t-closeness "
    "(slides)",
    (
        Claim(
            "slides k-anonymity result",
            "In the group of the queried record everybody has the same occupation: "
            "k-anonymity does not prevent attribute disclosure.",
            "slides-walk",
        ),
        Claim(
            "slides occupation groups",
            "The three groups of occupations have almost equal shares.",
            "slides-walk",
        ),
        Claim(
            "slides l-diversity result",
            "With l-diversity the group of the record shows several occupations.",
            "slides-walk",
        ),
        Claim(
            "slides skewness",
            "An l-diverse group can have one occupation in 5 of 7 rows (71.4 %) that 13.26 "
            "% of the table have.",
            "slides-walk",
        ),
        Claim(
            "slides t-closeness result",
            "With t-closeness neither attribute disclosure nor skewness remains.",
            "slides-walk",
        ),
        Claim(
            "slides quality",
            "Each step of protection lowers the quality of the data.",
            "slides-walk",
        ),
        Claim(
            "slides together",
            "It is of use to require k-anonymity and t-closeness together.",
            "slides-walk",
        ),
        Claim(
            "slides machine learning",
            "(Open question.) Can machine learning trained on the release disclose "
            "sensitive values?",
            "slides-learning",
        ),
    ),
)
