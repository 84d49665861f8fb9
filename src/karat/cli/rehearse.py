"""karat rehearse: bots answer a study before people do."""

from pathlib import Path
from typing import Annotated

from karat.cli.demo import Out, Stay, run_bots, running_server
from karat.cli.options import Json, argument, option

EXAMPLE = "Example: karat rehearse my-study --bots 30"


def rehearse(
    study: Annotated[Path, argument("A study file, or a folder with study.toml.")] = Path("study.toml"),
    bots: Annotated[int, option("Let this many bots of all kinds take part.", "N", min=12)] = 30,
    out: Out = Path("karat-rehearsal"),
    stay: Stay = False,
    as_json: Json = False,
) -> None:
    """Rehearse a study: bots of all kinds answer it on a server of its own, then it is screened and reported.

    The bots go through every page, as participants do. Their answers are kept apart from those of the study.
    """
    from karat import demo as story
    from karat.study.study import load

    loaded = load(study)
    with running_server(lambda: story.rehearse(loaded, out, bots), out, True, as_json) as served:
        run_bots(served, None, out, "karat rehearse", stay, False, as_json)
