"""What is known of answers in parts, and samples of workers, without a fit."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from karat.models.glrm.families import BinaryFamily, OrdinalFamily
from karat.models.glrm.parts.answers import (
    PartAnswers,
    PartSummary,
    Placed,
    Sample,
    View,
    describe,
    lowest,
    merge,
    random_numbers,
    sample_of,
)
from messages import raises, refuses
from models.glrm.parted_cases import split


def drawn(seed: int, kinds: int = 3) -> tuple[Any, Any, Any, Any]:
    """Answers of twelve workers to nine tasks with names, some missing, and a design of two columns."""
    random = np.random.default_rng(seed)
    worker, task = np.divmod(np.tile(np.arange(108), 2), 9)
    kept = random.random(216) < 0.3
    kept[::9] |= task[::9] == 0  # every worker has an answer
    worker, task = worker[kept], task[kept]
    response = random.integers(0, kinds, len(worker)) * 2
    response[worker == 4] = 2
    names = np.array([f"task {number:02}" for number in random.permutation(30)])
    return response, worker, names[task], random.uniform(-1, 1, (len(worker), 2)) * [0.3, 7.0]


def described(parts: list[PartAnswers], family: Any, sample: Sample | None = None) -> list[PartSummary]:
    firsts = np.cumsum([0, *(part.workers for part in parts[:-1])])
    placed = [Placed(part, int(first)) for part, first in zip(parts, firsts, strict=True)]
    return [describe((family, sample), one) for one in placed]


@given(st.integers(0, 10_000), st.integers(1, 4), st.sampled_from([None, 0.5]))
def test_what_is_known_of_parts_is_that_of_all_answers(seed: int, parts: int, below: float | None) -> None:
    response, worker, task, design = drawn(seed)
    sample = None if below is None else Sample(seed, below)
    chosen = np.ones(12, dtype=bool) if below is None else np.random.default_rng(seed).random(12) < below
    kept = chosen[worker]
    try:
        found = merge(described(split(response, worker, task, design, parts=parts), "ordinal", sample), "ordinal")
    except ValueError:
        assert below is not None
        return
    response, worker, task, design = response[kept], worker[kept], task[kept], design[kept]
    assert found.workers.tolist() == sorted(set(worker))
    alike = [who for who in sorted(set(worker)) if (worker == who).sum() > 1 and len(set(response[worker == who])) == 1]
    assert found.workers[found.same].tolist() == alike
    assert found.tasks.tolist() == sorted(set(task))
    assert found.categories.tolist() == sorted(set(response))
    assert found.counts.tolist() == [(response == category).sum() for category in found.categories]
    assert found.counts.dtype.kind == "i"
    whole = np.column_stack([np.ones(len(design)), design])
    assert found.products == pytest.approx(whole.T @ whole)
    assert found.size.tolist() == np.abs(design).max(axis=0).tolist()


def test_workers_who_gave_one_answer_only_have_done_so_twice() -> None:
    """In turn: once; the same twice; two neighbouring answers; the highest three times; all of them."""
    response = np.array([2, 0, 0, 1, 2, 2, 2, 2, 0, 1, 2])
    worker = np.array([0, 1, 1, 2, 2, 3, 3, 3, 4, 4, 4])
    (found,) = described([PartAnswers(response * 1.5, worker, np.arange(11) % 3)], "ordinal")
    assert found.same.tolist() == [1, 3]
    assert found.categories.tolist() == [0.0, 1.5, 3.0]


def test_a_part_of_which_no_worker_is_drawn_has_nothing() -> None:
    response, worker, task, design = drawn(1)
    (found,) = described([PartAnswers(response, worker, task, design)], "ordinal", Sample(1, 0.0))
    assert (found.workers.tolist(), found.counts.tolist(), found.size.tolist()) == ([], [], [0.0, 0.0])


def test_part_without_design_has_intercept_or_thresholds() -> None:
    part = PartAnswers(np.array([0, 1, 1]), np.array([0, 0, 1]), np.array([0, 1, 0]))
    (binary,) = described([part], "binary")
    assert (binary.products.tolist(), binary.size.tolist()) == ([[3.0, 3.0], [3.0, 3.0]], [1.0])
    (ordinal,) = described([part], "ordinal")
    assert (ordinal.products.tolist(), ordinal.size.tolist()) == ([[3.0]], [])


@given(st.integers(0, 10_000), st.integers(1, 4), st.integers(1, 9))
def test_sample_is_the_longest_run_under_the_limit(seed: int, parts: int, limit: int) -> None:
    """Workers are taken one after the other in the order of their numbers, for as long as that goes."""
    response, worker, task, _ = drawn(seed)
    pieces = split(response, worker, task, parts=parts)
    firsts = np.cumsum([0, *(piece.workers for piece in pieces[:-1])])
    asked = [lowest(seed, Placed(piece, int(first))) for piece, first in zip(pieces, firsts, strict=True)]
    sample = sample_of(asked, seed, limit)
    numbers, taken, known = random_numbers(seed, 0, 12), [], set()
    for who in np.argsort(numbers):
        known |= set(task[worker == who])
        if len(known) > limit:
            break
        taken.append(int(who))
    if sample is None:
        assert len(set(task)) <= limit
    else:
        assert np.flatnonzero(sample.among(0, 12)).tolist() == sorted(taken)
        assert sample.seed == seed


def test_the_answers_of_a_sample_are_numbered_from_zero() -> None:
    response, worker, task, design = drawn(1)
    part, sample = PartAnswers(response, worker, task, design), Sample(3, 0.5)
    chosen = np.flatnonzero(random_numbers(3, 7, 12) < 0.5)
    answers, who = Placed(part, 7).read(sample)
    kept = np.isin(worker, chosen)
    assert who.tolist() == (7 + chosen).tolist()
    assert chosen[answers.worker].tolist() == worker[kept].tolist()
    assert answers.response.tolist() == response[kept].tolist()
    assert answers.task.tolist() == task[kept].tolist()
    assert answers.design is not None
    assert answers.design.tolist() == design[kept].tolist()
    bare, _ = Placed(PartAnswers(response, worker, task), 7).read(sample)
    assert bare.design is None
    everyone, who = Placed(part, 7).read(None)
    assert everyone is part
    assert who.tolist() == list(range(7, 19))


def test_no_answers_are_those_of_nobody() -> None:
    nothing = np.empty(0, dtype=np.int64)
    assert PartAnswers(nothing, nothing, nothing).workers == 0


def test_part_is_laid_out_among_all_tasks_and_categories() -> None:
    tasks, categories = np.array([3, 5, 8, 9]), np.array([1, 2, 4])
    part = PartAnswers(np.array([4, 1, 2]), np.array([0, 0, 1]), np.array([8, 3, 9]))
    ordinal = View("ordinal", tasks, categories).objective(Placed(part, 0))
    assert isinstance(ordinal.family, OrdinalFamily)
    assert (ordinal.layout.workers, ordinal.layout.tasks, ordinal.parameters) == (2, 4, 4)
    assert ordinal.layout.by_task(ordinal.layout.cells(ordinal.layout.place(np.ones(3)))).tolist() == [1, 0, 1, 1]
    number = ordinal.layout.place(np.arange(3.0) + 1)
    assert ordinal.family.answers[number == 1].tolist() == [2]
    assert ordinal.family.answers[number == 3].tolist() == [1]
    pair = PartAnswers(np.array([4, 1, 4]), np.array([0, 0, 1]), np.array([8, 3, 9]))
    binary = View("binary", tasks, np.array([1, 4])).objective(Placed(pair, 0))
    assert isinstance(binary.family, BinaryFamily)
    number = binary.layout.place(np.arange(3.0) + 1)
    assert [float(binary.family.answers[number == one][0]) for one in (1, 2, 3)] == [1.0, -1.0, 1.0]
    assert binary.design[number > 0].tolist() == [[1.0]] * 3


@pytest.mark.parametrize(
    ("change", "family", "said"),
    [
        (
            {"response": [0, 1, 1]},
            "binary",
            "response, worker and task of a part must be one-dimensional and equally long.",
        ),
        (
            {"task": [0, 1, 1]},
            "binary",
            "response, worker and task of a part must be one-dimensional and equally long.",
        ),
        (
            {"task": [[0, 1, 0, 1]]},
            "binary",
            "response, worker and task of a part must be one-dimensional and equally long.",
        ),
        (
            {"response": [0, 1, np.nan, 0]},
            "binary",
            "response has missing or infinite values. Leave those answers out.",
        ),
        (
            {"worker": [0, 0, 2, 2]},
            "binary",
            "The workers of a part must be numbered from 0, and each must have an answer.",
        ),
        ({"design": np.ones(4)}, "binary", "The design of a part must have a row of finite numbers for every answer."),
        (
            {"design": np.ones((3, 1))},
            "binary",
            "The design of a part must have a row of finite numbers for every answer.",
        ),
        (
            {"design": np.full((4, 1), np.nan)},
            "binary",
            "The design of a part must have a row of finite numbers for every answer.",
        ),
        ({"worker": [0, 0, 0, 0]}, "binary", "models.two_of_each"),
        ({"task": [1, 1, 1, 1]}, "binary", "models.two_of_each"),
        ({"response": [1, 1, 1, 1]}, "ordinal", "models.same_answers"),
        ({"response": [0, 1, 2, 1]}, "binary", "models.two_values"),
        (
            {"design": np.array([[1.0, 2], [2, 4], [5, 10], [1, 2]])},
            "binary",
            "The columns of the design depend on each other. Leave out those that follow from others.",
        ),
        (
            {"design": np.ones((4, 1))},
            "ordinal",
            "The design of ordered answers has no intercept: the thresholds stand for it. Leave it out.",
        ),
    ],
)
def test_unfittable_parts_are_refused(change: dict[str, Any], family: Any, said: str) -> None:
    plain: dict[str, Any] = {"response": [0, 1, 1, 0], "worker": [0, 0, 1, 1], "task": [0, 1, 0, 1], "design": None}
    given = {key: None if value is None else np.asarray(value) for key, value in {**plain, **change}.items()}
    with raises(ValueError, said):
        merge(described([PartAnswers(**given)], family), family)


def test_parts_with_other_columns_do_not_belong_together() -> None:
    response, worker, task, design = drawn(2, kinds=2)
    one, other = PartAnswers(response, worker, task, design), PartAnswers(response, worker, task, design[:, :1])
    with refuses(ValueError, "columns"):
        merge(described([one, other], "binary"), "binary")
