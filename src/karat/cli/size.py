"""karat size: how long a questionnaire a design needs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from karat.cli.chance import aligned
from karat.cli.options import Json, argument, option, print_json
from karat.errors import KaratError

if TYPE_CHECKING:
    from karat.study.size import Size

EXAMPLE = "Example: karat size 2x2 --task likert --task choice"


def size(
    design: Annotated[str, argument("Number of levels per factor, such as 2x2 or 2x3.")],
    task: Annotated[
        list[str] | None, option("Choose likert, choice or yes-no (default: all). Repeatable.", "NAME")
    ] = None,
    points: Annotated[int, option("Use a rating scale with N points.", "N", min=2, max=21)] = 5,
    no_difference: Annotated[
        bool, option('Allow the answer "no difference" in choices.', None, "--no-difference")
    ] = False,
    slips: Annotated[int, option("Forgive N wrong answers in controls and attention items.", "N", min=0, max=50)] = 1,
    participants: Annotated[int, option("Pay N participants.", "N", min=1)] = 36,
    seconds: Annotated[float | None, option("Set the time per trial (default: typical for the task).", "N")] = None,
    pay: Annotated[float, option("Set the pay per hour.", "N", min=0)] = 12.0,
    fee: Annotated[
        float | None, option("Set the fee of the platform as a share of the pay.", "SHARE", min=0, max=1)
    ] = None,
    platform: Annotated[str, option("Use the fee of this platform: prolific, mturk or link.", "NAME")] = "prolific",
    prices: Annotated[str, option("Use the price list in force at this date, such as 2014-11.", "DATE")] = "",
    currency: Annotated[str, option("Set the currency.", "NAME")] = "EUR",
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
