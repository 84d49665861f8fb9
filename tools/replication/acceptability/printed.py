"""What the paper prints in section 5 (Pieper, Börner and Kiss), typed in as it stands there."""

from __future__ import annotations

K = (2, 3, 4, 5, 6, 7, 8, 9, 10, 12)
"""The columns of tables 2 and 3; there is none for 11."""

# Table 2, section 5.2.2: at least k of N choices of two right by chance.
TABLE_2 = """
4  .688 .312 .062
6  .891 .656 .344 .109 .016
8  .965 .855 .637 .363 .145 .035 .004
10 .989 .945 .828 .623 .377 .172 .055 .011 .001
12 .997 .981 .927 .806 .613 .387 .194 .073 .019 .000
14 .999 .994 .971 .910 .788 .605 .395 .212 .090 .006
16 1.000 .998 .989 .962 .895 .773 .598 .402 .227 .038
"""

# Table 3 (a): unacceptable sentences on five points, chance .6 (the neutral point is right).
TABLE_3A = """
4  .821 .475 .130
6  .959 .821 .544 .233 .047
8  .991 .950 .826 .594 .315 .106 .017
10 .998 .988 .945 .834 .633 .382 .167 .046 .006
12 1.000 .997 .985 .943 .842 .665 .438 .225 .083 .002
14 1.000 .999 .996 .982 .942 .850 .692 .486 .279 .040
16 1.000 1.000 .999 .995 .981 .942 .858 .716 .527 .167
"""

# Table 3 (b): the same, chance .4 (the neutral point is wrong).
TABLE_3B = """
4  .525 .179 .026
6  .767 .456 .179 .041 .004
8  .894 .685 .406 .174 .050 .009 .001
10 .954 .833 .618 .367 .166 .055 .012 .002 .000
12 .980 .917 .775 .562 .335 .158 .057 .015 .003 .000
14 .992 .960 .876 .721 .514 .308 .150 .058 .018 .001
16 .997 .982 .935 .833 .671 .473 .284 .142 .058 .005
"""

# Table 4: N, k and p of grammatical controls, k and p of ungrammatical controls, joint p. Its conditions are in
# footnote 20: each p below .6, each k less than N, for N from 2 to 8.
TABLE_4 = """
5 4 .337 4 .087 .029
6 5 .233 4 .179 .042
6 4 .544 5 .041 .022
6 5 .233 5 .041 .010
7 6 .159 4 .290 .046
7 5 .420 5 .096 .040
7 6 .159 5 .096 .015
7 5 .420 6 .019 .008
7 6 .159 6 .019 .003
8 5 .594 6 .050 .030
8 6 .315 6 .050 .016
"""

# Table 5: pairs, possible outcomes, pure (s > 0), extended (s >= 0.5).
TABLE_5 = """
1 25 .4000 .2400
2 625 .4320 .1120
3 15625 .4440 .0449
4 390625 .4511 .0296
5 9765625 .4561 .0140
6 244140625 .4598 .0076
7 6103515625 .4627 .0045
8 152587890625 .4651 .0026
"""

# Footnote 22: the 95 % quantile of the distances that guessing gives, by number of pairs.
QUANTILES = {1: 0.75, 3: 0.5, 5: 0.35}

# Section 5.1: equations (1) and (2), and the sentence on 90 % of trials before them. The constant of the MAD is not
# printed; "surmounts or falls below" is what the text says of the comparison.
REMFOD = {"upper": "2.5", "lower": "1.5", "mad_constant": "not stated", "genuine_at_least": "90 %"}
COMPARISON = '"surmounts or falls below"'

# Section 5.2, in the running text: the smallest numbers of trials that forgive a slip, with how many must be right.
# 2AFC: end of 5.2.1 and section 6; neutral point right or wrong: "Attention trials"; both kinds: before table 4;
# means half the range apart: after table 5 ("three pairs").
SMALLEST = {
    "choices of two": "7 of 8",
    "ungrammatical, neutral point right": "9 of 10",
    "ungrammatical, neutral point wrong": "5 of 6",
    "both kinds, in each": "4 of 5",
    "means half the range apart": "3 pairs",
}


def rows(text: str) -> list[list[str]]:
    """The cells of a printed table, row by row."""
    return [line.split() for line in text.strip().splitlines()]
