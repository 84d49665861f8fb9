"""Sentences on the design, from the study or the data: task, conditions, items, lists, functions and order."""

from collections.abc import Mapping

import polars as pl

from karat.judgments import Judgments
from karat.judgments.columns import FUNCTIONS
from karat.judgments.scales import Binary, Choice, Continuous, Magnitude, Nominal, Ordinal, Scale
from karat.languages.language import Language
from karat.study.plan import Block
from karat.study.study import Study
from karat.study.summary import functions_per_list

BROWSER = ("blurs", "frame_rate", "isolated")
"""Columns that only a study run with karat has."""
LONGEST = 160
"""The most characters of a test item that is quoted."""


def asked(language: Language, study: Study) -> list[str]:
    """The design of a study in sentences."""
    sentences = []
    several = len(study.blocks) > 1
    for block in study.blocks:
        text = _block(language, block)
        sentences.append(language.say("block", name=block.name, text=text) if several else text[0].upper() + text[1:])
    settings = study.settings
    sentences += [_items(language, study), *_example(language, study), _functions(language, study)]
    keyed = [name for name in _functions_there(study) if name in ("control", "attention")]
    if keyed:
        names = language.several([language.say(f"function.{name}") for name in keyed])
        trials = language.say("trials", functions=names)
        sentences.append(language.say("clear", functions=trials[0].upper() + trials[1:]))
    if settings.questionnaire.sessions == 2:
        days = settings.questionnaire.days_between
        sentences.append(language.say("sessions", days=language.say("days", days=days) if days else ""))
    sentences.append(_order(language, study))
    quiz = settings.texts.quiz
    if quiz:
        sentences.append(language.say("quiz", questions=len(quiz), attempts=settings.texts.quiz_attempts))
    return sentences


def answered(language: Language, judgments: Judgments, known: bool) -> list[str]:
    """The design in the data in sentences; with the scales if the study is not `known`."""
    frame = judgments.frame
    sentences = []
    if not known:
        scales = dict.fromkeys(judgments.scales.values())
        # Several questions on the same scale are the pairs of a differential.
        pairs = len(judgments.scales) if len(judgments.scales) > 2 else 0
        texts = [_scale(language, scale, pairs) for scale in scales]
        sentences += [text[0].upper() + text[1:] for text in texts]
    answers = frame.filter(pl.col("response").is_not_null())
    each = answers.group_by("participant").len()["len"]
    median = each.median()
    counts = {name: frame[column].n_unique() for name, column in (("items", "item"), ("participants", "participant"))}
    middle = float(median) if isinstance(median, int | float) else 0.0
    sentences.append(language.say("answers", answers=int(each.sum()), median=middle, **counts))
    functions = dict(answers["function"].value_counts().iter_rows())
    if len(functions) > 1:
        sentences.append(language.say("answers.functions", functions=_listed(language, functions)))
    if any(name in frame.columns for name in BROWSER):
        sentences.append(language.say("browser"))
    return sentences


def _block(language: Language, block: Block) -> str:
    settings = block.settings
    scale = settings.scale
    ends = ""
    if block.questions is None and scale.labels:
        ends = language.say("ends", low=scale.labels[0], high=scale.labels[-1])
    slider = language.say("slider") if scale.slider else ""
    pairs = 0 if block.questions is None else block.questions.height
    sentences = [_scale(language, block.scale, pairs, ends, slider)]
    if settings.repeated_questions:
        sentences.append(language.say("repeated", pairs=settings.repeated_questions))
    if settings.prompt:
        sentences.append(language.say("prompt", prompt=settings.prompt))
    if settings.factors:
        factors = [
            language.say(
                "factor", name=name, levels=factor.levels, within=language.say(f"within.{factor.between or ''}")
            )
            for name, factor in settings.factors.items()
        ]
        sentences.append(language.say("factors", number=len(factors), factors=factors))
    if settings.compared:
        sentences.append(language.say("compared", factor=settings.compared))
    if settings.subset is not None:
        rated = {"items": settings.subset.per_participant, "participants": settings.subset.ratings}
        sentences.append(language.say("subset", **rated))
    if settings.pairs is not None and settings.pairs.random:
        sentences.append(language.say("random pairs", pairs=settings.pairs.random))
    if settings.repeated_items:
        sentences.append(language.say("repeated items", items=settings.repeated_items))
    if settings.rounds > 1:
        sentences.append(language.say("rounds", times=settings.rounds))
    return " ".join(sentences)


def _scale(language: Language, scale: Scale, pairs: int, ends: str = "", slider: str = "") -> str:
    """The sentence on a scale with this many pairs of adjectives; `ends` and `slider` come from a study."""
    if isinstance(scale, Choice):
        return language.say("task.choice", none=language.say("none") if scale.none else "")
    if isinstance(scale, Magnitude):
        modulus = "" if scale.modulus is None else language.say("modulus", number=scale.modulus)
        return language.say("task.magnitude", modulus=modulus)
    if isinstance(scale, Continuous) and (scale.low is None or scale.high is None):
        return language.say("task.number")
    if isinstance(scale, Continuous):
        return language.say("task.continuous", low=scale.low, high=scale.high)
    levels = [str(level) for level in scale.levels] if isinstance(scale, Binary | Nominal | Ordinal) else []
    if isinstance(scale, Ordinal):
        if pairs:
            return language.say("task.differential", pairs=pairs, points=len(levels), slider=slider)
        return language.say("task.likert", points=len(levels), ends=ends, slider=slider)
    if isinstance(scale, Binary):
        return language.say("task.yes-no", low=levels[0], high=levels[1])
    return language.say("task.label", number=len(levels), levels=[language.quoted(level) for level in levels])


def _items(language: Language, study: Study) -> str:
    """The numbers of test items, conditions and lists."""
    tests, conditions = 0, 0
    for block in study.blocks:
        rows = block.items.frame.filter(pl.col("function") == "test")
        factors = block.settings.condition_factors
        tests += rows["item"].n_unique()
        conditions += rows.select(factors).unique().height if factors else 0
    if conditions:
        return language.say("items.conditions", conditions=conditions, tests=tests, lists=study.lists)
    return language.say("items", tests=tests, lists=study.lists)


def _example(language: Language, study: Study) -> list[str]:
    """A test item with its condition; empty if items have no text, or a long one."""
    for block in study.blocks:
        rows = block.items.frame.filter(pl.col("function") == "test")
        if not rows.height or not (wording := rows.row(0, named=True).get("sentence")):
            continue
        plain = " ".join(str(wording).split()).removesuffix(".")
        levels = [rows[name][0] for name in block.settings.factors if name in rows.columns and rows[name][0]]
        if len(plain) <= LONGEST:
            return [language.say("example", sentence=plain, levels=levels or None)]
    return []


def _functions_there(study: Study) -> list[str]:
    table = functions_per_list(study)
    return [name for name in FUNCTIONS if table[name].sum()]


def _functions(language: Language, study: Study) -> str:
    """The number of trials of a list by function; a range if lists differ."""
    table = functions_per_list(study)
    ranges = {}
    for name in ("trials", *_functions_there(study)):
        low, high = (int(end(table[name].to_list())) for end in (min, max))
        ranges[name] = language.number(low) if low == high else language.say("range", low=low, high=high)
    trials = f"{ranges['trials']} {language.nouns['trial'][table['trials'].max() != 1]}"
    return language.say("functions", trials=trials, functions=_listed(language, ranges))


def _listed(language: Language, counts: Mapping[str, int | str]) -> str:
    """The trials of each function with their number."""
    sentences = [
        language.say("function", number=counts[name], name=language.say(f"function.{name}"))
        for name in FUNCTIONS
        if name in counts
    ]
    return language.say("trials", functions=language.several(sentences))


def _order(language: Language, study: Study) -> str:
    """The rules for the order of trials, as far as the study has such trials."""
    order, there = study.settings.order, _functions_there(study)
    rules = []
    first = {"practice"}
    if order.calibration == "first" and "calibration" in there:
        first.add("calibration")
        rules.append(language.say("order.calibration"))
    # If there is nothing to put between test trials, they are adjacent in any case.
    if not order.test_adjacent and not set(there) <= {"test", *first}:
        rules.append(language.say("order.adjacent"))
    spread = [language.say(f"function.{name}") for name in order.spread if name in there]
    if spread:
        rules.append(language.say("order.spread", functions=language.several(spread)))
    rules += [
        language.say(f"order.{rule}", column=column, number=number)
        for rule, limits in (("in_a_row", order.in_a_row), ("distance", order.distance))
        for column, number in limits.items()
    ]
    if order.keep_ratio:
        rules.append(language.say("order.keep_ratio"))
    if order.mixed_blocks:
        rules.append(language.say("order.mixed_blocks", number=order.mixed_blocks))
    return language.say("order.rules", rules="; ".join(rules)) if rules else language.say("order")
