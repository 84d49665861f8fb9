"""A complete study in two minutes: written, checked, served, answered by bots, screened, measured, reported.

The study runs on its own server on this machine, and attentive and careless bots take part over HTTP like participants.
The bots see what participants see; their behaviours are compared with the verdicts only at the end.
"""

from __future__ import annotations

import asyncio
import re
import secrets
import shutil
from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from itertools import count
from math import gcd
from pathlib import Path

import polars as pl

from karat.errors import KaratError
from karat.field.bots import Behaviour, Client, WalkRecord, visit
from karat.field.bots.behaviour import crowd
from karat.field.bots.process import ServerProcess
from karat.field.bots.walk import Way, known_answers
from karat.field.registration import file_names
from karat.field.store import Store, export, studies
from karat.judgments import Judgments
from karat.measure.measures import Measures
from karat.report.build import ReportData, build
from karat.report.export import write
from karat.screen.criteria.credence import Credence
from karat.simulate import answer_study
from karat.simulate.behaviours import JUDGES, SIMULATED, counted_behaviours
from karat.study.check import check
from karat.study.init import write_study
from karat.study.study import Study, load
from karat.types import NamedSteps

FOLDER, MARK = "served", "made-by-karat-demo"
SLUG = "likert"
PEOPLE = {"attentive": 44, "dawdler": 2, "drop-out": 2, "guesser": 4, "rusher": 4, "straight-liner": 4}
"""The number of bots with each behaviour."""
WATCHED_SPEED = 60.0
"""How many times faster than people the bots are when somebody watches; otherwise they do not pause."""
STEP = 17
"""The first step to try for mixing the bots; it must have no divisor in common with their number."""
APART = 0.1
"""Seconds between two arrivals, when somebody watches."""


@dataclass(frozen=True)
class Served:
    """A study on a running server. The caller stops the server at the end."""

    server: ServerProcess
    folder: Path
    study: Study
    password: str
    kinds: Mapping[str, int]
    """The number of bots with each behaviour."""
    slug: str = SLUG

    @property
    def introduced(self) -> list[str]:
        """Lines about the written and checked study."""
        written, checked = _written_and_checked(self.study)
        return [f"copied     to {self.study.path.parent}" if self.slug == REHEARSAL else written, checked]

    @property
    def addresses(self) -> list[str]:
        """Lines with the addresses of the study while the server runs."""
        return [
            f"serving    {self.server.address}/s/{self.slug}/ for participants",
            f"dashboard  {self.server.address}/admin with the name admin and the password {self.password}",
        ]

    def answered(self, progress: Callable[[int, int], None], *, watched: bool) -> Answered:
        """Let bots take part and return their answers. `progress` gets the number of finished bots and of all."""
        behaviours = [name for name, number in self.kinds.items() for _ in range(number)]
        people = crowd(self.study, behaviours)
        # Mix the behaviours, instead of one kind after the other.
        step = next(step for step in count(STEP) if gcd(step, len(people)) == 1)
        mixed = [people[step * number % len(people)] for number in range(len(people))]
        records = asyncio.run(_take_part(self.server.address, self.slug, self.study, mixed, progress, watched))
        answers = sum(len(record.acknowledged) for record in records)
        left = sum(record.left_early for record in records)
        who = f"{len(people)} bots ({counted_behaviours(self.kinds)})"
        text = f"answered   {who} gave {answers:,} answers over HTTP; {left} left early"
        return self._exported(text)

    def _exported(self, line: str) -> Answered:
        """The judgments and behaviours; the platform id of a bot contains its behaviour."""
        database = f"sqlite:///{self.server.data.resolve() / 'karat.db'}"
        with closing(Store.open(database)) as store, store.read() as connection:
            row = studies.find(connection, self.slug)
            if row is None:
                raise KaratError(f"The server has lost the study {self.slug}.")
            table = export.participants(connection, row.id, with_ids=True)
            judgments = export.judgments(connection, row.id, self.study)
        behaviours = dict(zip(table["participant"], table["platform_id"].str.replace(r"-\d+$", ""), strict=True))
        people = judgments.participants.with_columns(source=pl.lit(SIMULATED))
        judgments = Judgments(judgments.frame, judgments.scales, people)
        return Answered(judgments, behaviours, self.study, line)


def serve(folder: Path) -> Served:
    """Serve the example study from a folder, on a free port of this machine."""
    where = _empty_folder(folder / FOLDER)
    return _serve(_study(where / SLUG), where, PEOPLE, SLUG)


def _serve(study: Study, folder: Path, kinds: Mapping[str, int], slug: str) -> Served:
    """Start the server of a study with a new password."""
    password = secrets.token_urlsafe(9)
    server = ServerProcess(study.path.parent, folder / "data", environment={"KARAT_ADMIN_PASSWORD": password})
    return Served(server.start(), folder, study, password, kinds, slug)


REHEARSAL = "rehearsal"
NOT_REHEARSED = (
    "platform", "participants", "invitations", "not_from", "only_from", "waiting_days", "quotas", "list_quota",
    "completion_code", "screened_out_code", "failed_quiz_code", "no_consent_code", "completion_url", "id_parameter",
    "days_between",
)  # fmt: skip
"""Keys that would exclude bots, send them to a platform, or delay their next session."""
HUMAN_CLOCKS = r"(?m)^receipt_times\s*=.*\n?"
"""The rule on receipts, which would flag bots because they answer faster than the response times they report."""


def rehearse(study: Study, folder: Path, bots: int) -> Served:
    """Serve a copy of a study to bots of all kinds, open to everybody with the address.

    The copy, its server and its database are in `folder` and separate from the study itself.
    """
    kinds = bots_of_all_kinds(bots)
    where = _empty_folder(folder / FOLDER)
    copy = where / REHEARSAL
    images = [cell for block in study.blocks for name in ("image", "image_2") if name in block.items.frame.columns
              for cell in block.items.frame[name].drop_nulls().unique() if not cell.startswith("https:")]  # fmt: skip
    for name in dict.fromkeys([*file_names(study)[1:], *images]):
        if not (copy / name).resolve().is_relative_to(copy.resolve()):
            raise KaratError(f"{name} is outside the folder of the study. Put it next to the study file to rehearse.")
        (copy / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(study.path.parent / name, copy / name)
    text = study.path.read_text(encoding="utf-8")
    for key in NOT_REHEARSED:
        text = re.sub(rf"(?m)^{key}[^\S\n]*=[^\S\n]*(?:\[[^\]]*\])?.*\n?", "", text)
    text = re.sub(HUMAN_CLOCKS, "", re.sub(r"(?ms)^\[recruitment\.quotas.*?(?=^\[|\Z)", "", text))
    if not re.search(r"(?m)^\[recruitment\]", text):
        text += "\n[recruitment]\n"
    people = max(bots, study.settings.recruitment.participants)
    text = re.sub(
        r"(?m)^\[recruitment\].*$", f'[recruitment]\nplatform = "link"\nparticipants = {people}', text, count=1
    )
    (copy / "study.toml").write_text(text, encoding="utf-8")
    return _serve(load(copy), where, kinds, REHEARSAL)


def bots_of_all_kinds(bots: int) -> dict[str, int]:
    """The number of bots of each kind: at least one of each, and the rest attentive."""
    if bots < 2 * len(PEOPLE):
        raise KaratError(f"A rehearsal with bots of all kinds needs {2 * len(PEOPLE)} of them; {bots} are too few.")
    first, *others = PEOPLE
    kinds = {name: max(1, bots * PEOPLE[name] // sum(PEOPLE.values())) for name in others}
    return {first: bots - sum(kinds.values()), **kinds}


def simulated(folder: Path) -> tuple[list[str], Answered]:
    """Simulate answers to the example study without a server, for machines that must not open a port."""
    study = _study(_empty_folder(folder / FOLDER) / SLUG)
    number = sum(PEOPLE.values())
    judgments = answer_study(study, number, shares={name: count / number for name, count in PEOPLE.items()})
    behaviours = dict(judgments.participants.select("participant", "behaviour").iter_rows())
    who = f"{number} simulated participants ({counted_behaviours(PEOPLE)})"
    text = f"answered   {who} gave {len(judgments):,} answers, without a server"
    return _written_and_checked(study), Answered(judgments, behaviours, study, text)


def _written_and_checked(study: Study) -> list[str]:
    report = check(study)
    return [f"written    {study.path.parent}: a study of ratings, to be changed", f"checked    {report.summary()}"]


async def _take_part(
    address: str,
    slug: str,
    study: Study,
    people: Sequence[Behaviour],
    progress: Callable[[int, int], None],
    watched: bool,
) -> list[WalkRecord]:
    """Let all bots take part in each session of the study, arriving one by one and answering at the same time."""
    records: list[WalkRecord] = []
    finished = count(1)

    async def one(number: int, bot: Behaviour) -> None:
        await asyncio.sleep(number * APART if watched else 0)
        way = Way(
            slug, {"pid": f"{bot.name}-{number + 1}"}, known_answers(study, number),
            speed=WATCHED_SPEED if watched else 0.0, patience=20.0,
        )  # fmt: skip
        client = Client(address)
        try:
            for _ in range(study.settings.questionnaire.sessions):
                record = await visit(client, way, bot)
                records.append(record)
                if record.left_early:
                    break
        finally:
            await client.close()
        progress(next(finished), len(people))

    await asyncio.gather(*(one(number, bot) for number, bot in enumerate(people)))
    return records


def _empty_folder(folder: Path) -> Path:
    """Make a folder, or empty one from an earlier demo; any other existing folder is an error."""
    if folder.exists():
        if not (folder / MARK).exists():
            raise KaratError(f"{folder} already exists and is not from a demo. Choose another folder with --out.")
        shutil.rmtree(folder)
    folder.mkdir(parents=True)
    (folder / MARK).touch()
    return folder


def _study(folder: Path) -> Study:
    """The rating study of `karat init`, open to everybody with the address."""
    write_study(folder, "likert")
    file = folder / "study.toml"
    text = file.read_text(encoding="utf-8").replace('"prolific"', '"link"    ')
    text = re.sub(r"(?m)^(participants +=) \d+", rf"\g<1> {sum(PEOPLE.values())}", re.sub(HUMAN_CLOCKS, "", text))
    file.write_text(text, encoding="utf-8")
    return load(folder)


JUDGING = {
    "attentive": "attentive", "minority dialect": "with a dialect of their own", "dawdler": "who dawdled",
    "drop-out": "who dropped out",
}  # fmt: skip
"""The names of judging participants who may still be excluded by a rule."""


@dataclass(frozen=True)
class Answered:
    """Answers of participants with known behaviours."""

    judgments: Judgments
    behaviours: dict[str, str]
    study: Study
    line: str
    """A line about the answers."""


@dataclass(frozen=True)
class DemoResult:
    """The report, and lines about it."""

    page: Path
    lines: list[str]


def report(answered: Answered, folder: Path, progress: NamedSteps, command: str = "karat demo") -> DemoResult:
    """Screen by the rules of the study, measure the remaining judgments, and write the report."""
    answered.judgments.to_parquet(folder / "judgments.parquet")
    gathered = build(answered.judgments, answered.study, command=command, progress=progress)
    gathered.screening.write(folder / "screened")
    with progress("writing the report"):
        page, *_ = write(gathered, folder / "report.html")
    return DemoResult(page, [*_compared(gathered, answered.behaviours), *_measured(gathered)])


def _compared(gathered: ReportData, behaviours: dict[str, str]) -> list[str]:
    """Lines about who was flagged by the rules of the study and by credence."""
    lines = [f"screened   by the rules of the study: {_flagged(gathered.screening.excluded, behaviours)}"]
    credence = gathered.evidence("credence")
    if isinstance(credence, Credence):
        lines.append(f"credence   as a second opinion: {_flagged(credence.flagged, behaviours)}")
    return lines


def _flagged(flagged: Collection[str], behaviours: dict[str, str]) -> str:
    careless = Counter(kind for kind in behaviours.values() if kind not in JUDGES)
    caught = Counter(behaviours[name] for name in flagged if behaviours[name] not in JUDGES)
    kinds = ", ".join(f"{caught[kind]} of {number} {kind}s" for kind, number in careless.items())
    wrongly = Counter(behaviours[name] for name in flagged if behaviours[name] in JUDGES)
    others = ", ".join(f"{count} {JUDGING[name]}" for name, count in wrongly.items()) or "nobody"
    return f"{kinds} found; flagged without being careless: {others}"


def _measured(gathered: ReportData) -> list[str]:
    measures = gathered.measures
    if not isinstance(measures, Measures):
        return [f"measured   nothing: {measures}"]
    return [f"measured   {', '.join(part.name for part in measures.parts)}"]
