"""Section 5.1 of the paper on its data: ReMFOD round by round, what its result hangs on, and other rules."""

from __future__ import annotations

import polars as pl

from karat.screen import remfod
from karat.screen.criteria.remfod import Remfod, compare_time_rules
from karat.screen.time_rules import TIME_RULES
from tools.replication.acceptability import printed
from tools.replication.acceptability.data import Experiment
from tools.replication.markdown import per_cent, table

NEAR_MS = 1e-6
"""Cutoffs that differ by less than this many milliseconds count as equal; the recorded ones have this many digits."""
UNROUNDED = "mad_without_1.4826"


def section(both: list[Experiment]) -> str:
    """ReMFOD: settings, totals, rounds, participants, variants."""
    return "\n".join((outliers(both), rounds(both), underperformers(both), variants(both)))


def outliers(both: list[Experiment]) -> str:
    """The settings of ReMFOD and its totals."""
    words = {
        "upper": "MADs above the median", "lower": "MADs below the median", "mad_constant": "constant of the MAD",
        "genuine_at_least": "genuine trials, at least",
    }  # fmt: skip
    settings, golden = both[0].times.settings, both[0].golden["remfod"]
    code = {"upper": golden["long_factor"], "lower": golden["short_factor"], "mad_constant": golden["mad_constant"]}
    lines = [
        (word, printed.REMFOD[key], f"{code[key]:g}" if key in code else "90 %",
         f"{100 * settings[key]:g} %" if key == "genuine_at_least" else f"{settings[key]:g}")
        for key, word in words.items()
    ]  # fmt: skip
    lines.append(("a time equal to the cutoff", printed.COMPARISON, "is outlying", "is not outlying"))
    totals = []
    for one in both:
        messages, golden = one.golden["published"]["remfod_per_participant"].values(), one.golden["remfod"]
        for place, kind in enumerate(("intermissions", "rushes")):
            mine = int(one.times.participants[kind].sum())
            totals.append((one.title, kind, sum(row[place] for row in messages), golden[f"total_{kind}"], mine))
            assert totals[-1][2] == totals[-1][3] == mine
        theirs = {(t["participant"], t["trial"], t["kind"], t["iteration"]) for t in golden["outlier_trials"]}
        assert theirs == set(one.times.trials.select("participant", "trial", "kind", "degree").iter_rows())
        assert on_a_cutoff(one.times) == 0
    return f"""## ReMFOD

{table(("setting", "paper", "authors' code", "karat"), lines, left=4)}
No time of these data equals its cutoff, so both readings of the comparison give the same. The constant 1.4826 is R's
default. Without it nearly everybody would be flagged (see below).

{table(("data set", "found", "published", "authors' code", "karat"), totals, left=2)}
The trials are the same too: each has the same kind and was found in the same round.
"""


def on_a_cutoff(evidence: Remfod) -> int:
    """How many times equal the cutoff that they are compared with, in some round."""
    found = set()
    for (number,), cutoffs in evidence.cutoffs.group_by("round"):
        left = evidence.timed.filter(pl.col("kind").is_null() | (pl.col("degree") >= number))
        for group in ("participant", "function"):
            own = cutoffs.filter(pl.col("group") == group).select(
                pl.col("name").alias(group),
                pl.col("lower").alias(f"lower_{group}"),
                pl.col("upper").alias(f"upper_{group}"),
            )
            left = left.join(own, on=group)
        lower = pl.min_horizontal("lower_participant", "lower_function")
        upper = pl.max_horizontal("upper_participant", "upper_function")
        near = pl.min_horizontal((pl.col("rt") - lower).abs(), (pl.col("rt") - upper).abs()) * 1000 < NEAR_MS
        found |= set(left.filter(near).select("participant", "trial").iter_rows())
    return len(found)


def rounds(both: list[Experiment]) -> str:
    """Counts and cutoffs of every round."""
    text = ["### Rounds and cutoffs\n"]
    compared = 0
    for one in both:
        golden = one.golden["remfod"]["iterations"]
        counts = one.times.trials.group_by("degree", "kind").len()
        lines = []
        for step in golden:
            found = dict(counts.filter(pl.col("degree") == step["iteration"]).select("kind", "len").iter_rows())
            mine = (found.get("intermission", 0), found.get("rush", 0))
            theirs = (step["n_intermissions"], step["n_rushes"])
            lines.append((step["iteration"], f"{step['n_trials_in']:,}", theirs[0], mine[0], theirs[1], mine[1]))
            assert theirs == mine
        header = ("round", "trials", "intermissions: authors' code", "karat", "rushes: authors' code", "karat")
        text.append(f"**{one.title}.** The last round finds nothing and ends the search.\n")
        text.append(table(header, lines, left=0))
        text.append("Cutoffs of the item functions, lower to upper, in seconds:\n")
        text.append(_function_cutoffs(one))
        compared += _compare_cutoffs(one)
    text.append(
        f"Participants have cutoffs of their own in each round. In all, {compared:,} medians, MADs and cutoffs were "
        "compared; none differs from the authors' by more than a millionth of a millisecond.\n"
    )
    return "\n".join(text)


def _function_cutoffs(one: Experiment) -> str:
    golden = one.golden["remfod"]["iterations"]
    cutoffs = one.times.cutoffs.filter(pl.col("group") == "function")
    lines = []
    for function in sorted(golden[0]["cutoffs_item_function"]):
        theirs = [step["cutoffs_item_function"][function] for step in golden]
        mine = cutoffs.filter(pl.col("name") == function).sort("round")
        assert mine.height == len(theirs)
        lines.append((function, "authors", *(f"{c['lower'] / 1000:.2f}–{c['upper'] / 1000:.2f}" for c in theirs)))
        lines.append((function, "karat", *(f"{low:.2f}–{up:.2f}" for low, up in mine.select("lower", "upper").rows())))
    return table(("function", "", *(f"round {step['iteration']}" for step in golden)), lines, left=2)


def _compare_cutoffs(one: Experiment) -> int:
    """How many numbers of cutoffs there are; all must be those of the authors' code."""
    rows = {(row["round"], row["group"], row["name"]): row for row in one.times.cutoffs.to_dicts()}
    compared = 0
    for step in one.golden["remfod"]["iterations"]:
        for group, key in (("function", "cutoffs_item_function"), ("participant", "cutoffs_participant")):
            for name, values in step[key].items():
                for column in ("median", "mad", "lower", "upper"):
                    mine = 1000 * rows[step["iteration"], group, name][column]
                    assert abs(mine - values[column]) < NEAR_MS, (step["iteration"], group, name, column)
                    compared += 1
    return compared


def underperformers(both: list[Experiment]) -> str:
    """Who answered under 90 % of trials genuinely."""
    text = ["### Under 90 % genuine\n"]
    for one in both:
        golden, messages = one.golden["remfod"]["per_participant"], one.golden["published"]["remfod_per_participant"]
        lines = []
        for row in one.times.participants.filter(pl.col("flagged")).sort("score", maintain_order=True).to_dicts():
            own = golden[row["participant"]]
            lines.append((
                row["participant"], "{}, {}".format(*messages[row["participant"]][:2]),
                f"{own['intermissions']}, {own['rushes']}", f"{row['intermissions']}, {row['rushes']}",
                per_cent(own["share_genuine"]), per_cent(row["score"]),
            ))  # fmt: skip
        header = (one.title, "published", "authors' code", "karat", "genuine: authors' code", "karat")
        text.append(table(header, lines))
        under = {name for name, (_, _, genuine) in messages.items() if genuine / golden[name]["trials"] < 0.9}
        assert one.times.flagged == one.golden["remfod"]["under_90_percent"] == sorted(under)
    text.append("The first three columns are intermissions and rushes. All three sources flag the same people.\n")
    return "\n".join(text)


def variants(both: list[Experiment]) -> str:
    """What the result of ReMFOD hangs on."""
    lines = []
    for one in both:
        golden = one.golden["remfod_variants_for_sensitivity"]
        runs = {
            UNROUNDED: ("without the constant", remfod(one.complete, mad_constant=1)),
            "participant_criterion_only": ("participant only", remfod(one.complete, rule="participant")),
            "item_criterion_only": ("item function only", remfod(one.complete, rule="function")),
            "incomplete_participants_kept": ("incomplete kept", remfod(one.everybody)),
        }
        for key, (word, mine) in runs.items():
            if key in golden:
                found = tuple(int(mine.participants[kind].sum()) for kind in ("intermissions", "rushes"))
                theirs = (golden[key]["intermissions"], golden[key]["rushes"])
                flagged = golden[key].get("under_90_percent")
                lines.append((
                    one.title, word, f"{theirs[0]}, {theirs[1]}", f"{found[0]}, {found[1]}",
                    "–" if flagged is None else len(flagged), len(mine.flagged),
                ))  # fmt: skip
                assert theirs == found or (key == UNROUNDED and on_a_cutoff(mine) == sum(theirs) - sum(found))
                assert flagged is None or set(flagged) - set(mine.flagged) == set(spared(mine))
    header = ("data set", "variant", "found: again", "karat", "flagged: again", "karat")
    likert = remfod(both[1].complete, mad_constant=1)
    everybody = remfod(both[1].everybody)
    (trials,) = everybody.participants.filter(pl.col("participant").is_in(spared(everybody)))["trials"]
    return f"""### What the result hangs on

One thing changed at a time. "Again" is a separate program that follows the authors' code. Found are intermissions and
rushes.

{table(header, lines, left=2)}
Without the constant, cutoffs are round numbers of milliseconds, and {on_a_cutoff(likert)} response times of the Likert
study lie exactly on one. The authors' comparison counts these as outlying, karat's does not. Who is flagged is the
same. The order of the steps counts too: with the incomplete participants kept, their times move the cutoffs of the
others. One of them answered {trials} trials and paused at one; karat flags nobody for a single answer.
"""


def spared(evidence: Remfod) -> list[str]:
    """Who is under the limit because of a single outlying time."""
    low = (pl.col("score") < pl.col("threshold")) & (pl.col("intermissions") + pl.col("rushes") == 1)
    return evidence.participants.filter(low)["participant"].to_list()


def rules(both: list[Experiment]) -> str:
    """Other rules for outlying times."""
    stated = [
        (f"`{name}`", rule.asks, "again until none is found" if rule.recursive else "once",
         "–" if rule.lower is None else f"{rule.lower:g}", f"{rule.upper:g}")
        for name, rule in TIME_RULES.items()
    ]  # fmt: skip
    text = [
        "## Other rules for response times\n",
        "Section 5.1 discusses other rules. karat has them by name, to compare with. Below and above are MADs from the "
        "median, for `mean-sd` standard deviations from the mean.\n",
        table(("rule", "finds", "computed", "below", "above"), stated, left=3),
        "There are no published counts for them. *Agreement* is the share of participants with ReMFOD's verdict.\n",
    ]
    for one in both:
        found = {row["rule"]: row for row in compare_time_rules(one.complete).to_dicts()}
        lines = [
            (f"`{name}`", *(row[column] for column in ("intermissions", "rushes", "rounds", "flagged")),
             per_cent(row["agreement"]))
            for name, row in found.items()
        ]  # fmt: skip
        text.append(table((one.title, "intermissions", "rushes", "rounds", "flagged", "agreement"), lines))
        assert found["mean-sd"]["flagged"] == 0
    text.append(
        "`mean-sd` flags nobody. Long times widen the standard deviation that is to find them; the paper warns of it.\n"
    )
    return "\n".join([*text, _one_cutoff(both)])


def _one_cutoff(both: list[Experiment]) -> str:
    """What the paper says of figure 2: how a single cutoff over all times errs."""
    lines, slow, most = [], [], []
    for one in both:
        single = remfod(one.complete, rule="global")
        trials = one.times.timed.select("participant", "function", "rt", "kind").with_columns(
            single=single.timed["kind"]
        )
        pauses = trials.group_by("function").agg(
            pl.len().alias("trials"),
            (pl.col("single").eq_missing("intermission") & pl.col("kind").is_null()).sum().alias("only_single"),
            (pl.col("kind").eq_missing("intermission") & pl.col("single").is_null()).sum().alias("only_remfod"),
        )
        for row in pauses.sort("function").to_dicts():
            shares = (per_cent(row[name] / row["trials"]) for name in ("only_single", "only_remfod"))
            lines.append((one.title, row["function"], row["only_single"], row["only_remfod"], *shares))
        medians = trials.group_by("participant").agg(pl.col("rt").median())
        more = sorted(set(single.flagged) - set(one.times.flagged))
        assert (medians.filter(pl.col("participant").is_in(more))["rt"] > medians["rt"].median()).all()
        slow.append(f"{len(more)} in {'the Likert study' if one.name == 'likert' else 'forced choice'}")
        extra = {row["function"]: row["only_single"] / row["trials"] for row in pauses.to_dicts()}
        most.append(max(extra, key=lambda name: extra[name]))
        assert extra["attention"] > extra["control"]
        missed = {row["function"]: row["only_remfod"] for row in pauses.to_dicts()}
        first, second = sorted(missed.values(), reverse=True)[:2]
        assert missed["control"] == first > second
    assert most == ["attention", "calibration"]
    assert first - second == 1  # In the Likert study, which is the last: hence "only just".
    header = ("data set", "function", "only global", "only ReMFOD", "only global, of all", "only ReMFOD, of all")
    return f"""The paper says of the dotted lines in its figure 2, one cutoff over all times, that they suspect
attention trials and slow participants, and miss outliers among control trials. Intermissions that only one of the two
rules finds:

{table(header, lines, left=2)}
In forced choice the single cutoff indeed suspects attention trials most, in the Likert study calibration trials. In
both it misses more control trials than trials of any other function, in the Likert study only just. All that it alone
flags ({", ".join(slow)}) are slower than the median participant.
"""
