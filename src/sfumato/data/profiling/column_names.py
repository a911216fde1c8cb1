"""What the name of a column says about it, in several languages."""

from __future__ import annotations

import re
import unicodedata
from itertools import pairwise
from types import MappingProxyType

from sfumato.data.schema import Role


def _vocabulary(text: str) -> frozenset[str]:
    return frozenset(text.split())


IDENTIFIER = _vocabulary(
    """
    surname firstname lastname fullname forename givenname familyname middlename
    maidenname nickname initials vorname nachname familienname zuname nom prenom
    nombre apellido apellidos nome cognome sobrenome achternaam voornaam imie nazwisko
    email mail mailto correo courriel phone telephone telefon telefono telefone mobile
    cellphone handy fax tel address adresse anschrift direccion indirizzo endereco
    street strasse rue calle via housenumber hausnummer ssn ssnr nin nino nhs nhsnumber
    mrn iban bic account accountnumber kontonummer creditcard cardnumber passport
    passnummer pasaporte passeport driverlicense license licence plate vin dni nif nie
    cpf bsn pesel cnp steuerid taxid tin ein insurancenumber versichertennummer
    personnummer fodselsnummer url website homepage ip ipaddress mac macaddress imei
    username login userid uuid guid rowid recordid
    """
)
PERSON = _vocabulary(
    """
    patient patientin person persona personne subject proband customer client kunde
    klient member mitglied user student pupil employee mitarbeiter respondent
    participant teilnehmer individual citizen resident insured versicherter
    beneficiary case fall
    """
)
NAME_PARTS = _vocabulary(
    "first last full given family middle maiden birth user nick my legal"
)
QUASI = _vocabulary(
    """
    age ages alter edad idade eta leeftijd birth birthday birthdate birthyear birthmonth
    birthplace birthcity dob dobyy dobmm geburt geburtsdatum geburtsjahr geburtsort
    nacimiento naissance nascita nascimento born sex gender geschlecht sexo sexe sesso
    zip zipcode postcode postal postalcode plz postleitzahl codpostal cap city town
    stadt ort ville ciudad comune municipality gemeinde county district kreis state
    bundesland region province provincia department country land pays pais paese
    continent location latitude longitude lat lon lng race ethnicity ethnic ethnie etnia
    ethnischerkunft nationality nationalitaet nationalite nacionalidad citizenship
    staatsangehoerigkeit native marital maritalstatus familienstand zivilstand married
    marry civil education educ schulbildung bildung school degree occupation job beruf
    profession profesion employment employer workclass work worker industry household
    hsize children kinder familysize family language sprache height weight groesse
    gewicht admission aufnahme discharge entlassung death visit date datum fecha year
    military veteran relationship relat teacher class grade
    """
)
SENSITIVE = _vocabulary(
    """
    diagnosis diagnoses diagnose diagnostic diagnostico diagnosi icd icd9 icd10 disease
    krankheit maladie enfermedad malattia doenca illness condition symptom comorbidity
    hiv aids cancer tumor stroke diabetes depression mental psychiatric disability
    behinderung drug drugs medication medikament medicine treatment behandlung therapy
    procedure prozedur severity outcome pregnancy abortion genetic genotype blood bmi
    glucose cholesterol salary gehalt salaire salario stipendio wage lohn income
    einkommen revenu renta reddito earnings earning bonus debt schulden loan credit
    kredit balance assets savings expend expenditure wealth poverty cost costs charge
    charges amount religion confession konfession faith political politics party vote
    sexual orientation crime criminal conviction offense arrest addiction alcohol
    smoking score satisfaction rating result test method risk salaryclass incomeclass
    """
)
WEIGHT = _vocabulary(
    "fnlwgt wgt pweight pwgt weightvar hochrechnungsfaktor instanceweight"
)
WEIGHT_PARTS = _vocabulary(
    "sampling sample instance survey design final person household"
)
ZIP = _vocabulary(
    "zip zipcode postcode postal postalcode plz postleitzahl codpostal cap"
)

BY_ROLE = MappingProxyType({Role.SENSITIVE: SENSITIVE, Role.QUASI: QUASI})


def words(name: str) -> tuple[str, ...]:
    """The words of a column's name: `HomeZip_code` gives home, zip, code."""
    plain = unicodedata.normalize("NFKD", name.replace("ß", "ss"))
    ascii_only = plain.encode("ascii", "ignore").decode()
    spaced = re.sub(r"(?<=[a-z])(?=[A-Z])", " ", ascii_only)
    return tuple(re.findall(r"[a-z]+[0-9]*|[0-9]+", spaced.lower()))


def role_of_name(name: str) -> tuple[Role, str] | None:
    """The role that a column's name points to, and the word that does."""
    parts = words(name)
    found = _weight(parts) or _identifier(parts)
    if found is not None:
        return found
    for role, known in BY_ROLE.items():
        word = _known(parts, known)
        if word:
            return role, f"'{word}' in its name"
    return None


def names_a_person_number(name: str) -> bool:
    """Whether a name reads like the number of a person: `patient_id`, `PersonNr`."""
    parts = set(words(name))
    others = parts - {"id", "nr", "no", "number", "key", "code"}
    return bool(others) and others <= PERSON


def ends_like_a_number(name: str) -> bool:
    """Whether a name ends in `id`: `DUPERSID`, `en_curid`."""
    return words(name)[-1:] != () and words(name)[-1].endswith("id")


def names_an_area_code(name: str) -> bool:
    """Whether a name reads like a postal code."""
    return _known(words(name), ZIP) is not None


def _weight(parts: tuple[str, ...]) -> tuple[Role, str] | None:
    known = _known(parts, WEIGHT)
    if known or ({"weight", "weights"} & set(parts) and WEIGHT_PARTS & set(parts)):
        return Role.WEIGHT, f"'{known or 'weight'}' in its name"
    return None


def _identifier(parts: tuple[str, ...]) -> tuple[Role, str] | None:
    word = _known(parts, IDENTIFIER)
    if word is None and "name" in parts:
        others = set(parts) - {"name"} - NAME_PARTS - PERSON
        word = None if others else "name"
    if word is None and parts and parts[-1] in ("id", "nr"):
        word = parts[-1]
    return (Role.IDENTIFIER, f"'{word}' in its name") if word else None


def _known(parts: tuple[str, ...], vocabulary: frozenset[str]) -> str | None:
    """The first word, or pair of neighbors, that the vocabulary has."""
    pairs = [a + b for a, b in pairwise(parts)]
    return next((word for word in (*pairs, *parts) if word in vocabulary), None)
