"""Kuksina 2023: DP-anonym, k-anonymity with differentially private cuts."""

from experiments.claims.claim import Claim, Document

KUKSINA = Document(
    "kuksina",
    "Kuksina, DP-anonym: anonymization with differentially private mechanisms (2023)",
    (
        Claim(
            "kuksina table 2.2",
            "The table is 4-anonymous in three groups.",
            "kuksina-tables",
        ),
        Claim("kuksina table 2.3", "The table is 2-diverse.", "kuksina-tables"),
        Claim(
            "kuksina table 2.4",
            "The table is 4-diverse, yet all diseases are of the skin.",
            "kuksina-tables",
        ),
        Claim(
            "kuksina table 2.5",
            "k-anonymity prevents identity disclosure alone, l-diversity attribute "
            "disclosure too, t-closeness and differential privacy also inference.",
            "slides-walk",
        ),
        Claim(
            "kuksina table 3.2",
            "Single-dimensional cells differ from multidimensional ones, which show more.",
            "kuksina-tables",
        ),
        Claim(
            "kuksina table 4.1",
            "Randomized response gives ln 3, Laplace and exponential any ε, "
            "Gaussian (ε, δ).",
            "kuksina-tables",
        ),
        Claim(
            "kuksina table 5.1",
            "Sampling lowers ε and δ by the printed bounds.",
            "kuksina-tables",
        ),
        Claim("kuksina table 6.1", "DM is 18 and C_AVG is 1.", "kuksina-tables"),
        Claim(
            "kuksina table 7.1",
            "Educations at one level for all rows, or at several levels.",
            "kuksina-tables",
        ),
        Claim(
            "kuksina figure 7.5",
            "In Datafly's release of Adult a column is at one level, up to the star; in "
            "that of DP-anonym columns have several levels, and most cells show more.",
            "kuksina-figure-8.17",
        ),
        Claim(
            "kuksina tables 8.1 to 8.4",
            "The attributes of the four tables: numbers of values, or ranges.",
            "kuksina-data",
        ),
        Claim(
            "kuksina figure 8.11",
            "On Adult, Datafly has the highest DM, C_AVG and NCP; DM and NCP are nearly "
            "constant, and C_AVG falls only because k grows.",
            "kuksina-figure-8.11",
        ),
        Claim(
            "kuksina figure 8.11, k = 6 and 11",
            "Datafly improves noticeably at k = 6 and k = 11.",
            "kuksina-datafly",
        ),
        Claim(
            "kuksina figure 8.12",
            "On Adult, DP-anonym (ε = 0.5) is similar to classic Mondrian and top-down by "
            "all three measures, and better than top-down by NCP.",
            "kuksina-figure-8.12",
        ),
        Claim(
            "kuksina figure 8.12, basic Mondrian",
            "Basic Mondrian leaps at k = 25, 52 and 80, and loses more than classic.",
            "kuksina-leaps",
        ),
        Claim(
            "kuksina figure 8.13",
            "On California housing DP-anonym does better than its peers, and classic "
            "Mondrian slightly better than basic.",
            "kuksina-figure-8.13",
        ),
        Claim(
            "kuksina figure 8.14",
            "On the two small tables DP-anonym is comparable to the leading algorithms.",
            "kuksina-figure-8.14",
        ),
        Claim(
            "kuksina figure 8.15",
            "NCP grows with k, and is lower at ε = 1 than at ε = 0.1.",
            "kuksina-figure-8.15",
        ),
        Claim(
            "kuksina figure 8.16",
            "Mean utility over k improves with ε; on California housing hardly beyond 0.3.",
            "kuksina-figure-8.16",
        ),
        Claim(
            "kuksina figure 8.17",
            "Counts by race and sex in the United States: DP-anonym answers near the "
            "original, Datafly not at all (k = 3, ε = 0.1).",
            "kuksina-figure-8.17",
        ),
        Claim(
            "kuksina figure 8.18",
            "The same counts without country: Datafly answers too, DP-anonym near the "
            "original.",
            "kuksina-figure-8.18",
        ),
        Claim(
            "kuksina section 8.4",
            "DP-anonym is faster than some standard algorithms, and highly scalable.",
            "kuksina-time",
        ),
        Claim(
            "kuksina abstract, k-anonymity",
            "DP-anonym provides k-anonymity.",
            "kuksina-fallback",
        ),
        Claim(
            "kuksina abstract, utility",
            "DP-anonym keeps more utility than the standard algorithms.",
            "kuksina-figure-8.16",
        ),
        Claim(
            "kuksina abstract and conclusion, queries",
            "DP-anonym answers typical queries more precisely.",
            "kuksina-figure-8.18",
        ),
        Claim(
            "kuksina abstract and conclusion, guarantee",
            "DP-anonym is (ε, δ)-differentially private; one run costs ε of selection + ε "
            "of counts (section 7.3.3).",
            "kuksina-depth",
        ),
        Claim(
            "kuksina conclusion, Datafly",
            "DP-anonym does several times better than Datafly.",
            "kuksina-figure-8.16",
        ),
        Claim(
            "kuksina conclusion, peers",
            "DP-anonym is compatible with Mondrian and top-down by DM, C_AVG and NCP.",
            "kuksina-figure-8.12",
        ),
        Claim(
            "kuksina conclusion, hierarchies",
            "DP-anonym runs with hierarchies and without.",
            "kuksina-depth",
        ),
        Claim(
            "kuksina future work, synthetic",
            "(Open question.) Synthetic data where anonymized data miss the thresholds.",
            "kuksina-fallback",
        ),
    ),
)
