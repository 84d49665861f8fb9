"""Rules about participants: how many, for how long, for what pay, and who is to be excluded."""

import re
from collections.abc import Iterator
from math import prod

from karat.judgments.columns import nearest
from karat.messages import Message
from karat.packages import offered
from karat.study.check.draft import Draft
from karat.study.check.findings import Flaw, rule
from karat.study.criteria import CRITERIA
from karat.study.setting_base import known_words
from karat.study.settings import CODED_PLATFORMS, PLATFORMS

FEWEST, USUAL = 24, 36
SHORT = 0.7
"""Where a study is said to take less than this share of its estimated time, the estimate is hardly wrong."""


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
            asked = {"n": items, "ratings": subset.ratings, "each": subset.per_participant}
            message = Message(code, {**asked, "needed": needed, "wanted": number})
            yield Flaw(message, f"Recruit {needed}.", draft.at("recruitment", "participants"))


@rule("error", fix="Pay more, or shorten the study.")
def pay(draft: Draft) -> Iterator[Flaw]:
    """The pay per hour is below the stated minimum, given the estimated duration."""
    settings = draft.study.settings.recruitment
    if settings.hourly_pay is None or settings.minimum_hourly_pay is None or not draft.plans:
        return
    said = settings.minutes if settings.minutes is not None else draft.longest
    real = max(said, draft.longest)
    earned = settings.hourly_pay * said / real
    if earned < settings.minimum_hourly_pay - 0.005:
        money, least = settings.currency, settings.minimum_hourly_pay
        late = {} if real == said else {"paid": said, "minutes": real}
        yield Flaw(
            Message("check.pay", {"earned": earned, "currency": money, "least": least, **late}),
            f"Pay {settings.minimum_hourly_pay * real / 60:.2f} {money} for the study.",
            draft.at("recruitment", "hourly_pay"),
        )


@rule("warning", fix="State the time that it will take, because participants are paid for it.")
def minutes(draft: Draft) -> Iterator[Flaw]:
    """The stated duration is much shorter than the estimated one."""
    said = draft.study.settings.recruitment.minutes
    if said is not None and draft.plans and said < SHORT * draft.longest:
        yield Flaw(
            Message("check.minutes", {"said": said, "minutes": draft.longest}),
            f"State minutes = {draft.longest:.0f}.",
            draft.at("recruitment", "minutes"),
        )


@rule("error", fix="Fix the name, or state id_parameter and completion_url.")
def platform(draft: Draft) -> Iterator[Flaw]:
    """karat does not know the platform, and the study does not say how it identifies participants or takes them back. A
    misspelt name would count as a plain link, and no identifiers would be read."""
    settings = draft.study.settings.recruitment
    name = settings.platform.strip().lower()
    stated = {"id_parameter", "completion_url"} & settings.model_fields_set
    if name in ("", *PLATFORMS) or stated or name in {entry.name for entry in offered("karat.platforms")}:
        return
    close = nearest(name, list(PLATFORMS))
    hint = f"Did you mean {close}? " if close else ""
    yield Flaw(
        Message("check.platform", {"name": name}),
        f"{hint}Write one of {', '.join(PLATFORMS)}; for any other, state id_parameter and completion_url.",
        draft.at("recruitment", "platform"),
    )


@rule("warning", fix='State [recruitment] completion_code = "..." with the code that the platform shows you.')
def completion_code(draft: Draft) -> Iterator[Flaw]:
    """Participants return to the platform with a code, and none is stated. The platform pays by its own code, not by
    one that karat makes up."""
    settings = draft.study.settings.recruitment
    name = settings.platform.strip().lower()
    if name in CODED_PLATFORMS and not settings.completion_code:
        title = name.capitalize()
        yield Flaw(
            Message("check.completion_code", {"platform": title}),
            f'Make a completion code on {title}, and state it in [recruitment]: completion_code = "...".',
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
    "warning", "section 5", "State them before there are data: [screening] completion, remfod, attention, controls, ..."
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
    for name, own in settings.screening.criteria.items():
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
            for message, fix in criterion.impossible(draft, own):
                yield Flaw(message, fix, spot)


def _asks_twice(draft: Draft) -> bool:
    blocks = [block.settings for block in draft.study.blocks]
    again = any(block.repeated_questions or block.repeated_items or block.rounds > 1 for block in blocks)
    return again or draft.study.settings.questionnaire.sessions == 2
