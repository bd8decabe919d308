"""Responses to findings and the evidence file of a period."""

from __future__ import annotations

import io
import json
from collections.abc import Callable
from dataclasses import replace
from datetime import date
from pathlib import Path
from typing import Any

import pytest
import sqlalchemy as sa
from pypdf import PdfReader

from auditkit.cli import respond as respond_command
from auditkit.errors import InputError
from auditkit.report import html, pdf
from auditkit.report.figures import figures
from auditkit.report.load_report import load
from auditkit.report.thresholds import evaluate, parse
from auditkit.scheduled import evidence_page, tables
from auditkit.scheduled.evidence import Evidence, evidence
from auditkit.scheduled.job import with_follow_ups
from auditkit.scheduled.past_report import FindingSubject, answerable, asked_about
from auditkit.scheduled.responses import Response, ResponseDecision, respond, responses_of, states
from auditkit.scheduled.run_history import opened
from support.plugin_helpers import Ran
from support.scheduled_example import ATTRIBUTE, BEGIN, HIRED, Scheduled, document, runs

FINDINGS = [
    {
        "kind": "disparity",
        "code": "difference-cumulative",
        "text": "Black applicants were hired less often.",
        "attribute": ATTRIBUTE,
        "group": "Black",
        "step": "Hired",
    },
    {
        "kind": "disparity",
        "code": "where-it-arises",
        "text": "It arises at Hired.",
        "attribute": ATTRIBUTE,
        "group": "Black",
        "step": "Hired",
    },
    {
        "kind": "segment",
        "code": "contributes-most",
        "text": "Most in Sales.",
        "attribute": ATTRIBUTE,
        "group": "Black",
        "step": "Hired",
        "segment": "Department",
        "value": "Sales",
    },
    {"kind": "price", "code": "price-of-fairness", "text": "It costs 1 %."},
    {"kind": "notice", "code": "too-little-evidence", "text": "Too little evidence about Hispanic applicants."},
]
SUBJECT = FindingSubject(ATTRIBUTE, "Black", "Hired")
ANSWER = {"decision": "investigate", "owner": "A. Smith", "due": "2027-01-31", "text": "We look at the interviews."}


@pytest.fixture
def audit(tmp_path: Path) -> Scheduled:
    """An audit whose reports have these findings."""
    made = Scheduled(tmp_path / "firm")
    made.fake.findings = FINDINGS
    return made


def answered(audit: Scheduled, which: str = "1", **changes: str | None) -> Response:
    with opened(audit.settings.database({}), create=False) as history:
        last = history.latest(audit.settings.name)
        assert last is not None
        return respond(history, last, asked_about(last, audit.folder), which, {**ANSWER, **changes}, audit.now)


def shown(audit: Scheduled) -> Any:
    with opened(audit.settings.database({}), create=False) as history:
        last = history.latest(audit.settings.name)
        assert last is not None
        return states(last.figures, asked_about(last, audit.folder), responses_of(history, audit.settings.name))


def test_one_finding_for_each_subject_and_none_for_notices_and_prices() -> None:
    report = load(document(findings=FINDINGS))
    found = answerable(report, figures(report))
    assert [str(one.subject) for one in found] == [
        f"{ATTRIBUTE} · Black · Hired",
        f"{ATTRIBUTE} · Black · Hired · Department · Sales",
    ]
    assert found[0].text == "Black applicants were hired less often."


def test_a_ratio_beyond_a_threshold_asks_for_a_response_once() -> None:
    report = load(document(findings=FINDINGS[3:]))  # no difference is found
    now = figures(report)
    crossings = evaluate(parse({"impact_ratio": {"min": 0.99}, "problems": {"max": -1}}), now).crossings
    found = answerable(report, now, crossings)
    last = [row for row in now.groups if row.step == now.steps[-1] and not row.crossing]
    below = [row for row in last if (row.impact_ratio or 1) < 0.99]
    subjects = [FindingSubject(row.attribute, row.group, row.step) for row in below]
    assert [one.subject for one in found] == subjects != []
    assert all(one.subject.ratio(now) == row.impact_ratio for one, row in zip(found, below, strict=True))
    difference = load(document(findings=FINDINGS))
    both = answerable(difference, figures(difference), crossings)
    assert len({one.subject for one in both}) == len(both) and both[0].text == FINDINGS[0]["text"]


def test_an_unanswered_finding_is_open_on_the_next_report(audit: Scheduled) -> None:
    report = load(document(findings=FINDINGS))
    assert not with_follow_ups(report, audit.settings).follow_ups  # the first run
    audit.run()
    assert {one.status for one in with_follow_ups(report, audit.settings).follow_ups} == {"open"}


def test_the_ratio_of_a_subject_is_that_of_its_counts() -> None:
    found = figures(load(document()))
    rates = {group: selected / applicants for group, (applicants, selected) in HIRED.items()}
    assert SUBJECT.ratio(found) == pytest.approx(rates["Black"] / max(rates.values()))
    assert FindingSubject(ATTRIBUTE, None, "Hired").ratio(found) == pytest.approx(
        min(rates.values()) / max(rates.values())
    )
    assert FindingSubject(ATTRIBUTE, "Nobody", "Hired").ratio(found) is None
    assert replace(SUBJECT, segment="Department").ratio(found) is None


def test_a_response_is_kept_and_the_next_run_shows_what_became_of_the_number(audit: Scheduled) -> None:
    audit.run()
    assert [one.status for one in shown(audit)] == ["open", "open"]
    made = answered(audit)
    assert made.subject == SUBJECT and made.due == "2027-01-31" and made.decision is ResponseDecision.INVESTIGATE
    assert [one.status for one in shown(audit)] == ["under way", "open"] and shown(audit)[0].open
    audit.fake.write({"Black": (305, 25), "White": (704, 64)})
    audit.run()
    first = shown(audit)[0]
    assert first.response.impact_ratio == pytest.approx((9 / 305) / (64 / 704))
    assert first.now == pytest.approx((25 / 305) / (64 / 704))
    answered(audit, decision="close", due=None, text="Interviews are structured now.")
    assert shown(audit)[0].status == "answered" and not shown(audit)[0].open


def test_an_answered_finding_that_is_gone_stays_visible(audit: Scheduled) -> None:
    audit.run()
    answered(audit)
    audit.fake.findings = FINDINGS[2:]
    audit.fake.write({"Black": (305, 27), "White": (704, 64)})
    audit.run()
    by_subject = {one.subject: one for one in shown(audit)}
    assert by_subject[SUBJECT].status == "no longer found" and not by_subject[SUBJECT].open
    assert by_subject[SUBJECT].now == pytest.approx((27 / 305) / (64 / 704))


@pytest.mark.parametrize(
    ("changes", "what"),
    [
        ({"decision": "ignore"}, "'ignore' is not a decision"),
        ({"owner": "  "}, "owner: is missing"),
        ({"text": None}, "text: is missing"),
        ({"text": "x" * 5000}, "longer than 4,000"),
        ({"due": "31.1.2027"}, "'31.1.2027' is not a date"),
    ],
)
def test_a_response_that_says_too_little_is_refused(audit: Scheduled, changes: dict[str, str], what: str) -> None:
    audit.run()
    with pytest.raises(InputError, match=what):
        answered(audit, **changes)
    assert all(one.response is None for one in shown(audit))


@pytest.mark.parametrize(
    ("which", "what"), [("7", "from 1 to 2"), ("Ethnicity · Black", "did you mean"), ("0", "1 to 2")]
)
def test_a_finding_that_is_not_there_is_refused(audit: Scheduled, which: str, what: str) -> None:
    audit.run()
    with pytest.raises(InputError, match=what):
        answered(audit, which)


def test_a_history_from_before_responses_gets_its_table_with_the_first(audit: Scheduled) -> None:
    audit.run()
    with opened(audit.settings.database({})) as history, history.transaction(write=True) as connection:
        tables.responses.drop(connection)
    assert [one.status for one in shown(audit)] == ["open", "open"]
    answered(audit)
    assert shown(audit)[0].status == "under way"


# The evidence file ----------------------------------------------------------------------------------------------------


def recorded(audit: Scheduled, begin: str = "2026-11-01", end: str = "2027-03-31") -> Evidence:
    with opened(audit.settings.database({}), create=False) as history:
        said = responses_of(history, audit.settings.name)
    return evidence(audit.settings, runs(audit), said, date.fromisoformat(begin), date.fromisoformat(end), audit.now)


def test_the_evidence_of_a_period_adds_up(audit: Scheduled) -> None:
    audit.run()
    answered(audit)
    audit.fake.write({"Black": (305, 25), "White": (704, 64)})
    audit.path.write_text("organisation = 'Example Ltd'\n")
    audit.run()
    found = recorded(audit)
    assert [run.run for run in found.runs] == [1, 2] and {run.state for run in found.runs} == {"intact"}
    assert found.recency.first == "2026-11-16T06:00:00Z" and found.recency.longest_gap_days == 15
    first, last = (one for one in (runs(audit)[0], runs(audit)[-1]))
    row = next(one for one in found.results if (one.step, one.group) == ("Hired", "Black"))
    assert (row.first, row.last) == (SUBJECT.ratio(first.figures), SUBJECT.ratio(last.figures))
    assert row.lowest == min(SUBJECT.ratio(one.figures) or 9 for one in (first, last))
    (said,) = found.responses
    assert said.ratio_then == row.first and said.ratio_now == row.last and said.owner == "A. Smith"
    assert len(found.open_findings) == 2  # one is under way, one has no response
    assert found.settings_changes[0].lines and "Example Ltd" in "".join(found.settings_changes[0].lines)
    assert "Too little evidence about Hispanic applicants." in found.not_examined
    assert any("age" in text for text in found.not_examined)
    hashes = {file.sha256 for run in found.runs for file in run.artefacts}
    assert hashes == {file.sha256 for run in runs(audit) for file in run.artefacts}


def test_a_record_repeats_no_unchanged_run_and_says_where_nothing_was_found(audit: Scheduled) -> None:
    nothing = "No difference between groups was found at any step."
    same = "No value differs detectably."
    about = {"attribute": ATTRIBUTE, "group": "Black", "step": "Hired", "segment": "Department"}
    audit.fake.findings = [
        {"kind": "notice", "code": "no-difference-found", "text": nothing},
        {"kind": "segment", "code": "same-everywhere", "text": same, **about},
        {"kind": "model", "code": "no-fit", "text": "No model of the scores."},
    ]
    audit.run()
    audit.run()
    found = recorded(audit)
    assert [run.same_as for run in found.runs] == [None, 1] and found.open_findings == ()
    assert [run.findings for run in found.runs] == [(nothing, same), ()]
    page = evidence_page.html_of(found, audit.settings.config)
    assert page.count(nothing) == 1 and "Data and settings were those of run 1" in page
    assert "Its files are those of run 1" in page


def test_an_altered_report_is_named(audit: Scheduled) -> None:
    done = audit.run()
    (audit.folder / done.run.folder / "report.html").write_text("altered")
    assert recorded(audit).runs[0].state == "altered or missing"


def test_a_period_without_runs_and_a_wrong_one_are_refused(audit: Scheduled) -> None:
    audit.run()
    with pytest.raises(InputError, match="has no run from 2020-01-01 to 2020-02-01"):
        recorded(audit, "2020-01-01", "2020-02-01")
    with pytest.raises(InputError, match="is before"):
        recorded(audit, "2027-01-01", "2026-01-01")


def test_the_commands(audit: Scheduled, auditkit: Callable[..., Ran], tmp_path: Path) -> None:
    audit.run()
    options = ("--config", audit.path)
    listed = auditkit("respond", *options)
    assert listed.code == 0 and "Black" in listed.out and "open" in listed.out
    words = ("--decision", "keep", "--owner", "B. Jones", "--text", "A language test; validated.")
    assert auditkit("respond", "1", *options, *words).code == 0
    states = json.loads(auditkit("respond", *options, "--json").out)
    assert states[0]["status"] == "answered" and states[0]["response"]["owner"] == "B. Jones"
    assert auditkit("respond", *options, *words).code == 2  # which finding?
    span = ("--from", "2026-01-01", "--to", "2099-12-31")
    ran = auditkit("record", *options, *span, "-o", tmp_path / "evidence", "--format", "html,json,pdf")
    assert ran.code == 0, ran.err
    made = json.loads((tmp_path / "evidence.json").read_text(encoding="utf-8"))
    assert made["format"] == "auditkit-record/1" and made["responses"][0]["decision"] == "keep"
    page = (tmp_path / "evidence.html").read_text(encoding="utf-8")
    assert "A language test; validated." in page and "Not examined" in page and "compliant" not in page
    assert (tmp_path / "evidence.pdf").read_bytes().startswith(b"%PDF")
    assert auditkit("record", *options, "--from", "yesterday", "--to", "2099-12-31").code == 2
    assert auditkit("record", *options, *span, "--format", "docx").code == 2


def test_without_findings_the_list_is_a_sentence(capsys: pytest.CaptureFixture[str]) -> None:
    respond_command._print(())
    assert capsys.readouterr().out == "The last report has no finding of a difference to respond to.\n"


def test_no_persons_row_is_stored(audit: Scheduled) -> None:
    columns = {column.name for column in tables.responses.columns}
    assert not columns & {"candidate", "person", "row"}
    audit.run()
    answered(audit)
    with opened(audit.settings.database({})) as history, history.transaction() as connection:
        (row,) = connection.execute(sa.select(tables.responses)).mappings()
    assert row["name"] == "Black" and row["created"] > BEGIN.isoformat()[:10]


# The next report ------------------------------------------------------------------------------------------------------


def test_the_next_report_shows_what_became_of_findings_on_its_first_page(audit: Scheduled) -> None:
    audit.run()
    report = load(document(findings=FINDINGS))
    assert all(one.response is None for one in with_follow_ups(report, audit.settings).follow_ups)
    assert "Earlier findings" not in html.render(report)
    answered(audit)
    followed = with_follow_ups(report, audit.settings)
    first, second = followed.follow_ups
    assert (first.status, first.owner, first.due) == ("under way", "A. Smith", "2027-01-31")
    assert second.status == "open" and second.response is None
    assert first.ratio_then == pytest.approx((9 / 305) / (64 / 704)) and first.ratio_now == SUBJECT.ratio(
        figures(report)
    )
    page = html.render(followed, parts="summary")
    assert "Earlier findings" in page and "2 findings open or under way, 0 answered" in page and "A. Smith" in page
    assert load(followed.to_json()).follow_ups == followed.follow_ups
    assert "follow_ups" not in report.to_json()


def test_a_marking_is_on_every_page_and_nowhere_without_one() -> None:
    marking = "Confidential <draft>. Prepared at the direction of counsel."
    report = load(document())
    assert 'class="marking"' not in html.render(report)
    marked = report.model_copy(update={"config": report.config.over(statement__marking=marking)})
    page = html.render(marked)
    assert "Confidential &lt;draft&gt;. Prepared" in page
    body = html.render(marked, parts="body")
    texts = [page.extract_text() for page in PdfReader(io.BytesIO(pdf.render(body, b"{}", report.created))).pages]
    assert len(texts) > 3 and all("direction of counsel" in text for text in texts)
