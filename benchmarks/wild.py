"""Real result files and what karat makes of them: python benchmarks/wild.py [CASE ...] [--report]

The files of `../shared/reference/wild` are read three times: as they are, with `--yes`, and with the answers of
`ANSWERS`. What comes out is compared with `expected.json`: participants, judgments, missing answers, items, kind of
scale, response times, and means by group where the groups are columns. `--report` writes the report of each file and
prints its processor time. `--smallest` reads three short files, and `--write` puts the counts into
docs/reference/sources.md.
"""

from __future__ import annotations

import argparse
import json
import resource
import shlex
import sys
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import polars as pl

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from benchmarks.marked import parse_options, write_page

ROOT = Path(__file__).resolve().parents[1]
PAGE = ROOT / "docs" / "reference" / "sources.md"
WILD = ROOT.parent / "shared" / "reference" / "wild"
SMALLEST = ("b03", "d05", "f01")

KINDS = {
    "slider": ("continuous",),
    "choice": ("choice", "nominal"),
    "nominal": ("nominal",),
    "binary": ("binary",),
    "ordinal": ("ordinal",),
    "magnitude": ("magnitude",),
}
REFUSED = ("j06",)
"""Files without participants: there is nothing to read, and the message names their form."""
ANSWERS: dict[str, str] = {
    "a01": "--map 'item=Question 1+Question 3+Question 4'",
}
"""At most three answers for each file that `--yes` alone does not read as its authors did."""


@dataclass(frozen=True)
class Outcome:
    """What became of a file: read, or refused with these words; and how the reading differs from the authors'."""

    read: bool
    differences: tuple[str, ...] = ()
    message: str = ""

    @property
    def right(self) -> bool:
        """Whether the file was read as its authors read it."""
        return self.read and not self.differences

    @property
    def word(self) -> str:
        """The outcome as one word of the table."""
        return "right" if self.right else "WRONG" if self.read else "asks"


def cases() -> dict[str, dict[str, Any]]:
    """The cases by their ids."""
    return {case["id"]: case for case in json.loads((WILD / "expected.json").read_text(encoding="utf-8"))}


def outcome(case: Mapping[str, Any], arguments: Sequence[str] = ()) -> Outcome:
    """Convert a case as a user would and compare what was written."""
    import karat
    from karat.cli.main import app
    from karat.errors import KaratError

    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder) / "judgments.parquet"
        files = [str(WILD / file) for file in case["files"]]
        try:
            app(["convert", *files, *arguments, "-o", str(out), "--quiet"], standalone_mode=False)
        except KaratError as error:
            return Outcome(False, message=str(error))
        except Exception as error:
            return Outcome(True, (f"{type(error).__name__}: {error}",))
        if not out.exists():
            return Outcome(False)
        return Outcome(True, tuple(differences(case, karat.read(out))))


def differences(case: Mapping[str, Any], judgments: Any) -> list[str]:
    """How judgments differ from what the authors read in their file."""
    expect = case["expect"]
    frame = judgments.frame
    answered = frame.filter(pl.col("response").is_not_null())
    found = []

    def compare(name: str, got: object, *wanted: object) -> None:
        if got not in wanted:
            found.append(f"{name} {got} instead of {' or '.join(map(str, wanted))}")

    compare("participants", frame["participant"].n_unique(), expect["participants"])
    compare("judgments", answered.height, expect["judgments"])
    compare("missing", frame.height - answered.height, expect["missing"])
    main = answered.filter(~pl.col("function").is_in(["practice", "attention"]))
    texts = [expect["stimulus_texts"]] if expect.get("stimulus_texts") else []
    compare("items", _items(main, expect), expect["items"], *texts)
    kinds = {scale.kind for scale in judgments.scales.values()}
    if not kinds <= set(KINDS[expect["scale"]["kind"]]):
        found.append(f"scale {kinds} instead of {expect['scale']['kind']}")
    found += _levels(answered, expect, judgments)
    found += _times(answered, expect)
    found += _means(case["id"], answered, expect, judgments)
    return found


def _levels(frame: pl.DataFrame, expect: Mapping[str, Any], judgments: Any) -> list[str]:
    """Answers that the authors did not have, and items under other names than theirs where these are known."""
    found = []
    given = set(frame["response"].unique())
    levels = expect["scale"].get("levels")
    if levels and "left" not in frame.columns and not given <= set(levels):
        found.append(f"answers {sorted(given - set(levels))[:4]} instead of {levels[:4]}")
    counts = expect["scale"].get("counts")
    if counts and dict(frame["response"].value_counts().iter_rows()) != counts:
        found.append(f"counts {dict(frame['response'].value_counts().iter_rows())} instead of {counts}")
    ends = expect["scale"].get("range")
    if ends and "left" not in frame.columns:
        numbers = frame["response"].cast(pl.Float64, strict=False).drop_nulls()
        if not ends[0] <= numbers.min() <= numbers.max() <= ends[1] or numbers.n_unique() < 5:
            found.append(f"answers from {numbers.min()} to {numbers.max()} instead of {ends}")
    if expect["group_means"]["by"] == expect["item_columns"]:
        names = set(expect["group_means"]["values"])
        if names != set(frame["item"].unique()):
            found.append(f"items {frame['item'].unique().sort().to_list()[:3]} instead of {sorted(names)[:3]}")
    return found


def _items(frame: pl.DataFrame, expect: Mapping[str, Any]) -> int:
    """The items, or, where the authors' item is a sentence frame, the stimuli: item by condition."""
    items = frame["item"].n_unique()
    if items != expect.get("item_sets"):
        return items
    parts = [name for name in [*expect["condition_columns"], *expect["item_columns"]] if name in frame.columns]
    return frame.select(pl.struct(list(dict.fromkeys(["item", *parts]))).n_unique()).item()


def _times(frame: pl.DataFrame, expect: Mapping[str, Any]) -> list[str]:
    wanted = (expect["rt"] or {}).get("median_s")
    if wanted is None:
        allowed = list(((expect["rt"] or {}).get("derived") or {}).values())
        if "rt" not in frame.columns or frame["rt"].null_count() == frame.height:
            return []
        median = frame["rt"].median()
        return [] if any(abs(median - value) < 0.002 for value in allowed) else [f"median time {median}, not known"]
    if "rt" not in frame.columns:
        return ["no response times"]
    median = frame["rt"].median()
    near = median is not None and abs(median - wanted) < 0.002
    return [] if near else [f"median time {median} instead of {wanted}"]


def _part(at: int, sign: str = "-") -> pl.Expr:
    return pl.col("item").str.split(sign).list.get(at, null_on_oob=True)


GROUPS: dict[str, Callable[[], dict[str, pl.Expr]]] = {
    "d01": lambda: {"context": _part(0), "verb": _part(1)},
    "d05": lambda: {"context": _part(0), "verb": _part(1)},
    "a02": lambda: {"Type": pl.col("Label")},
    "a03": lambda: {"Type": pl.col("Label")},
    "a08": lambda: {"Type": pl.col("Label")},
    "j03": lambda: {"(judge)": pl.col("participant")},
}
"""How groups that are no columns come out of the item."""
POSITIVE = {
    "a02": "İYİ",
    "a03": "İYİ",
    "a08": "İYİ",
    "a05": "Yes",
    "a06": "Agree",
    "d01": "Yes",
    "d05": "Yes",
    "c04": "yes",
}


def _means(name: str, frame: pl.DataFrame, expect: Mapping[str, Any], judgments: Any) -> list[str]:
    """Means or shares by group, where the table identifies the groups."""
    wanted = expect["group_means"]["values"]
    by = GROUPS[name]() if name in GROUPS else {c: pl.col(c) for c in expect["group_means"]["by"]}
    groups = frame.select(e.alias(c) for c, e in by.items() if name in GROUPS or c in frame.columns)
    if groups.width < len(by) or not by or name in ("e01", "c08"):
        return []
    of = expect["group_means"]["of"]
    if name in POSITIVE:
        value = frame["response"].str.starts_with(POSITIVE[name]).cast(pl.Float64)
    else:
        value = frame["response"].cast(pl.Float64, strict=False)
    table = groups.cast(pl.String).with_columns(value.alias(" value"), frame["function"].alias(" function"))
    if "test trials" in of or "experimental" in of or "without fillers" in of or "main trials" in of:
        table = table.filter(pl.col(" function") == "test")
    label = pl.concat_str(list(by), separator=" | ", ignore_nulls=False)
    means = dict(table.group_by(label.alias(" g")).agg(pl.col(" value").mean()).iter_rows())
    off = {g: (means.get(g), mean) for g, mean in wanted.items() if abs((means.get(g) or 0.0) - mean) > 0.0011}
    return [f"means {dict(list(off.items())[:3])}"] if off else []


def table(names: Sequence[str]) -> list[tuple[str, Outcome, Outcome, Outcome]]:
    """The outcomes of the cases: without options, with --yes, and with the answers."""
    rows = []
    for name, case in cases().items():
        if names and name not in names:
            continue
        bare, yes = outcome(case), outcome(case, ["--yes"])
        asked = outcome(case, shlex.split(ANSWERS[name])) if name in ANSWERS else bare if bare.right else yes
        rows.append((name, bare, yes, asked))
    return rows


def report_time(case: Mapping[str, Any], arguments: Sequence[str]) -> tuple[float, str]:
    """Processor seconds of the report on a case, and the line in which it names its factors."""
    from karat.cli.main import app
    from karat.errors import KaratError

    with tempfile.TemporaryDirectory() as folder:
        files = [str(WILD / file) for file in case["files"]]
        start = time.process_time()
        try:
            app(["report", *files, *arguments, "-o", str(Path(folder) / "r.html"), "--quiet"], standalone_mode=False)
        except KaratError as error:
            return time.process_time() - start, str(error).splitlines()[0]
        return time.process_time() - start, ""


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("cases", nargs="*")
    parser.add_argument("--report", action="store_true")
    parser.add_argument("--messages", action="store_true", help="Print what karat says of files it does not read.")
    parser.add_argument("--write", action="store_true", help="Put the counts into docs/reference/sources.md.")
    given = parse_options(parser)
    if not WILD.is_dir():
        print("The reference data (../shared/reference/wild) are not on this machine.")
        return
    rows = table(SMALLEST if given.smallest else given.cases)
    for name, bare, yes, asked in rows:
        print(
            f"{name}  {bare.word:6} {yes.word:6} {asked.word:6} {'; '.join(yes.differences or asked.differences)[:200]}"
        )
        for label, one in (("bare", bare), ("--yes", yes), ("answers", asked)):
            if given.messages and not one.read:
                print(f"      {label}: {one.message[:1500]}")
            elif one.differences and label == "bare":
                print(f"      {label}: {one.differences}")
    count = {label: sum(one.right for one in column) for label, column in
             zip(("bare", "--yes", "answers"), list(zip(*rows, strict=True))[1:], strict=True)}  # fmt: skip
    wrong = sum(bare.word == "WRONG" for _, bare, _, _ in rows)
    print(f"right: {count}; wrong without --yes: {wrong}; of {len(rows)}")
    if given.write:
        text = (
            f"Of {len(rows)} real files, {count['bare']} are read as their authors read them without any option, "
            f"{count['--yes']} with `--yes`, and {count['answers']}\nafter at most three answers. Without `--yes`, "
            f"{wrong} are read differently; karat asks about the rest and writes nothing."
        )
        write_page(PAGE, {"wild": text})
    if given.report:
        for name, bare, _, _ in rows:
            arguments = [] if bare.right else shlex.split(ANSWERS.get(name, "--yes"))
            seconds, message = report_time(cases()[name], arguments)
            print(f"{name}  report {seconds:5.1f} s {message}")
    print(f"peak {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024:.0f} MB")


if __name__ == "__main__":
    main()
