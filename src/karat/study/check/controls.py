"""Rules about control and attention trials: enough to exclude guessing, verified, inconspicuous."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import prod

from karat.errors import ScaleError, counted
from karat.judgments.scales import Ordinal, Scale
from karat.messages import Message
from karat.study.chance import relational, smallest_pairs
from karat.study.check.draft import Draft, Row, has_factors, lines_of
from karat.study.check.findings import Flaw, rule
from karat.study.criterion import PassSettings
from karat.study.guessing import at_least as binomial_at_least
from karat.study.guessing import guessing_tails, p_sentence

INTERVAL = 8
EXTENDED = Fraction(1, 2)
MOST = 200
RELATIONS = ("relational", "extended", "strict")
"""Accounts that compare the means of grammatical and ungrammatical controls."""


@dataclass(frozen=True)
class Scored:
    """A trial with a right answer."""

    status: str | None
    chance: Fraction
    pair: str | None
    scale: Scale


def scored_trials(draft: Draft, number: int, function: str) -> list[Scored] | None:
    """The trials of a function in a list with their chance levels; None if a right answer is unknown."""
    scored = []
    for block, trials in draft.trials(number):
        for row in trials.to_dicts():
            if row["function"] != function:
                continue
            try:
                chance = block.scale.chance(row.get("expected") or "")
            except ScaleError:
                return None
            scored.append(Scored(row.get("status"), chance, row.get("pair"), block.scale))
    return scored


def at_least(chances: Sequence[Fraction], k: int) -> Fraction:
    """The probability that guessing is right in k or more trials, each with its own chance."""
    return guessing_tails(tuple(sorted(chances)))[max(k, 0)]


@rule("error", "section 5.2, tables 2 to 5", "Add controls.")
def controls(draft: Draft) -> Iterator[Flaw]:
    """There are so few controls that a guesser passes, or passes unless no slip is allowed."""
    settings = _pass_settings(draft, "controls") or PassSettings()
    if settings.account != "relational":
        yield from _worst(draft, "control", settings)


@rule("error", "section 5.2, tables 2 and 3b", "Add attention trials.")
def attention(draft: Draft) -> Iterator[Flaw]:
    """There are so few attention trials that a guesser passes, or passes unless no slip is allowed."""
    settings = _pass_settings(draft, "attention") or PassSettings()
    yield from _worst(draft, "attention", settings)


def _pass_settings(draft: Draft, criterion: str) -> PassSettings | None:
    screening = draft.study.settings.screening
    settings = screening.criteria.get(criterion) if screening is not None else None
    return settings if isinstance(settings, PassSettings) else None


def _worst(draft: Draft, function: str, settings: PassSettings) -> Iterator[Flaw]:
    """The flaw of the list that guessing passes most easily, if it is too easy."""
    account = settings.account
    slips = 0 if account == "strict" else 1 if settings.slips is None else settings.slips
    candidates = []
    for number in draft.list_numbers:
        trials = scored_trials(draft, number, function)
        groups = _groups(trials, account, by_status=function == "control") if trials else {}
        if account == "extended" and len(groups) == 2:
            candidates.append(_extended(groups, settings.alpha))
        elif groups:
            candidates.append(_counted_right(groups, function, slips, settings.alpha))
    worst = max(filter(None, candidates), key=lambda candidate: candidate[0], default=None)
    if worst is not None:
        yield Flaw(worst[1], worst[2], draft.at("screening", "controls" if function == "control" else function))


def _groups(trials: Sequence[Scored], account: str, by_status: bool) -> dict[str, list[Scored]]:
    """The trials in groups that are counted separately: grammatical and ungrammatical ratings, or pairs, else all."""
    rated = [trial for trial in trials if isinstance(trial.scale, Ordinal)]
    if len(rated) < len(trials):
        return {"": list(trials)}
    if account == "pairwise":
        pairs = {trial.pair: trial for trial in trials if trial.pair}
        points = {name: len(trial.scale.levels) for name, trial in pairs.items() if isinstance(trial.scale, Ordinal)}
        # The first of two random points is at least as high with (1 + 1/m) / 2, because a tie does not fail the pair.
        chances = {name: Fraction(m + 1, 2 * m) for name, m in points.items()}
        return {"pair": [Scored(None, chances[name], name, trial.scale) for name, trial in pairs.items() if name]}
    kinds = {name: [trial for trial in trials if trial.status == name] for name in ("grammatical", "ungrammatical")}
    if by_status and all(kinds.values()) and sum(map(len, kinds.values())) == len(trials):
        return kinds
    return {"": list(trials)}


def _counted_right(
    groups: dict[str, list[Scored]], function: str, slips: int, alpha: float
) -> tuple[Fraction, str, str] | None:
    """The probability that guessing passes a count of right answers, the flaw and its fix; None if it is low enough."""
    chances = {name: [trial.chance for trial in group] for name, group in groups.items()}
    passing, perfect = (
        prod((at_least(group, len(group) - wrong) for group in chances.values()), start=Fraction(1))
        for wrong in (slips, 0)
    )
    if passing <= Fraction(str(alpha)):
        return None
    n, p = _enough([max(group, default=Fraction(1, 2)) for group in chances.values()], slips, alpha)
    right = f"{n - slips} right{' each' if len(groups) == 2 else ''}, {p_sentence(p)}"
    fix = f"Use {n}{' of each' if len(groups) == 2 else ''} ({right})." if n else "Expect fewer of the answers."
    if len(groups) == 2:
        numbers = " and ".join(f"{len(group)} {name}" for name, group in chances.items())
        allowed = {0: "without a slip", 1: "with one slip allowed in each group"}
        text = (
            f"{numbers} trials cannot rule out guessing: {allowed.get(slips, f'with {slips} slips allowed in each')} "
            f"a guesser passes with {p_sentence(float(passing))}."
        )
        return passing, text, fix
    size = len(next(iter(chances.values())))
    noun = "pair" if "pair" in groups else f"{function} trial"
    if perfect <= Fraction(str(alpha)) and slips == 1:
        text = f"with {size} of {size} right a guesser passes with {p_sentence(float(perfect))}, with one slip with"
        return passing, f"{counted(size, noun)} leave no room for a slip: {text} {p_sentence(float(passing))}.", fix
    text = f"with {max(size - (slips if slips > 1 else 0), 0)} of {size} right a guesser passes with "
    text += p_sentence(float(perfect if slips <= 1 else passing))
    return passing, f"{counted(size, noun)} cannot rule out guessing: {text}.", fix


def _enough(chances: Sequence[Fraction], slips: int, alpha: float) -> tuple[int, float]:
    """The smallest number of trials in each group, and the probability that guessing passes; 0 if none is enough."""
    for n in range(slips + 1, MOST):
        p = prod((binomial_at_least(n, n - slips, chance) for chance in chances), start=Fraction(1))
        if p <= Fraction(str(alpha)):
            return n, float(p)
    return 0, 1.0


def _extended(groups: dict[str, list[Scored]], alpha: float) -> tuple[Fraction, str, str] | None:
    """The same for the extended relational account: half of the range between the means."""
    pairs = min(map(len, groups.values()))
    scale = next(iter(groups.values()))[0].scale
    points = len(scale.levels) if isinstance(scale, Ordinal) else 0
    p = relational(pairs, points, EXTENDED)
    if p <= alpha:
        return None
    n = smallest_pairs(points, EXTENDED, alpha)
    text = f"{counted(pairs, 'pair')} of controls cannot rule out guessing: half of the range is guessed with "
    return Fraction(p), f"{text}{p_sentence(p)}.", f"Use {max(n, INTERVAL)} of each kind." if n else ""


@rule(
    "error", "section 5.2", 'Use eight grammatical and eight ungrammatical controls, or state account = "positional".'
)
def relational_controls(draft: Draft) -> Iterator[Flaw]:
    """An account that compares means has fewer than eight controls in each condition."""
    settings = _pass_settings(draft, "controls")
    if settings is None or settings.account not in RELATIONS or not draft.plans:
        return
    for kind in ("grammatical", "ungrammatical"):
        counts = [_controls_rated(draft, number, kind) for number in draft.list_numbers]
        if 0 < min(counts) < INTERVAL:
            yield Flaw(
                f"the {settings.account} account compares means, but there are {min(counts)} {kind} controls; from "
                f"{INTERVAL} on ratings may be treated as intervals.",
                spot=draft.at("screening", "controls"),
            )
            return


def _controls_rated(draft: Draft, number: int, kind: str) -> int:
    return sum(
        row["function"] == "control" and row.get("status") == kind
        for block, trials in draft.trials(number)
        if isinstance(block.scale, Ordinal)
        for row in trials.to_dicts()
    )


@rule(
    "warning",
    "section 5.2, table 5",
    'State account = "positional" (or "extended", with eight controls in each condition).',
)
def relational_account(draft: Draft) -> Iterator[Flaw]:
    """The purely relational account is stated, which four of ten guessers pass. A difference above zero is guessed in
    nearly half of the cases."""
    settings = _pass_settings(draft, "controls")
    if settings is None or settings.account != "relational" or not draft.plans:
        return
    kinds = ("grammatical", "ungrammatical")
    pairs = min(_controls_rated(draft, number, kind) for number in draft.list_numbers for kind in kinds)
    scales = [block.scale for block in draft.study.blocks if isinstance(block.scale, Ordinal)]
    if pairs and scales:
        p = p_sentence(relational(pairs, len(scales[0].levels)))
        yield Flaw(
            f"on the relational account a guesser passes {counted(pairs, 'pair')} of controls with {p}, and more "
            "controls do not help.",
            spot=draft.at("screening", "controls"),
        )


YES = ("yes", "true", "1", "y", "ja", "oui", "sí", "si", "x")
YEAR = re.compile(r"(?:19|20)\d\d")


@rule("warning", "sections 3.2 and 3.3", "Add control and attention trials with expected answers.")
def no_controls(draft: Draft) -> Iterator[Flaw]:
    """There are no control trials, or no attention trials. Without trials that have a correct answer,
    participants who guess cannot be recognised."""
    settings = draft.study.settings
    criteria = settings.screening.criteria if settings.screening is not None else {}
    if not any(row.block.task.acceptability for row in draft.of_function("test")):
        return
    for function, criterion, purpose in (
        ("control", "controls", "participants who guess cannot be distinguished from those who judge"),
        ("attention", "attention", "careless readers cannot be recognised"),
    ):
        if criterion not in criteria and not draft.of_function(function):
            yield Flaw(f"there are no {function} trials: {purpose}.", f"Add items with the function {function}.")


@rule(
    "warning",
    "section 3.2",
    "Verify controls in a separate scale study (karat init DIR --task norming), then write when and where into "
    "the column verified.",
)
def verified(draft: Draft) -> Iterator[Flaw]:
    """The status of control stimuli has not been verified. It rests on the intuition of the author."""
    rows = [row for row in draft.of_function("control") if row.block.task.acceptability]
    # In a choice the two sentences of a control may be in two rows, of which one is enough.
    confirmed = {row.item for row in rows if is_verified(row["verified"])}
    denied = {row.item for row in rows if row["verified"] and not is_verified(row["verified"])}
    unverified = [row for row in rows if row.item not in confirmed or row.item in denied]
    if unverified:
        items = list(dict.fromkeys(row.item for row in unverified))
        all_items = {row.item for row in rows}
        where = f" ({lines_of(unverified)})" if len(unverified) > 1 else ""
        some = f"the control {items[0]} has" if len(items) == 1 else f"{len(items)} controls have"
        text = f"all {some}" if len(items) == len(all_items) > 1 else some
        yield Flaw(f"{text} no verified status{where}.", spot=unverified[0].spot)


def is_verified(text: str | None) -> bool:
    """Whether a cell marks a stimulus as verified: yes, or when and where."""
    words = re.findall(r"\w+", (text or "").lower())
    return bool(words) and (words[0] in YES or (YEAR.search(text or "") is not None and words[0] not in NO))


NO = ("no", "not", "false", "0", "n", "nein", "nicht", "non")


@rule(
    "hint", "section 3.2", 'Write both into the column verified, such as "2026-03, norming study with 40 participants".'
)
def verified_where(draft: Draft) -> Iterator[Flaw]:
    """Controls are marked as verified without saying when and where. Readers of the report cannot look it up, and
    judgments change with time and place."""
    rows = [row for row in draft.of_function("control") if row.block.task.acceptability]
    complete = {row.item for row in rows if _when_and_where(row["verified"])}
    bare = [row for row in rows if is_verified(row["verified"]) and row.item not in complete]
    if bare:
        yield Flaw(Message("check.verified_where", {"n": len({row.item for row in bare})}), spot=bare[0].spot)


def _when_and_where(text: str | None) -> bool:
    """Whether a cell has a year and other words."""
    words = set(re.findall(r"[^\W\d_]{2,}", (text or "").lower())) - {*YES, "in", "on", "at", "am", "im", "en"}
    return is_verified(text) and YEAR.search(text or "") is not None and bool(words)


@rule("hint", "section 3.2", "Add controls that deviate only slightly from test items, with the subgroup related.")
def related_controls(draft: Draft) -> Iterator[Flaw]:
    """No control resembles the test items. Related controls are less salient and help to conceal test trials."""
    yield from _without(draft, "control", "related", "unrelated controls are easily recognised")


@rule("hint", "section 3.1", "Add fillers that share a conspicuous trait of the test items, with the subgroup pseudo.")
def pseudo_fillers(draft: Draft) -> Iterator[Flaw]:
    """No filler picks up what is conspicuous in the test items."""
    yield from _without(draft, "filler", "pseudo", "what the test items have in common stands out")


def _without(draft: Draft, function: str, subgroup: str, why: str) -> Iterator[Flaw]:
    """Blocks with factors and items of a function, none of them with a subgroup."""
    for rows in draft.rows:
        members = [row for row in rows if row.function == function]
        marked = any(subgroup in (row["subgroup"] or "").lower().replace("unrelated", "") for row in members)
        if members and has_factors(members[0].block.settings) and not marked:
            text = counted(len({row.item for row in members}), function)
            yield Flaw(f"none of the {text} has the subgroup {subgroup}; {why}.")


@rule(
    "error",
    "section 3.3",
    "Hide a small violation late in the sentence, and state status = ungrammatical with its expected answer.",
)
def attention_grammatical(draft: Draft) -> Iterator[Flaw]:
    """An attention item of a rating task is grammatical. Participants who overlook everything accept a grammatical
    sentence, and so pass."""
    rows = [row for row in draft.of_function("attention") if row.block.task.rated]
    # Members of attention pairs are compared with each other; one of the two is grammatical by design.
    flawed = [row for row in rows if row["status"] == "grammatical" and not row["pair"]]
    if flawed:
        text = f"{flawed[0].item} is" if len(flawed) == 1 else f"{len(flawed)} attention items ({lines_of(flawed)}) are"
        yield Flaw(
            f"{text} grammatical: participants who read carelessly still give the right answer.", spot=flawed[0].spot
        )


LONG = 10
"""From this many words on, readers may stop before the end of a sentence."""
LONG_SPACELESS = 20
"""The same in characters, for languages without spaces."""


@rule(
    "warning",
    "section 3.3",
    "Put the violation near the end, so that only participants who read the whole sentence notice it.",
)
def attention_early(draft: Draft) -> Iterator[Flaw]:
    """The violation of an attention stimulus is in the first half of a long sentence. Its place follows from the other
    sentence of its choice or pair, or from the column violation, which repeats the wrong words."""
    spaceless = draft.spaceless
    longest = LONG_SPACELESS if spaceless else LONG
    early = []
    for rows in draft.rows:
        trials = [row for row in rows if row.function == "attention"]
        for row in trials:
            if row["violation"] and _words_before(row, spaceless) is None:
                yield Flaw(
                    Message("check.violation_absent", {"item": row.item, "text": row["violation"]}), spot=row.spot
                )
                continue
            if row["pair"] and row["status"] == "grammatical":
                continue  # The violation is in the other sentence of the pair.
            place = _words_before(row, spaceless) if row["violation"] else _first_difference(row, trials, spaceless)
            if place is not None and place[1] >= longest and 2 * place[0] < place[1]:
                early.append((row, *place))
    if early:
        row, before, length = early[0]
        items = list(dict.fromkeys(row.item for row, _, _ in early))
        values = {"item": row.item, "n": len(items) - 1 or None, "place": before + 1, "length": length}
        code = "check.attention_early_signs" if spaceless else "check.attention_early"
        yield Flaw(Message(code, values), spot=row.spot)


def _parts(text: str, spaceless: bool) -> list[str]:
    return list("".join(text.split())) if spaceless else text.split()


def _words_before(row: Row, spaceless: bool) -> tuple[int, int] | None:
    """The number of words before the violation in a row, and of all words."""
    wrong = (row["violation"] or "").casefold()
    for text in (row["sentence"], row["sentence_2"]):
        if text and wrong in text.casefold():
            before = text.casefold().index(wrong)
            return len(_parts(text[:before], spaceless)), len(_parts(text, spaceless))
    return None


def _first_difference(row: Row, rows: Sequence[Row], spaceless: bool) -> tuple[int, int] | None:
    """The place where two sentences of a choice or pair begin to differ, and the length of the shorter one."""
    name = row["pair"] or (row.item if row.block.task.compares else None)
    others = [other for other in rows if other is not row and name in (other["pair"], other.item)] if name else []
    texts = [text for text in (row["sentence"], row["sentence_2"], *(other["sentence"] for other in others)) if text]
    if len(texts) != 2:
        return None
    first, second = (_parts(text, spaceless) for text in texts)
    same = next((place for place, (a, b) in enumerate(zip(first, second, strict=False)) if a != b), None)
    return None if same is None else (same, min(len(first), len(second)))
