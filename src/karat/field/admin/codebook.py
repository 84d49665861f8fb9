"""The codebook: every column of the tables of a study, with its meaning and its values."""

from __future__ import annotations

import polars as pl

from karat.judgments import Judgments
from karat.judgments.columns import COLUMNS
from karat.study.study import Study

PEOPLE = {
    "participant": "a random name, made by the server",
    "list": "which list of the design the participant saw",
    "state": "how the participation ended: complete, withdrawn, excluded, ...",
    "platform": "where the participant came from",
    "source": "where the participant came from",
    "started": "when the participant began",
    "finished": "when the participant finished",
    "working_time": "seconds from the beginning to the end",
    "quiz_attempts": "how often the quiz about the instructions was tried",
    "quiz_passed": "whether the quiz was passed",
    "comment": "what the participant wrote at the end",
    "device": "what kind of device the participant used",
    "person": "names the person, where somebody may come more than once",
    "pilot": "whether the participant was part of the pilot",
    "consent_time": "when the participant agreed to take part",
    "consent_text": "fingerprint of the consent text and privacy notice that the participant agreed to",
    "version": "version of the study with which the participant began: its fingerprint",
    "platform_id": "the participant's id on the platform (personal data)",
}
FURTHER = {
    "first_response": "the answer that was chosen first",
    "first_rt": "seconds from stimulus onset to the first choice",
    "changes": "how often the answer was changed before it was sent",
    "blurs": "how often the page lost the focus during the trial",
    "away": "seconds for which the page was without the focus",
    "pointer": "what the answer was given with: mouse, touch, keyboard, ...",
    "isolated": "whether the browser measured times with full resolution",
    "frame_rate": "pictures a second of the screen",
    "sentence": "what was shown",
    "sentence_2": "what was shown on the other side",
    "context": "what was shown before the stimulus",
}


def codebook(judgments: Judgments, study: Study) -> pl.DataFrame:
    """One row a column: the table it stands in, its name, its type, its meaning, and the values it may have."""
    rows = [_judgment_column(name, dtype, judgments, study) for name, dtype in judgments.frame.schema.items()]
    questions = {question.name: question for question in study.settings.background}
    for name, dtype in judgments.participants.schema.items():
        if name in questions:
            meaning, values = f"answer to: {questions[name].question}", "; ".join(questions[name].answers)
        else:
            meaning, values = PEOPLE.get(name, ""), ""
        rows.append(("participants", name, str(dtype), meaning, values))
    names = ["table", "column", "type", "meaning", "values"]
    return pl.DataFrame(rows, schema=dict.fromkeys(names, pl.String), orient="row")


def _judgment_column(
    name: str, dtype: pl.DataType, judgments: Judgments, study: Study
) -> tuple[str, str, str, str, str]:
    values = ""
    factors = {factor: own for block in study.blocks for factor, own in block.settings.factors.items()}
    if name == "response":
        scales = [f"{question}: {scale.known()}" if question else scale.known()
                  for question, scale in judgments.scales.items()]  # fmt: skip
        labels = [_labels(block.settings.scale.labels) for block in study.blocks if block.settings.scale.labels]
        values = "; ".join(dict.fromkeys([*scales, *labels]))
    elif name in factors:
        values = "; ".join(factors[name].levels)
    if name in COLUMNS:
        meaning = COLUMNS[name].meaning
    elif name in factors:
        meaning = "a factor of the design"
    else:
        meaning = FURTHER.get(name, "a column of the item table")
    return "judgments", name, str(dtype), meaning, values


def _labels(labels: list[str]) -> str:
    return "shown as " + ", ".join(labels)
