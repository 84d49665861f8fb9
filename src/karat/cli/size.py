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
        platforms = known_price_lists()
        raise KaratError(
            f"karat has no price list of the platform {platform}{when}, only {platforms}. Use --fee SHARE."
        )
    sizes = [
        size_of(
            design, name, points=points, no_difference=no_difference, slips=slips, participants=participants,
            seconds=seconds, pay=pay, fee=fee, platform=platform, prices=prices, currency=currency,
        )
        for name in dict.fromkeys(task or TASKS)
    ]  # fmt: skip
    if as_json:
        print_json([entry.to_dict() for entry in sizes])
    else:
        typer.echo("\n".join(_lines(sizes)))


def _lines(sizes: list[Size]) -> list[str]:
    """One column per task, then the assumptions."""
    rows = [
        (sizes[0].design, *(size.task for size in sizes)),
        ("conditions", *(str(size.conditions) for size in sizes)),
        ("test trials", *(str(size.test) for size in sizes)),
        ("fillers", *(str(size.fillers) for size in sizes)),
        ("  calibration", *(str(size.calibration) for size in sizes)),
        ("  control", *(str(size.control) for size in sizes)),
        ("  attention", *(str(size.attention) for size in sizes)),
        ("  others", *(str(size.other) for size in sizes)),
        ("trials", *(str(size.trials) for size in sizes)),
        ("of 100", *("within" if size.within_limit else "too long" for size in sizes)),
        ("minutes", *(f"{size.minutes:.0f}" for size in sizes)),
        (f"cost in {sizes[0].currency}", *(f"{size.cost:,.2f}" for size in sizes)),
    ]
    lines = [*aligned(rows), ""]
    lines += [f"{size.task}: correct answers needed: controls {size.control_rule}; attention {size.attention_rule}."
             for size in sizes]  # fmt: skip
    lines += [f"{size.task}: {note}" for size in sizes for note in size.notes]
    lines += [f"{size.task}: assumed {size.assumptions[0]}." for size in sizes]
    return lines + [f"All: {assumption}." for assumption in sizes[0].assumptions[1:]]
