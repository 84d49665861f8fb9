"""karat power: the probability that a planned contrast is significant."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from karat.cli.chance import aligned
from karat.cli.options import (
    ExecutorOptions,
    Json,
    Seed,
    StudyArgument,
    option,
    print_json,
    with_executor_options,
)
from karat.cli.progress import counting, working
from karat.errors import KaratError
from karat.languages import language_of

if TYPE_CHECKING:
    from karat.simulate import Power

EXAMPLE = "Example: karat power study.toml --participants 24,36,48 --items 12,24 --effect 0.5,0.8 --exclude 0.1"


@with_executor_options
def power(
    study: StudyArgument,
    participants: Annotated[
        str | None, option("Recruit these numbers of participants (default: from the study file).", "N,...")
    ] = None,
    items: Annotated[
        str | None, option("Use these numbers of test items (default: as in the item table).", "N,...")
    ] = None,
    effect: Annotated[
        str | None, option("Assume these sizes of the contrast (default: 0.8 log-odds, or the pilot's).", "X,...")
    ] = None,
    unit: Annotated[str | None, option("Set the unit of --effect: log-odds or scale.", "NAME")] = None,
    contrast: Annotated[str | None, option("Choose a planned contrast (default: the first).", "NAME")] = None,
    pilot: Annotated[
        Path | None, option("Take standard deviations and effect from the results of this pilot.", "FILE")
    ] = None,
    exclude: Annotated[float, option("Assume this share of participants is excluded.", "SHARE", min=0, max=0.99)] = 0.0,
    simulations: Annotated[
        int | None, option("Simulate N studies per size (default: 500; 1,000 with --quick).", "N", min=1)
    ] = None,
    alpha: Annotated[float, option("Set the significance level.", "P")] = 0.05,
    quick: Annotated[
        bool, option("Approximate the test: take answers as numbers, which needs seconds.", None, "--quick")
    ] = False,
    analysis: Annotated[
        str | None,
        option(
            "Analyse each study with the model of karat measure (model), by means (means, as --quick) or with a "
            "linear mixed model (mixed).",
            "NAME",
        ),
    ] = None,
    model: Annotated[str | None, option("An older name of --analysis.", hidden=True)] = None,
    seed: Seed = 1,
    *,
    place: ExecutorOptions,
    out: Annotated[Path | None, option("Write the power curve to this SVG file.", "FILE", "-o", "--out")] = None,
    svg: Annotated[Path | None, option("An older name of --out.", hidden=True)] = None,
    write: Annotated[
        bool, option("Record the result in the study file, for the methods paragraph.", None, "--write")
    ] = False,
    as_json: Json = False,
) -> None:
    """Estimate the power of a planned contrast by simulating studies in which participants and items vary.

    Each study is analysed as karat measure will analyse the real one. --quick approximates that test.

    The same seed gives the same numbers wherever the work runs, with --processes 4 or --cluster cluster.toml. After an
    interruption, repeat the command with the same --checkpoint to resume.
    """
    from karat.intake import read
    from karat.judgments.files import write_text
    from karat.simulate import power as power_of
    from karat.study.file import read_toml, with_table
    from karat.study.study import load

    people, things, sizes = (
        _numbers("--participants", participants), _numbers("--items", items), _numbers("--effect", effect)
    )  # fmt: skip
    if pilot is not None and unit == "log-odds":
        raise KaratError("--unit log-odds: with --pilot, effects are differences on the scale. Leave out --unit.")
    if write and any(len(numbers or []) > 1 for numbers in (people, things, sizes)):
        raise KaratError("--write records one size. Use one number each for --participants, --items and --effect.")
    loaded = load(study)
    with working("reading the pilot", quiet=as_json):
        piloted = None if pilot is None else read(pilot)
    place = place if place.processes or place.cluster else replace(place, processes=os.cpu_count() or 1)
    with place.open_executor() as executor, counting("simulating studies", quiet=as_json) as progress:
        result = power_of(
            loaded, _whole("--participants", people), _whole("--items", things), sizes,
            unit=unit or "log-odds", contrast=contrast, pilot=piloted, exclude=exclude,  # type: ignore[arg-type]
            simulations=simulations, alpha=alpha, analysis="means" if quick else model or analysis, seed=seed,  # type: ignore[arg-type]
            progress=progress, executor=executor,
        )  # fmt: skip
    picture = out or svg
    if picture is not None:
        write_text(picture, result.svg() + "\n")
    if write:
        write_text(loaded.path, with_table(read_toml(loaded.path)[1], "power", result.record()))
    if as_json:
        print_json(result.to_dict())
        return
    written = [*([] if picture is None else [picture]), *([loaded.path] if write else [])]
    typer.echo("\n".join([*_lines(result), *(f"written    {file}" for file in written)]))


def _numbers(option: str, text: str | None) -> list[float] | None:
    from karat.judgments.scales import as_number

    if text is None:
        return None
    numbers = [as_number(part.strip()) for part in text.split(",")]
    valid = [number for number in numbers if number is not None]
    if len(valid) < len(numbers):
        raise KaratError(f"{option} {text}: use numbers separated by commas, such as 24,36.")
    return valid


def _whole(option: str, numbers: list[float] | None) -> list[int] | None:
    if numbers is None:
        return None
    if not all(number.is_integer() for number in numbers):
        raise KaratError(f"{option}: use whole numbers.")
    return [int(number) for number in numbers]


def _lines(power: Power) -> list[str]:
    """A table with one row per size, then what it means."""
    lost = f", {power.exclude * 100:g} % of participants excluded" if power.exclude else ""
    quick = ("quick",) if "quick" in power.cells.columns else ()
    head = ("participants", "items", str(power.unit), "difference", "power", "95 % interval")
    rows = [(*head, *quick, "type S", "type M")]
    rows += [
        (
            str(row["participants"]), str(row["items"]), f"{row['effect']:.3g}", f"{row['difference']:.2f}",
            _share(row["power"]), f"{_share(row['lower'])} to {_share(row['upper'])}",
            *(_share(row[name]) for name in quick),
            "" if row["type_s"] is None else _share(row["type_s"]),
            "" if row["type_m"] is None else f"{row['type_m']:.2f}",
        )
        for row in power.cells.iter_rows(named=True)
    ]  # fmt: skip
    untested = int(power.cells["untested"].sum())
    simulated = f"{power.cells['simulations'][0]:,} simulated studies each, alpha {_share(power.alpha)}{lost}"
    lines = [f"Power of the contrast {power.contrast}: {simulated}", "", *aligned(rows), ""]
    lines.append(f"Differences are in: {power.scale_unit}. Type S: wrong sign; type M: exaggeration, if significant.")
    lines += ["Power is that of the test of karat measure; quick is that of the approximation."] if quick else []
    lines += [f"{untested:,} simulated studies could not be analysed and count as not significant."] if untested else []
    return [*lines, *map(str, (*power.summary, *power.notes))]


def _share(share: float) -> str:
    """A share without the leading zero."""
    return language_of("en").value(share, ".2r")
