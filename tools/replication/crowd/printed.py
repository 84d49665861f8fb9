"""What the paper prints (Ba, Mancenido, Chiou and Pan), typed in as it stands there; the MTurk rows of its tables."""

from __future__ import annotations

# Table 1.
SPAMMER_INDEX = ".166"

# Table 2, before and (in brackets there) after the time filter.
TABLE_2 = {
    "all": (29, 18), "primary choice": (18, 12), "repeated pattern": (6, 5), "random guessing": (5, 1),
    "accuracy below the mean": (22, 15), "accuracy below the mean - SD": (11, 7),
}  # fmt: skip
# The text after table 2: shares of those flagged whose accuracy is below the mean, and below the mean - SD.
TEXT_2 = {"accuracy below the mean": ("74.86", "83.33"), "accuracy below the mean - SD": ("37.93", "38.89")}

# Table 3: flagged by deletion; below the mean; below the mean - SD.
TABLE_3 = (6, 6, 5)

# Table 4. The column is headed ICC(C,1) in the table, and ICC(A,1) in the text below it.
RISK = {"high": 9, "moderate": 17, "undetermined": 9}
AGREEMENT = {"Fleiss' kappa": ".435", 'ICC(A,1), printed as "ICC(C,1)"': ".438", "ICC (fixed error)": ".111"}

# Tables 5 and 6.
TABLE_5 = {
    "(Intercept)": ("0.1214", "0.0379"), "difficulty": ("7.312e-16", "9.563e-16"), "condition": ("0.2715", "0.7463"),
    "difficulty:condition": ("6.588e-11", "2.357e-05"),
}  # fmt: skip
TABLE_6 = {
    "(Intercept)": ("0.24218", "0.36485"), "difficultyeasy": ("1.72905", "1.98470"),
    "conditionpreAI3": ("0.07139", "0.04418"), "conditionsoft": ("0.12781", "0.06879"),
    "difficultyeasy:conditionpreAI3": ("0.17292", "0.18483"), "difficultyeasy:conditionsoft": ("0.81746", "0.65937"),
}  # fmt: skip

# "Empirical Average KLD Cutoffs": cutoffs and type II errors; the statistic of the Kolmogorov-Smirnov test of the
# guessers; the type II error of guessers with 2,000 tasks.
CUTOFFS = {"primary choice": 3.367109, "repeated pattern": 3.924257, "random guessing": 0.002212449}
TYPE_TWO = {"primary choice": 0.0044, "repeated pattern": 0.0547, "random guessing": 0.8248}
KOLMOGOROV_SMIRNOV = 0.4524
TYPE_TWO_AT_2000 = 0.4352

# "Deletion Analysis" of the simulation study: the index of the credible workers and of all, how many of 12 are found.
INDEX_CREDIBLE, INDEX_ALL = 0.01272426, 0.0607043
FOUND_BINARY = FOUND_ORDINAL = FOUND_NOMINAL = 12

# Appendix C: spammers of 12 found in all tasks at .05, and in tasks 41 to 80 at .1.
HALFWAY_ALL, HALFWAY_WINDOW = 11, 12
