"""Guesses about a file without a description: its columns, its scale, its unit of time.

A guess is never silent: each function returns it with a message on what was assumed and which option changes it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import polars as pl

from karat.errors import IntakeError, Problem, ScaleError, counted
from karat.intake.words import word_list, word_lists, word_rows
from karat.judgments.failed_formulas import is_failed
from karat.judgments.scales import Binary, Choice, Continuous, Magnitude, Nominal, Ordinal, Scale, as_number
from karat.judgments.times import UNIX_2000
from karat.messages import Message

MOST_ORDINAL_POINTS = 11
MOST_NOMINAL_LEVELS = 50
MOST_MISSPELT = 0.02
"""The largest share of answers other than numbers that count as errors among numbers."""
FEWEST_NUMBERS = 20
"""With more answers than this, a single one that is not a number is an error, too."""
HIGHEST_SLIDER = 100
FEWEST_MAGNITUDES = 15
ROUND_ANSWERS = 0.6
"""Numbers that people choose freely are round; positions of a slider end in any digit."""
OTHER = "any other"
OF_ANSWERS = ("participant", "item", "response", "rt", "trial", "time", "list", "block", "session", "repetition")
"""Columns that may differ between answers to an item without being a condition."""

NAMES = word_lists("columns")


def plain(name: str) -> str:
    """A column name without case, blanks, dots and underscores, in any script.

    >>> plain("Reaction Time (ms)"), plain("katılımcı_no"), plain("反応時間 (ms)"), plain("ASSIGNMENT:worker_id")
    ('reactiontimems', 'katılımcıno', '反応時間ms', 'workerid')
    """
    return re.sub(r"[\W_]", "", bare_name(name).casefold())


def bare_name(name: str) -> str:
    """The name of a column without what tools add to it.

    Toloka adds the kind of field before it, as in INPUT:text, and E-Prime the level of the log after it, as in
    Judge.RESP[Trial].
    """
    return re.sub(r"^[A-Z]{3,}:(?=\S)|(?<=\w)\[(?:Session|Block|Trial|SubTrial|LogLevel\d+)\]$", "", name)


_UNIT = re.compile(r"[\s_.(\[-]+(?:in[\s_.-]+)?(?:(s|secs?|seconds)|(ms|msecs?|millis|milliseconds))[)\]]?$")


def without_unit(name: str) -> tuple[str, str | None]:
    """The name of a column without a unit of time at its end, and that unit.

    >>> without_unit("duration_s"), without_unit("WorkTimeInSeconds"), without_unit("rt (ms)"), without_unit("rts")
    (('duration', 's'), ('work_time', 's'), ('rt', 'ms'), ('rts', None))
    """
    apart = re.sub(r"(?<=[a-z])(?=[A-Z])", "_", name).lower()
    match = _UNIT.search(apart)
    return (name, None) if match is None else (apart[: match.start()], "s" if match[1] else "ms")


def guess_columns(names: Sequence[str], given_mapping: dict[str, str]) -> dict[str, str]:
    """The file's column for each of karat's: the given mapping first, then by name.

    >>> guess_columns(["workerId", "ITEM", "ANSWER", "rt"], {})
    {'participant': 'workerId', 'item': 'ITEM', 'response': 'ANSWER', 'rt': 'rt'}
    """
    mapping = dict(given_mapping)
    taken = {name for source in given_mapping.values() for name in joined(source, names)}
    spelled = {name: {plain(name)} for name in names if name not in taken}
    for column, spellings in NAMES.items():
        if column in mapping:
            continue
        # Names of times are also compared without their unit.
        candidates = {n: s | {plain(without_unit(n)[0])} for n, s in spelled.items()} if column == "rt" else spelled
        match = next((n for spelling in spellings for n, spelt in candidates.items() if spelling in spelt), None)
        if match is not None:
            mapping[column] = match
            del spelled[match]
    return mapping


def guess_mapping(frame: pl.DataFrame, given_mapping: Mapping[str, str]) -> dict[str, str]:
    """A table's column for each of karat's: the given mapping, then by name, then by content if a name misleads.

    A column called time with numbers too small for points in time holds response times.

    >>> guess_mapping(pl.DataFrame({"subject": ["a", "b"], "time": [812, 1044]}), {})
    {'participant': 'subject', 'rt': 'time'}
    """
    mapping = guess_columns(frame.columns, dict(given_mapping))
    if "time" in mapping and "time" not in given_mapping:
        numbers = frame[mapping["time"]].cast(pl.Float64, strict=False).drop_nulls()
        if len(numbers) and (numbers < UNIX_2000).all():
            mapping.setdefault("rt", mapping.pop("time"))
    return mapping


def joined(source: str, names: Sequence[str]) -> list[str]:
    """The columns in a mapping: one, several joined by +, or the two ends of a range, `expected=low..high`.

    >>> joined("low..high", ["low", "high"]), joined("a..b", ["a..b"]), joined("a..b..c", ["a..b", "c"])
    (['low', 'high'], ['a..b'], ['a..b', 'c'])
    >>> joined("verb + content", ["verb", "content"]), joined("a+b+c", ["a+b", "c"])
    (['verb', 'content'], ['a+b', 'c'])
    """
    if source in names:
        return [source]
    if "+" in source:
        return _parts(source, names) or [part.strip() for part in source.split("+")]
    if ".." not in source:
        return [source]
    # R replaces other signs with dots, so any pair of dots may be the separator.
    cuts = [[source[:at], source[at + 2 :]] for at in range(len(source)) if source.startswith("..", at)]
    return next((cut for cut in cuts if set(cut) <= set(names)), cuts[0])


def _parts(source: str, names: Sequence[str]) -> list[str]:
    """The columns of a joined name, even if a column's own name contains +; none if one is missing."""
    if source.strip() in names:
        return [source.strip()]
    for at in (at for at, sign in enumerate(source) if sign == "+"):
        first, rest = source[:at].strip(), _parts(source[at + 1 :], names)
        if first in names and rest:
            return [first, *rest]
    return []


BINARY_WORDS = word_rows("no_and_yes")


def are_verdicts(cells: pl.Series) -> bool:
    """Whether a column called judge or rater holds verdicts: yes and no, correct and incorrect.

    >>> are_verdicts(pl.Series(["Correct", "Incorrect", "Unclear"])), are_verdicts(pl.Series(["Ann", "Bo"]))
    (True, False)
    """
    values = {str(value).strip().lower() for value in cells.drop_nulls().unique()}
    paired = any(len(low) > 1 and {low, high} <= values for low, high in BINARY_WORDS)
    return paired and len(values) <= MOST_ORDINAL_POINTS


NEGATIONS = word_list("negations")


def binary_of(words: Sequence[str]) -> tuple[str, str] | None:
    """The two answers, negative one first, if they mean no and yes; keys in brackets are ignored.

    >>> binary_of(["Yes", "No"]), binary_of(["İYİ (P'ye basınız)", "KÖTÜ (Q'ya basınız)"]), binary_of(["cat", "dog"])
    (('No', 'Yes'), ("KÖTÜ (Q'ya basınız)", "İYİ (P'ye basınız)"), None)
    >>> binary_of(["Hateful", "Not hateful"]), binary_of(["word", "nonword"]), binary_of(["in", "on"])
    (('Not hateful', 'Hateful'), ('nonword', 'word'), None)
    """
    bare = {_bare_answer(word): word for word in words}
    if len(words) != 2 or len(bare) != 2:
        return None
    pair = next(((bare[low], bare[high]) for low, high in BINARY_WORDS if {low, high} == set(bare)), None)
    opposites = [(bare[low], bare[high]) for low in bare for high in bare if _is_denied(low, high)]
    return pair or next(iter(opposites), None)


DENYING = ("un", "in", "im", "dis", "in-", "non-", "non", "il", "ir", "on")
"""Negative prefixes."""


def _is_denied(word: str, of: str) -> bool:
    """Whether an answer is the other one with a negative word or prefix before it."""
    denied = len(of) > LONGEST_SYLLABLE and any(word == prefix + of for prefix in DENYING)
    return denied or any(word == f"{no} {of}" for no in NEGATIONS)


LONGEST_SYLLABLE = 3


def _bare_answer(word: str) -> str:
    """An answer without case, keys in brackets and signs; Turkish has a dotted capital I."""
    return re.sub(r"[([].*?[)\]]|[.!?:;\"]", "", word.replace("İ", "i").casefold()).strip()


NO_ANSWER = (-1, -9, -77, -88, -99, -999, 77, 88, 99, 999, 9999)
"""Numbers that stand for a missing answer."""
FEWEST_POINTS, LOWEST, HIGHEST, FEWEST_POSITIONS = 3, -5, 11, 20
"""A rating has at least this many points, between these ends; a slider has more positions than points."""


def missing_codes(numbers: Iterable[float]) -> list[float]:
    """Numbers among answers that stand for a missing answer: they cannot be on the scale of the others.

    >>> missing_codes([1, 2, 3, 4, 5, -99]), missing_codes([1, 2, 3, -1]), missing_codes([-2, -1, 0, 1, 2, 99])
    ([-99.0], [-1.0], [99.0])
    >>> missing_codes([-1, 1]), missing_codes(range(-1, 101)), missing_codes([1, 5, 10, 50, 99])
    ([], [-1.0], [])
    """
    distinct = {float(number) for number in numbers}
    codes = sorted(number for number in distinct if number in NO_ANSWER)
    rest = distinct - set(codes)
    if len(rest) >= FEWEST_POSITIONS:
        return [code for code in codes if code < 0 <= min(rest)]
    if len(rest) < FEWEST_POINTS or any(not LOWEST <= n <= HIGHEST or n % 1 for n in rest):
        return []
    return [code for code in codes if code != -1 or min(rest) > 0]


def guess_scale(answers: pl.Series, question: str = "", expected: pl.Series | None = None) -> tuple[Scale, Message]:
    """The scale of some answers, and the message about it.

    Expected answers belong to a scale of numbers even if nobody gave them.

    >>> guess_scale(pl.Series(["1", "4", "5", "2"]))[0] == Ordinal(5)
    True
    """
    words = sorted(word for word in answers.drop_nulls().unique().to_list() if not is_failed(word))
    of = {"question": question or None}
    lower = {word.lower() for word in words}
    if not words:
        return Binary(), Message("scale.no_answers", of)
    if lower <= {"left", "right", "none"}:
        return Choice(none="none" in lower), Message("scale.choice", of)
    if lower <= {"0", "1"} or lower <= {"true", "false"}:
        return Binary(), Message("scale.binary", {**of, "answers": words})
    pair = binary_of(words)
    if pair is not None:
        return Binary(pair), Message("scale.binary", {**of, "answers": words})
    if lower <= {"no", "yes"} and len(lower) == len(words):
        spelled = {word.lower(): word for word in words}
        return Binary((spelled.get("no", "no"), spelled.get("yes", "yes"))), Message(
            "scale.binary", {**of, "answers": words}
        )
    numbers = [as_number(word) for word in words]
    points = [number for number in numbers if number is not None]
    if len(points) == len(words) or _misspelt(answers, len(points)):
        return _guess_number_scale([*points, *_numbers_in(expected)], question, answers)
    ordered = ordered_answers(words)
    if ordered is not None:
        return Ordinal(ordered), Message("scale.ordered", {**of, "levels": ordered, "text": ",".join(ordered)})
    if len(words) > MOST_NOMINAL_LEVELS:
        raise IntakeError(
            f"The answers{f' of {question}' if question else ''} are {len(words):,} different texts: say which column "
            "holds the answers (--map response=NAME) or which scale they are on (--scale)."
        )
    if len(words) == 1:
        return Nominal([words[0], OTHER]), Message("scale.one_answer", {**of, "answer": words[0], "other": OTHER})
    only = _only_expected(words, expected)
    values = {**of, "n": len(words), "only": only or None, "points": _lettered(words)}
    return Nominal(sorted([*words, *only])), Message("scale.nominal", values)


LETTERED = re.compile(r"([A-Za-z])[.):](\s.*)?", re.DOTALL)


def _lettered(words: Sequence[str]) -> str | None:
    """Answers that each begin with a letter of their own, in the notation of a scale; None for other answers.

    >>> _lettered(["A. bad", "B. so-so", "C. good"]), _lettered(["A", "B", "C"]) is None
    ('A. bad,B. so-so,C. good', True)
    """
    letters = {match[1].lower() for word in words if (match := LETTERED.fullmatch(word)) and "," not in word}
    return ",".join(words) if 3 <= len(letters) == len(words) <= MOST_ORDINAL_POINTS else None


def _misspelt(answers: pl.Series, numbers: int) -> bool:
    """Whether all answers but a few are numbers, so that the few are errors to report rather than categories."""
    filled = answers.drop_nulls()
    wrong = filled.cast(pl.Float64, strict=False).null_count()
    return numbers > 1 and 0 < wrong <= max(MOST_MISSPELT * filled.len(), float(filled.len() > FEWEST_NUMBERS))


ORDERS = word_rows("orders")


def ordered_answers(words: Sequence[str]) -> list[str] | None:
    """Answers in order, if they begin with numbers or are words with a known order; None otherwise.

    >>> ordered_answers(["yes", "maybe", "no"]), ordered_answers(["2 - Likely", "1 - Impossible", "3 - Sure"])
    (['no', 'maybe', 'yes'], ['1 - Impossible', '2 - Likely', '3 - Sure'])
    """
    if not 3 <= len(words) <= MOST_ORDINAL_POINTS:
        return None
    numbered = [re.fullmatch(r"\(?(-?\d{1,2})\)?(?:\s*[-–:.=)\s]\s*\D.*)?", word, re.DOTALL) for word in words]
    starts = {int(match[1]): word for match, word in zip(numbered, words, strict=True) if match}
    if len(starts) == len(words):
        # Perhaps only the ends of a scale have labels: 1 - bad, 2, 3, 4, 5 - good.
        bare = any(as_number(word) is not None for word in words)
        every = range(min(starts), max(starts) + 1) if bare else sorted(starts)
        return [starts.get(number, str(number)) for number in every]
    codes = [re.fullmatch(r"(AO?)0*(\d{1,2})", word) for word in words]
    if all(codes) and len({code[1] for code in codes if code}) == 1:
        # LimeSurvey numbers the answers to a question; a number that nobody chose is among the others.
        numbers = {int(code[2]): word for code, word in zip(codes, words, strict=True) if code}
        blank = words[0].rstrip("0123456789")
        if min(numbers) > 0 and max(numbers) <= MOST_ORDINAL_POINTS:
            width = len(words[0]) - len(blank)
            return [numbers.get(n, f"{blank}{n:0{width}}") for n in range(1, max(numbers) + 1)]
    plainly = {_bare_answer(word) or word.strip(): word for word in words}
    order = next((order for order in ORDERS if set(plainly) <= set(order)), None)
    return _by_degree(plainly) if order is None else [plainly[word] for word in order if word in plainly]


DEGREES = {int(degree): known for degree, known in word_lists("degrees").items()}
MIDDLES = re.compile(
    r"neutral|neither.*|unsure|undecided|not sure|weder ?noch.*|teils[ ,/-]+teils|unentschieden|mittel|"
    r"ni .* ni .*|indécise?|neutre|indeciso|né .* né .*|neutraal|kararsızım"
)
OPPOSITES = word_rows("opposites")
NO_WORDS = word_list("no_words")


def _by_degree(answers: Mapping[str, str]) -> list[str] | None:
    """Answers that give the degree of a property or its opposite, lowest first; None for other answers.

    >>> _by_degree({w: w for w in ("very natural", "rather unnatural", "very unnatural", "neutral", "rather natural")})
    ['very unnatural', 'rather unnatural', 'neutral', 'rather natural', 'very natural']
    """
    parts: dict[str, tuple[str, bool, int]] = {}
    for answer in answers:
        words = answer.split()
        degree = next((n for n, known in DEGREES.items() for word in words if word in known), 2)
        rest = [w for w in words if w not in NO_WORDS and not any(w in known for known in DEGREES.values())]
        parts[answer] = " ".join(rest), any(word in NO_WORDS for word in words), degree
    qualities = {quality for answer, (quality, *_) in parts.items() if not MIDDLES.fullmatch(answer)}
    opposites = {quality for quality in qualities for other in qualities if _is_opposite(quality, other)}
    if len(qualities) - len(opposites) != 1:
        return None
    scores = {}
    for answer, (quality, denied, degree) in parts.items():
        sign = -1 if denied != (quality in opposites) else 1
        scores[answer] = 0 if MIDDLES.fullmatch(answer) else sign * degree
    if len(set(scores.values())) < len(scores) or min(scores.values()) >= 0:
        return None
    return [answers[answer] for answer in sorted(scores, key=scores.__getitem__)]


def _is_opposite(word: str, of: str) -> bool:
    """Whether a word is another one with a negative prefix, such as unnatural, or a known opposite of it."""
    return (word, of) in (*BINARY_WORDS, *OPPOSITES) or any(word == prefix + of for prefix in DENYING)


FEWEST_ORDERS = 6


def are_rankings(answers: pl.Series) -> bool:
    """Whether each answer orders the same three or more options: ABC, BAC, CAB, or 2,1,3 and 3,2,1.

    >>> are_rankings(pl.Series(["ABC", "ACB", "BAC", "BCA", "CAB", "CBA"])), are_rankings(pl.Series(["1", "2"] * 6))
    (True, False)
    """
    orders = [re.split(r"\s*[,;>|]\s*|\s+", word.strip()) for word in answers.drop_nulls().unique().to_list()]
    parts = [list(order[0]) if len(order) == 1 else order for order in orders]
    kinds = {tuple(sorted(part)) for part in parts}
    return len(orders) >= FEWEST_ORDERS and len(kinds) == 1 and len(set(parts[0])) == len(parts[0]) > 2


CONNECTIVES = word_list("connectives")
MOST_BEGINNINGS = 7


def beginnings(answers: pl.Series) -> dict[str, str] | None:
    """Answers that are many different sentences, each with its beginning; None for other answers.

    The first word distinguishes them, together with the next one if that continues it: Yes, and ...; Yes, but ...

    >>> texts = [f"{start} it is number {n}." for start in ("Yes, and", "Yes, but", "No,") for n in range(20)]
    >>> sorted(set(beginnings(pl.Series(texts)).values()))
    ['No', 'Yes, and', 'Yes, but']
    """
    words = [word for word in answers.drop_nulls().unique().to_list() if not is_failed(word)]
    if len(words) <= MOST_NOMINAL_LEVELS or any(as_number(word) is not None for word in words):
        return None
    groups = {}
    for word in words:
        first, _, rest = word.partition(" ")
        second = rest.partition(" ")[0]
        joined_on = second.lower().strip(",.") in CONNECTIVES
        groups[word] = f"{first} {second.strip(',.')}" if joined_on else first.strip(",.!?;:")
    return groups if 2 <= len(set(groups.values())) <= MOST_BEGINNINGS else None


def _only_expected(words: Sequence[str], expected: pl.Series | None) -> list[str]:
    """Correct answers that nobody gave, if people gave others: answers in another spelling altogether are left out."""
    sets = [] if expected is None else expected.drop_nulls().unique().to_list()
    right = {answer.strip() for text in sets if not is_failed(text) for answer in text.split("|")}
    scale = Nominal(words)
    new = [answer for answer in sorted(right) if not _is_known(scale, answer)]
    return new if len(new) < len(right) and len(words) + len(new) <= MOST_NOMINAL_LEVELS else []


def _is_known(scale: Scale, answer: str) -> bool:
    try:
        return bool(scale.expected(answer))
    except ScaleError:
        return False


def _numbers_in(expected: pl.Series | None) -> list[float]:
    """The numbers in sets of expected answers such as `1-2` or `4|5`."""
    sets = [] if expected is None else expected.drop_nulls().unique().to_list()
    return [float(number) for text in sets for number in re.findall(r"(?:(?<=^)|(?<=[-|\s]))-?\d+(?:\.\d+)?", text)]


def _are_code_lists(answers: pl.Series) -> bool:
    """Whether each digit of a number codes something, as in 1121: few numbers of one length, with few digits.

    >>> _are_code_lists(pl.Series(["1121", "2111", "1221"] * 5)), _are_code_lists(pl.Series(["100", "110", "210"] * 5))
    (True, False)
    """
    codes = answers.drop_nulls().cast(pl.String)
    distinct = codes.unique()
    coded = distinct.str.contains(CODE_LIST).all() and distinct.str.len_chars().n_unique() == 1
    return coded and FEWEST_CODES <= len(distinct) <= MOST_NOMINAL_LEVELS and len(codes) >= USED * len(distinct)


CODE_LIST = r"^[1-4]{3,}$"
FEWEST_CODES, USED = 3, 5
"""At least so many numbers, each with several answers on average, are codes."""


def _guess_number_scale(numbers: Sequence[float], question: str, answers: pl.Series) -> tuple[Scale, Message]:
    low, high = min(numbers), max(numbers)
    values: dict[str, Any] = {"question": question or None}
    whole = all(number == int(number) for number in numbers)
    if whole and low >= 0 and len({*numbers}) == 2 and answers.count() > FEWEST_NUMBERS:
        pair = sorted((word for word in answers.drop_nulls().unique() if as_number(word) is not None), key=float)
        if len(pair) == 2:
            return Binary((pair[0], pair[1])), Message("scale.two_codes", {**values, "no": pair[0], "yes": pair[1]})
    if whole and low >= 0 and high <= MOST_ORDINAL_POINTS and high >= 2:
        start = 0 if low == 0 else 1
        scale: Scale = Ordinal(range(start, int(high) + 1))
        # Scales usually begin at 1; codes of categories begin at 0.
        codes = None if start else ",".join(map(str, range(int(high) + 1)))
        return scale, Message("scale.points", {**values, "low": start, "high": int(high), "codes": codes})
    if low >= 0 and high > HIGHEST_SLIDER and len(set(numbers)) >= FEWEST_MAGNITUDES:
        filled = answers.cast(pl.Float64, strict=False).drop_nulls()
        # Small numbers are round only if the reference is large.
        large = filled.filter(filled > HIGHEST_SLIDER)
        if any(((n % 5) == 0).mean() >= ROUND_ANSWERS for n in (filled, large) if len(n) >= FEWEST_NUMBERS):  # type: ignore[operator]
            half, zeros = min(number for number in numbers if number > 0) / 2, int((filled == 0).sum())
            message = Message("scale.magnitude_zeros", {"n": zeros, "half": half}) if zeros else None
            values |= {"low": low, "high": high, "zeros": message}
            return Magnitude(zeros=low == 0), Message("scale.magnitude", values)
    if whole and low < 0 and max(-low, high) <= MOST_ORDINAL_POINTS // 2:
        end = int(max(-low, high))
        return Ordinal(range(-end, end + 1)), Message("scale.symmetric", {**values, "low": -end, "high": end})
    if _are_code_lists(answers):
        levels = sorted(answers.drop_nulls().unique().to_list())
        return Nominal(levels), Message("scale.nominal", {**values, "n": len(levels), "only": None, "points": None})
    return Continuous(), Message("scale.continuous", {**values, "low": low, "high": high})


MODEL_NAMES = (
    r"(?i)(?:^|[\W_])(?:(?:(?:chat)?gpt|llama|mistral|mixtral|qwen|deepseek|llm)(?:$|[\W_\d])|"
    r"(?:claude|gemini|gemma|phi|palm|command-r)(?:\d|[\W_](?:v?\d|opus|sonnet|haiku|instant|pro|flash|ultra)))"
)
"""Names of language models: gpt-4o, Llama2, claude-3; Claude alone may be a person."""
FEWEST_DISAGREEMENTS = 300
LEAST_AGREEMENT = 0.2
"""Codes are distinguished from points only if people agree on the items by at least this much beyond chance."""
NEAREST_CODES = 0.95
"""Disagreeing ratings are closer than this share of the distance by chance; disagreeing codes are not."""
FEWEST_EVEN_LEVELS = 3.0
"""If two levels have nearly all answers, the distance between people is uninformative."""
MOST_CONDITIONS, FIRST_ROWS = 50, 10_000


def are_codes(rows: pl.DataFrame, scale: Ordinal) -> bool:
    """Whether whole numbers are codes of categories: people agree on items, but disagreeing answers are not close.

    False if the data cannot show it: with few answers or little agreement, if two levels have nearly all answers, and
    if items come in conditions, which also separate answers.

    >>> import numpy as np
    >>> random = np.random.default_rng(1)
    >>> truth = random.integers(1, 6, 300).repeat(6)
    >>> answers = np.where(random.random(1800) < 0.6, truth, random.integers(1, 6, 1800)).astype(str)
    >>> are_codes(pl.DataFrame({"item": np.arange(300).repeat(6), "response": answers}), Ordinal(5))
    True
    """
    if any(_may_be_condition(rows, name) for name in rows.columns):
        return False
    nearness = _nearness(rows, scale.levels)
    return nearness is not None and nearness[1] >= LEAST_AGREEMENT and nearness[0] >= NEAREST_CODES


def graded(rows: pl.DataFrame, levels: Sequence[str]) -> list[str] | None:
    """Labels in ascending order, if they have an order and people who disagree are close to each other; None otherwise.

    >>> import numpy as np
    >>> random = np.random.default_rng(1)
    >>> answers = np.clip(random.integers(2, 5, 300).repeat(6) + random.integers(-1, 2, 1800), 1, 5).astype(str)
    >>> graded(pl.DataFrame({"item": np.arange(300).repeat(6), "response": answers}), ["3", "1", "2", "5", "4"])
    ['1', '2', '3', '4', '5']
    """
    order = ordered_answers(levels)
    nearness = None if order is None else _nearness(rows, order)
    return order if nearness is not None and nearness[0] < NEAREST_CODES else None


def _nearness(rows: pl.DataFrame, levels: Sequence[str]) -> tuple[float, float] | None:
    """The distance between people who disagree on an item, relative to chance, and their agreement beyond chance.

    None if there are too few data.
    """
    if "item" not in rows.columns:
        return None
    import numpy as np

    places = pl.col("response").cast(pl.String).replace_strict(
        list(levels), range(len(levels)), default=None, return_dtype=pl.Int64
    )  # fmt: skip
    placed = rows.select("item", _place=places).drop_nulls()
    chosen = [(pl.col("_place") == place).sum().alias(f"{place}") for place in range(len(levels))]
    counts = placed.group_by("item").agg(chosen).drop("item").to_numpy().astype(np.float64)
    together = counts.T @ counts - np.diag(counts.sum(axis=0))
    shares = counts.sum(axis=0) / max(counts.sum(), 1.0)
    by_chance = np.outer(shares, shares)
    distance = np.abs(np.subtract.outer(np.arange(len(shares)), np.arange(len(shares))))
    differ = distance > 0
    disagreements, pairs = together[differ].sum(), together.sum()
    if disagreements < 2 * FEWEST_DISAGREEMENTS or 1 / np.trace(by_chance) < FEWEST_EVEN_LEVELS:
        return None
    mean, usual = (float((cells * distance).sum() / cells[differ].sum()) for cells in (together, by_chance))
    return mean / usual, float(1 - disagreements / pairs / by_chance[differ].sum())


def _may_be_condition(rows: pl.DataFrame, name: str) -> bool:
    """Whether a column has a few values that differ within items."""
    if name in OF_ANSWERS or not 1 < rows[name].n_unique() <= MOST_CONDITIONS:
        return False
    # The first rows show most conditions, at a lower cost than all rows.
    pairs = (
        part.lazy().select("item", name).unique().collect(engine="streaming") for part in (rows.head(FIRST_ROWS), rows)
    )
    return any(pair["item"].is_duplicated().any() for pair in pairs)


MILLISECONDS_FROM, USUAL_FROM = 100.0, 300.0
"""A median response time above this is taken as milliseconds: nobody judges a sentence in under 0.1 s, and half of
all answers after more than 100 s would be a very slow study.
all answers after more than 100 s would be a very slow study."""
UNIT_GAP = 50.0
"""A gap this wide between participants' medians around the border means two different units."""


def guess_rt_unit(rt: pl.Series, participant: pl.Series, name: str, file: str) -> tuple[str, Message | None]:
    """The unit of response times, by the column's name and then by their size, and the note about it.

    Raise IntakeError if some participants' times are in seconds and others' in milliseconds: some would be wrong by a
    factor of a thousand.
    """
    if re.search(r"(\bms\b|_ms$|msec|millis)", name.lower()):
        return "ms", Message("rt.named_milliseconds", {"column": name})
    times = pl.DataFrame({"participant": participant, "rt": rt}).lazy()
    positive = pl.col("rt").filter(pl.col("rt") > 0)
    overall = rt.median()
    if not isinstance(overall, float):
        return "s", None
    medians: list[float] = []
    if (rt >= MILLISECONDS_FROM).any():
        # Means are cheaper than medians, and show whether there can be two units at all.
        per_person = times.group_by("participant")
        below = per_person.agg(pl.col("rt").mean()).select(pl.col("rt") < MILLISECONDS_FROM)
        if below.collect(engine="streaming")["rt"].drop_nulls().n_unique() > 1:
            medians = per_person.agg(positive.median()).collect()["rt"].drop_nulls().to_list()
    short = [median for median in medians if median < MILLISECONDS_FROM]
    long = [median for median in medians if median >= MILLISECONDS_FROM]
    if short and long and min(long) > UNIT_GAP * max(short):
        problem = Problem(
            f"{counted(len(long), 'participant')} with times like milliseconds (from {min(long):,.0f} on), "
            f"{len(short)} like seconds (up to {max(short):.3g})",
            "Bring them into one unit, or use --rt-unit s or --rt-unit ms to read all in that one.",
            column=name, file=file,
        )  # fmt: skip
        raise IntakeError(f"{file} mixes seconds and milliseconds:", [problem])
    if without_unit(name)[1] == "s":
        return "s", Message("rt.named_seconds", {"column": name})
    values = {"column": name, "median": float(f"{overall:.4g}")}
    # Nobody answers in under 0.1 s; if the usual answer takes half a minute, some take less.
    if overall >= USUAL_FROM or (overall > MILLISECONDS_FROM and (rt.quantile(0.1) or 0.0) >= MILLISECONDS_FROM):
        return "ms", Message("rt.milliseconds", values)
    return "s", Message("rt.seconds", values)
