"""Milani, Huang and Chiang 2021: diversity constraints and DIVA."""

from experiments.claims.claim import Claim, Document

DIVA = Document(
    "diva",
    "Milani, Huang and Chiang, Preserving diversity in anonymized data (EDBT 2021)",
    (
        Claim(
            "diva table 2",
            "A 3-anonymous table may lose values of minorities.",
            "diva-example",
        ),
        Claim(
            "diva table 3",
            "There is a 2-anonymous table that meets the three constraints of the example.",
            "diva-example",
        ),
        Claim(
            "diva figure 3",
            "The Asian constraint has four clusterings, the African one has one; after "
            "t6 and t7 are taken for Vancouver none is left for it, and after t7 and t8 "
            "the coloring succeeds.",
            "diva-example",
        ),
        Claim(
            "diva table 4",
            "Sizes of the four tables, and of their distinct quasi-identifiers.",
            "diva-example",
        ),
        Claim(
            "diva figure 4a",
            "Time against |Σ| (Census): Basic grows exponentially, MinChoice and MaxFanOut "
            "linearly.",
            "diva-figure-4ab",
        ),
        Claim(
            "diva figure 4b",
            "Accuracy against |Σ| (Census) declines linearly.",
            "diva-figure-4ab",
        ),
        Claim(
            "diva figure 4c",
            "Accuracy against conflict rate (Pantheon) declines; MaxFanOut is 17 %, "
            "MinChoice 9 % above Basic.",
            "diva-figure-4c",
        ),
        Claim(
            "diva figure 4d",
            "Accuracy by distribution: uniform best, then Gaussian, then Zipfian; "
            "MaxFanOut best by 8 % and 17 %.",
            "diva-figure-4d",
        ),
        Claim(
            "diva figure 5a",
            "Accuracy against k declines for all; DIVA is comparable to the baselines.",
            "diva-figure-5ab",
        ),
        Claim(
            "diva figure 5b",
            "Time against k: DIVA takes longer than the baselines, and falls as k grows.",
            "diva-figure-5ab",
        ),
        Claim(
            "diva figure 5c",
            "Accuracy against |R|: DIVA is above the baselines, and falls as rows are "
            "added.",
            "diva-figure-5cd",
        ),
        Claim("diva figure 5d", "Time grows with |R| for all.", "diva-figure-5cd"),
        Claim(
            "diva abstract, diversity",
            "Algorithms that know no constraints lose diversity; DIVA keeps it.",
            "diva-example",
        ),
        Claim(
            "diva abstract, effectiveness",
            "DIVA is effective and efficient beside the baselines.",
            "diva-figure-5cd",
        ),
        Claim(
            "diva conclusion, strategies",
            "The strategies that choose nodes perform better than Basic.",
            "diva-strategies",
        ),
        Claim(
            "diva conclusion, overhead",
            "Constraints have an overhead over the baselines.",
            "diva-figure-5cd",
        ),
        Claim(
            "diva section 3.3",
            "DIVA runs in time polynomial in the rows.",
            "diva-figure-5cd",
        ),
        Claim(
            "diva future work, privacy",
            "(Open question.) Diversity constraints with differential privacy.",
            "diva-private",
        ),
        Claim(
            "diva future work, parallel",
            "(Open question.) Coloring in parallel.",
            "diva-parallel",
        ),
    ),
)
