"""The life of a study in two minutes: written, checked, served, answered by bots, screened, measured, reported.

The study runs on its own server, and attentive and careless bots take part over HTTP like participants. Nothing of it
leaves the machine. The bots see what participants see; who they are in truth is compared with the verdicts only at the
end.
"""

from __future__ import annotations

import asyncio
import re
import secrets
import shutil
from collections import Counter
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from pathlib import Path

import polars as pl

from karat.errors import KaratError
from karat.field.bots import Behaviour, Client, WalkRecord, visit
from karat.field.bots.behaviour import crowd
from karat.field.bots.process import ServerProcess
from karat.field.bots.walk import Way, known_answers
from karat.field.store import Store, export, studies
from karat.judgments import Judgments
from karat.measure.measures import Measures
from karat.report.build import ReportData, build
from karat.report.export import write
from karat.screen.criteria.credence import Credence
from karat.simulate import answer_study
from karat.simulate.behaviours import JUDGES
from karat.simulate.marked import SIMULATED
from karat.study.check import check
from karat.study.init import write_study
from karat.study.study import Study, load
from karat.types import NamedSteps

FOLDER, MARK = "served", "made-by-karat-demo"
SLUG = "likert"
PEOPLE = {"earnest": 44, "dawdler": 2, "drop-out": 2, "guesser": 4, "rusher": 4, "straight-liner": 4}
"""How many bots behave in which way."""
WATCHED_SPEED = 60.0
"""How many times faster than people the bots are when somebody watches; else they do not pause at all."""
STEP = 17
"""How bots are mixed: a step that has no divisor in common with their number."""
APART = 0.1
"""Seconds between two arrivals, when somebody watches."""


@dataclass(frozen=True)
class Served:
    """A study on a running server. The caller stops the server at the end."""

    server: ServerProcess
    folder: Path
    study: Study
    password: str

    @property
    def lines(self) -> list[str]:
        """What was written and checked, and where it is to be seen."""
        return [
            *_introduced(self.study),
            f"serving    {self.server.address}/s/{SLUG}/ for participants",
            f"dashboard  {self.server.address}/admin with the name admin and the password {self.password}",
        ]

    def answered(self, progress: Callable[[int, int], None], *, watched: bool) -> Answered:
        """Let bots take part and return their answers. `progress` gets the number of finished bots and of all."""
        behaviours = [name for name, count in PEOPLE.items() for _ in range(count)]
        people = crowd(self.study, behaviours)
        # Behaviours come mixed, as people do, and not one kind after the other.
        mixed = [people[STEP * number % len(people)] for number in range(len(people))]
        records = asyncio.run(_take_part(self.server.address, self.study, mixed, progress, watched))
        answers = sum(len(record.acknowledged) for record in records)
        left = sum(record.left_early for record in records)
        told = f"answered   {len(records)} bots ({_kinds()}) gave {answers:,} answers over HTTP; {left} left early"
        return self._exported(told)

    def _exported(self, line: str) -> Answered:
        """The judgments, with how those behaved who gave them: bots come under the name of their behaviour."""
        store = Store.open(f"sqlite:///{self.server.data.resolve() / 'karat.db'}")
        try:
            with store.read() as connection:
                row = studies.find(connection, SLUG)
                if row is None:
                    raise KaratError(f"The server has lost the study {SLUG}.")
                known = export.participants(connection, row.id, with_ids=True)
                judgments = export.judgments(connection, row.id, self.study)
        finally:
            store.close()
        behaviours = dict(zip(known["participant"], known["platform_id"].str.replace(r"-\d+$", ""), strict=True))
        people = judgments.participants.with_columns(source=pl.lit(SIMULATED))
        judgments = Judgments(judgments.frame, judgments.scales, people)
        return Answered(judgments, behaviours, self.study, line)


def serve(folder: Path) -> Served:
    """Serve the example study from a folder, on a free port of this machine."""
    where = _emptied(folder / FOLDER)
    study = _study(where / SLUG)
    password = secrets.token_urlsafe(9)
    server = ServerProcess(where / SLUG, where / "data", environment={"KARAT_ADMIN_PASSWORD": password})
    return Served(server.start(), where, study, password)


def simulated(folder: Path) -> tuple[list[str], Answered]:
    """The same study answered without a server, for machines that must not open a port."""
    study = _study(_emptied(folder / FOLDER) / SLUG)
    number = sum(PEOPLE.values())
    judgments = answer_study(study, number, shares={name: count / number for name, count in PEOPLE.items()})
    behaviours = dict(judgments.participants.select("participant", "behaviour").iter_rows())
    told = f"answered   {number} simulated participants ({_kinds()}) gave {len(judgments):,} answers, without a server"
    return _introduced(study), Answered(judgments, behaviours, study, told)


def _introduced(study: Study) -> list[str]:
    report = check(study)
    return [f"written    {study.path.parent}: a study of ratings, to be changed", f"checked    {report.summary()}"]


def _kinds() -> str:
    return ", ".join(f"{count} {name}" for name, count in PEOPLE.items())


async def _take_part(
    address: str, study: Study, people: Sequence[Behaviour], progress: Callable[[int, int], None], watched: bool
) -> list[WalkRecord]:
    """All bots take part, arriving one by one and answering all at once."""
    records: list[WalkRecord] = []

    async def one(number: int, bot: Behaviour) -> None:
        await asyncio.sleep(number * APART if watched else 0)
        way = Way(
            SLUG, {"pid": f"{bot.name}-{number + 1}"}, known_answers(study, number),
            speed=WATCHED_SPEED if watched else 0.0, patience=20.0,
        )  # fmt: skip
        client = Client(address)
        try:
            records.append(await visit(client, way, bot))
        finally:
            await client.close()
        progress(len(records), len(people))

    await asyncio.gather(*(one(number, bot) for number, bot in enumerate(people)))
    return records


def _emptied(folder: Path) -> Path:
    """A folder without what an earlier demo left; anything else in it stays, and is an error."""
    if folder.exists():
        if not (folder / MARK).exists():
            raise KaratError(f"{folder} is there already and not from a demo. Choose another folder with --keep.")
        shutil.rmtree(folder)
    folder.mkdir(parents=True)
    (folder / MARK).touch()
    return folder


def _study(folder: Path) -> Study:
    """The rating study that `karat init` writes, for anybody who has the address."""
    write_study(folder, "likert")
    file = folder / "study.toml"
    text = file.read_text(encoding="utf-8").replace('"prolific"', '"link"    ')
    text = re.sub(r"(?m)^(participants +=) \d+", rf"\g<1> {sum(PEOPLE.values())}", text)
    file.write_text(text, encoding="utf-8")
    return load(folder)


JUDGING = {
    "earnest": "attentive", "minority dialect": "with a dialect of their own", "dawdler": "who dawdle",
    "drop-out": "who drop out",
}  # fmt: skip
"""What to call participants who judge what they see but may still be excluded by a rule."""


@dataclass(frozen=True)
class Answered:
    """The answers of participants whose behaviour is known."""

    judgments: Judgments
    behaviours: dict[str, str]
    study: Study
    line: str
    """What happened, in words."""


@dataclass(frozen=True)
class DemoResult:
    """The page, and what is to be said of it."""

    page: Path
    lines: list[str]


def report(answered: Answered, folder: Path, progress: NamedSteps) -> DemoResult:
    """Screen by the rules that the study stated beforehand, measure what is left, and write the report."""
    answered.judgments.to_parquet(folder / "judgments.parquet")
    gathered = build(answered.judgments, answered.study, command="karat demo", progress=progress)
    gathered.screening.write(folder / "screened")
    with progress("writing the report"):
        page, *_ = write(gathered, folder / "report.html")
    return DemoResult(page, [*_compared(gathered, answered.behaviours), *_measured(gathered)])


def _compared(gathered: ReportData, behaviours: dict[str, str]) -> list[str]:
    """Who was found and who not, by the rules of the study and by credence."""
    lines = [f"screened   by the rules that the study stated: {_found(gathered.screening.excluded, behaviours)}"]
    credence = gathered.evidence("credence")
    if isinstance(credence, Credence):
        lines.append(f"credence   as a second opinion: {_found(credence.flagged, behaviours)}")
    return lines


def _found(flagged: Collection[str], behaviours: dict[str, str]) -> str:
    careless = Counter(kind for kind in behaviours.values() if kind not in JUDGES)
    caught = Counter(behaviours[name] for name in flagged if behaviours[name] not in JUDGES)
    kinds = ", ".join(f"{caught[kind]} of {number} {kind}s" for kind, number in careless.items())
    wrongly = Counter(behaviours[name] for name in flagged if behaviours[name] in JUDGES)
    others = ", ".join(f"{count} {JUDGING[name]}" for name, count in wrongly.items()) or "nobody"
    return f"{kinds} found; also, of those simulated to judge every sentence: {others}"


def _measured(gathered: ReportData) -> list[str]:
    measures = gathered.measures
    if not isinstance(measures, Measures):
        return [f"measured   nothing: {measures}"]
    return [f"measured   {', '.join(part.name for part in measures.parts)}"]
