"""Probes: fillers that programs answer differently from people.

A study may have three kinds of probes. Each is a filler with an expected answer and one of these words in the column
subgroup:

- *honeypot*: the column `hidden` has an instruction that only readers of the page's source find. People neither see it,
  hear it with a screen reader, select it nor reach it by keyboard;
- *shibboleth*: something that people do not know or notice, but language models do;
- *modality*: the text is a picture, which programs that read text cannot see.

The score is the number of answers that differ from those expected of people. One hit never flags anybody: `at_least` is
two or more, because people slip, have unusual grammars, or are curious about the source of pages. `karat init --probes`
writes examples to edit.

*Limits.* Probes detect programs that read the page's source and obey it. Agents that look at the screen, or are
warned about hidden instructions, pass, so participants without hits may still be programs. Explain the probes in the
debriefing. Blind participants cannot answer modality checks, so their answers must not count against them.
"""

import polars as pl
from pydantic import Field

from karat.errors import KaratError
from karat.judgments import Judgments
from karat.judgments.answer_codes import answered, by_scale
from karat.judgments.columns import PROBES
from karat.judgments.scales import Scale
from karat.messages import Message
from karat.screen.evidence import Evidence, ScreenError, check_settings, everybody, verdicts
from karat.study.criterion import Criterion, CriterionSettings

AT_LEAST = 2


class ProbesSettings(CriterionSettings):
    """Fillers that programs answer differently from people."""

    at_least: int = Field(AT_LEAST, ge=2, description="How many unexpected answers to probes flag a participant.")


def probes(judgments: Judgments, at_least: int = AT_LEAST) -> Evidence:
    """The number of honeypots, shibboleths and modality checks that each participant answered as programs do.

    >>> import karat
    >>> rows = {"participant": ["p1"] * 2, "item": ["h1", "h2"], "response": ["no", "no"], "function": "filler",
    ...         "subgroup": "honeypot", "expected": "yes"}
    >>> probes(karat.Judgments(pl.DataFrame(rows), karat.Binary(("no", "yes")))).flagged
    ['p1']
    """
    check_settings(ProbesSettings, at_least=at_least)
    rows = answered(judgments)
    if not {"subgroup", "expected"} <= set(rows.columns):
        raise ScreenError(Message("probes.none"))
    rows = rows.filter(pl.col("subgroup").is_in(PROBES), pl.col("expected").is_not_null())
    if not rows.height:
        raise ScreenError(Message("probes.none"))
    parts = [part.with_columns(_hit=_hits(scale, part)) for scale, part in by_scale(judgments, rows)]
    hit = pl.col("_hit")
    counts = (
        pl.concat(parts)
        .group_by("participant")
        .agg(hits=hit.sum().cast(pl.Int64), probes=pl.len().cast(pl.Int64), items=pl.col("item").filter(hit).sort())
    )
    table = everybody(judgments).join(counts, on="participant", how="left", maintain_order="left")
    some = pl.col("probes").is_not_null()
    message = (
        pl.when(~some).then(pl.lit("probes.unseen"))
        .when(pl.col("hits") > 0).then(pl.lit("probes.hit")).otherwise(pl.lit("probes.clear"))
    )  # fmt: skip
    values = {name: name for name in ("hits", "probes", "items")}
    flagged = pl.col("hits") >= at_least
    table = verdicts(table, pl.col("hits").cast(pl.Float64), at_least, flagged, message, values, "probes")
    return Evidence(table, "probes", {"at_least": at_least})


def _hits(scale: Scale, rows: pl.DataFrame) -> pl.Series:
    """Whether each answer differs from the expected one; values unknown to the scale are no answers."""
    hits = []
    for response, expected in rows.select("response", "expected").iter_rows():
        try:
            hits.append(response not in scale.expected(expected))
        except KaratError:
            hits.append(False)
    return pl.Series(hits, dtype=pl.Boolean)


CRITERION = Criterion(
    name="probes",
    title="Probes for programs",
    asks="who answers hidden instructions and other probes as programs do",
    settings=ProbesSettings,
    computed_by=probes,
    careless=False,
)
