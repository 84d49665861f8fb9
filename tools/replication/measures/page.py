"""The page on measures: what is printed by Langsford and others and by Macketanz and others, and what karat gives.

Whatever the page says in words about the numbers is asserted where it is said.
"""

from __future__ import annotations

from pathlib import Path

from tools.replication.markdown import wrapped
from tools.replication.measures import choices, decided, dimensions, sentences, simulated
from tools.replication.measures.data import load_differentials, load_pairs


def page(reference: Path) -> dict[str, str]:
    """The page and its figures, by their paths in docs/replication."""
    pairs, data = load_pairs(reference), load_differentials(reference)
    drawn: dict[str, str] = {}
    text = "\n".join((
        introduction(), sentences.sentence_list(pairs), sentences.attention(pairs), decided.disagreements(pairs, drawn),
        decided.magnitudes(pairs), simulated.four_measures(pairs, drawn), choices.thurstone(pairs),
        dimensions.adjectives(data), dimensions.extraction(data, drawn), dimensions.reduction(data),
        dimensions.uses(data),
    ))  # fmt: skip
    return {"measures.md": wrapped(text)} | drawn


def introduction() -> str:
    """What is replicated, what cannot be, and how to do it again."""
    return """<!-- Made by tools/make_replication.py; do not edit. -->

# Measures

This page walks through the appendix of Langsford, Perfors, Hendrickson, Kennedy and Navarro (2018, ways of measuring
acceptability and their test-retest reliability) and the pipeline of Macketanz and others (2022, perceptual
dimensions of machine-generated text). The data are not part of karat.

The judgments of neither study are public. What can be repeated, and what cannot:

- The list of 150 pairs and the published table of decisions can be read and counted. The decisions themselves cannot be
  made again.
- Magnitude estimates of the same sentences, by others, are public as means.
- Thurstone's model is tried on simulated choices with a known truth and a converged posterior beside it.
- Of the semantic differential, only the list of adjectives and means from further studies are public. The factor
analysis
  is tried on simulated ratings and compared with R. Cleansing counts and loadings of the paper cannot be found again.

Each section says which data are simulated. With the reference data beside the checkout, in `../shared/reference`, the
page is made by

```sh
make replication
```
"""
