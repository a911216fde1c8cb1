"""Boger 2020: K,L,θ-diverse clustering with a fitted distance, and data swapping."""

from experiments.claims.claim import Claim, Document

BOGER = Document(
    "boger",
    "Boger, L-diversity for data analysis: data swapping with customized clustering (2020)",
    (
        Claim(
            "boger figure 1",
            "The table is 3-anonymous, but not 2-diverse.",
            "boger-examples",
        ),
        Claim(
            "boger figure 2",
            "The table is 3-anonymous and 2-diverse, but not 0.5-θ-diverse.",
            "boger-examples",
        ),
        Claim(
            "boger figure 3",
            "The group is 4-anonymous, 3-diverse and 0.5-θ-diverse; swapping keeps the "
            "quasi-identifiers and the multiset of sensitive values.",
            "boger-examples",
        ),
        Claim(
            "boger figure 4",
            "Adult has 5 races, 16 educations, 2 sexes, 74 ages and 14 occupations.",
            "boger-examples",
        ),
        Claim(
            "boger figure 5",
            "Time grows with the square of the rows: 210 s for 32,561 rows, about 35 "
            "minutes for 100,000 and 61 hours for a million; millions of rows need a "
            "better algorithm.",
            "boger-figure-5",
        ),
        Claim(
            "boger section 4.3",
            "K = 10, L = 5, θ = 0.3 on Adult: every row is placed, every group meets all "
            "three.",
            "boger-figure-5",
        ),
        Claim(
            "boger figure 8",
            "At default selectivities the errors are 95.3 (race), 99.2 (education), 117.4 "
            "(sex) and 94.8 % (age) of Base's: similar to Base.",
            "boger-figure-8",
        ),
        Claim(
            "boger figure 9",
            "The race table beats Base where queries select half of the races or fewer.",
            "boger-figure-9",
        ),
        Claim(
            "boger figure 10",
            "The education table beats Base where queries select half of the educations or "
            "fewer.",
            "boger-figure-10",
        ),
        Claim(
            "boger figure 10, right end",
            "The error of the education table grows much as the selectivity of education "
            "nears all values.",
            "boger-figure-10",
        ),
        Claim(
            "boger figure 11",
            "The sex table beats Base where queries select one sex.",
            "boger-figure-11",
        ),
        Claim(
            "boger figure 11, right end",
            "The error of the sex table grows too where queries select both sexes.",
            "boger-figure-11",
        ),
        Claim(
            "boger figure 12",
            "The age table beats Base where queries select half of the ages or fewer.",
            "boger-figure-12",
        ),
        Claim(
            "boger section 4.7",
            "At low selectivities of a column the table fitted to it has the lowest error "
            "of all five.",
            "boger-low-selectivity",
        ),
        Claim(
            "boger section 4.7, correlation",
            "Of the four quasi-identifiers, education and sex correlate most with "
            "occupation.",
            "boger-examples",
        ),
        Claim(
            "boger abstract, quantity",
            "Anonymizing with the analysts' queries in mind lowers the difference between "
            "answers from the original and from the release.",
            "boger-tuned-weights",
        ),
        Claim(
            "boger abstract and conclusion, workflow",
            "The release has the schema and the values of the original, so that queries "
            "run unchanged; generalization does not.",
            "boger-examples",
        ),
        Claim(
            "boger conclusion",
            "Queries that are highly selective in one attribute gain from groups that are "
            "alike in that attribute.",
            "boger-low-selectivity",
        ),
        Claim(
            "boger future work, distance",
            "(Open question.) How much can be gained by optimizing the distance?",
            "boger-tuned-weights",
        ),
        Claim(
            "boger future work, parameters",
            "(Open question.) Which privacy parameters will succeed on given data?",
            "boger-advice",
        ),
    ),
)
