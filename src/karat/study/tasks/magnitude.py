"""Magnitude estimation: a number in proportion to how natural a sentence sounds, compared with a modulus."""

from karat.judgments.scales import Magnitude
from karat.study.block_keys import BlockKeys
from karat.study.tasks.task import Task


def _flaw(block: BlockKeys) -> str | None:
    if block.modulus_sentence and block.scale.modulus is None:
        return "a modulus_sentence needs its number: scale = { modulus = 100 }"
    return None


TASK = Task(
    name="magnitude",
    scale=lambda settings: Magnitude(settings.modulus),
    seconds=10.0,
    scale_keys=("modulus",),
    block_keys=("modulus_sentence",),
    flaw=_flaw,
    acceptability=True,
)
