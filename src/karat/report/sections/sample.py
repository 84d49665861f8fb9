"""Who took part: participants at each step, reasons for exclusion, place and time, and affected groups.

What was asked: tasks, scales, factors, and the trials of each function and condition.
"""

import polars as pl

from karat.errors import counted
from karat.judgments import Judgments
from karat.judgments.columns import FUNCTIONS
from karat.judgments.stimuli import natural_order
from karat.measure.result import schema_of
from karat.messages import Message, NotComputed
from karat.report.build import ReportData
from karat.report.counts import commonest, days, step_counts, working_time
from karat.report.sections.brief import ENGLISH, verdict
from karat.report.words.sample import platform_name
from karat.screen.compare.composition import VERDICT, Composition
from karat.screen.screening import STAGE_WORDS, Screening, stage_words
from karat.section import Figure, Section, Table
from karat.simulate.behaviours import simulated
from karat.study.criteria import title_of
from karat.study.plan import Block
from karat.study.study import Study


def section(gathered: ReportData) -> Section:
    """The flow of participants and the composition of the sample."""
    screening = gathered.screening
    paragraphs = [verdict(screening), _flow_sentence(screening), _came(gathered)]
    figures, notes = [], []
    if screening.exclude is not None:
        steps = steps_table(screening).with_columns(pl.col("stage").replace(STAGE_WORDS))
        caption = "One participant may be counted under several criteria."
        figures.append(
            Figure("flow", "Flow of participants", _flow_sentence(screening), screening.flow(), caption, steps)
        )
        notes += [f"{title_of(name)} could not be applied: {why}" for name, why in screening.skipped.items()]
    return Section(
        "sample", "Who took part", tuple(text for text in paragraphs if text), (), tuple(figures), tuple(notes),
        (_composition(screening),),
    )  # fmt: skip


def steps_table(screening: Screening) -> pl.DataFrame:
    """One row per stage and criterion: entered, flagged among those excluded there, excluded, remained."""
    rows = [
        (
            step["stage"], step["entered"], step["excluded"], step["remained"],
            ", ".join(f"{title_of(name)} {number:,}" for name, number in step["flagged"].items()),
        )
        for step in step_counts(screening)
    ]  # fmt: skip
    return pl.DataFrame(rows, schema=schema_of("stage:s entered:i excluded:i remained:i criteria:s"), orient="row")


def _flow_sentence(screening: Screening) -> str:
    if screening.exclude is None:
        return ""
    steps = step_counts(screening)
    if not steps:
        return ""
    first, *rest = (
        f"by {stage_words(step['stage'], step['flagged'])} {step['remained']:,} of {step['entered']:,}"
        if number
        else f"Screening by {stage_words(step['stage'], step['flagged'])} left {step['remained']:,} of "
        f"{counted(step['entered'], 'participant')}"
        for number, step in enumerate(steps)
    )
    return ", ".join([first, *rest]) + "."


def _came(gathered: ReportData) -> str:
    """When participants answered and where they came from, or that they are simulated."""
    people = gathered.judgments.participants
    if 0 < people.height == simulated(people):
        return "Nobody took part: all participants are simulated, and so are days, times and backgrounds."
    return f"{_fielded(gathered)} {_where(gathered)}"


def _fielded(gathered: ReportData) -> str:
    """The first and the last known day of answers, and the working time."""
    dates = days(gathered.judgments)
    if not dates:
        text = "When answers were given is not recorded."
    elif dates[0] == dates[1]:
        text = f"Answers were given on {dates[0]}."
    else:
        text = f"Answers were given between {dates[0]} and {dates[1]}."
    taken = working_time(gathered.judgments.participants)
    if taken:
        low, middle, high = (f"{taken[name]:,.1f}" for name in ("low", "median", "high"))
        text += f" The median working time was {middle} {taken['unit']}; nine of ten took {low} to {high}."
    return text


def _where(gathered: ReportData) -> str:
    """The sources of participants in the data, else the platform of the study file."""
    people = gathered.judgments.participants
    if "source" in people.columns and people["source"].drop_nulls().len():
        sources = commonest(people["source"]).items()
        counts = [f"{platform_name(name, ENGLISH)} ({number:,})" for name, number in sources]
        return f"Participants came from {', '.join(counts)}."
    if gathered.study is not None:
        return f"Participants were recruited by {platform_name(gathered.study.settings.recruitment.platform, ENGLISH)}."
    return "Where participants come from is not recorded."


def standing_out(found: Composition) -> pl.DataFrame:
    """The groups with a warning, in the order in which sentences name them."""
    return found.groups.filter("warning")


def compared(found: Composition) -> list[str]:
    """The criteria that are shown: that of the first group with a warning, then the rule."""
    first = standing_out(found)["criterion"].to_list()[:1]
    return list(dict.fromkeys([*first, *([found.criterion] if found.criterion else [])]))


def _composition(screening: Screening) -> Section:
    """The excluded participants by background."""
    composition = screening.composition()
    criteria = compared(composition)
    rows = pl.concat(
        [composition.groups.head(0), *(composition.groups.filter(pl.col("criterion") == name) for name in criteria)]
    )
    if not rows["flagged"].sum():
        return Section("composition", "By background", (str(composition),))
    columns = ["variable", "group", "participants", "flagged", "share", "lower", "upper", "p", "p_adjusted"]
    words = {name: title_of(name) for name in criteria} | {VERDICT: "the rule"}
    table = Table(
        "composition", "Groups of participants",
        rows.select(*(["criterion"] if len(criteria) > 1 else []), *columns)
        .with_columns(pl.col("share", "lower", "upper") * 100, pl.col("^criterion$").replace(words))
        .rename({"p_adjusted": "adjusted"}),
        "Shares with 95 % intervals (Wilson); Holm-adjusted p values of Fisher's exact test.",
        {"criterion": "by", "flagged": "excluded" if criteria == [VERDICT] else "flagged", "share": "%",
         "lower": "from", "upper": "to", "adjusted": "p, adjusted"},
        {"share": 0, "lower": 0, "upper": 0},
    )  # fmt: skip
    # The paragraph names the first group that differs; the notes name the others.
    summary, warnings = (
        [_titled(message) for message in messages] for messages in (composition.summary, composition.warnings)
    )
    text = " ".join([*summary, *warnings[:1]])
    others = (*warnings[1:], *map(str, composition.notes))
    return Section("composition", "By background", (text,), (table,), notes=others)


def _titled(message: Message) -> str:
    """A message with the title of the criterion that it names."""
    return str(Message(message.code, {**message.values, "criterion": title_of(message.values.get("criterion", ""))}))


MOST_CELLS = 40


def asked_section(gathered: ReportData) -> Section:
    """The design from the study file, else from the judgments."""
    judgments, study = gathered.judgments, gathered.study
    paragraphs = [_answers_sentence(judgments)]
    paragraphs += ["No study file was given, so the design is read from the judgments."] if study is None else []
    paragraphs += [] if study is None else _planned(study)
    tables = [_functions(judgments), _cells(judgments, _factors(gathered))]
    return Section(
        "asked", "What was asked", tuple(paragraphs), tuple(table for table in tables if table is not None),
        notes=tuple(map(str, gathered.notes)),
    )  # fmt: skip


def _answers_sentence(judgments: Judgments) -> str:
    first = judgments.summary().splitlines()[0]
    scales = [f"{scale.kind}: {scale.known()}" for scale in dict.fromkeys(judgments.scales.values())]
    return f"{first}. The {'scale is' if len(scales) == 1 else 'scales are'} {'; '.join(scales)}."


def _planned(study: Study) -> list[str]:
    sentences = [_block(block) for block in study.blocks]
    settings = study.settings
    each = " each" if study.lists > 1 else ""
    lists = f"{counted(study.lists, 'list')} of about {study.minutes():.0f} minutes{each}"
    sessions = " in each of 2 sessions" if settings.questionnaire.sessions == 2 else ""
    sentences.append(f"The study has {lists}{sessions}.")
    if settings.contrast:
        # The factors of a comparison are shown if they are not its name.
        factors = ((contrast, " × ".join(contrast.own)) for contrast in settings.contrast)
        named = (
            f"{contrast.name} ({'' if factor == contrast.name else f'{factor}: '}{' minus '.join(contrast.sides)})"
            for contrast, factor in factors
        )
        sentences.append(f"Planned comparisons: {'; '.join(named)}.")
    return sentences


def _block(block: Block) -> str:
    """One block in a sentence or two."""
    settings = block.settings
    name, rows = block.name[:1].upper() + block.name[1:], counted(block.items.frame.height, "row")
    text = f"{name} is a {settings.task} task on {rows} of items"
    labels = settings.scale.labels
    text += f", answered from “{labels[0]}” to “{labels[-1]}”." if len(labels) > 1 else "."
    if settings.prompt:
        text += f" Participants were asked: “{settings.prompt}”"
    factors = "; ".join(f"{name} ({', '.join(factor.levels)})" for name, factor in settings.factors.items())
    return text + (f" Factors: {factors}." if factors else "")


def _functions(judgments: Judgments) -> Table:
    """The table of trials by function."""
    frame = judgments.frame
    counts = frame.group_by("function").agg(
        pl.col("item").n_unique().cast(pl.Int64).alias("items"),
        pl.col("response").count().cast(pl.Int64).alias("answers"),
        (pl.col("response").count() / pl.col("participant").n_unique()).alias("each"),
    )
    order = {name: place for place, name in enumerate(FUNCTIONS)}
    counts = counts.sort(pl.col("function").replace_strict(order, default=len(order), return_dtype=pl.Int64))
    return Table(
        "functions", "Trials by function", counts, headings={"each": "answers per participant"}, digits={"each": 1}
    )


def _factors(gathered: ReportData) -> list[str]:
    """The factors of the study or, without a study, of the contrasts."""
    if gathered.study is not None:
        return list(dict.fromkeys(name for block in gathered.study.blocks for name in block.settings.factors))
    parts = () if isinstance(gathered.measures, NotComputed) else gathered.measures.parts
    return list(dict.fromkeys(name for part in parts if part.name == "contrasts" for name in part.result.factors))


def _cells(judgments: Judgments, factors: list[str]) -> Table | None:
    """The table of test trials by condition; None without conditions, or with too many."""
    frame = judgments.frame.filter(pl.col("function") == "test")
    names = [name for name in factors if name in frame.columns and frame[name].drop_nulls().n_unique() > 1]
    if not names:
        return None
    cells = frame.drop_nulls(names).group_by(names).agg(
        pl.col("item").n_unique().cast(pl.Int64).alias("items"),
        pl.col("participant").n_unique().cast(pl.Int64).alias("participants"),
        pl.col("response").count().cast(pl.Int64).alias("answers"),
    )  # fmt: skip
    if not cells.height or cells.height > MOST_CELLS:
        return None
    rows = sorted(cells.iter_rows(), key=lambda row: [natural_order(str(level)) for level in row[: len(names)]])
    return Table("conditions", "Test trials by condition", pl.DataFrame(rows, cells.schema, orient="row"))
