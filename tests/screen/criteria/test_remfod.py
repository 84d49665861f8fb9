"""ReMFOD: beside a slow computation by plain loops, on odd data, and on what cannot be judged."""

from __future__ import annotations

import statistics

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import karat
from karat.messages import Message, message_of
from karat.screen.criteria.remfod import (
    compare_time_rules,
    participants_table,
    remfod,
    result_message,
)
from karat.screen.time_rules import adjusted_for_length
from messages import codes, message_at, raises, reasons, refuses

Trial = tuple[str, str, float]
ROUNDING = 1e-9
"""Means and standard deviations are sums: a time on the cutoff may fall on either side by the last digit."""


RULES: dict[str, tuple[list[str], bool, float, float, bool]] = {
    # the groups, whether by mean and standard deviation, above, below, in rounds
    "remfod": (["person", "function"], False, 2.5, 1.5, True),
    "participant": (["person"], False, 2.5, 1.5, True),
    "function": (["function"], False, 2.5, 1.5, True),
    "global": (["everything"], False, 2.5, 1.5, False),
    "miller-3": (["person"], False, 3, 3, False),
    "miller-2.5": (["person"], False, 2.5, 2.5, False),
    "miller-2": (["person"], False, 2, 2, False),
    "mean-sd": (["person"], True, 4, 1.5, False),
    "single": (["everything"], False, 10, float("inf"), False),
}

RULES_SHARE = dict.fromkeys(RULES, 0.9) | {"single": 1.0}


def slow_cutoffs(times: list[float], by_mean: bool, upper: float, lower: float) -> tuple[float, float]:
    if by_mean:
        centre = statistics.mean(times)
        spread = statistics.stdev(times) if len(times) > 1 else 0.0
    else:
        centre = statistics.median(times)
        spread = 1.4826 * statistics.median([abs(value - centre) for value in times])
    return centre - lower * spread if lower < float("inf") else -1.0, centre + upper * spread


def slow_remfod(trials: list[Trial], rule: str = "remfod") -> dict[int, tuple[str, int]]:
    """The kind and round of every outlying trial, by loops that follow the paper's sentences."""
    groups, by_mean, upper, lower, recursive = RULES[rule]
    found: dict[int, tuple[str, int]] = {}
    for number in range(1, len(trials) + 2 if recursive else 2):
        kept = [index for index in range(len(trials)) if index not in found]
        new: dict[int, tuple[str, int]] = {}
        for index in kept:
            person, function, time = trials[index]
            same = {
                "person": [trials[i][2] for i in kept if trials[i][0] == person],
                "function": [trials[i][2] for i in kept if trials[i][1] == function],
                "everything": [trials[i][2] for i in kept],
            }
            cutoffs = [slow_cutoffs(same[group], by_mean, upper, lower) for group in groups]
            if time < min(low for low, _ in cutoffs) - ROUNDING * by_mean:
                new[index] = ("rush", number)
            elif time > max(high for _, high in cutoffs) + ROUNDING * by_mean:
                new[index] = ("intermission", number)
        if not new:
            return found
        found |= new
    return found


def judgments(trials: list[Trial]) -> karat.Judgments:
    people, functions, times = (list(column) for column in zip(*trials, strict=True))
    frame = {
        "participant": people, "item": [f"i{n}" for n in range(len(trials))], "response": ["1"] * len(trials),
        "trial": list(range(1, len(trials) + 1)), "rt": times, "function": functions,
    }  # fmt: skip
    return karat.Judgments(frame, karat.Ordinal(5))


trials = st.lists(
    st.tuples(
        st.sampled_from(["p1", "p2", "p3"]),
        st.sampled_from(["test", "filler", "control"]),
        st.one_of(st.integers(1, 6).map(float), st.floats(0.125, 64).map(lambda x: round(x * 8) / 8), st.just(500.0)),
    ),
    min_size=1,
    max_size=40,
)


@pytest.mark.few(1)
@pytest.mark.parametrize("rule", list(RULES))
@settings(max_examples=25)
@given(given_trials=trials)
def test_it_agrees_with_plain_loops(rule: str, given_trials: list[Trial]) -> None:
    evidence = remfod(judgments(given_trials), rule)
    expected = {(index + 1, *what) for index, what in slow_remfod(given_trials, rule).items()}
    assert set(evidence.trials.select("trial", "kind", "degree").iter_rows()) == expected
    rows = evidence.participants
    assert rows["intermissions"].sum() + rows["rushes"].sum() == len(expected)
    assert evidence.rounds == max((degree for *_, degree in expected), default=0)


@pytest.mark.slow
@settings(max_examples=150)
@given(trials)
def test_remfod_agrees_with_plain_loops_on_more(given_trials: list[Trial]) -> None:
    expected = {(index + 1, *what) for index, what in slow_remfod(given_trials).items()}
    assert set(remfod(judgments(given_trials)).trials.select("trial", "kind", "degree").iter_rows()) == expected


@pytest.mark.slow
@settings(max_examples=50)
@given(trials, st.integers(1, 1000))
def test_scaling_all_times_changes_nothing(given_trials: list[Trial], factor: int) -> None:
    scaled = [(person, function, time * 2.0 ** (factor % 8)) for person, function, time in given_trials]
    first, second = remfod(judgments(given_trials)), remfod(judgments(scaled))
    assert first.trials.select("trial", "kind", "degree").equals(second.trials.select("trial", "kind", "degree"))


@pytest.mark.parametrize("rule", list(RULES))
@pytest.mark.parametrize("time", [2.0, 0.1, 0.0])
def test_equal_times_flag_nobody(rule: str, time: float) -> None:
    evidence = remfod(judgments([("p1", "test", time)] * 19), rule)
    assert evidence.trials.is_empty()
    assert evidence.flagged == []
    assert evidence.rounds == 0


@pytest.mark.parametrize("rule", list(RULES))
def test_one_trial_flags_nobody(rule: str) -> None:
    assert remfod(judgments([("p1", "test", 2.0)]), rule).participants.row(0)[1:4] == (1.0, RULES_SHARE[rule], False)


def test_one_long_pause_is_an_intermission_with_its_cutoffs() -> None:
    times = [2.0, 2.1, 1.9, 2.2, 2.05, 1.95, 60.0]
    evidence = remfod(judgments([("p1", "test", time) for time in times]))
    (row,) = evidence.trials.to_dicts()
    assert (row["participant"], row["trial"], row["kind"], row["degree"]) == ("p1", 7, "intermission", 1)
    assert row["lower"] < 2 < row["upper"] < 60
    values = {"intermissions": 1, "rushes": 0, "trials": 7, "genuine": 0.857, "needed": 0.9, "single": 1}
    assert reasons(evidence)["p1"] == Message("remfod.genuine", values)
    assert evidence.flagged == []
    twice = remfod(judgments([("p1", "test", time) for time in [*times, 2.0, 2.1, 50.0]]))
    assert (twice.flagged, twice.participants["score"].to_list()) == (["p1"], [0.8])
    values = {"intermissions": 1, "rushes": 0, "rounds": 1, "flagged": 0, "participants": 1}
    assert evidence.summary == (Message("remfod.found", values | {"needed": 0.9, "rule": None}),)


def test_a_note_says_when_many_are_flagged_for_their_pauses() -> None:
    calm, slow, fast = [2.0, 2.1, 1.9, 2.2] * 3, [30.0, 40.0], [0.1, 0.2]
    ways = {"calm": calm, "paused": calm[2:] + slow, "hurried": calm[2:] + fast, "both": calm[4:] + slow + fast}
    evidence = remfod(judgments([(name, "test", time) for name, times in ways.items() for time in times]))
    assert evidence.flagged == ["paused", "hurried", "both"]
    assert evidence.notes[-1] == Message("remfod.many", {"flagged": 3, "participants": 4, "paused": 1})
    assert "remfod.many" not in codes(remfod(karat.datasets.load("likert")).notes)


def test_a_single_long_time_is_enough_for_the_rule_of_that_name() -> None:
    times = [2.0, 2.1, 1.9, 2.2, 2.05, 1.95, 2.0, 2.1] * 3
    given_trials = [("p1", "test", time) for time in [*times, 60.0]] + [("p2", "test", time) for time in [*times, 0.1]]
    assert remfod(judgments(given_trials)).flagged == []
    evidence = remfod(judgments(given_trials), "single")
    assert evidence.flagged == ["p1"]
    assert evidence.trials["lower"].to_list() == [None]
    assert evidence.cutoffs["lower"].to_list() == [None]
    assert remfod(judgments(given_trials), "single", lower=5).flagged == ["p1", "p2"]
    assert remfod(judgments(given_trials), "single", genuine_at_least=0.9).flagged == []


def test_factors_given_replace_those_of_the_rule() -> None:
    likert = karat.datasets.load("likert")
    usual, strict = remfod(likert), remfod(likert, upper=2.0)
    assert strict.trials.height > usual.trials.height
    assert (usual.settings["upper"], usual.settings["lower"], usual.settings["genuine_at_least"]) == (2.5, 1.5, 0.9)
    assert strict.settings["upper"] == 2.0
    same = remfod(likert, "participant", upper=3, lower=3)
    first = same.trials.filter(same.trials["degree"] == 1)
    assert first.select("participant", "trial").equals(remfod(likert, "miller-3").trials.select("participant", "trial"))


def test_rules_side_by_side() -> None:
    likert = karat.datasets.load("likert")
    table = compare_time_rules(likert)
    assert table["rule"].to_list() == list(RULES)
    for row in table.to_dicts():
        evidence = remfod(likert, row["rule"])
        assert (row["intermissions"], row["rushes"]) == tuple(
            evidence.participants.select("intermissions", "rushes").sum().row(0)
        )
        assert row["participants"] == ", ".join(evidence.flagged)
        assert row["flagged"] == len(evidence.flagged)
    assert table.row(0)[-2:] == (1.0, 1.0)
    found = {rule: set(remfod(likert, rule).trials.select("participant", "trial").iter_rows()) for rule in RULES}
    expected = [len(found["remfod"] & own) / len(found["remfod"] | own) for own in found.values()]
    assert table["common"].to_list() == pytest.approx(expected)
    flagged = set(remfod(likert).flagged)
    expected = [1 - len(flagged ^ set(remfod(likert, rule).flagged)) / 48 for rule in RULES]
    assert table["agreement"].to_list() == pytest.approx(expected)
    nothing = compare_time_rules(judgments([("p1", "test", 2.0)] * 5))
    assert nothing["common"].to_list() == [1.0] * 9


def test_practice_and_missing_times_are_left_out() -> None:
    frame = judgments([("p1", "test", 2.0)] * 9 + [("p1", "practice", 900.0), ("p2", "test", 1.0)]).frame
    frame = frame.with_columns(rt=frame["rt"].set(frame["participant"] == "p2", None))
    evidence = remfod(karat.Judgments(frame, karat.Ordinal(5)))
    rows = {row["participant"]: row for row in evidence.participants.to_dicts()}
    assert rows["p1"]["trials"] == 9
    assert (rows["p2"]["score"], rows["p2"]["flagged"], rows["p2"]["message"]) == (None, False, "remfod.no_times")
    assert evidence.notes == (
        Message("remfod.untimed", {"n": 1}),
        Message("remfod.one_function", {"function": "test"}),
        Message("remfod.all_times_equal"),
    )


def test_all_are_tests_without_functions() -> None:
    frame = {
        "participant": ["p1"] * 8,
        "item": list("abcdefgh"),
        "response": [1] * 8,
        "rt": [2, 2, 2.1, 1.9, 2, 2, 2, 99],
    }
    evidence = remfod(karat.Judgments(frame, karat.Ordinal(5)))
    assert evidence.trials.select("trial", "kind").rows()[-1] == (8, "intermission")
    assert evidence.cutoffs.filter(evidence.cutoffs["group"] == "function")["name"].unique().to_list() == ["test"]
    one_function = Message("remfod.one_function", {"function": "test"})
    assert evidence.notes[:2] == (Message("order.unknown"), one_function)
    alone = remfod(karat.Judgments(frame, karat.Ordinal(5)), rule="participant")
    assert alone.notes[0] == evidence.notes[0]
    assert one_function not in alone.notes


def test_what_cannot_run_says_why() -> None:
    without = karat.Judgments({"participant": ["p"], "item": ["a"], "response": [1]}, karat.Ordinal(5))
    with raises(karat.KaratError, "times.none"):
        remfod(without)
    only_practice = judgments([("p1", "practice", 1.0)])
    with raises(karat.KaratError, "times.only_practice"):
        remfod(only_practice)
    with raises(karat.KaratError, "setting.refused", setting="upper"):
        remfod(judgments([("p1", "test", 1.0)]), upper=0)
    with raises(karat.KaratError, "setting.refused", setting="genuine_at_least"):
        remfod(judgments([("p1", "test", 1.0)]), genuine_at_least=90)
    with raises(karat.KaratError, "setting.refused", setting="mad_constant"):
        remfod(judgments([("p1", "test", 1.0)]), mad_constant=0)
    with raises(karat.KaratError, "remfod.no_rule") as caught:
        remfod(judgments([("p1", "test", 1.0)]), "both")
    assert message_of(caught.value).values["known"][:2] == ["remfod", "participant"]
    with raises(karat.KaratError, "length.no_column", name="items", close="item"):
        remfod(judgments([("p1", "test", 1.0)]), length="items")
    with refuses(karat.KaratError, "row 1, rt", "-1.0"):
        judgments([("p1", "test", -1.0)])


def test_times_without_spread_are_reported() -> None:
    rounded = [("p1", "test", 2.0)] * 8 + [("p1", "test", 2.1)]
    evidence = remfod(judgments(rounded))
    assert evidence.trials["kind"].to_list() == ["intermission"]
    assert evidence.notes[-1] == Message("remfod.no_spread", {"n": 1})
    varied = [("p1", "test", 2.0 + n / 100) for n in range(20)] + [("p1", "test", 9.0)]
    assert "remfod.no_spread" not in codes(remfod(judgments(varied)).notes)


def long_sentences() -> karat.Judgments:
    """Times that grow with the length of sentences, of three participants who also pause and rush."""
    given_trials, lengths = [], []
    for person in range(3):
        for trial in range(24):
            length = 10 + 7 * ((trial + person) % 9)
            odd = {5: 9.0, 11: 0.2}.get(trial, 1.0) if person < 2 else 1.0
            given_trials.append(
                (f"p{person}", ["test", "filler"][trial % 2], 0.1 * length * odd * (1 + trial % 5 / 50))
            )
            lengths.append(length)
    own = judgments(given_trials)
    return karat.Judgments(own.frame.with_columns(words=pl.Series(lengths)), karat.Ordinal(5))


def test_times_are_adjusted_for_length_before_they_are_judged() -> None:
    own = long_sentences()
    evidence = remfod(own, length="words")
    adjusted, notes = adjusted_for_length(own.frame, "words")
    plain = [(row["participant"], row["function"], row["rt"]) for row in adjusted.to_dicts()]
    expected = {(index + 1, *what) for index, what in slow_remfod(plain).items()}
    assert set(evidence.trials.select("trial", "kind", "degree").iter_rows()) == expected
    assert {kind for _, kind, _ in expected} == {"intermission", "rush"}
    assert set(remfod(own).trials.select("trial", "kind", "degree").iter_rows()) != expected
    assert evidence.timed["rt"].to_list() == adjusted["rt"].to_list()
    assert evidence.notes[: len(notes)] == notes
    frame = own.frame.with_columns(rt=pl.when(pl.col("trial") > 1).then("rt"))
    untimed = remfod(karat.Judgments(frame, karat.Ordinal(5)), length="words").notes
    assert codes(untimed)[:2] == ["remfod.untimed", "length.adjusted"]
    by_length = compare_time_rules(own, length="words")
    assert by_length["intermissions"].to_list() == [
        remfod(own, rule, length="words").participants["intermissions"].sum() for rule in RULES
    ]
    assert not by_length.equals(compare_time_rules(own))


def test_columns_and_settings() -> None:
    evidence = remfod(long_sentences(), "participant", 3.0, 2.0, 0.8, 2.0, "words", True)
    assert evidence.criterion == "remfod"
    assert evidence.settings == {
        "rule": "participant", "upper": 3.0, "lower": 2.0, "genuine_at_least": 0.8, "mad_constant": 2.0,
        "length": "words", "inclusive": True,
    }  # fmt: skip
    numbers = dict.fromkeys(["trials", "intermissions", "rushes"], pl.Int64)
    values = dict.fromkeys(["intermissions", "rushes", "trials"], pl.Int64)
    values |= {"genuine": pl.Float64, "needed": pl.Float64, "single": pl.Int64}
    assert dict(evidence.participants.schema) == {
        "participant": pl.String, "score": pl.Float64, "threshold": pl.Float64, "flagged": pl.Boolean,
        "message": pl.String, "values": pl.Struct(values), **numbers, "genuine_share": pl.Float64,
    }  # fmt: skip
    assert evidence.participants["score"].to_list() == evidence.participants["genuine_share"].to_list()
    kinds = {"kind": pl.String, "degree": pl.Int64}
    trial = evidence.timed.schema["trial"]
    assert dict(evidence.timed.schema) == {
        "participant": pl.String, "trial": trial, "function": pl.String, "rt": pl.Float64, **kinds
    }  # fmt: skip
    ends = {"lower": pl.Float64, "upper": pl.Float64}
    assert dict(evidence.trials.schema) == {"participant": pl.String, "trial": trial, **kinds, **ends}
    nobody = remfod(judgments([("p1", "test", 2.0)] * 3))
    assert (nobody.trials.height, nobody.trials.schema["kind"]) == (0, pl.String)
    frame = long_sentences().frame.with_columns(
        session=pl.when(pl.col("trial") % 2 == 0).then(pl.lit("1")).otherwise(pl.lit("2"))
    )
    sessions = remfod(karat.Judgments(frame, karat.Ordinal(5))).trials
    assert sessions.columns == ["participant", "trial", "kind", "degree", "lower", "upper", "session"]
    assert sessions["session"].to_list() == ["1" if trial % 2 == 0 else "2" for trial in sessions["trial"]]
    asked = frame.drop("session").with_columns(question=pl.lit("natural"))
    questions = remfod(karat.Judgments(asked, {"natural": karat.Ordinal(5)})).trials
    assert questions.columns[-1] == "question"
    assert set(questions["question"]) == {"natural"}


def test_a_larger_constant_is_a_wider_cutoff() -> None:
    own = long_sentences()
    doubled = remfod(own, mad_constant=2 * 1.4826)
    wider = remfod(own, upper=5.0, lower=3.0)
    assert doubled.trials.equals(wider.trials)
    assert not doubled.trials.equals(remfod(own).trials)
    plain = remfod(own, upper=2.5 * 1.4826, lower=1.5 * 1.4826, mad_constant=1)
    assert plain.trials.select("trial", "kind", "degree").equals(remfod(own).trials.select("trial", "kind", "degree"))


def test_a_time_at_the_cutoff_counts_where_that_is_asked_for() -> None:
    # Median 2 and MAD 1.4826 x 1: the cutoff above is 2 + 2.5 x 1.4826, which one time equals.
    at_cutoff = 2 + 2.5 * 1.4826
    given_trials = [("p1", "test", time) for time in (1.0, 1.0, 2.0, 2.0, 3.0, 3.0, 1.0, 2.0, at_cutoff)]
    assert remfod(judgments(given_trials)).trials.is_empty()
    assert remfod(judgments(given_trials), inclusive=True).trials["trial"].to_list() == [9]


def test_nine_of_ten_genuine_trials_suffice() -> None:
    people = pl.DataFrame({"participant": ["c", "a", "b", "d"]})
    counts = pl.DataFrame({
        "participant": ["a", "b", "c"], "trials": [10, 10, 1], "intermissions": [1, 1, 0], "rushes": [0, 1, 0]
    })  # fmt: skip
    table = participants_table(people, counts, 0.9)
    assert table.drop("message", "values").rows() == [
        ("c", 1.0, 0.9, False, 1, 0, 0, 1.0), ("a", 0.9, 0.9, False, 10, 1, 0, 0.9),
        ("b", 0.8, 0.9, True, 10, 1, 1, 0.8), ("d", None, 0.9, False, 0, 0, 0, None),
    ]  # fmt: skip
    messages = [message_at(table, place) for place in range(4)]
    assert codes(messages)[:3] == ["remfod.genuine"] * 3
    assert codes(messages)[3] != "remfod.genuine"
    found = [[message.values[name] for name in ("intermissions", "rushes", "trials")] for message in messages[:3]]
    assert found == [[0, 0, 1], [1, 0, 10], [1, 1, 10]]
    assert [message.values["genuine"] for message in messages[:3]] == [1.0, 0.9, 0.8]


def test_one_and_many_are_counted() -> None:
    usual = str(result_message(1, 1, 1, 1, 1, {"rule": "remfod", "genuine_at_least": 0.9}))
    for part in ("1 intermission,", "1 rush ", "1 round;", "1 of 1 participant ", "90 %"):
        assert part in usual
    many = str(result_message(2000, 3000, 2, 1500, 4000, {"rule": "single", "genuine_at_least": 0.925}))
    for part in ("2,000 intermissions", "3,000 rushes", "2 rounds", "1,500 of 4,000 participants", "92.5 %", "single"):
        assert part in many


def test_what_is_said_of_few_trials() -> None:
    alike = Message("remfod.all_times_equal")
    assert alike not in remfod(judgments([("p1", "test", 2.0)])).notes
    assert alike in remfod(judgments([("p1", "test", 2.0)] * 2)).notes
    assert remfod(judgments([("p1", "test", 2.0), ("p1", "filler", 3.0)])).notes == ()
    frame = judgments([("p1", "test", 2.0), ("p1", "test", 3.0), ("p1", "practice", 1.0)]).frame
    frame = frame.with_columns(rt=pl.when(pl.col("function") == "practice").then(None).otherwise("rt"))
    notes = remfod(karat.Judgments(frame, karat.Ordinal(5)), "participant").notes
    assert notes == ()


def test_rules_agree_on_a_trial_where_both_find_the_same_kind() -> None:
    times = [2.0, 2.2, 1.8, 2.1, 1.9, 2.3, 1.7, 2.05, 60.0, 0.05]
    table = compare_time_rules(judgments([("p1", "test", time) for time in times]))
    found = {
        rule: {
            (trial, kind) for trial, (kind, _) in slow_remfod([("p1", "test", time) for time in times], rule).items()
        }
        for rule in RULES
    }
    first = found["remfod"]
    assert table["common"].to_list() == [len(first & own) / len(first | own) for own in found.values()]
    assert table["rounds"].to_list() == [remfod(judgments([("p1", "test", t) for t in times]), r).rounds for r in RULES]


def test_figures_are_as_wide_as_asked_for() -> None:
    evidence = remfod(long_sentences())
    for figure, width in (
        (evidence.plot(), 16), (evidence.plot(width_cm=10), 10), (evidence.plot("p1"), 16),
        (evidence.plot("p1", 10), 10), (evidence.plot_density(), 16), (evidence.plot_density(10), 10),
    ):  # fmt: skip
        assert figure.get_figwidth() == pytest.approx(width / 2.54)
    assert len(evidence.plot(rows=2).axes[0].get_yticks()) == 2
    assert evidence.plot("p1").get_suptitle() != evidence.plot("p2").get_suptitle() != evidence.plot().get_suptitle()
