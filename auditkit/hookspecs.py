"""Every place where a plugin can add to auditkit, on one page.

A plugin is a module (or object) named by an entry point in the group `auditkit`; it implements any of these hooks
with `@auditkit.hookimpl` and returns a list. The plugins in `plugins/` are registered the same way. Each hook below
shows the least that a plugin needs (with `from auditkit import hookimpl` before it).
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

import pluggy

if TYPE_CHECKING:
    import click

    from auditkit.constraints.base import Constraint
    from auditkit.data.reader import Reader
    from auditkit.data.vocabulary import WordList
    from auditkit.disparity.measure import DisparityMeasure
    from auditkit.fitting.fitter import Fitter
    from auditkit.report.exporter import Exporter
    from auditkit.report.profile import Profile
    from auditkit.report.section import Section
    from auditkit.rules.rule import Rule
    from auditkit.scheduled.alert import Channel

PROJECT = "auditkit"

hookspec = pluggy.HookspecMarker(PROJECT)
hookimpl = pluggy.HookimplMarker(PROJECT)


@hookspec
def auditkit_constraints() -> Iterable[type[Constraint]]:  # type: ignore[empty-body]
    """Constraint classes; users name each by its `type` in SPECs, configuration and instance files.

    For example::

        from auditkit import OutcomeConstraint, Row

        class FewOffers(OutcomeConstraint):
            type = "few-offers"

            def rows(self, layout):
                return [Row.of("at most half an offer", self.outcome(layout), "<=", 0.5)]

        @hookimpl
        def auditkit_constraints():
            return [FewOffers]
    """


@hookspec
def auditkit_fitters() -> Iterable[type[Fitter]]:  # type: ignore[empty-body]
    """Fitter classes: from prior information to the law of a candidate's score; users name them by `name`.

    For example::

        from auditkit.plugins.normal import Normal

        class Unweighted(Normal):
            name = "unweighted"

            def train(self, features, scores, weights):
                return super().train(features, scores, weights**0)

        @hookimpl
        def auditkit_fitters():
            return [Unweighted]
    """


@hookspec
def auditkit_alerts() -> Iterable[type[Channel]]:  # type: ignore[empty-body]
    """Alert channels, which tell people that a scheduled audit crossed a threshold; users name them by `type`.

    For example::

        from auditkit import Channel

        class Printed(Channel):
            type = "printed"

            def send(self, alert, secrets):
                print(alert.title)

        @hookimpl
        def auditkit_alerts():
            return [Printed]
    """


@hookspec
def auditkit_readers() -> Iterable[type[Reader]]:  # type: ignore[empty-body]
    """Reader classes: from the bytes of one kind of file to tables of cells; chosen by first bytes and extension.

    For example::

        import io, pandas
        from auditkit import Reader

        class Stata(Reader):
            name, suffixes = "stata", (".dta",)

            def read(self, data, place):
                return {"": pandas.read_stata(io.BytesIO(data))}

        @hookimpl
        def auditkit_readers():
            return [Stata]
    """


@hookspec
def auditkit_vocabulary() -> Iterable[type[WordList]]:  # type: ignore[empty-body]
    """Word lists: the names of columns, and words for statuses, steps and groups; added to the shipped ones.

    For example::

        from auditkit import WordList

        class Trade(WordList):
            name = "trade"
            tables = {"status": {"selected": ["contract issued"], "rejected": ["pooled"]}}

        @hookimpl
        def auditkit_vocabulary():
            return [Trade]
    """


@hookspec
def auditkit_measures() -> Iterable[type[DisparityMeasure]]:  # type: ignore[empty-body]
    """Disparity measures: from the numbers of the groups to one number for each; a column of the report's tests.

    For example::

        from auditkit import DisparityMeasure

        class Rejected(DisparityMeasure):
            name, title, form = "rejected", "Not selected", "amount"

            def measure(self, counts, reference):
                return {group: n.applicants - n.selected for group, n in counts.items()}

        @hookimpl
        def auditkit_measures():
            return [Rejected]
    """


@hookspec
def auditkit_rules() -> Iterable[type[Rule]]:  # type: ignore[empty-body]
    """Rules that a firm may adopt: they rank candidates by what is known about them, never by the group.

    For example::

        from auditkit import Ranking
        from auditkit.plugins.interviews import MoreInterviews

        class Curious(MoreInterviews):
            name = "curious"

            def rank(self, known):
                return Ranking(known.index(costs=self.cost_share / 2))

        @hookimpl
        def auditkit_rules():
            return [Curious]
    """


@hookspec
def auditkit_sections() -> Iterable[type[Section]]:  # type: ignore[empty-body]
    """Sections of the report: data from the finished report, and a template that shows them.

    For example::

        from pathlib import Path
        from auditkit import Section

        class Rows(Section):
            name, title, template = "rows", "Rows", Path(__file__).with_name("rows.html")

            def data(self, report):
                return {"rows": report.input.rows}

        @hookimpl
        def auditkit_sections():
            return [Rows]
    """


@hookspec
def auditkit_exporters() -> Iterable[type[Exporter]]:  # type: ignore[empty-body]
    """Exporters: from a finished report to the bytes of a file; users name them by `format` in `--format`.

    For example::

        from auditkit import Exporter

        class Text(Exporter):
            format, suffix = "text", "txt"

            def write(self, report, pages):
                return " ".join(finding.text for finding in report.findings).encode()

        @hookimpl
        def auditkit_exporters():
            return [Text]
    """


@hookspec
def auditkit_profiles() -> Iterable[type[Profile]]:  # type: ignore[empty-body]
    """Profiles: the rules of one place as dated facts, for reports used there; users name them by `name`.

    For example::

        from datetime import date
        from auditkit import DatedFact, Profile

        class Elsewhere(Profile):
            name, title = "elsewhere", "A rule of another place"
            facts = (DatedFact("Records are kept for a year.", None, date(2026, 11, 1)),)

        @hookimpl
        def auditkit_profiles():
            return [Elsewhere]
    """


@hookspec
def auditkit_commands() -> Iterable[click.Command]:  # type: ignore[empty-body]
    """Commands of `auditkit`; only from installed packages, and never under the name of a shipped one.

    For example::

        import click

        @click.command()
        def greet():
            click.echo("hello")

        @hookimpl
        def auditkit_commands():
            return [greet]
    """
