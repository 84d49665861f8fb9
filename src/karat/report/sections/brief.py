"""In brief: who stays, the main comparison on the response scale, and whether it depends on the exclusion rule.

A difference in logits says little to readers who do not fit models, so it comes with plain means or shares, from the
tables of the contrasts, and with the wording of items, from the table of answers or the study.
"""

import math
from collections.abc import Sequence
from statistics import median
from typing import Any

import polars as pl

from karat.errors import counted
from karat.judgments.scales import Binary, Continuous, Nominal, Ordinal, Scale, as_number
from karat.languages import language_of
from karat.measure.effects.contrasts import Contrasts
from karat.measure.effects.planned import PlannedContrasts
from karat.measure.measured import Measure
from karat.measure.measures import Measures
from karat.measure.reliability.agreement import Agreement
from karat.measure.scaling.result import Strengths
from karat.messages import Message, NotComputed, with_code
from karat.report.build import ReportData
from karat.report.comparisons import RIGHT, RIGHT_ANSWERS, RuleComparison, TermTest
from karat.report.counts import excluded_by
from karat.report.figures import sentences
from karat.report.outcomes import CHOSEN, LOG_UNITS, Outcomes
from karat.screen.rules import applied_rule
from karat.screen.screening import Screening, rule_in_words
from karat.section import Section
from karat.study.study import Study

ENGLISH = language_of("en")
COUNTED = (("answers", "answer"), ("share", "all"))
"""The kinds and factors of results that count answers and compare no conditions."""
MOST_REASONS = 3
"""The most criteria that the first sentence names."""
MOST_TESTS = 3
"""The most tests whose p values are in a sentence: two factors and their interaction."""


def section(gathered: ReportData) -> Section:
    """The sentences for a reader with one minute."""
    return Section("brief", "In brief", tuple(f"{claim} {other}".strip() for claim, other in leads(gathered)))


def leads(gathered: ReportData) -> list[tuple[str, str]]:
    """The sentences of the first screen: a short claim and its evidence."""
    sentences = [*((str(change), "") for change in gathered.screening.changes), _who_stays(gathered.screening)]
    outcomes = gathered.outcomes
    if isinstance(outcomes, Outcomes):
        if outcomes.right is not None:
            sentences.append(_right_answers(outcomes.right, outcomes))
        sentences += _agreement(gathered.measures, outcomes)
        decided = outcomes.tests or not outcomes.comparisons or outcomes.comparisons[0].shown is not None
        sentences += (
            [_with_question(outcomes, *_main(outcomes)), *_robust(outcomes)]
            if outcomes.right is None or decided
            else []
        )
    return sentences


def _agreement(measures: Measures | NotComputed, outcomes: Outcomes) -> list[tuple[str, str]]:
    """The agreement of participants, if answers are counted and not compared."""
    if isinstance(measures, NotComputed) or (outcomes.kind, *outcomes.factors) not in COUNTED:
        return []
    messages = [
        message for part in measures.parts if isinstance(part.result, Agreement) for message in part.result.summary
    ]
    alphas = list(with_code(messages, "agreement.alpha"))
    chosen = [
        alpha
        for alpha in alphas
        if len(alphas) == 1 or (outcomes.question and alpha.values["question"] == outcomes.question)
    ]
    return [(sentences([alpha]), "") for alpha in chosen]


def _with_question(outcomes: Outcomes, claim: str, rest: str) -> tuple[str, str]:
    """The main result with its question, and where the other questions are, if there are several."""
    if not outcomes.question:
        return claim, rest
    others = [f"“{name}”" for name in outcomes.questions if name != outcomes.question]
    if len(others) == 1:
        more = f"The other question, {others[0]}, is in the results below."
    else:
        more = f"The other {len(others)} questions are in the results below."
    return f"Question “{outcomes.question}”: {claim}", f"{rest} {more}".strip()


def _who_stays(screening: Screening) -> tuple[str, str]:
    everyone, excluded = screening.judgments.participants.height, len(screening.excluded)
    if screening.exclude is None:
        who = {1: "The one participant is", 2: "Both participants are"}.get(
            everyone, f"All {everyone:,} participants are"
        )
        return f"{who} in the analysis.", "No exclusion rule was stated."
    claim = f"{everyone - excluded:,} of {counted(everyone, 'participant')} stay."
    by = excluded_by(screening)
    if not by:
        return claim, "No criterion excludes anybody." if not excluded else ""
    counts = [f"{len(names):,} by {title[:1].lower()}{title[1:]}" for title, names in by[:MOST_REASONS]]
    others = set[str]().union(*(names for _, names in by[MOST_REASONS:]))
    counts += [f"{len(others):,} by other criteria"] if others else []
    several = ", some by several criteria" if sum(len(names) for _, names in by) > excluded else ""
    return claim, f"Excluded: {ENGLISH.several(counts)}{several}."


def _right_answers(right: tuple[float, float, float], outcomes: Outcomes) -> tuple[str, str]:
    """The percentage of right answers, and how much participants differ in it.

    The median shows whether a few participants with many answers dominate the overall percentage.
    """
    share, lowest, highest = right
    excluded = set(outcomes.analysed.excluded)
    middle = median(share for name, share in outcomes.people if name not in excluded)
    ends = f"Participants range from {lowest:.0f} % to {highest:.0f} %, with a median of {middle:.0f} %."
    return f"{share:.0f} % of answers are right.", ends


def _main(outcomes: Outcomes) -> tuple[str, str]:
    """The main result on the response scale."""
    if _by_tests(outcomes):
        return _tested(outcomes)
    if outcomes.comparisons:
        return _compared(outcomes) if math.isfinite(outcomes.analysed.comparisons[0][0]) else _described(outcomes)
    if outcomes.by_question:
        return _each_question(outcomes), " ".join(_described(outcomes)).strip()
    return _described(outcomes)


def _each_question(outcomes: Outcomes) -> str:
    """The factors by which the answers to each of several questions differ, in its own model."""
    groups: dict[str, list[str]] = {}
    for question, tests in outcomes.by_question:
        effects = [" × ".join(test.factors) for test in tests if test.shown]
        single = [test.factors[0] for test in tests if len(test.factors) == 1]
        none = f"show no difference by {ENGLISH.several(single, 'or')}"
        groups.setdefault(f"differ by {ENGLISH.several(effects)}" if effects else none, []).append(f"“{question}”")
    return " ".join(f"Answers to {ENGLISH.several(questions)} {what}." for what, questions in groups.items())


def _described(outcomes: Outcomes) -> tuple[str, str]:
    """The answers without a comparison: the most frequent one, or the range of means or shares."""
    means = [cell[0] for cell in outcomes.analysed.cells]
    answered = [number for number, mean in enumerate(means) if math.isfinite(mean)]
    if not answered:
        return "There is no main result.", ""
    best, worst = max(answered, key=means.__getitem__), min(answered, key=means.__getitem__)
    name = {number: ", ".join(outcomes.cells[number]) for number in (best, worst)}
    if outcomes.kind == "preference":
        clear = outcomes.clear()
        pairs = counted(len(outcomes.cells) + outcomes.left_out, "pair")
        if len(outcomes.cells) == 1:
            first, second = name[best].split(" over ", 1) if " over " in name[best] else (name[best], "the other")
            left_out = " Answers “no difference” are left out." if outcomes.unit == CHOSEN[True] else ""
            claim = f"“{first}” was chosen over “{second}” in {_number(outcomes, means[best])} of choices."
            return claim, f"{_ends_sentence(outcomes, best)}{left_out}".strip()
        ties = " with answers other than “no difference”" * (outcomes.unit == CHOSEN[True])
        claim = f"Choices show a preference in {clear:,} of {pairs}{ties}."
        if not clear:
            return claim, "No 95 % interval excludes one half."
        rest = " The 95 % intervals behind this are not adjusted for the number of pairs, so some may be due to chance."
        share = _number(outcomes, means[best])
        if sum(_number(outcomes, means[number]) == share for number in answered) > 1:
            return claim, f"In the clearest pairs, one side has {share} of choices.{rest}"
        return claim, f"The clearest is {name[best]} ({share} of choices).{rest}"
    if outcomes.factors == ("answer",):
        pooled = f" to the {len(outcomes.questions)} questions" if outcomes.questions and not outcomes.question else ""
        share = _number(outcomes, means[best])
        often = [f"“{_minus(outcomes.cells[cell][0])}”" for cell in answered if _number(outcomes, means[cell]) == share]
        if 1 < len(often) < len(answered):
            return f"The most frequent answers are {ENGLISH.several(often)}, with {share} of answers each{pooled}.", ""
        if len(often) > 1:
            return f"All answers are equally frequent, with {share} of answers each{pooled}.", ""
        return f"The most frequent answer is “{_minus(name[best])}”, with {share} of answers{pooled}.", ""
    many, single = {"means": (f"{outcomes.unit.capitalize()}s", outcomes.unit),
                    "share": (f"Shares of {outcomes.answer}", f"share of {outcomes.answer}"),
                    "right": ("Right answers", "share of right answers")}[outcomes.kind]  # fmt: skip
    low, high = _number(outcomes, means[worst]), _number(outcomes, means[best])
    if len(answered) == 1:
        return f"The {single} is {high}.", _ends_sentence(outcomes, best)
    if low == high:
        return f"{many} are {high} in all conditions.", ""
    return f"{many} range from {low} to {high}.", (f"The lowest is “{name[worst]}”, the highest “{name[best]}”.")


def _by_tests(outcomes: Outcomes) -> bool:
    """Whether tests of whole factors come first: nothing is planned, and a factor has more than two levels."""
    planned = any(comparison.planned for comparison in outcomes.comparisons)
    return bool(outcomes.tests) and not planned and any(len(levels) > 2 for levels in _levels(outcomes))


def _levels(outcomes: Outcomes) -> list[list[str]]:
    """The levels of each factor that are in the figure."""
    return [list(dict.fromkeys(cell[place] for cell in outcomes.cells)) for place in range(len(outcomes.factors))]


def _tested(outcomes: Outcomes) -> tuple[str, str]:
    """The model's tests of factors with several levels, and the range of means."""
    what = {"means": "Ratings", "share": f"Shares of {outcomes.answer}", "right": "Shares of right answers"}[
        outcomes.kind
    ]
    cells = zip(outcomes.analysed.cells, outcomes.cells, strict=True)
    means = [(cell[0], ", ".join(name)) for cell, name in cells if math.isfinite(cell[0])]
    (low, worst), (high, best) = min(means), max(means)
    spread = f"{'Means' if outcomes.kind == 'means' else 'Shares'} range from {_number(outcomes, low)} (“{worst}”) to "
    spread += f"{_number(outcomes, high)} (“{best}”)"
    # The interaction of most factors comes first, because the means of its factors then say little.
    both = max((test for test in outcomes.tests if test.shown), key=lambda test: len(test.factors), default=None)
    crossed = both.factors if both is not None and len(both.factors) > 1 else ()
    single = [test for test in outcomes.tests if len(test.factors) == 1] or list(outcomes.tests)
    effects = [_term(test) for test in single if test.shown and not set(test.factors) <= set(crossed)]
    claims = [f"The effect of {crossed[0]} depends on {ENGLISH.several(crossed[1:])}."] if crossed else []
    claims += [f"{what} differ by {ENGLISH.several(effects)}."] if effects else []
    claim = " ".join(claims) or f"No effect of {ENGLISH.several([*map(_term, single)], 'or')} is shown."
    if len(outcomes.tests) == 1:
        return claim, f"{spread}, p {p_text(single[0].p)}."
    if both is not None and crossed and not effects:
        return claim, f"{spread}; the interaction has p {p_text(both.p)}."
    # Of three factors and their interactions, only those that are shown; if none is, the factors.
    many = len(outcomes.tests) > MOST_TESTS
    listed = [test for test in outcomes.tests if not many or test.shown] or single
    tests = [f"p {p_text(test.p)} for {_term(test)}" for test in listed]
    return claim, f"{spread}; {ENGLISH.several(tests)}."


def _term(test: TermTest) -> str:
    return " × ".join(test.factors)


def _ends_sentence(outcomes: Outcomes, cell: int) -> str:
    _, low, high = outcomes.analysed.cells[cell]
    return f"The 95 % interval is [{_number(outcomes, low)}, {_number(outcomes, high)}]." if math.isfinite(low) else ""


def _compared(outcomes: Outcomes) -> tuple[str, str]:
    """The first comparison, and a sentence on the others."""
    first, (estimate, low, high) = outcomes.comparisons[0], outcomes.analysed.comparisons[0]
    sides = outcomes.sides(outcomes.analysed, first)
    if estimate < 0 and first.simple:
        sides, estimate, low, high = (sides[1], sides[0]), -estimate, -high, -low
    over, under = (
        (first.first, first.second) if outcomes.analysed.comparisons[0][0] >= 0 else (first.second, first.first)
    )
    verb = {"means": "is rated higher than", "share": f"gets more {outcomes.answer} answers than",
            "right": "is answered correctly more often than"}[outcomes.kind]  # fmt: skip
    interaction = not first.simple and not first.planned
    if interaction:
        claim = f"The effect of {outcomes.factors[0]} depends on {outcomes.factors[1]}."
    elif not first.simple and first.shown is not None:
        claim = f"{'A' if first.shown else 'No'} difference is shown for “{first.name}”."
    elif first.shown:
        claim = f"“{over}” {verb} “{under}”."
    elif first.shown is None:
        claim = f"“{over}” minus “{under}” is {_number(outcomes, estimate, points=True)}."
    else:
        claim = f"No difference between “{first.first}” and “{first.second}” is shown."
    ends = f" [{_signed(outcomes, low)}, {_signed(outcomes, high)}]" if math.isfinite(low) else ""
    p = "" if first.p is None else f", p {p_text(first.p)}"
    rest = f"{_number(outcomes, sides[0])} against {_number(outcomes, sides[1])}: a difference of "
    if interaction:
        rest = _at_levels(outcomes)
    elif not first.simple:
        rest = f"“{first.first}” minus “{first.second}” is "
    rest += f"{_signed(outcomes, estimate)} {_points(outcomes)}{ends}{p}."
    if first.shown is not None and math.isfinite(low) and first.shown != (low > 0 or high < 0):
        rest += " The interval is over participants; the p value, from the model with items, decides."
    more = [other for other in outcomes.comparisons[1:] if other.shown is not None]
    if crossed := _crossed(outcomes, first, over, under):
        claim = f"On average, {claim.replace('No difference', 'no difference')}"
    return claim, " ".join(filter(None, (rest, crossed, _of_others(more, also=bool(first.shown)))))


def _crossed(outcomes: Outcomes, comparison: RuleComparison, over: str, under: str) -> str:
    """A planned difference at each level of the other factor, if the model shows an interaction."""
    both = any(test.shown and set(test.factors) == set(outcomes.factors) for test in outcomes.tests)
    if not (comparison.planned and comparison.simple and both and len(outcomes.factors) == 2):
        return ""
    cells = [(cell, weight, mean_ends[0]) for cell, weight, mean_ends in
             zip(outcomes.cells, comparison.weights, outcomes.analysed.cells, strict=True)]  # fmt: skip
    for place, levels in enumerate(_levels(outcomes)):
        gaps = []
        for level in levels:
            pairs = [(weight, mean) for cell, weight, mean in cells if cell[place] == level and weight]
            if pairs and abs(sum(weight for weight, _ in pairs)) < 1e-9:
                gap = sum(weight * mean for weight, mean in pairs) / sum(max(weight, 0) for weight, _ in pairs)
                gaps.append(f"{_signed(outcomes, gap if over == comparison.first else -gap)} for “{level}”")
        if len(gaps) > 1:
            return f"This depends on {outcomes.factors[place]}: “{over}” minus “{under}” is {ENGLISH.several(gaps)}."
    return ""


def _of_others(others: Sequence[RuleComparison], *, also: bool) -> str:
    """Which of the other comparisons show a difference; of many, how many do."""
    if len(others) > MOST_TESTS:
        number = sum(bool(comparison.shown) for comparison in others)
        return (
            f"{number or 'None'} of {len(others)} other comparisons {'show' if number > 1 else 'shows'} a difference."
        )
    names = [
        (f"“{comparison.name}”" if comparison.planned else comparison.name, bool(comparison.shown))
        for comparison in others
    ]
    what = "A difference" if any(comparison.planned for comparison in others) else "An effect"
    there = ENGLISH.several([name for name, is_shown in names if is_shown])
    none = ENGLISH.several([name for name, is_shown in names if not is_shown], "or")
    if there:
        return f"{what} is {'also ' if also else ''}shown for {there}{f', but none for {none}' if none else ''}."
    return f"No {what.split()[-1]} is shown for {none}." if none else ""


def _at_levels(outcomes: Outcomes) -> str:
    """The difference of the first factor at each level of the second, as the start of a sentence."""
    (first, second), others = _levels(outcomes)
    means = dict(zip(outcomes.cells, (cell[0] for cell in outcomes.analysed.cells), strict=True))
    gaps = [_signed(outcomes, means[first, level] - means[second, level]) for level in others]
    return (
        f"“{first}” minus “{second}” is {gaps[0]} for “{others[0]}” and {gaps[1]} for “{others[1]}”: a difference of "
    )


def _robust(outcomes: Outcomes) -> list[tuple[str, str]]:
    """Whether the first comparison depends on who is excluded; if tests come first, how much the means vary."""
    if _by_tests(outcomes):
        return _robust_ends(outcomes)
    if not outcomes.comparisons or len(outcomes.rules) < 2:
        return []
    rows = [rule.comparisons[0] for rule in outcomes.rules]
    if outcomes.comparisons[0].simple and rows[0][0] < 0:
        # The larger side comes first, as in the sentence before.
        rows = [(-estimate, -high, -low) for estimate, low, high in rows]
    intervals = [row for row in rows if math.isfinite(row[0])]
    if len(intervals) < 2:
        return []
    low, high = min(row[0] for row in intervals), max(row[0] for row in intervals)
    sides = {(row[1] > 0) - (row[2] < 0) for row in intervals if math.isfinite(row[1])}
    span = _span(outcomes, low, high, len(intervals))
    if len(sides) == 1:
        return [("The conclusion does not depend on who is excluded.", f"The difference {span}.")]
    return [("The conclusion depends on who is excluded.", f"The difference {span}, and not all intervals agree.")]


def _robust_ends(outcomes: Outcomes) -> list[tuple[str, str]]:
    """How much the difference of the lowest and the highest mean varies with the rule, if a test shows one."""
    means = [cell[0] for cell in outcomes.analysed.cells]
    answered = [place for place, mean in enumerate(means) if math.isfinite(mean)]
    if not any(test.shown for test in outcomes.tests) or len(answered) < 2:
        return []
    low, high = min(answered, key=means.__getitem__), max(answered, key=means.__getitem__)
    gaps = [gap for rule in outcomes.rules if math.isfinite(gap := rule.cells[high][0] - rule.cells[low][0])]
    return (
        [] if len(gaps) < 2 else [(f"The largest difference {_span(outcomes, min(gaps), max(gaps), len(gaps))}.", "")]
    )


def _span(outcomes: Outcomes, low: float, high: float, rules: int) -> str:
    """The range of a difference over exclusion rules, as the end of a sentence."""
    least, most = _signed(outcomes, low), _signed(outcomes, high)
    if least == most:
        return f"is {least} {_points(outcomes)} under {'both' if rules == 2 else f'all {rules}'} exclusion rules"
    return f"ranges from {least} to {most} {_points(outcomes)} under {rules} exclusion rules"


def _points(outcomes: Outcomes) -> str:
    """The unit of a difference: points of the scale, percentage points or, for magnitudes, logarithms."""
    return "log units" if outcomes.unit in LOG_UNITS else "percentage points" if outcomes.percent else "points"


def _number(outcomes: Outcomes, value: float, points: bool = False) -> str:
    if outcomes.percent:
        return _minus(f"{value:.0f}" + ("" if points else " %"))
    return _minus(f"{value:.{outcomes.digits}f}")


def _minus(text: str) -> str:
    return text.replace("-", "\N{MINUS SIGN}")


def _signed(outcomes: Outcomes, value: float) -> str:
    text = _number(outcomes, abs(value), points=True)
    return f"−{text}" if value < 0 and text.strip("0.") else text


def verdict(screening: Screening) -> str:
    """How many participants stay, and the rule."""
    everyone = screening.judgments.participants.height
    if screening.exclude is None:
        who = "the one participant stays" if everyone == 1 else f"all {everyone:,} participants stay"
        return f"No exclusion rule was stated, so {who} in the analysis."
    stay = everyone - len(screening.excluded)
    rule = applied_rule(rule_in_words(screening), screening.skipped)
    return f"{stay:,} of {counted(everyone, 'participant')} stay in the analysis (rule: {rule})."


def quality_sentence(gathered: ReportData) -> str:
    """The Spammer Index with its interpretation, or why there is none."""
    index = gathered.index
    if isinstance(index, NotComputed):
        return str(Message("spammer_index.none", {"why": index}))
    return sentences(index.summary)


def plainly(part: Measure, measures: Measures, study: Study | None) -> str:
    """The summary of a result with plain means or shares of conditions, or with the wording of its items."""
    judgments, summary = measures.judgments, sentences(part.result.summary)
    scale = judgments.scales.get(part.question) or next(iter(judgments.scales.values()))
    if isinstance(part.result, PlannedContrasts):
        fitted = [part.result for part in measures.parts if isinstance(part.result, Contrasts)]
        fitted = [] if part.label == RIGHT_ANSWERS else fitted
        return planned_sentence(part.result, fitted, scale)
    if isinstance(part.result, Contrasts):
        if part.result.model is not None and part.result.model.answers == RIGHT:
            scale = Binary(RIGHT)
        return f"{means_sentence(part.result, scale)} {summary}".strip()
    if isinstance(part.result, Strengths):
        tables = [judgments.frame, *(() if study is None else (block.items.frame for block in study.blocks))]
        return f"{summary} {wording_sentence(part.result, tables)}".strip()
    return ""


LONGEST_QUOTE = 60
MOST_LEVELS = 6
"""The most levels of a factor whose means are in a sentence."""


def on_scale(scale: Scale) -> str | None:
    """The unit of a plain mean; None if answers have no plain means."""
    if isinstance(scale, Ordinal):
        if as_number(scale.levels[0]) == scale.numbers[0]:
            return _minus(f"on a scale of {scale.numbers[0]:g} to {scale.numbers[-1]:g}")
        return f"with the {len(scale.levels)} points of the scale counted from 1"
    if isinstance(scale, Binary) or (isinstance(scale, Nominal) and len(scale.levels) == 2):
        return f"of answers are “{scale.levels[1]}”"
    if isinstance(scale, Continuous):
        has_ends = scale.low is not None and scale.high is not None
        return f"on a scale of {scale.low:g} to {scale.high:g}" if has_ends else "of the answers"
    return None


def planned_sentence(planned: PlannedContrasts, contrasts: Sequence[Contrasts], scale: Scale) -> str:
    """For each planned comparison, the plain means or shares of both sides, then the model's difference."""
    sentences = []
    for row in planned.frame.to_dicts():
        plain = _both(row, contrasts, scale, chosen=planned.unit.code == "unit.choosing_first")
        joined = ", as the model estimates it, is " if plain else " "
        size = f"{row['first']} minus {row['second']}{joined}{_size(row)}"
        sentences.append(f"{row['contrast']}: {plain + '; ' if plain else ''}{size}.")
    return " ".join([*sentences, f"Differences are in {planned.unit}." if sentences else ""]).strip()


def means_sentence(found: Contrasts, scale: Scale) -> str:
    """The plain means or shares of the levels of each factor; empty if there are none."""
    unit = on_scale(scale)
    if unit is None or "raw" not in found.means.columns:
        return ""
    sentences = []
    for factor in found.factors:
        rows = found.means.filter(pl.col("term") == factor, pl.col("raw").is_not_null())
        if 1 < rows.height <= MOST_LEVELS:
            levels = (f"{level} {_mean(raw, scale)}" for level, raw in rows.select(factor, "raw").iter_rows())
            sentences.append(f"{factor}: {', '.join(levels)}")
    if not sentences:
        return ""
    what = f"Shares of answers “{unit.split('“')[1]}" if "“" in unit else f"Means {unit}"
    return f"{what} by {'; by '.join(sentences)}."


def wording_sentence(found: Strengths, tables: Sequence[pl.DataFrame]) -> str:
    """The wording of the strongest and the weakest stimulus, if a table has their sentences."""
    estimated = found.frame.filter(pl.col("estimate").is_not_null())
    if estimated.height < 2 or found.alike:
        return ""
    names = ["item", *found.conditions]
    ends = [estimated.select(names).row(place, named=True) for place in (0, -1)]
    best, worst = (_wording(stimulus, tables) for stimulus in ends)
    # If sentences are the items themselves, they are quoted already.
    if not best or not worst or (best, worst) == tuple(_shortened(str(stimulus["item"])) for stimulus in ends):
        return ""
    return f"The highest reads “{best}”, the lowest “{worst}”."


def _both(row: dict[str, Any], contrasts: Sequence[Contrasts], scale: Scale, *, chosen: bool) -> str:
    """The plain means or shares of the two sides of a comparison."""
    if chosen:
        if row["raw"] is None:
            return ""
        return f"{row['first']} was chosen over {row['second']} in {100 * row['raw']:.0f} % of choices"
    unit, plain = on_scale(scale), _sides(row, contrasts)
    if unit is None or plain is None:
        return ""
    first, second = (_mean(side, scale) for side in plain)
    if "“" in unit:
        return f"{first} {unit} for {row['first']} and {second} for {row['second']}"
    return f"the mean is {first} for {row['first']} and {second} for {row['second']}, {unit}"


def _sides(row: dict[str, Any], contrasts: Sequence[Contrasts]) -> tuple[float, float] | None:
    """The plain means of both sides, from the term in which they have the difference of the comparison."""
    for result in contrasts:
        if "raw" not in result.means.columns or row["raw"] is None:
            continue
        for (_,), part in result.means.group_by("term", maintain_order=True):
            names = [name for name in result.factors if part[name].null_count() == 0]
            plain = {", ".join(cell[:-1]): cell[-1] for cell in part.select(*names, "raw").iter_rows()}
            first, second = plain.get(row["first"]), plain.get(row["second"])
            if first is not None and second is not None and abs(first - second - row["raw"]) < 1e-9:
                return first, second
    return None


def _mean(value: float, scale: Scale) -> str:
    return _minus(f"{100 * value:.0f} %" if isinstance(scale, Binary | Nominal) else f"{value:.2f}")


def _size(row: dict[str, Any]) -> str:
    if row["lower"] is None or row["upper"] is None:
        return _minus(f"{row['estimate']:.2f}, without an interval")
    return _minus(f"{row['estimate']:.2f} [{row['lower']:.2f}, {row['upper']:.2f}], p {p_text(row['p'])}")


def p_text(p: float) -> str:
    """The p of a test with its relation, such as = .03."""
    return str(Message("models.p", {"p": p}) if math.isfinite(p) else Message("models.no_p"))


def _wording(stimulus: dict[str, Any], tables: Sequence[pl.DataFrame]) -> str:
    """The sentence of a stimulus, shortened; empty if no table has exactly one."""
    for table in tables:
        if "sentence" not in table.columns or any(name not in table.columns for name in stimulus):
            continue
        matches = pl.all_horizontal(pl.col(name).cast(pl.String).eq_missing(value) for name, value in stimulus.items())
        texts = table.filter(matches)["sentence"].drop_nulls().unique().to_list()
        if len(texts) == 1:
            return _shortened(str(texts[0]))
    return ""


def _shortened(text: str) -> str:
    """A sentence in one line, cut between words."""
    plain = " ".join(text.replace("“", "‘").replace("”", "’").split()).removesuffix(".")
    return plain if len(plain) <= LONGEST_QUOTE else plain[: LONGEST_QUOTE - 1].rsplit(" ", 1)[0] + " …"
