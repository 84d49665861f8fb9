"""The base of every part of a study file."""

from __future__ import annotations

from types import UnionType
from typing import Any, get_args

from pydantic import BaseModel, ConfigDict, ValidationInfo, field_validator


class Settings(BaseModel):
    """What all parts of a study file share: unknown keys are errors, and nothing changes after loading."""

    model_config = ConfigDict(extra="forbid", frozen=True, allow_inf_nan=False)

    @field_validator("*", mode="before")
    @classmethod
    def _no_truth_value_for_a_number(cls, value: Any, info: ValidationInfo) -> Any:
        """`true` is no 1: whoever writes it means to switch something on, and no cutoff of one second."""
        kind = cls.model_fields[str(info.field_name)].annotation
        kinds = {*get_args(kind)} if isinstance(kind, UnionType) else {kind}
        if isinstance(value, bool) and kinds <= {int, float, type(None)}:
            raise ValueError("is true or false where a number is wanted")
        return value
