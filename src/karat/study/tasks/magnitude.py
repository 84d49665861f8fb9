"""Magnitude estimation: a number in proportion to how natural a sentence sounds, compared with a modulus."""

from __future__ import annotations

from karat.judgments.scales import Magnitude
from karat.study.block_keys import BlockKeys, ScaleSettings
from karat.study.tasks.task import Task


def _scale(settings: ScaleSettings) -> Magnitude:
    return Magnitude(settings.modulus)


def _flaw(block: BlockKeys) -> str | None:
    if block.modulus_sentence and block.scale.modulus is None:
        return "a modulus_sentence needs its number: scale = { modulus = 100 }"
    return None


TASK = Task(
    name="magnitude",
    scale=_scale,
    seconds=10.0,
    instructions={
        "en": "You will see one sentence at a time. Give it a number that says how natural it sounds compared with the "
        "first sentence: twice the number for a sentence that sounds twice as natural, half of it for one that sounds "
        "half as natural.",
        "de": "Sie sehen immer einen Satz. Geben Sie ihm eine Zahl, die sagt, wie natürlich er im Vergleich zum ersten "
        "Satz klingt: die doppelte Zahl, wenn er doppelt so natürlich klingt, die halbe, wenn er halb so natürlich "
        "klingt.",
    },
    scale_keys=("modulus",),
    block_keys=("modulus_sentence",),
    flaw=_flaw,
    acceptability=True,
)
