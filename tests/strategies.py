"""Tables of judgments for hypothesis."""

from __future__ import annotations

from datetime import UTC, datetime

import polars as pl
from hypothesis import strategies as st

import karat
from karat.judgments.scales import Scale

NAMES = st.text(
    st.characters(codec="utf-8", exclude_characters="\0", exclude_categories=["Cs"]), min_size=1, max_size=8
).filter(lambda text: text.strip() == text and text != "")
CELLS = st.one_of(
    st.none(), NAMES, st.sampled_from(["=1+1", "-3", "+x", "@a", 'a"b', "a,b", "a\nb", "'=x", "1.0", "NA"])
)
TIMES = st.datetimes(datetime(2001, 1, 1), datetime(2099, 1, 1)).map(lambda moment: moment.replace(tzinfo=UTC))


@st.composite
def scales(draw: st.DrawFn) -> Scale:
    """Any scale."""
    return draw(
        st.one_of(
            st.just(karat.Binary()),
            st.builds(karat.Choice, st.booleans()),
            st.integers(2, 9).map(karat.Ordinal),
            st.integers(3, 9).map(lambda points: karat.Ordinal(points, neutral=2)),
            st.lists(NAMES, min_size=2, max_size=5, unique=True).map(karat.Nominal),
            st.builds(karat.Magnitude, st.one_of(st.none(), st.floats(0.5, 100))),
            st.just(karat.Continuous(-3, 3)),
        )
    )


def answers(scale: Scale) -> st.SearchStrategy[str | None]:
    """Answers on a scale, some of them missing."""
    if scale.levels:
        return st.one_of(st.none(), st.sampled_from(scale.levels))
    return st.one_of(st.none(), st.floats(0.01, 3).map(str))


@st.composite
def judgments(draw: st.DrawFn) -> karat.Judgments:
    """A small table of judgments with known and unknown columns and some participants."""
    scale = draw(scales())
    people = draw(st.lists(NAMES, min_size=1, max_size=3, unique=True))
    rows = [
            {
                "participant": person, "item": draw(NAMES), "response": draw(answers(scale)), "trial": trial,
                "rt": draw(st.one_of(st.none(), st.floats(0, 1e6))), "time": draw(st.one_of(st.none(), TIMES)),
                "subgroup": draw(CELLS), "condition": draw(CELLS),
                "length": draw(st.one_of(st.none(), st.integers(-9, 9))),
                "weight": draw(st.one_of(st.none(), st.floats(allow_nan=False, allow_infinity=False))),
                "seen": draw(st.one_of(st.none(), st.booleans())),
            }
            for person in people for trial in range(1, draw(st.integers(1, 4)) + 1)
    ]  # fmt: skip
    schema = {
        "rt": pl.Float64(), "time": pl.Datetime("us", "UTC"), "subgroup": pl.String(), "condition": pl.String(),
        "length": pl.Int64(), "weight": pl.Float64(), "seen": pl.Boolean(), "response": pl.String(),
    }  # fmt: skip
    frame = pl.DataFrame(rows, schema_overrides=schema)
    background = None
    if draw(st.booleans()):
        background = pl.DataFrame({"participant": people, "age": [draw(st.integers(18, 99)) for _ in people]})
    return karat.Judgments(frame, scale, background)
