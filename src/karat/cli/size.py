"""karat size: how long a questionnaire a design needs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from karat.cli.chance import aligned
from karat.cli.options import Json, print_json
from karat.errors import KaratError

if TYPE_CHECKING:
    from karat.study.size import Size

EXAMPLE = "Example: karat size 2x2 --task likert --task choice"


def size(
    design: Annotated[str, typer.Argument(help="Number of levels per factor, such as 2x2 or 2x3.")],
    task: Annotated[
        list[str] | None,
        typer.Option(help="Choose likert, choice or yes-no (default: all). Repeatable.", metavar="NAME"),
    ] = None,
    points: Annotated[int, typer.Option(help="Use a rating scale with N points.", min=2, max=21, metavar="N")] = 5,
    no_difference: Annotated[
        bool, typer.Option("--no-difference", help='Allow the answer "no difference" in choices.')
    ] = False,
    slips: Annotated[
        int, typer.Option(help="Forgive N wrong answers in controls and attention items.", min=0, max=50, metavar="N")
    ] = 1,
    participants: Annotated[int, typer.Option(help="Pay N participants.", min=1, metavar="N")] = 36,
    seconds: Annotated[
        float | None, typer.Option(help="Set the time per trial (default: typical for the task).", metavar="N")
    ] = None,
    pay: Annotated[float, typer.Option(help="Set the pay per hour.", min=0, metavar="N")] = 12.0,
    fee: Annotated[
        float | None,
        typer.Option(help="Set the fee of the platform as a share of the pay.", min=0, max=1, metavar="SHARE"),
    ] = None,
    platform: Annotated[
        str, typer.Option(help="Use the fee of this platform: prolific, mturk or link.", metavar="NAME")
    ] = "prolific",
    prices: Annotated[
        str, typer.Option(help="Use the price list in force at this date, such as 2014-11.", metavar="DATE")
    ] = "",
    currency: Annotated[str, typer.Option(help="Set the currency.", metavar="NAME")] = "EUR",
    as_json: Json = False,
) -> None:
    """Show how many trials a design needs per task, how long they take and what they cost."""
    from karat.study.size import TASKS, known_price_lists, price_list
    from karat.study.size import size as size_of

    if fee is None and price_list(platform, prices) is None:
        when = f" at {prices}" if prices else ""
        known = known_price_lists()
        raise KaratError(f"karat has no price list of the platform {platform}{when}, only {known}. Use --fee SHARE.")
    sizes = [
        size_of(
            design, name, points=points, no_difference=no_difference, slips=slips, participants=participants,
            seconds=seconds, pay=pay, fee=fee, platform=platform, prices=prices, currency=currency,
        )
        for name in dict.fromkeys(task or TASKS)
    ]  # fmt: skip
    if as_json:
        print_json([one.to_dict() for one in sizes])
    else:
        typer.echo("\n".join(_lines(sizes)))


def _lines(sizes: list[Size]) -> list[str]:
    """One column per task, then the assumptions."""
    rows = [
        (sizes[0].design, *(one.task for one in sizes)),
        ("conditions", *(str(one.conditions) for one in sizes)),
        ("test trials", *(str(one.test) for one in sizes)),
        ("fillers", *(str(one.fillers) for one in sizes)),
        ("  calibration", *(str(one.calibration) for one in sizes)),
        ("  control", *(str(one.control) for one in sizes)),
        ("  attention", *(str(one.attention) for one in sizes)),
        ("  others", *(str(one.other) for one in sizes)),
        ("trials", *(str(one.trials) for one in sizes)),
        ("of 100", *("within" if one.within_limit else "too long" for one in sizes)),
        ("minutes", *(f"{one.minutes:.0f}" for one in sizes)),
        (f"cost in {sizes[0].currency}", *(f"{one.cost:,.2f}" for one in sizes)),
    ]
    lines = [*aligned(rows), ""]
    lines += [f"{one.task}: correct answers needed: controls {one.control_rule}; attention {one.attention_rule}."
             for one in sizes]  # fmt: skip
    lines += [f"{one.task}: {note}" for one in sizes for note in one.notes]
    lines += [f"{one.task}: assumed {one.assumptions[0]}." for one in sizes]
    return lines + [f"All: {assumption}." for assumption in sizes[0].assumptions[1:]]
