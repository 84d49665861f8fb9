"""Magnitude estimation: a number in proportion to how natural a sentence sounds, compared with a modulus."""

from karat.judgments.scales import Magnitude
from karat.study.tasks.task import Task

TASK = Task(
    name="magnitude",
    scale=lambda settings: Magnitude(settings.modulus),
    seconds=10.0,
    scale_keys=("modulus",),
    block_keys=("modulus_sentence",),
    flaw=lambda block: (
        "a modulus_sentence needs its number: scale = { modulus = 100 }"
        if block.modulus_sentence and block.scale.modulus is None
        else None
    ),
    acceptability=True,
)
