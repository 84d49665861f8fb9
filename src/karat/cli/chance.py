"""karat chance: the probability that a participant who guesses passes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from karat.cli.options import Json, option, print_json
from karat.errors import KaratError
from karat.languages import language_of
from karat.study.guessing import p_sentence, p_text, share

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    import polars as pl

EXAMPLE = "Example: karat chance --trials 6 --chance 0.4"
MOST_NUMBER = 200
MOST_COLUMNS = 16
NEUTRAL = {"grammatical": "grammatical", "ungrammatical": "ungrammatical", "both": "both", "neither": None}

USES = {
    "trials": ("chance",),
    "controls": ("points", "neutral", "weights", "slips"),
    "pairs": ("points", "minimum", "weights"),
    "chance": ("slips",),
    "overview": ("points", "weights", "slips"),
}
"""Each question with the options it uses."""


def chance(
    trials: Annotated[
        str | None, option("Use these numbers of control or attention trials: 6, or 4,6,8, or 4-16.", "N")
    ] = None,
    controls: Annotated[
        str | None, option("Use N rated controls per kind, grammatical and ungrammatical.", "N")
    ] = None,
    pairs: Annotated[str | None, option("Compare the means of N pairs of rated controls.", "N")] = None,
    probability: Annotated[
        str | None,
        option("Set the probability of a correct guess, such as 0.4 or 2/5 (default: 1/2).", "P", "--chance"),
    ] = None,
    points: Annotated[int | None, option("Use a rating scale with N points (default: 5).", "N", min=2, max=21)] = None,
    neutral: Annotated[
        str | None,
        option("Count the midpoint as correct for grammatical (default), ungrammatical, both or neither.", "KIND"),
    ] = None,
    minimum: Annotated[
        str | None, option("Require this difference of means, as a share of the range (default: 0.5).", "SHARE")
    ] = None,
    weights: Annotated[
        str | None, option("Set how often a guesser picks each point, such as 1,1,2,1,1 (default: equally).", "W")
    ] = None,
    slips: Annotated[int | None, option("Forgive N wrong answers (default: 1).", "N", min=0, max=50)] = None,
    alpha: Annotated[str, option("Set how often a guesser may pass.", "P")] = "0.05",
    as_json: Json = False,
) -> None:
    """Show how many control and attention trials a design needs to catch participants who guess.

    Use --trials (any task, with --chance), --controls (ratings on the correct side of the scale), --pairs (means of
    ratings), or --chance alone (the fewest trials). Without these, karat shows what the common tasks need.
    """
    options = {
        "trials": trials, "controls": controls, "pairs": pairs, "chance": probability, "points": points,
        "neutral": neutral, "minimum": minimum, "weights": weights, "slips": slips,
    }  # fmt: skip
    question = _question([name for name, value in options.items() if value is not None])
    guess = weights.split(",") if weights is not None else None
    if question == "trials":
        frame, lines = _trials(_numbers(trials or "", "--trials"), probability or "1/2", alpha)
    elif question == "controls":
        if neutral not in (None, *NEUTRAL):
            raise KaratError(f"--neutral {neutral}: use {', '.join(NEUTRAL)}.")
        numbers, middle = _numbers(controls or "", "--controls"), NEUTRAL[neutral or "grammatical"]
        frame, lines = _controls(numbers, points or 5, middle, alpha, 1 if slips is None else slips, guess)
    elif question == "pairs":
        frame, lines = _pairs(_numbers(pairs or "", "--pairs"), points or 5, minimum or "0.5", alpha, guess)
    elif question == "chance":
        frame, lines = _fewest(probability or "", alpha, range(4) if slips is None else [slips])
    else:
        frame, lines = _overview(points or 5, alpha, 1 if slips is None else slips, guess)
    if as_json:
        print_json(frame.to_dicts())
    else:
        typer.echo("\n".join(lines))


def aligned(rows: Iterable[Sequence[str]]) -> list[str]:
    """Cells in columns: the first left-aligned, the others right-aligned."""
    rows = list(rows)
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    padded = [[cell.rjust(width) for cell, width in zip(row, widths, strict=True)] for row in rows]
    return ["  ".join([row[0].ljust(widths[0]), *cells[1:]]).rstrip() for row, cells in zip(rows, padded, strict=True)]


def _question(names: list[str]) -> str:
    """The question that the options ask; an option without effect is refused."""
    name = next((name for name in USES if name in names), "overview")
    idle = [f"--{other}" for other in names if other != name and other not in USES[name]]
    if idle:
        use = f"with --{name}" if name != "overview" else "without --trials, --controls or --pairs"
        raise KaratError(
            f"{' and '.join(idle)} {'has' if len(idle) == 1 else 'have'} no effect {use}. Leave "
            f"{'it' if len(idle) == 1 else 'them'} out."
        )
    return name


def _overview(points: int, alpha: str, slips: int, weights: list[str] | None) -> tuple[pl.DataFrame, list[str]]:
    from karat.study.chance import overview, smallest_pairs

    frame = overview(points, alpha, slips, weights)
    rows = [("task", "trials", "correct", "p of guessing")]
    rows += [(task, str(n), right, p_text(p)) for task, n, right, p in frame.iter_rows()]
    pairs = smallest_pairs(points, "0.5", alpha, weights)
    enough = f"at least {pairs} pairs" if pairs else "no number of pairs is enough"
    forgiven = "one slip" if slips == 1 else f"{slips} slips" if slips else "no slip"
    return frame, [
        f"Fewest trials for which a guesser passes with p ≤ {_plain(alpha)}, with {forgiven} forgiven per group",
        "",
        *aligned(rows),
        "",
        f"Means at least half the range apart: {enough}. Means that merely differ: no number of pairs is enough.",
    ]


def _fewest(chance: str, alpha: str, slips: Iterable[int]) -> tuple[pl.DataFrame, list[str]]:
    from karat.study.chance import slips_table

    frame = slips_table(chance, alpha, slips)
    rows = [("slips", "trials", "correct", "p of guessing")]
    rows += [(str(slip), str(n), str(k), p_text(p)) for slip, n, k, p in frame.iter_rows()]
    header = f"Fewest trials for which a guesser passes with p ≤ {_plain(alpha)}; chance {_plain(chance)} per trial"
    return frame, [header, "", *aligned(rows)]


def _trials(numbers: list[int], chance: str, alpha: str) -> tuple[pl.DataFrame, list[str]]:
    from karat.study.chance import needed, pass_probability, table

    frame = table(numbers, range(1, max(numbers) + 1), chance)
    limit = float(share(alpha, "alpha"))
    header = f"Probability that a guesser is correct at least k times in n trials; chance {_plain(chance)} per trial"
    # With many trials, one column per k would not fit, so each row becomes several lines.
    rows: list[tuple[str, ...]] = [("n", *frame.columns[1:])]
    if len(numbers) == 1 or max(numbers) > MOST_COLUMNS:
        rows = [("n", "k", "p")]
        rows += [(str(n), str(k), _starred(ps[k - 1], limit)) for n, *ps in frame.iter_rows() for k in range(1, n + 1)]
    else:
        rows += [(str(n), *(_starred(p, limit) for p in ps)) for n, *ps in frame.iter_rows()]
    lines = [header, "", *aligned(rows), "", f"* p ≤ {_plain(alpha)}"]
    for n in numbers:
        k = needed(n, chance, alpha)
        if k is None:
            line = f"{n} trials: too few, because a guesser gets {n} of {n} correct too often."
        else:
            line = (
                f"{n} trials: {k} must be correct; a guesser passes with {p_sentence(pass_probability(n, k, chance))}."
            )
            line += " No slip is forgiven." if k == n else ""
        lines.append(line)
    return frame, lines


def _controls(
    numbers: list[int], points: int, neutral: str | None, alpha: str, slips: int, weights: list[str] | None
) -> tuple[pl.DataFrame, list[str]]:
    from karat.study.chance import joint_table

    frame = joint_table(numbers, points, neutral, alpha, slips=slips, weights=weights)
    header = f"Rules for n grammatical and n ungrammatical controls that a guesser passes with p ≤ {_plain(alpha)}"
    if frame.is_empty():
        return frame, [f"{header}: none. Use more controls."]
    rows = [("n", "grammatical", "p", "ungrammatical", "p", "joint p")]
    rows += [
        (str(n), f"{k} of {n}", p_text(p), f"{m} of {n}", p_text(q), p_text(both))
        for n, k, p, m, q, both in frame.iter_rows()
    ]
    return frame, [header, "(a guesser passes each kind alone with p < .6)", "", *aligned(rows)]


def _pairs(
    numbers: list[int], points: int, minimum: str, alpha: str, weights: list[str] | None
) -> tuple[pl.DataFrame, list[str]]:
    from karat.study.chance import relational_table

    frame = relational_table(numbers, points, minimum, alpha, weights)
    rows = [("pairs", "above 0", f"at least {_plain(minimum)}", "threshold", "p there")]
    for n, above, least, step, p in frame.iter_rows():
        # The threshold also as points of the sums, because a rounded share could lie above its step.
        most = n * (points - 1)
        there = "none" if p is None else f"{round(step * most)}/{most} = {language_of('en').value(step, '.3r')}"
        rows.append((str(n), p_text(above), p_text(least), there, "" if p is None else p_text(p)))
    return frame, [
        f"Probability that a guesser rates grammatical controls higher on average; {points} points",
        "",
        *aligned(rows),
        "",
        f"Differences are shares of the range. The threshold is the smallest difference with p ≤ {_plain(alpha)}.",
    ]


def _numbers(text: str, flag: str) -> list[int]:
    numbers: list[int] = []
    for part in text.split(","):
        low, dash, high = part.strip().partition("-")
        ends = [low.strip(), high.strip()] if dash else [low.strip()]
        if not all(end.isascii() and end.isdigit() and 1 <= int(end[:9]) <= MOST_NUMBER for end in ends):
            raise KaratError(f"{flag} {text}: use numbers from 1 to {MOST_NUMBER:,}, such as 6 or 4,6,8 or 4-16.")
        numbers += range(int(ends[0]), int(ends[-1]) + 1)
    if not numbers:
        raise KaratError(f"{flag} {text}: put the smaller number of a range first, such as 4-16.")
    return sorted(set(numbers))


def _starred(p: float | None, limit: float) -> str:
    return "" if p is None else p_text(p) + ("*" if p <= limit else " ")


def _plain(number: str) -> str:
    """A share as typed, without the leading zero."""
    from karat.judgments.scales import as_number

    value = as_number(number.strip())
    return number.strip() if value is None else language_of("en").probability(value)
