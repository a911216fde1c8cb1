"""The lists and shares that the demo hospital is drawn from.

Every list is made up for this demo. Names are drawn independently of everything
else, so a name that sounds like somebody is nobody's record.
"""

from __future__ import annotations

from typing import NamedTuple


def _words(text: str) -> tuple[str, ...]:
    return tuple(text.split())


FEMALE_NAMES = _words(
    "Ada Alma Anita Bella Bianca Carla Celia Clara Dalia Dora Edith Elena Elsa Emma "
    "Esther Fiona Flora Gloria Greta Hanna Helen Ida Ines Iris Jana Julia Karla Laura "
    "Lea Lena Lilian Lydia Mara Maria Marta Mila Nadia Nina Nora Olga Paula Rita Rosa "
    "Sara Selma Sofia Stella Tessa Thea Vera Viola Wanda Yara Zoe"
)
MALE_NAMES = _words(
    "Aaron Adam Albert Anton Arno Bruno Carl Cesar Cyril Dario David Edgar Emil Enzo "
    "Erik Felix Filip Franz Gabriel Gustav Hector Henry Hugo Igor Ivan Jakob Jonas "
    "Jorge Karim Kurt Lars Leo Louis Lukas Marco Martin Matteo Max Milan Nico Noah "
    "Omar Oscar Otto Pablo Paul Pedro Ralph Robin Samir Simon Theo Tomas Victor Walter"
)
FAMILY_NAMES = _words(
    "Abelard Ackerly Amberg Arkwell Ashdown Balfrey Barlune Bellamy Birkdale Bramlow "
    "Brightwater Calloway Cardew Castellan Chandry Corvane Dalgarno Danforth Delacroft "
    "Dorrance Dunmore Eastlake Eldergate Ellsmere Fairburn Fenwick Fieldstone Garrow "
    "Glenholm Granger Greywood Hadleigh Halloran Harkness Hawthorne Hollis Ibsley "
    "Inglewood Jarrow Jessamy Kalloway Kestrel Kirkland Lambourne Larkin Lindqvist "
    "Lockhart Lorimer Maddox Marchetti Marlowe Mayhew Merriweather Montrose Moravec "
    "Nightingale Norcross Oakhurst Okafor Orlova Osterman Palomar Pemberton Quillan "
    "Radcliffe Rainsford Redfern Rosario Rothwell Sandoval Sedgewick Silvano Somerset "
    "Stavros Sterling Takeda Tamarin Thornbury Tillman Underhill Valdez Vandermeer "
    "Varga Wakefield Westbrook Whitlock Windermere Yamato Yarrow Zamora Zielinski"
)


class District(NamedTuple):
    """A part of town: how many people live there, and who they are."""

    share: float
    zips: tuple[str, ...]
    ethnicity: tuple[float, ...]
    """Shares in the order of `ETHNICITIES`."""


ETHNICITIES = (
    "White",
    "Black",
    "Hispanic",
    "Asian",
    "Pacific Islander",
    "Native American",
    "Mixed",
)
DISTRICTS = (
    District(
        0.34,
        ("04101", "04102", "04103", "04104", "04106", "04108"),
        (0.66, 0.10, 0.10, 0.08, 0.01, 0.01, 0.04),
    ),
    District(
        0.27,
        ("04110", "04112", "04113", "04116", "04119"),
        (0.34, 0.34, 0.17, 0.07, 0.01, 0.02, 0.05),
    ),
    District(
        0.23,
        ("04210", "04212", "04217", "04218"),
        (0.33, 0.12, 0.42, 0.05, 0.01, 0.02, 0.05),
    ),
    District(
        0.16,
        ("04301", "04303", "04305", "04308"),
        (0.50, 0.06, 0.08, 0.26, 0.04, 0.02, 0.04),
    ),
)


class AgeBand(NamedTuple):
    """An age band: how many patients are in it, and what they do."""

    first: int
    last: int
    share: float
    occupations: tuple[tuple[str, float], ...]


_WORK = (
    ("Nurse", 6.0),
    ("Physician", 2.0),
    ("Care assistant", 5.0),
    ("Teacher", 6.0),
    ("Childcare worker", 3.0),
    ("Scientist", 1.5),
    ("Accountant", 4.0),
    ("Clerk", 8.0),
    ("Software developer", 4.0),
    ("Manager", 5.0),
    ("Lawyer", 1.5),
    ("Sales assistant", 8.0),
    ("Cook", 4.0),
    ("Hairdresser", 2.5),
    ("Waiter", 4.0),
    ("Police officer", 1.5),
    ("Driver", 5.0),
    ("Electrician", 3.0),
    ("Carpenter", 3.0),
    ("Mechanic", 3.5),
    ("Factory worker", 6.0),
    ("Cleaner", 5.0),
    ("Farmer", 2.0),
    ("Homemaker", 5.0),
    ("Unemployed", 6.0),
)
AGE_BANDS = (
    AgeBand(0, 0, 0.02, (("Child", 1.0),)),
    AgeBand(1, 5, 0.04, (("Child", 1.0),)),
    AgeBand(6, 17, 0.07, (("Pupil", 1.0),)),
    AgeBand(18, 25, 0.09, (("Student", 60.0), *_WORK)),
    AgeBand(26, 44, 0.23, (("Student", 3.0), *_WORK)),
    AgeBand(45, 64, 0.25, (("Retired", 8.0), *_WORK)),
    AgeBand(65, 79, 0.20, (("Retired", 900.0), *_WORK)),
    AgeBand(80, 97, 0.10, (("Retired", 1.0),)),
)


class Diagnosis(NamedTuple):
    """A diagnosis: how common it is, for whom, and what treating it takes."""

    name: str
    weights: tuple[float, ...]
    """One weight per age band."""
    women: float
    """How much more often women have it than men; 0: never, `ONLY`: only they."""
    days: float
    """The usual stay."""
    daily: float
    """What a day usually costs."""


ONLY = float("inf")
DIAGNOSES = (
    Diagnosis("A09 Infectious gastroenteritis", (9, 9, 5, 3, 2, 2, 3, 4), 1.0, 3, 520),
    Diagnosis("A41 Sepsis", (2, 2, 1, 1, 2, 4, 7, 9), 0.9, 11, 1450),
    Diagnosis("B20 HIV disease", (0, 0, 0, 1, 2, 2, 0.5, 0), 0.4, 7, 980),
    Diagnosis("C18 Colon cancer", (0, 0, 0, 0, 1, 6, 8, 6), 0.8, 9, 1320),
    Diagnosis("C34 Lung cancer", (0, 0, 0, 0, 0.5, 6, 8, 3), 0.7, 8, 1410),
    Diagnosis("C50 Breast cancer", (0, 0, 0, 0.3, 3, 8, 7, 4), 60.0, 5, 1380),
    Diagnosis("E10 Type 1 diabetes", (3, 3, 8, 4, 2, 1, 0.5, 0.2), 0.9, 4, 640),
    Diagnosis("E11 Type 2 diabetes", (0, 0, 0.5, 1, 4, 9, 9, 7), 0.9, 5, 610),
    Diagnosis("F10 Alcohol dependence", (0, 0, 0.5, 4, 8, 9, 3, 0.5), 0.4, 9, 430),
    Diagnosis("F20 Schizophrenia", (0, 0, 0.5, 5, 5, 3, 1, 0.5), 0.8, 19, 390),
    Diagnosis("F32 Depression", (0, 0, 4, 8, 8, 7, 4, 3), 1.8, 15, 380),
    Diagnosis("G30 Alzheimer disease", (0, 0, 0, 0, 0, 0.5, 5, 14), 1.5, 12, 450),
    Diagnosis("G40 Epilepsy", (6, 6, 5, 3, 3, 2, 2, 2), 0.9, 4, 690),
    Diagnosis("I10 High blood pressure", (0, 0, 0, 0.5, 3, 7, 8, 7), 1.1, 3, 480),
    Diagnosis("I21 Heart attack", (0, 0, 0, 0.2, 2, 9, 10, 8), 0.5, 7, 1680),
    Diagnosis("I50 Heart failure", (0.5, 0.5, 0, 0, 1, 5, 12, 18), 0.9, 9, 920),
    Diagnosis("I63 Stroke", (0, 0, 0, 0.3, 1, 6, 11, 14), 0.9, 12, 1150),
    Diagnosis("J18 Pneumonia", (12, 12, 4, 2, 3, 5, 9, 15), 0.8, 7, 720),
    Diagnosis(
        "J44 Chronic obstructive lung disease", (0, 0, 0, 0, 1, 7, 10, 7), 0.8, 7, 690
    ),
    Diagnosis("J45 Asthma", (14, 14, 11, 4, 3, 2, 1, 1), 1.0, 3, 560),
    Diagnosis("K35 Appendicitis", (3, 3, 14, 8, 5, 3, 1, 1), 0.8, 4, 1240),
    Diagnosis("K80 Gallstones", (0, 0, 0.5, 3, 7, 8, 7, 4), 1.9, 4, 1080),
    Diagnosis("M16 Hip arthrosis", (0, 0, 0, 0, 0.5, 6, 10, 6), 1.3, 8, 1290),
    Diagnosis("M54 Back pain", (0, 0, 2, 4, 8, 9, 5, 3), 1.1, 4, 460),
    Diagnosis("N20 Kidney stones", (0, 0, 1, 3, 6, 6, 4, 2), 0.6, 3, 940),
    Diagnosis("N40 Enlarged prostate", (0, 0, 0, 0, 0.2, 5, 10, 7), 0.0, 4, 990),
    Diagnosis("O80 Childbirth", (0, 0, 1, 18, 26, 0.3, 0, 0), ONLY, 3, 870),
    Diagnosis("P07 Premature birth", (50, 0, 0, 0, 0, 0, 0, 0), 1.0, 24, 1510),
    Diagnosis("S06 Head injury", (9, 9, 10, 8, 4, 3, 4, 7), 0.6, 4, 980),
    Diagnosis("S72 Broken thigh bone", (1, 1, 2, 1, 1, 2, 6, 17), 1.7, 12, 1190),
    Diagnosis("T78 Severe allergy", (8, 8, 6, 4, 3, 2, 1, 0.5), 1.1, 2, 510),
)
