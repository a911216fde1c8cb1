"""Loukides and Shao 2008: trading utility against protection."""

from experiments.claims.claim import Claim, Document

TGC = Document(
    "tgc",
    "Loukides and Shao, Data utility and privacy protection trade-off in k-anonymisation "
    "(PAIS 2008)",
    (
        Claim(
            "tgc table 1",
            "S-diversity at r = 0.5 is 0.333 for the first group and 0.733 for the second.",
            "tgc-tables",
        ),
        Claim(
            "tgc tables 3 and 4",
            "Cutting at medians of age gives table 3; clustering gives table 4, which "
            "loses less.",
            "tgc-tables",
        ),
        Claim(
            "tgc figure 5",
            "Utility and protection over δ are alike on a 2.5 % sample and on the table.",
            "tgc-figure-5",
        ),
        Claim(
            "tgc figure 6",
            "Utility (UM): TGCB well ahead of Mondrian, near K-Members and TGCU; TGCP and "
            "K-Members-p poor.",
            "tgc-figure-6",
        ),
        Claim(
            "tgc figure 7",
            "All versions of TGC have a low DM.",
            "tgc-figure-6",
        ),
        Claim(
            "tgc figure 8",
            "A.R.E. of type-1 queries: TGCU ahead of Mondrian and K-Members at every k, "
            "TGCB comparable, TGCP good at small k only.",
            "tgc-figure-8",
        ),
        Claim(
            "tgc figure 9",
            "A.R.E. of type-2 queries: all three ahead of Mondrian and K-Members.",
            "tgc-figure-9",
        ),
        Claim(
            "tgc figure 10",
            "Protection: TGCP comparable to K-Members-p, TGCB near; Mondrian, K-Members "
            "and TGCU poor.",
            "tgc-figure-6",
        ),
        Claim(
            "tgc figure 11",
            "c of (c,l)-diversity is lower for TGCB, TGCP and K-Members-p.",
            "tgc-figure-11",
        ),
        Claim(
            "tgc figure 12",
            "l of (c,l)-diversity is higher for Mondrian, K-Members and TGCU.",
            "tgc-figure-11",
        ),
        Claim(
            "tgc figure 13",
            "Normal data: TGCU's utility is very near K-Members', TGCB's comparable.",
            "tgc-figure-13",
        ),
        Claim(
            "tgc figure 14",
            "Normal data: Mondrian, K-Members and TGCU protect little; TGCB is comparable "
            "to K-Members-p and TGCP.",
            "tgc-figure-13",
        ),
        Claim(
            "tgc figure 15",
            "Quality improves with s up to 5k, and is stable beyond (Adult).",
            "tgc-figure-15",
        ),
        Claim(
            "tgc figure 16",
            "Quality improves with s up to 5k, and is stable beyond (normal data).",
            "tgc-figure-16",
        ),
        Claim(
            "tgc figure 17",
            "A larger r lets TGCB trade protection for utility.",
            "tgc-figure-17",
        ),
        Claim(
            "tgc figure 18",
            "Weights lead to the trade-off that is wanted.",
            "tgc-figure-18",
        ),
        Claim(
            "tgc figure 19",
            "Time against rows: K-Members and TGCB without subspaces are quadratic; TGCB "
            "with subspaces is very near Mondrian, which is fastest.",
            "tgc-figure-19",
        ),
        Claim(
            "tgc figure 20",
            "Time hardly depends on s below 100k.",
            "tgc-figure-20",
        ),
        Claim(
            "tgc abstract, trade-off",
            "The method gives k-anonymous tables with the trade-off that is asked for.",
            "tgc-figure-18",
        ),
        Claim(
            "tgc abstract, scale",
            "The method scales to large tables.",
            "tgc-figure-19",
        ),
        Claim(
            "tgc conclusion, own measures",
            "The method often beats those that optimize utility or protection alone, by "
            "UM and S-diversity.",
            "tgc-figure-6",
        ),
        Claim(
            "tgc conclusion, queries",
            "The method often beats those that optimize utility alone, by answers to "
            "queries.",
            "tgc-readings",
        ),
        Claim(
            "tgc future work, mining",
            "(Open question.) The trade-off for a given mining task.",
            "tgc-task",
        ),
        Claim(
            "tgc future work, dominating set",
            "(Open question.) Releasing the dominating set of anonymized tables.",
            "tgc-front",
        ),
    ),
)
