"""karat simulate: answers to a planned study by simulated participants."""

from typing import Annotated

import typer

from karat.cli.options import (
    ExecutorOptions,
    Json,
    OutTable,
    Seed,
    StudyArgument,
    option,
    print_json,
    with_executor_options,
)
from karat.cli.progress import counting
from karat.errors import KaratError

EXAMPLE = "Example: karat simulate study.toml -o results.csv --share guesser=0.1,rusher=0.05"


@with_executor_options
def simulate(
    study: StudyArgument,
    out: OutTable,
    participants: Annotated[
        int | None, option("Set the number of participants (default: from the study file).", "N", min=1)
    ] = None,
    share: Annotated[
        str | None, option("Set the shares of behaviours; the rest answer attentively.", "NAME=SHARE,...")
    ] = None,
    effect: Annotated[
        list[str] | None,
        option(
            "Set the size of a planned contrast in log-odds (default: 0.8 for each). A bare number sets the "
            "first one. Repeatable.",
            "[NAME=]N",
        ),
    ] = None,
    seed: Seed = 1,
    *,
    place: ExecutorOptions,
    as_json: Json = False,
) -> None:
    """Answer a planned study with simulated participants, whose behaviour is recorded in a column.

    The behaviours are `attentive`, minority dialect, dawdler, drop-out, guesser, straight-liner, rusher and
    clever spammer.

    For many participants, --processes 4 or --cluster local shares the work among processes.
    """
    from karat.judgments.files import files_of
    from karat.simulate import answer_study
    from karat.simulate.behaviours import USUAL, counted_behaviours, read_shares
    from karat.study.study import load

    loaded = load(study)
    shares = USUAL if share is None else read_shares(share)
    with place.open_executor() as executor, counting("answering the study", quiet=as_json) as progress:
        results = answer_study(
            loaded, participants, shares=shares, effects=_effects(effect), seed=seed, progress=progress,
            executor=executor,
        )  # fmt: skip
    (results.to_csv if out.suffix == ".csv" else results.to_parquet)(out)
    behaviours = dict(results.participants["behaviour"].value_counts(sort=True).sort("count", "behaviour").rows()[::-1])
    if as_json:
        print_json({"written": str(out), "answers": len(results), "behaviours": behaviours, "seed": seed})
        return
    typer.echo(f"simulated  {results.summary().splitlines()[0]}")
    typer.echo(f"behaviour  {counted_behaviours(behaviours)}")
    typer.echo(f"written    {'  '.join(map(str, files_of(out, results.participants)))}")


def _effects(texts: list[str] | None) -> dict[str, float] | float | None:
    """Parse effects: a number, or names with numbers."""
    from karat.judgments.scales import as_number

    if not texts:
        return None
    named: dict[str, float] = {}
    for text in texts:
        name, equals, number = text.rpartition("=")
        size = as_number(number.strip())
        if size is None:
            raise KaratError(f"--effect {text}: use a number, or NAME=NUMBER with the name of a contrast.")
        if not equals:
            if len(texts) > 1:
                raise KaratError(f"--effect {text}: with several effects, use NAME=NUMBER for each.")
            return size
        named[name.strip()] = size
    return named
