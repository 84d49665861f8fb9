"""karat chance and karat size as a user types them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from typer import Typer
from typer.testing import CliRunner, Result

from karat.cli import chance, check, size
from karat.errors import KaratError
from karat.study import chance as exact
from karat.study.init import write_study


def run(*arguments: str) -> Result:
    app = Typer()
    app.command("chance", epilog=chance.EXAMPLE)(chance.chance)
    app.command("check")(check.check)
    app.command("size", epilog=size.EXAMPLE)(size.size)
    return CliRunner().invoke(app, list(arguments))


def printed(*arguments: str) -> str:
    result = run(*arguments)
    assert result.exit_code == 0, (result.output, result.exception)
    return result.output


def lines(text: str) -> list[list[str]]:
    return [line.split() for line in text.splitlines()]


def test_overview() -> None:
    text = printed("chance")
    assert "choice of two, or yes/no" in text
    assert "4 of 5 of each kind" in text
    assert "at least 4 pairs" in text
    assert "0.0" not in text
    assert [row["trials"] for row in json.loads(printed("chance", "--json"))] == [8, 5, 6, 10, 10, 8]
    assert "two slips" not in text
    assert "2 slips forgiven" in printed("chance", "--slips", "2")
    assert "no slip forgiven" in printed("chance", "--slips", "0")


def test_trials() -> None:
    text = printed("chance", "--trials", "6", "--chance", "0.4")
    assert ["6", "5", ".041*"] in lines(text)
    assert ["6", "4", ".179"] in lines(text)
    assert json.loads(printed("chance", "--trials", "6", "--json"))[0]["6"] == 1 / 64


def test_trials_as_a_table() -> None:
    text = printed("chance", "--trials", "4,6,8")
    assert ["6", ".984", ".891", ".656", ".344", ".109", ".016*"] in lines(text)
    assert ["20", "15", ".021*"] in lines(printed("chance", "--trials", "4,20"))


def test_chance_alone_gives_the_fewest_trials() -> None:
    assert lines(printed("chance", "--chance", "1/2"))[2:] == [
        ["slips", "trials", "correct", "p", "of", "guessing"],
        ["0", "5", "5", ".031"],
        ["1", "8", "7", ".035"],
        ["2", "11", "9", ".033"],
        ["3", "13", "10", ".046"],
    ]
    assert json.loads(printed("chance", "--chance", "0.4", "--slips", "1", "--json"))[0]["trials"] == 6


def test_controls() -> None:
    assert ["5", "4", "of", "5", ".337", "4", "of", "5", ".087", ".029"] in lines(
        printed("chance", "--controls", "5-8")
    )
    assert json.loads(printed("chance", "--controls", "3", "--json")) == []
    strict = json.loads(printed("chance", "--controls", "4", "--neutral", "neither", "--json"))
    assert [(row["k_grammatical"], row["k_ungrammatical"]) for row in strict] == [(3, 3)]


def test_pairs() -> None:
    text = printed("chance", "--pairs", "1-9", "--points", "5")
    assert ["4", ".451", ".030", "8/16", "=", ".500", ".030"] in lines(text)
    assert ["9", ".467", ".001", "11/36", "=", ".306", ".040"] in lines(text)
    assert ["1", ".250", ".250", "none"] in lines(printed("chance", "--pairs", "1", "--points", "2"))
    [row] = json.loads(printed("chance", "--pairs", "4", "--minimum", "3/8", "--weights", "1,1,2,1,1", "--json"))
    assert row["at_least"] == exact.relational(4, 5, "3/8", [1, 1, 2, 1, 1])


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--trials", "6", "--pairs", "3"], "--pairs has no effect with --trials"),
        (["--trials", "6", "--points", "5"], "--points has no effect with --trials"),
        (["--neutral", "both"], "--neutral has no effect without"),
        (["--trials", "8-4"], "put the smaller number"),
        (["--trials", "many"], "use numbers from 1 to 200"),
        (["--trials", "0"], "use numbers from 1 to 200"),
        (["--trials", "²"], "use numbers from 1 to 200"),
        (["--trials", "999999999999"], "use numbers from 1 to 200"),
        (["--controls", "5", "--neutral", "middle"], "use grammatical, ungrammatical, both, neither"),
        (["--chance", "1"], "nearly every guess"),
        (["--alpha", "x"], "not a number"),
        (["--weights", ""], "not a number"),
    ],
)
def test_what_cannot_be_is_said(arguments: list[str], message: str) -> None:
    result = run("chance", *arguments)
    assert isinstance(result.exception, KaratError)
    assert message in str(result.exception)


def test_size_side_by_side() -> None:
    text = printed("size", "2x2")
    assert ["trials", "72", "72", "36"] in lines(text)
    assert ["of", "100", "within", "within", "within"] in lines(text)
    for part in ("s per trial", "fee of 33.3 %", "at 12.00 EUR per hour", "4 of 5 grammatical, 4 of 5 ungrammatical"):
        assert part in text


def test_size_of_one_task() -> None:
    text = printed("size", "3x3", "--task", "likert", "--seconds", "10", "--pay", "15", "--currency", "GBP")
    assert ["of", "100", "too", "long"] in lines(text)
    assert "cost in GBP" in text
    [data] = json.loads(printed("size", "2x2", "--task", "choice", "--json"))
    assert (data["trials"], data["other"], data["within_limit"]) == (36, 2, True)
    assert "ratio needs 12 fillers" in printed("size", "1x2", "--task", "choice", "--task", "choice", "--no-difference")


def test_size_says_what_it_does_not_know() -> None:
    assert isinstance(run("size", "2xq").exception, KaratError)
    assert isinstance(run("size", "2x2", "--task", "telepathy").exception, KaratError)


def test_help_shows_an_example() -> None:
    for command in ("chance", "size"):
        assert f"Example: karat {command}" in " ".join(printed(command, "--help").split())


def test_the_fee_of_a_platform() -> None:
    fees = (["--platform", "link"], ["--platform", "mturk"], ["--platform", "mturk", "--fee", "0.2"])
    free, usual, own = (
        json.loads(printed("size", "2x2", "--task", "likert", "--json", *more))[0]["cost"] for more in fees
    )
    assert (usual, own) == (round(1.4 * free, 2), round(1.2 * free, 2))
    assert isinstance(run("size", "2x2", "--platform", "crowdee").exception, KaratError)


def assumed_pay(*more: str) -> dict[str, Any]:
    """What is assumed of the pay, as code and values."""
    (data,) = json.loads(printed("size", "2x2", "--task", "likert", "--json", *more))
    return next(one for one in data["assumptions"] if "fee" in one["values"])


def test_a_price_list_is_named_by_its_date_and_old_ones_stay() -> None:
    latest, old = assumed_pay("--platform", "mturk"), assumed_pay("--platform", "mturk", "--prices", "2014-11-03")
    assert (latest["code"], latest["values"]["date"], latest["values"]["fee"]) == ("size.assumed_list", "2015-07", 0.4)
    assert (old["values"]["date"], old["values"]["fee"]) == ("2005", 0.1)
    assert assumed_pay()["values"]["platform"] == "Prolific"
    assert assumed_pay("--platform", "mturk", "--fee", "0.2")["code"] == "size.assumed_pay"
    assert isinstance(run("size", "2x2", "--platform", "mturk", "--prices", "1999").exception, KaratError)


def test_a_check_says_by_which_price_list_it_computes_costs(tmp_path: Path) -> None:
    file = write_study(tmp_path / "study", "yes-no")[0]
    text = file.read_text(encoding="utf-8")

    def cost(**recruitment: object) -> dict[str, Any]:
        lines = "".join(f"{name} = {json.dumps(value)}\n" for name, value in recruitment.items())
        file.write_text(text.replace("[recruitment]\n", f"[recruitment]\n{lines}"), encoding="utf-8")
        return json.loads(run("check", str(file), "--json").stdout)["cost"]

    now, before, own = cost(), cost(price_list="2019-03"), cost(fee=0.1)
    assert [one["code"] for one in (now, before, own)] == ["cost.list", "cost.no_list", "cost.own_fee"]
    assert (now["values"]["date"], now["values"]["fee"]) == ("2021", 0.333)
    assert own["values"]["cost"] == round(before["values"]["cost"] * 1.1, 2)
    elsewhere = text.replace('"prolific"', '"crowdee"')
    file.write_text(elsewhere, encoding="utf-8")
    assert json.loads(run("check", str(file), "--json").stdout)["cost"]["code"] == "cost.no_list"
    file.write_text(text.replace("[recruitment]\n", '[recruitment]\nprice_list = "last year"\n'), encoding="utf-8")
    assert isinstance(run("check", str(file)).exception, KaratError)
