# ruff: noqa: E501
"""Exports written down before the reading code was looked at, in shapes of recruiting systems, public bodies and HR.

Each function writes one export (one or several files) with a planted difference at a known step and returns its
`Truth`. Column names and words follow what vendors document or what the public knows of their files; the people are
invented. The files here are a yardstick: they do not change when the reading does.
"""

from __future__ import annotations

import csv
import gzip
import io
import json
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from exports.people import Person, Plant, applicants


@dataclass(frozen=True)
class Truth:
    """What a correct reading finds: who is counted, how many had the good outcome, and the step with the difference.

    `reached` and `of` are pairs: of the planted group, and of the group it is compared with. `refuse`: nothing can be
    compared. `may_ask`: the file alone cannot tell, so that a question is as good as an answer.
    """

    files: tuple[Path, ...]
    people: int
    favourable: int
    attribute: str
    group: str
    against: str
    step: str
    reached: tuple[int, int]
    of: tuple[int, int]
    refuse: bool = False
    may_ask: bool = False


Rows = Iterable[Sequence[object]]


def _text(header: Sequence[object], rows: Rows, separator: str = ",", above: Sequence[str] = ()) -> str:
    out = io.StringIO()
    for line in above:
        out.write(line + "\r\n")
    writer = csv.writer(out, delimiter=separator, lineterminator="\r\n")
    writer.writerow(header)
    writer.writerows(rows)
    return out.getvalue()


def _csv(
    path: Path,
    header: Sequence[object],
    rows: Rows,
    *,
    separator: str = ",",
    encoding: str = "utf-8",
    above: Sequence[str] = (),
) -> Path:
    path.write_bytes(_text(header, rows, separator, above).encode(encoding))
    return path


def _xlsx(path: Path, sheets: dict[str, list[Sequence[object]]]) -> Path:
    import openpyxl

    book = openpyxl.Workbook()
    book.remove(book.active)
    for name, rows in sheets.items():
        sheet = book.create_sheet(name)
        for row in rows:
            sheet.append(list(row))
    book.save(path)
    return path


def _groups(people: list[Person], attribute: str) -> list[str]:
    if attribute == "age":
        return ["40 and over" if p.age >= 40 else "under 40" for p in people]
    if attribute == "hispanic":
        return ["yes" if p.race == "Hispanic or Latino" else "no" for p in people]
    return [str(getattr(p, attribute)) for p in people]


def _truth(
    files: Path | Sequence[Path],
    people: list[Person],
    plant: Plant,
    step: str,
    attribute: str,
    group: str,
    against: tuple[str, str],
    *,
    steps: int,
    refuse: bool = False,
    may_ask: bool = False,
    counted: int | None = None,
) -> Truth:
    """`against`: the other group, as drawn and as written."""
    own = _groups(people, plant.attribute)
    passed = [p.hired if plant.step == steps else p.reached > plant.step for p in people]

    def count(value: str) -> tuple[int, int]:
        mine = [ok for ok, name in zip(passed, own, strict=True) if name == value]
        return sum(mine), len(mine)

    mine, other = count(plant.value), count(against[0])
    return Truth(
        (files,) if isinstance(files, Path) else tuple(files),
        len(people) if counted is None else counted,
        sum(p.hired for p in people),
        attribute,
        group,
        against[1],
        step,
        (mine[0], other[0]),
        (mine[1], other[1]),
        refuse,
        may_ask,
    )


WOMEN = Plant("sex", "Female", 1)
MEN = ("Male", "Male")
WHITE = ("White", "White")
BLACK = "Black or African American"


def _women(step: int, factor: float = 0.5) -> Plant:
    return Plant("sex", "Female", step, factor)


def greenhouse_harvest(folder: Path) -> Truth:
    """The fields of the Harvest documentation, flattened; times end in Z."""
    plant = _women(1)
    people = applicants(900, 3, plant, 101)
    stages = ("Application Review", "Preliminary Phone Screen", "Take Home Test", "Face to Face")
    status = {"hired": "hired", "rejected": "rejected", "withdrew": "rejected", "active": "active"}
    reason = {"rejected": "Hired other candidate(s)", "withdrew": "Candidate withdrew", "hired": "", "active": ""}
    kind = {"rejected": "We rejected them", "withdrew": "They rejected us", "hired": "", "active": ""}
    header = (
        "id", "candidate_id", "applied_at", "rejected_at", "last_activity_at", "source.public_name",
        "rejection_reason.name", "rejection_reason.type.name", "jobs.name", "status", "current_stage.name",
        "gender", "race", "veteran_status", "disability_status",
    )  # fmt: skip
    rows = [
        (
            44000 + p.number, 9000 + p.person, f"{p.applied}T14:02:11.000Z",
            f"{p.dates[-1]}T09:00:00.000Z" if p.status in ("rejected", "withdrew") else "",
            f"{p.dates[-1]}T10:00:00.000Z", p.source, reason[p.status], kind[p.status], f"Designer {p.job}",
            status[p.status], stages[p.reached], p.sex if p.number % 17 else "Decline To Self Identify", p.race,
            "I am not a protected veteran", "No, I don't have a disability",
        )
        for p in people
    ]  # fmt: skip
    path = _csv(folder / "greenhouse_harvest.csv", header, rows)
    kept = [p for p in people if p.number % 17]
    truth = _truth(path, kept, plant, "Take Home Test", "gender", "Female", MEN, steps=3, counted=len(people))
    return _with(truth, favourable=sum(p.hired for p in people))


def _with(truth: Truth, **changes: object) -> Truth:
    from dataclasses import replace

    return replace(truth, **changes)  # type: ignore[arg-type]


def greenhouse_history(folder: Path) -> Truth:
    """Stage history and EEOC answers as two files with one id."""
    plant = _women(0)
    people = applicants(700, 3, plant, 102)
    stages = ("Application Review", "Phone Interview", "Onsite", "Offer")
    rows: list[tuple[object, ...]] = []
    for p in people:
        for k in range(p.reached + 1):
            day = p.applied if k == 0 else p.dates[k - 1]
            rows.append((p.number + 500, stages[k], "active", f"{day}T08:00:00Z"))
        if p.status != "active":
            final = "hired" if p.hired else "rejected"
            rows.append((p.number + 500, stages[p.reached], final, f"{p.dates[-1]}T18:00:00Z"))
    header = ("application_id", "new_stage_name", "new_status", "updated_at")
    one = _csv(folder / "application_history.csv", header, rows)
    two = _csv(
        folder / "eeoc.csv",
        ("application_id", "gender", "race"),
        [(p.number + 500, p.sex, p.race) for p in people],
    )
    return _truth((one, two), people, plant, "Phone Interview", "gender", "Female", MEN, steps=3)


def lever_opportunities(folder: Path) -> Truth:
    """Epoch milliseconds; a hire is itself an archive."""
    plant = Plant("race", BLACK, 0)
    people = applicants(900, 3, plant, 103)
    stages = ("New applicant", "Recruiter screen", "Hiring manager interview", "Offer")
    reason = {"hired": "Hired", "rejected": "Underqualified", "withdrew": "Withdrew", "active": ""}
    rows = [
        (
            f"{p.number:08x}-op", 1704067200000 + 86400000 * p.number, stages[p.reached],
            1704067200000 + 86400000 * (p.number + 20) if p.status != "active" else "", reason[p.status],
            ("applied", "referred", "sourced", "agency")[p.number % 4], f"Posting {p.job}", p.race,
        )
        for p in people
    ]  # fmt: skip
    header = (
        "opportunity_id", "created_at", "stage", "archived_at", "archived_reason", "origin", "posting_title",
        "What is your race or ethnicity?",
    )  # fmt: skip
    path = _csv(folder / "lever_opportunities.csv", header, rows)
    return _truth(
        path, people, plant, "Recruiter screen", "What is your race or ethnicity?", BLACK, WHITE, steps=3
    )  # fmt: skip


def stage_path(folder: Path) -> Truth:
    """The stages that somebody went through, in one cell."""
    plant = _women(1)
    people = applicants(800, 3, plant, 104, active=0.0)
    stages = ("Applied", "Screen", "Panel", "Offer")
    end = {"hired": "Hired", "rejected": "Rejected", "withdrew": "Withdrew", "active": ""}
    rows = [
        (1000 + p.number, f"JR{p.job}", " > ".join((*stages[: p.reached + 1], end[p.status])), p.sex, p.department)
        for p in people
    ]
    header = ("Applicant No", "Job Req", "Stage History", "Sex", "Division")
    path = _csv(folder / "stage_path.csv", header, rows)
    return _truth(path, people, plant, "Panel", "Sex", "Female", MEN, steps=3)


def workday_last_stage(folder: Path) -> Truth:
    """Prompt rows above the header; Candidate Stage says the end, Last Recruiting Stage how far."""
    plant = _women(1)
    people = applicants(850, 3, plant, 105)
    stages = ("Review", "Screen", "Interview", "Offer")
    now = {"hired": "Hired", "rejected": "Rejected", "withdrew": "Withdrawn"}
    rows = [
        (
            f"CAND-{p.number:05}", f"JR-{p.job:03}", f"Associate {p.job}", now.get(p.status, stages[p.reached]),
            stages[p.reached], "Moved Forward with Other Candidate" if p.status == "rejected" else "",
            f"{p.applied:%m/%d/%Y}", p.source, p.sex if p.number % 20 else "Not Declared", p.department,
        )
        for p in people
    ]  # fmt: skip
    header = (
        "Candidate_ID", "Job_Req_ID", "Job_Posting_Title", "Candidate_Stage", "Last_Recruiting_Stage",
        "Disposition_Reason", "Application_Date", "Source", "Gender", "Cost_Center",
    )  # fmt: skip
    above = ("Candidate Disposition Report", "Organization,Global", "From,01/01/2024", "")
    path = _csv(folder / "workday_last_stage.csv", header, rows, above=above)
    kept = [p for p in people if p.number % 20]
    truth = _truth(path, kept, plant, "Interview", "Gender", "Female", MEN, steps=3, counted=len(people))
    return _with(truth, favourable=sum(p.hired for p in people))


def workday_moved_forward(folder: Path) -> Truth:
    """One decision a step: "Moved Forward" or "Declined" for those who got there."""
    plant = _women(0)
    people = applicants(900, 2, plant, 106, withdraw=0.0, active=0.0)
    rows = []
    for p in people:
        screen = "Moved Forward" if p.reached > 0 else "Declined by Company"
        panel = "" if p.reached < 1 else "Moved Forward" if p.reached > 1 else "Declined by Company"
        hire = "" if p.reached < 2 else "Hired" if p.hired else "Declined by Company"
        rows.append((p.number + 1, f"R-{p.job}", screen, panel, hire, p.sex, p.race))
    header = (
        "Candidate Number", "Requisition", "Resume Screen Decision", "Interview Decision", "Final Decision", "Gender",
        "Ethnicity",
    )  # fmt: skip
    path = _csv(folder / "workday_moved_forward.csv", header, rows)
    return _truth(path, people, plant, "Resume Screen Decision", "Gender", "Female", MEN, steps=2)


def icims_bins(folder: Path) -> Truth:
    """Bin and status of the recruiting workflow in one text: "Interviews: Not Selected"."""
    plant = _women(1)
    people = applicants(850, 3, plant, 107)
    bins = ("Incomplete/New", "Hiring Manager Review", "Interviews", "Offer")
    end = {"rejected": "Not Selected", "withdrew": "Candidate Withdrew", "active": "In Progress"}
    rows = [
        (
            p.number + 20000, f"2024-{1000 + p.job}", "Hired: Hired" if p.hired else f"{bins[p.reached]}: {end[p.status]}",
            p.source, f"{p.applied:%m/%d/%Y}", p.sex, p.race,
        )
        for p in people
    ]  # fmt: skip
    header = (
        "System ID", "Job ID", "Recruiting Workflow Status", "Source Channel", "Submitted Date", "EEO Gender", "EEO Race",
    )  # fmt: skip
    path = _csv(folder / "icims_bins.csv", header, rows)
    return _truth(path, people, plant, "Interviews", "EEO Gender", "Female", MEN, steps=3)


def taleo_workflow(folder: Path) -> Truth:
    """Step and status of the selection workflow in two columns."""
    plant = Plant("race", BLACK, 2)
    people = applicants(1500, 3, plant, 108)
    steps = ("New", "Prescreen", "1st Interview", "Offer")
    end = {"rejected": "Rejected", "withdrew": "Has Declined", "active": "To Be Reviewed"}
    rows = [
        (
            900000 + p.number, 140000 + p.person, f"{p.job:02}00{p.job}X", "Hire" if p.hired else steps[p.reached],
            "Hired" if p.hired else end[p.status], p.location, p.sex, p.race,
        )
        for p in people
    ]  # fmt: skip
    header = (
        "Submission Identifier", "Candidate Identifier", "Requisition Number", "Current Step", "Current Status",
        "Primary Location", "Gender", "Race",
    )  # fmt: skip
    path = _csv(folder / "taleo_workflow.csv", header, rows)
    return _truth(path, people, plant, "Offer", "Race", BLACK, WHITE, steps=3)


def smartrecruiters_states(folder: Path) -> Truth:
    """Dates of the states; an auto-screening flag that is not a step."""
    plant = _women(1)
    people = applicants(900, 2, plant, 109, active=0.0)
    rng = np.random.default_rng(109)
    rows = [
        (
            f"a{p.number}", f"REF{p.job}", f"{p.applied:%Y-%m-%d}", "TRUE" if rng.random() < 0.4 else "FALSE",
            f"{p.dates[0]:%Y-%m-%d}" if p.reached > 0 else "", f"{p.dates[1]:%Y-%m-%d}" if p.reached > 1 else "",
            f"{p.dates[2]:%Y-%m-%d}" if p.hired else "",
            f"{p.dates[2]:%Y-%m-%d}" if p.status == "rejected" else "",
            f"{p.dates[2]:%Y-%m-%d}" if p.status == "withdrew" else "", p.sex,
        )
        for p in people
    ]  # fmt: skip
    header = (
        "Application ID", "Job Ref", "Applied On", "Was Auto-Screened", "In-Review Date", "Interview Date",
        "Hired Date", "Rejected Date", "Withdrawn Date", "Diversity: Gender identity",
    )  # fmt: skip
    path = _csv(folder / "smartrecruiters_states.csv", header, rows)
    return _truth(path, people, plant, "Interview", "Diversity: Gender identity", "Female", MEN, steps=2)


def bamboohr_statuses(folder: Path) -> Truth:
    """One status column with the default words; nobody's way there is written."""
    plant = _women(0, 0.45)
    people = applicants(1100, 0, plant, 110)
    rng = np.random.default_rng(110)
    no = ("Not Qualified", "Over Qualified", "Not a Fit", "Hired Other Candidate")
    going = ("New", "Reviewed", "Schedule Interview", "On Hold")
    rows = [
        (
            f"Person {p.number}", f"Cook {p.job}",
            "Hired" if p.hired
            else "Withdrew Application" if p.withdrew
            else str(rng.choice(going)) if p.active else str(rng.choice(no)),
            f"{p.applied:%b %d, %Y}", p.sex, p.age,
        )
        for p in people
    ]  # fmt: skip
    header = ("Applicant Name", "Job Opening", "Status", "Date Applied", "Gender", "Age")
    path = _csv(folder / "bamboohr_statuses.csv", header, rows)
    return _truth(path, people, plant, "Hired", "Gender", "Female", MEN, steps=0)


def jobvite_two_sheets(folder: Path) -> Truth:
    """Candidates on one sheet, answers on the EEO form on the next."""
    plant = Plant("race", BLACK, 0)
    people = applicants(800, 2, plant, 111)
    states = ("New", "Phone Screen", "Interview")
    end = {"hired": "Hired", "rejected": "Rejected", "withdrew": "Withdrawn"}
    one = [("Candidate Id", "Requisition Id", "Workflow State", "Furthest State", "Application Date")]
    two = [("Candidate Id", "Gender", "Race/Ethnicity", "Protected Veteran")]
    for p in people:
        one.append(
            (f"p{p.number}", f"R{p.job}", end.get(p.status, states[p.reached]), states[p.reached], p.applied)  # type: ignore[arg-type]
        )
        two.append((f"p{p.number}", p.sex, p.race if p.number % 9 else "I choose not to self-identify", "No"))
    path = _xlsx(folder / "jobvite_two_sheets.xlsx", {"Candidates": list(one), "EEO": list(two)})
    kept = [p for p in people if p.number % 9]
    truth = _truth(path, kept, plant, "Phone Screen", "Race/Ethnicity", BLACK, WHITE, steps=2, counted=len(people))
    return _with(truth, favourable=sum(p.hired for p in people))


def ashby_jsonl(folder: Path) -> Truth:
    """One application a line, nested as the API nests it."""
    plant = _women(1)
    people = applicants(800, 3, plant, 112)
    stages = ("Application Review", "Recruiter Screen", "Technical Interview", "Offer")
    kind = {"rejected": "RejectedByOrg", "withdrew": "RejectedByCandidate"}
    lines = []
    for p in people:
        status = {"hired": "Hired", "active": "Active"}.get(p.status, "Archived")
        record: dict[str, object] = {
            "id": f"app-{p.number}",
            "createdAt": f"{p.applied}T10:00:00.000Z",
            "status": status,
            "candidate": {"id": f"cand-{p.person}"},
            "job": {"id": f"job-{p.job}", "title": f"Engineer {p.job}"},
            "currentInterviewStage": {"title": stages[p.reached], "orderInInterviewPlan": p.reached},
            "archiveReason": {"text": "Experience", "reasonType": kind[p.status]} if status == "Archived" else None,
            "survey": {"gender": p.sex, "race": p.race},
        }
        lines.append(json.dumps(record))
    path = folder / "ashby.jsonl"
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return _truth(path, people, plant, "Technical Interview", "gender", "Female", MEN, steps=3)


def flat_json(folder: Path) -> Truth:
    """A JSON list inside an object, gzipped."""
    plant = _women(0)
    people = applicants(700, 1, plant, 113)
    status = {"hired": "Hired", "rejected": "Rejected", "withdrew": "Withdrawn", "active": "In review"}
    records = [
        {
            "applicationId": p.number,
            "requisition": f"Q{p.job}",
            "interviewed": p.reached > 0,
            "outcome": status[p.status],
            "sex": p.sex[0],
        }
        for p in people
    ]
    path = folder / "applications.json.gz"
    path.write_bytes(gzip.compress(json.dumps({"results": records}).encode()))
    return _truth(path, people, plant, "interviewed", "sex", "F", ("Male", "M"), steps=1)


def personio_german(folder: Path) -> Truth:
    """German, semicolons, Windows code page, day-first dates."""
    plant = _women(1)
    people = applicants(850, 3, plant, 114)
    phases = ("Unqualifiziert", "Telefoninterview", "Vorstellungsgespräch", "Angebot")
    status = {"hired": "Eingestellt", "rejected": "Abgelehnt", "withdrew": "Zurückgezogen", "active": "Aktiv"}
    sex = {"Female": "weiblich", "Male": "männlich"}
    rows = [
        (
            p.number, f"Stelle {p.job}", p.department, f"{p.applied:%d.%m.%Y}", phases[p.reached], status[p.status],
            str(p.cv).replace(".", ","), sex[p.sex] if p.number % 15 else "keine Angabe", f"{p.born:%d.%m.%Y}",
        )
        for p in people
    ]  # fmt: skip
    header = (
        "Bewerbungs-ID", "Stelle", "Abteilung", "Bewerbungsdatum", "Letzte Phase", "Status", "Bewertung", "Geschlecht",
        "Geburtsdatum",
    )  # fmt: skip
    path = _csv(folder / "personio_german.csv", header, rows, separator=";", encoding="cp1252")
    kept = [p for p in people if p.number % 15]
    truth = _truth(
        path, kept, plant, "Vorstellungsgespräch", "Geschlecht", "weiblich", ("Male", "männlich"), steps=3,
        counted=len(people),
    )  # fmt: skip
    return _with(truth, favourable=sum(p.hired for p in people))


def french_log(folder: Path) -> Truth:
    """French words and accents."""
    plant = _women(0)
    people = applicants(800, 2, plant, 115)
    steps = ("Candidature reçue", "Entretien téléphonique", "Entretien")
    status = {"hired": "Embauché", "rejected": "Refusé", "withdrew": "Désistement", "active": "En cours"}
    sex = {"Female": "Femme", "Male": "Homme"}
    rows = [
        (
            f"C-{p.number}", f"Poste {p.job}", f"{p.applied:%d/%m/%Y}", steps[p.reached], status[p.status],
            sex[p.sex] if p.number % 12 else "Ne souhaite pas répondre", p.location,
        )
        for p in people
    ]  # fmt: skip
    header = ("N° candidat", "Poste", "Date de candidature", "Dernière étape", "Statut", "Sexe", "Lieu")
    path = _csv(folder / "candidatures.csv", header, rows, separator=";", encoding="utf-8-sig")
    kept = [p for p in people if p.number % 12]
    truth = _truth(
        path, kept, plant, "Entretien téléphonique", "Sexe", "Femme", ("Male", "Homme"), steps=2, counted=len(people)
    )  # fmt: skip
    return _with(truth, favourable=sum(p.hired for p in people))


def spanish_flags(folder: Path) -> Truth:
    """Spanish yes and no columns."""
    plant = _women(1)
    people = applicants(800, 2, plant, 116, withdraw=0.0, active=0.0)
    sex = {"Female": "Mujer", "Male": "Hombre"}
    yes = ("No", "Sí")
    rows = [
        (
            p.number, f"Vacante {p.job}", sex[p.sex] if p.number % 14 else "Prefiero no decirlo",
            yes[p.reached > 0], yes[p.reached > 1], yes[p.hired],
        )
        for p in people
    ]  # fmt: skip
    header = ("Nº de candidato", "Vacante", "Sexo", "Preseleccionado", "Entrevistado", "Contratado")
    path = _csv(folder / "candidatos.csv", header, rows, separator=";")
    kept = [p for p in people if p.number % 14]
    truth = _truth(path, kept, plant, "Entrevistado", "Sexo", "Mujer", ("Male", "Hombre"), steps=2, counted=len(people))
    return _with(truth, favourable=sum(p.hired for p in people))


def portuguese_gupy(folder: Path) -> Truth:
    """Portuguese: current step and status."""
    plant = Plant("race", BLACK, 1)
    people = applicants(1300, 3, plant, 117)
    steps = ("Cadastro", "Teste de raciocínio", "Entrevista com RH", "Entrevista final")
    status = {"hired": "Contratado", "rejected": "Reprovado", "withdrew": "Desistiu", "active": "Em andamento"}
    race = {"White": "Branca", BLACK: "Preta", "Asian": "Amarela", "Hispanic or Latino": "Parda"}
    rows = [
        (
            p.number, f"Vaga {p.job}", steps[p.reached], status[p.status], f"{p.applied:%d/%m/%Y}",
            "Feminino" if p.sex == "Female" else "Masculino", race[p.race],
        )
        for p in people
    ]  # fmt: skip
    header = ("ID da candidatura", "Vaga", "Etapa atual", "Situação", "Data de inscrição", "Gênero", "Raça/Cor")
    path = _csv(folder / "candidaturas.csv", header, rows)
    return _truth(path, people, plant, "Entrevista com RH", "Raça/Cor", "Preta", ("White", "Branca"), steps=3)


def italian_exam(folder: Path) -> Truth:
    """An Italian public competition: written and oral test, winners."""
    plant = _women(0, 0.6)
    people = applicants(900, 2, plant, 118, withdraw=0.0, active=0.0)
    rows = [
        (
            p.number, p.sex[0], round(10 + 12 * (p.reached > 0) + p.cv / 10, 1),
            "Superata" if p.reached > 0 else "Non superata",
            "" if p.reached < 1 else "Superata" if p.reached > 1 else "Non superata", "Sì" if p.hired else "No",
        )
        for p in people
    ]  # fmt: skip
    header = ("Codice candidato", "Sesso", "Punteggio scritto", "Prova scritta", "Prova orale", "Vincitore")
    path = _csv(folder / "concorso.csv", header, rows, separator=";")
    return _truth(path, people, plant, "Prova scritta", "Sesso", "F", ("Male", "M"), steps=2)


def dutch_flags(folder: Path) -> Truth:
    """Dutch yes and no, with letters for sex."""
    plant = _women(0)
    people = applicants(800, 1, plant, 119, withdraw=0.0, active=0.0)
    rows = [
        (
            p.number, f"Functie {p.job}", "V" if p.sex == "Female" else "M", "Ja" if p.reached else "Nee",
            "Ja" if p.hired else "Nee", p.age,
        )
        for p in people
    ]  # fmt: skip
    header = ("Sollicitatienummer", "Functie", "Geslacht", "Uitgenodigd voor gesprek", "Aangenomen", "Leeftijd")
    path = _csv(folder / "sollicitaties.csv", header, rows, separator=";")
    return _truth(path, people, plant, "Uitgenodigd voor gesprek", "Geslacht", "V", ("Male", "M"), steps=1)


def successfactors_disposition(folder: Path) -> Truth:
    """The step is inside the status: "Not Selected - After Interview"."""
    plant = _women(1)
    people = applicants(950, 2, plant, 120)
    after = ("Not Selected - Resume Review", "Not Selected - After Phone Screen", "Not Selected - After Interview")
    going = ("New Application", "Phone Screen", "Interview")
    rows = [
        (
            70000 + p.number, 10 + p.person, 3300 + p.job,
            "Hired" if p.hired else "Candidate Withdrew" if p.withdrew
            else going[p.reached] if p.active else after[p.reached],
            f"{p.applied:%m/%d/%Y}", p.sex, p.race,
        )
        for p in people
    ]  # fmt: skip
    header = (
        "Application ID", "Candidate ID", "Job Req ID", "Applicant Status", "Application Date", "Gender", "Ethnicity",
    )  # fmt: skip
    path = _csv(folder / "successfactors.csv", header, rows)
    known = [p for p in people if not p.withdrew]
    truth = _truth(path, known, plant, "Interview", "Gender", "Female", MEN, steps=2, counted=len(people))
    return _with(truth, favourable=sum(p.hired for p in people))


def consultant_log(folder: Path) -> Truth:
    """An applicant flow log of a consultant: disposition sentences, a requisition's EEO category that is no group."""
    plant = Plant("race", BLACK, 0)
    people = applicants(900, 2, plant, 121, active=0.0)
    text = (
        "Rejected - not selected for interview",
        "Interviewed, not selected",
        "Second interview - other candidate selected",
    )
    rows = [
        (
            f"Name {p.number}", f"{p.applied:%m/%d/%y}", f"Req {p.job}", "1A", ("Professionals", "Technicians")[p.job % 2],
            p.sex[0], {"White": "W", BLACK: "B", "Asian": "A", "Hispanic or Latino": "H"}[p.race],
            "Hired" if p.hired else "Withdrew" if p.withdrew else text[p.reached],
        )
        for p in people
    ]  # fmt: skip
    header = ("Applicant", "Date", "Req #", "AAP Job Group", "EEO Category", "Sex", "Race", "Disposition")
    path = _csv(folder / "consultant_log.csv", header, rows, above=("XYZ Corp - Applicant Flow Log 2024", ""))
    known = [p for p in people if not p.withdrew]
    truth = _truth(path, known, plant, "Interviewed", "Race", "B", ("White", "W"), steps=2, counted=len(people))
    return _with(truth, favourable=sum(p.hired for p in people))


def usajobs_flow(folder: Path) -> Truth:
    """Federal applicant flow data: race as yes/no columns, omitted sex, Y and N for each step."""
    plant = Plant("race", BLACK, 1)
    people = applicants(1400, 3, plant, 122, withdraw=0.0, active=0.0)
    names = ("Hispanic or Latino", "American Indian or Alaska Native", "Asian", BLACK, "White")
    rows = [
        (
            f"VIN-{p.number}", f"DE-{p.job}", f"GS-{7 + p.job % 5}",
            *("Y" if p.reached > k else "N" for k in range(3)), "Y" if p.hired else "N",
            p.sex if p.number % 11 else "Omitted", *("1" if p.race == name else "0" for name in names),
        )
        for p in people
    ]  # fmt: skip
    header = (
        "Applicant", "Vacancy Announcement", "Grade", "Qualified", "Referred", "Interviewed", "Selected", "Sex", *names,
    )  # fmt: skip
    path = _csv(folder / "usajobs_flow.csv", header, rows)
    return _truth(path, people, plant, "Referred", BLACK, BLACK, WHITE, steps=3)


def promotion_exam(folder: Path) -> Truth:
    """A promotional examination: scores, pass or fail, promoted."""
    plant = Plant("race", BLACK, 0)
    people = applicants(700, 1, plant, 123, withdraw=0.0, active=0.0)
    rows = [
        (
            p.number + 1, {"White": "W", BLACK: "B", "Asian": "A", "Hispanic or Latino": "H"}[p.race], p.sex[0],
            round(55 + 15 * (p.reached > 0) + (p.number * 7 % 140) / 10, 1), "P" if p.reached else "F",
            "Yes" if p.hired else "No",
        )
        for p in people
    ]  # fmt: skip
    header = ("Seq", "Race", "Sex", "Exam Score", "Exam P/F", "Promoted to Sergeant")
    path = _xlsx(folder / "promotion_exam.xlsx", {"List": [header, *rows]})
    return _truth(path, people, plant, "Exam P/F", "Race", "B", ("White", "W"), steps=1)


def layoff(folder: Path) -> Truth:
    """A reduction in force: to be selected is bad."""
    plant = _women(0, 0.75)
    people = applicants(900, 0, plant, 124, withdraw=0.0, active=0.0)
    rows = [
        (
            50000 + p.number, p.department, f"{p.born:%m/%d/%Y}", p.sex, p.race, int(p.rating),
            "N" if p.hired else "Y",
        )
        for p in people
    ]  # fmt: skip
    header = ("Employee ID", "Department", "DOB", "Gender", "Ethnicity", "2023 Performance Rating", "Selected for RIF")
    path = _csv(folder / "reduction_in_force.csv", header, rows)
    return _truth(path, people, plant, "not selected for RIF", "Gender", "Female", MEN, steps=0)


def terminations(folder: Path) -> Truth:
    """A workforce list: active or separated, with the reason in the status."""
    plant = Plant("race", BLACK, 0, 0.8)
    people = applicants(1200, 0, plant, 125, withdraw=0.0, active=0.0)
    rows = [
        (
            f"E{p.number:05}", p.department, p.location, p.sex, p.race,
            "Active" if p.hired else ("Terminated - Performance" if p.number % 3 else "Terminated - Layoff"),
            "" if p.hired else f"{p.dates[0]:%Y-%m-%d}",
        )
        for p in people
    ]  # fmt: skip
    header = ("Worker", "Business Unit", "Location", "Gender", "Race/Ethnicity", "Employment Status", "Separation Date")
    path = _csv(folder / "terminations.csv", header, rows)
    return _truth(path, people, plant, "Active", "Race/Ethnicity", BLACK, WHITE, steps=0)


def admissions(folder: Path) -> Truth:
    """Admissions of a graduate school; first generation is a characteristic, not the decision."""
    plant = _women(0, 0.6)
    people = applicants(1000, 0, plant, 126, active=0.0)
    decision = {"hired": "Admit", "rejected": "Deny", "withdrew": "Withdrawn"}
    rows = [
        (
            f"S{p.number}", ("MS Data", "MS Stat", "PhD")[p.job % 3], p.sex, "Y" if p.veteran else "N",
            round(2.5 + p.cv / 100, 2), int(300 + p.rating * 10), decision[p.status],
        )
        for p in people
    ]  # fmt: skip
    header = ("Application Number", "Program", "Gender", "First Generation", "GPA", "GRE Total", "Decision")
    path = _csv(folder / "admissions.csv", header, rows)
    return _truth(path, people, plant, "Admit", "Gender", "Female", MEN, steps=0)


def grant_awards(folder: Path) -> Truth:
    """Grants: a declined proposal was refused by the funder."""
    plant = _women(0, 0.5)
    people = applicants(800, 0, plant, 127, withdraw=0.0, active=0.0)
    rows = [
        (
            f"24{p.number:05}", f"Program {p.job}", p.sex, round(1 + p.rating / 2 + (p.number % 10) / 20, 2),
            "Awarded" if p.hired else "Declined", 50000 + 1000 * p.job,
        )
        for p in people
    ]  # fmt: skip
    header = (
        "Proposal Number",
        "Funding Opportunity",
        "PI Gender",
        "Average Panel Rating",
        "Award Status",
        "Requested",
    )
    path = _csv(folder / "grant_awards.csv", header, rows)
    return _truth(path, people, plant, "Awarded", "PI Gender", "Female", MEN, steps=0)


def pivot_two_row_header(folder: Path) -> Truth:
    """A pivot with a header of two rows, and a total row and column."""
    plant = _women(1)
    people = applicants(1500, 1, plant, 128, withdraw=0.0, active=0.0)
    rows: list[Sequence[object]] = [
        ("", "Female", "", "", "Male", "", "", "Total", "", ""),
        ("Department", *(["Applied", "Interviewed", "Hired"] * 3)),
    ]

    def counts(chosen: list[Person]) -> list[int]:
        return [len(chosen), sum(p.reached > 0 for p in chosen), sum(p.hired for p in chosen)]

    for name in (*sorted({p.department for p in people}), "Grand Total"):
        own = [p for p in people if name in ("Grand Total", p.department)]
        parts = [counts([p for p in own if p.sex == s]) for s in ("Female", "Male")]
        rows.append((name, *parts[0], *parts[1], *counts(own)))
    path = _xlsx(folder / "pivot_two_row_header.xlsx", {"Pivot": rows})
    return _truth(path, people, plant, "Hired", "", "Female", MEN, steps=1)


def stacked_summary(folder: Path) -> Truth:
    """A British monitoring return: every characteristic below the other, small cells hidden."""
    plant = Plant("race", BLACK, 0)
    people = applicants(3000, 1, plant, 129, withdraw=0.0, active=0.0)
    rows: list[Sequence[object]] = []
    for title, attribute in (("Sex", "sex"), ("Ethnicity", "race"), ("Age", "age")):
        own = _groups(people, attribute)
        for value in sorted(set(own)):
            mine = [p for p, name in zip(people, own, strict=True) if name == value]
            rows.append((title, value, len(mine), sum(p.reached > 0 for p in mine), sum(p.hired for p in mine)))
        rows.append((title, "Prefer not to say", 0, "<5", "<5"))
    header = ("Protected characteristic", "Group", "Applications", "Shortlisted", "Appointed")
    path = _csv(folder / "monitoring_return.csv", header, rows)
    return _truth(path, people, plant, "Shortlisted", "Ethnicity", BLACK, WHITE, steps=1)


def tidy_counts(folder: Path) -> Truth:
    """Long counts: one row for each job group, sex and stage; each stage counts everybody who reached it."""
    plant = _women(0)
    people = applicants(2000, 1, plant, 130, withdraw=0.0, active=0.0)
    rows: list[Sequence[object]] = []
    for department in sorted({p.department for p in people}):
        for sex in ("Female", "Male"):
            own = [p for p in people if p.department == department and p.sex == sex]
            rows.append((2024, department, sex, "Applied", len(own)))
            rows.append((2024, department, sex, "Interviewed", sum(p.reached > 0 for p in own)))
            rows.append((2024, department, sex, "Hired", sum(p.hired for p in own)))
    header = ("Year", "Job Group", "Sex", "Stage", "Headcount")
    path = _csv(folder / "tidy_counts.csv", header, rows)
    return _truth(path, people, plant, "Interviewed", "Sex", "Female", MEN, steps=1)


def wide_counts(folder: Path) -> Truth:
    """One row for each requisition with the counts of both sexes in the column names."""
    plant = _women(0, 0.6)
    people = applicants(2400, 0, plant, 131, withdraw=0.0, active=0.0)
    rows = []
    for job in range(12):
        own = [p for p in people if p.job == job]
        count = [
            (sum(p.sex == s for p in own), sum(p.sex == s and p.hired for p in own)) for s in ("Male", "Female")
        ]  # fmt: skip
        rows.append((f"REQ-{job}", count[0][0], count[1][0], count[0][1], count[1][1]))
    header = ("Requisition", "Male Applicants", "Female Applicants", "Male Hires", "Female Hires")
    path = _csv(folder / "wide_counts.csv", header, rows)
    return _truth(path, people, plant, "Hires", "", "Female", MEN, steps=0)


def transitions(folder: Path) -> Truth:
    """An event log: from stage, to stage, time; groups on each row."""
    plant = _women(1)
    people = applicants(800, 3, plant, 132)
    stages = ("Applied", "Screening", "Assessment", "Final interview")
    end = {"hired": "Hired", "rejected": "Rejected", "withdrew": "Candidate withdrew"}
    rows: list[Sequence[object]] = []
    for p in people:
        path_ = [*stages[: p.reached + 1], *([end[p.status]] if p.status in end else [])]
        days = [p.applied, *p.dates]
        for k, name in enumerate(path_):
            day = days[min(k, len(days) - 1)] if k < len(path_) - 1 or len(path_) <= len(days) else days[-1]
            rows.append((p.number, f"V{p.job}", path_[k - 1] if k else "", name, f"{day} 12:00", p.sex, p.race))
    header = ("application_id", "vacancy", "from_stage", "to_stage", "changed_at", "gender", "ethnicity")
    path = _csv(folder / "transitions.csv", header, rows)
    return _truth(path, people, plant, "Assessment", "gender", "Female", MEN, steps=3)


def step_results(folder: Path) -> Truth:
    """One row for each person and step with the result of that step."""
    plant = Plant("race", BLACK, 1)
    people = applicants(900, 2, plant, 133, withdraw=0.0, active=0.0)
    names = ("Application form", "Numerical test", "Assessment centre")
    rows: list[Sequence[object]] = []
    for p in people:
        passed = [p.reached > 0, p.reached > 1, p.hired]
        for k in range(min(p.reached, 2) + 1):
            day = p.dates[k]
            rows.append(
                (
                    f"AP{p.number}",
                    names[k],
                    f"{day:%d/%m/%Y}",
                    "Progressed" if passed[k] else "Regretted",
                    p.sex,
                    p.race,
                )
            )
    header = ("Applicant Ref", "Selection Step", "Date", "Step Outcome", "Sex", "Ethnic Origin")
    path = _csv(folder / "step_results.csv", header, rows)
    return _truth(path, people, plant, "Numerical test", "Ethnic Origin", BLACK, WHITE, steps=2)


def coded_sex(folder: Path) -> Truth:
    """Sex as 1 and 2 without a legend: asking is right, and so are groups called by their codes."""
    plant = _women(0)
    people = applicants(800, 1, plant, 134, withdraw=0.0, active=0.0)
    rows = [
        (p.number, f"{p.job}", 2 if p.sex == "Female" else 1, "Y" if p.reached else "N", "Y" if p.hired else "N")
        for p in people
    ]
    header = ("Applicant ID", "Requisition", "Sex", "Interviewed", "Hired")
    path = _csv(folder / "coded_sex.csv", header, rows)
    return _truth(path, people, plant, "Interviewed", "Sex", "2", ("Male", "1"), steps=1, may_ask=True)


def two_digit_years(folder: Path) -> Truth:
    """Birth dates with two-digit years, month first."""
    plant = Plant("age", "40 and over", 0)
    people = applicants(900, 1, plant, 135, withdraw=0.0, active=0.0)
    rows = [
        (
            p.number, f"R{p.job}", f"{p.applied:%m/%d/%y}", f"{p.born:%m/%d/%y}", p.sex,
            "Yes" if p.reached else "No", "Yes" if p.hired else "No",
        )
        for p in people
    ]  # fmt: skip
    header = ("ID", "Req", "Applied", "Birth Date", "Gender", "Interview?", "Hire?")
    path = _csv(folder / "two_digit_years.csv", header, rows)
    return _truth(
        path, people, plant, "Interview?", "Birth Date", "40 and over", ("under 40", "under 40"), steps=1
    )  # fmt: skip


def hispanic_apart(folder: Path) -> Truth:
    """Hispanic asked apart from race, as the federal form does."""
    plant = Plant("race", "Hispanic or Latino", 0, 0.4)
    people = applicants(1400, 1, plant, 136)
    status = {"hired": "Offer Accepted", "rejected": "Not Hired", "withdrew": "Withdrew", "active": "Under Review"}
    rows = [
        (
            p.number, f"R{p.job}", "Yes" if p.race == "Hispanic or Latino" else "No",
            "White" if p.race == "Hispanic or Latino" else p.race, p.sex, "Yes" if p.reached else "No", status[p.status],
        )
        for p in people
    ]  # fmt: skip
    header = (
        "Applicant ID", "Requisition", "Are you Hispanic/Latino?", "Race", "Gender", "Interviewed", "Final Status",
    )  # fmt: skip
    path = _csv(folder / "hispanic_apart.csv", header, rows)
    return _truth(path, people, plant, "Interviewed", "Are you Hispanic/Latino?", "Yes", ("White", "White"), steps=1)


def new_hires(folder: Path) -> Truth:
    """Everybody in the list was hired."""
    plant = _women(0)
    people = [p for p in applicants(1500, 0, plant, 137) if p.hired]
    rows = [(p.number, f"R{p.job}", f"{p.dates[0]}", "Hired", p.sex, p.race) for p in people]
    header = ("Employee Number", "Requisition", "Start Date", "Candidate Status", "Gender", "Race")
    path = _csv(folder / "new_hires.csv", header, rows)
    return _truth(path, people, plant, "", "Gender", "Female", MEN, steps=0, refuse=True)


def one_group(folder: Path) -> Truth:
    """Only women applied, and nothing else can be compared."""
    plant = _women(0)
    people = applicants(600, 0, plant, 138)
    status = {"hired": "Hired", "rejected": "Rejected", "withdrew": "Withdrawn", "active": "Open"}
    rows = [(p.number, f"R{p.job}", status[p.status], "Female") for p in people]
    path = _csv(folder / "one_group.csv", ("Application", "Requisition", "Status", "Gender"), rows)
    return _truth(path, people, plant, "", "Gender", "Female", MEN, steps=0, refuse=True)


def blank_is_good(folder: Path) -> Truth:
    """Only a reason for rejection; it is blank for those who got an offer."""
    plant = _women(0, 0.55)
    people = applicants(900, 0, plant, 139, withdraw=0.0, active=0.0)
    reasons = ("Lacks experience", "Failed assessment", "Salary expectations too high")
    rows = [
        (p.number, f"Role {p.job}", "" if p.hired else reasons[p.number % 3], p.sex, p.location) for p in people
    ]  # fmt: skip
    path = _csv(folder / "blank_is_good.csv", ("No.", "Role", "Rejection reason", "Gender", "Site"), rows)
    return _truth(path, people, plant, "not rejected", "Gender", "Female", MEN, steps=0, may_ask=True)


def unicode_text(folder: Path) -> Truth:
    """Excel's "Unicode Text": UTF-16 and tabs."""
    plant = _women(0)
    people = applicants(700, 1, plant, 140)
    end = {"hired": "Hired", "rejected": "Rejected", "withdrew": "Withdrawn", "active": "Active"}
    rows = [
        (f"{p.number:,}", f"Job {p.job}", p.sex, "x" if p.reached else "", end[p.status], p.department) for p in people
    ]
    header = (" Applicant ID", " Job Title", " Sex", " Interviewed", " Result", " Department")
    path = _csv(folder / "unicode_text.txt", header, rows, separator="\t", encoding="utf-16")
    return _truth(path, people, plant, "Interviewed", "Sex", "Female", MEN, steps=1)


def cover_sheet(folder: Path) -> Truth:
    """A workbook with a cover, a legend, and the data on the third sheet below a title."""
    plant = _women(1)
    people = applicants(750, 2, plant, 141)
    end = {"hired": "Hired", "rejected": "Unsuccessful", "withdrew": "Withdrawn", "active": "Ongoing"}
    stage = ("Application", "Longlist", "Panel interview")
    data: list[Sequence[object]] = [("Recruitment monitoring 2024",), ("Confidential",), ()]
    data.append(("Applicant ref", "Vacancy ref", "Stage reached", "Outcome", "Gender", "Age band", "Disabled"))
    for p in people:
        band = f"{p.age // 10 * 10}-{p.age // 10 * 10 + 9}"
        data.append(
            (f"A{p.number}", f"V{p.job}", stage[p.reached], end[p.status], p.sex, band, "Yes" if p.disability else "No")
        )
    sheets: dict[str, list[Sequence[object]]] = {
        "Cover": [("Recruitment monitoring",), ("Prepared by HR",)],
        "Legend": [("Code", "Meaning"), ("PNTS", "Prefer not to say")],
        "Data": data,
    }
    path = _xlsx(folder / "cover_sheet.xlsx", sheets)
    return _truth(path, people, plant, "Panel interview", "Gender", "Female", MEN, steps=2)


def promotions_round(folder: Path) -> Truth:
    """A promotion round: the outcome in words; nominated first."""
    plant = _women(1, 0.55)
    people = applicants(1200, 1, plant, 142, withdraw=0.0, active=0.0)
    rows = [
        (
            p.number + 400, p.department, f"L{3 + p.job % 4}", p.sex, p.race, ("Meets", "Exceeds", "Below")[p.number % 3],
            "Yes" if p.reached else "No",
            "Promoted" if p.hired else "Not promoted" if p.reached else "",
        )
        for p in people
    ]  # fmt: skip
    header = (
        "Employee No", "Function", "Level", "Gender", "Ethnicity", "Year-end rating", "Nominated", "Committee decision",
    )  # fmt: skip
    path = _csv(folder / "promotions_round.csv", header, rows)
    return _truth(path, people, plant, "Promoted", "Gender", "Female", MEN, steps=1)


def monthly_files(folder: Path) -> Truth:
    """Three files of one shape, a month each."""
    plant = _women(0)
    people = applicants(1200, 1, plant, 143)
    status = {"hired": "Hired", "rejected": "Rejected", "withdrew": "Withdrawn", "active": "Active"}
    header = ("Application ID", "Requisition ID", "Interview Date", "Status", "Gender")
    files = []
    for month in range(3):
        rows = [
            (p.number, f"R{p.job}", f"{p.dates[0]}" if p.reached else "", status[p.status], p.sex)
            for p in people
            if p.number % 3 == month
        ]
        files.append(_csv(folder / f"monthly_{month + 1}.csv", header, rows))
    return _truth(files, people, plant, "Interview", "Gender", "Female", MEN, steps=1)


def background_checks(folder: Path) -> Truth:
    """A check after the offer that some of those hired never needed is not the selection."""
    plant = _women(0)
    people = applicants(900, 2, plant, 144, withdraw=0.0, active=0.0)
    rng = np.random.default_rng(144)
    rows = [
        (
            p.number, f"R{p.job}", p.sex, "Yes" if p.reached > 0 else "No", "Yes" if p.reached > 1 else "No",
            "Yes" if p.reached > 1 and rng.random() < 0.4 else "No", "Yes" if p.hired else "No",
            int(rng.integers(1, 40)),
        )
        for p in people
    ]  # fmt: skip
    header = (
        "Applicant ID", "Requisition", "Gender", "Phone Screened", "Interviewed", "Background Checked", "Hired",
        "Days in process",
    )  # fmt: skip
    path = _csv(folder / "background_checks.csv", header, rows)
    return _truth(path, people, plant, "Phone Screened", "Gender", "Female", MEN, steps=2)


UNSEEN: dict[str, Callable[[Path], Truth]] = {
    make.__name__: make
    for make in (
        greenhouse_harvest, greenhouse_history, lever_opportunities, stage_path, workday_last_stage,
        workday_moved_forward, icims_bins, taleo_workflow, smartrecruiters_states, bamboohr_statuses,
        jobvite_two_sheets, ashby_jsonl, flat_json, personio_german, french_log, spanish_flags, portuguese_gupy,
        italian_exam, dutch_flags, successfactors_disposition, consultant_log, usajobs_flow, promotion_exam, layoff,
        terminations, admissions, grant_awards, pivot_two_row_header, stacked_summary, tidy_counts, wide_counts,
        transitions, step_results, coded_sex, two_digit_years, hispanic_apart, new_hires, one_group, blank_is_good,
        unicode_text, cover_sheet, promotions_round, monthly_files, background_checks,
    )
}  # fmt: skip
