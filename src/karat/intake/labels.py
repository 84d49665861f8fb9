"""What the labels that experimenters give their trials say about them."""

from __future__ import annotations

import re


def function_named_in(label: str) -> str:
    """The item function that a label names: `practice_1`, `filler`, `attention-check`; else `test`.

    >>> function_named_in("PracticeTrial"), function_named_in("experiment-filler"), function_named_in("exp")
    ('practice', 'filler', 'test')
    """
    if "practice" in label.lower():
        return "practice"
    words = re.split(r"[^a-z]+", label.lower())
    return next((name for name in ("filler", "attention") if name in words or f"{name}s" in words), "test")
