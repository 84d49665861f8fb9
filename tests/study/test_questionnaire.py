"""Studies become questionnaires: lists that counterbalance, orders that hold, sides and polarities that are even."""

from __future__ import annotations

import json
from itertools import pairwise
from pathlib import Path

import polars as pl
import pytest

import karat
from commands import run
from karat.measure import stability
from karat.screen.criteria.inconsistency import inconsistency
from karat.simulate import answer_study
from karat.study.check import check
from karat.study.init import write_study as write_template
from karat.study.orders import OrderRules, violations
from karat.study.questionnaire import order_rules
from messages import raises, refuses
from study.studies import RATING, rating_items, write_study


def test_every_list_is_balanced_and_nobody_sees_an_item_twice(tmp_path: Path) -> None:
    study = karat.study.load(write_study(tmp_path))
    assert study.lists == 4
    seen = []
    for number in range(1, 5):
        frame = study.questionnaire(list=number, participant="p1").frame
        tests = frame.filter(pl.col("function") == "test")
        assert tests["item"].n_unique() == tests.height == 24
        assert tests.group_by("order", "integration").len()["len"].to_list() == [6] * 4
        assert frame["trial"].to_list() == list(range(1, 76))
        seen.append(tests)
    every = pl.concat(seen).group_by("item", "order", "integration").len()
    assert (every.height, every["len"].unique().to_list()) == (96, [1])


def test_orders_hold_and_differ_between_participants(tmp_path: Path) -> None:
    study = karat.study.load(write_study(tmp_path))
    trials = study.trials(0, 1)
    rules = order_rules(study.settings.order, trials)
    orders = set()
    for person in range(20):
        frame = study.questionnaire(list=1, participant=person).frame
        position = {item: row for row, item in enumerate(trials["item"].to_list())}
        order = [position[item] for item in frame["item"].to_list()]
        assert violations(trials, order, rules) == []
        functions = frame["function"].to_list()
        assert functions[:9] == ["practice"] * 3 + ["calibration"] * 6
        assert not any(a == b == "test" for a, b in pairwise(functions))
        orders.add(tuple(order))
    assert len(orders) == 20


def test_the_same_participant_gets_the_same_questionnaire(tmp_path: Path) -> None:
    path = write_study(tmp_path)
    first = karat.study.load(path).questionnaire(list=2, participant="abc", seed=5)
    again = karat.study.load(path).questionnaire(list=2, participant="abc", seed=5)
    assert first.frame.equals(again.frame)
    for other in ({"list": 2, "participant": "abd", "seed": 5}, {"list": 2, "participant": "abc", "seed": 6}):
        assert not karat.study.load(path).questionnaire(**other).frame.equals(first.frame)  # type: ignore[arg-type]


def test_fingerprint_follows_file_and_items(tmp_path: Path) -> None:
    prints = {
        karat.study.load(write_study(tmp_path / "a")).fingerprint,
        karat.study.load(write_study(tmp_path / "b")).fingerprint,
        karat.study.load(write_study(tmp_path / "c", RATING.replace("Ratings", "Other"))).fingerprint,
        karat.study.load(write_study(tmp_path / "d", items=rating_items(fillers=25))).fingerprint,
    }
    assert len(prints) == 3


def test_a_list_that_is_not_there(tmp_path: Path) -> None:
    with refuses(karat.KaratError, "5", "study.toml", "1 to 4"):
        karat.study.load(write_study(tmp_path)).questionnaire(list=5)


def test_rules_that_cannot_hold_are_explained(tmp_path: Path) -> None:
    rows = (
        ["item,function,sentence"]
        + [f"t{i},test,Test {i}." for i in range(12)]
        + [f"f{i},filler,F {i}." for i in range(8)]
    )
    toml = 'title = "Tight"\n[[block]]\ntask = "likert"\nitems = "items.csv"\n'
    study = karat.study.load(write_study(tmp_path, toml, items="\n".join(rows)))
    with refuses(karat.KaratError, "12 test trials", "11 separators", "8 fillers"):
        study.questionnaire()


CHOICE = """title = "Choices"
[[block]]
task = "choice"
items = "items.csv"
factors = { order = ["PO", "OP"], type = ["x", "y"] }
compared = "order"
[recruitment]
participants = 4
"""


def choice_items() -> str:
    rows = ["item,function,status,order,type,sentence,sentence_2,expected"]
    for i in range(12):
        rows += [f"t{i:02d},test,,{o},{k},T{i} {o} {k}.,," for o in ("PO", "OP") for k in ("x", "y")]
    rows += [f"k{i},control,{s},,,K{i} {s}.,," for i in range(12) for s in ("grammatical", "ungrammatical")]
    rows += [f"f{i},filler,,,,F{i} a.,F{i} b.,{'2' if i % 2 else '1'}" for i in range(14)]
    return "\n".join(rows) + "\n"


def test_choices_show_the_compared_levels_with_balanced_sides(tmp_path: Path) -> None:
    study = karat.study.load(write_study(tmp_path, CHOICE, items=choice_items()))
    assert study.lists == 2
    for person in range(5):
        frame = study.questionnaire(list=1, participant=person).frame
        tests = frame.filter(pl.col("function") == "test")
        assert tests["item"].n_unique() == tests.height == 12
        assert tests.group_by("type").len()["len"].to_list() == [6, 6]
        for _, group in tests.group_by("type"):
            assert group["left"].str.ends_with(".PO").sum() == 3
        for row in tests.to_dicts():
            assert row["sentence"] == f"T{int(row['item'][1:])} {row['left'].split('.')[1]} {row['type']}."
            assert {row["left"].split(".")[1], row["right"].split(".")[1]} == {"PO", "OP"}
            assert row["expected"] is None
        for row in frame.filter(pl.col("function") == "control").to_dicts():
            assert row[row["expected"]].endswith(".grammatical")
        for row in frame.filter(pl.col("function") == "filler").to_dicts():
            better = "b" if int(row["item"][1:]) % 2 else "a"
            assert row["sentence" if row["expected"] == "left" else "sentence_2"].endswith(f"{better}.")


def test_a_choice_with_three_rows_is_refused(tmp_path: Path) -> None:
    items = "item,function,sentence\nf1,filler,A.\nf1,filler,B.\nf1,filler,C.\n"
    toml = 'title = "x"\n[[block]]\ntask = "choice"\nitems = "items.csv"\n'
    with raises(karat.KaratError, "plan.choice_stimuli"):
        karat.study.load(write_study(tmp_path, toml, items=items)).plan()


def test_target_and_random_pairs(tmp_path: Path) -> None:
    rows = ["item,function,pair,sentence"]
    rows += [f"s{i}{m},test,{i},Sentence {i}{m}." for i in range(10) for m in "ab"]
    rows += [f"f{i}{m},filler,f{i},Filler {i}{m}." for i in range(20) for m in "ab"]
    toml = (
        'title = "Pairs"\n[[block]]\ntask = "choice"\nitems = "items.csv"\npairs = { target = true, random = 5 }\n'
        "[order]\ntest_adjacent = true\n[recruitment]\nparticipants = 8\n"
    )
    study = karat.study.load(write_study(tmp_path, toml, items="\n".join(rows)))
    assert study.lists == 8
    sides: dict[str, int] = {}
    for number in range(1, 9):
        frame = study.questionnaire(list=number).frame
        random = frame.filter(pl.col("subgroup") == "random")
        assert random.height == 5
        assert frame.filter(pl.col("function") == "test").height == 15
        for row in random.to_dicts():
            assert row["sentence"] == f"Sentence {row['left'][1:]}."
            sides[row["left"]] = sides.get(row["left"], 0) + 1
            sides[row["right"]] = sides.get(row["right"], 0) - 1
    assert max(abs(value) for value in sides.values()) <= 1
    assert "_fixed_sides" not in frame.columns


def test_subsets_give_every_item_its_ratings(tmp_path: Path) -> None:
    items = "item,function,sentence\n" + "".join(f"s{i},test,Sentence {i}.\n" for i in range(15))
    toml = (
        'title = "Subsets"\n[[block]]\ntask = "likert"\nitems = "items.csv"\n'
        "subset = { per_participant = 3, ratings = 4 }\n"
    )
    study = karat.study.load(write_study(tmp_path, toml, items=items))
    assert study.lists == 20
    shown = pl.concat([study.questionnaire(list=number).frame for number in range(1, 21)])
    assert shown.group_by("item").len()["len"].unique().to_list() == [4]


def test_differentials_ask_all_questions_some_twice(tmp_path: Path) -> None:
    items = "item,function,sentence\n" + "".join(f"s{i},test,Sentence {i}.\n" for i in range(3))
    questions = "question,left,right\n" + "".join(f"q{i},good{i},bad{i}\n" for i in range(6))
    toml = (
        'title = "SD"\n[[block]]\ntask = "differential"\nitems = "items.csv"\nquestions = "questions.csv"\n'
        "repeated_questions = 2\n[order]\ntest_adjacent = true\n"
    )
    study = karat.study.load(write_study(tmp_path, toml, items=items, questions=questions))
    frame = study.questionnaire(participant="p1").frame
    assert frame.height == 3 * 8
    assert frame["trial"].to_list() == [1] * 8 + [2] * 8 + [3] * 8
    assert frame.filter(pl.col("repetition") == 2).group_by("trial").len()["len"].to_list() == [2, 2, 2]
    assert set(frame["polarity"].to_list()) <= {1, -1}
    assert study.blocks[0].scale.known() == "-3, -2, -1, 0, 1, 2, 3"
    answered = frame.with_columns(participant=pl.lit("p1"), response=pl.lit("0"))
    assert len(karat.Judgments(answered, study.blocks[0].scale)) == 24


def test_rounds_of_test_trials_keep_the_rules_of_the_order(tmp_path: Path) -> None:
    rows = ["item,kind,sentence"] + [f"t{i},{'ab'[i % 2]},Test {i}." for i in range(12)]
    toml = (
        'title = "R"\n[[block]]\ntask = "likert"\nitems = "items.csv"\nrounds = 2\n[order]\nin_a_row = { kind = 1 }\n'
    )
    study = karat.study.load(write_study(tmp_path, toml, items="\n".join(rows)))
    for person in range(5):
        frame = study.questionnaire(participant=person).frame
        for _, part in frame.group_by("repetition"):
            assert not any(a == b for a, b in pairwise(part.sort("trial")["kind"].to_list()))


def test_pairs_of_which_none_is_shown_are_refused(tmp_path: Path) -> None:
    toml = 'title = "P"\n[[block]]\ntask = "choice"\nitems = "items.csv"\npairs = { target = false }\n'
    with refuses(karat.study.StudyError, "study.toml", "line 5, block.pairs.target"):
        karat.study.load(write_study(tmp_path, toml, items="item,pair,sentence\na,1,A.\nb,1,B.\n"))


def test_a_block_may_not_have_the_number_of_another_for_its_name(tmp_path: Path) -> None:
    block = '[[block]]\ntask = "likert"\nitems = "items.csv"\n'
    with refuses(karat.study.StudyError, "study.toml"):
        karat.study.load(write_study(tmp_path, f'title = "B"\n{block}{block}name = "block 1"\n'))


def test_rounds_repeat_everything_in_a_new_order(tmp_path: Path) -> None:
    items = "item,function,sentence\n" + "".join(f"s{i},test,Sentence {i}.\n" for i in range(9))
    toml = (
        'title = "Rounds"\n[[block]]\ntask = "label"\nitems = "items.csv"\nrounds = 3\n'
        'scale = { levels = ["same", "different"] }\n[order]\ntest_adjacent = true\n'
    )
    frame = karat.study.load(write_study(tmp_path, toml, items=items)).questionnaire().frame
    assert frame["trial"].to_list() == list(range(1, 28))
    orders = [frame.filter(pl.col("repetition") == n)["item"].to_list() for n in (1, 2, 3)]
    assert all(sorted(order) == sorted(orders[0]) for order in orders)
    assert orders[0] != orders[1]


def test_two_sessions_split_attention_pairs(tmp_path: Path) -> None:
    toml = RATING + "\n[questionnaire]\nsessions = 2\n"
    frame = karat.study.load(write_study(tmp_path, toml)).questionnaire(participant="p1").frame
    attention = frame.filter(pl.col("function") == "attention")
    assert attention.group_by("session", "pair").len()["len"].to_list() == [1] * 6
    assert attention["item"].n_unique() == 6
    functions = frame["function"].to_list()
    assert not any(a == b == "test" for a, b in pairwise(functions))
    for session in ("1", "2"):
        tests = frame.filter(pl.col("function") == "test", pl.col("session") == session)
        assert tests.height == 24


def test_two_blocks_are_numbered_on(tmp_path: Path) -> None:
    toml = RATING + '\n[[block]]\nname = "second"\ntask = "yes-no"\nitems = "more.csv"\n'
    more = "item,function,sentence\nm1,test,One.\nm2,filler,Two.\nm3,test,Three.\n"
    study = karat.study.load(write_study(tmp_path, toml, items=rating_items(), more=more))
    frame = study.questionnaire().frame
    assert frame["trial"].to_list() == list(range(1, 79))
    assert frame["block"].to_list() == ["block 1"] * 75 + ["second"] * 3


def test_the_command_writes_plan_summary_and_picture(tmp_path: Path) -> None:
    path = write_study(tmp_path / "study")
    output, _ = run("plan", path, "--participants", "10", "-o", tmp_path / "plan")
    assert "Ratings: 4 lists of 75 trials" in output
    assert "10 participants, 2 or 3 in each list" in output
    table = pl.read_csv(tmp_path / "plan" / "questionnaires.csv")
    assert (table.height, table["participant"].n_unique()) == (750, 10)
    assert (tmp_path / "plan" / "orders.svg").read_text().count("<rect") > 300
    assert "Conditions of each list" in (tmp_path / "plan" / "design.md").read_text()
    run("plan", path, "-o", tmp_path / "plan", "--format", "parquet")
    assert pl.read_parquet(tmp_path / "plan" / "questionnaires.parquet").height == 600
    about = json.loads(run("plan", path, "--json", "--lists", "8")[0])
    assert (about["lists"], about["participants"]) == (8, 8)
    assert about["written"][0] == str(path.parent / "plan" / "questionnaires.csv")
    assert "parquet" in run("plan", path, "--format", "docx", status=2)[1]
    assert "nothing" in run("plan", tmp_path / "nothing", status=2)[1]


def test_three_compared_levels_are_compared_two_by_two(tmp_path: Path) -> None:
    rows = ["item,function,order,sentence,sentence_2"]
    rows += [f"t{i},test,{o},T{i} {o}.," for i in range(6) for o in ("A", "B", "C")]
    rows += [f"f{i},filler,,F{i} a.,F{i} b." for i in range(12)]
    toml = CHOICE.replace(
        'factors = { order = ["PO", "OP"], type = ["x", "y"] }', 'factors = { order = ["A", "B", "C"] }'
    )
    study = karat.study.load(write_study(tmp_path, toml, items="\n".join(rows)))
    assert study.lists == 3
    for number in (1, 2, 3):
        tests = study.questionnaire(list=number).frame.filter(pl.col("function") == "test")
        assert tests["item"].n_unique() == tests.height == 6
        assert dict(tests["comparison"].value_counts().iter_rows()) == {"A/B": 2, "A/C": 2, "B/C": 2}


def test_an_unknown_compared_level_is_reported(tmp_path: Path) -> None:
    items = choice_items().replace("t00,test,,PO,x", "t00,test,,PX,x")
    with raises(karat.KaratError, "plan.compared_level"):
        karat.study.load(write_study(tmp_path, CHOICE, items=items)).plan()


def test_a_rule_of_the_order_names_a_column_that_is_there(tmp_path: Path) -> None:
    study = write_study(tmp_path, RATING.replace("status = 3", "statsu = 3"))
    with refuses(karat.KaratError, "line 7, order.in_a_row", "statsu", "status"):
        karat.study.load(study)


@pytest.mark.parametrize("own", [("PO", "OP"), ("PO",)])
def test_factor_between_participants_crosses_items_or_not(own: tuple[str, ...], tmp_path: Path) -> None:
    """Each list shows one level of it; where items have all levels, both groups see the same items."""
    toml = RATING.replace('order = ["PO", "OP"]', 'order = { levels = ["PO", "OP"], between = "participants" }')
    lines = rating_items(24).splitlines()
    if len(own) == 1:
        lines = [line for line in lines if ",test," not in line or (",PO," in line) == (line < "t13")]
    study = karat.study.load(write_study(tmp_path, toml, items="\n".join(lines) + "\n"))
    assert study.lists == 4
    seen = []
    for number in range(1, 5):
        tests = study.trials(0, number).filter(pl.col("function") == "test")
        assert tests["order"].n_unique() == 1
        assert tests["item"].n_unique() == tests.height == 12 * len(own)
        assert tests["integration"].value_counts()["count"].to_list() == [6 * len(own)] * 2
        seen.append((tests["order"][0], frozenset(tests["item"])))
    assert {level for level, _ in seen} == {"PO", "OP"}
    assert len({items for _, items in seen}) == (1 if len(own) == 2 else 2)


def test_rows_at_fault_are_named_by_file_and_line(tmp_path: Path) -> None:
    items = rating_items().replace("t02,test,,,PO,yes", "t02,test,,,PO,no", 1)
    study = karat.study.load(write_study(tmp_path, items=items))
    with refuses(karat.KaratError, "items.csv, lines 6, 7", "t02"):
        study.plan()
    study = karat.study.load(write_study(tmp_path, items=rating_items().replace("t02,test,,,PO", "t02,test,,,PX", 1)))
    with refuses(karat.KaratError, "items.csv, line 6", "t02", "PX", "PO, OP"):
        study.plan()


def test_the_command_refuses_numbers_and_folders_that_cannot_be(tmp_path: Path) -> None:
    study = write_study(tmp_path)
    for option, value in (("--participants", "0"), ("--lists", "0"), ("--seed", "-1")):
        _, output = run("plan", study, option, value, status=2)
        assert option in output
    _, output = run("plan", study, "-o", tmp_path / "items.csv", status=2)
    assert "items.csv" in output


@pytest.mark.slow
def test_the_summary_counts_rounds_and_sessions(tmp_path: Path) -> None:
    toml = RATING.replace("[order]", "rounds = 2\n[questionnaire]\nsessions = 2\n[order]")
    output, _ = run("plan", write_study(tmp_path, toml))
    assert output.startswith("Ratings: 4 lists of 150 trials, about ")
    assert " minutes in each of 2 sessions\n" in output


def test_random_pairs_are_drawn_for_the_given_number(tmp_path: Path) -> None:
    items = "item,function,pair,sentence\n" + "".join(
        f"t{i}{side},test,t{i},Sentence {i} {side}.\n" for i in range(8) for side in "ab"
    )
    toml = 'title = "P"\n[[block]]\ntask = "choice"\nitems = "items.csv"\npairs = { random = 4 }\n'
    toml += "[order]\ntest_adjacent = true\n[recruitment]\nparticipants = 4\n"
    output, _ = run("plan", write_study(tmp_path, toml, items=items), "--participants", "10", "--json")
    assert json.loads(output)["lists"] == 10


PAIRS = """title = "Pairs"
[[block]]
task = "choice"
items = "items.csv"
pairs = {{ target = true, random = {random} }}
subset = {{ per_participant = 4, ratings = 3 }}
"""


def paired(count: int) -> str:
    rows = "".join(f"t{n}{side},test,p{n},Sentence {n} {side}.\n" for n in range(count) for side in "ab")
    return f"item,function,pair,sentence\n{rows}f1,filler,,It rained.\nf2,filler,,It snowed.\n"


@pytest.mark.parametrize("random", [0, 3])
def test_subsets_of_pairs(random: int, tmp_path: Path) -> None:
    (tmp_path / "items.csv").write_text(paired(8).replace("filler,,", "filler,f,"))
    (tmp_path / "study.toml").write_text(PAIRS.format(random=random))
    study = karat.study.load(tmp_path)
    assert study.lists == 6  # eight pairs with three ratings each, four per participant
    shown = [study.trials(0, number) for number in range(1, study.lists + 1)]
    assert {frame.height for frame in shown} == {4 + random + 1}
    target = pl.concat(shown, how="diagonal").filter(pl.col("pair").is_not_null() & (pl.col("function") == "test"))
    assert target.group_by("pair").len()["len"].to_list() == [3] * 8


def test_a_subset_of_pairs_that_are_not_shown(tmp_path: Path) -> None:
    (tmp_path / "items.csv").write_text(paired(8))
    (tmp_path / "study.toml").write_text(PAIRS.format(random=2).replace("target = true", "target = false"))
    with refuses(karat.KaratError, "study.toml", "line 6, block.subset"):
        karat.study.load(tmp_path)


def test_members_of_a_pair_in_different_halves(tmp_path: Path) -> None:
    fillers = "".join(f"x{n},filler,,Filler {n}.\n" for n in range(18))
    (tmp_path / "items.csv").write_text(paired(8) + fillers)
    text = 'title = "x"\n[[block]]\ntask = "likert"\nitems = "items.csv"\n[order]\nhalves = "pair"\n'
    (tmp_path / "study.toml").write_text(text)
    study = karat.study.load(tmp_path)
    first_members = set()
    for person in range(6):
        frame = study.questionnaire(participant=person).frame
        functions = frame["function"].to_list()
        assert not any(a == b == "test" for a, b in pairwise(functions))
        early, late = frame[:18], frame[18:]
        for half in (early, late):
            assert sorted(half["pair"].drop_nulls()) == [f"p{n}" for n in range(8)]
        first_members.add(tuple(sorted(early.filter(pl.col("function") == "test")["item"])))
    assert len(first_members) == 6


def test_halves_need_their_column(tmp_path: Path) -> None:
    (tmp_path / "items.csv").write_text("item,sentence\nt1,It rained.\n")
    text = 'title = "x"\n[[block]]\ntask = "likert"\nitems = "items.csv"\n[order]\nhalves = "pair"\n'
    (tmp_path / "study.toml").write_text(text)
    with refuses(karat.KaratError, "line 6, order.halves", "pair"):
        karat.study.load(tmp_path)


@pytest.fixture
def repeating(tmp_path: Path) -> karat.study.Study:
    """A study of ratings in which each participant judges six test items twice, with the template's rules of order."""
    file = write_template(tmp_path / "study", "likert")[0]
    text = file.read_text(encoding="utf-8").replace("\nlists ", "\nrepeated_items = 6\nlists ", 1)
    file.write_text(text.replace("\ncompletion ", "\ninconsistency = {}\ncompletion ", 1), encoding="utf-8")
    return karat.study.load(file)


def test_some_items_come_again_in_the_same_session(repeating: karat.study.Study) -> None:
    counts = set()
    for participant in range(1, 4):
        frame = repeating.questionnaire(list=1, participant=participant).frame
        trials = repeating.trials(0, 1)
        again = frame.filter(pl.col("repetition") == 2)
        assert (frame.height, again.height, again["function"].unique().to_list()) == (trials.height + 6, 6, ["test"])
        first = frame.filter(pl.col("repetition") == 1).select("item", "sentence", "function", first="trial")
        both = again.join(first, on=["item", "sentence", "function"])
        assert both.height == 6
        assert (both["trial"] - both["first"]).min() > trials.height // 3
        rules = order_rules(repeating.settings.order, trials)
        assert not violations(frame, range(frame.height), OrderRules(apart=rules.apart, in_a_row=rules.in_a_row))
        counts.add(tuple(sorted(again["item"])))
    assert len(counts) > 1, "each participant has items of their own"
    assert check(repeating).head.startswith("study.toml: 4 lists of 81 trials")


def test_repeated_items_show_guessing_and_stability(repeating: karat.study.Study) -> None:
    judgments = answer_study(repeating, 24, shares={"guesser": 0.25})
    found = inconsistency(judgments)
    behaviours = dict(judgments.participants.select("participant", "behaviour").iter_rows())
    # Six answers are too few to accuse anybody, but those who guess stand out on average.
    assert "attentive" not in [behaviours[name] for name in found.flagged]
    means = found.participants.group_by(pl.col("participant").replace_strict(behaviours)).agg(pl.col("score").mean())
    scores = dict(means.iter_rows())
    assert scores["guesser"] > 1.2 * scores["attentive"]
    assert found.participants["repeated"].unique().to_list() == [6]
    stable = stability(judgments, by="repetition", samples=50)
    (row,) = stable.comparisons.filter(pl.col("measure") == "Pearson").to_dicts()
    assert (row["first"], row["second"], row["kind"]) == ("1", "2", "within")
    assert row["estimate"] > 0.4


def test_more_repeated_items_than_fit_are_a_finding(repeating: karat.study.Study) -> None:
    text = repeating.path.read_text(encoding="utf-8")
    repeating.path.write_text(text.replace("repeated_items = 6", "repeated_items = 24"), encoding="utf-8")
    assert "order" in [finding.rule for finding in check(karat.study.load(repeating.path)).findings]
    repeating.path.write_text(text.replace("repeated_items = 6", "repeated_items = 6\nrounds = 2"), encoding="utf-8")
    with pytest.raises(karat.KaratError):
        karat.study.load(repeating.path)


@pytest.mark.slow
def test_repeated_items_come_back_from_the_server(repeating: karat.study.Study, tmp_path: Path) -> None:
    run("rehearse", repeating.path, "--bots", "12", "-o", tmp_path / "out", "--json")
    judgments = pl.read_parquet(tmp_path / "out" / "judgments.parquet")
    twice = judgments.filter(pl.col("repetition") == 2)
    assert twice.height >= 6 * 10, "all but those who leave early judge six items twice"
    keys = ["participant", "item", "sentence"] if "sentence" in judgments.columns else ["participant", "item"]
    first = judgments.filter(pl.col("repetition") == 1, pl.col("function") == "test")
    assert twice.join(first, on=keys, how="anti").height == 0
    assert "stability" in (tmp_path / "out" / "report.html").read_text(encoding="utf-8").lower()
