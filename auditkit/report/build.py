"""From results to a `Report`. The same input, settings and SOURCE_DATE_EPOCH give the same bytes.

Nothing of a candidate goes into it, and outcomes of small groups are in none of its numbers (`data.privacy`).
"""

from __future__ import annotations

import importlib.metadata
import os
import platform
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

from auditkit import __version__
from auditkit.compare import Comparison, Constrained, FirmDecisions, PriceInterval
from auditkit.config import check
from auditkit.data.firm_history import render_mapping
from auditkit.data.reading import Favourable, Reading, number_favourable
from auditkit.disparity.results import Disparities
from auditkit.report import decision_findings, findings, people, schema
from auditkit.report.conventions import conventions
from auditkit.report.published_digits import published, rounded
from auditkit.report.words import duals
from auditkit.report.words import sentences as say
from auditkit.report.words.phrases import Phrases

if TYPE_CHECKING:
    from auditkit.compare.expost import SlackLaw, Unfilled
    from auditkit.compare.firm_gain import FirmGain, FirmSearch
    from auditkit.compare.value_of_point import PointValue
    from auditkit.config import Config
    from auditkit.data.firm_history import History
    from auditkit.data.privacy import Protected
    from auditkit.fitting.fitted import Fitted
    from auditkit.rules.find import Alternatives
    from auditkit.scenarios import Answers, Frontier
    from auditkit.solver.policy import Policy

EPOCH = "SOURCE_DATE_EPOCH"

PACKAGES = ("highspy", "numba", "numpy", "pandas", "pydantic", "scipy")


@dataclass(frozen=True, eq=False)
class ReportParts:
    """What an audit found, before it becomes a report."""

    history: History
    shown: Protected
    disparities: Disparities | None
    fitted: Fitted | None
    comparison: Comparison | None
    missing: tuple[str, ...]
    """Why there is no model."""
    answers: Answers | None = None
    """To the what-if questions."""
    decisions: FirmDecisions | None = None
    alternatives: Alternatives | None = None
    """Rules that never look at the group."""
    point: PointValue | None = None
    """What a score point is worth."""
    exact: bool = True
    """With all digits, and with the policies that prove the optima."""

    def published(self, config: Config) -> ReportParts:
        """With no more digits than are known, and without the policies: their multipliers need all of theirs."""
        lines = (config.report.line, config.report.alpha)
        fitted, measured = self.fitted, self.disparities
        if fitted is not None:
            settings = replace(fitted.settings, true_value=published(fitted.settings.true_value, lines))
            fitted = replace(fitted, quality=published(fitted.quality, lines), settings=settings)
        if measured is not None:
            measured = replace(measured, validity=published(measured.validity, lines))
        comparison, decisions = published(self.comparison, lines), published(self.decisions, lines)
        if comparison is not None and decisions is not None:  # the gain is what is missing to the best search
            worth = comparison.unconstrained.utility - decisions.search.unconstrained.gain
            decisions = replace(decisions, search=replace(decisions.search, utility=worth))
        return replace(
            self,
            disparities=measured,
            fitted=fitted,
            comparison=comparison,
            answers=published(self.answers, lines),
            decisions=decisions,
            alternatives=published(self.alternatives, lines),
            point=published(self.point, lines),
            exact=False,
        )


def created() -> str:
    """Now, or the moment that SOURCE_DATE_EPOCH names."""
    epoch = os.environ.get(EPOCH, "").strip()
    moment = datetime.fromtimestamp(int(epoch), UTC) if epoch.isdigit() else datetime.now(UTC)
    return moment.strftime("%Y-%m-%dT%H:%M:%SZ")


def build(parts: ReportParts, config: Config, when: str) -> schema.Report:
    """The report of an audit, without the sections of plugins; `parts.published` is what goes into a file."""
    history, shown, comparison, decisions = parts.history, parts.shown, parts.comparison, parts.decisions
    source, asked = history.source, None if parts.answers is None else answers(parts.answers, words_of(parts.shown))
    measured = parts.disparities
    return schema.Report(
        version=__version__,
        created=when,
        input=schema.InputModel(
            path=Path(source.path).name,
            rows=source.rows,
            sha256=source.sha256,
            encoding=source.encoding,
            separator=source.separator,
            url=source.url,
            query=None if source.url is None else source.query,
        ),
        config=check(config.to_json()),
        mapping=tuple(schema.RoleModel(role=r, column=c, reason=why) for r, c, why in render_mapping(history)),
        reading=None if history.reading is None else _reading(history.reading, shown),
        problems=people.problems(history),
        scope=people.scope(history, shown, config.organisation),
        attributes=people.attributes(shown),
        steps=tuple(history.steps),
        groups=people.groups(shown),
        firm=None if comparison is None else _firm(parts, comparison),
        unconstrained=None if comparison is None else schema.BestModel.mirror(comparison.unconstrained),
        constrained=None if comparison is None else _all_constrained(parts, comparison),
        disparity=measured,
        segments=None if measured is None else measured.segments,
        funnel=people.funnel(shown),
        frontier=None if asked is None else asked.frontier,
        sensitivity=None if asked is None else asked.sensitivity,
        value_of_a_point=None if parts.point is None else _point(parts.point, words_of(shown)),
        alternatives=None if parts.alternatives is None else _alternatives(parts.alternatives, words_of(shown)),
        revealed=None if decisions is None else decisions.revealed,
        scores=None if decisions is None else decisions.scores,
        fit=None if parts.fitted is None else _fit(parts, parts.fitted),
        findings=tuple(_findings(parts)),
        provenance=_provenance(),
    )


def _reading(reading: Reading, shown: Protected) -> schema.ReadingModel:
    """How the file was read; what became of people who are left out is in none of its numbers."""
    table = shown.history.table
    count = number_favourable(table, shown.history.steps)
    return schema.ReadingModel(
        confidence="certain" if reading.confidence == "certain" else "likely",
        row=reading.row,
        favourable=Favourable(text=reading.favourable.text, count=count, of=len(table)),
        people=reading.words.people,
        verb=reading.words.verb,
        unused=tuple(
            schema.UnusedColumnModel(column=each.column, looks_like=each.looks_like or None) for each in reading.unused
        ),
        assumptions=reading.assumptions,
    )


def words_of(shown: Protected) -> Phrases:
    """How the report names the steps and groups of these data."""
    reading = shown.history.reading
    words = () if reading is None else (reading.words.people, reading.words.verb)
    return Phrases.of(people.attributes(shown), shown.history.steps, *words)


def answers(found: Answers, words: Phrases) -> schema.AnswersModel:
    """The answers to the what-if questions, each with its sentence."""
    biased, positions, places = found.sensitivity, found.positions, found.places
    return schema.AnswersModel(
        frontier=schema.FrontierModel(
            group=found.group,
            constraints=tuple(constraint.to_spec() for constraint in found.constraints),
            curves=tuple(_curve(one, words) for one in found.frontiers),
            positions=None
            if positions is None
            else schema.MorePositionsPart(**vars(positions), sentence=say.more_positions(positions)),
            budgets=tuple(
                schema.BudgetModel.mirror(one, sentence=say.budget_or_position(words, one)) for one in found.budgets
            ),
            places=None if places is None else schema.MorePlacesPart(**vars(places), sentence=say.more_places(places)),
            bias_tables=tuple(
                schema.BiasTablePart(**vars(one), sentence=say.best_by_bias(words, one)) for one in found.bias_tables
            ),
            notices=found.notices,
            phrases=tuple(constraint.describe(words).phrase for constraint in found.constraints),
        ),
        sensitivity=None
        if biased is None
        else schema.SensitivityPart(**vars(biased), sentence=say.biased_scores(words, biased)),
    )


def _point(found: PointValue, words: Phrases) -> schema.PointValuePart:
    return schema.PointValuePart(**vars(found), sentence=say.value_of_a_point(words, found))


def _alternatives(found: Alternatives, words: Phrases) -> tuple[schema.AlternativePart, ...]:
    return tuple(
        schema.AlternativePart(
            **vars(each),
            rates=say.rates_compared(words, each),
            sentences=tuple(findings.alternative_sentences(found, each, words)),
        )
        for each in found.found
    )


def _curve(found: Frontier, words: Phrases) -> schema.CurveModel:
    title, axis = found.constraint.frontier_words(words, found.parameter)
    return schema.CurveModel.mirror(found, sentence=say.frontier(words, found), title=title, axis=axis)


def _findings(parts: ReportParts) -> list[schema.FindingModel]:
    words = words_of(parts.shown)
    found = [] if parts.disparities is None else findings.of_disparities(parts.disparities, words)
    differing = {item.attribute for item in found if item.kind == "disparity"}
    if parts.comparison is not None:
        if parts.point is not None:
            found.append(findings.of_point(parts.point, words))
        found += findings.of_comparison(parts.comparison, words, differing)
    if parts.alternatives is not None:
        found += findings.of_alternatives(parts.alternatives, words)
    if parts.decisions is not None and parts.comparison is not None:
        names = {entry.label: findings.phrase_of(entry, words) for entry in parts.comparison.constrained}
        losses = {
            entry.label: entry.interval.loss
            for entry in parts.comparison.constrained
            if isinstance(entry.interval, PriceInterval)
        }
        odds = {} if parts.disparities is None else findings.odds_ratios(parts.disparities)
        found += decision_findings.of_decisions(parts.decisions, parts.history, words, names, losses, odds)
    if parts.fitted is None:
        found += findings.without_fit(parts.missing)
    found += findings.of_data(parts.history, parts.shown)
    if parts.fitted is not None:
        found += findings.of_fit(parts.fitted, parts.shown.threshold, words)
    return findings.in_order(found)


# Policies -------------------------------------------------------------------------------------------------------------


def _firm(parts: ReportParts, comparison: Comparison) -> schema.FirmModel:
    firm = comparison.firm
    return schema.FirmModel(
        **dict(schema.StandingModel.mirror(firm)),
        capacity=None if parts.fitted is None else int(parts.fitted.instance.layout.capacity.sum()),
        gain=None if parts.decisions is None else gain(parts.decisions.search),
    )


def gain(search: FirmSearch) -> schema.GainModel:
    """What the best policy would have gained over the firm's own search."""
    return schema.GainModel(
        level=search.level,
        expected_utility=search.utility,
        inspected=search.inspected,
        positions_filled=search.positions,
        **vars(search.unconstrained),
        steps=tuple(schema.StepGainModel(step=step, gain=gain) for step, gain in search.steps),
    )


def _all_constrained(parts: ReportParts, comparison: Comparison) -> tuple[schema.ConstrainedModel, ...]:
    none = (None,) * len(comparison.constrained)
    gains = none if parts.decisions is None else parts.decisions.search.constrained
    return tuple(
        _constrained(parts, entry, gain, comparison.value_scale)
        for entry, gain in zip(comparison.constrained, gains, strict=True)
    )


def _constrained(
    parts: ReportParts, entry: Constrained, gain: FirmGain | None, value_scale: float
) -> schema.ConstrainedModel:
    optimum, standing = entry.optimum, entry.standing
    named = schema.ConstrainedModel(
        label=entry.label,
        phrase=findings.phrase_of(entry, words_of(parts.shown)),
        specs=tuple(c.to_spec() for c in entry.constraints),
        status=entry.status,
        conflict=entry.conflict,
        against_firm=gain,
    )
    if standing is None or optimum is None or entry.loss is None:
        return named
    price, unfilled = entry.interval, entry.unfilled
    interval = schema.IntervalModel.mirror(price) if isinstance(price, PriceInterval) else None
    policies = _policies(entry) if parts.exact else None
    laws = tuple(map(_law, entry.shown_laws))
    found: dict[str, object] = {
        **dict(schema.StandingModel.mirror(standing)),
        "price_of_fairness": schema.ReportPriceModel(ratio=entry.ratio, loss=entry.loss, interval=interval)
        if optimum.proved
        else None,
        "group_aware": entry.group_aware,
        "ex_post_slack": laws or None,
        "unfilled": None if unfilled is None else _unfilled(unfilled),
        "bound": optimum.bound if parts.exact else rounded(optimum.bound),
        "gap": optimum.gap if parts.exact else rounded(optimum.gap),
        "duals": _duals(entry, value_scale),
        "order_kept": entry.order_kept,
        "policies": policies,
        "mixture": None if policies is None else _mixture(entry),
        "randomised": optimum.mixture.randomised,
    }
    return named.model_copy(update=found)


def _law(law: SlackLaw) -> schema.LawModel:
    return schema.LawModel(
        label=law.label,
        edges=tuple(law.edges.tolist()),
        probabilities=tuple(law.probabilities.tolist()),
        mean=law.mean,
        sd=law.sd,
        outside=law.outside,
        normalised=law.normalised,
        meaning=law.meaning,
    )


def _unfilled(law: Unfilled) -> schema.UnfilledModel:
    return schema.UnfilledModel(counts=tuple(law.counts.tolist()), probabilities=tuple(law.probabilities.tolist()))


def _duals(entry: Constrained, value_scale: float) -> tuple[schema.DualModel, ...]:
    """One for each row; rows about one candidate each are counted together."""
    found = [
        schema.DualModel.mirror(dual, words=duals.dual(dual, value_scale, entry.classes))
        for dual in entry.duals
        if not dual.individual
    ]
    single = [dual for dual in entry.duals if dual.individual]
    if single:
        label, words = duals.rows_of_candidates(len(single), sum(dual.value != 0 for dual in single))
        found.append(
            schema.DualModel(
                label=label,
                sense=single[0].sense,
                value=None,
                slack=min(dual.slack for dual in single),
                words=words,
            )
        )
    return tuple(found)


def _policies(entry: Constrained) -> tuple[schema.MixedPolicyModel, ...] | None:
    """The policies of the mixture, so that anyone with the data can evaluate it; None if they would name candidates."""
    optimum = entry.optimum
    if optimum is None or optimum.rows.measures or any(dual.individual for dual in entry.duals):
        return None
    return tuple(map(_policy, optimum.mixture.policies))


def _policy(policy: Policy) -> schema.MixedPolicyModel:
    first, *ties = (schema.MultipliersModel(objective=lv.objective, duals=tuple(lv.duals)) for lv in policy.levels)
    return schema.MixedPolicyModel(**dict(first), ties=tuple(ties))


def _mixture(entry: Constrained) -> schema.LotteriesModel:
    """Which searches follow which policy, by their place in the data: their names are cells of it."""
    from auditkit.solver.solution_document import mixture_of

    assert entry.optimum is not None
    mixture = entry.optimum.mixture
    found = mixture_of(mixture, [str(search) for search in range(mixture.count)])
    return schema.LotteriesModel.model_validate(found.model_dump(exclude_unset=True))


# Fit and provenance ---------------------------------------------------------------------------------------------------


def _fit(parts: ReportParts, fitted: Fitted) -> schema.FitModel:
    quality, decisions = fitted.quality, parts.decisions
    bins = len(quality.pit)
    return schema.FitModel(
        fitter=fitted.settings.fitter,
        pit=schema.PitModel(edges=tuple(i / bins for i in range(bins + 1)), shares=quality.pit, p_value=quality.pit_p),
        coverage=tuple(schema.CoverageModel(nominal=level, actual=share) for level, share in quality.coverage),
        by_group=tuple(
            schema.GroupErrorModel(
                group=row.name,
                n=row.scores,
                mean_error=row.mean_error,
                standard_error=row.standard_error,
                crps=row.crps,
                coverage=row.coverage,
            )
            if row.scores >= parts.shown.threshold
            else schema.GroupErrorModel(group=row.name, n=None, mean_error=None, crps=None)
            for row in quality.by_group
        ),
        by_stratum=quality.by_stratum,
        skill=quality.skill,
        selection=schema.SelectionModel.mirror(quality.selection),
        hidden_information=None
        if decisions is None
        else schema.HiddenInformationModel(tests=decisions.hidden, prices=decisions.prices),
        warnings=quality.warnings,
        settings=schema.FitSettingsModel.mirror(fitted.settings),
    )


def _provenance() -> schema.ProvenanceModel:
    versions = {"auditkit": __version__}
    for name in PACKAGES:
        try:
            versions[name] = importlib.metadata.version(name)
        except importlib.metadata.PackageNotFoundError:
            continue
    return schema.ProvenanceModel(
        python=platform.python_version(),
        packages=versions,
        platform=f"{platform.system()} {platform.machine()}",
        conventions=tuple(
            schema.ConventionModel(name=c.name, text=c.text, read_on=c.read_on.isoformat())
            for c in conventions().values()
        ),
    )
