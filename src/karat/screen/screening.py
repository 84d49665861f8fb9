"""The result of a screening: the evidence of every criterion, the verdict, and what could not run."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from html import escape
from pathlib import Path
from typing import Any

import polars as pl

from karat.errors import KaratError, counted
from karat.judgments import Judgments
from karat.judgments.columns import meant
from karat.judgments.files import write_table, write_text
from karat.judgments.message_tables import with_reasons
from karat.judgments.trial_order import with_positions
from karat.jupyter import NotebookDisplay
from karat.languages import language_of
from karat.messages import Message, NotComputed, render
from karat.screen.compare.composition import Composition, composition
from karat.screen.evidence import Evidence, PartedEvidence, reason_rows, with_messages
from karat.study.criteria import title_of


@dataclass(frozen=True)
class ScreeningStage:
    """One stage: the participants before and after it, those flagged by each criterion, and those excluded."""

    stage: str
    entered: int
    flagged: dict[str, int]
    """The number of excluded participants that each criterion of this stage flagged; some may count several times."""
    remained: int
    excluded: tuple[str, ...] = ()
    """The participants excluded; empty for judgments in parts, where files have them."""


class AnyScreening:
    """The result of a screening of judgments in memory or in parts."""

    evidence: Mapping[str, Evidence | PartedEvidence]
    skipped: dict[str, NotComputed]
    exclude: str | int | None
    steps: tuple[ScreeningStage, ...]

    @property
    def counts(self) -> tuple[int, int]:
        """The numbers of excluded and of all participants."""
        raise NotImplementedError

    @property
    def remaining(self) -> dict[str, int]:
        """The number of participants left after each stage."""
        return {step.stage: step.remained for step in self.steps}

    @property
    def notes(self) -> tuple[Message, ...]:
        """The notes of the criteria; a note that several share appears once, with all their names.

        >>> import karat
        >>> screening = karat.screen.run(karat.datasets.load("crowd"), {"completion": {}})
        >>> [note.values["criteria"] for note in screening.notes]
        [['completion']]
        """
        shared: dict[Message, list[str]] = {}
        for name, evidence in self.evidence.items():
            for note in dict.fromkeys(evidence.notes):
                shared.setdefault(note, []).append(name)
        return tuple(Message("screening.note", {"criteria": names, "note": note}) for note, names in shared.items())

    @property
    def summary(self) -> tuple[Message, ...]:
        """The criteria that could not run, and the verdict."""
        excluded, participants = self.counts
        not_run = [Message("screening.skipped", {"criterion": name, "why": why}) for name, why in self.skipped.items()]
        if self.exclude is None:
            return (*not_run, Message("screening.no_rule"))
        values = {"excluded": excluded, "participants": participants, "rule": self.exclude}
        return (*not_run, Message("screening.excluded", values))

    def flow(self) -> str:
        """The flow of participants through the stages, as an SVG."""
        return flow_svg(self.counts[1], self.steps, self.exclude)

    def as_data(self, **further: Any) -> dict[str, Any]:
        """The screening as plain data, without results per participant; with `further` in the summary."""
        excluded, participants = self.counts
        return {
            "skipped": {name: str(why) for name, why in self.skipped.items()},
            "summary": {
                "participants": participants, "excluded": excluded, "kept": participants - excluded,
                "remaining": self.remaining,
                "flagged": {name: evidence.counts[0] for name, evidence in self.evidence.items()},
                "notes": list(map(str, self.notes)), **further,
            },
            "settings": {name: result.settings for name, result in self.evidence.items()} | {"exclude": self.exclude},
        }  # fmt: skip

    def __str__(self) -> str:
        return "\n".join(map(str, (*self.evidence.values(), *self.summary)))


@dataclass(frozen=True)
class Screening(AnyScreening, NotebookDisplay):
    """The evidence of every criterion, the exclusions by the stated rule, and what could not run."""

    judgments: Judgments
    evidence: dict[str, Evidence]
    excluded: tuple[str, ...]
    skipped: dict[str, NotComputed]
    """Criteria that could not run, with the reason."""
    exclude: str | int | None
    """The rule that combines the criteria; None if none was stated."""
    steps: tuple[ScreeningStage, ...] = ()
    study: str | None = None
    """The fingerprint of the study whose rules these are."""
    settings: dict[str, dict[str, Any]] = field(default_factory=dict)
    """The settings of each criterion, as stated or by default."""
    changes: tuple[Message, ...] = ()
    """The rules and items that changed after the study started, by the record in its export."""

    @property
    def counts(self) -> tuple[int, int]:
        return len(self.excluded), self.judgments.participants.height

    @property
    def kept(self) -> Judgments:
        """The judgments of the remaining participants."""
        return self.judgments.without(self.excluded)

    def table(self, language: str = "en") -> pl.DataFrame:
        """One row per participant: whether excluded, and each criterion's score, threshold, verdict and reason."""
        table = self.judgments.participants.select("participant")
        table = table.with_columns(excluded=pl.col("participant").is_in(list(self.excluded)))
        for name, evidence in self.evidence.items():
            columns = with_reasons(evidence.participants, language).select(
                "participant", *(pl.col(c).alias(f"{name}_{c}") for c in evidence.written)
            )
            table = table.join(columns, on="participant", how="left", maintain_order="left")
        return table

    def explain(self, participant: str, language: str = "en") -> str:
        """One paragraph on a participant, in plain words, fit to send to a co-author."""
        return explain(self, participant, language)

    def composition(self, columns: list[str] | None = None) -> Composition:
        """The exclusions by participants' background: see `karat.screen.composition`."""
        return composition(self, columns)

    def write(self, folder: str | Path) -> list[Path]:
        """Write participants.csv, trials.csv, screening.json, judgments.parquet and flow.svg to a folder."""
        return write(self, Path(folder))

    def to_dict(self) -> dict[str, Any]:
        """The screening as plain data, as in `screening.json`."""
        people: dict[str, dict[str, Any]] = {
            name: {"excluded": False, "criteria": {}} for name in self.judgments.participants["participant"].to_list()
        }
        for name in self.excluded:
            people[name]["excluded"] = True
        for criterion, evidence in self.evidence.items():
            for row in reason_rows(evidence.participants, evidence.written):
                people[row.pop("participant")]["criteria"][criterion] = row
        changes = list(map(str, self.changes))
        data = self.as_data(data=self.judgments.fingerprint(), study=self.study, changes=changes)
        return {"participants": people} | data

    def __str__(self) -> str:
        return "\n".join([*map(str, self.changes), super().__str__()])


PAYMENT = Message("explain.payment")
CriterionResult = tuple[bool, bool, Message | None]
"""The result of a criterion for a participant: whether flagged, whether there is a score, and the reason."""


def explain(screening: Screening, participant: str, language: str = "en") -> str:
    """The verdict on a participant and its reasons."""
    refuse_unknown(participant, screening.judgments.participants["participant"].to_list())
    return explanations(screening, [participant], language)[0]


def refuse_unknown(participant: str, people: Sequence[str]) -> None:
    """Raise KaratError with the closest name if no participant has this name."""
    if participant not in people:
        raise KaratError(f"There is no participant {participant}. {meant(participant, people, '')}".strip())


def explanations(screening: Screening, participants: Sequence[str], language: str = "en") -> list[str]:
    """The paragraphs on several participants."""
    return [
        " ".join(render(message, language) for message in messages)
        for messages in explanation_messages(screening, participants, language)
    ]


def explanation_messages(
    screening: Screening, participants: Sequence[str], language: str = "en"
) -> list[tuple[Message, ...]]:
    """The messages that explain several participants, with criteria titles in this language."""
    wanted = pl.col("participant").is_in(list(participants))
    results: dict[str, dict[str, CriterionResult]] = {}
    for name, evidence in screening.evidence.items():
        rows = with_messages(evidence.participants.filter(wanted))
        columns = rows.select("participant", "flagged", "score", "message", "values")
        for participant, flagged, score, code, values in columns.iter_rows():
            reason = None if code is None else Message(code, values or {})
            results.setdefault(participant, {})[name] = (flagged, score is not None, reason)
    excluded = set(screening.excluded)
    about = ((name, name in excluded, results.get(name, {})) for name in participants)
    return [tuple(_messages(screening, *values, language)) for values in about]


def _messages(
    screening: Screening, participant: str, excluded: bool, results: dict[str, CriterionResult], language: str
) -> list[Message]:
    titles = {name: _title(name, language) for name in (*screening.evidence, *screening.skipped)}
    reasons = {name: reason for name, (_, _, reason) in results.items()}
    flagged = [name for name, (out, _, _) in results.items() if out]
    passed = {titles[name]: reasons[name] for name, (out, scored, _) in results.items() if not out and scored}
    silent = {titles[name]: reasons[name] for name, (out, scored, _) in results.items() if not out and not scored}
    messages = [_verdict(screening, participant, excluded, len(flagged))]
    messages += [Message("explain.flagged", {"found": {titles[name]: reasons[name]}}) for name in flagged]
    if "credence" in flagged:
        messages.append(Message("explain.no_proof"))
    if passed:
        messages.append(Message("explain.passed", {"found": passed}))
    if silent:
        messages.append(Message("explain.silent", {"found": silent}))
    not_reached = [titles[name] for name in screening.evidence if name not in results]
    if not_reached:
        code = "explain.not_reached" if excluded else "explain.no_answers"
        messages.append(Message(code, {"criteria": not_reached}))
    if screening.skipped:
        messages.append(Message("explain.not_computed", {"criteria": [titles[name] for name in screening.skipped]}))
    return [*messages, PAYMENT]


def _title(name: str, language: str) -> str:
    """The title of a criterion."""
    return language_of(language).texts.get(f"name.{name}") or title_of(name)


def _verdict(screening: Screening, participant: str, excluded: bool, flags: int) -> Message:
    values = {"participant": participant, "flags": flags, "criteria": len(screening.evidence)}
    if screening.exclude is None:
        return Message("explain.no_rule_flagged" if flags else "explain.no_rule", values)
    values |= {"rule": rule_in_words(screening)}
    if excluded:
        return Message("explain.excluded", values)
    return Message("explain.kept_flagged" if flags else "explain.kept", values)


RULES = {"any": "rules.any", "all": "rules.all"}


def rule_in_words(screening: Screening) -> Message:
    """The rule that combines the criteria, as part of a sentence."""
    rule = screening.exclude
    code = "rules.number" if isinstance(rule, int) else RULES.get(rule or "", "rules.expression")
    return Message(code, {"rule": rule, "criteria": list(screening.settings)})


NAMES = ("participants.csv", "trials.csv", "screening.json", "judgments.parquet", "flow.svg")
KEYS = ("participant", "session", "trial", "item", "question")
IN_TRIALS = ("participant", "session", "trial", "item", "function", "question", "response", "rt")


def write(screening: Screening, folder: Path) -> list[Path]:
    """Write everything to a folder, which is created if missing; returns the files."""
    if folder.exists() and not folder.is_dir():
        raise KaratError(f"{folder} is a file; give a folder to write to.")
    paths = [folder / name for name in NAMES]
    write_table(paths[0], participants_table(screening))
    write_table(paths[1], trials_table(screening))
    write_text(paths[2], json.dumps(screening.to_dict(), ensure_ascii=False, indent=2) + "\n")
    screening.kept.to_parquet(paths[3])
    write_text(paths[4], screening.flow())
    return paths + _composition(screening, folder) + _credence(screening, folder)


def _composition(screening: Screening, folder: Path) -> list[Path]:
    """The composition of the excluded, if there are data about participants and a rule."""
    background = screening.composition()
    if background.groups.is_empty() or screening.exclude is None:
        return []
    table, picture = folder / "composition.csv", folder / "composition.svg"
    write_table(table, background.groups)
    write_text(picture, background.to_svg())
    return [table, picture]


def _credence(screening: Screening, folder: Path) -> list[Path]:
    """The probabilities of having answered attentively, if computed."""
    from karat.screen.criteria.credence import Credence

    evidence = screening.evidence.get("credence")
    if not isinstance(evidence, Credence):
        return []
    picture = folder / "credence.svg"
    write_text(picture, evidence.to_svg())
    return [picture]


def participants_table(screening: Screening) -> pl.DataFrame:
    """One row per participant: every criterion's score, threshold, verdict and reason, and the explanation."""
    table = screening.table()
    paragraphs = explanations(screening, table["participant"].to_list())
    return table.with_columns(pl.Series("explanation", paragraphs, dtype=pl.String))


def trials_table(screening: Screening) -> pl.DataFrame:
    """One row per judgment, with the criteria's results about it: kind and degree of outlying times, right answers."""
    frame = with_positions(screening.judgments.frame)
    names = [name for name in IN_TRIALS if name in frame.columns]
    if "question" in names:
        frame = frame.with_columns(pl.col("question").fill_null(""))
    table = frame.select(names).with_columns(excluded=pl.col("participant").is_in(list(screening.excluded)))
    for criterion, evidence in screening.evidence.items():
        if evidence.trials is None:
            continue
        keys = [name for name in KEYS if name in evidence.trials.columns and name in table.columns]
        present = [*table.columns, "question"]
        new = [name for name in evidence.trials.columns if name not in present]
        trials = evidence.trials.select(*keys, *(pl.col(name).alias(f"{criterion}_{name}") for name in new))
        if "question" in keys:
            trials = trials.with_columns(pl.col("question").fill_null(""))
        table = table.join(
            trials.unique(keys, keep="first", maintain_order=True), on=keys, how="left", nulls_equal=True,
            maintain_order="left",
        )  # fmt: skip
    return table


STAGE_WORDS = {"completion": "completion", "clock": "response times", "answers": "answers"}
BOX, SIDE, GAP, LINE, PAD = 220, 300, 40, 18, 12
LEFT, RIGHT = 20, 20 + BOX + GAP


def stage_words(stage: str, flagged: Mapping[str, int]) -> str:
    """The name of a stage; the first one includes eligibility, if that flags anybody.

    >>> stage_words("completion", {"completion": 2, "eligibility": 1}), stage_words("clock", {"remfod": 4})
    ('completion and eligibility', 'response times')
    """
    others = stage == "completion" and any(count for name, count in flagged.items() if name != "completion")
    return f"{STAGE_WORDS[stage]} and eligibility" if others else STAGE_WORDS[stage]


def flow_svg(everybody: int, stages: Sequence[ScreeningStage], exclude: str | int | None) -> str:
    """The diagram as SVG; its text is text, so that it can be searched and read aloud.

    >>> import karat
    >>> screening = karat.screen.run(karat.datasets.load("likert"), {"completion": {}, "remfod": {}})
    >>> svg = flow_svg(48, screening.steps, screening.exclude)
    >>> "n = 48" in svg and "n = 42" in svg
    True
    """
    steps = [step for step in stages if step.flagged or step.remained < step.entered]
    parts, y = [], 56
    boxes = [("took part", everybody)] + [
        (f"after {stage_words(step.stage, step.flagged)}", step.remained) for step in steps
    ]
    if len(boxes) > 1:
        boxes[-1] = ("in the analysis", boxes[-1][1])
    for number, (word, n) in enumerate(boxes):
        parts.append(_box(LEFT, y, BOX, [word, f"n = {n:,}"], strong=number == len(boxes) - 1))
        if number < len(steps):
            step = steps[number]
            # Several criteria may flag the same participant.
            by_criterion = [f"{title_of(name)}: {count:,}" for name, count in step.flagged.items()]
            lines = [f"excluded: n = {step.entered - step.remained:,}", *by_criterion]
            height = max(len(lines) * LINE + 2 * PAD, 30)
            top = y + 2 * LINE + 2 * PAD + 12
            bottom = top + height + 12
            parts.append(_arrow(LEFT + BOX / 2, y + 2 * LINE + 2 * PAD, LEFT + BOX / 2, bottom))
            parts.append(_arrow(LEFT + BOX / 2, top + height / 2, RIGHT, top + height / 2))
            parts.append(_box(RIGHT, top, SIDE, lines, hanging=True))
            y = bottom
    height = y + 2 * LINE + 2 * PAD + 20
    stay = steps[-1].remained if steps else everybody
    title = f"{stay:,} of {counted(everybody, 'participant')} stay in the analysis"
    if exclude is None:
        title = f"{counted(everybody, 'participant')}; no rule was stated, nobody is excluded"
    description = "; ".join(f"{word}: {n}" for word, n in boxes)
    width = RIGHT + SIDE + 20
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" role="img" '
        f'font-family="system-ui, sans-serif" font-size="13" fill="#1a1a1a">\n<title>{escape(title)}</title>\n'
        f"<desc>{escape(description)}</desc>\n"
        '<defs><marker id="tip" viewBox="0 0 8 8" refX="8" refY="4" markerWidth="8" markerHeight="8" orient="auto">'
        '<path d="M0 0 8 4 0 8z" fill="#555"/></marker></defs>\n'
        f'<rect width="{width}" height="{height}" fill="#fff"/>\n'
        f'<text x="{LEFT}" y="30" font-size="15">{escape(title)}</text>\n' + "".join(parts) + "</svg>\n"
    )


def _box(x: float, y: float, width: float, lines: list[str], strong: bool = False, hanging: bool = False) -> str:
    height = len(lines) * LINE + 2 * PAD
    stroke = 'stroke="#0072B2" stroke-width="2"' if strong else 'stroke="#555"'
    texts = "".join(
        f'<text x="{x + PAD + (12 if hanging and number else 0)}" '
        f'y="{y + PAD + (number + 1) * LINE - 5}">{escape(line)}</text>\n'
        for number, line in enumerate(lines)
    )
    return f'<rect x="{x}" y="{y}" width="{width}" height="{height}" rx="3" fill="#fff" {stroke}/>\n{texts}'


def _arrow(x1: float, y1: float, x2: float, y2: float) -> str:
    return f'<line x1="{x1}" y1="{y1}" x2="{x2}" y2="{y2}" stroke="#555" marker-end="url(#tip)"/>\n'
