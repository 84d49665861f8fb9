"""Appendix B: Thurstone's model on simulated choices, beside the truth and a converged posterior."""

from __future__ import annotations

import numpy as np

from karat.measure import strengths
from karat.types import Floats
from tools.replication.markdown import decimals, table
from tools.replication.measures.data import Pairs

READINGS = "criterion_per_participant"


def thurstone(pairs: Pairs) -> str:
    """Strengths of 300 sentences from 15,000 choices."""
    found = strengths(pairs.simulated, "thurstone")
    by_item = dict(zip(found.frame["item"], found.frame["estimate"], strict=True))
    ours = _standard(np.array([by_item[item] for item in sorted(by_item)]))
    golden = pairs.golden[READINGS]
    truth = _standard(np.array(pairs.golden["truth"]["alpha"]))
    means = {name: np.array(golden[name]["alpha"]["mean_over_sd_alpha"]) for name in ("reference", "jags")}
    spread = np.array(golden["reference"]["alpha"]["sd_over_sd_alpha"])
    posterior, jags = (_standard(values) for values in means.values())
    estimates = {"karat": ours, "converged posterior": posterior, "JAGS, as it stopped": jags}
    rows = [
        (name, decimals(float(np.corrcoef(values, truth)[0, 1]), 4), f"{np.sqrt(np.mean((values - truth) ** 2)):.3f}",
         decimals(float(np.corrcoef(values, posterior)[0, 1]), 4), f"{np.abs(values - posterior).mean():.3f}",
         f"{(np.abs(values - posterior) / spread).max():.1f}")
        for name, values in estimates.items()
    ]  # fmt: skip
    assert np.corrcoef(ours, posterior)[0, 1] > 0.998
    signs = np.sign(truth[::2] - truth[1::2]) == np.sign(ours[::2] - ours[1::2])
    header = (
        "estimate", "correlation with the truth", "root mean square error", "correlation with the posterior",
        "mean distance", "largest, in posterior sd",
    )  # fmt: skip
    people = pairs.simulated.frame["participant"].n_unique()
    return f"""## Appendix B: Thurstone's model

The authors' choices are not public. The model is tried on {len(pairs.simulated):,} simulated ones ({people}
participants,
{len(by_item)} sentences compared at random, three answers, a criterion of each participant's own). The likelihood does
not change when strengths, variabilities and criteria are multiplied together, nor when strengths are shifted; only the
priors fix the scale. So strengths are compared after centring and division by their standard deviation.

{table(header, rows)}
The converged posterior is that of the printed model, by another sampler; JAGS, run on the model as printed, had not
converged (R-hat up to {golden["jags"]["alpha"]["rhat_max"]:.1f}). karat's estimates are the base installation's:
penalised
maximum likelihood in a parameterisation without the redundancy. Of the {len(signs)} target pairs, which were compared
directly only by chance, {int(signs.sum())} have the right sign.

Open in the paper: whether the criterion is each participant's (the text) or shared (table 3); karat has both
(`criterion="participant"`, `"shared"`). Weibull(λ, ν) makes sense only as JAGS has it, with a shape and a rate, and the
second argument of N only as a standard deviation.
"""


def _standard(values: Floats) -> Floats:
    return np.asarray((values - values.mean()) / values.std())
