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
    return Section("brief", "In brief", tuple(f"{one} {other}".strip() for one, other in leads(gathered)))


def leads(gathered: ReportData) -> list[tuple[str, str]]:
    """The sentences of the first screen: a short claim and its evidence."""
    sentences = [*((str(change), "") for change in gathered.screening.changes), _who_stays(gathered.screening)]
    found = gathered.outcomes
    if isinstance(found, Outcomes):
        if found.right is not None:
            sentences.append(_right_answers(found.right, found))
        sentences += _agreement(gathered.measures, found)
        decided = found.tests or not found.comparisons or found.comparisons[0].shown is not None
        sentences += [_asked(found, *_main(found)), *_robust(found)] if found.right is None or decided else []
    return sentences


def _agreement(measures: Measures | NotComputed, found: Outcomes) -> list[tuple[str, str]]:
    """The agreement of participants, if answers are counted and not compared."""
    if isinstance(measures, NotComputed) or (found.kind, *found.factors) not in COUNTED:
        return []
    said = [message for part in measures.parts if isinstance(part.result, Agreement) for message in part.result.summary]
    alphas = list(with_code(said, "agreement.alpha"))
    own = [one for one in alphas if len(alphas) == 1 or (found.question and one.values["question"] == found.question)]
    return [(sentences([one]), "") for one in own]


def _asked(found: Outcomes, claim: str, rest: str) -> tuple[str, str]:
    """The main result with its question, and where the other questions are, if there are several."""
    if not found.question:
        return claim, rest
    others = [f"“{name}”" for name in found.questions if name != found.question]
    if len(others) == 1:
        more = f"The other question, {others[0]}, is in the results below."
    else:
        more = f"The other {len(others)} questions are in the results below."
    return f"Question “{found.question}”: {claim}", f"{rest} {more}".strip()


def _who_stays(screening: Screening) -> tuple[str, str]:
    everyone, gone = screening.judgments.participants.height, len(screening.excluded)
    if screening.exclude is None:
        who = {1: "The one participant is", 2: "Both participants are"}.get(
            everyone, f"All {everyone:,} participants are"
        )
        return f"{who} in the analysis.", "No exclusion rule was stated."
    claim = f"{everyone - gone:,} of {counted(everyone, 'participant')} stay."
    counts = sorted(excluded_by(screening).items(), key=lambda one: -one[1])
    if not counts:
        return claim, "No criterion excludes anybody." if not gone else ""
    sentences = [f"{number:,} by {title[:1].lower()}{title[1:]}" for title, number in counts[:MOST_REASONS]]
    rest = sum(number for _, number in counts[MOST_REASONS:])
    return claim, f"Excluded: {ENGLISH.several([*sentences, *([f'{rest:,} by other criteria'] if rest else [])])}."


def _right_answers(right: tuple[float, float, float], found: Outcomes) -> tuple[str, str]:
    """The percentage of right answers, and how much participants differ in it.

    The median shows whether a few participants with many answers dominate the overall percentage.
    """
    share, lowest, highest = right
    gone = set(found.analysed.excluded)
    middle = median(own for name, own in found.people if name not in gone)
    ends = f"Participants range from {lowest:.0f} % to {highest:.0f} %, with a median of {middle:.0f} %."
    return f"{share:.0f} % of answers are right.", ends


def _main(found: Outcomes) -> tuple[str, str]:
    """The main result on the response scale."""
    if _by_tests(found):
        return _tested(found)
    if found.comparisons:
        return _compared(found) if math.isfinite(found.analysed.comparisons[0][0]) else _described(found)
    if found.by_question:
        return _each_question(found), " ".join(_described(found)).strip()
    return _described(found)


def _each_question(found: Outcomes) -> str:
    """The factors by which the answers to each of several questions differ, in its own model."""
    groups: dict[str, list[str]] = {}
    for question, tests in found.by_question:
        shown = [" × ".join(one.factors) for one in tests if one.shown]
        none = (
            f"show no difference by {ENGLISH.several([one.factors[0] for one in tests if len(one.factors) == 1], 'or')}"
        )
        groups.setdefault(f"differ by {ENGLISH.several(shown)}" if shown else none, []).append(f"“{question}”")
    return " ".join(f"Answers to {ENGLISH.several(own)} {what}." for what, own in groups.items())


def _described(found: Outcomes) -> tuple[str, str]:
    """The answers without a comparison: the most frequent one, or the range of means or shares."""
    means = [cell[0] for cell in found.analysed.cells]
    known = [number for number, mean in enumerate(means) if math.isfinite(mean)]
    if not known:
        return "There is no main result.", ""
    best, worst = max(known, key=means.__getitem__), min(known, key=means.__getitem__)
    name = {number: ", ".join(found.cells[number]) for number in (best, worst)}
    if found.kind == "preference":
        clear = found.clear()
        pairs = counted(len(found.cells) + found.left_out, "pair")
        if len(found.cells) == 1:
            first, second = name[best].split(" over ", 1) if " over " in name[best] else (name[best], "the other")
            left_out = " Answers “no difference” are left out." if found.unit == CHOSEN[True] else ""
            claim = f"“{first}” was chosen over “{second}” in {_number(found, means[best])} of choices."
            return claim, f"{_ends_sentence(found, best)}{left_out}".strip()
        claim = f"Choices show a preference in {clear:,} of {pairs}."
        if not clear:
            return claim, "No 95 % interval excludes one half."
        rest = " The 95 % intervals behind this are not adjusted for the number of pairs, so some may be due to chance."
        share = _number(found, means[best])
        if sum(_number(found, means[number]) == share for number in known) > 1:
            return claim, f"In the clearest pairs, one side has {share} of choices.{rest}"
        return claim, f"The clearest is {name[best]} ({share} of choices).{rest}"
    if found.factors == ("answer",):
        pooled = f" to the {len(found.questions)} questions" if found.questions and not found.question else ""
        share = _number(found, means[best])
        often = [f"“{_minus(found.cells[one][0])}”" for one in known if _number(found, means[one]) == share]
        if 1 < len(often) < len(known):
            return f"The most frequent answers are {ENGLISH.several(often)}, with {share} of answers each{pooled}.", ""
        if len(often) > 1:
            return f"All answers are equally frequent, with {share} of answers each{pooled}.", ""
        return f"The most frequent answer is “{_minus(name[best])}”, with {share} of answers{pooled}.", ""
    many, single = {"means": (f"{found.unit.capitalize()}s", found.unit),
                    "share": (f"Shares of {found.answer}", f"share of {found.answer}"),
                    "right": ("Right answers", "share of right answers")}[found.kind]  # fmt: skip
    low, high = _number(found, means[worst]), _number(found, means[best])
    if len(known) == 1:
        return f"The {single} is {high}.", _ends_sentence(found, best)
    if low == high:
        return f"{many} are {high} in all conditions.", ""
    return f"{many} range from {low} to {high}.", (f"The lowest is “{name[worst]}”, the highest “{name[best]}”.")


def _by_tests(found: Outcomes) -> bool:
    """Whether tests of whole factors come first: nothing is planned, and a factor has more than two levels."""
    planned = any(one.planned for one in found.comparisons)
    return bool(found.tests) and not planned and any(len(own) > 2 for own in _levels(found))


def _levels(found: Outcomes) -> list[list[str]]:
    """The levels of each factor that are in the figure."""
    return [list(dict.fromkeys(cell[place] for cell in found.cells)) for place in range(len(found.factors))]


def _tested(found: Outcomes) -> tuple[str, str]:
    """The model's tests of factors with several levels, and the range of means."""
    what = {"means": "Ratings", "share": f"Shares of {found.answer}", "right": "Shares of right answers"}[found.kind]
    cells = zip(found.analysed.cells, found.cells, strict=True)
    known = [(cell[0], ", ".join(name)) for cell, name in cells if math.isfinite(cell[0])]
    (low, worst), (high, best) = min(known), max(known)
    spread = f"{'Means' if found.kind == 'means' else 'Shares'} range from {_number(found, low)} (“{worst}”) to "
    spread += f"{_number(found, high)} (“{best}”)"
    # The interaction of most factors comes first, because the means of its factors then say little.
    both = max((one for one in found.tests if one.shown), key=lambda one: len(one.factors), default=None)
    crossed = both.factors if both is not None and len(both.factors) > 1 else ()
    single = [one for one in found.tests if len(one.factors) == 1] or list(found.tests)
    shown = [_term(one) for one in single if one.shown and not set(one.factors) <= set(crossed)]
    claims = [f"The effect of {crossed[0]} depends on {ENGLISH.several(crossed[1:])}."] if crossed else []
    claims += [f"{what} differ by {ENGLISH.several(shown)}."] if shown else []
    claim = " ".join(claims) or f"No effect of {ENGLISH.several([*map(_term, single)], 'or')} is shown."
    if len(found.tests) == 1:
        return claim, f"{spread}, p {p_text(single[0].p)}."
    if both is not None and crossed and not shown:
        return claim, f"{spread}; the interaction has p {p_text(both.p)}."
    # Of three factors and their interactions, only those that are shown; if none is, the factors.
    many = len(found.tests) > MOST_TESTS
    listed = [one for one in found.tests if not many or one.shown] or single
    tests = [f"p {p_text(one.p)} for {_term(one)}" for one in listed]
    return claim, f"{spread}; {ENGLISH.several(tests)}."


def _term(test: TermTest) -> str:
    return " × ".join(test.factors)


def _ends_sentence(found: Outcomes, cell: int) -> str:
    _, low, high = found.analysed.cells[cell]
    return f"The 95 % interval is [{_number(found, low)}, {_number(found, high)}]." if math.isfinite(low) else ""


def _compared(found: Outcomes) -> tuple[str, str]:
    """The first comparison, and a sentence on the others."""
    one, (estimate, low, high) = found.comparisons[0], found.analysed.comparisons[0]
    sides = found.sides(found.analysed, one)
    if estimate < 0 and one.simple:
        sides, estimate, low, high = (sides[1], sides[0]), -estimate, -high, -low
    over, under = (one.first, one.second) if found.analysed.comparisons[0][0] >= 0 else (one.second, one.first)
    verb = {"means": "is rated higher than", "share": f"gets more {found.answer} answers than",
            "right": "is answered correctly more often than"}[found.kind]  # fmt: skip
    interaction = not one.simple and not one.planned
    if interaction:
        claim = f"The effect of {found.factors[0]} depends on {found.factors[1]}."
    elif not one.simple and one.shown is not None:
        claim = f"{'A' if one.shown else 'No'} difference is shown for “{one.name}”."
    elif one.shown:
        claim = f"“{over}” {verb} “{under}”."
    elif one.shown is None:
        claim = f"“{over}” minus “{under}” is {_number(found, estimate, points=True)}."
    else:
        claim = f"No difference between “{one.first}” and “{one.second}” is shown."
    ends = f" [{_signed(found, low)}, {_signed(found, high)}]" if math.isfinite(low) else ""
    p = "" if one.p is None else f", p {p_text(one.p)}"
    rest = f"{_number(found, sides[0])} against {_number(found, sides[1])}: a difference of "
    if interaction:
        rest = _at_levels(found)
    elif not one.simple:
        rest = f"“{one.first}” minus “{one.second}” is "
    rest += f"{_signed(found, estimate)} {_points(found)}{ends}{p}."
    if one.shown is not None and math.isfinite(low) and one.shown != (low > 0 or high < 0):
        rest += " The interval is over participants; the p value, from the model with items, decides."
    more = [other for other in found.comparisons[1:] if other.shown is not None]
    if crossed := _crossed(found, one, over, under):
        claim = f"On average, {claim.replace('No difference', 'no difference')}"
    return claim, " ".join(filter(None, (rest, crossed, _of_others(more, also=bool(one.shown)))))


def _crossed(found: Outcomes, one: RuleComparison, over: str, under: str) -> str:
    """A planned difference at each level of the other factor, if the model shows an interaction."""
    both = any(test.shown and set(test.factors) == set(found.factors) for test in found.tests)
    if not (one.planned and one.simple and both and len(found.factors) == 2):
        return ""
    cells = [(cell, weight, own[0]) for cell, weight, own in
             zip(found.cells, one.weights, found.analysed.cells, strict=True)]  # fmt: skip
    for place, levels in enumerate(_levels(found)):
        gaps = []
        for level in levels:
            own = [(weight, mean) for cell, weight, mean in cells if cell[place] == level and weight]
            if own and abs(sum(weight for weight, _ in own)) < 1e-9:
                gap = sum(weight * mean for weight, mean in own) / sum(max(weight, 0) for weight, _ in own)
                gaps.append(f"{_signed(found, gap if over == one.first else -gap)} for “{level}”")
        if len(gaps) > 1:
            return f"This depends on {found.factors[place]}: “{over}” minus “{under}” is {ENGLISH.several(gaps)}."
    return ""


def _of_others(others: Sequence[RuleComparison], *, also: bool) -> str:
    """Which of the other comparisons show a difference; of many, how many do."""
    if len(others) > MOST_TESTS:
        shown = sum(bool(one.shown) for one in others)
        return f"{shown or 'None'} of {len(others)} other comparisons {'show' if shown > 1 else 'shows'} a difference."
    names = [(f"“{one.name}”" if one.planned else one.name, bool(one.shown)) for one in others]
    what = "A difference" if any(one.planned for one in others) else "An effect"
    there = ENGLISH.several([name for name, shown in names if shown])
    none = ENGLISH.several([name for name, shown in names if not shown], "or")
    if there:
        return f"{what} is {'also ' if also else ''}shown for {there}{f', but none for {none}' if none else ''}."
    return f"No {what.split()[-1]} is shown for {none}." if none else ""


def _at_levels(found: Outcomes) -> str:
    """The difference of the first factor at each level of the second, as the start of a sentence."""
    (first, second), others = _levels(found)
    means = dict(zip(found.cells, (cell[0] for cell in found.analysed.cells), strict=True))
    gaps = [_signed(found, means[first, level] - means[second, level]) for level in others]
    return (
        f"“{first}” minus “{second}” is {gaps[0]} for “{others[0]}” and {gaps[1]} for “{others[1]}”: a difference of "
    )


def _robust(found: Outcomes) -> list[tuple[str, str]]:
    """Whether the first comparison depends on who is excluded; if tests come first, how much the means vary."""
    if _by_tests(found):
        return _robust_ends(found)
    if not found.comparisons or len(found.rules) < 2:
        return []
    rows = [rule.comparisons[0] for rule in found.rules]
    if found.comparisons[0].simple and rows[0][0] < 0:
        # The larger side comes first, as in the sentence before.
        rows = [(-estimate, -high, -low) for estimate, low, high in rows]
    known = [row for row in rows if math.isfinite(row[0])]
    if len(known) < 2:
        return []
    low, high = min(row[0] for row in known), max(row[0] for row in known)
    sides = {(row[1] > 0) - (row[2] < 0) for row in known if math.isfinite(row[1])}
    span = _span(found, low, high, len(known))
    if len(sides) == 1:
        return [("The conclusion does not depend on who is excluded.", f"The difference {span}.")]
    return [("The conclusion depends on who is excluded.", f"The difference {span}, and not all intervals agree.")]


def _robust_ends(found: Outcomes) -> list[tuple[str, str]]:
    """How much the difference of the lowest and the highest mean varies with the rule, if a test shows one."""
    means = [cell[0] for cell in found.analysed.cells]
    known = [place for place, mean in enumerate(means) if math.isfinite(mean)]
    if not any(one.shown for one in found.tests) or len(known) < 2:
        return []
    low, high = min(known, key=means.__getitem__), max(known, key=means.__getitem__)
    gaps = [gap for rule in found.rules if math.isfinite(gap := rule.cells[high][0] - rule.cells[low][0])]
    return [] if len(gaps) < 2 else [(f"The largest difference {_span(found, min(gaps), max(gaps), len(gaps))}.", "")]


def _span(found: Outcomes, low: float, high: float, rules: int) -> str:
    """The range of a difference over exclusion rules, as the end of a sentence."""
    least, most = _signed(found, low), _signed(found, high)
    if least == most:
        return f"is {least} {_points(found)} under {'both' if rules == 2 else f'all {rules}'} exclusion rules"
    return f"ranges from {least} to {most} {_points(found)} under {rules} exclusion rules"


def _points(found: Outcomes) -> str:
    """The unit of a difference: points of the scale, percentage points or, for magnitudes, logarithms."""
    return "log units" if found.unit in LOG_UNITS else "percentage points" if found.percent else "points"


def _number(found: Outcomes, value: float, points: bool = False) -> str:
    if found.percent:
        return _minus(f"{value:.0f}" + ("" if points else " %"))
    return _minus(f"{value:.{found.digits}f}")


def _minus(text: str) -> str:
    return text.replace("-", "\N{MINUS SIGN}")


def _signed(found: Outcomes, value: float) -> str:
    text = _number(found, abs(value), points=True)
    return f"−{text}" if value < 0 and text.strip("0.") else text


def verdict(screening: Screening) -> str:
    """How many participants stay, and the rule."""
    everyone = screening.judgments.participants.height
    if screening.exclude is None:
        who = "the one participant stays" if everyone == 1 else f"all {everyone:,} participants stay"
        return f"No exclusion rule was stated, so {who} in the analysis."
    kept = everyone - len(screening.excluded)
    rule = applied_rule(rule_in_words(screening), screening.skipped)
    return f"{kept:,} of {counted(everyone, 'participant')} stay in the analysis (rule: {rule})."


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
        fitted = [one.result for one in measures.parts if isinstance(one.result, Contrasts)]
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
        known = scale.low is not None and scale.high is not None
        return f"on a scale of {scale.low:g} to {scale.high:g}" if known else "of the answers"
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
    return f"{what}: {'; '.join(sentences)}."


def wording_sentence(found: Strengths, tables: Sequence[pl.DataFrame]) -> str:
    """The wording of the strongest and the weakest stimulus, if a table has their sentences."""
    known = found.frame.filter(pl.col("estimate").is_not_null())
    if known.height < 2 or found.alike:
        return ""
    names = ["item", *found.conditions]
    ends = [known.select(names).row(place, named=True) for place in (0, -1)]
    best, worst = (_wording(one, tables) for one in ends)
    # If sentences are the items themselves, they are quoted already.
    if not best or not worst or (best, worst) == tuple(_shortened(str(one["item"])) for one in ends):
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
    first, second = (_mean(one, scale) for one in plain)
    if "“" in unit:
        return f"{first} {unit} for {row['first']} and {second} for {row['second']}"
    return f"the mean is {first} for {row['first']} and {second} for {row['second']}, {unit}"


def _sides(row: dict[str, Any], contrasts: Sequence[Contrasts]) -> tuple[float, float] | None:
    """The plain means of both sides, from the term in which they have the difference of the comparison."""
    for found in contrasts:
        if "raw" not in found.means.columns or row["raw"] is None:
            continue
        for (_,), part in found.means.group_by("term", maintain_order=True):
            names = [name for name in found.factors if part[name].null_count() == 0]
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
        own = pl.all_horizontal(pl.col(name).cast(pl.String).eq_missing(value) for name, value in stimulus.items())
        found = table.filter(own)["sentence"].drop_nulls().unique().to_list()
        if len(found) == 1:
            return _shortened(str(found[0]))
    return ""


def _shortened(text: str) -> str:
    """A sentence in one line, cut between words."""
    plain = " ".join(text.replace("“", "‘").replace("”", "’").split()).removesuffix(".")
    return plain if len(plain) <= LONGEST_QUOTE else plain[: LONGEST_QUOTE - 1].rsplit(" ", 1)[0] + " …"
