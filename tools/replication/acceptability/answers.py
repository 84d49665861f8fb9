"""Section 5.2 of the first paper on its data: attention and controls, who is eligible, and all criteria in one run."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

import polars as pl

from karat.judgments import Judgments
from karat.screen import Evidence, Screening, attention, controls, run, speed
from karat.screen.criteria.controls import compare_accounts
from tools.replication.acceptability.data import Experiment
from tools.replication.markdown import names, probability, same, table

RULES: dict[str, Any] = {
    "completion": {"at_least": 0.9}, "speed": {"mean_below": 3, "median_below": 3},
    "remfod": {"upper": 2.5, "lower": 1.5, "genuine_at_least": 0.9}, "attention": {"alpha": 0.05},
    "controls": {"account": "positional", "alpha": 0.05}, "exclude": "any",
}  # fmt: skip
"""The rules of the paper as `[screening]` of a study file would state them."""
PUBLISHED = RULES | {"controls": RULES["controls"] | {"published": True}}
HEADER = ("trials", "right: authors' code", "karat", "flagged: published", "authors' code", "karat", "same people")
KINDS = ("grammatical", "ungrammatical")
CHANGES = "p035"
"""Whose verdict hangs on the published or the intended rule for controls."""


def section(both: list[Experiment]) -> str:
    """Attention and controls in both data sets, and who is eligible."""
    choice, likert = both
    return "\n".join((
        "## Attention and controls\n\nThe paper asks for enough right answers that a guesser passes with at most .05. "
        "That probability is in brackets. Everybody who completed the questionnaire is judged, including those flagged "
        "by ReMFOD.\n",
        choices(choice), ratings(likert), who_changes(likert), accounts(likert), eligible(both),
    ))  # fmt: skip


def _part(judgments: Judgments, function: str) -> Judgments:
    """Only the related or the unrelated controls."""
    return Judgments(judgments.frame.filter(pl.col("item_function_fine") == function), judgments.scales)


def _flagged(published: Collection[str], code: Collection[str], mine: Collection[str]) -> tuple[object, ...]:
    """How many each source flags, and whether they are the same people."""
    return len(published), len(code), len(mine), same(published, code, mine)


def _only(evidence: Evidence, column: str) -> Any:
    """The one value that a column has for everybody."""
    (value,) = evidence.participants[column].unique().to_list()
    return value


def choices(one: Experiment) -> str:
    """Forced choice: k of N right."""
    result = one.golden["published"]["rejected_response_based"]
    found = {
        "attention": attention(one.complete), "control": controls(one.complete),
        "control_related": controls(_part(one.complete, "control_related")),
        "control_unrelated": controls(_part(one.complete, "control_unrelated")),
    }  # fmt: skip
    lines = []
    for key, mine in found.items():
        code = one.golden["response_based"][key]
        # The notebook lists only groups in which somebody is rejected.
        counts = _flagged(result.get(key, []), code["rejected"], mine.flagged)
        needed = f"{_only(mine, 'needed')} of {_only(mine, 'trials')}"
        passed = [f"({probability(p)})" for p in (code["guess_probability"], _only(mine, "guess_probability"))]
        rules = f"{code['k']} of {code['N']} {passed[0]}", f"{needed} {passed[1]}"
        lines.append((key.replace("_", ", "), *rules, *counts))
        assert code["rejected"] == mine.flagged
    slips = found["attention"].participants.filter(pl.col("right") == pl.col("trials") - 1).height
    return f"""### Forced choice

{table(HEADER, lines)}
Of six attention trials all must be right, so no slip is forgiven: {len(found["attention"].flagged)} participants are
flagged, {slips} of them for one wrong answer. The split into related and unrelated controls is reported and does not
decide.
"""


def ratings(one: Experiment) -> str:
    """Likert: the positional account."""
    result = one.golden["published"]["rejected_response_based"]
    golden = one.golden["response_based_positional"]
    lines = []
    for name, key, ending, mine in (
        ("attention", "attention", "as_run", attention(one.complete)),
        ("control, as published", "control", "as_run", controls(one.complete, published=True)),
        ("control, as intended", "control", "as_intended", controls(one.complete)),
        ("control, related", "control_related", "as_run", controls(_part(one.complete, "control_related"))),
        ("control, unrelated", "control_unrelated", "as_run", controls(_part(one.complete, "control_unrelated"))),
    ):
        (rule,) = golden[key][f"criteria_{ending}"]
        code = {name for kind in KINDS for name in golden[key][f"rejected_{kind}_{ending}"]}
        printed = {person for part in (f"{key}_1", f"{key}_2") for person in result.get(part, [])}
        published: Collection[str] = printed if ending == "as_run" else code
        counts = _flagged(published, code, mine.flagged)
        if ending == "as_intended":
            counts = ("–", *counts[1:])
        passed = [f"({probability(p)})" for p in (rule["joint"], _only(mine, "guess_probability"))]
        lines.append((name, f"{_rule(golden[key], rule)} {passed[0]}", f"{_needed(mine)} {passed[1]}", *counts))
        assert sorted(code) == mine.flagged
    (run_rule,) = golden["control"]["criteria_as_run"]
    return f"""### Likert: the positional account

Right is 1 or 2 for ungrammatical and 3 to 5 for grammatical sentences. Attention trials are all ungrammatical. Two
numbers are right answers to grammatical and to ungrammatical controls.

{table(HEADER, lines)}
The notebook states two conditions for each group: a guesser passes it with less than .5, and one slip is allowed. It
joins them with R's operator `||`, which up to R 4.2 looks at the first element only. So the conditions had no effect on
grammatical controls. The published rule has {run_rule["k_grammatical"]} of 12 there, which a guesser passes with
{probability(run_rule["p_grammatical"])}. With the conditions applied to every rule, the same search gives 9 and 7. For
the row "as intended", the column of the authors' code is a separate program that does so. (From R 4.3 on such a line is
an error. That it had no effect was inferred from the code; the rule that follows from it is the published one.)
"""


def _rule(golden: dict[str, Any], rule: dict[str, Any]) -> str:
    return _told([(rule[f"k_{kind}"], golden[f"N_{kind}"]) for kind in KINDS])


def _needed(evidence: Evidence) -> str:
    if "grammatical_needed" not in evidence.participants.columns:
        return _told([(_only(evidence, "needed"), _only(evidence, "trials"))])
    return _told([(_only(evidence, f"{kind}_needed"), _only(evidence, f"{kind}_trials")) for kind in KINDS])


def _told(groups: list[tuple[int, int]]) -> str:
    """The right answers that groups of the same size ask for: 6 and 8 of 12."""
    asked = [(k, n) for k, n in groups if n]
    (size,) = {n for _, n in asked}
    return f"{' and '.join(str(k) for k, _ in asked)} of {size}"


def who_changes(one: Experiment) -> str:
    """The participants that the published and the intended rule for controls judge differently."""
    published, intended = controls(one.complete, published=True), controls(one.complete)
    others = {"remfod": one.times.flagged, "attention": attention(one.complete).flagged}
    rows = {row["participant"]: row for row in intended.participants.to_dicts()}
    lines = []
    for person in sorted(set(published.flagged) ^ set(intended.flagged)):
        elsewhere = [name for name, flagged in others.items() if person in flagged]
        lines.append((
            person, *("flagged" if person in rule.flagged else "passes" for rule in (published, intended)),
            ", ".join(elsewhere) or "nothing",
            rows[person]["grammatical_right"], rows[person]["ungrammatical_right"],
        ))  # fmt: skip
    header = (
        "participant",
        "published rule",
        "intended rule",
        "flagged by",
        "grammatical right",
        "ungrammatical right",
    )
    assert [line[0] for line in lines if line[3] == "nothing"] == [CHANGES]
    assert len(lines) == 4
    return f"""### Who changes

Right answers are of 12 each; "flagged by" is what else flags them.

{table(header, lines, left=4)}
Four participants are judged differently. Three of them are flagged by something else, so only {CHANGES} changes sides:
out by the published rule, in by the intended one.
"""


def accounts(one: Experiment) -> str:
    """The other accounts of controls."""
    golden = one.golden["relational_accounts"]
    keys = {"relational": "rejected_pure", "extended": "rejected_extended", "strict": "rejected_zanuttini"}
    found = {row["account"]: row for row in compare_accounts(one.complete).to_dicts()}
    lines = []
    for name, key in keys.items():
        mine = controls(one.complete, account=name).flagged
        row = found[name]
        passed = probability(row["guess_probability"])
        more = [len(row[column].split()) for column in ("only_here", "only_positional")]
        lines.append((name, passed, len(golden[key]), len(mine), same(golden[key], mine), *more))
    header = ("account", "guessed", "flagged: again", "karat", "same people", "only here", "only positional")
    return f"""### The other accounts

The repository does not apply them to participants. "Again" is a separate program on the same data.
"Only here" are those that the positional account does not flag, "only positional" the reverse.

{table(header, lines)}
The relational account flags nobody, and a guesser passes it nearly every second time. The strict one (Zanuttini et al.)
forgives no slip and turns most participants away.
"""


def eligible(both: list[Experiment]) -> str:
    """Who is left in the end."""
    lines, lists = [], []
    for one in both:
        frame = one.everybody.frame
        published = frame.filter(pl.col("eligible_published").cast(pl.String) == "1")["participant"].unique().to_list()
        code = one.golden["final"]["eligible"]
        mine = {rule: _left(one, rule) for rule in ((True, False) if one.name == "likert" else (False,))}
        as_published = mine.get(True, mine[False])
        people = same(published, code, as_published)
        lines.append((one.title, len(published), len(code), len(as_published), people, len(mine[False])))
        lists.append(f"- {one.title}: {names(as_published)}.")
        assert set(published) == set(code) == set(as_published)
    meant = both[1].golden["final_with_intended_control_criterion"]
    assert set(_left(both[1], False)) - set(_left(both[1], True)) == set(meant["additionally_eligible"]) == {CHANGES}
    header = ("data set", "published", "authors' code", "karat, published rule", "same people", "karat by default")
    numbers = f"{meant['n_eligible']} instead of {both[1].golden['final']['n_eligible']}"
    return f"""## Who is eligible

{table(header, lines)}
"Published" are the participants in the authors' files of eligible judgments. They are:

{chr(10).join(lists)}

By default karat also keeps {CHANGES} of the Likert study ({numbers}).
"""


def _left(one: Experiment, published: bool) -> list[str]:
    """Who is flagged by nothing, everybody judged on everything as in the authors' code."""
    judged = one.complete
    out = (speed(judged), one.times, attention(judged), controls(judged, published=published))
    gone = {person for evidence in out for person in evidence.flagged}
    return [person for person in judged.participants["participant"].to_list() if person not in gone]


def runs(both: list[Experiment]) -> tuple[dict[str, str], str]:
    """The diagrams of exclusions, and the part of the page on all criteria in one run."""
    choice, likert = both
    screenings = {"forced-choice": run(choice.everybody, RULES), "likert": run(likert.everybody, RULES)}
    published = run(likert.everybody, PUBLISHED)
    for one, screening in ((choice, screenings["forced-choice"]), (likert, published)):
        assert list(screening.kept.participants["participant"]) == one.golden["final"]["eligible"]
    flows = {f"figures/flow-{name}.svg": screening.flow() for name, screening in screenings.items()}
    steps = [(name, *_counts(one)) for name, one in (
        ("Forced choice", screenings["forced-choice"]), ("Likert", screenings["likert"]),
        ("Likert, published rule", published),
    )]  # fmt: skip
    stated = ",\n    ".join(f'"{name}": {_quoted(value)}' for name, value in RULES.items())
    text = f"""## In one run

The rules of the paper, as a study states them before it has data:

```text
screening = karat.screen.run(ratings, {{
    {stated},
}})
```

It says:

```text
{screenings["likert"]}
```

Participants after each stage:

{table(("data set", "took part", "after completion", "after response times", "after answers"), steps)}
![{_alt("Forced choice", screenings["forced-choice"])}](figures/flow-forced-choice.svg)

![{_alt("Likert", screenings["likert"])}](figures/flow-likert.svg)

`screening.explain("{CHANGES}")` is a paragraph for a co-author:

> {screenings["likert"].explain(CHANGES)}

And with `"published": True` among the settings of `controls`:

> {published.explain(CHANGES)}
"""
    return flows, text


def _quoted(value: object) -> str:
    return str(value).replace("'", '"') if isinstance(value, dict) else f'"{value}"'


def _counts(screening: Screening) -> tuple[int, ...]:
    return screening.judgments.participants.height, *screening.remaining.values()


def _alt(title: str, screening: Screening) -> str:
    took, *left = _counts(screening)
    remain = f"{left[0]} remain after completion, {left[1]} after response times, {left[2]} after answers"
    return f"{title}: of {took} participants {remain}"
