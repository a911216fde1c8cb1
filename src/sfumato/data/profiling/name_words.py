"""Words in the names of columns, in several languages, and what they point to.

A word may have `*` at its beginning or end: any letters may stand there.
"""

from __future__ import annotations

from enum import StrEnum
from types import MappingProxyType


class Concept(StrEnum):
    """What a column is about; the more widely known about a person, the earlier."""

    AGE = "age"
    SEX = "sex"
    BIRTH = "birth"
    POSTCODE = "postal code"
    CITY = "place"
    REGION = "region"
    COUNTRY = "country"
    CONTINENT = "continent"
    POSITION = "position"
    RACE = "ethnic origin"
    MARITAL = "marital status"
    EDUCATION = "education"
    OCCUPATION = "occupation"
    EMPLOYMENT = "employment"
    HOUSEHOLD = "household"
    CITIZENSHIP = "citizenship"
    LANGUAGE = "language"
    DATE = "date"
    SCHOOL = "school or class"
    INDUSTRY = "industry"
    MILITARY = "military service"
    HOUSING = "housing"
    TRAVEL = "travel"
    MEMBERSHIP = "membership"
    BODY = "body"
    HABIT = "habit"
    VEHICLE = "vehicle"
    AREA = "area"


FIRST_CIRCUMSTANCE = Concept.DATE
"""From here on concepts are circumstances, which fewer people know."""


def _words(text: str) -> tuple[str, ...]:
    return tuple(text.split())


KNOWN = MappingProxyType(
    {
        Concept.CONTINENT: _words("continent* kontinent*"),
        Concept.POSTCODE: _words(
            """zip zipcode postcode postal postalcode plz postleitzahl codpostal
            codigopostal codepostal cap cep postnummer homezip"""
        ),
        Concept.POSITION: _words(
            """latitude longitude lat lon lng lati longi coordinate* koordinate*
            gps easting northing breitengrad laengengrad"""
        ),
        Concept.CITIZENSHIP: _words(
            """citizen* nationality nationalit* nacionalid* nazionalit* nationaliteit
            staatsangeh* staatsbuerger* cittadinanza ciudadania cidadania"""
        ),
        Concept.COUNTRY: _words(
            """country* *country land herkunftsland geburtsland wohnland pays pais
            paese native foreign* immigrant* migrationshintergrund"""
        ),
        Concept.CITY: _words(
            """city cities birthcity homecity town hometown birthtown village municip*
            commune comune gemeinde stadt *stadt ort wohnort geburtsort ville ciudad
            localidad cidade birthplace municipio woonplaats plaats gemeente"""
        ),
        Concept.REGION: _words(
            """region* *region puma state birthstate homestate provinc* provinz county
            district kreis landkreis bundesland canton kanton departement departamento nuts*
            comunidad estado distrito prefecture governorate"""
        ),
        Concept.SEX: _words(
            """sex gender geschlecht sexo sexe sesso genero genre genere geslacht kon
            plec"""
        ),
        Concept.MARITAL: _words(
            """marital* marstat* msp marriage married marry mstatus civil* *civil
            familienstand zivilstand spouse matrimon* conjug* burgerlijk* estadocivil
            statocivile *marital* verheiratet divorced widowed"""
        ),
        Concept.HOUSEHOLD: _words(
            """household* haushalt* hsize hhsize famil* familysize children child kids
            kinder *kinder hijos enfants figli filhos kinderen siblings relat* parents
            persons haushaltsgroesse menage hogar nucleo gezin dependents depend* numkids
            numchildren nchild* offspring"""
        ),
        Concept.HOUSING: _words(
            """hous* *housing home dwelling* wohn* apartment* tenure *tenure rent*
            roof wall walls floor rooms *rooms bedroom* property propert* miete mieter
            logement vivienda casa abitazione huis residence residenc* urban* rural*"""
        ),
        Concept.BIRTH: _words(
            """birth* *birth dob* born geburt* nacim* fechanac* naissance nascita
            nascim* geboorte* fodsel* *geburtsdatum yob mob"""
        ),
        Concept.EDUCATION: _words(
            """education* educ* *education schl
            schulbildung bildung* *abschluss schooling degree diploma
            qualification* estudios istruzione instruccion etudes
            scolarite opleiding escolaridade educacao formacion formation titulo"""
        ),
        Concept.INDUSTRY: _words(
            """industry industr* sector branche* wirtschaftszweig company firma
            entreprise empresa azienda naics nace sic"""
        ),
        Concept.OCCUPATION: _words(
            """occup* *occu job jobtitle *job beruf* *beruf profession* profesion*
            professione metier oficio isco beroep profissao trade position"""
        ),
        Concept.EMPLOYMENT: _words(
            """employ* *employment work workclass worker workers working *work arbeit*
            erwerb* labor labour lavoro trabajo trabalho travail emploi empleo werk
            arbeitgeber employeur empleador beschaeftig* unemploy*"""
        ),
        Concept.RACE: _words(
            """race race* ethn* etni* hispan* hisp* latino herkunft ancestry rasse raza
            razza raca tribe caste indigenous abstammung black blacks white whites
            nonwhite asian* caucasian* afro* african* minorit* hautfarbe skincolor"""
        ),
        Concept.AGE: _words(
            """age ages alter edad idade eta leeftijd wiek agegroup agecat* altersgruppe
            ageyears"""
        ),
        Concept.LANGUAGE: _words(
            """language* sprache* muttersprache langue* lengua* idioma* lingua* taal"""
        ),
        Concept.SCHOOL: _words(
            """teacher* lehrer* school* schule* class classroom klasse grade* course*
            kurs university college campus ecole escuela scuola"""
        ),
        Concept.MILITARY: _words("military veteran* army wehrdienst militar* armed"),
        Concept.TRAVEL: _words(
            """travel* trip* flight* flug* reise* voyage viaje viaggio journey*
            departure* arrival* destination* passenger* hotel booking* abflug"""
        ),
        Concept.MEMBERSHIP: _words(
            """customer* member* mitglied* club loyalty subscriber* subscription*
            tarif* plan contract* kunde* kunden* cliente* client*"""
        ),
        Concept.BODY: _words(
            """height weight groesse koerpergroesse gewicht taille poids estatura
            peso altura altezza lengte haircolor haarfarbe eyecolor augenfarbe shoe*"""
        ),
        Concept.HABIT: _words(
            """smok* raucher* rauchen tobacco fumeur fumador* fumatore roken sport*
            hobby hobbies"""
        ),
        Concept.VEHICLE: _words("vehicle* car cars auto fahrzeug* voiture coche"),
        Concept.DATE: _words(
            """date dates *datum datum fecha* year years jahr* annee ano anno month months
            monat* mois mes mese day tag jour dia admission* admitted aufnahme*
            discharge* entlassung* death* died visit* besuch* when timestamp quarter
            week weeks semester"""
        ),
        Concept.AREA: _words("location site area zone place standort lieu lugar luogo"),
    }
)
"""What an outsider may know, the most specific words first."""

IDENTIFIER = _words(
    """surname firstname lastname fullname forename givenname familyname middlename
    maidenname nickname initials vorname nachname familienname zuname nom prenom
    nombre apellido apellidos nome cognome sobrenome achternaam voornaam imie nazwisko
    email mail mailto correo courriel phone *phone telephone telefon* telefono telefone
    mobile mobil cellphone handy* fax tel address *address adresse* anschrift direccion
    indirizzo endereco adres street strasse rue calle via straat housenumber hausnummer
    ssn ssnr nin nino nhs nhsnumber mrn iban bic account accountnumber konto
    kontonummer creditcard cardnumber passport* passnummer pasaporte passeport
    driverlicense license licence plate kennzeichen vin dni nif nie cpf rfc curp bsn
    pesel cnp steuerid steuernummer taxid tin insurancenumber versichertennummer
    versicherungsnummer sozialversicherungsnummer personnummer fodselsnummer
    codicefiscale nir cedula url website homepage ip ipaddress mac macaddress imei
    deviceid serial username login userid uuid guid rowid recordid pid uid caseid
    fingerprint photo foto image portrait signature unterschrift"""
)
PERSON = _words(
    """patient patientin person persona personne subject proband customer client kunde
    klient member mitglied user student pupil employee mitarbeiter respondent
    participant teilnehmer individual citizen resident insured versicherter
    beneficiary case fall paciente paziente cliente usuario alumno"""
)
NAME_PARTS = _words("first last full given family middle maiden birth user nick legal")
NUMBER_WORDS = ("nummer", "number", "numero", "nr")
NUMBER_ENDINGS = (*NUMBER_WORDS, "id", "uuid", "key", "ident")
CODE_BOOK = MappingProxyType(
    {
        Concept.AGE: "age",
        Concept.SEX: "sex",
        Concept.RACE: "race? ethn",
        Concept.EDUCATION: "educ? edu",
    }
)
"""Short words that code books put letters before and after: `AGEP`, `iage`, `RAC1P`."""
CODE_BOOK_BEGINNINGS = "i x v q hh resp pt"
CODE_BOOK_ENDS = "p x g yrs? cat grp rec cd code"
SENSITIVE = _words(
    """diagnos* icd* disease* *disease *diseases krankheit* *krankheit maladie*
    enfermedad* malattia malattie doenca* ziekte* *ziekte health* gesundheit* sante
    salud salute saude gezondheid* illness ill chronic* injur* *injury verletz*
    transmi* uebertragung* contag* ansteckung* besmetting* tcateg riskgroup
    handicap* discapac* invalidit* invalidez deficien* beperking* incapac*
    dvet drem dphy deye dear dout ddrs suicid* deny denied denial* reject* approv*
    ablehn* abgelehnt* refus* rechaz* denega* rifiut* recusa* afgewezen geweigerd*
    delinquen* arrear* overdue pastdue ausfall zahlungsausfall* defaut* impag*
    moros* inadimpl* insolv* wanbetal* repay* fico ccs mcs pbcr dmi bonitaet*
    schufa krediet* pay payband paygrade payscale payment* affair* *affairs infidel*
    infedel* untreu* ehebruch seitensprung* adulter* ontrouw* overspel
    relig* church* kirche* eglise* iglesia* igreja* kerk* chiesa* godsdienst* geloof*
    denomination* croyance* creencia* voto votos votant* votac* votaz* votou
    waehler* wahlabsicht* wahlentscheid* wahlverhalten* gewaehlt* stemgedrag*
    kiesgedrag* partido partito partij politic* politik* politiq* politiek*
    syndic* sindic* sindac* vakbond* gewerkschaft* unionmember* tradeunion*
    condition* symptom* comorbid* hiv aids cancer tumor* tumour* stroke
    diabet* depress* hypertens* mental psych* disab* behinderung* drug* medic*
    medikament* treatment* behandlung* therap* procedure* prozedur* severity
    outcome* pregnan* schwanger* abort* genet* genotype* blood* bp pressure systolic
    diastolic bmi glucose* hba1c cholest* allerg* symptome* infection* vaccin* salary*
    gehalt* salaire* salario* sueldo stipendio wage* lohn income* *income einkommen*
    revenu* *revenue renta reddito rendimento earning* bonus debt* schulden loan*
    credit* kredit* balance* asset* saving* expend* ausgaben wealth* vermoegen poverty
    armut cost costs kosten charge* amount* betrag capital* gain* loss* dividend* tax*
    *tax steuer profit* *profit sales *sales turnover umsatz money fund* treasury
    confession* konfession* faith glaube party partei vote* voting
    union sexual* orientation crime* criminal* convict* offense* offence*
    arrest* straf* addict* alcohol* alkohol* score* punktzahl satisf* zufrieden*
    rating* result* ergebnis test tests method risk fraud default* benefit* welfare
    sozialhilfe salaryclass incomeclass performance pagella"""
)
WEIGHT = _words(
    """*wgt wgt* pweight weightvar hochrechnungsfaktor instanceweight
    gewichtungsfaktor ponderation"""
)
WEIGHT_PARTS = _words("sampling sample instance survey design final person household")
OTHERS = _words(
    """father mother parent parents spouse partner wife husband sibling brother sister
    vater mutter eltern ehepartner pere mere conjoint padre madre marito moglie
    previous prev former last earlier vorherig* frueher* ancien* anterior*"""
)
"""Words that point to another person than the one the row is about, or to the past."""
SEXES = _words(
    """m f w male female man woman men women mann frau maennlich weiblich mannlich
    homme femme masculin feminin hombre mujer masculino femenino feminino uomo donna
    maschio femmina vrouw mannelijk vrouwelijk boy girl divers diverse other
    unknown x nonbinary"""
)
"""Values of a column that says who is a man or a woman."""
