"""Rules about participants: their number, time and pay, and exclusions."""

import re
from collections import Counter
from collections.abc import Iterator
from math import prod

import numpy as np
import polars as pl

from karat.errors import counted
from karat.judgments.columns import meant
from karat.judgments.scales import Binary
from karat.messages import Message
from karat.packages import offered
from karat.study.check.draft import Draft, degree, has_factors
from karat.study.check.findings import Flaw, rule
from karat.study.criteria import CRITERIA
from karat.study.designs.factorial import spelled
from karat.study.orders import OrderError, OrderUndecidedError
from karat.study.plan import Block
from karat.study.setting_base import known_words
from karat.study.settings import CODED_PLATFORMS, PLATFORMS
from karat.study.size import CALIBRATION, FILLERS_PER_TEST, LEXICALISATIONS, MOST_TRIALS

SPREAD_FROM = 4
"""From this many trials on it is no accident if all are in one half of several questionnaires."""
QUESTIONNAIRES = 4


DEGREES = {"low": Message("check.low"), "mid": Message("check.mid"), "high": Message("check.high")}


@rule("error", "section 3.1", "Add test items: six for each condition that a participant sees.")
def lexicalisations(draft: Draft) -> Iterator[Flaw]:
    """A participant sees fewer than six lexicalisations of a condition."""
    for index, block, lists in draft.planned():
        if not has_factors(block.settings):
            continue
        names = block.settings.condition_factors
        seen = [(count, condition) for trials in lists for condition, count in _seen(trials, names).items()]
        fewest, condition = min(seen, default=(0, ("",) * len(names)))
        if not seen:
            yield Flaw(Message("check.no_tests"), "Add items with the function test.", draft.at("block", index))
        elif fewest < LEXICALISATIONS:
            needed = LEXICALISATIONS * max(len(_seen(trials, names)) for trials in lists)
            values = {"n": fewest, "condition": spelled(names, condition) if names else None, "least": LEXICALISATIONS}
            yield Flaw(
                Message("check.lexicalisations", values),
                f"Use {needed} test items or more, so that a list has {LEXICALISATIONS} of each condition.",
                draft.at("block", index, "factors"),
            )


def _seen(trials: pl.DataFrame, names: list[str]) -> Counter[tuple[str, ...]]:
    test = trials.filter(pl.col("function") == "test")
    rows = test.select(names).rows() if names else [()] * test.height
    return Counter(tuple(map(str, row)) for row in rows)


@rule("warning", "section 3.1", "Add fillers: two for each test trial.")
def ratio(draft: Draft) -> Iterator[Flaw]:
    """There are fewer than two fillers for each test trial (all other functions count as fillers)."""
    for _, block, lists in draft.planned():
        if not has_factors(block.settings):
            continue
        counts = [(_number(trials, "test"), trials.height) for trials in lists]
        tests, total = min(counts, key=lambda pair: (pair[1] - pair[0]) / pair[0] if pair[0] else np.inf)
        fillers = total - tests
        if tests and fillers < FILLERS_PER_TEST * tests:
            values = {"tests": tests, "fillers": fillers, "ratio": f"{fillers / tests:.2g}", "least": FILLERS_PER_TEST}
            yield Flaw(
                Message("check.ratio", values),
                f"Add {FILLERS_PER_TEST * tests - fillers} fillers; controls, attention and calibration count too.",
            )


def _number(trials: pl.DataFrame, function: str) -> int:
    return int((trials["function"] == function).sum())


@rule(
    "warning",
    "section 3.1",
    "Use fewer conditions, compare two conditions in a choice, or vary a factor between participants.",
)
def length(draft: Draft) -> Iterator[Flaw]:
    """A participant judges more than about 100 trials."""
    most = max((draft.study.showings(number, judged_only=True) for number in draft.list_numbers), default=0)
    if most > MOST_TRIALS:
        factors = any(has_factors(block.settings) for block in draft.study.blocks)
        pairs = any(block.settings.pairs is not None for block in draft.study.blocks)
        part = "Use fewer pairs." if pairs else "Show each participant a part of the items: subset = { ... }."
        fix = "" if factors else f"{part} Or split them over two studies."
        yield Flaw(Message("check.length", {"n": most, "most": MOST_TRIALS}), fix)


@rule("warning", "section 3.1", "Add calibration trials, six in all, that use the whole scale.")
def calibration(draft: Draft) -> Iterator[Flaw]:
    """A task begins with fewer than six calibration trials."""
    for _, _, trials in _first_of_each_task(draft):
        count = _number(trials, "calibration")
        if count < CALIBRATION:
            code = "check.calibration" if count else "check.no_calibration"
            yield Flaw(
                Message(code, {"n": count, "usual": CALIBRATION}),
                f"Add {counted(CALIBRATION - count, 'item')} with the function calibration.",
            )


@rule(
    "warning",
    "section 3.1",
    "Use clearly natural, doubtful and clearly unnatural sentences, and mark them: acceptability = low, mid, high.",
)
def calibration_range(draft: Draft) -> Iterator[Flaw]:
    """Calibration trials do not cover the scale, or do not say what they cover."""
    for index, block, trials in _first_of_each_task(draft):
        rows = trials.filter(pl.col("function") == "calibration").to_dicts()
        if not block.task.rated or not rows:
            continue
        spot = draft.spot_of(index, rows[0]["item"])
        degrees = [degree(block.scale, row.get("acceptability"), row.get("status")) for row in rows]
        wanted = ("low", "high") if isinstance(block.scale, Binary) else ("low", "mid", "high")
        missing = [name for name in wanted if name not in degrees]
        unknown = degrees.count(None)
        if not missing:
            continue
        if unknown:
            yield Flaw(
                Message("check.calibration_unknown", {"n": unknown, "of": len(rows)}),
                "Fill the column acceptability: low, mid or high.",
                spot,
            )
        else:
            lacking = [DEGREES[name] for name in missing]
            yield Flaw(Message("check.calibration_range", {"n": len(rows), "missing": lacking}), spot=spot)


def _first_of_each_task(draft: Draft) -> Iterator[tuple[int, Block, pl.DataFrame]]:
    """The first list of each block whose task no earlier block has."""
    met = set()
    for index, block, lists in draft.planned():
        if block.task.acceptability and block.settings.task not in met:
            met.add(block.settings.task)
            yield index, block, lists[0]


@rule("error", "section 3.1", "Add fillers, or state [order] test_adjacent = true.", must=True)
def adjacent_tests(draft: Draft) -> Iterator[Flaw]:
    """Test trials cannot be kept apart."""
    error = draft.order_error
    if error is not None and _is_about_tests(error):
        message, fix = error.what, error.fix
        fix = f"{fix} Or state [order] test_adjacent = true."
        yield Flaw(message, fix, draft.at("order", "test_adjacent"))


@rule("error", "section 3.1 and footnote 7", "Loosen a rule of [order].", must=True)
def order(draft: Draft) -> Iterator[Flaw]:
    """The rules of [order] are not compatible. Orders that the solver proves impossible for another reason."""
    error = draft.order_error
    if error is not None and not isinstance(error, OrderUndecidedError) and not _is_about_tests(error):
        yield Flaw(error.what, error.fix, draft.at("order"))


@rule("warning", fix="Loosen a rule of [order].")
def order_undecided(draft: Draft) -> Iterator[Flaw]:
    """No order was found in time that satisfies [order], and none was proved impossible."""
    error = draft.order_error
    if isinstance(error, OrderUndecidedError):
        yield Flaw(error.what, error.fix, draft.at("order"))


def _is_about_tests(error: OrderError) -> bool:
    return not isinstance(error, OrderUndecidedError) and error.separated == "test"


@rule("warning", "section 3.3", 'State [order] spread = ["control", "attention"].')
def spread(draft: Draft) -> Iterator[Flaw]:
    """Controls or attention trials may be, or always are, at one end of the questionnaire."""
    if not draft.plans or draft.order_error is not None:
        return
    orders = [
        draft.study.questionnaire(list=1 + number % draft.list_count, participant=number + 1).frame
        for number in range(QUESTIONNAIRES)
    ]
    settings = draft.study.settings.order
    for function in ("control", "attention"):
        shares = [_positions(frame, function) for frame in orders]
        fewest = min(len(positions) for positions in shares)
        if fewest < SPREAD_FROM:
            continue
        half = "first" if all(max(positions) <= 0.5 for positions in shares) else "second"
        if half == "first" or all(min(positions) > 0.5 for positions in shares):
            code = "check.spread_first" if half == "first" else "check.spread_second"
            yield Flaw(
                Message(code, {"n": fewest, "function": function}),
                f"Put {function} trials into every block.",
                draft.at("order"),
            )
        elif function not in settings.spread and settings.mixed_blocks < 2:
            yield Flaw(
                Message("check.spread", {"n": fewest, "function": function}),
                f'Add "{function}" to [order] spread.',
                draft.at("order", "spread"),
            )


def _positions(frame: pl.DataFrame, function: str) -> list[float]:
    """The positions of a function's trials as shares of the questionnaire."""
    last = int(frame["trial"].max())  # type: ignore[arg-type]
    return [int(trial) / last for trial in frame.filter(pl.col("function") == function)["trial"].unique().to_list()]


FEWEST, USUAL = 24, 36
SHORT = 0.7
"""If the study file states less than this share of the estimated time, the estimate is hardly wrong."""


@rule("warning", "section 4", "Recruit 24 to 36 participants.")
def participants(draft: Draft) -> Iterator[Flaw]:
    """There are fewer than 24 participants (for each group of a factor between participants)."""
    blocks = [block.settings for block in draft.study.blocks if block.task.acceptability]
    if not blocks or any(block.subset is not None for block in blocks):
        return
    groups = max(
        prod(len(factor.levels) for factor in block.factors.values() if factor.between == "participants")
        for block in blocks
    )
    number = draft.study.settings.recruitment.participants
    if number < FEWEST * groups:
        spot = draft.at("recruitment", "participants")
        if groups == 1:
            values = {"n": number, "fewest": FEWEST, "usual": USUAL}
            yield Flaw(Message("check.participants", values), spot=spot)
        else:
            values = {"n": number, "groups": groups, "each": number // groups, "fewest": FEWEST, "usual": USUAL}
            yield Flaw(
                Message("check.participants_groups", values),
                f"Recruit {FEWEST * groups} to {USUAL * groups}, or vary the factor within participants.",
                spot,
            )


@rule("warning", "section 3.1", "Recruit a multiple of the number of lists.")
def participants_lists(draft: Draft) -> Iterator[Flaw]:
    """The participants cannot be divided equally among the lists."""
    number, lists = draft.study.settings.recruitment.participants, draft.list_count
    rotated = all(block.settings.factors and block.settings.subset is None for block in draft.study.blocks)
    if lists > 1 and rotated and number % lists:
        below = number - number % lists
        numbers = f"{below} or {below + lists}" if below else str(lists)
        yield Flaw(
            Message("check.participants_lists", {"n": number, "lists": lists}),
            f"Recruit {numbers}.",
            draft.at("recruitment", "participants"),
        )


@rule("error", "Macketanz et al., section 3", "Recruit as many participants as the ratings need.")
def participants_ratings(draft: Draft) -> Iterator[Flaw]:
    """There are too few participants for the ratings that each item of a subset design should get. With k of n items
    each and r ratings per item, n r / k participants are needed."""
    number = draft.study.settings.recruitment.participants
    for index, block in enumerate(draft.study.blocks):
        subset = block.settings.subset
        if subset is None:
            continue
        key = "item" if block.settings.pairs is None else "pair"
        items = len({row[key] or row.item for row in draft.rows[index] if row.function == "test"})
        needed = -(-items * subset.ratings // subset.per_participant)
        if number < needed:
            code = "check.ratings_of_items" if key == "item" else "check.ratings_of_pairs"
            numbers = {"n": items, "ratings": subset.ratings, "each": subset.per_participant}
            message = Message(code, {**numbers, "needed": needed, "wanted": number})
            yield Flaw(message, f"Recruit {needed}.", draft.at("recruitment", "participants"))


@rule("error", fix="Pay more, or shorten the study.")
def pay(draft: Draft) -> Iterator[Flaw]:
    """The pay per hour is below the stated minimum, given the estimated duration."""
    settings = draft.study.settings.recruitment
    if settings.hourly_pay is None or settings.minimum_hourly_pay is None or not draft.plans:
        return
    duration = settings.minutes if settings.minutes is not None else draft.longest
    real = max(duration, draft.longest)
    earned = settings.hourly_pay * duration / real
    if earned < settings.minimum_hourly_pay - 0.005:
        money, least = settings.currency, settings.minimum_hourly_pay
        late = {} if real == duration else {"paid": duration, "minutes": real}
        yield Flaw(
            Message("check.pay", {"earned": earned, "currency": money, "least": least, **late}),
            f"Pay {settings.minimum_hourly_pay * real / 60:.2f} {money} for the study.",
            draft.at("recruitment", "hourly_pay"),
        )


@rule("warning", fix="State the time that it will take, because participants are paid for it.")
def minutes(draft: Draft) -> Iterator[Flaw]:
    """The stated duration is much shorter than the estimated one."""
    duration = draft.study.settings.recruitment.minutes
    if duration is not None and draft.plans and duration < SHORT * draft.longest:
        yield Flaw(
            Message("check.minutes", {"said": duration, "minutes": draft.longest}),
            f"State minutes = {draft.longest:.0f}.",
            draft.at("recruitment", "minutes"),
        )


@rule("error", fix="Fix the name, or state id_parameter and completion_url.")
def platform(draft: Draft) -> Iterator[Flaw]:
    """karat does not know the platform, and the study does not say how it identifies participants or takes them back. A
    misspelt name would count as a plain link, and no identifiers would be read."""
    settings = draft.study.settings.recruitment
    name = settings.platform.strip().lower()
    configured = {"id_parameter", "completion_url"} & settings.model_fields_set
    if name in ("", *PLATFORMS) or configured or name in {entry.name for entry in offered("karat.platforms")}:
        return
    fallback = f"Write one of {', '.join(PLATFORMS)}; for any other, state id_parameter and completion_url."
    fix = f"{meant(name, list(PLATFORMS), '')} {fallback}".strip()
    yield Flaw(Message("check.platform", {"name": name}), fix, draft.at("recruitment", "platform"))


@rule("warning", fix='Set [recruitment] completion_code = "..." to the code that the platform shows you.')
def completion_code(draft: Draft) -> Iterator[Flaw]:
    """Participants return to the platform with a code, and none is stated. The platform pays by its own code, not by
    one from karat."""
    settings = draft.study.settings.recruitment
    name = settings.platform.strip().lower()
    if name in CODED_PLATFORMS and not settings.completion_code:
        title = name.capitalize()
        yield Flaw(
            Message("check.completion_code", {"platform": title}),
            f'Create a completion code on {title} and add it to [recruitment]: completion_code = "...".',
            draft.at("recruitment", "platform"),
        )


@rule("error", fix="Raise the quotas, or recruit fewer participants.")
def quotas(draft: Draft) -> Iterator[Flaw]:
    """The quotas leave no room for all participants, or no background question can fill them."""
    settings = draft.study.settings
    questions = {question.name: question for question in settings.background}
    for name, most in settings.recruitment.quotas.items():
        spot = draft.at("recruitment", "quotas")
        question = questions.get(name)
        if question is None:
            yield Flaw(Message("check.quota_unasked", {"name": name}),
                       f'Add [[background]] with name = "{name}".', spot)  # fmt: skip
            continue
        if question.when == "after":
            yield Flaw(Message("check.quota_after", {"name": name}),
                       'Ask it before them: when = "before".', spot)  # fmt: skip
            continue
        unknown = [answer for answer in most if question.answers and answer not in question.answers]
        if unknown:
            yield Flaw(Message("check.quota_answer", {"name": name, "answer": unknown[0]}),
                       f"There are {', '.join(question.answers)}.", spot)  # fmt: skip
        elif question.answers and set(question.eligible or question.answers) <= set(most):
            room = sum(most[answer] for answer in question.eligible or question.answers)
            if room < settings.recruitment.participants:
                values = {"name": name, "room": room, "wanted": settings.recruitment.participants}
                yield Flaw(Message("check.quotas", values), spot=spot)


@rule(
    "warning", "section 5", "Set them before you collect data: [screening] completion, remfod, attention, controls, ..."
)
def screening(draft: Draft) -> Iterator[Flaw]:
    """No screening rules are stated."""
    settings = draft.study.settings.screening
    if settings is None or not settings.criteria:
        yield Flaw(Message("check.screening"))


@rule("error", fix='Write what participants agree to: [texts] consent = "...".')
def consent(draft: Draft) -> Iterator[Flaw]:
    """There is no text to which participants agree before they begin. Where consent is given elsewhere, allow it."""
    if not draft.study.settings.texts.consent.strip():
        yield Flaw(Message("check.consent"))


@rule("warning", fix="Add an answer such as prefer not to say, or state required = false.")
def personal_question(draft: Draft) -> Iterator[Flaw]:
    """A question about the participant must be answered and cannot be declined. Questions that decide who is eligible
    are left out: to decline them is not to take part."""
    settings = draft.study.settings
    pattern = known_words()["declining"].get(settings.language[:2].lower())
    for place, question in enumerate(settings.background):
        if not question.required or question.eligible or (pattern is None and question.answers):
            continue
        if not any(re.search(pattern or "", answer.lower()) for answer in question.answers):
            yield Flaw(Message("check.personal_question", {"name": question.name}), spot=draft.at("background", place))


@rule("error", "section 5", "Add what the criterion needs, or take it out of [screening].")
def screening_impossible(draft: Draft) -> Iterator[Flaw]:
    """A screening criterion needs something that the study does not have."""
    settings = draft.study.settings
    if settings.screening is None:
        return
    functions = {row.function for row in draft.all_rows}
    for name, criterion_values in settings.screening.criteria.items():
        criterion = CRITERIA[name]
        spot = draft.at("screening", name)
        lacking = [function for function in criterion.needs_functions if function not in functions]
        if lacking:
            yield Flaw(Message("check.criterion_trials", {"criterion": name, "function": lacking[0]}),
                       f"Add items with the function {lacking[0]}, or take {name} out.", spot)  # fmt: skip
        if criterion.needs_repeated_questions and not _asks_twice(draft):
            fix = "State repeated_items in a block, or repeated_questions in a differential."
            yield Flaw(Message("check.criterion_repeats", {"criterion": name}), fix, spot)
        if criterion.needs_quiz and not settings.texts.quiz:
            yield Flaw(Message("check.criterion_quiz", {"criterion": name}), "Add [[texts.quiz]].", spot)
        if criterion.needs_eligibility and not any(question.eligible for question in settings.background):
            fix = "Add eligible = [...] to a [[background]] question."
            yield Flaw(Message("check.criterion_eligible", {"criterion": name}), fix, spot)
        if not lacking and criterion.impossible is not None:
            for message, fix in criterion.impossible(draft, criterion_values):
                yield Flaw(message, fix, spot)


def _asks_twice(draft: Draft) -> bool:
    blocks = [block.settings for block in draft.study.blocks]
    again = any(block.repeated_questions or block.repeated_items or block.rounds > 1 for block in blocks)
    return again or draft.study.settings.questionnaire.sessions == 2
