"""The accounts of controls side by side: how many each flags, how often guessing passes, and who changes.

The paper's accounts of rated controls differ in what they ask (`karat.screen.controls`), and its published rule differs
from the rule in its text. A study should choose before it sees its data; this table shows what depends on the choice.
"""

from __future__ import annotations

from typing import Any

import polars as pl

from karat.judgments import Judgments
from karat.messages import ENGLISH, NotComputed, render, render_all
from karat.screen.answers import trials_of
from karat.screen.criteria.controls import RIGHT_OR_WRONG, controls, not_ratings
from karat.screen.evidence import Evidence, ScreenError

ACCOUNTS: dict[str, dict[str, Any]] = {
    "positional": {},
    "positional published": {"published": True},
    "relational": {"account": "relational"},
    "extended": {"account": "extended"},
    "strict": {"account": "strict"},
    "pairwise": {"account": "pairwise"},
}
SCHEMA = {
    "account": pl.String, "flagged": pl.Int64, "guess_probability": pl.Float64, "only_here": pl.String,
    "only_positional": pl.String, "notes": pl.String, "why_not": pl.String,
}  # fmt: skip


def compare_accounts(judgments: Judgments, alpha: float = 0.05, language: str = ENGLISH) -> pl.DataFrame:
    """One row per account of controls: the participants that it flags and the positional account does not, and so on.

    `flagged` is how many are flagged, `guess_probability` the largest probability among these participants that
    guessing passes. `only_here` and `only_positional` name those flagged by one of the two accounts only, with blanks
    between. An account that cannot run has a sentence in `why_not`, and nothing else. Sentences are in `language`.

    >>> import karat
    >>> table = compare_accounts(karat.datasets.load("likert"))
    >>> table.select("account", "flagged", "only_here", "only_positional").row(1)
    ('positional published', 9, 'p05 p21 p22', 'p09')
    """
    kinds = {judgments.scales[q].kind for q in trials_of(judgments, "control")["question"].unique()}
    found: dict[str, Evidence | NotComputed] = {}
    for name, settings in ACCOUNTS.items():
        if kinds <= RIGHT_OR_WRONG and name not in ("positional", "pairwise"):
            found[name] = not_ratings(name)
            continue
        try:
            found[name] = controls(judgments, alpha=alpha, **settings)
        except ScreenError as error:
            found[name] = NotComputed.of(error)
    usual = found["positional"]
    rows = [_row(name, one, usual, language) for name, one in found.items()]
    return pl.DataFrame(rows, schema=SCHEMA, orient="row")


def _row(name: str, found: Evidence | NotComputed, usual: Evidence | NotComputed, language: str) -> tuple[object, ...]:
    if isinstance(found, NotComputed):
        return name, None, None, None, None, None, render(found, language)
    only_here = only_usual = None
    if isinstance(usual, Evidence):
        only_here = " ".join(one for one in found.flagged if one not in set(usual.flagged))
        only_usual = " ".join(one for one in usual.flagged if one not in set(found.flagged))
    guesser = found.participants["guess_probability"].max()
    return name, len(found.flagged), guesser, only_here, only_usual, " ".join(render_all(found.notes, language)), None
