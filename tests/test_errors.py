"""Problems and how they are reported."""

from __future__ import annotations

import karat
from karat.errors import Problem, Problems, ProblemsError, shown


def test_a_problem_names_its_place_and_value() -> None:
    what, fix = "is not a number", "Fix the cell."
    assert str(Problem(what, fix, "rt", "3,2s", "broken.csv", "line", 17)) == f'line 17, rt: "3,2s" {what}. {fix}'
    assert str(Problem(what)) == f"{what}."


def test_values_are_shown_on_one_line_and_cut() -> None:
    assert shown("a\nb\x1b[31m") == '"a\\nb\\x1b[31m"'
    assert len(shown("x" * 1000)) == 62


def test_problems_are_in_the_order_of_the_file_with_one_fix() -> None:
    problems = Problems()
    for number in (40, 17, 41):
        problems.add("is empty", "Fill the cell.", column="participant", number=number)
    problems.add("is not a number", column="rt", value="x", number=20)
    assert problems.lines(limit=3) == [
        "line 17, participant: is empty. Fill the cell.",
        'line 20, rt: "x" is not a number.',
        "line 40, participant: is empty.",
        "and 1 more: participant is empty (line 41).",
    ]
    assert len(problems) == 4
    assert problems.places() == {(None, "line", n) for n in (17, 20, 40, 41)}


def test_the_same_value_in_many_rows_is_one_line() -> None:
    problems = Problems()
    for number in (9, 3, 5, 7, 11):
        problems.add("is no answer", "Respell it.", column="response", value="nuetral", number=number)
    for number in (4, 6):
        problems.add("is no answer", "Respell it.", column="response", value="unclaer", number=number)
    assert problems.lines() == [
        'lines 3, 5, 7 and 2 more, response: "nuetral" is no answer. Respell it.',
        'line 4, response: "unclaer" is no answer.',
        'line 6, response: "unclaer" is no answer.',
    ]
    assert problems.lines(limit=1)[-1] == "and 2 more: response is no answer (lines 4 to 6)."


def test_problems_of_whole_files_have_no_line() -> None:
    problems = Problems()
    for number in range(25):
        problems.add("has no column item", file=f"{number:02}.csv")
    assert problems.lines(name_files=True)[-1] == "and 1 more: has no column item."


def test_errors_keep_their_problems() -> None:
    headline, problem = "x.csv:", Problem("is empty", number=3, file="x.csv")
    error = karat.IntakeError(headline, [problem], True)
    assert isinstance(error, ProblemsError)
    assert isinstance(error, ValueError)
    assert str(error).splitlines() == [headline, f"  x.csv, {problem}"]
    assert list(error.problems) == [problem]
