"""The whole way through `auditkit open` in a real browser: the sample, files that need an answer, cancelled runs."""

from __future__ import annotations

import csv
import json
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from support import ROOT
from support.audit_helpers import rows, save
from support.page_server import Running, Visitor, axe_complaints, running
from support.sampling import everything

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Download, FileChooser, Page

pytestmark = pytest.mark.slow
SAMPLE = ROOT / "sample_data" / "hiring.csv"
SETTINGS = '[report]\nwhat_if = false\nalternatives = false\nreplicates = 0\nparts = "summary"\n'
"""One page of PDF: tests/test_report_render_pdf.py sets whole reports."""


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    """One running page; it starts in a folder with settings that make small reports."""
    folder = tmp_path_factory.mktemp("page")
    (folder / "audit.toml").write_text(SETTINGS)
    with running(folder, "--config", "audit.toml") as found:
        yield found


@pytest.fixture(scope="module")
def small(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return save(tmp_path_factory.mktemp("data") / "people.csv", rows(searches=8, each=10))


def downloaded(page: Page, name: str) -> Download:
    with page.expect_download() as waiting:
        page.get_by_role("link", name=name, exact=True).click()
    return waiting.value


def reached(page: Page) -> list[int]:
    """How many of each group reached the last step of the funnel that is shown."""
    cells = page.locator(".funnel tbody tr").last.locator("td").all_inner_texts()
    return [int(text.split()[0].replace(",", "")) for text in cells]


def test_the_whole_way_with_the_sample(browser: Browser, server: Running) -> None:
    visitor = Visitor(browser, server)
    page = visitor.page
    visitor.choose_file(SAMPLE)
    assert "token" not in page.url
    favourable = page.get_by_label("Favourable outcome")
    with SAMPLE.open(encoding="utf-8") as file:
        people = list(csv.DictReader(file))
    hired = sum(one["Hired"] == "Yes" for one in people)
    assert favourable.locator("option:checked").inner_text() == f"Hired, as read ({hired} of {len(people):,})"
    for column in people[0]:  # each has a menu with its name
        assert page.get_by_role("combobox", name=column, exact=True).count() == 1
    women = [one for one in people if one["Gender"] == "Female"]
    interviewed = sum(one["Interviewed"] == "Yes" for one in women)
    funnel = page.locator(".funnel").first.inner_text()
    assert (
        str(len(women)) in funnel and str(interviewed) in funnel and f"{100 * interviewed / len(women):.1f}" in funnel
    )
    page.get_by_role("button", name="Continue").click()
    page.get_by_role("button", name="Make the report").click()
    bar = page.get_by_role("progressbar")
    bar.wait_for()
    assert 0 <= int(bar.get_attribute("aria-valuenow") or "") <= 100
    frame = page.frame_locator("iframe[title='Audit report']")
    frame.get_by_role("heading", level=1).wait_for()
    assert "hiring.csv" in frame.get_by_role("heading", level=1).inner_text()
    assert str(server.temporary) not in frame.locator("body").inner_text()
    document = json.loads(Path(downloaded(page, "JSON").path()).read_text(encoding="utf-8"))
    assert document["input"]["rows"] == len(people) == 1527 and document["input"]["path"] == "hiring.csv"
    html = downloaded(page, "HTML")
    assert html.suggested_filename == "hiring.audit.html"
    assert "<script src" not in Path(html.path()).read_text(encoding="utf-8")
    assert Path(downloaded(page, "PDF").path()).read_bytes().startswith(b"%PDF")
    assert "selected = " in Path(downloaded(page, "audit.toml").path()).read_text(encoding="utf-8")
    assert not visitor.complaints


def test_menus_are_read_again_at_once(browser: Browser, server: Running, small: Path) -> None:
    visitor = Visitor(browser, server)
    page = visitor.page
    visitor.choose_file(small)
    panel = page.locator(".right")
    assert "Female" in panel.inner_text()
    page.get_by_role("combobox", name="Gender", exact=True).focus()
    page.get_by_role("combobox", name="Gender", exact=True).select_option("not used")
    page.locator(".right", has_text="Not used").wait_for()
    visitor.settled()
    assert page.locator(".funnel").count() == 0
    assert page.get_by_role("combobox", name="Gender", exact=True).evaluate("e => e === document.activeElement")
    page.get_by_role("combobox", name="Gender", exact=True).select_option("group")
    page.locator(".funnel").wait_for()
    assert not visitor.complaints


def test_another_favourable_outcome_changes_who_is_counted(browser: Browser, server: Running, tmp_path: Path) -> None:
    people = ["id,Gender,Status"]
    people += [f"{i},{'F' if i % 2 else 'M'},{['Retained', 'Let go'][i % 3 == 0]}" for i in range(90)]
    (tmp_path / "layoff.csv").write_text("\n".join(people), encoding="utf-8")
    visitor = Visitor(browser, server)
    page = visitor.page
    visitor.choose_file(tmp_path / "layoff.csv")
    menu = page.get_by_label("Favourable outcome")
    assert menu.locator("option").all_inner_texts() != []
    menu.select_option("Status=Retained")
    page.locator(".funnel").wait_for()
    visitor.settled()
    assert reached(page) == [30, 30]
    page.get_by_role("button", name="Continue").click()
    page.get_by_role("button", name="Make the report").wait_for()


def test_a_file_that_needs_one_answer_asks_and_reports_what_was_answered(
    browser: Browser, server: Running, tmp_path: Path
) -> None:
    """Two columns could say who was selected, and they disagree."""
    decisions = [("Hired" if i % 4 == 0 else "Rejected", "Hired" if i % 3 == 0 else "Rejected") for i in range(120)]
    people = [f"{i},{'F' if i % 2 else 'M'},{one},{other}" for i, (one, other) in enumerate(decisions)]
    (tmp_path / "two.csv").write_text("\n".join(["id,gender,decision,status", *people]), encoding="utf-8")
    visitor = Visitor(browser, server)
    page = visitor.page
    visitor.choose_file(tmp_path / "two.csv")
    question, go = page.get_by_role("group").filter(has=page.get_by_role("radio")), "button[name=go]"
    assert question.locator("legend").inner_text().endswith("Which is right?")
    assert question.get_by_role("radio", checked=True).count() == 0 and page.locator(go).is_disabled()
    assert page.locator(".funnel").count() == 0  # counted is only what was read without a guess
    question.get_by_role("radio", name="status", exact=False).first.check()
    page.locator(f"{go}:not([disabled])").wait_for()
    visitor.settled()
    answered = sum(other == "Hired" for _, other in decisions)
    assert sum(reached(page)) == answered != sum(one == "Hired" for one, _ in decisions)
    assert question.get_by_role("radio", name="status", exact=False).first.is_checked()  # and can be changed
    page.get_by_role("button", name="Continue").click()
    page.get_by_role("button", name="Make the report").click()
    page.get_by_title("Audit report").wait_for()
    document = json.loads(Path(downloaded(page, "JSON").path()).read_text(encoding="utf-8"))
    assert document["reading"]["favourable"]["count"] == answered
    assert not visitor.complaints


@pytest.mark.sampled
def test_a_large_file_is_read_changed_started_and_cancelled(browser: Browser, server: Running, tmp_path: Path) -> None:
    """20,000 rows; 100,000 with `make fuzz`."""
    n = 100_000 if everything() else 20_000
    people = [
        f"{i},R{i // 20},{'FM'[i % 2]},{'AB'[i % 5 > 1]},{i % 97},{i % 4 == 0},{i % 40 in (8, 16, 28)}"
        for i in range(n)
    ]
    header = "Candidate ID,Requisition,Gender,Ethnicity,CV Score,Interviewed,Hired"
    (tmp_path / "many.csv").write_text("\n".join([header, *people]), encoding="utf-8")
    visitor = Visitor(browser, server)
    page = visitor.page
    visitor.choose_file(tmp_path / "many.csv")
    assert f"{n:,} applications in {n:,} rows" in page.locator(".right").inner_text()
    assert page.locator(".funnel").count() == 2
    page.get_by_role("combobox", name="Gender", exact=True).select_option("not used")
    page.locator(".funnel").nth(1).wait_for(state="detached")
    assert reached(page) == [n // 20, n // 40]
    page.get_by_role("button", name="Continue").click()
    page.get_by_role("button", name="Make the report").click()
    page.get_by_role("progressbar").wait_for()
    page.get_by_role("button", name="Cancel").click()
    page.get_by_text("The run was cancelled").wait_for()
    assert not list(server.temporary.rglob("many.audit.*"))
    assert not visitor.complaints


def test_a_bad_file_gets_one_clear_answer(browser: Browser, server: Running, tmp_path: Path) -> None:
    (tmp_path / "picture.csv").write_bytes(b"\x89PNG\r\n\x1a\n" + bytes(100))
    visitor = Visitor(browser, server)
    page = visitor.page
    page.get_by_label("Export file").set_input_files(tmp_path / "picture.csv")
    page.get_by_role("button", name="Continue").click()
    page.get_by_role("heading", name="picture.csv could not be read").wait_for()
    alert = page.get_by_role("alert").inner_text()
    assert "is an image" in alert and "export the table as CSV" in alert and str(server.temporary) not in alert
    page.get_by_role("link", name="Choose another file").click()
    page.get_by_label("Export file").wait_for()


def test_a_file_with_wrong_cells_says_which_and_does_not_go_on(
    browser: Browser, server: Running, tmp_path: Path
) -> None:
    people = rows(searches=6, each=6)
    lines = save(tmp_path / "wrong.csv", people).read_text(encoding="utf-8").splitlines()
    header = lines[0].split(",")
    place = header.index("Interview Score")
    cells = next(line for line in lines[1:] if line.split(",")[place]).split(",")
    changed = [
        line.replace(",".join(cells), ",".join([*cells[:place], "seventy", *cells[place + 1 :]])) for line in lines
    ]
    (tmp_path / "wrong.csv").write_text("\n".join(changed), encoding="utf-8")
    visitor = Visitor(browser, server)
    page = visitor.page
    visitor.choose_file(tmp_path / "wrong.csv")
    assert "'seventy' is not a number" in page.get_by_role("alert").inner_text()
    assert page.get_by_role("button", name="Continue").is_disabled()
    page.get_by_role("combobox", name="Interview Score", exact=True).select_option("not used")
    page.locator("button[name=go]:not([disabled])").wait_for()


def test_a_cancelled_run_ends_at_once_and_can_be_made_again(browser: Browser, server: Running, small: Path) -> None:
    visitor = Visitor(browser, server)
    page = visitor.page
    visitor.choose_file(small)
    page.get_by_role("button", name="Continue").click()
    page.get_by_role("button", name="Make the report").click()
    page.get_by_role("button", name="Cancel").click()
    page.get_by_text("The run was cancelled").wait_for()
    assert not list(server.temporary.rglob("people.audit.*"))
    page.get_by_role("button", name="Make the report").click()
    page.get_by_title("Audit report").wait_for()
    assert not visitor.complaints


def test_two_tabs_keep_to_their_own_files(browser: Browser, server: Running, small: Path, tmp_path: Path) -> None:
    other = tmp_path / "others.csv"
    other.write_bytes(small.read_bytes())
    first, second = Visitor(browser, server), Visitor(browser, server)
    first.choose_file(small)
    second.choose_file(other)
    for tab in (first, second):
        tab.page.get_by_role("button", name="Continue").click()
        tab.page.get_by_role("button", name="Make the report").click()
    for tab, name in ((first, "people.csv"), (second, "others.csv")):
        heading = tab.page.frame_locator("iframe[title='Audit report']").get_by_role("heading", level=1)
        heading.wait_for()
        assert name in heading.inner_text()
        assert not tab.complaints


def test_the_keyboard_is_enough(browser: Browser, server: Running) -> None:
    visitor = Visitor(browser, server)
    page = visitor.page
    chosen: list[FileChooser] = []
    page.on(
        "filechooser", lambda chooser: chosen.append(chooser)
    )  # well before the key: it is switched on in the browser, asynchronously

    def tab_to(name: str) -> None:
        for _ in range(80):
            page.keyboard.press("Tab")
            focused = page.evaluate("document.activeElement.innerText || document.activeElement.id")
            if focused == name:
                outline = page.evaluate("getComputedStyle(document.activeElement).outlineStyle")
                assert outline != "none", f"the focus on {name} cannot be seen"
                return
        raise AssertionError(f"no way to {name!r} with the keyboard")

    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.innerText") == "Skip to the content"
    tab_to("file")
    page.keyboard.press("Enter")
    while not chosen:
        page.wait_for_timeout(50)
    chosen[0].set_files(SAMPLE)  # no small file: its report might be there before the way to Cancel is found
    tab_to("Continue")
    page.keyboard.press("Enter")
    page.get_by_label("Favourable outcome").wait_for()
    tab_to("Continue")
    page.keyboard.press("Enter")
    page.get_by_role("button", name="Make the report").wait_for()
    tab_to("Make the report")
    page.keyboard.press("Enter")
    page.get_by_role("progressbar").wait_for()
    tab_to("Cancel")
    page.keyboard.press("Enter")
    page.get_by_text("The run was cancelled").wait_for()


def test_sliders_answer_at_once_and_exactly(browser: Browser, server: Running, small: Path) -> None:
    visitor = Visitor(browser, server)
    page = visitor.page
    visitor.choose_file(small)
    page.get_by_role("button", name="Continue").click()
    page.get_by_role("button", name="Make the report").click()
    page.get_by_title("Audit report").wait_for()
    page.get_by_text("Explore: what other constraints would cost").click()
    ratio = page.get_by_label("Impact ratio of at least")
    ratio.fill("1")
    page.locator("[data-explored]", has_text="Exact: gap").wait_for()
    rows = page.locator("[data-explored] tbody tr")
    assert rows.count() == 2 and all(text.endswith("1.000") for text in rows.all_inner_texts())
    ratio.focus()
    page.keyboard.press("ArrowLeft")
    page.locator("output", has_text="0.99").wait_for()
    assert Path(downloaded(page, "Excel").path()).read_bytes().startswith(b"PK")
    assert not visitor.complaints


@pytest.fixture(scope="module")
def steps(browser: Browser, server: Running, small: Path) -> list[str]:
    """The addresses of every page on the way to a report that is finished."""
    visitor = Visitor(browser, server)
    page, found = visitor.page, [visitor.page.url]
    visitor.choose_file(small)
    found.append(page.url)
    page.get_by_role("button", name="Continue").click()
    page.get_by_role("button", name="Make the report").wait_for()
    found.append(page.url)
    page.get_by_role("button", name="Make the report").click()
    page.get_by_title("Audit report").wait_for()
    page.close()
    return [*found, page.url, f"{server.origin}/history", f"{server.origin}/nowhere"]


@pytest.mark.sampled
@pytest.mark.parametrize("width", [375, 1280])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_every_step_fits_and_axe_finds_nothing(
    browser: Browser, server: Running, steps: list[str], width: int, scheme: str
) -> None:
    """axe looks at each width and each scheme once, at all four pairs with `make fuzz`."""
    look: dict[str, Any] = {"viewport": {"width": width, "height": 800}, "color_scheme": scheme}
    page = Visitor(browser, server, bypass_csp=True, **look).page
    for address in steps:
        page.goto(address)
        page.wait_for_load_state("networkidle")  # the style sheet too: a button is there before it
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth"), f"{page.url} is wider than {width}"
        if (width == 375) is (scheme == "light") or everything():
            assert axe_complaints(page) == []
    assert [one.rpartition("/")[2] for one in steps] == ["", "reading", "choose", "report", "history", "nowhere"]


def test_a_file_above_the_limit_is_not_even_sent(browser: Browser, server: Running, tmp_path: Path) -> None:
    with (tmp_path / "large.csv").open("wb") as file:
        file.truncate(300_000_000)
    visitor = Visitor(browser, server)
    page = visitor.page
    page.get_by_label("Export file").set_input_files(tmp_path / "large.csv")
    assert "up to 250 MB" in page.get_by_role("status").inner_text()
    page.get_by_role("button", name="Continue").click()
    assert page.url == f"{server.origin}/"


def test_without_the_script_it_works_too(browser: Browser, server: Running, small: Path) -> None:
    visitor = Visitor(browser, server, java_script_enabled=False)
    page = visitor.page
    page.get_by_label("Export file").set_input_files(small)
    page.get_by_role("button", name="Continue").click()
    page.get_by_label("Favourable outcome").wait_for()  # the page asks again by itself
    page.get_by_role("combobox", name="Performance Rating", exact=True).select_option("not used")
    page.get_by_role("button", name="Update").click()
    page.get_by_role("heading", name="Not used").wait_for()
    page.get_by_role("button", name="Continue").click()
    page.get_by_role("button", name="Make the report").wait_for()
