# ruff: noqa: E501
# fmt: off
"""Thirty-two exports written down, with their truth, before this round's author had opened the reading code.

`BEFORE` were read once before the reading was rebuilt, `AFTER` once after it; neither the files nor the truths change.
`LAST` were written by then, by one who knew the code, and read once when it was finished.
Words and columns follow public documents: Oracle Recruiting's phases and states, PageUp's dispositions as Virginia Tech
explains them, rexx' Metastatus and Bewerbungsstatus, the Newton and Paycor lists of what an applicant-flow log holds
(hire or no hire, highest stage achieved), a survey firm's specification of stages (Applied, Screen, Selection,
Rejected, Offered, Hired, Opted Out), HackerRank's test reports, ServiceNow's states. People are invented.
"""

from __future__ import annotations

import gzip
import json
from collections.abc import Callable, Sequence
from pathlib import Path

from exports.fresh import BLACK, One, _race, _sex, draw, refusal, truth
from exports.unseen import Truth, _csv, _xlsx


def _put(folder: Path, name: str, header: str, rows: Sequence[Sequence[object]], **form: str) -> Path:
    """A CSV file; the header's names are divided by bars."""
    return _csv(folder / name, header.split("|"), rows, **form)  # type: ignore[arg-type]


def _pick(p: One, *words: str) -> str:
    return words[p.number % len(words)]


def _ended(p: One, good: str, withdrew: str, active: str, *out: str) -> str:
    """The word for how it ended; `out`: one for each number of steps passed, the last for all beyond."""
    return {"good": good, "withdrew": withdrew, "active": active}.get(p.end, out[min(p.reached, len(out) - 1)])


def _old(p: One) -> str:
    return "40 and over" if p.age >= 40 else "under 40"


def _hidden(people: list[One]) -> list[One]:
    """Where an open end or a withdrawal hides how far somebody got, they count as applied only."""
    for p in people:
        p.reached = 0 if p.end in ("withdrew", "active") else p.reached
    return people


def _totals(people: Sequence[One], steps: int) -> list[int]:
    return [len(people), *(sum(p.reached > k for p in people) for k in range(steps))]


# Read before the reading was rebuilt ----------------------------------------------------------------------------------


def oracle_phase_state(folder: Path) -> Truth:
    """The phase says where, the state what: a hire is phase HR, state Processed."""
    people = draw(1200, 3001, [0.5, 0.45, 0.5, 0.9], "sex", "Female", 1, 0.55, withdraw=0.06, active=0.04)
    phases = ("New", "Screening", "Interview and Selection", "Offer", "HR")
    rows = [(f"{300000 + p.number}", f"REQ{p.job + 41}", f"{p.applied:%d-%b-%Y}", phases[p.reached],
             _ended(p, "Processed", "Withdrawn by Candidate", "To be Reviewed", "Rejected by Employer"), p.department, p.sex if p.number % 17 else "Prefer not to say")
            for p in people]
    path = _put(folder, "irc_applications.csv", "Job Application ID|Requisition Number|Submission Date|Current Phase|Current State|Organization|Gender", rows)
    return truth(path, people, lambda p: p.sex if p.number % 17 else "?", ("Gender", "Female", "Male"), 1, "Interview and Selection", steps=4)


def pageup_dispositions(folder: Path) -> Truth:
    """One status for each person, the step inside its words."""
    people = draw(1300, 3002, [0.4, 0.5, 0.5], "race", BLACK, 0, 0.55, withdraw=0.05)
    rows = [(p.name, 520000 + p.number, f"{490 + p.job}", f"{p.applied:%b %d, %Y}",
             _ended(p, "Offer accepted", ("Candidate withdrew", "Initial Interview - Event Declined", "In-person Interview - Event Declined")[p.reached] if p.end == "withdrew" else "x", "",
                    "Did not meet minimum qualifications" if p.number % 2 else "Not selected for interview", "Initial Interview unsuccessful", "In-person interview unsuccessful"), p.race, p.sex)
            for p in people]
    path = _put(folder, "pageup_applicants.csv", "Applicant|Applicant no.|Job no.|Submitted|Application status|Ethnicity/Race|Gender", rows)
    return truth(path, people, _race, ("Ethnicity/Race", BLACK, "White"), 0, "Initial Interview", steps=3)


def rexx_metastatus(folder: Path) -> Truth:
    """Metastatus says how it ended, the status how far it went; sex is the form of address."""
    people = draw(1100, 3003, [0.4, 0.35], "sex", "Female", 0, 0.55, withdraw=0.06, active=0.04)
    rows = [(10400 + p.number, f"{p.applied:%d.%m.%Y}", f"Sachbearbeiter {p.department}", _ended(p, "Eingestellt", "Rückzug", "Zustellung", "Absage"),
             _ended(p, "Vertrag unterschrieben", "Bewerber zurückgezogen nach Interview" if p.reached else "Bewerber zurückgezogen", "Interview terminiert" if p.reached else "beim Fachbereich", "Absage ohne Gespräch", "Absage nach Interview"),
             "Frau" if p.sex == "Female" else "Herr")
            for p in people]
    path = _put(folder, "Bewerberliste.csv", "Bewerber-ID|Eingangsdatum|Stelle|Metastatus|Bewerbungsstatus|Anrede", rows, separator=";", encoding="cp1252")
    return truth(path, people, _sex, ("Anrede", "Female", "Male"), 0, "Interview", steps=2).__class__(
        (path,), len(people), sum(p.good for p in people), "Anrede", "Frau|Female|weiblich", "Herr|Male|männlich", "Interview",
        (sum(p.reached > 0 for p in people if p.sex == "Female"), sum(p.reached > 0 for p in people if p.sex == "Male")),
        (sum(p.sex == "Female" for p in people), sum(p.sex == "Male" for p in people)), funnel=tuple(_totals(people, 2)[1:]))


def decisions_per_step(folder: Path) -> Truth:
    """A row for each decision: Advanced means the next step, and only the last row of a few says Hired."""
    people = draw(900, 3004, [0.5, 0.5, 0.6], "sex", "Female", 1, 0.55, withdraw=0.05)
    steps = ("Recruiter review", "Hiring manager interview", "Panel")
    rows = []
    for p in people:
        for k in range(min(p.reached + 1, 3)):
            last = k == p.reached
            result = ("Hired" if k == 2 else "Advanced") if not last else "Candidate withdrew" if p.end == "withdrew" else "Not advanced"
            rows.append((f"APP-{p.number:05}", f"J{p.job}", steps[k], result, f"{p.dates[k]}", p.sex, p.race))
    path = _put(folder, "decision_log.csv", "Application|Job|Step|Decision|Decided on|Gender|Race", rows)
    return truth(path, people, _sex, ("Gender", "Female", "Male"), 1, "Hiring manager interview", steps=3)


def highest_stage(folder: Path) -> Truth:
    """Newton's list: hire or no hire, the highest stage achieved by those passed on, a reason code, two-digit years."""
    people = draw(1250, 3005, [0.45, 0.5, 0.5], "race", BLACK, 0, 0.55, withdraw=0.04)
    stages = ("Application", "Phone Screen", "On-Site Interview", "Offer")
    rows = [(f"{p.applied:%m/%d/%y}", p.name, f"{p.department} Specialist", f"JG{p.job % 6 + 1}", p.sex[0], p.race, "Y" if p.veteran else "N",
             "Hire" if p.good else "Non-Hire", "" if p.good else stages[p.reached], "" if p.good else "D9" if p.end == "withdrew" else f"D{p.number % 5}", f"{p.dates[-1]:%m/%d/%y}")
            for p in people]
    path = _put(folder, "afl_2025.csv", "Date Received|Applicant Name|Position Applied For|Job Group|Sex|Race/Ethnicity|Protected Veteran|Hire/Non-Hire|Highest Stage Achieved|Disposition Code|Date of Hire or Rejection", rows)
    return truth(path, people, _race, ("Race/Ethnicity", BLACK, "White"), 0, "Phone Screen", steps=3)


def coding_test(folder: Path) -> Truth:
    """Invitations to a coding test: attempted or not, a score, and the recruiter's verdict."""
    people = draw(1000, 3006, [0.75, 0.4], "sex", "Female", 1, 0.55)
    rows = [(f"cand{p.number}@example.org", f"Backend test {p.job % 5}", f"{p.applied}T10:00:00+0000", f"{p.dates[0]}T08:11:00+0000" if p.reached else "", round(p.cv + 9 * p.good, 1) if p.reached else "",
             "Qualified" if p.good else "Failed" if p.reached else "Invited", p.sex)
            for p in people]
    path = _put(folder, "test_candidates.csv", "Candidate Email|Test Name|Invited At|Attempt Start Time|Score|Candidate Status|Gender", rows)
    return truth(path, people, _sex, ("Gender", "Female", "Male"), 1, "Qualified", counted=0)


def survey_stages(folder: Path) -> Truth:
    """Only the stage, which for most is how it ended: Rejected and Opted Out hide where."""
    people = draw(1000, 3007, [0.3], "race", BLACK, 0, 0.5, withdraw=0.06, active=0.08)
    rows = [(f"R{p.number:05}", p.name.split()[0], p.name.split()[1], _ended(p, "Hired", "Opted Out", _pick(p, "Applied", "Screen", "Selection", "Offered"), "Rejected"), p.site, p.department, _pick(p, "Job Centre", "Word of Mouth"), f"{p.applied}", p.race)
            for p in people]
    path = _put(folder, "survey_upload.csv", "applicant_reference|first_name|last_name|stage|location|department|source|date_applied|ethnicity", rows)
    return truth(path, people, _race, ("ethnicity", BLACK, "White"), 0, "Hired")


def concours_counts(folder: Path) -> Truth:
    """French competitions by sex: registered, present, eligible, admitted, with a total for each competition."""
    people = draw(2400, 3008, [0.8, 0.3, 0.5], "sex", "Female", 1, 0.6)
    rows: list[Sequence[object]] = []
    for job in range(6):
        mine = [p for p in people if p.job % 6 == job]
        for sex, word in (("Female", "Femmes"), ("Male", "Hommes")):
            rows.append((f"Concours {2025 - job % 2} - spécialité {job + 1}", word, *_totals([p for p in mine if p.sex == sex], 3)))
        rows.append((f"Concours {2025 - job % 2} - spécialité {job + 1}", "Ensemble", *_totals(mine, 3)))
    path = _put(folder, "bilan_concours.csv", "Concours|Sexe|Inscrits|Présents|Admissibles|Admis", rows, separator=";", encoding="cp1252")
    return truth(path, people, lambda p: "Femmes" if p.sex == "Female" else "Hommes", ("Sexe", "Femmes|Femme", "Hommes|Homme"), 1, "Admissibles", steps=3)


def dutch_redundant(folder: Path) -> Truth:
    """A Dutch reorganisation: who was declared redundant, ages on a stated day."""
    people = draw(900, 3009, [0.82], "age", "old", 0, 0.8)
    rows = [(30000 + p.number, p.department, f"schaal {p.job % 8 + 4}", p.age, "nee" if p.good else "ja", _pick(p, "vast", "tijdelijk")) for p in people]
    path = _put(folder, "reorganisatie.csv", "Personeelsnummer|Afdeling|Functieschaal|Leeftijd op 1-1-2025|Boventallig verklaard|Contract", rows, separator=";")
    return truth(path, people, _old, ("Leeftijd", "40 and over", "under 40"), 0, "niet boventallig", steps=1)


def spanish_feminine(folder: Path) -> Truth:
    """Spanish admissions whose words follow the person's sex: Admitida, Denegado, Desistida."""
    people = draw(1100, 3010, [0.5, 0.5], "sex", "Female", 1, 0.6, withdraw=0.05)

    def word(p: One, stem: str) -> str:
        return stem + ("a" if p.sex == "Female" else "o")

    rows = [(f"E-{p.number:05}", f"Máster {p.job % 7 + 1}", str(round(p.cv / 10, 2)).replace(".", ","), "Sí" if p.reached else "No", _ended(p, word(p, "Admitid"), word(p, "Desistid"), "", word(p, "Denegad")), "Mujer" if p.sex == "Female" else "Hombre", _pick(p, "Española", "Española", "Otra"))
            for p in people]
    path = _put(folder, "solicitudes.csv", "Expediente|Titulación|Nota media|Entrevistado|Resolución|Sexo|Nacionalidad", rows, separator=";")
    return truth(path, people, lambda p: "Mujer" if p.sex == "Female" else "Hombre", ("Sexo", "Mujer", "Hombre"), 1, "Resolución", steps=2)


def gupy_api(folder: Path) -> Truth:
    """Portuguese JSON of an interface: nested, English codes for the status, Portuguese names for the steps."""
    people = draw(1000, 3011, [0.5, 0.45, 0.5], "race", BLACK, 0, 0.5, withdraw=0.06)
    steps = ("Cadastro", "Teste online", "Entrevista com gestor", "Contratação")
    races = {"White": "Branca", BLACK: "Preta", "Asian": "Amarela", "Hispanic or Latino": "Parda", "Two or More Races": "Prefiro não informar"}
    items = [{"id": 900 + p.number, "status": _ended(p, "hired", "gave_up", "", "reproved"), "currentStep": {"name": steps[p.reached], "id": p.reached + 11},
              "createdAt": f"{p.applied}T12:00:00.000Z", "job": {"id": p.job, "departmentName": p.department}, "candidate": {"gender": "feminino" if p.sex == "Female" else "masculino", "race": races[p.race]}}
             for p in people]
    path = folder / "applications.json.gz"
    path.write_bytes(gzip.compress(json.dumps({"totalResults": len(items), "results": items}, ensure_ascii=False).encode()))
    return truth(path, people, lambda p: races[p.race], ("candidate.race", "Preta", "Branca"), 0, "Teste online", steps=3)


def italian_stacked(folder: Path) -> Truth:
    """An Italian summary, each characteristic below the other, fewer than five hidden."""
    people = draw(1500, 3012, [0.4, 0.35], "sex", "Female", 0, 0.6)
    rows: list[Sequence[object]] = []
    kinds: list[tuple[str, Callable[[One], str], list[tuple[str, str]]]] = [
        ("Genere", _sex, [("Female", "Donne"), ("Male", "Uomini")]),
        ("Età", _old, [("under 40", "Fino a 39 anni"), ("40 and over", "40 anni e oltre")]),
        ("Sede", lambda p: p.site, [("Leeds", "Leeds"), ("Tulsa", "Tulsa"), ("Porto", "Porto")]),
        ("Disabilità", lambda p: str(p.disabled and p.number % 5 == 0), [("True", "Sì"), ("False", "No")])]
    for title, of, values in kinds:
        for value, word in values:
            counts = _totals([p for p in people if of(p) == value], 2)
            rows.append((title, word, *("<5" if n < 5 else n for n in counts)))
    rows.append(("Totale", "", *_totals(people, 2)))
    path = _put(folder, "riepilogo.csv", "Caratteristica|Valore|Candidature|Colloqui|Assunzioni", rows, separator=";")
    return truth(path, people, lambda p: "Donne" if p.sex == "Female" else "Uomini", ("Genere", "Donne|Donna", "Uomini|Uomo"), 0, "Colloqui", steps=2)


def federal_outcomes(folder: Path) -> Truth:
    """The step inside the outcome; several races in a cell, ethnicity beside."""
    people = _hidden(draw(1400, 3013, [0.6, 0.5, 0.2], "race", BLACK, 1, 0.55, withdraw=0.03))
    rows = [(f"DE-{11800000 + p.job}", f"A{p.number:06}", f"GS-{p.job % 4 * 2 + 5:02}", _ended(p, "Selected", "Withdrew", "", "Not Eligible", "Eligible - Not Referred", "Referred - Not Selected"),
             "White;Asian" if p.race == "Two or More Races" else "Not Provided" if p.race == "Hispanic or Latino" else p.race, "Yes" if p.race == "Hispanic or Latino" else "No", p.sex)
            for p in people]
    path = _put(folder, "afd_extract.csv", "Announcement Number|Application Number|Grade|Applicant Outcome|Race|Hispanic or Latino|Sex", rows)
    return truth(path, people, _race, ("Race", BLACK, "White"), 1, "Referred", steps=3)


def rif_two_files(folder: Path) -> Truth:
    """Decisions in one file, birth dates with two-digit years in another; some left of their own accord."""
    people = draw(950, 3014, [0.8], "age", "old", 0, 0.75)
    left = {p.number for p in people if p.number % 23 == 0}
    one = _put(folder, "decisions.csv", "Associate ID|Decisional Unit|Job Title|Skills Rating|Decision", [
        (60000 + p.number, f"Unit {p.job % 4}", f"{p.department} Analyst", p.rating, "Voluntary Resignation" if p.number in left else "Retain" if p.good else "Separate") for p in people])
    two = _put(folder, "demographics.csv", "Associate|Birth Date|Sex|Hire Date", [
        (60000 + p.number, f"{p.applied.month:02}/{p.applied.day:02}/{(2025 - p.age) % 100:02}", p.sex[0], f"{2000 + p.number % 20}-03-01") for p in people])
    stay = [p for p in people if p.number not in left]
    return truth((one, two), stay, lambda p: "", ("Birth Date", "40 and over", "under 40"), 0, "retained", counted=0)


def promotion_outcomes(folder: Path) -> Truth:
    """Excel's Unicode text; approved, deferred or not approved; everybody was eligible."""
    people = draw(1000, 3015, [0.5, 0.5], "race", "Asian", 1, 0.5)
    rows = [(p.number + 4000, p.department, f"P{p.job % 3 + 2}", "Yes", "Exceeds" if p.rating > 3 else "Meets", "Yes" if p.reached else "No", "Approved" if p.good else ("Deferred to next cycle" if p.number % 3 == 0 else "Not Approved") if p.reached else "", p.race, p.sex) for p in people]
    path = _put(folder, "promo_cycle.txt", "Worker ID|Organization|Current Level|Eligible|Performance Rating|Nominated by Manager|Promotion Outcome|Race|Gender", rows, separator="\t", encoding="utf-16")
    return truth(path, people, _race, ("Race", "Asian", "White"), 1, "Promotion Outcome", steps=2)


def dates_with_start(folder: Path) -> Truth:
    """A date for each step, one for the rejection, a start date for those hired and a last update for everybody."""
    people = draw(1100, 3016, [0.45, 0.55, 0.6], "sex", "Female", 0, 0.6)
    rows = [(p.number + 700, f"{p.department} role {p.job}", p.applied, p.dates[0] if p.reached > 0 else "", p.dates[1] if p.reached > 1 else "", p.dates[2] if p.good else "",
             "" if p.good else p.dates[p.reached], f"{p.dates[2].year}-12-01" if p.good else "", p.dates[-1], p.sex, p.age)
            for p in people]
    path = _put(folder, "personio_dates.csv", "Application ID|Job|Applied on|First interview on|Second interview on|Contract signed on|Rejected on|Start date|Last updated|Gender|Age", rows)
    return truth(path, people, _sex, ("Gender", "Female", "Male"), 0, "First interview on", steps=3)


def grant_two_rows(folder: Path) -> Truth:
    """Two header rows: an outline stage and a panel, each with score and outcome."""
    people = draw(1000, 3017, [0.4, 0.4], "sex", "Female", 0, 0.6)
    rows = [(f"G/{p.number:04}", "F" if p.sex == "Female" else "M", _pick(p, "Early", "Mid", "Senior"), p.rating, "Invited to full" if p.reached else "Not invited", p.rating + 1 if p.reached else None, ("Awarded" if p.good else "Not awarded") if p.reached else None, 90000 + p.number if p.good else None) for p in people]
    path = _xlsx(folder / "grants.xlsx", {"Notes": [("Responsive mode 2025",), ("Extract for EDI monitoring",)],
                 "Data": [("Applicant", None, None, "Outline", None, "Panel", None, None), ("Reference", "Gender", "Career stage", "Score", "Outcome", "Score", "Outcome", "Amount"), *rows]})
    return truth(path, people, lambda p: p.sex[0], ("Gender", "F|Female", "M|Male"), 0, "Outline Outcome", steps=2)


def german_transitions(folder: Path) -> Truth:
    """A status history with the status before and after each change; some go back and forth."""
    people = draw(900, 3018, [0.5, 0.5, 0.6], "sex", "Female", 1, 0.55, withdraw=0.05)
    path_of = ("Eingegangen", "Telefoninterview", "Vorstellungsgespräch", "Eingestellt")
    rows = []
    for p in people:
        seq = list(path_of[: p.reached + 1])
        if p.reached >= 2 and p.number % 11 == 0:
            seq.insert(2, "Eingegangen")
        if not p.good:
            seq.append("Zurückgezogen" if p.end == "withdrew" else "Abgelehnt")
        for k, (before, after) in enumerate(zip(["", *seq[:-1]], seq, strict=True)):
            rows.append((f"BW{p.number:05}", f"S{p.job}", before, after, f"{p.applied.day:02}.{p.applied.month:02}.2025 {8 + k:02}:00", "weiblich" if p.sex == "Female" else "männlich"))
    path = _put(folder, "statushistorie.csv", "Bewerbung|Stelle|Status alt|Status neu|Geändert am|Geschlecht", rows, separator=";", encoding="cp1252")
    return truth(path, people, lambda p: "weiblich" if p.sex == "Female" else "männlich", ("Geschlecht", "weiblich|Female", "männlich|Male"), 1, "Vorstellungsgespräch", steps=3)


def one_sex(folder: Path) -> Truth:
    """Everybody in the file is a woman, and no other group is told."""
    people = draw(400, 3019, [0.3], "sex", "Female", 0, 0.9)
    path = _put(folder, "women_only.csv", "ID|Gender|Department|Status", [(p.number, "Female", p.department, "Hired" if p.good else "Rejected") for p in people])
    return refusal(path)


def dropped_at(folder: Path) -> Truth:
    """Police recruits: where somebody dropped out, blank for those appointed.

    When it was first read, a slip gave those appointed a reason too; the file is as meant since.
    """
    people = _hidden(draw(1100, 3020, [0.6, 0.7, 0.6], "sex", "Female", 1, 0.55, withdraw=0.04))
    rows = [(f"PR{p.number:04}", f"Class {p.job % 5 + 80}", p.race, p.sex, _ended(p, "", "Voluntarily withdrew", "", "Failed Written", "Failed Physical Agility", "Failed Background"), f"{p.dates[-1]:%m/%d/%Y}" if p.good else "") for p in people]
    path = _put(folder, "recruits.csv", "Recruit No|Class|Race|Sex|Reason Eliminated|Appointment Date", rows)
    return truth(path, people, _sex, ("Sex", "Female", "Male"), 1, "Physical Agility", steps=3, may_ask=True)


# Read after the reading was rebuilt -----------------------------------------------------------------------------------


def italian_log(folder: Path) -> Truth:
    """A row for each phase and its outcome; the last phase is the contract."""
    people = draw(900, 3101, [0.5, 0.5, 0.7], "sex", "Female", 0, 0.55, withdraw=0.05)
    phases = ("Screening CV", "Colloquio HR", "Colloquio tecnico")
    rows = [(f"C{p.number:05}", f"POS{p.job}", phases[k], "Superato" if k < p.reached else "Ritirato" if p.end == "withdrew" else "Non superato", f"{p.dates[k]:%d/%m/%Y}", "F" if p.sex == "Female" else "M")
            for p in people for k in range(min(p.reached + 1, 3))]
    rows += [(f"C{p.number:05}", f"POS{p.job}", "Contratto", "Firmato", f"{p.dates[-1]:%d/%m/%Y}", "F" if p.sex == "Female" else "M") for p in people if p.good]
    path = _put(folder, "fasi.csv", "Codice candidato|Posizione|Fase|Esito|Data|Sesso", rows, separator=";")
    return truth(path, people, lambda p: p.sex[0], ("Sesso", "F|Female|Femmina", "M|Male|Maschio"), 0, "Screening CV", steps=3)


def french_substatus(folder: Path) -> Truth:
    """Status, sub-status and reason of refusal in French."""
    people = draw(1200, 3102, [0.45, 0.5, 0.4], "sex", "Female", 1, 0.55, withdraw=0.05, active=0.04)
    stages = ("Candidature reçue", "Préqualification téléphonique", "Entretien manager", "Embauche")
    rows = [(f"CD-{p.number:05}", f"OFF{p.job:03}", f"{p.applied:%d/%m/%Y}", stages[p.reached], _ended(p, "Embauché", "Désistement", "En cours", "Refusé"), "" if p.end != "out" else _pick(p, "Profil non adapté", "Compétences insuffisantes", "Poste pourvu"), "Femme" if p.sex == "Female" else "Homme") for p in people]
    path = _put(folder, "candidatures.csv", "Référence|Offre|Date de candidature|Étape|Statut|Motif de refus|Civilité", rows, separator=";", encoding="utf-8-sig")
    return truth(path, people, lambda p: "Femme" if p.sex == "Female" else "Homme", ("Civilité", "Femme", "Homme"), 1, "Entretien manager", steps=3)


def graduate_scheme(folder: Path) -> Truth:
    """Pass, fail or did not sit for each round; the assessment centre ends in an offer, a reserve place or a no."""
    people = draw(1300, 3103, [0.55, 0.5, 0.4], "race", BLACK, 0, 0.6)
    absent = {p.number for p in people if not p.reached and p.number % 9 == 0}
    rows = [(f"UR{p.number:05}", _pick(p, "Finance", "Policy"), "Did not sit" if p.number in absent else "Pass" if p.reached > 0 else "Fail", ("Pass" if p.reached > 1 else "Fail") if p.reached else "",
             ("Offer" if p.good else "Reserve" if p.number % 6 == 0 else "No offer") if p.reached > 1 else "", p.race, p.sex)
            for p in people]
    path = _put(folder, "graduate_scheme.csv", "Candidate ref|Stream|Online Test|Video Interview|Assessment Centre|Ethnicity|Gender", rows)
    return truth(path, people, _race, ("Ethnicity", BLACK, "White"), 0, "Online Test", steps=3)


def tenure_votes(folder: Path) -> Truth:
    """Votes in numbers, recommendations, and a last decision."""
    people = draw(800, 3104, [0.7, 0.7], "sex", "Female", 1, 0.65)
    rows = [(f"F{p.number:04}", p.department, p.number % 9 + 4, p.number % 5, "Positive" if p.reached else "Negative", ("Tenure granted" if p.good else "Tenure denied"), f"AY{p.job % 5 + 2019}", p.sex, p.race) for p in people]
    path = _put(folder, "tenure_cases.csv", "Case|Department|Votes for|Votes against|Dean recommendation|Provost decision|Year|Gender|Race", rows)
    return truth(path, people, _sex, ("Gender", "Female", "Male"), 1, "Provost decision", steps=2)


def french_layoff(folder: Path) -> Truth:
    """A French redundancy plan: dismissed or not, voluntary departures, birth dates."""
    people = draw(900, 3105, [0.8], "age", "old", 0, 0.78)
    left = {p.number for p in people if p.number % 19 == 0}
    rows = [(p.number + 100, p.site, f"Catégorie {p.job % 5 + 1}", f"{p.applied.day:02}/{p.applied.month:02}/{2025 - p.age - 1}", "Départ volontaire" if p.number in left else "Maintenu dans l'emploi" if p.good else "Licencié pour motif économique") for p in people]
    path = _put(folder, "pse.csv", "Matricule|Établissement|Catégorie professionnelle|Date de naissance|Situation au 31/12/2025", rows, separator=";", encoding="cp1252")
    return truth(path, people, lambda p: "", ("Date de naissance", "40 and over", "under 40"), 0, "Maintenu", counted=0, good=sum(p.good for p in people if p.number not in left))


def nested_stages(folder: Path) -> Truth:
    """JSON Lines with the list of stages inside each application."""
    people = draw(900, 3106, [0.5, 0.5, 0.5], "race", BLACK, 1, 0.5, withdraw=0.05)
    names = ("Inbox", "Screening", "Interview", "Hired")
    lines = [json.dumps({"application_id": p.number, "job_title": f"Job {p.job}", "stages": [{"name": names[k], "entered_at": str(p.applied if k == 0 else p.dates[k - 1])} for k in range(p.reached + 1)],
                         "rejected": p.end == "out", "withdrawn": p.end == "withdrew", "eeo": {"race": p.race, "gender": p.sex}})
             for p in people]
    path = folder / "applications.jsonl"
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return truth(path, people, _race, ("eeo.race", BLACK, "White"), 1, "Interview", steps=3)


def stages_by_race(folder: Path) -> Truth:
    """A row for each posting and stage, a column for each race, totals and the share of minorities."""
    people = draw(2000, 3107, [0.4, 0.3], "race", BLACK, 0, 0.55)
    races = ("White", BLACK, "Asian", "Hispanic or Latino", "Two or More Races")
    rows: list[Sequence[object]] = []
    for job in range(7):
        mine = [p for p in people if p.job % 7 == job]
        for k, stage in enumerate(("Applicants", "Interviewed", "Hired")):
            counts = [sum(p.race == race and p.reached >= k for p in mine) for race in races]
            rows.append((f"Posting {job + 1}", stage, *counts, sum(counts), f"{100 * (1 - counts[0] / max(sum(counts), 1)):.1f}%"))
    path = _put(folder, "stage_by_race.csv", "|".join(("Posting", "Stage", *races, "Total", "% minority")), rows)
    return truth(path, people, _race, ("Race", BLACK, "White"), 0, "Interviewed", steps=2)


def dutch_workbook(folder: Path) -> Truth:
    """A cover, the applications, and the voluntary answers on another sheet."""
    people = draw(1000, 3108, [0.5, 0.45], "sex", "Female", 0, 0.6, withdraw=0.05)
    main = [(f"S{p.number:05}", f"VAC{p.job}", f"{p.applied:%d-%m-%Y}", "ja" if p.reached > 0 else "nee", "ja" if p.good else "nee", "teruggetrokken" if p.end == "withdrew" else "") for p in people]
    answers = [(f"S{p.number:05}", "wil ik niet zeggen" if p.number % 21 == 0 else "vrouw" if p.sex == "Female" else "man") for p in people]
    path = _xlsx(folder / "werving.xlsx", {"Voorblad": [("Werving en selectie 2025",), ("Vertrouwelijk",)], "Sollicitaties": [("Sollicitatienr", "Vacature", "Ontvangen", "Op gesprek geweest", "Aangenomen", "Opmerking"), *main], "Enquête": [("Nummer sollicitatie", "Geslacht"), *answers]})
    return truth(path, people, lambda p: "?" if p.number % 21 == 0 else p.sex, ("Geslacht", "vrouw", "man"), 0, "Op gesprek geweest").__class__(
        (path,), len(people), sum(p.good for p in people), "Geslacht", "vrouw|Female", "man|Male", "Op gesprek geweest",
        (sum(p.reached > 0 for p in people if p.sex == "Female" and p.number % 21), sum(p.reached > 0 for p in people if p.sex == "Male" and p.number % 21)),
        (sum(p.sex == "Female" and p.number % 21 > 0 for p in people), sum(p.sex == "Male" and p.number % 21 > 0 for p in people)), funnel=tuple(_totals(people, 2)[1:]))


def flags_in_disorder(folder: Path) -> Truth:
    """Yes and no for each step, in an order that is not the order of the process."""
    people = draw(1200, 3109, [0.6, 0.5, 0.5, 0.8], "sex", "Female", 2, 0.6)
    yes = [["Y" if p.reached > k else "N" for k in range(4)] for p in people]
    rows = [(p.number, f"R{p.job}", y[3], y[1], y[0], y[2], _pick(p, "Y", "N", "N"), p.sex, p.race) for p, y in zip(people, yes, strict=True)]
    path = _put(folder, "flags.csv", "Applicant ID|Req|Hired|Interviewed|Basic Qualified|Offered|Relocation needed|Gender|Race", rows)
    return truth(path, people, _sex, ("Gender", "Female", "Male"), 2, "Offered", steps=4)


def scholarship_words(folder: Path) -> Truth:
    """Full and partial awards, alternates, and those turned down."""
    people = draw(1000, 3110, [0.35], "race", BLACK, 0, 0.5)
    rows = [(f"SCH{p.number:04}", f"{p.cv / 20:.2f}", _pick(p, "Yes", "No"), _pick(p, "Full award", "Partial award") if p.good else _pick(p, "Alternate", "Declined by committee", "Declined by committee", "Ineligible"), p.race, p.sex) for p in people]
    path = _put(folder, "scholarships.csv", "Application|GPA|First Generation|Committee Decision|Race|Gender", rows)
    return truth(path, people, _race, ("Race", BLACK, "White"), 0, "award", may_ask=True)


def only_rejected(folder: Path) -> Truth:
    """An export of rejected candidates only, with reasons: nothing can be compared."""
    people = draw(500, 3111, [0.5], "sex", "Female", 0, 0.6)
    path = _put(folder, "rejected_candidates.csv", "Candidate|Job|Status|Rejection Reason|Gender", [(f"C{p.number}", f"J{p.job}", "Rejected", _pick(p, "Skills", "Experience", "Location"), p.sex) for p in people])
    return refusal(path)


def interviewed_or_declined(folder: Path) -> Truth:
    """A certificate, an interview that some declined, a selection; age in two groups."""
    people = draw(1200, 3112, [0.5, 0.6, 0.4], "age", "old", 0, 0.6, withdraw=0.05)
    rows = [(f"V{p.job}", f"{p.number:06}", "40+" if p.age >= 40 else "Under 40", p.sex if p.number % 15 else "Omitted", "Y" if p.reached > 0 else "N", ("Y" if p.reached > 1 else "Declined" if p.end == "withdrew" else "N") if p.reached else "", ("Y" if p.good else "N") if p.reached > 1 else "") for p in people]
    path = _put(folder, "certificates.csv", "Vacancy|Applicant|Age Group|Sex|On Certificate|Interviewed|Selection Made", rows)
    return truth(path, people, lambda p: "40+" if p.age >= 40 else "Under 40", ("Age Group", "40+|40 and over", "Under 40"), 0, "On Certificate", steps=3)


# Written when the reading was finished, read once ---------------------------------------------------------------------


def servicenow_states(folder: Path) -> Truth:
    """ServiceNow's states as a code beside its label; one row for each application."""
    people = draw(1000, 3201, [0.5, 0.45, 0.6], "sex", "Female", 0, 0.55, withdraw=0.05, active=0.03)
    far = ("New", "In review", "Interviewing", "Offer sent")
    rows = [(f"APP{p.number:07}", f"JOB{p.job:04}", _ended(p, "Hired", "Withdrawn", far[min(p.reached, 3)], "Rejected"), far[min(p.reached, 3)], f"{p.applied} 10:00:00", p.department, p.sex) for p in people]
    path = _put(folder, "sn_applications.csv", "number|job_requisition|state|furthest_state|sys_created_on|u_department|u_gender", rows)
    return truth(path, people, _sex, ("u_gender", "Female", "Male"), 0, "In review", steps=3)


def probation_reviews(folder: Path) -> Truth:
    """Probation: confirmed, extended or terminated; nobody applied for anything."""
    people = draw(900, 3202, [0.85], "race", BLACK, 0, 0.82)
    rows = [(f"E{p.number:05}", p.department, p.applied, "Confirmed in post" if p.good else _pick(p, "Employment terminated", "Employment terminated", "Dismissed"), p.rating, p.race) for p in people]
    path = _put(folder, "probation.csv", "Staff No|Directorate|Start Date|Probation Outcome|Manager Rating|Ethnic Origin", rows)
    return truth(path, people, _race, ("Ethnic Origin", BLACK, "White"), 0, "Confirmed in post", steps=1, may_ask=True)


def german_counts(folder: Path) -> Truth:
    """Counts by office in German, women and men side by side under two header rows, with a last row of totals."""
    people = draw(2200, 3203, [0.45, 0.3], "sex", "Female", 0, 0.6)
    table: list[Sequence[object]] = []
    for job in range(7):
        cells = [n for k in range(3) for s in ("Female", "Male") for n in [_totals([p for p in people if p.job % 7 == job and p.sex == s], 2)[k]]]
        table.append((f"Amt {job + 1}", *cells))
    table.append(("Insgesamt", *(sum(int(str(row[k])) for row in table) for k in range(1, 7))))
    head = [("Dienststelle", "Bewerbungen", None, "Vorstellungsgespräche", None, "Einstellungen", None), (None, *("Frauen", "Männer") * 3)]
    path = _xlsx(folder / "gleichstellung.xlsx", {"Tabelle1": [*head, *table]})
    return truth(path, people, lambda p: "Frauen" if p.sex == "Female" else "Männer", ("Sex", "Frauen|Frau|Female", "Männer|Mann|Male"), 0, "Vorstellungsgespräche", steps=2)


def casting_call(folder: Path) -> Truth:
    """A trade of its own: self-tape, callback, chemistry read, booked; everybody else is released."""
    people = draw(1000, 3204, [0.35, 0.5, 0.4], "race", BLACK, 0, 0.55)
    yes = [["x" if p.reached > k else "" for k in range(3)] for p in people]
    rows = [(f"T{p.number:05}", f"Role {p.job}", *y, p.race, p.sex) for p, y in zip(people, yes, strict=True)]
    path = _put(folder, "casting.csv", "Talent|Role|Callback|Chemistry read|Booked|Ethnicity|Gender", rows)
    return truth(path, people, _race, ("Ethnicity", BLACK, "White"), 0, "Callback", steps=3, may_ask=True)


def spanish_log(folder: Path) -> Truth:
    """A Spanish log of movements with no column that is named like an id."""
    people = draw(900, 3205, [0.5, 0.5, 0.6], "sex", "Female", 1, 0.55, withdraw=0.04)
    names = ("Inscripción", "Preselección", "Entrevista", "Contratación")
    rows = []
    for p in people:
        steps = [*names[: p.reached + 1], *([] if p.good else ["Baja voluntaria" if p.end == "withdrew" else "Descarte"])]
        rows += [(f"{p.number:05}-{p.job}", s, f"{p.applied.day:02}/{p.applied.month:02}/2025 {9 + k}:00", "Mujer" if p.sex == "Female" else "Hombre") for k, s in enumerate(steps)]
    path = _put(folder, "movimientos.csv", "Clave|Movimiento|Momento|Sexo", rows, separator=";")
    return truth(path, people, lambda p: "Mujer" if p.sex == "Female" else "Hombre", ("Sexo", "Mujer", "Hombre"), 1, "Entrevista", steps=3, may_ask=True)


def loan_like_fellowship(folder: Path) -> Truth:
    """A fellowship: eligible, shortlisted, then Successful, Unsuccessful or Withdrawn."""
    people = draw(1100, 3206, [0.8, 0.4, 0.4], "sex", "Female", 1, 0.6, withdraw=0.03)
    rows = [(f"F-{p.number:04}", _pick(p, "Arts", "Sciences", "Medicine"), "Eligible" if p.reached > 0 else "Ineligible", ("Yes" if p.reached > 1 else "No") if p.reached else "", _ended(p, "Successful", "Withdrawn", "", "Unsuccessful"), "Woman" if p.sex == "Female" else "Man") for p in people]
    path = _put(folder, "fellowships.csv", "Reference|Panel|Eligibility check|Shortlisted|Result|Gender identity", rows)
    return truth(path, people, lambda p: "Woman" if p.sex == "Female" else "Man", ("Gender identity", "Woman", "Man"), 1, "Shortlisted", steps=3)


def french_pipeline_json(folder: Path) -> Truth:
    """A French start-up's JSON: the status is a slug, the groups in French.

    Its first truth counted interviews of people who withdrew, which the file does not tell; it was refused then anyway.
    """
    people = _hidden(draw(900, 3207, [0.45, 0.5], "sex", "Female", 0, 0.55, withdraw=0.05, active=0.04))
    items = [{"uuid": f"{p.number:08x}", "offre": {"id": p.job, "equipe": p.department}, "statut": _ended(p, "embauche", "desistement", "en-cours", "refuse-sur-cv", "refuse-apres-entretien"), "candidat": {"genre": _pick(p, "f") if p.sex == "Female" else "h"}, "cree_le": str(p.applied)} for p in people]
    path = folder / "candidatures.json"
    path.write_text(json.dumps(items), encoding="utf-8")
    return truth(path, people, lambda p: "f" if p.sex == "Female" else "h", ("candidat.genre", "f|Femme|Female", "h|Homme|Male"), 0, "entretien", counted=0)


def shift_bids(folder: Path) -> Truth:
    """A score and a cut, an award by rank: who was awarded is a number above zero."""
    people = draw(1000, 3208, [0.5, 0.4], "race", BLACK, 1, 0.5)
    rows = [(f"{p.number + 5000}", f"Post {p.job}", p.rating, "Qualified" if p.reached else "Not qualified", ("Awarded" if p.good else "Not awarded") if p.reached else "", p.race, p.age) for p in people]
    path = _put(folder, "bids.csv", "Bidder|Post|Seniority points|Qualification review|Bid result|Race|Age", rows)
    return truth(path, people, _race, ("Race", BLACK, "White"), 1, "Bid result", steps=2)


def dutch_status_text(folder: Path) -> Truth:
    """Dutch: the text says where it ended."""
    people = draw(1000, 3209, [0.5, 0.4], "sex", "Female", 0, 0.55, withdraw=0.04)
    rows = [(f"K{p.number:05}", f"V{p.job}", f"{p.applied:%d-%m-%Y}", _ended(p, "Aangenomen", "Kandidaat trok zich terug na gesprek" if p.reached else "Kandidaat trok zich terug", "", "Afgewezen op cv", "Afgewezen na gesprek"), "V" if p.sex == "Female" else "M") for p in people]
    path = _put(folder, "kandidaten.csv", "Kandidaat|Vacature|Datum|Afhandeling|M/V", rows, separator=";")
    return truth(path, people, lambda p: "V" if p.sex == "Female" else "M", ("M/V", "V|Vrouw|Female", "M|Man|Male"), 0, "gesprek", steps=2)


def bar_exam(folder: Path) -> Truth:
    """Passed or not by jurisdiction and attempt, with numbers of those who sat and passed."""
    people = draw(2400, 3210, [0.9, 0.6], "race", BLACK, 1, 0.65)
    rows = []
    for job in range(5):
        for race in sorted({p.race for p in people}):
            rows.append((f"District {job + 1}", "July 2025", race, *_totals([p for p in people if p.job % 5 == job and p.race == race], 2)))
    path = _put(folder, "bar_exam.csv", "Jurisdiction|Administration|Race/Ethnicity|Registered|Sat|Passed", rows)
    return truth(path, people, _race, ("Race/Ethnicity", BLACK, "White"), 1, "Passed", steps=2)


_BEFORE = (
    *(oracle_phase_state, pageup_dispositions, rexx_metastatus, decisions_per_step, highest_stage, coding_test, survey_stages),
    *(concours_counts, dutch_redundant, spanish_feminine, gupy_api, italian_stacked, federal_outcomes, rif_two_files),
    *(promotion_outcomes, dates_with_start, grant_two_rows, german_transitions, one_sex, dropped_at),
)
_AFTER = (
    *(italian_log, french_substatus, graduate_scheme, tenure_votes, french_layoff, nested_stages, stages_by_race),
    *(dutch_workbook, flags_in_disorder, scholarship_words, only_rejected, interviewed_or_declined),
)
_LAST = (
    *(servicenow_states, probation_reviews, german_counts, casting_call, spanish_log, loan_like_fellowship),
    *(french_pipeline_json, shift_bids, dutch_status_text, bar_exam),
)
BEFORE: dict[str, Callable[[Path], Truth]] = {make.__name__: make for make in _BEFORE}
AFTER: dict[str, Callable[[Path], Truth]] = {make.__name__: make for make in _AFTER}
LAST: dict[str, Callable[[Path], Truth]] = {make.__name__: make for make in _LAST}
FIRST_RUN: dict[str, str] = {
    "oracle_phase_state": "misread",
    "pageup_dispositions": "misread",
    "rexx_metastatus": "misread",
    "highest_stage": "refused",
    "coding_test": "refused",
    "concours_counts": "refused",
    "italian_stacked": "misread",
    "rif_two_files": "refused",
    "german_transitions": "refused",
    "dropped_at": "asked, then misread",
    "italian_log": "refused",
    "french_layoff": "refused",
    "nested_stages": "asked, then asked",
    "stages_by_race": "refused",
    "scholarship_words": "asked, then misread",
    "interviewed_or_declined": "asked, then misread",
    "probation_reviews": "asked, then right",
    "casting_call": "asked, then misread",
    "spanish_log": "asked, then misread",
    "french_pipeline_json": "refused",
}
"""What the first run made of those that it did not read right."""
