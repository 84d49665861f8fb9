"""A study on a server of one's own: bots take part over HTTP as people do, earnest and not, and are then screened.

Nothing of it leaves the machine. The bots see what participants see; who they are in truth is compared with the
verdicts only at the end.
"""

from __future__ import annotations

import asyncio
import secrets
import shutil
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import polars as pl

from karat.errors import KaratError
from karat.field.bots import Behaviour, Client, Record, visit
from karat.field.bots.behaviour import crowd
from karat.field.bots.process import ServerProcess
from karat.field.bots.walk import Way, known_answers
from karat.field.store import Store, export, studies
from karat.judgments import Judgments
from karat.screen import Screening
from karat.screen import run as screen
from karat.simulate.behaviours import JUDGES
from karat.study.init import write_study
from karat.study.study import Study, load

FOLDER, MARK = "served", "made-by-karat-demo"
SLUG = "likert"
PEOPLE = {"earnest": 14, "dawdler": 1, "drop-out": 1, "guesser": 3, "rusher": 3, "straight-liner": 2}
"""How many bots behave in which way."""
WATCHED_SPEED = 60.0
"""How many times faster than people the bots are when somebody watches; else they do not pause at all."""
STEP = 17
"""How bots are mixed: a step that has no divisor in common with their number."""
APART = 0.1
"""Seconds between two arrivals, when somebody watches."""


@dataclass(frozen=True)
class Served:
    """A study on a running server. Whoever has it stops the server at the end."""

    server: ServerProcess
    folder: Path
    study: Study
    password: str

    @property
    def lines(self) -> list[str]:
        """Where it is to be seen."""
        return [
            f"serving    {self.server.address}/s/{SLUG}/ for participants",
            f"dashboard  {self.server.address}/admin with the name admin and the password {self.password}",
        ]

    def answered(self, progress: Callable[[int, int], None], *, watched: bool) -> str:
        """Let bots take part; what they did, in words. `progress` is told how many of how many are through."""
        behaviours = [name for name, count in PEOPLE.items() for _ in range(count)]
        people = crowd(self.study, behaviours)
        # Behaviours come mixed, as people do, and not one kind after the other.
        mixed = [people[STEP * number % len(people)] for number in range(len(people))]
        records = asyncio.run(_take_part(self.server.address, self.study, mixed, progress, watched))
        answers = sum(len(record.acknowledged) for record in records)
        left = sum(record.left_early for record in records)
        kinds = ", ".join(f"{count} {name}" for name, count in PEOPLE.items())
        return f"answered   {len(records)} bots ({kinds}) gave {answers:,} answers over HTTP; {left} left early"

    def screened(self) -> list[str]:
        """Export, screen by the rules that the study stated beforehand, and compare with how the bots behaved."""
        judgments, known = self._exported()
        judgments.to_parquet(self.folder / "judgments.parquet")
        screening = screen(judgments, study=self.study)
        screening.write(self.folder / "screened")
        behaviours = dict(zip(known["participant"], known["platform_id"].str.replace(r"-\d+$", ""), strict=True))
        return [f"screened   {_found(screening, behaviours)}", f"written    {self.folder / 'judgments.parquet'}"]

    def _exported(self) -> tuple[Judgments, pl.DataFrame]:
        """The judgments, and the participants with the names under which the bots came."""
        store = Store.open(f"sqlite:///{self.server.data.resolve() / 'karat.db'}")
        try:
            with store.read() as connection:
                row = studies.find(connection, SLUG)
                if row is None:
                    raise KaratError(f"The server has lost the study {SLUG}.")
                known = export.participants(connection, row.id, with_ids=True)
                return export.judgments(connection, row.id, self.study), known
        finally:
            store.close()


def serve(folder: Path) -> Served:
    """Serve the example study from a folder, on a free port of this machine."""
    where = _emptied(folder / FOLDER)
    study = _study(where / SLUG)
    password = secrets.token_urlsafe(9)
    server = ServerProcess(where / SLUG, where / "data", environment={"KARAT_ADMIN_PASSWORD": password})
    return Served(server.start(), where, study, password)


async def _take_part(
    address: str, study: Study, people: Sequence[Behaviour], progress: Callable[[int, int], None], watched: bool
) -> list[Record]:
    """All bots take part, one after the other at the door and all at once inside."""
    records: list[Record] = []

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
    file.write_text(text, encoding="utf-8")
    return load(folder)


def _found(screening: Screening, behaviours: dict[str, str]) -> str:
    """How many of each kind were excluded."""
    excluded = [behaviours[name] for name in screening.excluded]
    careless = [name for name in behaviours.values() if name not in JUDGES]
    caught = sum(name not in JUDGES for name in excluded)
    earnest = Counter(name for name in excluded if name in JUDGES)
    others = ", ".join(f"{count} {name}" for name, count in earnest.items()) or "nobody"
    return (
        f"by the rules that the study stated, {caught} of the {len(careless)} who answered without looking are "
        f"excluded; of the others, {others}"
    )
