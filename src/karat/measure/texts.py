"""Numbers as journals print them: without a leading zero where they cannot pass 1, with their interval."""

from __future__ import annotations


def coefficient(value: float | None, digits: int = 2) -> str:
    """A number between -1 and 1 without its leading zero; a dash where there is none.

    >>> coefficient(0.456), coefficient(-0.5), coefficient(1.0), coefficient(-0.001), coefficient(float("nan"))
    ('.46', '-.50', '1.00', '.00', '-')
    """
    if value is None or value != value:
        return "-"
    text = f"{value:.{digits}f}"
    text = text.lstrip("-") if float(text) == 0 else text
    return text.replace("0.", ".", 1) if text.lstrip("-").startswith("0.") else text


def with_interval(value: float | None, lower: float | None, upper: float | None) -> str:
    """A coefficient with its interval, where there is one.

    >>> with_interval(0.456, 0.4, 0.5), with_interval(0.456, None, None), with_interval(None, None, None)
    ('.46 [.40, .50]', '.46', '-')
    """
    if lower is None or upper is None or lower != lower or upper != upper:
        return coefficient(value)
    return f"{coefficient(value)} [{coefficient(lower)}, {coefficient(upper)}]"
