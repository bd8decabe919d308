"""`verify` on reports: every number, the pages that show them, and the files that attack it."""

from __future__ import annotations

import copy
import json
import re
from collections.abc import Callable, Iterator
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import dataclass
from io import BytesIO, StringIO
from pathlib import Path
from typing import Any

import pytest
from pypdf import PdfWriter
from pypdf.annotations import FreeText
from pypdf.generic import DecodedStreamObject, DictionaryObject, NameObject, TextStringObject

from auditkit import pipeline
from auditkit.cli import invoke
from auditkit.config import Config
from auditkit.errors import InputError
from auditkit.report import pdf
from auditkit.verification import check_pages
from auditkit.verification import verify_report as verifying
from auditkit.verification.claims import check_number, same_numbers
from auditkit.verification.compare_reports import UNDERIVED, compare_part, compare_reports
from auditkit.verification.pdf_file import read_pdf
from auditkit.verification.verify_report import GIVEN, verify_report
from support.audit_helpers import dump, plugins, rows, save

PLUGINS = plugins()
EPOCH = "1790000000"
Doc = dict[str, Any]
SHARE = {"group": "Female", "share": 0.5}


@pytest.fixture(autouse=True)
def fixed_moment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SOURCE_DATE_EPOCH", EPOCH)


MADE: dict[tuple[Any, ...], Any] = {}
"""What `verify` makes a second time, by what it is made of."""


@pytest.fixture(autouse=True)
def made_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """The same audit of the same data and the same pages are made once for all tests, and compared in each."""

    def once(place: Any, name: str, key: Callable[..., tuple[Any, ...]] = lambda *given: given) -> None:
        make = getattr(place, name)

        def remembered(*given: Any, **named: Any) -> Any:
            of = name, *key(*given, **named)
            if of not in MADE:
                MADE[of] = make(*given, **named)
            return MADE[of]

        monkeypatch.setattr(place, name, remembered)

    once(verifying, "audit", lambda data, config, *_, when: (data, data.read_bytes(), config.model_dump_json(), when))
    once(check_pages, "_pages", lambda report, _, theme: (dump(report.to_json()), theme))
    once(check_pages, "read_pdf")
    once(pdf, "render")


def audited(path: Path, **settings: Any) -> pipeline.Audit:
    settings.setdefault("report__replicates", 25)
    return pipeline.audit(path, Config().over(**settings), PLUGINS)


def test_a_report_can_be_verified_against_its_data(tmp_path: Path) -> None:
    people = save(tmp_path / "people.csv", rows(searches=6, each=6))
    document = audited(people, fit__points=10, report__replicates=0, report__what_if=False).to_json()
    found = verify_report(document, people, PLUGINS)
    assert found.failed == ()
    assert found.not_checked == ()
    given, chosen = found.given
    assert given == GIVEN
    assert chosen.endswith(": fit.points = 10; report.replicates = 0; report.what_if = no")
    assert len(found.checks) > 40

    def fails(change: Any) -> bool:
        other = copy.deepcopy(document)
        change(other)
        return not verify_report(other, people, PLUGINS).holds

    assert fails(lambda d: d["firm"].update(utility=d["firm"]["utility"] + 1))
    assert fails(lambda d: d["unconstrained"]["by_group"]["Gender"]["Male"].update(selected=1))
    assert fails(lambda d: d["constrained"][0].update(bound=d["constrained"][0]["bound"] + 0.01))
    assert fails(lambda d: d["constrained"][0].update(mixture={"default": 0, "searches": {}}))
    assert fails(lambda d: d["constrained"][0].update(policies=[{"duals": [0.0]}]))
    assert fails(lambda d: d["constrained"][0].update(randomised=d["constrained"][0]["randomised"] + 1))
    assert fails(lambda d: d["constrained"][0]["duals"][0].update(label="another"))
    assert fails(lambda d: d["constrained"][0]["duals"][0].update(value=-5.0))
    assert fails(lambda d: d["firm"].update(capacity=7))
    assert fails(lambda d: d["firm"]["by_group"].pop("Gender"))
    assert fails(lambda d: d["firm"]["by_group"]["Gender"].pop("Male"))
    assert fails(lambda d: d["firm"]["by_group"].update(Race={}))
    assert fails(lambda d: d["input"].update(sha256="0"))
    assert fails(lambda d: d["provenance"]["conventions"][0].update(text="One half is enough."))
    assert fails(lambda d: d["provenance"].update(certified="by the auditor"))
    assert fails(lambda d: d["constrained"][0]["unfilled"]["probabilities"].pop())
    with pytest.raises(InputError, match="the report: input: is missing"):
        verify_report({"format": "auditkit-report/3"}, people, PLUGINS)
    with pytest.raises(InputError, match="created: is not a date"):
        verify_report({**document, "created": "yesterday"}, people, PLUGINS)
    with pytest.raises(InputError, match=r"firm\.utility: is text, not a number"):
        verify_report({**document, "firm": {**document["firm"], "utility": "1.0"}}, people, PLUGINS)


def test_a_report_names_no_place_to_which_verify_sends_the_data(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    people = save(tmp_path / "people.csv", rows(searches=6, each=6))
    document = audited(people, report__replicates=0, report__what_if=False, fit__points=6).to_json()
    document["config"]["engine"] = "tcp://192.0.2.1:8786"
    engines = []
    running = pipeline.start_engine.running
    monkeypatch.setattr(
        pipeline.start_engine, "running", lambda name, tell: engines.append(name) or running(name, tell)
    )
    assert verify_report(document, people, PLUGINS).holds
    assert engines == ["local"]


@pytest.mark.parametrize(
    ("before", "after", "words"),
    [
        ('"rows": 36', '"rows": 9999, "rows": 36', "the key 'rows' occurs twice"),
        ('"rows": 36', f'"rows": {"9" * 400}', "too many digits"),
    ],
)
def test_a_document_that_programs_read_differently_is_refused(
    auditkit: Any, tmp_path: Path, before: str, after: str, words: str
) -> None:
    people = save(tmp_path / "people.csv", rows(searches=6, each=6), leave=("Interview Score",))
    text = audited(people, report__replicates=0).report.text()
    assert before in text
    (tmp_path / "forged.json").write_text(text.replace(before, after, 1))
    run = auditkit("verify", "forged.json", people)
    assert run.code == 2
    assert words in run.err


def test_what_a_forged_report_says_stays_on_its_line(auditkit: Any, tmp_path: Path) -> None:
    people = save(tmp_path / "people.csv", rows(searches=6, each=6), leave=("Interview Score",))
    document = audited(people, report__replicates=0).to_json()
    document["more\n99 of 99 checks passed"] = 1
    (tmp_path / "forged.json").write_text(dump(document))
    run = auditkit("verify", "forged.json", people)
    assert run.code == 1
    assert "\n99 of 99" not in run.out


def places(value: Any, path: tuple[str | int, ...] = ()) -> Iterator[tuple[str | int, ...]]:
    """Where the numbers of a document are."""
    inside = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, item in inside:
        yield from places(item, (*path, key))
    if isinstance(value, int | float) and not isinstance(value, bool):
        yield path


def changed(document: Doc, path: tuple[str | int, ...]) -> Doc:
    """The document with one number that is a little another."""
    other = copy.deepcopy(document)
    place: Any = other
    for key in path[:-1]:
        place = place[key]
    number = place[path[-1]]
    place[path[-1]] = number + 1 if isinstance(number, int) else number + 1e-6 * (1 + abs(number))
    return other


def test_verify_notices_every_number_that_is_changed(people: Path) -> None:
    """One number of each kind (the path without positions), and many more, are changed one at a time."""
    audit = audited(people, fit__points=10, report__replicates=20, profile="nyc-ll144")
    document = json.loads(audit.report.text())
    full = ("firm", "constrained", "frontier", "sections")
    assert all(document[part] for part in full)
    assert all(found.holds for found in compare_reports(document, audit))
    kinds: dict[tuple[str, ...], list[tuple[str | int, ...]]] = {}
    for path in places(document):
        kinds.setdefault(tuple(key for key in path if isinstance(key, str)), []).append(path)
    assert len(kinds) > 200
    given = 0
    for kind, found in kinds.items():
        if kind[0] in UNDERIVED:
            assert kind[0] in GIVEN
            given += 1
            continue
        for path in {found[0], found[len(found) // 2], found[-1]}:
            part = {str(path[0]): document[path[0]]}
            other = changed(part, path)
            assert not compare_part(str(path[0]), other[path[0]], part[path[0]]).holds, path
    assert given < 60
    for part in ("scope", "disparity", *full[1:]):  # and through the whole of it
        path = next(found[-1] for kind, found in kinds.items() if kind[0] == part)
        failed = [c.claim for c in compare_reports(changed(document, path), audit) if not c.holds]
        assert failed == [f"every number of {part}"]
    wrong = {**document, "groups": None, "more": 1}
    failed = [c.claim for c in compare_reports(wrong, audit) if not c.holds]
    assert failed == ["every number of groups", "every number of more"]


def test_a_forged_headline_is_noticed_in_json_and_pdf(auditkit: Any, tmp_path: Path) -> None:
    people = save(tmp_path / "people.csv", rows(searches=6, each=6), leave=("Interview Score",))
    (tmp_path / "quick.toml").write_text("[report]\nreplicates = 0\nparts = 'body'\n")
    done = auditkit("report", people, "--config", "quick.toml", "--format", "html,pdf,json")
    assert done.code == 0
    if done.err:
        pytest.skip("there is no Pango here")
    MADE.clear()  # verify makes the pages itself
    page = tmp_path / "people.audit.html"
    for name in ("people.audit.pdf", "people.audit.summary.pdf", "people.audit.html"):
        stands = auditkit("verify", name, people)
        assert (stands.code, stands.err) == (0, ""), stands.out
        assert f"taken as given: {GIVEN}" in stands.out
        own = "report.formats = html, pdf, json; report.parts = body; report.replicates = 0"
        assert f"are the right ones: {own}" in stands.out
        assert "not checked" not in stands.out
    text = (tmp_path / "people.audit.json").read_text()
    document = json.loads(text)
    document["disparity"]["tables"][0]["groups"][0]["selected"] += 1
    (tmp_path / "forged.pdf").write_bytes(pdf.render("<p>report</p>", dump(document).encode(), document["created"]))
    falls = auditkit("verify", "forged.pdf", people)
    assert falls.code == 1
    assert "FAILED: every number of disparity: differ: disparity.tables[0].groups[0].selected" in falls.out
    (tmp_path / "empty.pdf").write_bytes(pdf.render("<p>report</p>", b"{}", document["created"]))
    none = auditkit("verify", "empty.pdf", people)
    assert none.code == 2
    assert "there is no report inside" in none.err
    number = re.search(r"<td[^>]*>(\d+)</td>", page.read_text())
    assert number is not None
    page.write_text(page.read_text().replace(number[0], number[0].replace(number[1], f"{number[1]}1"), 1))
    other = auditkit("verify", page, people)
    assert other.code == 1
    assert "FAILED: the text of the page is that of the document: differs at line" in other.out
    (tmp_path / "people.audit.json").unlink()
    alone = auditkit("verify", page, people)
    assert alone.code == 2
    assert "put people.audit.json beside it" in alone.err


@dataclass(frozen=True)
class Run:
    code: int
    out: str
    err: str


def cli(*arguments: object) -> Run:
    """The command line in this process, without a fixture, so that a report serves several tests."""
    out, err = StringIO(), StringIO()
    with redirect_stdout(out), redirect_stderr(err):
        code = invoke([str(a) for a in arguments])
    return Run(code, out.getvalue(), err.getvalue())


@dataclass(frozen=True)
class Set:
    """The files of a report and its data."""

    folder: Path
    data: Path
    document: bytes

    def verify(self, name: str, content: bytes | None = None, *more: str) -> Run:
        if content is not None:
            (self.folder / name).write_bytes(content)
        return cli("verify", self.folder / name, self.data, *more)

    def read(self, name: str) -> bytes:
        return (self.folder / name).read_bytes()


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Set:
    """A report as HTML, PDF and JSON; its files are not changed."""
    folder = tmp_path_factory.mktemp("made")
    people = save(folder / "people.csv", rows(searches=6, each=6), leave=("Interview Score",))
    (folder / "body.toml").write_text("[report]\nparts = 'body'\n")
    done = cli("report", people, "--config", folder / "body.toml", "--format", "html,pdf,json")
    assert done.code == 0 and not done.err, done.err
    return Set(folder, people, (folder / "people.audit.json").read_bytes())


def updated(content: bytes, change: Callable[[PdfWriter], None]) -> bytes:
    """A PDF with an incremental update, as editors append it."""
    writer = PdfWriter(BytesIO(content), incremental=True)
    change(writer)
    written = BytesIO()
    writer.write(written)
    assert written.getvalue().startswith(content)
    return written.getvalue()


def replace_attachment(writer: PdfWriter) -> None:
    (entry,) = writer.attachment_list
    entry.content = b'{"format": "auditkit-report/3"}'


def test_an_attachment_that_an_update_replaces_is_the_one_that_is_read(made: Set) -> None:
    """Viewers open the last version of an object, so that is the one to check."""
    other = json.loads(made.document)
    other["disparity"]["tables"][0]["groups"][0]["selected"] += 1

    def change(writer: PdfWriter) -> None:
        (entry,) = writer.attachment_list
        entry.content = dump(other).encode()

    run = made.verify("updated.pdf", updated(made.read("people.audit.pdf"), change))
    assert run.code == 1
    assert "every number of disparity: differ: disparity.tables[0].groups[0].selected" in run.out
    run = made.verify("other.pdf", updated(made.read("people.audit.pdf"), replace_attachment))
    assert run.code == 2 and "the report: input: is missing" in run.err


def forge_words(writer: PdfWriter) -> None:
    page = writer.pages[0]
    stream = page.get_contents()
    assert stream is not None
    content = DecodedStreamObject()
    whole = stream.get_data()
    content.set_data(whole[: whole.index(b"\nET", len(whole) // 2) + 3])  # half of the texts, none of them torn
    page[NameObject("/Contents")] = writer._add_object(content)


def annotate(writer: PdfWriter) -> None:
    writer.add_annotation(0, FreeText(text="No difference was found.", rect=(50, 550, 200, 650)))


def add_script(writer: PdfWriter) -> None:
    action = DictionaryObject({NameObject("/S"): NameObject("/JavaScript"), NameObject("/JS"): TextStringObject("x")})
    writer.root_object[NameObject("/OpenAction")] = action


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (annotate, "an incremental update, a note of the kind FreeText on page 1"),
        (add_script, "an incremental update, OpenAction"),
        (forge_words, "an incremental update"),
    ],
)
def test_what_is_added_to_a_pdf_is_named(made: Set, change: Callable[[PdfWriter], None], words: str) -> None:
    run = made.verify("added.pdf", updated(made.read("people.audit.pdf"), change))
    assert run.code == 1, run.out
    assert f"FAILED: nothing was added to the PDF: {words}" in run.out


@pytest.mark.parametrize("change", [forge_words, annotate, add_script])
def test_pages_of_a_rewritten_pdf_are_compared(made: Set, change: Callable[[PdfWriter], None]) -> None:
    """A program that writes the whole file leaves no trace of an update: the words and the bytes still differ."""
    writer = PdfWriter(clone_from=BytesIO(made.read("people.audit.pdf")))
    writer.add_metadata({"/Producer": "WeasyPrint 70.0"})
    change(writer)
    written = BytesIO()
    writer.write(written)
    run = made.verify("rewritten.pdf", written.getvalue())
    assert run.code == 1, run.out
    words = "the pages of the PDF are those" if change is forge_words else "nothing was added to the PDF"
    assert f"FAILED: {words}" in run.out


def test_truncated_pages_are_found(made: Set) -> None:
    writer = PdfWriter(clone_from=BytesIO(made.read("people.audit.pdf")))
    writer.add_metadata({"/Producer": "WeasyPrint 70.0"})
    writer.remove_page(writer.pages[-1])
    written = BytesIO()
    writer.write(written)
    run = made.verify("short.pdf", written.getvalue())
    assert run.code == 1
    assert "FAILED: the pages of the PDF are those of the document" in run.out and "pages instead of" in run.out


def test_pages_that_cannot_be_compared_are_exit_4(made: Set, monkeypatch: pytest.MonkeyPatch) -> None:
    created = json.loads(made.document)["created"]
    other = pdf.render("<p style='font-family: DejaVu Sans'>Nothing was found.</p>", made.document, created)
    run = made.verify("pages.pdf", other)  # the same WeasyPrint, a font that is used here too
    assert run.code == 1 and "FAILED: the pages of the PDF" in run.out
    serif = pdf.render("<p style='font-family: DejaVu Serif'>Nothing was found.</p>", made.document, created)
    run = made.verify("elsewhere.pdf", serif)
    assert run.code == 4, run.out
    assert "not checked: the pages of the PDF: made by WeasyPrint 70.0 with other fonts than here" in run.out
    writer = PdfWriter(clone_from=BytesIO(made.read("people.audit.pdf")))
    written = BytesIO()
    writer.write(written)
    run = made.verify("same-words.pdf", written.getvalue())
    assert run.code == 4
    assert "not checked: the pages of the PDF: the words are those of the document" in run.out

    def missing(*_: object) -> bytes:
        raise pdf.PdfUnavailable("no library")

    monkeypatch.setattr(pdf, "render", missing)
    run = made.verify("people.audit.pdf")
    assert run.code == 4 and "no PDF can be made here" in run.out


def test_a_theme_leaves_the_pages_unchecked_unless_it_is_given(made: Set, tmp_path: Path) -> None:
    theme = tmp_path / "theme"
    theme.mkdir()
    (theme / "report.css").write_text("body { color: black }")
    done = cli("report", made.data, "-o", tmp_path / "themed", "--template-dir", theme, "--format", "html,json")
    assert done.code == 0
    themed = Set(tmp_path, made.data, b"")
    run = themed.verify("themed.html")
    assert run.code == 4
    assert "not checked: the text of the page: a theme made it" in run.out
    assert themed.verify("themed.html", None, "--template-dir", str(theme)).code == 0
    page = themed.read("themed.html")
    run = themed.verify("themed.html", page.replace(b"</body>", b"forged</body>"), "--template-dir", str(theme))
    assert run.code == 1
    assert themed.verify("themed.json").code == 0


@pytest.mark.parametrize(
    ("name", "source"),
    [
        ("x.html", "people.audit.json"),
        ("x.pdf", "people.audit.json"),
        ("x.svg", "people.audit.json"),
        ("x.json", "people.audit.html"),
        ("x.json", "people.audit.pdf"),
        ("x.html", "people.audit.pdf"),
    ],
)
def test_the_name_and_the_kind_of_a_file_agree(made: Set, name: str, source: str) -> None:
    run = made.verify(name, made.read(source))
    assert run.code == 2
    assert "and its name does not end in" in run.err


@pytest.mark.parametrize("number", ["Infinity", "-Infinity", "NaN", "1e999"])
def test_numbers_that_are_not_finite_are_refused(made: Set, number: str) -> None:
    text = re.sub(rb'"rate": [0-9.]+', b'"rate": ' + number.encode(), made.document, count=1)
    assert text != made.document
    run = made.verify("infinite.json", text)
    assert run.code == 2
    assert re.search(r"disparity.tables.0..groups.0..rate: is not a finite number", run.err), run.err


def test_infinity_is_close_to_nothing() -> None:
    for wrong in (float("inf"), -float("inf"), float("nan")):
        assert not same_numbers("x", [wrong], [1.0]).holds
        assert not same_numbers("x", [wrong], [wrong]).holds
        assert not check_number("x", wrong, 1.0).holds
        assert not check_number("x", 2.0, 1.0, size=abs(wrong)).holds
    assert same_numbers("x", [1.0], [1.0]).holds and check_number("x", 1.0, 1.0).holds


@pytest.mark.parametrize(
    ("key", "value"),
    [("report", {"replicates": 10_000}), ("fit", {"points": 1000}), ("fit", {"folds": 10**9})],
)
def test_settings_cannot_make_verify_run_for_hours(made: Set, key: str, value: Doc) -> None:
    document = json.loads(made.document)
    document["config"][key] |= value
    run = made.verify("slow.json", dump(document).encode())
    assert run.code == 2
    assert "asks for much more work than usual" in run.err and "--slow" in run.err
    for name, entries in (("constraints", [{"type": "parity"}] * 21), ("availability", [SHARE] * 1_001)):
        document = json.loads(made.document)
        document["config"][name] = entries
        assert made.verify("slow.json", dump(document).encode()).code == 2


def test_only_policies_that_were_found_here_are_evaluated(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A report that lists a constraint a thousand times fails, and nothing of it is computed with."""
    people = save(tmp_path / "people.csv", rows(searches=6, each=6))
    again = audited(people, report__replicates=0, report__what_if=False, fit__points=6)
    document = again.to_json()
    document["constrained"] = document["constrained"][:1] * 1_000
    monkeypatch.setattr(verifying, "audit", lambda *_, **__: again)
    seen = []
    monkeypatch.setattr(verifying, "check_report", lambda report, *_: (seen.append(report), ([], []))[1])
    assert not verify_report(document, people, PLUGINS).holds
    assert [len(report.entries) for report in seen] == [len(again.to_json()["constrained"])]


def test_a_report_with_all_digits_is_one_of_an_earlier_version_and_holds(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    data = save(tmp_path / "people.csv", rows(searches=6, each=7))
    again = audited(data, report__replicates=0, report__what_if=False)
    monkeypatch.setattr(verifying, "audit", lambda *_, **__: again)
    whole = again.exact()
    assert whole is not None and whole.firm is not None and again.report.firm is not None
    assert whole.firm.utility != again.report.firm.utility
    document = json.loads(whole.text())
    assert verify_report(document, data, PLUGINS).holds
    document["unconstrained"]["utility"] += 0.001
    assert not verify_report(document, data, PLUGINS).holds


def test_a_value_that_is_left_out_is_noticed_and_no_defect(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Values that a report may lack were looked for all the same where its policies are evaluated."""
    data = save(tmp_path / "people.csv", rows(searches=6, each=7))
    again = audited(data, report__replicates=0, report__what_if=False)
    monkeypatch.setattr(verifying, "audit", lambda *_, **__: again)
    entries = [n for n, entry in enumerate(again.to_json()["constrained"]) if entry["utility"] is not None]
    for key in ("utility", "bound", "duals", "by_group", "unfilled_capacity", "price_of_fairness"):
        document = json.loads(again.report.text())
        del document["constrained"][entries[-1]][key]
        assert not verifying.verify_report(document, data, plugins()).holds


def test_the_whole_comment_and_every_setting_that_differs_is_shown(made: Set) -> None:
    document = json.loads(made.document)
    document["config"]["statement"]["comments"] = "A fine firm. " * 40 + "The end."
    document["config"]["report"]["formats"] = ["html"]
    document["config"]["report"]["confidence"] = 0.5
    run = made.verify("comment.json", dump(document).encode())
    assert "A fine firm. " * 40 + "The end." in run.out
    assert "report.formats = html" in run.out and "report.confidence = 0.5" in run.out


def test_pdfs_that_are_none() -> None:
    for content in (b"%PDF", b"%PDF-1.7\n" + b"stream\n" * 1000, b"%PDF-1.7\nstartxref\n9\n%%EOF"):
        with pytest.raises(InputError, match="cannot be read as a PDF"):
            read_pdf(content, "x")


def test_many_documents_inside_a_pdf_are_refused() -> None:
    writer = PdfWriter()
    writer.add_blank_page(100, 100)
    for name in ("a", "b"):
        writer.add_attachment(name, b"{}")
    written = BytesIO()
    writer.write(written)
    with pytest.raises(InputError, match="there are several documents inside"):
        read_pdf(written.getvalue(), "x")
