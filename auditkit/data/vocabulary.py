"""The words that exports use, as data: column names of each role, and values of status, mark and group columns.

Everything here is compared after `plain`: case, accents and punctuation do not count.
"""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache

_CAMEL = re.compile(r"(?<=[a-z])(?=[A-Z])|(?<=[A-Za-z])(?=[0-9])|(?<=[0-9])(?=[A-Za-z])")
_GAPS = re.compile(r"[\W_]+")
_BREAK = re.compile(r"\s[-–—]\s|[:(/,;]")


@lru_cache(maxsize=65_536)
def plain(text: str) -> str:
    """`CandidateID`, `candidate-id` and `Candidate Id` are all `candidate id`; `Résumé` is `resume`."""
    letters = unicodedata.normalize("NFKD", _CAMEL.sub(" ", text))
    return _GAPS.sub(" ", "".join(c for c in letters if not unicodedata.combining(c)).lower()).strip()


def _words(text: str) -> tuple[str, ...]:
    return tuple(text.split(", "))


def _tiers(*texts: str) -> tuple[tuple[str, ...], ...]:
    """A later tier counts only when no column has a name of an earlier one."""
    return tuple(_words(text) for text in texts)


ROLES: dict[str, str] = {
    "candidate": "who applied: one value per application",
    "person": "the person, where one may have several applications",
    "search": "the requisition or job",
    "group": "the protected attributes, each compared by itself",
    "segment": "parts of the firm in which results are compared: department, location, level, source",
    "inspected": "who was inspected (interviewed)",
    "selected": "who was selected (hired)",
    "reason": "why an application ended, where candidates withdrew",
    "score": "what the inspection showed",
    "prior": "what was known before the inspection",
    "cost": "what an inspection costs",
    "capacity": "how many can be selected in the search",
    "unit": "units inside a search with limits of their own, from outer to inner: department, team",
    "unit_capacity": "how many can be selected in the unit (in each of several: one column for each)",
    "outcome": "performance after hiring",
    "expense": "an expense that a budget may limit",
    "date": "when the application was made, or when the event took place",
    "stage": "the stage of each event, in a file with one row per event",
    "stages": "the columns of the stages, in order; or one column with a path or the last stage reached",
    "count": "how many applications a row stands for",
}
"""Every role with what it means, in the order in which a mapping is printed."""

SEVERAL = frozenset({"group", "segment", "prior", "expense", "stages", "unit", "unit_capacity"})
"""Roles that may have more than one column (`cost` too, when there is one for each stage)."""

NAMES: dict[str, tuple[tuple[str, ...], ...]] = {
    "candidate": _tiers(
        "candidate id, applicant id, person id, candidate, applicant, candidate number, applicant number, "
        "candidate no, applicant no, candidate identifier, candidate reference, bewerber nr, bewerbernummer, "
        "bewerber id, bewerber, kandidat, kandidaten id, kandidaten nr, kandidatennummer, candidat, id candidat, "
        "candidat id, numero candidat, numero de candidat, n candidat, n de candidat, n candidato, n de candidato, "
        "candidato, id candidato, id del candidato, "
        "numero de candidato, person number, candidate uuid, candidate key, respondent id",
        "application id, submission id, opportunity id, application number, application, application no, "
        "submittal id, job application id, application key, bewerbungs id, bewerbung id, bewerbungsnummer, "
        "bewerbungs nr, id candidature, numero de candidature, n de candidature, n candidature, n de solicitud, "
        "id solicitud, id de solicitud, numero de solicitud, "
        "application reference, job submission id, response id, profile id, system id",
        "id, uuid, kennung, identifiant",
    ),
    "person": _tiers("person, person key"),
    "search": _tiers(
        "requisition, requisition id, requisition number, req, req id, req number, job req id, job req, "
        "requisition no, job requisition, job requisition id, requisition identifier, req no, job requisition number, "
        "contest number, ausschreibung, ausschreibungs id, stellen id, stellennummer, stellen nr",
        "job id, posting id, job posting id, vacancy, vacancy id, job number, job ad id, position id, job code, "
        "vacancy number, job opening id, stelle, stellen, id poste, id puesto, vacante, offre, offre d emploi, "
        "id de la vacante, reference du poste, job ref, job reference, vacancy reference",
        "position, job, job title, position title, search, search id, posting title, job posting, job name, posting, "
        "requisition title, job opening, role applied for, position applied for, job applied for, stellenbezeichnung, "
        "stellentitel, stellenanzeige, poste, intitule du poste, puesto, cargo, role, position did you apply for, "
        "job did you apply for, which position, which job",
    ),
    "inspected": _tiers(
        "interviewed, was interviewed, inspected, interview taken on, interview attended, attended interview",
        "interview date, date of interview, interviewed on, interview taken, live interview, interview, "
        "vorstellungsgesprach, gesprach, entretien, entrevista, entrevistado, entrevistada, date entretien, "
        "date d entretien, fecha de entrevista, fecha entrevista, interviewtermin, first interview",
        "attended, phone screen, tech screen, technical screen, phone interview, onsite, on site, telefoninterview, "
        "shortlisted, shortlist, invited to interview, eingeladen",
    ),
    "selected": _tiers(
        "hired, selected, appointed, placed, was hired, is hired, hire, admitted, admit, eingestellt, embauche, "
        "recrute, contratado, contratada, hired yn, hire flag, hired flag",
        "final status, final decision, hiring decision, selection decision, hire date, date hired, hired date, "
        "hired on, hired at, hire status, einstellungsdatum, date d embauche, date embauche, fecha de contratacion, "
        "fecha contratacion, einstellung",
        "decision, outcome, result, status, application status, candidate status, disposition, disposition status, "
        "current status, recruiting status, submittal status, ergebnis, entscheidung, bewerbungsstatus, statut, "
        "statut de la candidature, resultat, estado, estado de la candidatura, resultado, decision finale, "
        "decision final, candidature statut, overall status, step status, workflow status, application state, state, "
        "application outcome",
        "offer, offered, offer made, offer extended, offer date, callback, called back, offer status, angebot, oferta, "
        "passed, pass, accepted, hires, offers, selections",
        "current stage, stage, final stage, candidate stage, recruiting stage, application stage, archive reason, "
        "archived reason",
    ),
    "reason": _tiers(
        "archive reason, archived reason, rejection reason, reject reason, disposition reason, withdrawal reason, "
        "reason for rejection, decline reason, reason, disqualification reason, disqualify reason, close reason, "
        "status reason, absagegrund, ablehnungsgrund, grund, motif, motif de refus, motif de rejet, motivo, "
        "motivo de rechazo, motivo de descarte, reason for disposition, outcome reason, exit reason, end reason, "
        "rejection withdrawal reason, candidate withdrawal reason, reason code",
    ),
    "score": _tiers(
        "interview score, interview rating, interview grade, interview marks, interview feedback, overall feedback, "
        "interview note, interviewnote, gesprachsnote, scorecard rating, scorecard score, overall recommendation, "
        "note d entretien, note entretien, puntuacion entrevista, puntuacion de la entrevista, nota entrevista, "
        "interview bewertung, interviewbewertung, panel score, panel rating, average feedback score, feedback score, "
        "interview average",
        "score, match score, total score, overall score, rating, overall rating, final score, punkte, punktzahl, "
        "bewertung, puntuacion, puntaje, calificacion",
        "oral, written, test, test score, assessment, assessment score, grade, mark, marks",
        "interview, int, rank, ranking, rang, rangplatz, classement",
    ),
    "prior": _tiers(
        "resume score, cv score, screening score, screen score, prescreen score, application score, "
        "resume quality, resume rating, cv rating, resume grade, aptitude, apttest, aptitude test, "
        "years of experience, years experience, experience, experience years, yoe, years college, "
        "education, education level, highest education, degree, college degree, gpa, sat, filtering score, "
        "lebenslauf score, lebenslauf bewertung, berufserfahrung, jahre berufserfahrung, berufserfahrung jahre, "
        "ausbildung, bildungsabschluss, abschluss, note cv, score cv, annees d experience, experience annees, "
        "niveau d etudes, formation, diplome, puntuacion cv, anos de experiencia, experiencia, nivel de estudios, "
        "formacion, ai score, ai match score, tool score, fit score, candidate match score, screening assessment, "
        "education niveau, total years of experience, relevant experience, certifications, "
        "cv points, resume points",
    ),
    "cost": _tiers(
        "cost per interview, interview cost, cost, inspection cost, fee, interview fee, kosten, interviewkosten, "
        "kosten pro interview, cout entretien, cout par entretien, coste entrevista, costo entrevista",
        "interview hours",
    ),
    "capacity": _tiers(
        "openings, number of openings, positions, number of positions, headcount, vacancies, capacity, "
        "anzahl stellen, offene stellen, nombre de postes, numero de vacantes, vacantes, positions to fill, "
        "target hires",
        "number of vacancies, seats, slots, num openings, openings count",
    ),
    "outcome": _tiers(
        "performance, performance rating, performance score, review score, first year rating, job performance, "
        "leistungsbeurteilung, evaluation annuelle, evaluacion de desempeno",
        "outcome, review rating",
    ),
    "expense": _tiers("expense, expenses, travel expense, travel cost, relocation cost, relocation"),
    "date": _tiers(
        "applied at, applied on, application date, date applied, submitted date, submitted at, date submitted, "
        "submission date, applied, applied date, date of application, bewerbungsdatum, eingangsdatum, bewerbung vom, "
        "beworben am, eingang am, date de candidature, date candidature, date de depot, fecha de solicitud, "
        "fecha solicitud, fecha de aplicacion, fecha de candidatura, fecha de inscripcion, "
        "date d inscription, date de reception, fecha de recepcion, application submitted, application created, "
        "application submitted date, date received, application received, applied on date, candidate applied date, "
        "submission completed date",
        "created at, created on, created date, event date, event time, timestamp, stage date, creation date, "
        "date created, added at, date added, erstellt am, start date submission, recorded date, event timestamp",
        "date, entered at, entered on, occurred at, occurred on, datum, fecha, entered stage at, stage entered at, "
        "changed at, transition date, moved at, stage entered on",
    ),
    "stage": _tiers(
        "stage, stage name, new stage, to stage, event, event name, event type, step, activity, phase, etape, "
        "etapa, fase, "
        "stufe, workflow step, stage entered, moved to stage",
        "status, new status, to status, milestone, schritt",
        "current step, current phase, last stage, furthest stage, stage reached, last step, last stage reached, "
        "highest stage, current interview stage, interview stage, hiring stage, pipeline stage, recruitment stage, "
        "letzte phase, aktuelle phase, derniere etape, etape actuelle, ultima etapa, etapa actual, csw step, "
        "stage at rejection, process step, workflow stage, hiring step, recruiting step, last recruiting stage",
    ),
    "count": _tiers("n, freq, frequency, count, counts, number, number of applicants, n applicants, anzahl, effectif"),
    "segment": _tiers(
        "job family, department, dept, team, location, office, level, source, company, division, business unit, "
        "job level, job function, function, job location, office location, candidate source, application source, "
        "region, country, site, subsidiary, seniority, job category, category, department name, job department, "
        "posting department, posting team, posting location, primary location, organization, organisation, brand, "
        "origin, abteilung, standort, bereich, quelle, bewerbungsquelle, kanal, unternehmen, gesellschaft, ort, "
        "recruiting channel, channel, recruitment channel, source type, source name, "
        "departement, service, lieu, site de travail, origine, canal, entreprise, departamento, ubicacion, sede, "
        "fuente, empresa, area, nivel, niveau, job city, job industry, employment type, job type, work location, "
        "supervisory organization, job profile, job group, eeo job category, recruiting agency, sourcing channel, "
        "job grade, pay grade, job field, requisition location, requisition department, how did you hear about us",
    ),
}

WIDE_SEARCHES = ("department", "dept", "profession", "job family")
"""Names of what is wider than a requisition; using one as the search is said."""

GROUP_NAMES: dict[str, tuple[tuple[str, ...], ...]] = {
    "sex": _tiers(
        "sex, gender, gender identity, eeo gender, eeo sex, geschlecht, sexe, genre, sexo, genero, gender self id",
    ),
    "race": _tiers(
        "race, ethnicity, ethnic origin, eeo race, race ethnicity, ethnic group, ethnic background, "
        "ethnische herkunft, herkunft, ethnie, origine ethnique, raza, etnia, origen etnico, raza etnia, "
        "racial background, racial identity, race ethnic group, eeo ethnicity",
        "hispanic, hispanic latino, hispanic or latino, latino, hispanic ethnicity",
    ),
    "age": _tiers(
        "age, age group, age band, age range, age bracket, altersgruppe, alter, tranche d age, grupo de edad, edad, "
        "rango de edad, age at application, applicant age, candidate age, age category, over 40",
        "date of birth, birth date, birthdate, birthday, dob, year of birth, birth year, geburtsdatum, geburtsjahr, "
        "date de naissance, annee de naissance, fecha de nacimiento, ano de nacimiento",
    ),
    "veteran": _tiers(
        "veteran, veteran status, protected veteran, veteran self id, protected veteran status, military veteran"
    ),
    "disability": _tiers(
        "disability, disability status, disabled, disability self id, handicap, behinderung, schwerbehinderung, "
        "schwerbehindert, situation de handicap, discapacidad"
    ),
    "nationality": _tiers(
        "nationality, citizenship, national origin, staatsangehorigkeit, nationalitat, nationalite, nacionalidad, "
        "country of birth"
    ),
    "religion": _tiers("religion, religious belief, konfession, religion or belief"),
    "orientation": _tiers("sexual orientation, lgbtq, lgbt, lgbtq status, sexuelle orientierung"),
    "transgender": _tiers("transgender, trans, transgender status"),
    "other": _tiers("group, protected group, demographic, demographic group, marital status, gruppe"),
}
"""Kinds of protected attributes, each an attribute of its own."""

BIRTH = frozenset(GROUP_NAMES["age"][1])
"""Names of what an age is computed from."""

FOREIGN: dict[str, frozenset[str]] = {
    "group": frozenset(_words("manager, recruiter, interviewer, panel, supervisor, hm, comment, comments, date")),
    "candidate": frozenset(_words("name, email, source, status, type, date, count, score, location, stage, url, link")),
    "prior": frozenset(_words("req, required, requirement, min, minimum, job")),
    "search": frozenset(_words("status, date, description, type, location, level, family, category, city, url")),
    "capacity": frozenset(_words("id, title, name")),
    "score": frozenset(_words("max, maximum, min, minimum, weight, date, id, required, by")),
    "segment": frozenset(_words("id, number, code, date, url, email, contact, manager, previous, current")),
    "selected": frozenset(_words("veteran, disability, marital, visa, reason, salary, by, email, comment, process")),
    "inspected": frozenset(_words("score, rating, feedback, cost, notes, grade, comment, interviewer, by, count")),
    "date": frozenset(_words("birth, updated, modified")),
    "reason": frozenset(_words("for applying, applying")),
}
"""A column about somebody else, or about the job, does not have the role although its name holds the word."""

EXACT_ONLY = frozenset(
    _words(
        "n, number, count, counts, job, date, test, stage, event, step, group, hire, req, mark, sat, degree, hours, "
        "experience, fee, application, candidate, applicant, position, search, result, status, number of applicants, "
        "activity, offer, department, profession, performance, id, uuid, role, offre, poste, cargo, person, motivo, "
        "motif, grund, function, level, category, service, area, ort, site, sede, age, alter, edad, trans, latino, "
        "genre, state, estado, statut, datum, fecha, phase, fase, applied, channel, canal, posting, reason, "
        "relocation, "
        "origin, country, company, organization, organisation, region, brand, grade, certifications, formation, "
        "gruppe, "
        "nivel, niveau, resultat, resultado, formacion, experiencia, bewertung, kosten, anzahl, herkunft, "
        "submission date, created date, angebot, oferta, stelle, stellen, gesprach, einstellung, oral, written, "
        "passed, pass, accepted, hires, offers, selections"
    )
)
"""Names too general to count when they are only part of a longer name."""

ROW_NUMBERS = frozenset(
    _words("rownames, row, row number, index, nr, no, unnamed 0, unnamed 1, lfd nr, line, s no, sr no")
)
"""Columns that only number the rows."""

RANK = frozenset({"rank", "ranking", "rang", "rangplatz", "classement"})

SCORE_WORDS = frozenset(
    _words(
        "score, scores, rating, match, points, percentile, assessment, test, grade, marks, punkte, bewertung, "
        "puntuacion, puntaje, note, nota, fit, aptitude, apttest, ranking, rank, oral, written, combine"
    )
)
"""A column that everybody has and whose name has one of these words may be the score of a tool."""

TRUE = frozenset(_words("yes, y, true, t, 1, 1 0, x, ja, j, oui, o, si, s, checked, wahr, vrai, verdadero"))
FALSE = frozenset(_words("no, n, false, f, 0, 0 0, nein, non, unchecked, falsch, faux, falso"))
MISSING = frozenset({"", *_words("na, n a, nan, null, none, nil, missing, blank")})
"""No value at all. Cells of punctuation only (`-`, `*`, `?`, `.`) are plain "" and so belong here."""

UNKNOWN_GROUP = MISSING | frozenset(
    _words(
        "unknown, unk, not known, undisclosed, not disclosed, not stated, not specified, unspecified, "
        "prefer not to say, prefer not to answer, prefer not to disclose, rather not say, not provided, refused, "
        "decline to self identify, declined to self identify, decline to answer, decline to state, choose not to say, "
        "i prefer not to say, i don t wish to answer, i do not wish to answer, do not wish to answer, no answer, "
        "i do not want to answer, choose not to disclose, i choose not to disclose, not answered, no response, "
        "withheld, declined, not available, keine angabe, k a, not declared, unbekannt, ohne angabe, "
        "mochte ich nicht angeben, nicht angegeben, non renseigne, non precise, inconnu, non communique, nsp, "
        "no declarado, no especificado, no contesta, desconocido, sin especificar, sin respuesta, not applicable, "
        "ns nc, left blank, no data, not collected"
    )
)

_DECLINED_ANSWER = re.compile(
    r"(i )?(would )?(prefer|rather|choose|chose|wish|want|do not (wish|want)|don t (wish|want)|decline|declined)"
    r" (not )?(to )?(self identify|say|answer|disclose|identify|state|respond|specify|provide)\b|(i )?decline\b.*"
    r"|je (ne souhaite|prefere) .*|(prefiero|prefiere) no .*|keine angabe.*|ne souhaite pas .*"
)


def is_unknown(word: str) -> bool:
    """Whether a cell of a protected column says nothing: empty, unknown or declined to answer."""
    text = plain(word)
    return text in UNKNOWN_GROUP or _DECLINED_ANSWER.match(text) is not None


STATUS: dict[str, tuple[str, ...]] = {
    "selected": _words(
        "hired, hire, selected, appointed, placed, accepted, offer accepted, accepted offer, onboarded, "
        "offer, offered, offer made, offer extended, offer sent, offer pending, joined, successful, "
        "admitted, admit, callback, called back, started, approved, passed, pass, ready for hire, hired internal, "
        "eingestellt, zusage, angestellt, vertrag unterschrieben, embauche, embauchee, recrute, recrutee, engage, "
        "retenu, retenue, contratado, contratada, seleccionado, seleccionada, onboarding, ready to hire, "
        "offer signed, hire complete, background check complete"
    ),
    "declined": _words(
        "offer declined, declined offer, offer rejected by candidate, rejected offer, offer refused, refused offer, "
        "candidate declined offer, offer turned down, rejected our offer, rejected by candidate, offer rejected, "
        "offer declined by candidate, rejected the offer, turned down offer, reneged, angebot abgelehnt, "
        "offre refusee, oferta rechazada, refused our offer, declined our offer, has declined offer"
    ),
    "rejected": _words(
        "rejected, reject, not hired, not selected, no hire, unsuccessful, failed, fail, denied, not placed, "
        "not appointed, not admitted, disqualified, regret, regretted, no offer, not offered, turned down, "
        "screened out, not qualified, did not pass, dismissed, archived, closed, not passed, no callback, "
        "not called back, offer rescinded, offer withdrawn, declined by company, eliminated, abgelehnt, absage, "
        "abgesagt, nicht eingestellt, refuse, refusee, rejete, rejetee, non retenu, non retenue, rechazado, rechazada, "
        "descartado, descartada, no seleccionado, no seleccionada, no contratado, no contratada, knocked out, "
        "does not meet basic qualifications, rejected by employer, not considered, position closed, position filled, "
        "underqualified, not a fit, declined by recruiter, auto rejected, not moving forward, non embauche, "
        "non embauchee, disposition, not progressed"
    ),
    "withdrawn": _words(
        "withdrawn, withdrew, withdraw, candidate withdrew, candidate withdrawn, self withdrawn, dropped out, "
        "withdrawn by candidate, application withdrawn, hired elsewhere, no longer interested, not interested, "
        "no show, ghosted, unresponsive, no response, drop out, candidate withdrawal, zuruckgezogen, "
        "bewerbung zuruckgezogen, hat zuruckgezogen, vom bewerber zuruckgezogen, desistement, desiste, retire, "
        "candidature retiree, retirado, retirada, desistio, accepted other offer, accepted another offer, "
        "accepted other job, candidate unresponsive, candidate declined, self withdrew, has withdrawn, "
        "has declined, no longer available, renuncio"
    ),
    "pending": _words(
        "in process, in progress, pending, open, active, new, applied, under review, on hold, screening, "
        "interview, interviewing, interview scheduled, phone screen, onsite, shortlisted, waiting, undecided, "
        "application received, received, submitted, scheduled, invited, waitlisted, reserve, in review, "
        "offen, in bearbeitung, laufend, neu, en cours, en attente, nouveau, en proceso, pendiente, abierto, nuevo, "
        "to be reviewed, under consideration, in consideration, lead, prospect, considering, "
        "review, manager review, hiring manager review, phone interview, final interview, assessment"
    ),
}
"""What a final status says. A declined offer is a selection that the candidate undid; withdrawn is not rejected."""

_TOOK_THEMSELVES_OUT = re.compile(
    r"\bwithdr[ae]w\w*|\bwithdrawal|\b(accepted|took|taken|chose) (an ?)?other (offer|job|position|role)"
    r"|\baccepted (another|other)\b|\bother offer\b|\bunresponsive\b|\bno response\b|\bghosted\b|\bno show\b"
    r"|\bno longer (interested|available)|\bnot interested\b|\bcandidate declined\b"
    r"|\bdeclined (by candidate|interview)|\bzuruckgezogen|\bzuruckzieh|\bruckzug|\bbewerber hat abgesagt"
    r"|\babsage (durch|vom|von) (den |dem )?(bewerber|kandidat)"
    r"|\bdesist|\bcandidat (a )?retire|\bretiree? par le candidat|\babandon|\bretirad[oa]\b|\brenunci"
    r"|\banderes angebot angenommen|\bautre offre|\botra oferta|\bhired elsewhere"
)
_BY_THE_FIRM = re.compile(r"\b(offer (withdrawn|rescinded)|withdrawn by (company|employer|recruiter|hiring))")
_OFFER_DECLINED = re.compile(
    r"\b(declined|rejected|refused|turned down) (the |our |an? )?offer|\boffer (was )?(declined|rejected|refused)"
    r"|\bangebot abgelehnt|\boffre refusee|\boferta rechazada"
)


def ended_by_candidate(word: str) -> str | None:
    """`withdrawn` or `declined` (an offer) where a reason says that the candidate ended it, else None."""
    text = plain(word)
    if _BY_THE_FIRM.search(text):
        return None
    if _OFFER_DECLINED.search(text):
        return "declined"
    return "withdrawn" if _TOOK_THEMSELVES_OUT.search(text) else None


_STAGES: tuple[tuple[str, float], ...] = (
    (r"hired?|onboard\w*|ready for hire|eingestellt|embauch\w*|contratad[oa]|placed|appointed|pre boarding", 9),
    (r"offer\w*|angebot|vertragsangebot|offre|oferta|contract\w*|job offer", 8),
    (r"(reference|background|references|referenz\w*|drug|employment) ?(check\w*|screen)?$|reference\w*", 7),
    (
        r"(second|2nd|final|last|exec\w*|zweit\w*|2|deuxieme|dernier|segunda|final\w*) (\w+ )?"
        r"(interview\w*|round|entretien|entrevista|gesprach|stage)|zweitgesprach|final round|bar raiser|super day",
        5,
    ),
    (r"(third|3rd|3) (interview|round)", 5.5),
    (r"(hiring manager|hm|manager|technical|tech) (screen|review|interview|phone screen|call)|fachgesprach", 3),
    (
        r"(phone|telefon|telephone|recruiter|pre|hr|initial|intro|video|telefonica) ?(screen\w*|interview|call"
        r"|gesprach)|screen\w*|telefoninterview|vorauswahl|preselec\w*|entretien telephonique|llamada|phone|"
        r"entrevista telefonica|telephone|prescreen\w*|shortlist\w*|longlist\w*|preselection|intro call|call",
        1.5,
    ),
    (
        r"assessment\w*|tests?|take home|case( study)?|coding( \w+)?|skills? test|homework|exercise"
        r"|eignungstest|prueba\w*"
        r"|hackerrank|work sample|arbeitsprobe|online test|aptitude( test)?|evaluation",
        2,
    ),
    (
        r"on ?site\w*|face to face|panel( interview)?|interview\w*|vorstellungsgesprach|gesprach|entretien\w*"
        r"|entrevista\w*|(first|1st|1) (\w+ )?(interview|round|entretien|entrevista)|premier entretien"
        r"|primera entrevista|meeting|kennenlern\w*|erstgesprach|loop|virtual interview|team interview",
        4,
    ),
    (
        r"appl(ied|ication|ications)( \w+)?|new( \w+)?|(\w+ )?review(ed|ing)?"
        r"|received|inbox|inbound|eingang|bewerbungseingang"
        r"|neu|sourced|lead|prospect|submitted|eingegangen|beworben|recu|candidature|nouveau|nuev[oa]|solicitud|recibid[oa]"
        r"|sichtung|incoming|to contact|contacted|inscrit\w*|registered",
        0,
    ),
)
_STAGE_WORDS = tuple((re.compile(pattern), rank) for pattern, rank in _STAGES)
_ORDINAL = re.compile(r"\b([1-9])\b")


@lru_cache(maxsize=4096)
def stage_rank(word: str) -> float | None:
    """How far along a hiring process a stage of this name usually is (0 applied, 9 hired); None if it is no stage."""
    text = plain(word)
    for whole in (True, False):
        for pattern, rank in _STAGE_WORDS:
            found = pattern.fullmatch(text) if whole else re.search(rf"\b(?:{pattern.pattern})\b", text)
            if found:
                number = _ORDINAL.search(text)
                return float(rank) + (int(number.group(1)) / 100 if number and rank in (1.5, 2, 3, 4) else 0)
    return None


OFFER = frozenset(_words("offer, offered, offer made, offer extended, offer sent, offer pending"))
"""Selected in a final status, but a stage when each event has its row."""

START = frozenset(
    _words(
        "applied, application received, application submitted, application, new, submitted, received, created, "
        "application created, new application"
    )
)
"""Events that only say that somebody applied."""

INSPECTED: dict[str, tuple[str, ...]] = {
    "passed": _words("passed, pass, advanced, advance, proceed, successful, hire, strong hire, accepted, moved on"),
    "failed": _words("failed, fail, rejected, reject, not passed, unsuccessful, no hire, strong no hire"),
    "declined": _words("declined, offer declined, turned down, refused"),
    "yes": _words("interviewed, attended, completed, complete, done, took place, held, present, extended, made"),
    "no": _words(
        "not interviewed, no show, cancelled, canceled, not invited, absent, did not attend, not attended, "
        "skipped, not reached, not started, no interview"
    ),
    "withdrawn": _words("withdrew, withdrawn, candidate withdrew, withdrawn by candidate, dropped out"),
    "pending": _words("scheduled, invited, pending, in process, in progress, planned, to be scheduled"),
}
"""What a cell of an inspection or stage column says: it took place (passed, failed, an offer declined), or not."""


def code_of(word: str, table: dict[str, tuple[str, ...]]) -> str | None:
    """The entry of `table` that a cell means, or None if it is not known.

    `Hired - internal` is `Hired`, `Rejected by manager` is `Rejected`: the text up to a break counts, and a rejection
    or withdrawal may go on in words. Other words may not ("selected for interview" is no selection).
    """
    text = plain(word)
    head = plain(_BREAK.split(word, maxsplit=1)[0])
    for phrase in (text, head):
        for code, phrases in table.items():
            if phrase in phrases:
                return code
    for code in ("rejected", "withdrawn"):
        if any(text.startswith(f"{phrase} ") for phrase in table.get(code, ())):
            return code
    return None
