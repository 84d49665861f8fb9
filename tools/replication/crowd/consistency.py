"""Consistency: the key, table 1, the coefficients of table 4, and figure 2."""

from __future__ import annotations

import polars as pl

from karat.plots.crowd import index_plot
from karat.screen import gold, spammer_index
from karat.screen.crowd import SUSPICIOUS
from tools.replication.crowd import printed
from tools.replication.crowd.data import POOL_KINDS, Crowds, pool_of
from tools.replication.drawn import keep
from tools.replication.markdown import decimals, names, per_cent, table

KIND_NAMES = {"primary": "primary choice", "pattern": "repeated pattern", "random": "random guessing"}
SHARES = (0, 10, 20, 30)


def key(crowds: Crowds) -> str:
    """The recorded right answers beside the crowd's."""
    found = gold(crowds.mturk)
    (doubtful,) = found.doubtful.to_dicts()
    fewer = gold(crowds.mturk, near_unanimous=0.8).doubtful["item"].to_list()
    assert doubtful["item"] == "t001"
    return f"""## The key first

Before anybody is called inaccurate, `gold(judgments)` compares the recorded right answers with those of the crowd.
{doubtful["item"]} is recorded as {doubtful["expected"]} ("different"), and {per_cent(doubtful["share"])} of the workers
say {doubtful["majority"]} ("same"). At 80 % instead of 90 % there are {len(fewer)}: {names(fewer)}. For
another of the authors' data sets 16 such tasks are reported. It is not public, so nothing of it is checked here.

The published numbers count {doubtful["item"]} as it is recorded, and so does this page where it repeats them
(`doubtful="counted"`). karat leaves doubtful items out of accuracy by default.
"""


def index(crowds: Crowds) -> str:
    """Table 1 and the coefficients beside it in table 4."""
    found = spammer_index(crowds.mturk)
    golden = crowds.golden["mturk"]
    full, beside = golden["deletion_two_re"]["full_fit"], golden["fleiss_icc"]
    workers, tasks = found.variances["variance"].to_list()
    lines = [
        ("Spammer Index", printed.SPAMMER_INDEX, decimals(full["spammer_index"], 4), decimals(found.value, 4)),
        ("variance of workers", "–", f"{full['var_worker']:.4f}", f"{workers:.4f}"),
        ("variance of tasks", "–", f"{full['var_task']:.4f}", f"{tasks:.4f}"),
        ("log-likelihood", "–", f"{full['loglik']:.4f}", f"{found.log_likelihood:.4f}"),
    ]
    again = (beside["fleiss"], beside["icc_A1"], full["icc_fixed_error_3_29"])
    mine = [found.agreement[name] for name in ("fleiss_kappa", "icc_agreement", "icc_fixed_error")]
    for (name, text), other, own in zip(printed.AGREEMENT.items(), again, mine, strict=True):
        lines.append((name, text, decimals(other, 4), decimals(own, 4)))
        assert decimals(own) == text, name
    consistency = found.agreement["icc_consistency"]
    lines.append(("ICC(C,1)", "–", decimals(beside["icc_C1"], 4), decimals(consistency, 4)))
    assert decimals(found.value) == printed.SPAMMER_INDEX
    assert found.lower > 0.1
    profile = golden["profile_worker_task_sd_laplace_minus2ll"]
    rise = profile["0.3"] - profile["0"]
    return f"""## Tables 1 and 4: the Spammer Index and agreement

{table(("MTurk", "printed", "R", "karat"), lines)}
The paper gives no interval. karat's, by profile likelihood, is {decimals(found.lower)} to {decimals(found.upper)}.
All of it is above .10. The reading that about SI x N workers deserve a look means
{round(found.lower * found.participants)} to {round(found.upper * found.participants)} of {found.participants}, not just
{round(found.value * found.participants)}.

- The column that table 4 heads ICC(C,1) holds ICC(A,1), absolute agreement, as the text below the table says. The
  consistency version is {decimals(consistency)}.
- The model of the paper has a workers:tasks variance too. With one answer per cell it is not identified. In the Laplace
  approximation it goes to zero: forcing its standard deviation up to 0.3 raises the deviance by {rise:.1f}. karat
  leaves it out, and the other variances are the same.
"""


def added(crowds: Crowds, drawn: dict[str, str]) -> str:
    """Figure 2: the index as workers are added."""
    golden = crowds.golden["simulated"]["authors_pool_sim"]
    lines, rows = [], []
    for kind, name in KIND_NAMES.items():
        for share in SHARES:
            judgments = pool_of(crowds, kind, share)
            found = spammer_index(judgments)
            known = golden["pct0" if not share else f"{kind}{share}"]
            people = found.participants
            assert people == known["n_workers"]
            more = people - golden["pct0"]["n_workers"]
            rows.append((name, more / people, more, found.value, found.lower, found.upper))
            if share or kind == next(iter(POOL_KINDS)):
                interval = f"{decimals(found.lower)} to {decimals(found.upper)}"
                lines.append((
                    name if share else "none", more, f"{100 * more / people:.1f}",
                    *(decimals(value, 4) for value in (known["published_SI"], known["SI"], found.value)), interval,
                ))  # fmt: skip
                assert decimals(found.value, 4) == decimals(known["published_SI"], 4) == decimals(known["SI"], 4)
    columns = ("kind", "share", "added", "value", "lower", "upper")
    together = pl.DataFrame(rows, schema=columns, orient="row")
    shown = keep(
        drawn,
        "figures/crowd-index.svg",
        "Spammer Index by added workers",
        index_plot(together, SUSPICIOUS),
        "simulated",
    )
    header = ("added workers", "number", "% of all", "published", "R", "karat", "95 % interval")
    least = together.filter(pl.col("added") == 0)["value"][0]
    return f"""## Figure 2: what raises the index

To the same {golden["pct0"]["n_workers"]} credible workers more and more workers of one kind are added. The figure
prints no numbers; "published" are those of the authors' workbook, from which the workers come too.

{table(header, lines)}
All agree to four decimals. The points say what the paper
says: the index answers most to workers who keep to one choice. They say more:

- The credible workers alone have {decimals(least)}, above the paper's own line of .10. Their own effects
  make up so much of the variance, and the index cannot tell these from spamming.
- Between 10 and 30 % of guessers or of alternating workers the index hardly moves.
- At 20 % the authors added 15 of one half of a kind and 13 of the other (27 guessers); found by trying.

`index_by_share` computes it for any data, with simulated workers added to the real ones. Here
from the authors' pool:

{shown}"""
