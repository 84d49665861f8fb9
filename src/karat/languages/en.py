"""The sentences of messages, methods and preregistrations in English."""

from __future__ import annotations

from karat.languages.language import FORMS, MESSAGE_FORMS, Language

NOUNS = {
    "participant": ("participant", "participants"), "item": ("item", "items"), "test item": ("test item", "test items"),
    "list": ("list", "lists"), "trial": ("trial", "trials"), "answer": ("answer", "answers"),
    "condition": ("condition", "conditions"), "question": ("question", "questions"), "day": ("day", "days"),
    "stimulus": ("stimulus", "stimuli"), "attempt": ("attempt", "attempts"), "page": ("page", "pages"),
    "mark": ("mark", "marks"), "minute": ("minute", "minutes"), "pair": ("pair", "pairs"),
    "factor": ("factor", "factors"), "time": ("time", "times"), "step": ("step", "steps"),
    "intermission": ("intermission", "intermissions"), "rush": ("rush", "rushes"), "round": ("round", "rounds"),
    "slip": ("slip", "slips"), "response time": ("response time", "response times"), "score": ("score", "scores"),
    "label": ("label", "labels"), "group": ("group", "groups"), "comparison": ("comparison", "comparisons"),
    "repeated question": ("repeated question", "repeated questions"), "simulation": ("simulation", "simulations"),
    "case": ("case", "cases"), "text": ("text", "texts"), "rating": ("rating", "ratings"),
}  # fmt: skip

TEXTS = {
    "yes": "yes", "no": "no",
    # What is asked.
    "task.yes-no": "participants [answered|will answer] {low:quoted} or {high:quoted} for each stimulus.",
    "task.likert": "participants [rated|will rate] each stimulus on a scale of {points:spelled} points{ends}{slider}.",
    "task.choice": "in each trial, participants [saw|will see] two stimuli and [chose|will choose] one of them{none}.",
    "task.magnitude": "participants [assigned|will assign] each stimulus a number in proportion to its "
    "acceptability{modulus} [@bard1996].",
    "task.differential": "participants [rated|will rate] each text on {pairs:pair} of opposite adjectives, each on a "
    "scale of {points:spelled} points{slider} [@osgood1957; @macketanz2022].",
    "task.label": "participants [assigned|will assign] each stimulus one of {number:spelled} labels ({levels}).",
    "task.continuous": "participants [rated|will rate] each stimulus on a continuous scale from {low} to {high}.",
    "task.number": "participants [answered|will answer] each stimulus with a number.",
    "ends": " from {low:quoted} to {high:quoted}",
    "slider": ", using a slider without a starting position",
    "none": " or [answered|will answer] “no difference”",
    "modulus": ", relative to a modulus of {number}",
    "repeated": "To measure consistency, {pairs:spelled pair} [were|will be] presented twice.",
    "prompt": "The question {prompt:quoted} [appeared|will appear] in every trial.",
    "factors": "The design [had|will have] {number:spelled factor}: {factors:and}.",
    "within.": "within participants and items", "within.items": "between items",
    "within.participants": "between participants",
    "compared": "The levels of {factor} [were|will be] shown side by side.",
    "items": "The materials [comprised|will comprise] {tests:spelled test item} in {lists:spelled list}.",
    "items.conditions": "The materials [comprised|will comprise] {tests:spelled test item} in "
    "{conditions:spelled condition}, distributed over {lists:spelled list}.",
    "example": "One of the test items, for example, [was|is] {sentence:quoted}[[ ({levels})]].",
    "subset": "Each participant [judged|will judge] {items:item}, and each item [was|will be] judged by "
    "{participants:participant}.",
    "random pairs": "Each participant [also saw|will also see] {pairs:pair} drawn at random.",
    "functions": "Each list [had|will have] {trials} ({functions}).",
    "function.test": "test", "function.filler": "filler", "function.control": "control",
    "function.attention": "attention", "function.calibration": "calibration", "function.practice": "practice",
    "trials": "{functions} trials",
    "range": "{low} to {high}",
    "clear": "{functions} [had|will have] a clearly correct answer [@pieper].",
    "repeated items": "To measure consistency, {items:item} [were|will be] judged twice in the same session.",
    "rounds": "The items [were|will be] judged {times:spelled time}, in a new order each time.",
    "sessions": "There [were|will be] two sessions{days}.",
    "days": ", at least {days:day} apart",
    "order": "Trials [were|will be] presented in a new random order for each participant.",
    "order.rules": "Trials [were|will be] presented in a new random order for each participant, with the following "
    "constraints: {rules}.",
    "order.calibration": "calibration trials first",
    "order.adjacent": "no two test trials in succession",
    "order.spread": "{functions} trials evenly spread",
    "order.in_a_row": "at most {number:spelled} trials in a row with the same {column}",
    "order.distance": "trials with the same {column} at least {number:spelled} positions apart",
    "order.keep_ratio": "the same share of test trials in every quarter",
    "order.mixed_blocks": "trials divided into {number:spelled} blocks of equal composition",
    "quiz": "Before the trials, participants [took|will take] a quiz of {questions:spelled question} on the "
    "instructions, with at most {attempts:spelled attempt}.",
    "browser": "The experiment ran in participants' browsers with karat, which uses jsPsych [@deleeuw2015].",
    "answers": "The data set contains {answers:answer} to {items:item} from {participants:participant} (median: "
    "{median} per participant).",
    "answers.functions": "The answers come from {functions}.",
    # Who is asked.
    "simulated": "These answers are simulated: nobody gave them. They show what a report on this study would look like "
    "and say nothing about people or language.",
    "simulated.some": "Of {participants:participant}, {number} are simulated: nobody gave their answers. Leave them "
    "out before you draw conclusions.",
    "simulated.methods": "The data were simulated with karat to try out the study before recruitment. No participants "
    "were recruited; participants, answers and response times in this section are simulated.",
    "simulated.methods.some": "Of {participants:participant}, {number} were simulated with karat; nobody gave their "
    "answers.",
    "simulated.took part": "The data are from {participants:participant}, all of them simulated.",
    "platform": "Participants [were|will be] recruited through {platform}; the target [was|is] {number} eligible "
    "participants.",
    "source.link": "a link to the study",
    "sample size": "The sample size [was|is] based on simulations[[ of {simulations} studies]]: with "
    "{participants:participant} and {items:test item}, {effect} in the contrast {contrast:quoted} is detected with a "
    "power of {power:.2r} at α = {alpha}[[, if {exclude:%} of participants are excluded]].",
    "effect": "a difference of {effect} {unit}",
    "unit.log-odds": "log-odds", "unit.scale": "points on the response scale",
    "pay": "Participants [were|will be] paid {currency} {pay:.2} per hour.",
    "minutes": "The advertised duration [was|is] {minutes}.",
    "eligible": "Only participants who [answered|answer] {answers:or} to the question {question:quoted} [were|will be] "
    "eligible.",
    "asked": "Participants [were also|will also be] asked about {columns:and}.",
    "consent": "All participants [gave|will give] informed consent.",
    "ethics": "The study was approved by {ethics}.",
    "took part": "A total of {participants:participant} took part.",
    "sources": "They were recruited through {counts:and}.",
    "when": "Data were collected between {first} and {last}.",
    "when.day": "Data were collected on {first}.",
    "working.minutes": "The median duration was {median:.1} minutes (range: {low:.1} to {high:.1}).",
    "working.seconds": "The median duration was {median:.1} seconds (range: {low:.1} to {high:.1}).",
    "background": "Participants' background was as follows: {columns}.",
    "background.number": "{column}: median {median}, range {low} to {high}",
    "count.missing": "not known ({number})",
    # Who is excluded.
    "rules.study": "The exclusion criteria, their settings and the exclusion rule were those of the study file "
    "(fingerprint {fingerprint}).",
    "rules.other": "The exclusion criteria or the exclusion rule differed from those of the study file (fingerprint "
    "{fingerprint}).",
    "rules.given": "The exclusion criteria were chosen for this analysis and are not part of a study file.",
    "rules.none": "No exclusion rule [was|is] stated, so nobody [was|will be] excluded.",
    "stages": "The criteria [were|will be] applied in three stages (completion, response times, answers); participants "
    "excluded at one stage [were|will be] left out of the next.",
    "asks": "The criteria [required|will require] the following.",
    "flagged": "{name}: {clause}{cites}; {number} of {participants:participant} flagged.",
    "stage.excluded": "This stage excluded {number} of {entered} participants, leaving {remained}.",
    "stage.nobody": "Nobody was excluded at this stage.",
    "skipped": "{name} could not be computed. {why}",
    "rule.any": "flagged by any criterion", "rule.all": "flagged by all criteria",
    "rule.number": "flagged by at least {number} criteria",
    "rule.expression": "who [met|meet] the rule “{rule}”",
    "rule": "Participants {rule} [were|will be] excluded.",
    "verdict": "In total, this excluded {number} of {participants:participant}, leaving {kept} for analysis.",
    "index": "The Spammer Index [@ba2024] of analysed participants was {value:.3r} (95 % CI {lower:.3r} to "
    "{upper:.3r}).",
    "no study": "There is no study file, so there is nothing to preregister.",
    "no screening": "The study file states no exclusion criteria, so nobody will be excluded.",
    "fingerprint": "The fingerprint of the study file and its tables is {fingerprint}.",
    "nobody else": "No other exclusion criteria will be applied.",
    # What a participant must meet, criterion by criterion.
    "needs": "it [flagged|will flag] anyone {asks}",
    "needs.eligibility": "required answers, namely {answers}",
    "needs.eligibility.same": "matching answers, namely {same}",
    "needs.quiz": "a pass in the quiz after at most {attempts_at_most} attempts",
    "needs.completion": "answers to at least {at_least} of the trials, and no second participation",
    "needs.completion.trials": "answers to at least {at_least} of {trials} trials, and no second participation",
    "needs.speed.mean_below": "a mean response time of at least {mean_below} s",
    "needs.speed.median_below": "a median response time of at least {median_below} s",
    "needs.speed.relative_below": "a median response time of at least {relative_below} of the median participant's",
    "needs.speed.share_of_expected": "a working time of more than {share_of_expected} of {expected_minutes} minutes",
    "needs.remfod": "at least {genuine_at_least} genuine response times, that is, times at most {upper} median "
    "absolute deviations above and {lower} below the median by participant and by item function, determined "
    "iteratively",
    "needs.remfod.rule": "at least {genuine_at_least} of response times that are not outliers by the rule {rule}",
    "needed": "at least {needed} of {trials} correct",
    "needed.group": "at least {needed} of {trials} {group} trials correct",
    "needs.automation": "a probability of automation of at most {above}, given the traces of pointer and keyboard",
    "needs.receipt_times": "response times that fit between the server's receipt times within {slack} s, a reading "
    "speed of at most {words_per_minute} words per minute, and a clock that does not run backwards",
    "needed.guess": "guessing passes with p {p:p}", "group.grammatical": "grammatical",
    "group.ungrammatical": "ungrammatical", "account.positional": "positional", "account.relational": "relational",
    "account.extended": "extended relational", "account.strict": "strict", "account.pairwise": "pairwise",
    "needs.controls": "clear cases distinguished on the {account} account at α = {alpha}",
    "needs.controls.slips": "clear cases distinguished on the {account} account, with at most {slips} wrong",
    "needs.attention": "correct answers on the {account} account at α = {alpha}",
    "needs.attention.slips": "correct answers on the {account} account, with at most {slips} wrong",
    "needs.controls.neutral": "at most {neutral_at_most} neutral answers to control trials",
    "needs.straightlining": "no run or pattern of answers with a chance probability below {alpha}",
    "needs.inconsistency": "repeated answers that agree better than guesses, so that guessing passes with p ≤ {alpha}",
    "needs.inconsistency.upper": "a difference between repeated answers of at most {upper} median absolute deviations "
    "above the median",
    "needs.scale_use": "at most {neutral_at_most} neutral answers",
    "needs.even_odd": "a correlation between the two halves of the answers of at least {at_least}",
    "needs.mahalanobis": "a distance from the answers of all participants with p ≥ {alpha}",
    "needs.person_total": "a correlation with the mean answers of the others of at least {at_least}",
    "needs.time_filter.mean": "a mean response time not below the mean of all response times",
    "needs.time_filter.mean-sd": "a mean response time no more than one standard deviation below the mean of all "
    "response times",
    "needs.markov": "no pattern in the transitions between answers, with {cutoffs} cutoffs and α = {alpha}",
    "needs.risk": "no high risk level by pattern, time and accuracy, with {cutoffs} cutoffs and α = {alpha}",
    "needs.deletion": "no large change in the model of all answers by the {by} rule at α = {alpha}",
    "needs.credence": "an estimated probability of at least {below} of having answered attentively",
    "needs.twins": "at most {at_least} of the open answers in common with another participant, at a false discovery "
    "rate of {rate}",
    "needs.too_regular": "answers and times no more regular than people's, at a false discovery rate of {rate}",
    "needs.platform_flags": "fewer than {at_least} flags by the platform's own fraud detection",
    "needs.probes": "fewer than {at_least} probes answered as programs answer them",
    "needs.procedure": "not all steps met: Spammer Index from {least_index} on, {order}, auxiliary factor {auxiliary}, "
    "{cutoffs} cutoffs, α = {alpha}",
    # How it is measured.
    "analysed": "Only {functions} [entered|will enter] the analysis. All intervals [are|will be] {level:%} intervals.",
    "strengths.ordinal": "The acceptability of {stimuli} [was|will be] estimated with a cumulative logit model with "
    "random effects for participants and stimuli [@mccullagh1980].",
    "strengths.binary": "The acceptability of {stimuli} [was|will be] estimated with a logit model with random effects "
    "for participants and stimuli [@bates2015].",
    "strengths.mean": "The acceptability of {stimuli} [was|will be] measured by mean answers.",
    "strengths.zscore": "The acceptability of {stimuli} [was|will be] measured by means of answers standardised within "
    "participants.",
    "strengths.magnitude": "The acceptability of {stimuli} [was|will be] measured by means of log answers, "
    "standardised within participants [@bard1996].",
    "strengths.thurstone": "The acceptability of {stimuli} [was|will be] estimated with Thurstone's model for three "
    "answers, in which participants differ in variability and criterion [@thurstone1927; @langsford2018].",
    "strengths.davidson": "The acceptability of {stimuli} [was|will be] estimated with Davidson's model, which treats "
    "“no difference” as a third answer [@davidson1970].",
    "strengths.bradley-terry": "The acceptability of {stimuli} [was|will be] estimated with the Bradley–Terry model "
    "[@bradley1952].",
    "all stimuli": "all stimuli",
    "contrasts.ordinal": "Conditions [were|will be] compared in a cumulative logit mixed model, {formula} "
    "[@mccullagh1980; @barr2013], using Type III F tests with Satterthwaite degrees of freedom [@satterthwaite1946; "
    "@kuznetsova2017] and Holm-adjusted p values within terms [@holm1979].",
    "contrasts.binary": "Conditions [were|will be] compared in a logit mixed model, {formula} [@bates2015; @barr2013], "
    "using Type III F tests with Satterthwaite degrees of freedom [@satterthwaite1946] and Holm-adjusted p values "
    "within terms [@holm1979].",
    "contrasts.gaussian": "Conditions [were|will be] compared in a linear mixed model, {formula} [@bates2015; "
    "@barr2013], using Type III F tests with Kenward–Roger standard errors and degrees of freedom [@kenward1997; "
    "@halekoh2014] and Holm-adjusted p values within terms [@holm1979].",
    "contrasts.right": "Right answers [were|will be] compared between conditions in a logit mixed model, {formula} "
    "[@bates2015; @barr2013], using Type III F tests with Satterthwaite degrees of freedom [@satterthwaite1946] and "
    "Holm-adjusted p values within terms [@holm1979].",
    "means.right": "The proportions of right answers were {cells:and}.",
    "simplified": "Because the fit was singular, its random effects were simplified in {times:spelled step} to "
    "{formula}.",
    "slopes left out": "Random slopes of {groups:and} were left out because of the number of random effects.",
    "simplify": "Slopes will vary by participant and by item wherever the design has several answers per cell. If the "
    "fit is singular, the correlations of the participant or item term in question will be removed first. The effects "
    "that vary least will then be removed one at a time, until the fit is no longer singular. Everything that is "
    "removed will be reported.",
    "means": "Means (with standard deviations) on the response scale[[ for {question:quoted}]] were {cells:and}.",
    "means.binary": "The proportions of {answer:quoted} answers[[ to {question:quoted}]] were {cells:and}.",
    "mean": "{mean:.2} ({sd}) for {levels:quoted}",
    "mean.binary": "{mean:.2r} for {levels:quoted}",
    "planned contrast": "The planned comparison [was|is] {contrasts}. Its p value is not adjusted.",
    "planned contrasts": "The planned comparisons [were|are] {contrasts}. Their p values are unadjusted; Holm-adjusted "
    "p values [@holm1979] are also reported.",
    "contrast.within": ", where {levels:and}", "contrast.at": "at",
    "part.order effects": "Order effects are changes of {measures:and} from the first to the last trial[[, "
    "{conditions},]] in a mixed model.",
    "order.response": "answers", "order.rt": "log response times", "order.conditions": "by condition",
    "part.decisions": "Pairs of stimuli were compared with tests of which stimulus is better and with equivalence "
    "tests [@langsford2018].",
    "part.agreement": "Agreement between participants, measured by {coefficient}{cites}, was {estimates:and}.",
    "agreement.estimate": "{estimate:.2r}[[ ({level:%} bootstrap interval: {lower:.2r} to {upper:.2r})]][[ for "
    "{question:quoted}]]",
    "alpha.ordinal": "Krippendorff's α for ordinal data", "alpha.interval": "Krippendorff's α for interval data",
    "alpha.nominal": "Krippendorff's α for nominal data",
    "part.noise ceiling": "The best any model could predict (the noise ceiling) was estimated from the split-half "
    "reliability and from the correlation of each participant with the others [@nili2014].",
    "part.noise ceiling.labels": "The best any model could predict (the noise ceiling) was estimated as the share of "
    "answers that equal the majority answer of the other participants.",
    "part.decision study": "The numbers of participants and items needed for reliable means were derived from variance "
    "components [@brennan2001].",
    "part.stability": "Stability is the correlation of scores between sessions or groups, with bootstrap intervals "
    "[@langsford2018].",
    "part.factors": "Dimensions [were|will be] identified by factor analysis (maximum likelihood, promax rotation) "
    "[@hendrickson1964; @macketanz2022]. Their number [was|will be] based on parallel analysis [@horn1965] and "
    "Velicer's criterion [@velicer1976], after a check of sampling adequacy [@kaiser1974].",
    "part.consensus": "The label of each item [was|will be] estimated together with participants' error rates "
    "[@dawid1979].",
    "bayes": "A Bayesian mixed model of the same answers [was|will be] sampled by NUTS [@hoffman2014]. Its priors "
    "[were|will be] normal (standard deviation {coefficient}) for differences, half Student t with 3 degrees of "
    "freedom (scale {deviation}) for standard deviations of random effects, and LKJ({correlation}) for their "
    "correlations. Bayes factors [were|will be] computed as Savage-Dickey ratios [@wagenmakers2010].",
    "unmeasured": "Nothing was measured. {why}",
    "software": "All analyses were run with karat {karat} ({others}).",
    "software.planned": "All analyses will be run with karat {karat}.",
}  # fmt: skip

MESSAGES = {
    # ==================== models ====================
    "models.names": "{names}[[ and {more} more]]",
    "models.no_p": "not known",
    "models.same_answers": "All answers are the same, so there is nothing to fit.",
    "models.two_of_each": "Crossed effects need at least two participants and two items.",
    "models.two_values": "A binary model needs two different answers; there are {n}.",
    "models.no_answers": "There are no answers to fit.",
    "models.no_start": "The likelihood cannot be computed at the starting parameters. Parameters must be finite, "
    "thresholds must increase, and measured answers must leave a residual.",
    "models.nominal_size": "{workers} participants × {tasks} items × {categories} categories are too many for a "
    "nominal model. Fit fewer categories or some of the items.",
    "models.effects_size": "There are too many random effects: {first} on one side and {second} on the other. Remove "
    "slopes or nested terms.",
    "models.one_level": "{group} has only one level, so its effects cannot vary.",
    "models.passes": "The search had not ended after reading the answers {n} {n:time|times}.",
    "models.sample_tasks": "The first participant of the sample answered more than {tasks} items. Allow more items.",
    "models.no_variance": "Neither participants nor items vary, so the share is not defined.",
    "models.share": "{value:.4}, {level:%} interval from {lower:.4} to {upper:.4}.",
    "formula.at": "{formula:quoted}, position {position}: {problem}",
    "formula.unexpected": "{text:quoted} is not allowed here.",
    "formula.no_response": "the response is missing. Write “response ~ terms”.",
    "formula.ends": "the formula ends where a name is expected.",
    "formula.no_name": "a name is expected here, not {text:quoted}.",
    "formula.no_operator": "an operator such as + is missing before {text:quoted}. A name with a space is written in "
    "backticks, as in `my column`.",
    "formula.comparison": "a formula cannot compare values with {text:quoted}. Add a column with the result to the "
    "data.",
    "formula.one_argument": "{function}() takes one argument.",
    "formula.scale": "of scale(), only scale = FALSE can be set.",
    "formula.poly": "poly() takes a column and a degree from 1 to {most}, as in poly(x, 2).",
    "formula.poly_values": "{term} needs more than {degree} different values.",
    "formula.counts": "counts of answers cannot be the response. Give the data one row per answer.",
    "formula.ordered": "ordered() is for the response. Use factor() for a predictor.",
    "formula.as_numeric": "as.numeric() takes the name of a column.",
    "formula.open_bracket": "this bracket is never closed.",
    "formula.no_meaning": "{text:quoted} has no meaning in a formula.",
    "formula.random_product": "random terms are added, as in (1 | a) + (1 | b), not multiplied.",
    "formula.bare_bar": "random terms are written in brackets, such as (1 | participant).",
    "formula.number": "a number is the intercept, 1 or 0. For arithmetic, write I({number} ...).",
    "formula.several_tildes": "a formula has only one ~.",
    "formula.power": "the power in a formula is a whole number from 1 to 9.",
    "formula.empty_random": "this random term is empty.",
    "formula.group": "a group is a column, or columns joined by : or /, as in (1 | a/b).",
    "formula.response": "the response is a column, or made of one, such as log(rt) or -1000 / rt.",
    "formula.no_function": "there is no function {function:quoted}. Known functions are {known}. Compute anything else "
    "as a column beforehand.",
    "formula.factor": "factor() takes the name of a column.",
    "formula.arithmetic": "{operator:quoted} is not arithmetic. A function may contain + - * / and ^.",
    "formula.no_column_read": "{term} uses no column.",
    "formula.no_column_close": "there is no column {column:quoted}. Did you mean {close:quoted}?",
    "formula.no_column": "there is no column {column:quoted}. The columns are {known}.",
    "formula.not_numeric": "{column} is not numeric, so it cannot be used in arithmetic.",
    "formula.nested": "{function}() cannot be used within another function.",
    "frame.shape": "{column} must have one value per row, but has the shape {shape}.",
    "frame.type": "{column} has the type {type}. A factor consists of text, numbers or truth values.",
    "frame.unknown_levels": "{column} has {unknown}, which is not among its levels: {levels}.",
    "frame.no_rows": "No row is left.[[ {why}]]",
    "frame.left_out": "{n} of {rows} rows {n:was|were} left out: {causes}.",
    "frame.missing": "{column} is missing in {n}",
    "frame.unknown_column": "levels names {column:quoted}, which is not a column of the data.",
    "frame.lengths": "The columns differ in length: {columns}.",
    "design.dropped": "Left out because other columns determine {n:it|them}: {columns}.[[ {empty}]]",
    "design.empty": "No row has {cells:or}[[ (and {more} more)]].",
    "design.one_level": "{factor} has only one level, {levels}, so it cannot have an effect.",
    "design.sum_coding": "Factors are in sum-to-zero coding: {columns}.",
    "design.treatment_coding": "Factors are in treatment coding: {columns}.",
    "design.deviation": "{column} is {level} minus the mean",
    "design.compared": "{factor} is compared with {level}",
    "model.no_random": "{formula:quoted} has no random effects. Add one, such as (1 | participant).",
    "model.effect_twice": "{formula:quoted}: {effect} for {group} is in two random terms. Remove it from one of them.",
    "model.no_intercept": "{formula:quoted}: the intercept of ordered answers cannot be removed because thresholds "
    "take its place.",
    "model.no_order": "The answers {answers} have no order. Give it, lowest first, with levels={{\"{response}\": "
    "[...]}}.",
    "model.not_numeric": "{response} is a factor, but measured answers are numbers.",
    "model.not_binary": "{response} has {n} {n:answer|different answers}, {answers}; a binary model needs two.",
    "model.probability": "The model describes the probability of {answer}.",
    "model.no_standard_error": "{name}: {estimate} (SE unknown)",
    "wald.tests": "Type III tests of the terms.",
    "wald.f": "F({df}[[, {denominator:df}]])[[ = {statistic:.2}]][[, p {p:p}]]",
    "wald.treatment": "With treatment coding, terms that are part of an interaction are tested at the first levels "
    "of the factors they interact with (simple effects). Use sum-to-zero coding for main effects.",
    "wald.covariates": "Terms that interact with {names:and} are tested where {n:it is|they are} 0.",
    "wald.dropped": "Columns were left out, so not all terms are averages over all cells. Interpret the tests with "
    "care.",
    "wald.no_intercept": "Without an intercept, the test of the first factor is that all its means are 0.",
    "wald.not_converged": "{formula:quoted} did not converge.",
    "wald.mixture": "A variance cannot be below zero, so p is from an equal mixture of χ² with {first} and {second} "
    "degrees of freedom.",
    "wald.boundary": "A variance is tested at zero, the smallest possible value, so the true p is smaller.",
    "wald.reml": "REML criteria are compared; the fixed effects are the same.",
    "marginal.link": "Estimated marginal means on the scale of the link.",
    "marginal.response": "Estimated marginal means on the scale of the response.",
    "marginal.mean": "{cell}:[[ {mean}]][[ ({level:%} interval {lower}]][[ to {upper})]]",
    "marginal.differences": "Differences of marginal means with Holm's adjustment.",
    "marginal.difference": "{pair}:[[ {estimate}]][[ (SE {se}]][[, adjusted p {p:p})]]",
    "marginal.no_factor": "{name:quoted} is not a factor of {formula:quoted}. The factors are {factors}.",
    "marginal.no_covariate": "`at` names {name:quoted}, which is not a covariate of {formula:quoted}.",
    "marginal.both": "{names} is both a factor and a number in {formula:quoted}. Give one of them its own column.",
    "marginal.held": "{name} is held at {value}.",
    "marginal.unknown": "{n} of {means} means cannot be estimated because cells of the design are empty.",
    "intervals.wald": "Wald intervals, {level:%}.",
    "intervals.profile": "Profile intervals, {level:%}.",
    "intervals.interval": "{name}: {estimate}[[ ({lower}]][[ to {upper})]]",
    "intervals.likelihood": "Estimates and profiles are based on maximum likelihood.",
    "intervals.open": "The likelihood does not bound {names:and}.",
    "intervals.not_converged": "A model that did not converge has no profile. {convergence}",
    "fit.binary": "yes-or-no",
    "fit.ordinal": "ordered",
    "fit.gaussian": "measured",
    "fit.workers": "participants",
    "fit.tasks": "items",
    "fit.cells": "participant–item pairs",
    "fit.residuals": "residuals",
    "fit.mixed": "{n} {kind} answers, {groups:and}: standard deviations {deviations}; log-likelihood {value:.3}.",
    "fit.mixed_reml": "{n} {kind} answers, {groups:and}: standard deviations {deviations}; log REML criterion "
    "{value:.3}.",
    "fit.levels": "{n} levels of {group}",
    "fit.residual": "residual[[ {value}]]",
    "fit.crossed": "{n} {kind} answers by {workers} participants to {tasks} items: variances {variances}; "
    "log-likelihood {value:.3}.",
    "fit.crossed_reml": "{n} {kind} answers by {workers} participants to {tasks} items: variances {variances}; log "
    "REML criterion {value:.3}.",
    "fit.nominal": "{n} nominal answers by {workers} participants to {tasks} items in {categories} categories "
    "(baseline {baseline}): variances of participants {worker_variances}, of items {task_variances}; "
    "log-likelihood {value:.3}.",
    "fit.converged": "The fit converged after {evaluations} evaluations: the gradient is at most {gradient}, half "
    "the squared Newton decrement is {decrement}, and the Hessian is positive definite.",
    "fit.not_converged": "The fit did not converge in {evaluations} evaluations: {reason}. The gradient is at most[[ "
    "{gradient}]][[, half the squared Newton decrement {decrement}]].",
    "fit.converged_scaled": "The fit converged after {evaluations} evaluations: the gradient is at most {gradient} "
    "per standard error, half the squared Newton decrement is {decrement}, and the Hessian is positive definite.",
    "fit.not_converged_scaled": "The fit did not converge in {evaluations} evaluations: {reason}. The gradient is at "
    "most[[ {gradient} per standard error]][[, half the squared Newton decrement {decrement}]].",
    "fit.reason_stopped": "the search stopped early",
    "fit.reason_hessian": "the Hessian is not positive definite",
    "fit.reason_flat": "the data do not determine {names:and}",
    "fit.reason_beside": "the likelihood could not be computed near the end of the search",
    "fit.reason_modes": "the modes of the effects were not found",
    "fit.reason_covariances": "the design does not determine the covariances of {groups:and}",
    "fit.reason_separated": "the likelihood has no maximum because the answers are perfectly separated",
    "fit.reason_column": "the coefficient of column {column} grows without bound because the column separates the "
    "answers",
    "fit.reason_variance": "the variance of {group} grows without bound because nearly all of them have the same "
    "answer throughout",
    "fit.reason_category": "a variance grows without bound because nearly all participants or items have a category "
    "always or never",
    "fit.zero_variance": "The fit is singular: the variance of {effects} for {group} is zero.",
    "fit.zero_group": "The fit is singular: the variance of {group} is zero.",
    "fit.zero_category": "The fit is singular: the variance of {group} in {category} is zero.",
    "fit.correlated": "The fit is singular: {effects:and} for {group} have a correlation of {correlation:.0}.",
    "fit.directions": "The fit is singular: the effects of {group} vary in {rank} of {effects} directions. In "
    "standard deviations, {mixture} has no variance.",
    "fit.separated": "The {n:coefficient|coefficients} of {names} cannot be estimated because {n:it separates|they "
    "separate} the answers perfectly.",
    "fit.unbounded_effects": "The standard deviation of the effects of {group} grows without bound.",
    "fit.one_answer_per_level": "{group} has one answer per level, so its variance is not identified.",
    "fit.same_answers": "For {n} of {levels} levels of {group}, all answers are the same.",
    "fit.same_answer_workers": "{n} of {workers} participants always gave the same answer.",
    "fit.cells_not_identified": "The variance of participant–item pairs is not identified because each has one "
    "answer. See `interaction_profile`.",
    "fit.sampled": "There are {all_tasks} items, more than the {limit} whose effects can be estimated at once. The "
    "model is therefore fitted to {n} answers by {workers} of {all_workers} participants, drawn at random (seed "
    "{seed}), to {tasks} items.",
    "fit.without_correlations": "{term} was singular, so its correlations were removed: {rest}.",
    "fit.without_term": "{term} had no variance, so it was removed.",
    "fit.without_effect": "{effect} for {group} had no variance, so it was removed: {rest}.",
    "fit.still_singular": "The model is still singular, but nothing more can be removed.",
    "profile.best": "Of the standard deviations tried for participant–item pairs, {best} has the highest "
    "log-likelihood. The log-likelihood is lower by {drops}.",
    "profile.drop": "{drop:.1} at {deviation}",
    "profile.not_identified": "With one answer per pair, the standard deviation is not identified.",
    "profile.not_converged": "Not every point converged.",
    "refits.worker": "participant",
    "refits.task": "item",
    "refits.ended": "The model was refitted {n} times, each time without one {group}. {failed} of the refits did not "
    "converge; half the squared Newton decrement is at most {decrement}.",
    "refits.distances": "The deviance distance is {mean:.1} on average and largest for {group} number {number}, "
    "{largest:.1}.",
    # ==================== judgments ====================
    "stimuli.conditions": "Stimuli are items by {names:and}. Use --conditions for others.",
    "stimuli.people": "Not taken as conditions, because the values never vary within a participant: {names:and}.",
    "stimuli.shown": "Not taken as conditions, because the values depend on the side or the polarity shown: "
    "{names:and}.",
    "stimuli.derived": "Not taken as conditions, because the values follow from the answers: {names:and}.",
    "stimuli.numbers": "Not taken as conditions, because the design does not fix these numbers: {names:and}.",
    "stimuli.measurements": "Not taken as conditions, because hardly two participants would share a stimulus: "
    "{names:and}.",
    "order.needed": "The order of trials is unknown. Add a column `trial` with the position of each trial (or `time`). "
    "If the rows are in the order of presentation, use --rows-in-order (Judgments.with_row_order() in Python).",
    "order.rows_in_order": "As stated, each participant's rows are in the order of presentation.",
    "order.by_time": "There is no column `trial`, so trials are ordered by the time of the answer, and by row where "
    "times are equal or missing.",
    "order.unknown": "There is neither a column `trial` nor `time`, so trials are numbered by row. Their order is "
    "unknown.",
    "order.no_sequences": "There is neither a column `trial` nor `time`, so the order of trials is unknown. Patterns "
    "of answers and changes along the questionnaire are not considered. Add a column `trial` to include them.",
    "answers.not_ordered": "{name} needs answers on an ordered scale (ratings, sliders, magnitudes, yes or no). The "
    "answers here are on another scale ({kinds:and}).",
    "answers.standardised": "The questions have different scales, so positions are standardised within each scale.",
    "answers.unordered_left_out": "{n:answer} on scales without an order {n:was|were} left out.",
    "answers.no_score": "{n:participant} {n:has|have} no score; the reason is given for each.",
    "rated.functions": "`functions` must be some of {known}, not {given}.",
    "rated.no_answers": "There are no answers to {functions:or} trials[[, only to {answered:and} trials. Use "
    "functions=[...] for others]].",
    "rated.several_questions": "The answers are to {n:question}. Use question=... for one of them: {known}.",
    "rated.no_question": "There are no answers to the question {question}.[[ Did you mean {close}?]][[ Use "
    "question=... for one of {known}.]]",
    "rated.no_column": "There is no column {column}.[[ Did you mean {close}?]]",
    "rated.second_answers": "{n:answer} left out, because the participant had answered the same stimulus before.",
    "ratings.summary": "Ratings of [[{cases:case}]][[{texts:text}]] on {pairs:pair} by {participants:participant}[[; "
    "{missing:rating} missing]].",
    "ratings.no_pair": "There is no pair {pair}; there are {known:and}.",
    "ratings.unit": "The unit of a ratings matrix is \"case\" or \"text\", not {unit:quoted}.",
    "ratings.averaged": "{n:rating} asked for more than once; the answers were averaged.",
    "ratings.one_pair": "A ratings matrix needs at least two pairs, and the column question has only one.",
    "ratings.pair_name": "A pair cannot be called {pair}, because a column has this name. Rename the question.",
    "ratings.dependent_cases": "The {cases:case} come from {participants:participant} and are not independent, so "
    "tests that treat them as independent reject too easily. In Python, factor_intervals resamples participants.",
    "ratings.no_questions": "A semantic differential needs the column question, which names the pair that was rated.",
    "ratings.no_polarity": "There is no column polarity, so every pair counts as shown one way round.",
    "ratings.polarity_missing": "{n:answer} without polarity {n:counts|count} as shown the usual way round.",
    "ratings.no_scale": "The question {question} has no scale.",
    "ratings.different_scales": "The pairs have different scales. This does not affect correlations, but means of "
    "pairs cannot be compared.",
    "ratings.no_numbers": "Answers on a {kind} scale have no numbers; a rating needs ordered points.",
    # ==================== intake ====================
    "file.encoding": "{file} is not UTF-8 and was read as {encoding}. If that is wrong, use --encoding.",
    "file.column_twice": "The column {column} occurs twice; the second one is called {copy}.",
    "file.title": "{file}: what stands above the header was left out: {texts}.",
    "file.sheets": "{file}: {n} sheets with the same columns were read: {sheets}. To read only one, use --sheet.",
    "file.column_again": "The column {column} occurs {n} times; all but the first are called {copy} to {last}.",
    "file.sheet": "{file}: the sheet {sheet} was read. To read another one ({others}), use --sheet.",
    "file.failed_formulas": "{file}: {n} {n:cell|cells} with a spreadsheet error (the first in row {row}, {sign}) "
    "{n:is|are} read as empty. Fix the formula in the spreadsheet and export the table again.",
    "rows.line": "{n:line|lines} {numbers}[[ and {more} more up to {last}]]",
    "rows.row": "{n:row|rows} {numbers}[[ and {more} more up to {last}]]",
    "rows.element": "{n:element|elements} {numbers}[[ and {more} more up to {last}]]",
    "rows.other": "{place} {numbers}[[ and {more} more up to {last}]]",
    "list.names": "{names}[[ and {more} more]]",
    "unit.rows": "rows",
    "unit.cells": "cells",
    "unit.results": "results",
    "unit.answers_and_rows": "answers and rows",
    "column.overlooked": "{column} looks like {name}. To read it as {name}, use --map {name}={column}.",
    "column.nested": "{n:The column|The columns} {columns} {n:was|were} left out because {n:it holds|they hold} "
    "{kinds:word}.",
    "participant.column": "{column} is used as the participant. For another column, use --map participant=NAME.",
    "item.column": "{column} is used as the item. For another column, use --map item=NAME.",
    "trial.negative": "{column} is negative in {n} {n:row|rows}: these trials are read as practice.",
    "trial.from_zero": "{column} counts from 0, so one was added to each trial.",
    "time.no_zone": "{n} of {times} {times:time|times} {n:has|have} no time zone (the first at [[{file}, ]]{row}) "
    "and {n:is|are} taken as UTC.",
    "personal.left_out": "[[{file}: ]]{n:The column|The columns} {columns} {n:was|were} left out because "
    "{n:it|they} may identify people.",
    "personal.left_out_unless_mapped": "{file}: {n:The column|The columns} {columns} {n:was|were} left out because "
    "{n:it|they} may identify people. To keep a column, use --map NAME=NAME.",
    "annotators.renamed": "E-mail addresses are personal data and were left out. {n} {n:annotator|annotators} known "
    "only by an address got another name (annotator_1 and so on, in order of appearance).",
    "rt.long": "Response times (rt) are read as seconds, but half of them are above {median:.0}. If they are "
    "milliseconds, divide them by 1000 (for a file: --rt-unit ms).",
    "rt.named_milliseconds": "{column} is read as milliseconds because of its name. If it is in seconds, use "
    "--rt-unit s.",
    "rt.named_seconds": "{column} is read as seconds because of its name. If it is in milliseconds, use --rt-unit ms.",
    "rt.milliseconds": "{column} is read as milliseconds because its median is {median}. If it is in seconds, use "
    "--rt-unit s.",
    "rt.below_zero": "{n:response time} below 0 {n:is|are} left out.",
    "rt.seconds": "{column} is read as seconds because its median is {median}. If it is in milliseconds, use "
    "--rt-unit ms.",
    "scale.no_answers": "There are no answers[[ to {question}]], so the scale is unknown and was set to binary. If "
    "that is wrong, use --scale.",
    "scale.choice": "The answers[[ to {question}]] are left and right (or none), so they are read as choices. If "
    "that is wrong, use --scale.",
    "scale.sides": "The answers name the left or the right item, so they are read as choices. If that is wrong, use "
    "--scale.",
    "scale.binary": "The answers[[ to {question}]] are {answers:and}, so they are read as binary. If that is wrong, "
    "use --scale.",
    "scale.one_answer": "All answers[[ to {question}]] are {answer:quoted}; {other:quoted} stands for the answers "
    "that nobody gave. To name those, use --scale nominal:{answer},...",
    "scale.nominal": "The answers[[ to {question}]] are {n} different texts[[ ({only} only as a correct answer)]], "
    "so they are read as nominal. If that is wrong, use --scale.",
    "scale.points": "The answers[[ to {question}]] are whole numbers up to {high}, so they are read as the points "
    "{low} to {high} of a rating scale. If the scale has more points, use --scale.[[ If the numbers stand for "
    "categories, use --scale nominal:{codes}.]]",
    "scale.codes": "The answers[[ to {question}]] are whole numbers from {low} to {high}, but people who disagree "
    "about an item are no closer to each other than by chance, so the numbers are read as labels. If they are points "
    "of a rating scale, use --scale ordinal:{low}-{high}.",
    "scale.symmetric": "The answers[[ to {question}]] are whole numbers, so they are read as the points {low} to "
    "{high} of a rating scale and not as preferences for one of two sides. If they are preferences, name the columns "
    "of the two sides: --map left=NAME --map right=NAME. If the scale is a different one, use --scale.",
    "scale.continuous": "The answers[[ to {question}]] are numbers from {low} to {high}, so they are read as "
    "continuous. If that is wrong, use --scale.",
    "intake.read": "{file} was read as {title}.",
    "intake.set_aside": "{n} of {units_in} {unit} {n:is not a judgment and was|are not judgments and were} set aside: "
    "{reasons:and}.",
    "intake.skipped": "{n} of {units_in} {unit} could not be read and {n:was|were} left out: {reasons:and}.",
    "table.columns": "These columns were recognised by their names: {columns}. If one is wrong, use --map.",
    "table.whole_numbers": "Answers such as {answer} are read as whole numbers.",
    "table.missing": "{n} {n:response|responses} {words:or} {n:is|are} read as missing.",
    "table.decimal_commas": "Decimal commas in {columns} are read as points. If that is wrong, use --decimal .",
    "role.empty_participant": "{column} is empty in {share} % of the rows, so participants are identified by {used}.",
    "role.functions": "The item functions come from {column}: {functions}. To undo this, use --map function=",
    "role.no_function": "{column} has {n} {n:value|values} such as {values:and}, which are not item functions, so it "
    "is read as a condition.",
    "role.no_position": "{column} holds {values:and}, not positions, so it is read as a condition.",
    "role.other_content": "{column} holds {values:and}, which is not what karat means by that name, so it is read as "
    "a condition.",
    "role.filled_items": "{n} answers to items that are no test items have nothing in {column}; {other} names their "
    "items.",
    "role.dimension": "{column} is read as the question, because it says what each participant rated.",
    "role.question": "{column} is read as the question, because participants answered each of its levels on the same "
    "items. To undo this, use --map question=",
    "role.scales": "{column} is read as the question, because its levels were answered on different scales. To undo "
    "this, use --map question=",
    "role.session": "Some participants have the same trial number more than once. {column} keeps their sessions apart.",
    "role.runs": "{n} {n:participant has|participants have} the same trial numbers more than once, so their rows are "
    "read as several sessions.",
    "role.restarts": "{column} starts again within participants, so trials are counted in the order of the rows.",
    "role.practice_order": "{column} gives several practice trials the same position, so these are numbered in "
    "the order of the rows.",
    "role.other_loops": "rows of PsychoPy outside of the loop {loop} or without an answer in it (to read another "
    "loop, name its answers: --map response=NAME; --keep-all keeps all rows)",
    "role.no_order": "{column} does not number the trials of each participant, so it is not read as a position.",
    "role.not_trials": "rows without an item and an answer",
    "role.nobody": "rows without a participant",
    "role.not_asked": "rows of other tasks and screens (--keep-all keeps them)",
    "role.other_answers": "rows of items that are answered in other words than all others (--keep-all keeps them)",
    "role.accepted": "karat's first proposals were accepted: {flags}.",
    "ask.headline": "{file} can be read as judgments once {n:this is|these are} confirmed:",
    "ask.command_only": "If that is right, run this command; --yes is not enough here:\n  {command}",
    "ask.command": "If that is right, run this command; --yes instead of the flags accepts all first proposals:\n  "
    "{command}",
    "ask.participant": "Who answered?",
    "ask.item": "What was judged?",
    "ask.response": "Which column holds the answers?",
    "ask.wide": "What is one row?",
    "ask.answers": "How are the answers grouped?",
    "ask.participant_choice": "{n} different values",
    "ask.item_choice": "{n} combinations[[, each seen by {least} to {most} participants]]"
    "[[, each seen by {every:participant}]], such as {sample:and}",
    "ask.response_choice": "{n} different values, such as {sample:and}",
    "ask.wide_participant": "a participant, and {n} columns such as {columns:and} are items[[, with the questions "
    "{questions:and}]]",
    "ask.wide_item": "an item, and {n} columns are participants",
    "ask.wide_trial": "a trial, and {n} columns such as {columns:and} are questions about its item",
    "ask.one_hot": "a trial, and {n} columns such as {columns:and} are its possible answers",
    "ask.answers_begin": "{n} texts that begin with {beginnings:or}",
    "form.end_labels": "Labels beside the points of the scale were left out: {labels}.",
    "form.comments": "{n} comment {n:line|lines} before the header {n:was|were} left out.",
    "form.groups": "One row per participant, with {n} numbered groups of columns such as {columns:and}; every "
    "group is read as a row of its own.",
    "form.one_hot": "Each row has 1 in one of {n} columns such as {columns:and}: the name of that column is read as "
    "the answer.",
    "form.annotators": "One row per item, with {n} numbered pairs of columns such as {columns:and} for who judged it "
    "and how; every pair is read as a row of its own.",
    "form.lists": "Each cell of {columns:and} holds a list; every element is read as a row of its own.",
    "form.parts": "Each cell of {column} holds {n} answers, read as {columns:and}.",
    "form.wide_participant": "One row per participant: {n} columns are read as items[[ with the questions "
    "{questions:and}]][[, and columns such as {times} as their response times]].[[ {left} other {left:column "
    "describes|columns describe} participants or {left:was|were} left out: {names}.]]",
    "form.wide_item": "One row per item: {n} columns are read as participants.[[ {left} hold means and were left "
    "out.]]",
    "form.shown": "{left} and {right} hold what was compared. If others do, use --map left=NAME and --map right=NAME.",
    "form.wide_trial": "One row per trial: {n} columns are read as questions, {columns:and}.[[ {derived:and} only "
    "group these answers and were left out.]]",
    "form.sides": "The answers name the two sides and are read as follows: {answers}. If that is wrong, use --answers.",
    "form.graded": "Some answers also say how much better a side is. Choices do not use that.",
    "form.pairs": "Each trial has two rows, one of them chosen, so it is read as a choice. The first row counts as "
    "left, because the file does not say on which side it was.",
    "form.word_rows": "rows of further words of the same trials",
    "form.second_rows": "second rows of choice trials",
    "form.broken_lines": "{n} {n:line break|line breaks} inside cells without quotes {n:was|were} closed.",
    "form.skipped_files": "{n} {n:file was|files were} skipped, because {n:it does|they do} not hold results: {files}.",
    "rows.identical": "{n} {n:row is|rows are} identical to another row. Nothing says that they are copies, so they "
    "count as answers.",
    "scale.magnitude": "The answers[[ to {question}]] are positive numbers from {low} to {high} without a visible "
    "upper end, so they are read as magnitude estimates.[[ {zeros}]] If that is wrong, use --scale.",
    "scale.magnitude_zeros": "{n:answer} {n:is|are} 0, which has no logarithm: in the measures "
    "{n:it counts|they count} as half of the smallest positive answer, {half}.",
    "item.without_speakers": "The words of each trial are its item, without the names of the speakers, which change "
    "between participants: {n} items remain.",
    "jspsych.judgments_only": "{n} answers look like clicks to go on or a questionnaire and were set aside. To keep "
    "them, use --keep-all.",
    "aside.owner": "lines of runs in which the experimenter was logged in",
    "intake.item_parts": "No column is a factor of the design, and all items are named like {item}; {columns:and} "
    "{n:holds|hold} parts of these names.",
    "intake.models": "{names} {n:is|are} named after {n:a language model|language models} and {n:counts|count} as "
    "{n:a participant|participants}. To leave {n:it|them} out, use --set-apart {flag}.",
    "intake.factors": "{names:and} {n:looks like the factor|look like the factors} of the design. If others are, name "
    "them in karat measure and karat report: --conditions NAME,NAME.",
    "intake.remembered": "The answers kept in {file} were used.",
    "scale.ordered": "The answers[[ to {question}]] are ordered words, so they are read as the points {levels} of a "
    "rating scale. If that is wrong, use --scale nominal:{text}.",
    "crowdkit.unanswered_tasks": "{n} {n:task has|tasks have} a correct answer but no answer from a worker.",
    "eligibility_screening.no_function": "{file} has no column ITEM_FUNCTION, so its items are read as test items.",
    "eligibility_screening.times": "In these files rt is in milliseconds, and trial is trial_index + 1.",
    "eligibility_screening.choices": "The alternative shown above is read as left, the one below as right. For "
    "fillers, condition 1 is expected.",
    "eligibility_screening.ratings": "For fillers, 3-5 is expected in condition 1 (grammatical) and 1-2 in "
    "condition 2 (ungrammatical). To leave this out, use --map expected=",
    "eligibility_screening.both": "Choices and ratings are separate questions. Check that the same id stands for "
    "the same participant in both.",
    "gorilla.questionnaire": "{file} is a questionnaire, so its answers describe participants. If they are "
    "judgments, use --from table.",
    "gorilla.function": "function comes from displays named practice, filler or attention. To undo this, use --map "
    "function=",
    "gorilla.milliseconds": "Reaction Time is read as milliseconds. If it is in seconds, use --rt-unit s.",
    "gorilla.questions_by_screen": "Some trials have several answers, so question is the name of the screen.",
    "gorilla.questions_by_object": "Some trials have several answers, so question is the name of the zone or object.",
    "gorilla.questions_by_screen_and_object": "Some trials have several answers, so question is the name of the "
    "screen and of the zone or object.",
    "gorilla.attempts": "Where a question was answered in several attempts, the first one counts.",
    "gorilla.public_ids": "Participants are named by their public id, which is their Prolific id.",
    "gorilla.private_ids": "Participants are named by their private id. Public ids were left out because they may "
    "identify people.",
    "pcibex.single_questions": "{names}: asked once per participant, so these are not judgments. Choices among them "
    "are in the table of participants; typed answers were left out because they may identify people.",
    "pcibex.participant_column": "Participants are identified by {column}. For another column, use --map "
    "participant=NAME.",
    "pcibex.participants_without_code": "{n} {n:submission|submissions} without a code in {column} {n:is|are} "
    "identified by reception time and hash of the address. If a column names the participants, use --map "
    "participant=NAME.",
    "pcibex.participants_by_hash": "Participants are identified by reception time and hash of their address. If a "
    "column names them, use --map participant=NAME.",
    "pcibex.sessions": "Some participants took part more than once; the column session numbers their participations.",
    "pcibex.no_comments": "The file lacks the comment lines that name its columns, so the columns of Ibex's own "
    "controllers are assumed.",
    "pcibex.function": "function comes from labels that name practice, fillers or attention. To undo this, use "
    "--map function=",
    "pcibex.questions": "Some trials have several answers, so question is the name of the element.",
    "pcibex.sides": "left and right come from the comments of selectors. To keep the names as answers, use --map "
    "left= --map right=",
    "pcibex.items_by_label": "Items without a logged number are named by their label and Latin Square group or "
    "order number. If a column names them, use --map item=NAME.",
    "pcibex.list": "list is the logged column Group. For another column, use --map list=NAME.",
    "pcibex.rt_from_display": "For {n:answer}, rt runs from the last logged display before the answer.",
    "pcibex.rt_from_start": "For {n:answer} without a logged display, rt runs from the start of the trial.",
    "jatos.no_metadata": "{file} has no metadata.json, so worker ids and study states are unknown.",
    "jatos.other_files": "{n} other {n:file|files} in {file}, such as uploads, {n:was|were} not read.",
    "jatos.participant_in_link": "{name} in the link is used as the participant. For another column, use --map "
    "participant=NAME.",
    "jatos.worker_ids": "The worker id of JATOS is used as the participant. For another column, use --map "
    "participant=NAME.",
    "jatos.result_numbers": "The number of the study result is used as the participant. For another column, use "
    "--map participant=NAME.",
    "jatos.plain_text": "{file}: each result counts as one participant unless a column says otherwise. The results "
    "archive contains more information.",
    "jatos.unfinished": "{n} of {results} study results {n:is|are} unfinished: {names}. Their answers are kept; the "
    "column study_state of the participants shows which they are.",
    "jatos.several_results": "There is more than one study result of {names}. The column study_result separates them "
    "(--map session=study_result).",
    "jspsych.one_participant_per_file": "A file without a participant column counts as one participant, named after "
    "the file. If a column names them, use --map participant=NAME.",
    "jspsych.participants_by_run": "{file}: no column names the participant of {n} {n:run|runs}. A new participant "
    "begins where trials start again, named {file}-1 and so on. If a column names them, use --map participant=NAME.",
    "jspsych.expected": "{column} is used as the correct answer. If it is not, use --map expected=",
    "jspsych.expected_refused": "{column} contains values that nobody answered, so it is not used as the correct "
    "answer. To use it anyway, use --map expected={source} with --scale.",
    "jspsych.function": "function comes from {column}, which names practice, fillers or attention. To undo this, "
    "use --map function=",
    "jspsych.renamed": "{names} {n:has|have} another meaning in karat and {n:is|are} called {columns} here. If the "
    "meaning is the same, use --map {name}={column}.",
    "jspsych.points_from_zero": "The answers[[ to {question}]] count from 0, so they are read as the points 0 to "
    "{high} of a rating scale. If the scale has more points, use --scale ordinal:0-{next}.",
    "jspsych.categories": "The buttons {labels} are read as categories. If they are ordered, use --scale "
    "ordinal:{levels}.",
    "jspsych.ways": "Answers were given in {n} ways ({ways}). Each is a question with its own scale.",
    "jspsych.starts_again": "trial_index starts again within {names}, so trials are numbered in the order of the "
    "file. To separate two runs, use --map session=NAME.",
    "jspsych.milliseconds": "rt is read as milliseconds, as jsPsych writes it. If it is in seconds, use --rt-unit s.",
    "jspsych.page_times": "On a page with several questions, rt is the time of the whole page. To leave it out, use "
    "--map rt=",
    "jspsych.items_by_stimulus": "No column names the items, so the stimulus without its HTML tags is used as the "
    "item, including welcome and other screens that were answered. If a column names the items, use --map item=NAME.",
    "jspsych.items_by_question": "No column names the items, so the question on a survey page is used as the item, "
    "including welcome and other screens that were answered. If a column names the items, use --map item=NAME.",
    "jspsych.items_by_either": "No column names the items, so the stimulus without its HTML tags and the question "
    "on a survey page are used as the item, including welcome and other screens that were answered. If a column names "
    "the items, use --map item=NAME.",
    "jspsych.button_positions": "The data do not name the buttons, so answers are their positions from 0. To name "
    "them, use --answers 0=NAME.",
    "jspsych.button_labels": "Buttons are read by their labels; their positions from 0 are in the column "
    "response_index.",
    "jspsych.likert_from_zero": "survey-likert counts the points of a scale from 0. To count them from 1, use "
    "--answers 0=1 and so on.",
    "label_studio.items": "item is the id of the task. If a field of the task names the item, use --map item=NAME.",
    "label_studio.lead_time": "rt is the lead time: the seconds an annotator spent on the whole task.",
    "label_studio.trials": "trial is the order in which an annotator's annotations were created.",
    "label_studio.answers": "The answers in {file} are taken from {columns}. If that is wrong, use --map "
    "response=NAME.",
    "lrex.questions": "{file} has {n} ratings per row, so question is the name of the rating column.",
    "lrex.items": "Items are named by their materials and number. For another column, use --map item=NAME.",
    "lrex.function": "function comes from materials named practice, filler or attention. To undo this, use --map "
    "function=",
    "lrex.never_rated": "{column}: {n:answer} -1 {n:is|are} read as missing.",
    "lrex.ids": "Participants are named by their id. For the number given by L-Rex, use --map participant=number.",
    "lrex.ids_left_out": "The ids of participants were left out because they may identify people; their numbers are "
    "kept.",
    "mturk.item_section_and_number": "The section and number of turktools, joined, are used as the item. For "
    "another column, use --map item=NAME.",
    "mturk.item_number": "The number of turktools is used as the item. For another column, use --map item=NAME.",
    "mturk.item_field": "The form numbers its answers, and no input is numbered like them. Each of them, such as "
    "{column}, is read as the answer to an item of its own.",
    "mturk.item_hit": "No input names the item, so HITId is used. For another column, use --map item=NAME.",
    "mturk.questions": "Several fields of the form are read as answers, each as a question: {names}. If they share "
    "one scale, use --map question=",
    "mturk.working_time": "WorkTimeInSeconds is the time of an assignment, from accepting to submitting, and is not "
    "used as rt.",
    "mturk.rejected": "{n} {n:assignment was|assignments were} rejected and {n:is|are} kept; the column "
    "assignment_status shows which.",
    "otree.label_left_out": "participant.label was left out because it holds more than codes and may identify people.",
    "otree.prolific_ids": "participant.label, which holds Prolific ids, is used as the participant. For oTree's own "
    "code, use --map participant=code.",
    "otree.worker_ids": "The worker id is used as the participant. For oTree's own code, use --map participant=code.",
    "otree.codes": "oTree's participant.code is used as the participant.",
    "otree.background": "{app} was asked once and names no item, so its answers ({answers}) are in the table of "
    "participants.",
    "otree.asked_once": "{app}: {answers} {n:was|were} asked in one round only and {n:is|are} in the table of "
    "participants.",
    "otree.answers": "{app}: {answers} are read as answers; other fields describe the round.",
    "otree.several_answers": "Several fields are read as answers. If only one of them is an answer, use --map "
    "response=NAME.",
    "otree.item": "The field {field} is the item of {app}.",
    "otree.item_by_round": "No field of {app} names the item, so items are named by app and round. If a field names "
    "them, use --map item=NAME.",
    "otree.bots": "{n:participant} {n:was|were} played by oTree's bots; the column is_bot of the participants shows "
    "who.",
    "otree.demo": "{n:participant} {n:comes|come} from a demo session; the column is_demo of the participants shows "
    "who.",
    "otree.rounds_counted": "{file} has no column {column}, so rounds are counted in the order of the rows.",
    "otree.no_page_times": "The page times do not contain the app {app}, so its answers have no rt.",
    "otree.page_times": "For {app}, rt is the time on the page {page}[[, not on {others}]]. It starts when the page "
    "before was left and is in whole seconds, because oTree records no finer times.",
    "otree.several_pages": "{app} has several pages per round ({pages}), so it has no rt. To use the time on one of "
    "them, use --map rt='{column}' or another of these columns. It starts when the page before was left and is in "
    "whole seconds, because oTree records no finer times.",
    "potato.survey_left_out": "Surveys: {n:The question|The questions} {columns} {n:was|were} left out because "
    "{n:it|they} may identify people.",
    "potato.labels": "{schemas}: the marked label is the answer.",
    "potato.values": "{schemas}: the value is the answer.",
    "potato.scales": "{schemas}: each label is a question of its own because several have numbers at once.",
    "potato.times": "rt is the time an annotator spent on the whole instance, in seconds.",
    "potato.several_labels": "Where several labels are marked and Potato does not record which came last, there is "
    "no single answer.",
    "prolific.withheld": "{file}: {n} {n:cell|cells} {word} {n:is|are} read as missing.",
    "prolific.several_submissions": "{n:participant} {n:has|have} several submissions. The most advanced status is "
    "kept; the column submissions shows how many there were.",
    "qualtrics.previews": "{n} {n:preview was|previews were} set aside because of the column Status.",
    "qualtrics.test_responses": "{n} {n:test response was|test responses were} set aside because of the column Status.",
    "qualtrics.without_id": "{n} {n:response has|responses have} no {column}, so ResponseId is used as the "
    "participant there.",
    "qualtrics.no_import_ids": "The row of import ids is missing, so the names of the columns show which questions "
    "belong together. If this is wrong, export the responses again and keep all three header rows.",
    "qualtrics.rows": "No column names the participants, so each row counts as one.",
    "qualtrics.sessions": "{n:participant} responded more than once; the column session numbers their responses.",
    "qualtrics.unfinished": "{n} {n:response is|responses are} unfinished and kept; the column finished of the "
    "participants is empty there.",
    "qualtrics.background": "These were asked once and are therefore in the table of participants: {tags}.",
    "qualtrics.groups": "These columns are each read as one question: {groups}. To keep all columns apart, use "
    "--map question=tag; to read them as one question, use --map question=",
    "qualtrics.judgments": "These columns are read as judgments because of their tags and answers: {tags}.",
    "qualtrics.no_order": "No display order shows in which order questions appeared. If that was random, export it "
    "with the data.",
    "qualtrics.unknown_zone": "The time zone {zone} is unknown, so started and finished are read as UTC.",
    "qualtrics.timings": "rt is Page Submit, in seconds. A timing belongs to the questions {rule}.[[ {shared}]] If "
    "that is wrong, use --map rt=NAME.",
    "qualtrics.shared_pages": "A page with several questions gives page_time instead of rt.",
    "qualtrics.timing_by_tag": "whose tag it names",
    "qualtrics.timing_before": "that follow it in the survey",
    "qualtrics.timing_after": "that come before it in the survey",
    "qualtrics.timing_by_tag_or_before": "whose tag it names, otherwise to those that follow it",
    "qualtrics.timing_by_tag_or_after": "whose tag it names, otherwise to those that come before it",
    "aside.absent_item_cells": "cells of items not in the list",
    "aside.actions": "actions before the answer",
    "aside.animations": "animations",
    "aside.apart": "answers set apart with --set-apart {name}",
    "aside.background": "background answers",
    "aside.background_cells": "cells with answers about the participant",
    "aside.breaks": "breaks",
    "aside.browser_checks": "browser checks",
    "aside.button_clicks": "button clicks",
    "aside.changed_answers": "earlier answers of a trial that were changed",
    "aside.consent": "consent pages",
    "aside.content_shown": "contents shown or played",
    "aside.continue_buttons": "buttons to continue",
    "aside.continue_keys": "key presses to continue",
    "aside.copies": "copies of what another file of the annotator contains",
    "aside.correct_answers": "correct answers, used as expected",
    "aside.debriefing": "debriefing pages",
    "aside.descriptions": "descriptions of participants",
    "aside.display_order_cells": "cells of display orders",
    "aside.display_times": "display times",
    "aside.drawings": "drawings",
    "aside.early_keys": "key presses before an answer was possible",
    "aside.empty_annotations": "annotations without a result",
    "aside.empty_cells": "cells left empty because the question was not shown or not answered",
    "aside.end_of_file": "end-of-file rows",
    "aside.external_pages": "external pages",
    "aside.eye_tracking": "eye tracker calibrations",
    "aside.feedback": "feedback screens",
    "aside.fixations": "fixations",
    "aside.form_answers": "form answers",
    "aside.form_fields": "form fields",
    "aside.free_text": "free text answers",
    "aside.free_text_cells": "cells of free text",
    "aside.full_screen": "full-screen switches",
    "aside.function_calls": "function calls",
    "aside.further_answers": "further answers to the same question",
    "aside.further_attempts": "further attempts after the first",
    "aside.ground_truth": "ground truth answers, used as expected",
    "aside.inputs_beside": "text inputs beside another answer",
    "aside.instructions": "instructions",
    "aside.instructions_and_breaks": "instructions, consent pages and breaks",
    "aside.keys_beside": "key presses beside another answer",
    "aside.listed_participants": "participants in the list of trials",
    "aside.microphone_and_camera": "microphone and camera checks",
    "aside.no_jspsych": "results that are not jsPsych data",
    "aside.no_trial_type": "rows without a trial type",
    "aside.no_whole_judgment": "results that do not judge the whole task",
    "aside.of_type": "rows of type {type}",
    "aside.other_events": "other events",
    "aside.other_logged_events": "other logged events",
    "aside.otree_cells": "cells that oTree fills itself",
    "aside.own_field_cells": "cells of the form's own fields",
    "aside.own_test_trials": "answers from the researchers' own test runs",
    "aside.page_times": "page times, joined to their rounds",
    "aside.pages_without_answer": "pages without an answer",
    "aside.part_of_task": "answers about a part of the task",
    "aside.personal_cells": "cells that may identify people",
    "aside.practice_cells": "cells of practice answers",
    "aside.predictions": "predictions of a model",
    "aside.preloading": "preloading steps",
    "aside.preview_cells": "cells of previews",
    "aside.questionnaire_rows": "questionnaire rows (their answers are in the table of participants)",
    "aside.questions_beside": "answers to questions next to the choice",
    "aside.reading_times": "reading times",
    "aside.recordings": "recordings",
    "aside.repeated_headers": "repeated header lines",
    "aside.repeated_round_cells": "cells of rounds already in another file",
    "aside.results_of_type": "results of type {type}",
    "aside.round_cells": "cells that describe a round",
    "aside.rt_cells": "cells of response times",
    "aside.screen_calibrations": "screen calibrations",
    "aside.screen_without_item": "screens without an item",
    "aside.sent_twice": "lines sent twice",
    "aside.sentences_shown": "sentences shown",
    "aside.several_answer_cells": "cells of questions with several answers",
    "aside.several_choices": "answers with several choices at once",
    "aside.several_labels": "answers with several labels at once",
    "aside.single_button": "pages with a single button",
    "aside.single_questions": "answers to questions asked once per participant",
    "aside.skipped_annotations": "skipped annotations",
    "aside.sounds": "sounds",
    "aside.survey_pages": "survey pages",
    "aside.survey_without_item": "survey answers without an item",
    "aside.task_markers": "task start and end markers",
    "aside.test_response_cells": "cells of test responses",
    "aside.text_spans": "spans of text",
    "aside.timed_out": "screens ended by their time limit",
    "aside.timing_cells": "cells of timings",
    "aside.trial_markers": "trial start and end markers",
    "aside.typing": "typing events",
    "aside.unannotated_tasks": "tasks that nobody annotated",
    "aside.unanswered_cells": "cells of questions that nobody answered",
    "aside.unanswered_displays": "displays that nobody answered",
    "aside.unanswered_schemas": "schemas that nobody answered",
    "aside.unfilled_cells": "cells of fields that nobody filled in",
    "aside.unreached_round_cells": "cells of rounds not reached",
    "aside.videos": "videos",
    "word.lists": "lists",
    "word.records": "records",
    # ==================== study ====================
    "results.from_items": "{column} was taken from the item table for {n:answer}.",
    "results.scale": "The scale is the one in {file}: {kind}, {answers}.",
    "results.scales": "The scales are those in {file}: {scales}.",
    "results.unknown_blocks": "The blocks of {file} have different scales, but not all answers show which block "
    "they belong to (by a column block, or by items of one block only).",
    "design.levels": "The factor {factor:quoted} needs at least one level, and each level must be named once.[[ "
    "{advice}]]",
    "design.cell_twice": "Item {item:quoted} has two rows[[ in the condition {condition}]].[[ {advice}]]",
    "design.two_items": "Name them as two items, or remove one.",
    "design.no_level": "Item {item:quoted} has no level of the factor {factor:quoted}.[[ {advice}]]",
    "design.unknown_level": "Item {item:quoted} has the unknown level {level:quoted} of the factor "
    "{factor:quoted}.[[ {advice}]]",
    "design.use_levels": "Use one of {levels}.",
    "design.unnamed_level": "A test item has a level that the study file does not name.[[ {advice}]]",
    "design.fix_items": "Fix the item table.",
    "design.no_column": "The item table has no column {column:quoted}.[[ {advice}]]",
    "design.add_column": "Add it.",
    "design.factor_twice": "Two factors have the same name.[[ {advice}]]",
    "design.name_once": "Name each factor once.",
    "design.no_test_items": "No row of the item table has the function “test”.[[ {advice}]]",
    "design.add_test_items": "Add the test items.",
    "design.unused_level": "No test item has the level {level:quoted} of the factor {factor:quoted}.[[ {advice}]]",
    "design.add_items_or_remove_level": "Add items, or remove the level.",
    "design.between_items": "Item {item:quoted} has the levels {levels:and} of {factor:quoted}, which is a factor "
    "between items.[[ {advice}]]",
    "design.within_or_two_items": "Declare the factor as within items, or name the rows as two items.",
    "design.too_few_lists": "{n:list} cannot show {groups} {groups:combination|combinations} of levels between "
    "participants[[ ({factors})]], one per list.[[ {advice}]]",
    "design.more_lists": "Use at least {n:list}.",
    "design.group_unseen": "No item has {group}, so no list shows it.",
    "design.condition_missing": "No item[[ with {where}]] has the condition {condition}. The design is incomplete, "
    "so effects and their interaction cannot be separated there.",
    "design.items_lack_condition": "{n:Item|Items} {items} {n:lacks|lack} the condition {condition}[[ with "
    "{where}]], so it is seen less often than other conditions.",
    "design.items_lack_level": "{n:Item|Items} {items} {n:lacks|lack} some level of {factors:and}, so not all lists "
    "show {n:it|them}.",
    "design.uneven_conditions": "With {n:item}[[ ({where})]] and {conditions:condition}, a list shows {least} to "
    "{most} items per condition.[[ {advice}]]",
    "design.even_items": "A multiple of {n} items would balance this.",
    "design.uneven_items": "Over {n:list}[[ with {where}]], an item is seen {least} to {most} times in a condition[[, "
    "and {never} of {sentences} sentences are never seen, so condition is confounded with item]].[[ {advice}]]",
    "design.even_lists": "A multiple of {n:list} would balance this.",
    "design.uneven_groups": "With {n:list} over {groups} combinations of {factors:and}, each combination has "
    "{least} to {most} lists.[[ {advice}]]",
    "design.uneven_lengths": "The lists have {least} to {most} test trials.",
    "subsets.numbers": "The numbers of items, items per participant and ratings per item must be at least 1.",
    "subsets.too_many": "A participant cannot judge {n} of {items:item} without seeing one twice.[[ {advice}]]",
    "subsets.fewer_items": "Use at most {most} items per participant.",
    "subsets.extra_ratings": "{n:item} of {items} {n:has|have} {more} ratings, the others {ratings}, because "
    "{items} × {ratings} ratings are not a multiple of {per_participant}.",
    "subsets.meetings": "Two items meet in {least} to {most} participants; an even design would have {mean:.2}.",
    "pairs.rows": "The pair {pair:quoted} has {n} {n:row|rows} in the item table, but a choice needs two.[[ {advice}]]",
    "pairs.two_rows": "Give the pair a second row, or give every two rows a name of their own.",
    "pairs.uneven": "Items are in {least} to {most} pairs, because {places} places are not a multiple of {items} "
    "items.",
    "pairs.uneven_participants": "{n:participant} of {participants} {n:sees|see} some item twice more often than "
    "another, because otherwise the comparisons would not link all items. More participants or pairs would fix this.",
    "pairs.items": "Random pairs need at least two different items, each named once; there {n:is|are} {n}.",
    "pairs.numbers": "The numbers of participants and of pairs per participant must be at least 1.",
    "pairs.too_many": "A participant cannot judge {n:pair} of {items} items without seeing one twice, because there "
    "are only {pairs}.[[ {advice}]]",
    "pairs.fewer": "Use fewer pairs per participant.",
    "pairs.too_few": "{n:pair} cannot link {items} items; {needed} are needed.[[ {advice}]]",
    "pairs.more": "Use {participants:participant}, or more pairs per participant.",
    "sessions.repeats": "{repeats} {repeats:repeat|repeats} of {questions:question} for {participants:participant} "
    "is not possible, because each question comes at most twice.[[ {advice}]]",
    "sessions.fewer_repeats": "Use 0 up to the number of questions.",
    "plan.choice_stimuli": "A choice shows two stimuli, but {key} {name} has {n}.[[ {advice}]]",
    "plan.two_stimuli": "Give it two rows, or one row with sentence and sentence_2.",
    "plan.compared_level": "Item {item} has {factor} = {level}, which is not one of the levels {levels}.[[ {advice}]]",
    "plan.fix_items_or_factor": "Fix the item table or the factor.",
    "check.verified_where": "{n} {n:control is|controls are} marked as verified, but not when and where.",
    "check.attention_early": "{item}: the violation begins with word {place} of {length}, so participants who stop "
    "reading early notice it too[[; the same in {n} more]].",
    "check.attention_early_signs": "{item}: the violation begins with character {place} of {length}, so participants "
    "who stop reading early notice it too[[; the same in {n} more]].",
    "check.violation_absent": "{item}: the column violation has {text:quoted}, which is not in its sentence.",
    "check.personal_question": "{name}: participants must answer this question about themselves and cannot decline.",
    "check.frame_words": "nearly all of {n} test sentences have {words:and}, but hardly any of {fillers} other "
    "sentences do, so test trials can be recognised.",
    "check.frame_questions": "nearly all of {n} test sentences are questions, but hardly any of {fillers} other "
    "sentences are, so test trials can be recognised.",
    "check.expected_points": "{item} is {status}, but {answer} is expected on {points} points, so {end}, the "
    "clearest answer, would be wrong[[; the same in {n} more]].",
    "check.frame_length": "test sentences have {tests:.1} words on average, the others {fillers:.1}, so test "
    "trials can be recognised by their length.",
    "check.frame_length_signs": "test sentences have {tests:.1} characters on average, the others {fillers:.1}, so "
    "test trials can be recognised by their length.",
    "check.participants": "{n:participant}; {fewest} to {usual} are the rule of thumb.",
    "check.participants_groups": "{n:participant} in {groups} groups make {each} per group; {fewest} to {usual} per "
    "group are the rule of thumb.",
    "check.participants_lists": "{n:participant} cannot be divided equally among {lists} lists.",
    "check.ratings_of_items": "{n} items, {ratings} {ratings:rating|ratings} each, {each} per participant, need "
    "{needed} participants; {wanted} are wanted.",
    "check.ratings_of_pairs": "{n} pairs, {ratings} {ratings:rating|ratings} each, {each} per participant, need "
    "{needed} participants; {wanted} are wanted.",
    "check.pay": "the pay is {earned:.2} {currency} per hour[[, because {paid} minutes are paid and it takes about "
    "{minutes:.0}]]; the stated minimum is {least:.2}.",
    "check.minutes": "the study file says {said} minutes, but the trials take about {minutes:.0}.",
    "check.platform": "there is no platform {name:quoted}.",
    "check.completion_code": "participants come from {platform} and cannot be sent back: there is no completion_code.",
    "check.quota_unasked": "there is a quota for {name}, which no background question asks.",
    "check.quota_after": "there is a quota for {name}, which is asked only after the trials.",
    "check.quota_answer": "there is a quota for {name} = {answer}, which is not one of its answers.",
    "check.quotas": "the quotas for {name} admit {room} participants, but {wanted} are wanted.",
    "check.screening": "no criteria are stated for excluding participants; stated later, they depend on the data.",
    "check.consent": "participants are not asked for their consent.",
    "check.criterion_trials": "{criterion} needs {function} trials, and there are none.",
    "check.criterion_repeats": "{criterion} needs questions that are asked twice, and there are none.",
    "check.criterion_quiz": "{criterion} needs a quiz, and there is none.",
    "check.criterion_eligible": "{criterion} needs a background question that says which answers are eligible; there "
    "is none.",
    "check.no_tests": "there are no test trials.",
    "check.lexicalisations": "a participant sees {n} {n:lexicalisation|lexicalisations}[[ of {condition}]]; {least} "
    "are needed so that a peculiar sentence does not pass for an effect.",
    "check.ratio": "{tests} {tests:test trial|test trials} and {fillers} {fillers:filler|fillers} are a ratio of "
    "1:{ratio}; below 1:{least}, test trials stand out and participants form strategies.",
    "check.length": "a participant judges {n} trials; after about {most}, participants tire.",
    "check.calibration": "there {n:is|are} {n} {n:calibration trial|calibration trials}; {usual} let participants "
    "get used to the task before it counts.",
    "check.no_calibration": "there are no calibration trials; {usual} let participants get used to the task before "
    "it counts.",
    "check.calibration_unknown": "{n} of {of} {of:calibration trial|calibration trials} have no intended "
    "acceptability, so it is unknown whether they cover the scale.",
    "check.calibration_range": "none of the {n} calibration trials is of {missing:and} acceptability; participants "
    "should have used the whole scale before it counts.",
    "check.low": "low",
    "check.mid": "mid",
    "check.high": "high",
    "check.spread_first": "all {n} {function} trials are in the first half of the questionnaire; participants who "
    "doze off later are not noticed.",
    "check.spread_second": "all {n} {function} trials are in the second half of the questionnaire; participants who "
    "are distracted at the beginning are not noticed.",
    "check.spread": "nothing keeps the {n} {function} trials from ending up at one end of the questionnaire.",
    "size.trials": "{design}, {task}: {test} test {test:trial|trials} and {fillers} {fillers:filler|fillers} make "
    "{trials:trial}, within the limit of {most}.",
    "size.too_many_trials": "{design}, {task}: {test} test {test:trial|trials} and {fillers} "
    "{fillers:filler|fillers} make {trials:trial}, more than the limit of {most}.",
    "size.fillers": "The fillers are {calibration} calibration, {control} control ({control_rule} correct), "
    "{attention} attention ({attention_rule} correct) and {other} other {other:trial|trials}.",
    "size.cost": "The questionnaire takes about {minutes:.0} minutes; {n:participant} cost {cost:.2} {currency}.",
    "size.right": "{right} of {n}",
    "size.right_of_both": "{right} of {n} grammatical, {right} of {n} ungrammatical",
    "size.special_fillers": "The ratio needs {wanted} fillers, but calibration, controls and attention take {special}.",
    "size.compared_pairs": "No factor has two levels, so {levels} levels are compared in {pairs:pair}, each a "
    "condition.",
    "size.assumed_times": "{seconds} s per trial, and {minutes:minute} for consent, instructions, background "
    "questions and breaks",
    "size.assumed_pay": "{n:participant} at {pay:.2} {currency} per hour, plus a platform fee of {fee:%}",
    "size.assumed_list": "{n:participant} at {pay:.2} {currency} per hour, plus a platform fee of {fee:%} by "
    "{platform}'s price list of {date}",
    "cost.list": "{n:participant} cost {cost:.2} {currency}, with a fee of {fee:%} by {platform}'s price list of "
    "{date}.",
    "cost.own_fee": "{n:participant} cost {cost:.2} {currency}, with the platform fee of {fee:%} that the study "
    "states.",
    "cost.no_fee": "{n:participant} cost {cost:.2} {currency}; there is no platform fee.",
    "cost.no_list": "{n:participant} cost {cost:.2} {currency}, without the fee of {platform}, of which karat has no "
    "price list.",
    "size.assumed_fillers": "{n} {n:lexicalisation|lexicalisations} per condition and {fillers} fillers per test trial",
    "size.assumed_guessing": "guessing passes with a probability of at most {p:.2r+}, with {n} {n:slip|slips} "
    "forgiven in each group",
    # ==================== field ====================
    "publish.address": "{text} is not a server address. Write one such as https://study.example.org.",
    "publish.no_name": "No server is known by the name {host}. Ask the people who manage the domain to point "
    "this name to your server.",
    "publish.no_https": "{host} is reached without HTTPS, so answers can be read in transit. Put a proxy with a "
    "certificate in front of karat, such as Caddy.",
    "publish.certificate": "The certificate of {host} is not valid: {reason}. Browsers will warn participants.",
    "publish.certificate_ends": "The certificate of {host} is valid for {days:day} only. Make sure that it is renewed.",
    "publish.https": "{host} has a valid certificate.",
    "publish.no_answer": "Nothing answers at {host}: {reason}. Check that the server runs and that its ports 80 "
    "and 443 are open.",
    "publish.healthy": "karat answers, and its database saves what is written.",
    "publish.not_saving": "karat answers but cannot save anything: its disk is full, read-only or gone. The log "
    "of the server says which.",
    "publish.not_karat": "A server answers at {host} with status {status}, but it is not karat. Check where its "
    "proxy sends visitors.",
    "publish.clock": "The clock of the server agrees with that of this machine.",
    "publish.clock_off": "The clocks of the server and of this machine differ by {minutes:minute}. Synchronise "
    "both with a time server.",
    "publish.study": "The study {slug} is on the server.",
    "publish.no_study": "The server does not have the study {slug}. Copy its folder to the server and restart karat.",
    "invitation.subject": "Invitation to a study: {title}",
    "invitation.text": "Hello,\n\nWe invite you to take part in our study \"{title}\". It takes about "
    "{minutes:minute} and runs in your browser, on a computer or a phone:\n\n{link}\n\nThe first page explains "
    "what you will do and how your data are used. You can stop at any time.\n\nThank you!",
    # ==================== simulate ====================
    "power.reached": "{items:item}, effect {effect} {unit}: {participants:participant} reach a power of {wanted:.2r}.",
    "power.not_reached": "{items:item}, effect {effect} {unit}: the power with {participants:participant} is "
    "{power:.2r}, below {wanted:.2r}.",
    "power.pilot": "The effect in the pilot is {effect:.2} (standard error {error:.2}). Effects found in small "
    "pilots are often exaggerated.",
    "power.log_odds": "log-odds",
    "power.share_of": "share of {level}",
    "power.steps": "steps of the scale",
    "power.logarithm": "logarithm",
    "power.preference": "preference from −1 to 1",
    "power.points": "points of the scale",
    "power.exclude": "exclude must be a share of at least 0 and below 1, not {value}.",
    "power.simulations": "simulations must be at least 1, not {value}.",
    "power.alpha": "alpha must be between 0 and 1, not {value}.",
    "power.analysis": "analysis must be model, means or mixed, not {value}.",
    "power.quick_pilot": "With a pilot, power is that of the quick approximation, which takes answers as numbers.",
    "power.quick_only": "`karat measure` has no model of this contrast, so power is that of the quick approximation.",
    "power.unit": "unit must be log-odds or scale, not {value}.",
    "power.several_sizes": "A study file records one size, and there are {n}. Simulate "
    "one number of participants and items, and one effect.",
    "power.few_participants": "{n:participant} {n:is|are} too few: the design needs at least {least}, two per list.",
    "power.few_items": "{n:item} {n:is|are} too few for random items: the design needs at least {least}.",
    "power.no_effects": "Effects on the scale have no default size. Give the differences.",
    "power.difference_too_large": "A difference of {difference} ({unit}) is more than the scale can show.",
    "pilot.no_column": "The pilot has no column {column}, which the contrast {contrast} needs.",
    "pilot.too_small": "The pilot has {n:answer} about the contrast {contrast}; at least three participants and "
    "three items are needed.",
    "pilot.singular": "The pilot's model is singular: some standard deviations are estimated as 0.",
    "contrasts.none": "{file} plans no contrast and has no factor with two levels. Add a contrast to it.",
    "contrasts.unknown": "{file} plans no contrast {name}.[[ Did you mean {close}?]][[ It plans {known}.]]",
    "layout.no_factor": "{factor} is not a factor of any block of {file}. Add it there.",
    "layout.no_contrast": "The contrast {contrast} never occurs in the design. Fix its levels.",
    "layout.choice": "The choices themselves compare {factor}, so {contrast} cannot be an interaction with it. Plan a "
    "difference of {factor} within each level of the other factor.",
    "layout.no_items": "A design needs items, but there are {n}.",
    "layout.items": "{n:item} cannot be split evenly into {groups} groups of the design, so {simulated} are simulated.",
    "simulate.participants": "A study needs participants, but there are {n}.",
    "simulate.no_levels": "Answers on a {kind} scale have no levels.",
    "simulate.no_ends": "Answers on a continuous scale without ends cannot be simulated. Give it both ends.",
    "simulate.deviation": "The standard deviation {name} must not be negative.",
    "simulate.no_bot": "There is no bot with the behaviour {name}. Known behaviours: {known}.",
    "behaviours.share_twice": "The share of {name} is given twice. Give it once.",
    "behaviours.no_share": "{text:quoted} is not a share. Write NAME=SHARE, such as guesser=0.05.",
    "behaviours.unknown": "There is no behaviour {name} to simulate.[[ Did you mean {close}?]][[ There are {known}.]]",
    "behaviours.share": "The share of {name} must lie between 0 and 1, but is {value}.",
    "behaviours.total": "The shares add up to {total}, not to 1. Leave out {name} to give it the rest.",
    "crowd.tasks": "A crowd needs at least 1 task and 2 categories, but there are {tasks} and {categories}.",
    "crowd.balance": "balance needs a share for each of {categories} categories, with a sum of 1.",
    "crowd.spammers": "There are no spammers of the kind {kind}; there are {known}.",
    "crowd.negative": "{kind}: there cannot be {n} workers.",
    "crowd.too_many_spammers": "{n} of {workers} workers would be spammers. Use more workers.",
    "crowd.workers": "There are no workers of the kind {kind}; there are {known}.",
    "crowd.decision": "decision must be “draw” or “sign”, but is {value:quoted}.",
    "crowd.turn": "turn must be a trial from 1 to {most}, but is {value}.",
    "crowd.long_run": "A favourite {run} times in a row in {trials:trial} is too improbable. Use a shorter run.",
    # ==================== screen: completion, times, controls, attention ====================
    "evidence.flagged": "{flagged} of {participants:participant} flagged.",
    "participants.no_column": "The table of participants has no column {column}.[[ Did you mean {meant}?]][[ Its "
    "columns are {columns}.]]",
    "times.none": "These judgments have no response times (column rt, in seconds).",
    "times.only_practice": "There are no response times outside practice.",
    "speed.times": "mean {mean:.2+} s, median {median:.2+} s[[; mean below {mean_below} s]][[; median below "
    "{median_below} s]][[; median below {relative:.2+} s, {relative_below:%} of the median across participants]][[; "
    "worked {worked:.2} minutes, at most {share:%} of the expected {expected}]]",
    "speed.no_times": "no response times[[; worked {worked:.2} minutes, at most {share:%} of the expected {expected}]]",
    "speed.untimed": "{n:participant} without response times outside practice.",
    "speed.not_a_share": "{setting} must be between 0 and 1, not {value}.",
    "speed.not_positive": "{setting} must be above 0, not {value}.",
    "speed.no_expected_minutes": "share_of_expected also needs expected_minutes, the expected duration.",
    "automation.found": "automated with probability {p:.3r}[[; {flags:mark} of an automated browser]][[; {absent} of "
    "{pages:page} without a report of the trial page]][[; input by a script on {untrusted:page}]][[; straight lines at "
    "a constant {pace} pixels per second to the exact centre]][[; presses of {press:.4} s]][[; keys held for {hold:.4} "
    "s]][[; a peak speed of {profile:.1} times the mean]][[; paths that bend by {bend:.3}]][[; presses at {off:.2} of "
    "the way from the centre to the edge]][[; movements of {fitts:.1} times the usual duration]]",
    "automation.unknown": "answered before pages reported traces",
    "automation.not_seen": "{n:participant} answered before pages reported traces and {n:is|are} not flagged.",
    "automation.limits": "Drivers that imitate people and hide their marks cannot be found by traces; {share:%} of "
    "automated participants are assumed to do so.",
    "automation.no_traces": "There are no traces of hands (column trace), which only karat's trial page reports.",
    "automation.bad_setting": "{setting} is outside of what the criterion takes.",
    "automation.small_pilot": "A pilot needs traces of at least {n:participant}.",
    "receipt_times.fit": "response times fit between the receipts of {pages:page}",
    "receipt_times.found": "of {pages:page}[[, response times of {claimed:.1} s do not fit into {elapsed:.1} s of the "
    "server's time ({missing:.1} s too much)]][[, answered in {took:.1} s although reading takes at least {reading:.1} "
    "s]][[, the browser's clock ran backwards {backwards} times]]",
    "receipt_times.none": "no receipt times",
    "receipt_times.without": "{n:participant} without receipt times, not flagged.",
    "receipt_times.no_receipts": "There are no receipt times (column received), which only a server records.",
    "completion.answered": "[[same person as {same_person}; ]][[same record as {same_record} ({alike:trial} "
    "identical, including response times); ]]answered {answered} of {trials:trial}[[; last answer at position "
    "{last}]][[ of session {session}]]",
    "completion.answered_of_unknown": "[[same person as {same_person}; ]][[same record as {same_record} ({alike:trial} "
    "identical, including response times); ]]answered {answered:trial}; length of the questionnaire unknown",
    "completion.length_unknown": "The length of the questionnaire is not known: participants answered {least} to "
    "{most} trials, and fewer than a third of them reached 90 % of the maximum. Only participants without any answer "
    "count as incomplete. If the questionnaire has a fixed length, set completion = {{ trials = ... }} under "
    "[screening] of a study file or in a file for --rules, or pass trials=... in Python.",
    "completion.length_assumed": "The questionnaire is assumed to have {trials:trial}, the most that any participant "
    "answered.",
    "completion.no_person": "{n:participant} without an entry in {column}.",
    "completion.no_times": "Without response times, identical records under two names cannot be found.",
    "completion.more_than_stated": "{n:participant} answered more than the {trials:trial} stated.",
    "completion.bad_share": "at_least must be a share between 0 and 1, not {value}.",
    "completion.bad_trials": "trials must be a whole number of at least 1, not {value}.",
    "completion.nobody_answered": "Nobody answered anything, so the length of the questionnaire is not known. Set "
    "trials=...",
    "eligibility.as_required": "{n:answer} as required[[; no answer to {absent}]]",
    "eligibility.contradicted": "{contradictions}[[; no answer to {absent}]]",
    "eligibility.no_answer": "no answer to {absent}",
    "eligibility.not_admitted": "answered {given} to {question} (required: {admitted:or})",
    "eligibility.not_the_same": "answered {given} to {question}, but {other} says {says}",
    "eligibility.not_met_quietly": "an answer does not meet the requirements",
    "eligibility.met_quietly": "no answer contradicts the requirements",
    "eligibility.unanswered": "{n:participant} without an answer, which does not count as a contradiction.",
    "eligibility.nothing_stated": "No requirement is stated. State the answers that are admitted, answers = {{ "
    "native_language = [\"German\"] }}, or the columns that must agree, same = {{ native_language = \"First "
    "Language\" }}.",
    "eligibility.no_list": "The answers to {question} must be a list such as [\"German\"].",
    "quiz.not_passed": "did not pass the quiz[[ ({attempts:attempt})]][[ (quiz_attempts cannot be read: "
    "{unread_attempts:quoted})]][[ (quiz_passed cannot be read: {unread_passed:quoted})]]",
    "quiz.passed": "passed the quiz[[ (quiz_attempts cannot be read: {unread_attempts:quoted})]][[ (quiz_passed "
    "cannot be read: {unread_passed:quoted})]]",
    "quiz.unknown": "quiz result unknown[[ (quiz_attempts cannot be read: {unread_attempts:quoted})]][[ (quiz_passed "
    "cannot be read: {unread_passed:quoted})]]",
    "quiz.passed_on_attempt": "passed the quiz on attempt {attempts}[[ (at most {allowed} allowed)]][[ (quiz_attempts "
    "cannot be read: {unread_attempts:quoted})]][[ (quiz_passed cannot be read: {unread_passed:quoted})]]",
    "quiz.attempts": "{attempts:attempt} at the quiz[[ (at most {allowed} allowed)]][[ (quiz_attempts cannot be "
    "read: {unread_attempts:quoted})]][[ (quiz_passed cannot be read: {unread_passed:quoted})]]",
    "quiz.results_unknown": "{n:participant} without a known quiz result, not flagged.",
    "quiz.unread": "{n:participant} with a quiz entry that cannot be read. Write whole numbers of at least 1 in "
    "quiz_attempts, and true or false in quiz_passed.",
    "quiz.bad_attempts": "attempts_at_most must be a whole number of at least 1, not {value}.",
    "quiz.no_columns": "The table of participants has neither quiz_attempts (how many attempts were needed) nor "
    "quiz_passed (yes or no). Give the columns these names, or leave the criterion out.",
    "gold.found": "The recorded correct answer disagrees with a near-unanimous crowd for {doubtful} of {items:item}.",
    "gold.doubtful": "{n:item} ({items}[[ and {more} more]]): the recorded correct answer disagrees with a "
    "near-unanimous crowd. Check the key before calling anyone inaccurate.",
    "gold.not_comparable": "{n} of the different correct answers could not be compared, because they are numbers or "
    "unknown to the scale.",
    "gold.left_out": "Items with a doubtful key do not count towards accuracy ({n:item}).",
    "gold.all_doubtful": "Every recorded correct answer disagrees with the crowd. Check the column expected.",
    "gold.bad_share": "near_unanimous must be above one half and at most 1, not {value}.",
    "gold.no_key": "No trial says which answer is correct (column expected).",
    "gold.bad_doubtful": "doubtful must be “left out” or “counted”, not {value:quoted}.",
    "time_filter.no_times": "no response times outside practice",
    "time_filter.below_mean": "mean {mean:.2+} s[[ ({level}, as at every level)]], below the mean of all times, "
    "{cutoff:.2} s",
    "time_filter.not_below_mean": "mean {mean:.2+} s[[ ({level})]], not below the mean of all times, {cutoff:.2} s",
    "time_filter.below_sd": "mean {mean:.2+} s[[ ({level}, as at every level)]], below {cutoff:.2} s, one standard "
    "deviation below the mean",
    "time_filter.not_below_sd": "mean {mean:.2+} s[[ ({level})]], not below {cutoff:.2} s, one standard deviation "
    "below the mean",
    "time_filter.half": "About half of all participants are below the mean, so use this rule only together with "
    "others.",
    "time_filter.without_level": "{n:response time} without a value of {column} left out.",
    "time_filter.bad_rule": "The rule must be mean or mean-sd, not {value}.",
    "time_filter.no_column": "There is no column {column}.[[ Did you mean {meant}?]]",
    "time_limit.bad": "time_limit must be a number of seconds, or 0 if there was no limit, not {value}.",
    "time_limit.stated": "Trials had a time limit of {seconds} s. Response times then reflect the limit, so use "
    "another criterion, such as attention or the answers.",
    "time_limit.suspected": "{n} of {times:response time} are close to the longest, {longest:.1} s, as if there had "
    "been a time limit. Response times then reflect the limit, so use another criterion, such as attention or the "
    "answers. If there was no limit, set time_limit = 0.",
    "remfod.genuine": "{intermissions:intermission} and {rushes:rush} in {trials:trial} with a time: {genuine:%} "
    "genuine ({needed:%} required)",
    "remfod.no_times": "no response times",
    "remfod.found": "{intermissions:intermission}, {rushes:rush} in {rounds:round}; {flagged} of "
    "{participants:participant} flagged (under {needed:%} genuine)[[, rule {rule}]].",
    "remfod.untimed": "{n:trial} without a response time left out.",
    "remfod.one_function": "All trials have the function {function}, so the cutoffs by item function are those of "
    "all times together.",
    "remfod.all_times_equal": "All response times are equal, so none can be outlying, and they say nothing about any "
    "participant.",
    "remfod.no_spread": "{n:trial} outlying only because most times of the group are exactly equal (MAD 0). Check "
    "whether response times were rounded.",
    "remfod.no_rule": "There is no rule {rule}.[[ Did you mean {meant}?]][[ The rules are {rules}.]]",
    "remfod.bad_factors": "upper and lower must be above 0. They are numbers of spreads above and below the centre.",
    "remfod.bad_share": "genuine_at_least must be a share between 0 and 1, not {value}.",
    "remfod.bad_constant": "mad_constant must be above 0, not {value}.",
    "remfod.no_length_in_parts": "Response times cannot be adjusted for length in parts, because the adjustment "
    "needs the trials of all participants at once. Leave length out, or screen in memory.",
    "remfod.file_gone": "{file}, written by an earlier pass, is gone. Start again with another folder for "
    "--checkpoint.",
    "remfod.nothing_to_draw": "Participant {participant} has no response times to draw.",
    "participants.no_participant": "There is no participant {participant}.[[ Did you mean {meant}?]]",
    "length.none": "Response times are not adjusted for length, because no trial has a length above 0 in the column "
    "{column}.",
    "length.all_equal": "Response times are not adjusted for length, because no two trials of one participant and "
    "item function differ in it (column {column}).",
    "length.adjusted": "Response times are adjusted to a length of {length} ({column}), because they grow with "
    "length to the power {power:.2}.",
    "length.adjusted_characters": "Response times are adjusted to a length of {length} characters ({column}), "
    "because they grow with length to the power {power:.2}.",
    "length.missing": "{n:trial} without a length in {column}, so not adjusted.",
    "length.no_column": "There is no column {column} for the length.[[ Did you mean {meant}?]] Name a column with "
    "the sentence or its length.",
    "length.neither": "The column {column} has neither texts nor lengths as numbers.",
    "answers.right": "{right} of {trials} trials right ({needed} required)[[, {unanswered} unanswered]]; guessing "
    "passes with p {p:p}[[; {neutral} of {answers:answer} neutral (at most {neutral_at_most:%} allowed)]]",
    "answers.right_by_status": "[[{grammatical_right} of {grammatical_trials} grammatical trials right "
    "({grammatical_needed} required); ]][[{ungrammatical_right} of {ungrammatical_trials} ungrammatical trials right "
    "({ungrammatical_needed} required); ]][[{unanswered} unanswered; ]]guessing passes with p {p:p}[[; {neutral} of "
    "{answers:answer} neutral (at most {neutral_at_most:%} allowed)]]",
    "passing.no_trials": "no trial that can be judged was shown[[; {neutral} of {answers:answer} neutral (at most "
    "{neutral_at_most:%} allowed)]]",
    "passing.nothing_required": "{slips:slip} allowed in {n}, so nothing is required[[; {neutral} of "
    "{answers:answer} neutral (at most {neutral_at_most:%} allowed)]]",
    "passing.too_few": "too few trials, because guessing gets all {n} right with p {p:p}[[; {neutral} of "
    "{answers:answer} neutral (at most {neutral_at_most:%} allowed)]]",
    "passing.guessing": "Guessing passes with p {p:p}, more than alpha ({alpha:.2r+}).",
    "passing.nobody_judged": "Nobody could be judged: {why}.",
    "passing.bad_alpha": "alpha must be a probability between 0 and 1, not {value}.",
    "passing.bad_slips": "slips must be a whole number of at least 0, not {value}.",
    "answers.no_trials": "There are no {function} trials. Mark them in the column function.",
    "answers.status_filled": "{n:trial} without a status, which is taken from other trials with the same correct "
    "answers.",
    "answers.left_out": "{n:trial} left out, because the correct answer is not known.[[ {why}]][[ ({more} more such "
    "problems.)]]",
    "answers.chance_unknown": "How often guessing is right is not known. {why}[[ ({more} more such problems.)]]",
    "answers.no_key": "No trial says which answer is correct (column expected), so it is not known how often "
    "guessing is right.",
    "answers.use_pairs": "{error} Judge such trials by pairs: account = \"pairwise\".",
    "answers.fix_expected": "{error} Fix the column expected.",
    "answers.other_status": "{n:trial} neither grammatical nor ungrammatical, left out.",
    "answers.counted_together": "The column status does not name both kinds of sentences, so all ratings are counted "
    "together.",
    "answers.chances_differ": "Trials of a group differ in how often guessing is right, so guessing passes with at "
    "most the probability shown.",
    "answers.not_published": "The published rule is about ratings of both kinds of sentences, so these answers are "
    "counted instead.",
    "answers.bad_account": "account must be one of {accounts}, not {value}.",
    "pairs.right": "worse sentence not preferred in {right} of {trials:pair} ({needed} required)[[, {unanswered} "
    "with a missing answer]]; guessing passes with p {p:p}",
    "pairs.none": "saw no complete pair",
    "pairs.nobody_saw_one": "Nobody saw both sentences of a pair. Name the partners in the column pair, and which of "
    "them is grammatical in the column status.",
    "pairs.no_partner": "{n:trial} without a partner or a status left out.",
    "pairs.half_seen": "{n:pair} left out, because only one of the sentences was seen.",
    "pairs.rated_equally": "{n:pair} rated equally, although the probability that guessing passes assumes that none "
    "is.",
    "pairs.categories": "The pairwise account needs choices or ratings, because categories have no order.",
    "controls.relational": "mean {grammatical:.2} for grammatical and {ungrammatical:.2} for ungrammatical controls "
    "(the first must be higher); guessing passes with p {p:p}",
    "controls.extended": "mean {grammatical:.2} for grammatical and {ungrammatical:.2} for ungrammatical controls (a "
    "difference of {apart} is required); guessing passes with p {p:p}",
    "controls.strict": "mean {grammatical:.2} for grammatical and {ungrammatical:.2} for ungrammatical controls, "
    "{slips} on the wrong side or unanswered (at least {least} and at most {most} required, without slips); guessing "
    "passes with p {p:p}",
    "controls.not_both": "not both kinds of control sentences were shown",
    "controls.not_ratings": "The answers are right or wrong rather than ratings, so the account {account:quoted} "
    "does not apply.",
    "controls.few_for_means": "Means treat ratings as numbers, which takes at least {enough} trials per condition; "
    "some participants have only {fewest}.",
    "controls.published_only_positional": "published is a rule of the positional account and cannot be combined with "
    "slips.",
    "controls.neutral_only_positional": "neutral_at_most is a rule of the positional account.",
    "controls.no_slips": "The {account} account has no slips. State them with the positional account.",
    "controls.several_scales": "The {account} account needs ratings on one scale with points, but these controls "
    "have several scales.",
    "controls.other_scale": "The {account} account needs ratings on a scale with points, but these controls have a "
    "{scale} scale.",
    "controls.status_missing": "The {account} account compares grammatical with ungrammatical controls, but the "
    "column status does not name both.",
    "neutral.middle": "The scale names no neutral point, so its middle is used ({points:or}).",
    "neutral.no_point": "The scale of the controls has no neutral point, so neutral_at_most flags nobody.",
    "neutral.guessing_at_most": "Too many neutral answers fail as well, so guessing passes with at most the "
    "probability shown.",
    "neutral.bad_share": "neutral_at_most must be a share between 0 and 1, not {value}.",
    "sensitivity.undefined": "d′ and c are not defined for {undefined} of {participants:participant}. They need "
    "answers to trials with both correct answers, yes and no.",
    # ==================== screen: answers, sequences, credence ====================
    "answering.nobody": "Nobody answered a trial outside practice.",
    "answering.none": "no answers outside practice",
    "straightlining.settings": "`alpha` must be between 0 and 1, and `shares` must be \"own\" or \"even\".",
    "straightlining.same": "the same answer {answer:quoted} in all [[{trials:trial}]][[{answers:answer}]]"
    "[[ (answers on the {scale} scale)]]",
    "straightlining.run": "the answer {answer:quoted} {run:time} in a row, of [[{trials:trial}]][[{answers:answer}]]"
    "[[ (answers on the {scale} scale)]]",
    "straightlining.period": "answers repeat with a period of {period}; {equal} of {comparisons} match"
    "[[ (answers on the {scale} scale)]]",
    "straightlining.left": "the left side in {chosen} of {choices:pair}[[ (answers on the {scale} scale)]]",
    "straightlining.right": "the right side in {chosen} of {choices:pair}[[ (answers on the {scale} scale)]]",
    "straightlining.no_pattern": "no pattern; the longest run is {run} of [[{trials:trial}]][[{answers:answer}]]",
    "inconsistency.no_repeats": "Nobody answered an item more than once, so there are no repeated questions to "
    "compare.",
    "inconsistency.not_judged": "{participants:participant} repeated too few questions, or on scales without ends, to "
    "tell attention from guessing, and {participants:is|are} not judged.",
    "inconsistency.upper": "`upper` must be above 0, got {upper}.",
    "inconsistency.several_scales": "The repeated questions have different scales, so differences are shares of each "
    "scale's width.",
    "inconsistency.no_deviation": "At least half of the {scores:score} are {median:.2}, so the median absolute "
    "deviation is 0 and every score above the median is flagged, however small the difference. Check the scores "
    "themselves.",
    "inconsistency.steps": "answers to {questions:repeated question} differ by {difference:.2} scale steps (root mean "
    "square of {comparisons:comparison})[[; guessing gives {limit:.2} or less]][[ with p = {p:.3r}]]",
    "inconsistency.widths": "answers to {questions:repeated question} differ by {difference:.2} of the scale's width "
    "(root mean square of {comparisons:comparison})[[; guessing gives {limit:.2} or less]][[ with p = {p:.3r}]]",
    "inconsistency.once": "no question was answered twice",
    "scale_use.neutral_at_most": "`neutral_at_most` must be a share from 0 to 1, got {neutral_at_most}.",
    "scale_use.no_neutral_point": "The scale has no neutral point, so nobody can be flagged. The other columns are for "
    "information only.",
    "scale_use.only_test_items": "Only test items have a known status or expected answer, so contrast and compression "
    "describe the test items.",
    "scale_use.no_clear_items": "No items are known to be high or low (columns status and expected), so contrast and "
    "compression cannot be computed.",
    "scale_use.no_contrast": "The median participant does not rate high items above low ones, so compression cannot be "
    "computed.",
    "scale_use.neutral": "{neutral} of {answers:answer} neutral; most common answer: {commonest:quoted} ({share:%})"
    "[[; not flagged because {others:%} of the others' answers to the same stimuli are neutral]]"
    "[[; not flagged with fewer than {fewest:answer}]]",
    "scale_use.commonest": "the scale has no neutral point; most common answer: {commonest:quoted} ({share:%})",
    "even_odd.at_least": "`at_least` must be a correlation from −1 to 1, got {at_least}.",
    "even_odd.few_groups": "At least {fewest:group} with two or more answers are needed, and no participant has more "
    "than {most} (grouped by {columns:and}). Use `groups` to name other columns that distinguish what is asked.",
    "even_odd.unknown_group": "There is no column {name} to group answers by.[[ Did you mean {close}?]]",
    "even_odd.empty_groups": "`groups` names no column. Leave it out, or name a column such as status.",
    "even_odd.groups": "Answers are grouped by {columns:and}.",
    "even_odd.left_out": "Not used to group answers: {columns:and}. Groups would otherwise have hardly two answers "
    "each.",
    "even_odd.low_median": "The median score is {median:.2r+}. These groups hardly differ in what participants answer, "
    "so a low score says little about a participant. Use `groups` to name other columns that distinguish what is "
    "asked.",
    "even_odd.correlation": "two halves of the answers correlate at {score:.2r+} (corrected; {groups:group}, "
    "{answers:answer})",
    "even_odd.few": "not computed: {groups:group} with two or more answers, {fewest} needed",
    "even_odd.same": "not computed: the means of one half are the same in all {groups:group}",
    "mahalanobis.alpha": "`alpha` must be a probability between 0 and 1, got {alpha}.",
    "mahalanobis.nothing_shared": "No two participants answered the same stimulus, so they cannot be compared.",
    "mahalanobis.distance": "squared distance {squared:.1+} with {answers:answer}, p [[= {p:.3r+}]]"
    "[[< {p_below:.3r}]][[; not flagged because answers correlate at {agreement:.2r+} with those of the others]]"
    "[[; not flagged with fewer than {fewest:answer}]]",
    "mahalanobis.no_answers": "not computed: no answers to stimuli that others answered",
    "mahalanobis.few_participants": "With {participants:participant} and {stimuli:stimulus}, the covariance of each "
    "pair cannot be estimated. All pairs are assumed to have the same correlation, and the probabilities are "
    "approximate.",
    "mahalanobis.few_answers": "The stimuli have {mean:.1} answers each on average. With fewer than {fewest}, "
    "distances come out too small and hardly anybody is flagged.",
    "mahalanobis.no_variance": "All participants gave the same answer to each stimulus, so all distances are 0.",
    "mahalanobis.single_answers": "{answers:answer} to stimuli that only one participant answered {answers:was|were} "
    "left out.",
    "person_total.at_least": "`at_least` must be a correlation from −1 to 1, got {at_least}.",
    "person_total.few_stimuli": "At least {fewest:stimulus} that {others} others also answered are needed, and no "
    "participant has more than {most}.",
    "person_total.left_out": "Only one kind of answer is compared: {kind:word}. Left out: {left_out:and}.",
    "person_total.correlation": "answers correlate at {score:.2r+} with those of the others ({stimuli:stimulus}, "
    "{others:.1} others each)",
    "person_total.unclear": "answers correlate at {score:.2r+} with those of the others, but {stimuli:stimulus} are "
    "too few to distinguish this from the usual {usual:.2r+}",
    "person_total.lone": "answers correlate at {score:.2r+} with those of the others, but all are the same except "
    "one or two ({stimuli:stimulus})",
    "person_total.few": "not computed: {stimuli:stimulus} that {fewest_others} others also answered, {fewest} needed",
    "person_total.same": "not computed: the same answer to all {stimuli:stimulus}",
    "person_total.others_same": "not computed: the mean answer of the others is the same for all {stimuli:stimulus}",
    "markov.settings": "`cutoffs` must be \"simulated\" or \"published\", and `strategy` must be \"rows\", \"average\" "
    "or \"minimum\".",
    "markov.alpha": "`alpha` must be a probability between 0 and 1, got {alpha}.",
    "markov.few_simulations": "With {simulations:simulation}, nobody can be flagged at alpha = {alpha} (alpha is "
    "divided by the number of scales). Use at least {least}, better many more.",
    "markov.no_published_minimum": "There is no published cutoff for the minimum. Use the strategy rows or average, or "
    "simulated cutoffs.",
    "markov.published_for_two": "The published cutoffs are for two answers. Use simulated cutoffs.",
    "markov.published_length": "The published cutoffs were made for 80 trials; participants here gave about "
    "{answers:answer}.",
    "markov.scale_answers": "the {scale} scale, with {levels:answer}",
    "markov.scale_numbers": "the {scale} scale, with numbers",
    "markov.scale_short": "the {scale} scale, on which nobody gave {least:answer}",
    "markov.no_crowd": "Stimuli were judged by fewer than three participants on average, so all get the same shares of "
    "answers in the simulation.",
    "markov.no_sequences": "Transitions need sequences of at least {least:answer} on a scale with 2 to {most_levels} "
    "answers, and there are none.[[ There is only {scales:and}.]]",
    "markov.left_out": "Scales left out: {scales:and}.",
    "markov.same_majority": "All stimuli have the same majority answer, so their balance cannot be changed.",
    "markov.many_stimuli": "{stimuli:stimulus} are too many to compare in parts (at most {most}). Leave the criterion "
    "out, or name items so that participants share them.",
    "markov.missed": "In simulations with {answers:answer}, the cutoffs miss these shares of participants who follow a "
    "pattern: {missed}. Majority answers: {balance}.",
    "markov.few_answers": "{answers:answer}, too few for transitions",
    "markov.primary_choice": "answers keep to one choice ({way}): {measure:word} {score:.2+}, below {cutoff:.2+}"
    "[[, p {p:p}]][[ (answers from {scale})]]",
    "markov.stay": "each answer repeats the one before: {measure:word} {score:.2+}, below {cutoff:.2+}"
    "[[, p {p:p}]][[ (answers from {scale})]]",
    "markov.repeated_pattern": "answers cycle through {way}: {measure:word} {score:.2+}, below {cutoff:.2+}"
    "[[, p {p:p}]][[ (answers from {scale})]]",
    "markov.random_guessing": "every answer is equally likely after every other: {measure:word} {score:.2+}, below "
    "{cutoff:.2+}[[, p {p:p}]][[ (answers from {scale})]]",
    "markov.near_primary_choice": "no pattern; nearest to always answering {way}[[, {measure:word} {score:.2+}, not "
    "below {cutoff:.2+}]][[, p {p:p}]][[ (answers from {scale})]]",
    "markov.near_stay": "no pattern; nearest to repeating the answer before[[, {measure:word} {score:.2+}, not below "
    "{cutoff:.2+}]][[, p {p:p}]][[ (answers from {scale})]]",
    "markov.near_repeated_pattern": "no pattern; nearest to cycling through {way}[[, {measure:word} {score:.2+}, not "
    "below {cutoff:.2+}]][[, p {p:p}]][[ (answers from {scale})]]",
    "markov.near_random_guessing": "no pattern; nearest to answering evenly at random[[, {measure:word} {score:.2+}, "
    "not below {cutoff:.2+}]][[, p {p:p}]][[ (answers from {scale})]]",
    "risk.no_right_answers": "No correct answers are recorded, so accuracy is agreement with the majority.",
    "risk.no_majority": "No item has a majority answer. Add the correct answers in the column expected.",
    "risk.criteria": "`criteria` must name markov, deletion or both.",
    "risk.not_flagged": "not flagged by a criterion of answers",
    "risk.accuracy": "{level:word} ({score} of 3): flagged by a criterion of answers[[, with a run of {run} equal "
    "answers]]; mean time {time:word}; accuracy {accuracy:word}",
    "risk.agreement": "{level:word} ({score} of 3): flagged by a criterion of answers[[, with a run of {run} equal "
    "answers]]; mean time {time:word}; agreement with the majority {accuracy:word}",
    "credence.below": "`below` must be a probability between 0 and 1, got {below}.",
    "credence.few_participants": "Each participant is compared with the others, so at least {fewest:participant} are "
    "needed.",
    "credence.few_answers": "At least one participant must have {fewest:answer}, and nobody gave that many.",
    "credence.classes": "Answers on a {scale} scale are grouped into {classes} classes that are equally frequent "
    "overall.",
    "credence.numbers_in_parts": "Numeric answers are grouped into classes using all of them, which works in parts for "
    "at most {most:participant}.",
    "credence.share": "An estimated {share:%} of participants answered attentively, as learned from these judgments.",
    "credence.little_evidence": "{participants:participant} gave fewer than {fewest:answer}. With so little evidence, "
    "the probability stays near that of the crowd.",
    "credence.no_times": "There are no response times, so hurried answers cannot be detected, and neither can a "
    "language model that answers well: no probability is above .99.",
    "credence.by_classes": "Classes of stimuli describe these answers better than strengths, so answers were judged by "
    "classes. A preference for some answer, or fewer agreements than usual, is no reason to flag anybody.",
    "credence.misfit": "The model does not describe these data, so nobody is judged: {figure:word} {observed:.2} in "
    "the data and {expected:.2} by the model.",
    "credence.many": "More than a third of the participants are flagged ({flagged} of {participants}), which is "
    "unusual. Look at the task and the answers before you exclude anybody.",
    "credence.sparse": "Each participant judged only a few of very many stimuli, so groups of speakers were not looked "
    "for.",
    "credence.two_groups": "There are two groups of speakers who agree among themselves, with {share:%} in the second. "
    "Each participant is compared with their own group.",
    "credence.drawn": "The model was learned from {drawn} of {participants:participant}, drawn at random (seed "
    "{seed}). The share of attentive participants therefore has a standard error of {error} percentage points.",
    "credence.left_out": "{answers:answer} to stimuli that none of these participants judged {answers:was|were} left "
    "out.",
    "credence.no_answers": "no answers to analyse",
    "credence.probability": "attentive with probability [[{probability:.2r+}]][[below {below:.3r}]]"
    "[[above {above:.3r}]][[; closest behaviour: {behaviour:word}]][[ from trial {switch} on]]"
    "[[ ({switch_from} to {switch_to})]][[; against: {against:word}]][[; in favour: {in_favour:word}]]"
    "[[; compared with speakers of group {speakers}]][[; {limit:word}]]",
    "credence.summary": "{flagged} of {participants:participant} flagged (attentive with a probability below "
    "{below:.2r+}).",
    "credence.nothing_to_draw": "The participant {participant} has no answers to draw.",
    "credence.unknown_participant": "There is no participant {participant}.[[ Did you mean {close}?]]",
    "twins.setting": "`{setting}` cannot be {value}.",
    "twins.few_pairs": "Pairs of participants are compared with each other. At least {fewest} pairs with {shared} "
    "items in common are needed, but there are {pairs}.",
    "twins.too_many": "Every participant is compared with every other on every item, which is possible for up to "
    "{most:participant} and {cells} cells of participants × items; there are {participants} × {items}.",
    "twins.pair": "agrees with {partner} on {agreement:%} of {shared:item}, where {expected:%} are expected[[; alike "
    "with {others} more]]",
    "twins.apart": "closest to {partner}: {agreement:%} of {shared:item} answered alike, {expected:%} expected",
    "twins.few_shared": "not computed: no other participant answered {fewest} of the same items",
    "too_regular.rate": "`rate` must be between 0 and 1, got {rate}.",
    "too_regular.little": "At least {participants} participants with {fewest} answers or response times each are "
    "needed.",
    "too_regular.no_times": "There are not enough response times, so only answers were looked at.",
    "too_regular.few": "not computed: too few answers and times",
    "too_regular.signs": "more regular than anybody else: {signs:word} (false discovery rate {p:.3r})",
    "too_regular.usual": "no more regular than others",
    "platform_flags.setting": "`{setting}` cannot be {value}.",
    "platform_flags.none": "The table of participants has no fraud fields of Qualtrics (Q_RecaptchaScore and others) "
    "and no authenticity checks of Prolific.",
    "platform_flags.flag": "{column} is {value}",
    "platform_flags.flagged": "flagged by the platform: {flags:and}[[; mixed: {mixed:and}]]",
    "platform_flags.clear": "{n} of the platform's fields, none a flag[[; mixed: {mixed:and}]]",
    "platform_flags.empty": "the platform's fields are empty",
    "word.sign.answers": "answers follow the consensus",
    "word.sign.marks": "response times lack the marks of reading",
    "word.sign.spread": "response times hardly differ",
    "word.follows the consensus closely": "follows the consensus closely",
    "probes.at_least": "`at_least` must be two or more, got {at_least}: one hit alone never excludes anybody.",
    "probes.none": "There are no answers to honeypots, shibboleths or modality checks with expected answers.",
    "probes.hit": "{hits} of {probes} probes answered as programs do: {items:and}",
    "probes.clear": "{probes} probes answered as people do",
    "probes.unseen": "saw no probes",
    "word.ordered": "ordered",
    "word.choice": "choice",
    "word.primary choice": "primary choice",
    "word.repeated pattern": "repeated pattern",
    "word.random guessing": "random guessing",
    "word.intermittent lapses": "intermittent lapses",
    "word.rushing": "rushing",
    "word.largest row divergence": "largest row divergence",
    "word.aKLD": "average divergence (aKLD)",
    "word.mKLD": "smallest divergence (mKLD)",
    "word.not below the mean": "not below the mean",
    "word.below the mean": "below the mean",
    "word.far below the mean": "more than one standard deviation below the mean",
    "word.not known": "not known",
    "word.risk high": "high risk",
    "word.risk moderate": "moderate risk",
    "word.risk undetermined": "undetermined risk",
    "word.misfit.agreement": "two attentive participants agree with probability",
    "word.misfit.spread": "the standard deviation of agreement over stimuli is",
    "word.misfit.entropy": "the mean entropy of the answers to a stimulus (from 0 to 1) is",
    "word.misfit.runs": "the same button follows itself with probability",
    "word.misfit.flagged": "agreement beyond chance among those who would be flagged, relative to the others, is",
    "word.limit.agrees": "agreement with the others is above chance",
    "word.limit.alone": "most answers are to stimuli that no attentive participant judged",
    "word.limit.close": "answers follow the others too closely to be certain without response times",
    "word.evidence.agreement": "agreement with the others",
    "word.evidence.controls": "controls and attention trials",
    "word.evidence.sequence": "the sequence of answers",
    "word.evidence.times": "response times",
    # ==================== screen: crowd (Spammer Index, deletion, procedure, sources) ====================
    "crowd.no_categories": "Answers in categories (yes or no, ratings, labels or choices) are needed, but there "
    "are none.",
    "crowd.several_scales": "There are several scales. Only the {answers:answer} on the {scale} scale "
    "{answers:was|were} used.",
    "crowd.no_column": "There is no column {column}.[[ Did you mean {close}?]]",
    "crowd.too_few": "At least two participants and two items are needed.",
    "crowd.same_answer": "All participants gave the same answer, so there is nothing to compare.",
    "crowd.not_fitted": "The model of {answers:answer} in {categories} categories cannot be fitted because some "
    "categories are too rare. Merge rare categories or collect more answers.",
    "crowd.too_many_labels": "{participants:participant} × {items:item} with {labels} labels are too many for a "
    "nominal model. Use some of the items, preferably those most participants answered (call "
    "karat.screen.spammer_index in Python with their judgments). Or merge the labels into two, whose model is "
    "far smaller, though slow for a million answers (karat convert FILE --answers a=a,b=rest,c=rest --scale "
    "nominal:a,rest -o OUT).",
    "spammer_index.low": "Spammer Index {value:.3r} [{lower:.3r}, {upper:.3r}]: no sign that many participants "
    "answered without regard to the items.",
    "spammer_index.suspicious": "Spammer Index {value:.3r} [{lower:.3r}, {upper:.3r}]: about {suspicious} of "
    "{participants:participant} may have answered without regard to the items.",
    "spammer_index.raised": "Spammer Index {value:.3r} [{lower:.3r}, {upper:.3r}]. This does not count careless "
    "participants: {why:and}. Different use of the scale, dialects and similar items raise the index as well.",
    "spammer_index.ordered": "answers are ratings",
    "spammer_index.items_alike": "items differ less than answers to the same item",
    "spammer_index.alone": "no criterion was compared with it",
    "spammer_index.no_criterion": "no criterion flags a similar number of participants",
    "spammer_index.simulations": "`simulations` must be 0 or more, not {simulations}.",
    "spammer_index.no_variance": "This model has no single variance of participants.",
    "spammer_index.rounds_of_labels": "Rounds (column {column}) are ignored because the model of labels has no "
    "effects of time by participant or item.",
    "spammer_index.nothing_varies": "Nothing varies in the model of these answers, so the share is not defined.",
    "spammer_index.no_lower_end": "The lower end of the profile interval was not found and is set to 0. Use "
    "simulations = 199 for a bootstrap interval instead.",
    "spammer_index.no_upper_end": "The upper end of the profile interval was not found and is set to 1. Use "
    "simulations = 199 for a bootstrap interval instead.",
    "spammer_index.no_sample": "No bootstrap sample could be fitted. Leave out `simulations`.",
    "spammer_index.lost_samples": "{lost} bootstrap {lost:sample|samples} {lost:was|were} left out because an "
    "answer category was missing or the fit had no maximum.",
    "spammer_index.pooled": "The index of labels depends on the baseline category, so it is pooled over all baselines.",
    "spammer_index.no_category_variances": "Labels need a model with one variance per category.",
    "spammer_index.bootstrap_baseline": "The bootstrap uses the model with baseline {baseline}.",
    "spammer_index.not_converged": "The model did not converge[[: {reason}]].",
    "spammer_index.baseline": "Baseline {baseline}: {note}",
    "spammer_index.labels_in_rounds": "The index with rounds is for yes-or-no and ordered answers, not for labels.",
    "spammer_index.rounds": "There are {rounds} {rounds:round|rounds} (column {column}). The variance of time is "
    "that of their fixed effects; the variance of participants by items is left out (see "
    "karat.screen.crowd.spammer_rounds).",
    "spammer_index.rounds_not_converged": "The model of rounds did not converge: {reason}",
    "spammer_index.without_round": "{answers:answer} {answers:was|were} left out because column {column} has no value.",
    "spammer_index.not_quick": "With --criteria, the index is fitted only if that takes a few seconds. Screen "
    "without --criteria to get it, or call karat.screen.spammer_index in Python.",
    "spammer_index.nobody": "No participants are left after exclusion.",
    "spammer_index.no_room": "Its model does not fit into memory.",
    "spammer_index.too_many_answers": "It would take long for more than {answers:answer}. Call "
    "karat.screen.spammer_index in Python to fit it anyway. For a folder of parts (--parts), it is fitted to a sample.",
    "spammer_index.takes_long": "It would take about {minutes:minute} for these labels. Call "
    "karat.screen.spammer_index in Python to fit it anyway. For a folder of parts (--parts), it is fitted to a sample.",
    "spammer_index.none": "No Spammer Index. {why}",
    "spammer_index.unfinished": "The fit was interrupted. Run the same command again.",
    "spammer_index.no_bootstrap_in_parts": "A bootstrap redraws all answers and needs them in memory. Leave out "
    "`simulations` to get the profile interval.",
    "spammer_index.too_few_passes": "{why} Allow more than {passes} passes.",
    "spammer_index.no_interval": "The profile interval was not found within {passes} passes; its ends are set to "
    "0 and 1.",
    "spammer_index.standard_error": "The standard error of the index is about {error:.3r}, from the profile "
    "interval of the sample.",
    "spammer_index.few_rounds_held": "Only the rounds of {participants:participant} fit into memory, too few for "
    "a model.",
    "spammer_index.thin_items": "{participants:participant} × {items:item} with {labels} labels are too many for "
    "a nominal model, and a sample that can be fitted ({sample_participants:participant}, {sample_items:item}) "
    "has only {mean:.1} answers per item; it needs {least}. Use some of the items, preferably those most "
    "participants answered (call karat.screen.spammer_index in Python with their judgments). Or merge the labels "
    "into two, whose model is far smaller, though slow for a million answers (karat convert FILE --answers "
    "a=a,b=rest,c=rest --scale nominal:a,rest -o OUT).",
    "spammer_index.thin_participants": "{participants:participant} × {items:item} with {labels} labels are too "
    "many for a nominal model, and a sample that can be fitted ({sample_participants:participant}, "
    "{sample_items:item}) has only {mean:.1} answers per participant; it needs {least}. Use some of the items, "
    "preferably those most participants answered (call karat.screen.spammer_index in Python with their "
    "judgments). Or merge the labels into two, whose model is far smaller, though slow for a million answers "
    "(karat convert FILE --answers a=a,b=rest,c=rest --scale nominal:a,rest -o OUT).",
    "spammer_index.sample": "The model is held in memory, so it was fitted to {answers:answer} by {sample} of "
    "{participants:participant}[[ to {sample_items} of {items:item}]], drawn at random (seed {seed}).",
    "index_by_share.shares": "`shares` must be numbers from 0 to below 1.",
    "index_by_share.too_few": "{needed:participant} of the kind {kind} with names of their own are needed, but "
    "there are {known}.",
    "frozen.rules": "The rules changed after the study started: {changes}.",
    "frozen.added": "{criterion} was added",
    "frozen.removed": "{criterion} was removed",
    "frozen.defaults": "karat's default settings changed after the study started, so settings that the study file does "
    "not state may differ.",
    "frozen.items": "Items changed after the study started: {items}[[ and {more} more]].",
    "deletion.not_compared": "no answers that could be compared",
    "deletion.published": "without these {answers:answer} the model's deviance falls by {distance:.1+}; the published "
    "rule calls {limit:.1} and more unusual[[ (simulated p = {p:.3r+})]][[ (simulated p < {p_below:.3r})]]",
    "deletion.unusual": "without these {answers:answer} the model's deviance falls by {distance:.1+}; among "
    "redrawn answers p[[ = {p:.3r+}]][[ < {p_below:.3r}]], below {alpha:.2r+}",
    "deletion.agrees": "without these {answers:answer} the model's deviance falls by {distance:.1+}; among "
    "redrawn answers p[[ = {p:.3r+}]][[ < {p_below:.3r}]]; not flagged because they agree with the answers of the "
    "others above chance",
    "deletion.few": "without these {answers:answer} the model's deviance falls by {distance:.1+}; among "
    "redrawn answers p[[ = {p:.3r+}]][[ < {p_below:.3r}]]; not flagged because the answers are too few",
    "deletion.usual": "without these {answers:answer} the model's deviance falls by {distance:.1+}; among "
    "redrawn answers p[[ = {p:.3r+}]][[ < {p_below:.3r}]], not below {alpha:.2r+}",
    "deletion.alpha": "`alpha` must be a probability between 0 and 1, not {alpha}.",
    "deletion.too_many": "Deletion refits the model without each of {participants:participant}, which takes "
    "long. To do it anyway, write deletion = {{ at_most = {at_most} }} under [screening] in the study file or in "
    "a file for --rules, or use at_most={at_most} in Python.",
    "deletion.takes_long": "For {labels:label}, refitting the model without each participant would take about "
    "{minutes:minute}. To do it anyway, write deletion = {{ at_most = {at_most} }} under [screening] in the study file "
    "or in a file for --rules, or use at_most={at_most} in Python.",
    "deletion.by": "`by` must be published or simulated, not {by}.",
    "deletion.simulations": "`simulations` must be 0 or more, not {simulations}.",
    "deletion.too_few": "With {simulations} {simulations:simulation|simulations}, no p can be below "
    "{alpha:.2r+}, so nobody could be flagged. Use at least {least}, preferably many more.",
    "deletion.flags_most": "The published rule flags most participants: with more than two answer categories, "
    "its chi-squared distribution is far from what is usual. Do not exclude participants by it; let the "
    "simulated null distribution decide (by = simulated).",
    "deletion.not_converged": "The model without one participant did not converge for {participants:participant}.",
    "deletion.no_test": "The published rule is not a likelihood-ratio test because the likelihoods are of "
    "different data. Use `simulations` to see what is usual here.",
    "deletion.windows": "`width` must be at least 2 and `step` at least 1.",
    "procedure.no_participant": "There is no participant {participant}.[[ Did you mean {close}?]]",
    "procedure.go_on": "{step}: {met} of {entered} go on.",
    "procedure.verdict": "`verdict` must be \"every step\" or \"any criterion\". The second needs "
    "candidates_only=False, so that every criterion looks at all participants.",
    "procedure.no_index": "The procedure begins with the Spammer Index, which cannot be computed. {why}",
    "procedure.no_model": "The procedure begins with the Spammer Index, which has no model of these answers: {why}",
    "procedure.order": "`order` must be \"markov first\" or \"deletion first\".",
    "procedure.criteria": "`criteria` must be a list of markov, deletion or both.",
    "procedure.auxiliary": "`auxiliary` must be time, accuracy, completeness, some evidence, or None.",
    "procedure.same_criterion": "The auxiliary factor must differ from the criteria.",
    "procedure.settings": "`alpha` must be between 0 and 1, `rule` mean or mean-sd, and `least_index` a share "
    "from 0 to 1.",
    "procedure.index_reached": "{index:.3r+} of the variance lies between participants, at or above {least:.3r+}",
    "procedure.index_below": "{index:.3r+} of the variance lies between participants, below {least:.3r+}",
    "procedure.met": "met {met} of {steps:step}",
    "procedure.not_in_evidence": "not in this evidence",
    "procedure.stopped": "The Spammer Index is below {least:.2r+}, so nobody was examined further. Use "
    "least_index=0 to examine all participants.",
    "procedure.not_judged": "{step}: {participants:participant} could not be judged; the path says why.",
    "accuracy.no_key": "no answers whose right answer is known",
    "accuracy.right": "{per_cent:.1} % right, not below [[{mean:.1} %, the mean]][[{mean_sd:.1} %, one standard "
    "deviation below the mean]]",
    "accuracy.right_below": "{per_cent:.1} % right, below [[{mean:.1} %, the mean]][[{mean_sd:.1} %, one "
    "standard deviation below the mean]]",
    "accuracy.majority": "{per_cent:.1} % with the majority, not below [[{mean:.1} %, the mean]][[{mean_sd:.1} "
    "%, one standard deviation below the mean]]",
    "accuracy.majority_below": "{per_cent:.1} % with the majority, below [[{mean:.1} %, the mean]][[{mean_sd:.1} "
    "%, one standard deviation below the mean]]",
    "compare.group": "{group}: {workers:participant}, {tasks:item}: Spammer Index {spammer_index:.3r} "
    "[{lower:.3r}, {upper:.3r}][[; {markov} flagged by markov]][[; {deletion} flagged by deletion]].",
    "compare.groups": "At least two groups are needed, each with a name: compare({{\"one\": judgments, \"two\": "
    "others}}).",
    "compare.not_computed": "{criterion} could not be computed. {why}",
    "compare.different_items": "The groups judged different items, so differences between groups may come from "
    "the items.",
    "source_effect.adjusted": "Effect of {source} on {outcome}, adjusted for {adjust}, errors clustered by "
    "participant:",
    "source_effect.not_adjusted": "Effect of {source} on {outcome}, not adjusted for anything, errors clustered "
    "by participant:",
    "source_effect.effect": "{source} minus {reference}: {estimate:.3r} [{lower:.3r}, {upper:.3r}], p {p:p} (t "
    "with {df:df} df)",
    "source_effect.no_column": "There is no column {column}.[[ Did you mean {close}?]]",
    "source_effect.left_out": "{answers:answer} {answers:was|were} left out because a column that is used is empty.",
    "source_effect.few_participants": "There are hardly more participants than coefficients, so the standard "
    "errors are unreliable.",
    "source_effect.adjustment_set": "A difference is an effect only if everything that makes both source and "
    "outcome differ is in the adjustment set.",
    "source_effect.settings": "`model` must be linear or logistic, `effect` total or direct, and `errors` CR1 or CR2.",
    "source_effect.level": "`level` must be a probability between 0 and 1, not {level}.",
    "source_effect.same_column": "Source, outcome and adjustment set must be different columns.",
    "source_effect.mediator": "{column} lies between {source} and {outcome} (a mediator): participants from one "
    "source may be less accurate because they are faster, and adjusting for time hides that. Leave it out, or "
    "use effect=\"direct\" if you mean the direct effect.",
    "source_effect.one_value": "Column {column} has the same value throughout, so there is nothing to compare.",
    "source_effect.reference": "{reference} is not a value of {source}. Its values are {values}.",
    "source_effect.not_a_number": "Column {outcome} must hold numbers, or true and false.",
    "source_effect.not_binary": "Logistic regression needs an outcome of 0 and 1, but {outcome} has other values.",
    "source_effect.confounded": "{column} and {source} always go together, so these data cannot separate their "
    "effects. Leave out {column}, and report that both are meant.",
    "source_effect.redundant": "{column} follows from the other columns of the adjustment set. Leave it out.",
    "source_effect.no_maximum": "The logistic model has no maximum, for example because all answers of a group "
    "are right. Use model=\"linear\".",
    "word.cleared": "cleared",
    "word.not judged": "not judged",
    "word.noted": "noted",
    "word.flagged": "flagged",
    "word.goes on": "goes on",
    # ==================== screen: runs, rules, multiverse, effects, composition ====================
    "screening.flagged": "{criterion}: {flagged} of {participants:participant} flagged.",
    "screening.not_run": "{criterion}: not run.",
    "screening.nobody_left": "No participants are left: the rules have already excluded all of them.",
    "screening.not_in_parts": "Cannot run in parts because it looks at all participants at once. Screen a table "
    "that fits into memory.",
    "screening.written": "verdicts: written.",
    "screening.written_before_index": "verdicts: written. The Spammer Index is fitted last.",
    "screening.skipped": "{criterion} could not run. {why}",
    "screening.no_rule": "Nobody is excluded: no rule was stated.",
    "screening.excluded": "{excluded} of {participants:participant} excluded (rule: {rule}).",
    "rules.any": "any of {criteria}",
    "rules.all": "all of {criteria}",
    "rules.number": "at least {rule} of {criteria}",
    "rules.applied": "{rule}[[; without {skipped:and}, which could not run]]",
    "rules.settings": "The settings of {criterion} cannot be used ({problems}).",
    "rules.not_applicable": "The rules cannot be applied ({why}).",
    "rules.syntax": "A rule may contain only names of criteria, and, or, not and parentheses.",
    "explain.excluded": "Participant {participant} was excluded from the analysis by the stated rule ({rule}).",
    "explain.kept": "Participant {participant} is part of the analysis by the stated rule ({rule}).",
    "explain.kept_flagged": "Participant {participant} is part of the analysis by the stated rule ({rule}), "
    "although a criterion flagged them.",
    "explain.no_rule": "Participant {participant}: no rule was stated, so nobody is excluded. No criterion "
    "flagged them.",
    "explain.no_rule_flagged": "Participant {participant}: no rule was stated, so nobody is excluded. {flags} of "
    "{criteria} criteria flagged them.",
    "explain.no_proof": "Such a probability sums up what a model expects of attentive answers. It is no proof: "
    "participants whose language differs from that of all others can have a low one too.",
    "explain.passed": "These criteria found nothing unusual. {found}.",
    "explain.silent": "These criteria have no score. {found}.",
    "explain.not_reached": "Not examined after exclusion: {criteria}.",
    "explain.no_answers": "No answers to examine: {criteria}.",
    "explain.not_computed": "Could not be computed for anybody: {criteria}.",
    "explain.payment": "This concerns only which answers enter the analysis. It does not say why somebody "
    "answered this way, and payment is a separate decision.",
    "difference.contrast": "The contrast cannot be used ({problems}). Write {{\"factor\": ..., \"levels\": "
    "[first, second]}}.",
    "difference.name": "{factor} {first} minus {second}[[ where {where:and}]]",
    "difference.choices": "share of choices for the first minus the second",
    "difference.share": "share of {level}",
    "difference.steps": "steps of the scale",
    "difference.logarithm": "logarithm",
    "difference.points": "points of the scale",
    "difference.several_scales": "No difference can be computed because the answers are on {scales} ordered scales.",
    "difference.no_order": "No difference can be computed because no answers to test items are ordered.",
    "difference.no_sides": "No difference can be computed because the choices do not say what was shown left and "
    "right.",
    "difference.no_choice": "No difference can be computed because no choice is between {factor} {first} and {second}.",
    "difference.no_whole": "No difference can be computed because no participant answered in all conditions of {first} "
    "minus {second}.",
    "difference.no_column": "No difference can be computed because there is no column {column}.[[ Did you mean "
    "{close}?]][[ The design has {columns}.]]",
    "difference.no_level": "No difference can be computed because {column} has no level {level} on test "
    "trials.[[ Did you mean {close}?]][[ It has {levels}.]]",
    "multiverse.kept": "In {combinations} {combinations:combination|combinations}[[ drawn from {possible}]], "
    "{fewest}[[ to {most}]] of {participants:participant} stay[[ (as stated: {stated})]].",
    "multiverse.no_difference": "No difference between conditions is followed.",
    "multiverse.stated": "The difference {contrast} ({unit}) is {estimate:.2r} with the stated rules[[ (95 % "
    "interval {lower:.2r} to {upper:.2r})]].",
    "multiverse.range": "The difference[[ {contrast}]][[ ({unit})]] lies between {low:.2r} and {high:.2r} over "
    "all combinations.",
    "multiverse.same": "The difference[[ {contrast}]][[ ({unit})]] is {low:.2r} in all combinations.",
    "multiverse.all_apart": "Its 95 % interval excludes 0 in every one.",
    "multiverse.none_apart": "Its 95 % interval excludes 0 in none of them.",
    "multiverse.some_apart": "Its 95 % interval excludes 0 in {apart} of {combinations}.",
    "multiverse.missing": "In {combinations} {combinations:combination|combinations}, nobody is left to compute "
    "it from.",
    "multiverse.sample": "{sample} of {combinations} combinations were drawn at random (seed {seed}).",
    "multiverse.sample_with_stated": "{sample} of {combinations} combinations were drawn at random (seed "
    "{seed}), always including the stated one.",
    "multiverse.no_factor": "No design column has two levels, so only the number of participants who stay is followed.",
    "alternatives.unknown": "The alternatives cannot be tried ({why}).",
    "alternatives.stated": "{criterion} cannot run as stated. {why}",
    "alternatives.not_tried": "{criterion} ({setting}) was not tried. {why}",
    "effects.compared": "{formula}, before and after leaving out {excluded:participant}:",
    "effects.test": "{term}: χ²({df}) = {chisq_before:.2}, p {p_before:p}; after exclusion {chisq_after:.2}, p "
    "{p_after:p}",
    "effects.not_estimated": "{term}: χ²({df}) = {chisq_before:.2}, p {p_before:p}; after exclusion not estimated",
    "effects.not_converged_before": "The model before exclusion did not converge: {reason}",
    "effects.not_converged_after": "The model after exclusion did not converge: {reason}",
    "effects.one_name": "`excluded` must be a list of participants, not a single name.",
    "effects.no_participant": "There is no participant {participant}.[[ Did you mean {close}?]]",
    "effects.nobody_left": "All participants are excluded, so nothing is left to compare.",
    "effects.correct_column": "The table has a column `correct`, so the recorded right answers were not checked.",
    "effects.no_column": "There is no column {column}.[[ Did you mean {close}?]]",
    "effects.labels": "Labels have no order. Add a column for the label you ask about.",
    "effects.family": "Column {column} has {values} different values. Use family=\"binary\", \"ordinal\" or "
    "\"gaussian\".",
    "effects.no_factor": "The formula {formula} has no factor whose means could be drawn.",
    "effects.factors": "At most two factors can be drawn. Name two.",
    "composition.no_background": "No background data, so exclusions cannot be compared across groups.",
    "composition.no_evidence": "No criterion gave evidence, so there are no flags to compare.",
    "composition.excluded": "{flagged} of {participants:participant} {flagged:was|were} excluded.",
    "composition.flagged": "{flagged} of {participants:participant} {flagged:was|were} flagged by the criterion "
    "{criterion:quoted}.",
    "composition.no_group_differs": "No difference in this share is shown between groups of participants "
    "({variables}).",
    "composition.groups_differ": "Groups compared by {variables} differ in {comparisons} "
    "{comparisons:comparison|comparisons}.",
    "composition.excluded_more": "Exclusion affects one group more than the others: {flagged} of "
    "{participants:participant} with {variable} = {group} were excluded, compared with {others_flagged} of "
    "{others} others (p {p:p}, adjusted p {p_adjusted:p}).",
    "composition.excluded_less": "Exclusion affects one group less than the others: {flagged} of "
    "{participants:participant} with {variable} = {group} were excluded, compared with {others_flagged} of "
    "{others} others (p {p:p}, adjusted p {p_adjusted:p}).",
    "composition.flagged_more": "The criterion {criterion:quoted} affects one group more than the others: {flagged} of "
    "{participants:participant} with {variable} = {group} were flagged, compared with {others_flagged} of "
    "{others} others (p {p:p}, adjusted p {p_adjusted:p}).",
    "composition.flagged_less": "The criterion {criterion:quoted} affects one group less than the others: {flagged} of "
    "{participants:participant} with {variable} = {group} were flagged, compared with {others_flagged} of "
    "{others} others (p {p:p}, adjusted p {p_adjusted:p}).",
    "composition.intended": "{variable} decides who is eligible, so it is intended that exclusion affects its groups.",
    "composition.too_small": "{variable}: too few participants to tell for {groups}. With {excluded} of "
    "{participants} excluded, p could not fall to .05 however uneven the exclusion.",
    "background.left_out": "{column} is left out: {why}",
    "background.simulated": "it says how simulated participants answer.",
    "background.names": "it names people.",
    "background.time": "it is a time.",
    "background.criterion": "a criterion already uses it.",
    "background.same_value": "all participants have the same value.",
    "background.too_few_values": "it has fewer than two values.",
    "background.all_different": "every participant has a different value.",
    "background.long": "its values are long texts.",
    "background.too_many_values": "it has {values} different values, too many to compare.",
    # ==================== measure: scores, strengths, contrasts, planned, order effects ====================
    "measure.level": "The level must be between 0 and 1, not {level}.",
    "estimate.interval": "[{lower:.2}, {upper:.2}]",
    "unit.logits": "logits",
    "unit.latent_logits": "logits of the latent scale",
    "unit.shrunken_logits": "logits above the average stimulus",
    "unit.answers": "units of the answers",
    "unit.answer_deviations": "standard deviations of a participant's answers",
    "unit.ratio_deviations": "standard deviations of a participant's log ratios",
    "unit.shares": "shares of the answer {answer:quoted}",
    "unit.points": "points of the scale from {low} to {high}",
    "unit.log_ratios": "natural logarithms of the ratio to the modulus",
    "unit.log_magnitudes": "natural logarithms of magnitudes",
    "unit.noise_deviations": "standard deviations of a typical participant's noise",
    "unit.latent_deviations": "standard deviations of the latent scale",
    "unit.column": "units of {column}",
    "unit.choosing_first": "logits of choosing the first",
    "unit.log_seconds": "logarithms of seconds",
    "strengths.stimuli": "Acceptability estimates of {n:stimulus} ({model}), in {unit}.",
    "strengths.ends": "The highest is {best} ({top}), the lowest {worst} ({bottom}).",
    "strengths.no_stimulus": "There is no stimulus {label:quoted}.[[ Did you mean {close:quoted}?]]",
    "strengths.no_answer": "{n:trial} without an answer {n:was|were} left out.",
    "strengths.no_order": "Answers of the kind {kind:quoted} have no order, so stimuli have no acceptability "
    "estimates. For labels, see the consensus.",
    "strengths.no_model": "{model:quoted} is not a model for {kinds:and} answers. Use {models:or}.",
    "strengths.only_choices": "The option `{option}` is for choices, and the {model} model does not have it. Leave "
    "it out.",
    "strengths.no_spread": "Nobody's answers vary, so there are no z-scores for the model {model:quoted}. Use the "
    "model “mean”, or check who answered attentively.",
    "strengths.single_answers": "{n:stimulus} {n:has|have} fewer than two usable answers and so no standard error.",
    "strengths.flat_answers": "{answers:answer} by {n:participant} {answers:was|were} left out, because answers that "
    "are all the same have no z-scores ({names}[[ and {more} more]]).",
    "strengths.covariances": "With {n:stimulus}, covariances are not kept, so differences treat the estimates as "
    "independent.",
    "strengths.not_fitted": "{reason} Use the model “mean”.",
    "strengths.two_of_each": "Effects of participants and stimuli need at least two of each.",
    "strengths.shrunk": "Estimates are shrunk towards the mean, more so with few answers. Their standard errors "
    "treat the variances as known.",
    "strengths.not_converged": "Do not rely on these estimates. {convergence}",
    "strengths.no_stimulus_variance": "Stimuli do not differ beyond chance: the variance of their effects is zero.",
    "strengths.no_participant_variance": "Participants do not differ in their use of the scale: the variance of "
    "their effects is zero.",
    "strengths.same_answers": "{n} of {participants} participants always gave the same answer.",
    "strengths.no_thresholds": "The {model} model has no thresholds. Use strengths(..., model=\"ordinal\").",
    "posterior.not_installed": "The posterior needs NumPyro: {command}. Without posterior=True, the same model is "
    "fitted by penalised maximum likelihood.",
    "posterior.draws": "Posterior means and intervals are from {draws} draws of {chains} {chains:chain|chains}: "
    "R-hat is at most {rhat:.3}, there are at least {ess} effective draws, and {divergences} "
    "{divergences:divergence|divergences} (standardised strengths and variabilities).",
    "posterior.not_trusted": "The chains do not agree well enough. Use another seed, or the estimate without "
    "posterior=True.",
    "posterior.no_draws": "These estimates have no posterior draws. Use posterior=True.",
    "choices.criterion": "The criterion must be “participant” or “shared”, not {criterion:quoted}.",
    "choices.prior_sd": "prior_sd must be positive, not {sd}.",
    "choices.no_option": "The {model} model has no option `{option}`. Leave it out, or use {models:or}.",
    "choices.no_sides": "The columns `left` and `right`, which name what was compared, are missing. Read the file "
    "again with a mapping of them (mapping={{'left': ..., 'right': ...}} in Python).",
    "choices.unnamed_side": "{n} {n:choice was|choices were} left out because `left` or `right` is not given.",
    "choices.same_sides": "{n} {n:choice was|choices were} left out because both sides show the same stimulus.",
    "choices.no_choices": "No choice has two different stimuli in `left` and `right`.",
    "choices.not_connected": "{apart} Leave these stimuli out, collect more comparisons, or set prior_sd=2 in Python.",
    "choices.prior": "{apart} Only the prior (standard deviation {sd}) places them.",
    "choices.wide_prior": "{apart} Only the model's wide prior (standard deviation {sd}) places them.",
    "choices.groups": "{n} groups of stimuli were never compared with each other: {groups}[[ and {more} more groups]].",
    "choices.group": "({names}[[ and {more} more]])",
    "choices.one_way": "The choices do not connect all stimuli in both directions.[[ {alone}]][[ {together}]]",
    "choices.alone": "Always or never chosen over the stimuli they were compared with: {names}[[ and {more} more]].",
    "choices.together": "As a group always or never chosen over others: {groups}[[ and {more} more groups]].",
    "choices.half_ties": "{n:answer} “no difference” counted as half a choice of either side. The davidson model "
    "treats them as an answer of their own.",
    "choices.no_ties_davidson": "Nobody answered “no difference”, so this is Bradley and Terry's model.",
    "choices.no_ties_thurstone": "Nobody answered “no difference”, so the criterion is near zero and shared by all.",
    "choices.side": "The preference for the left side is {side:.2} logits ({level:%} interval {lower:.2} to "
    "{upper:.2}).",
    "choices.not_converged": "Do not trust these numbers: the fit did not converge[[ (remaining slope {gradient})]].",
    "choices.one_participant": "There is one participant, so intervals treat the choices as independent of each other.",
    "choices.few_participants": "With only {n:participant}, standard errors are likely to be too small.",
    "choices.not_choices": "Estimates by the {model} model are not about choices. Use a model of choices.",
    "choices.unknown": "There are no estimates for {names}[[ and {more} more]]. See `labels` for those there are.",
    "assumptions.nothing": "There is no evidence against one order of the stimuli shared by all participants[[ "
    "(smallest p {p:p})]].",
    "assumptions.not_against": "{test}: no evidence against it ({size}, p {p:p}).",
    "assumptions.triads": "{value} of {of} triads, {expected:.1} expected",
    "assumptions.size": "{value:.2}, {expected:.2} expected",
    "assumptions.weak": "weak transitivity",
    "assumptions.moderate": "moderate transitivity",
    "assumptions.strong": "strong transitivity",
    "assumptions.circular": "circular triads within participants",
    "assumptions.dimension": "second dimension",
    "assumptions.outfit": "participants' fit",
    "assumptions.groups": "groups",
    "assumptions.against_weak": "more triads of stimuli have no order than chance would leave under one shared order",
    "assumptions.against_moderate": "more triads violate moderate transitivity than expected by chance",
    "assumptions.against_strong": "more triads violate strong transitivity than expected by chance",
    "assumptions.against_circular": "participants contradict themselves more often than the model predicts",
    "assumptions.against_dimension": "some participants order the stimuli differently from the others",
    "assumptions.against_outfit": "participants differ more in how well they fit the common order than the model "
    "predicts",
    "assumptions.against_groups": "the groups differ in their estimates",
    "assumptions.samples": "At least 19 samples are needed for a p of .05, not {samples}.",
    "assumptions.participants": "At least two participants are needed.",
    "assumptions.no_triads": "No three stimuli were all compared with each other, so transitivity cannot be tested.",
    "assumptions.no_own_triads": "No participant compared three stimuli all with each other, so there are no "
    "circular triads to count.",
    "assumptions.no_choices": "There are no choices.",
    "assumptions.several_questions": "Several questions have choices. Choose one with the option `question`.",
    "assumptions.several_groups": "{column} must put every participant into one of at least two groups, but some are "
    "in several.",
    "assumptions.no_groups": "{column} must put every participant into one of at least two groups, but some are in "
    "none, or there is only one.",
    "contrasts.no_terms": "The model has no terms to test.",
    "contrasts.interaction": "Difference of differences {term}, {contrast}: {estimate:.2}[[ {interval}]], in {unit}.",
    "contrasts.not_used": "The model {formula} was not used because {reason}. A model with random intercepts only "
    "was fitted instead, so p values are too small if slopes differ.",
    "contrasts.simplified": "The fit was singular, so random effects the data could not support were removed in "
    "{steps} {steps:step|steps}. The remaining ones are {terms}; measures.json of karat measure lists the steps.",
    "contrasts.not_converged": "Do not trust these numbers. {convergence}",
    "contrasts.crossover": "The interaction {term} is a crossover: no monotone transformation of the scale removes "
    "it.[[ {opposite}]]",
    "contrasts.removable": "The interaction {term} depends on the scale: no condition reverses its direction, so a "
    "monotone transformation could remove it.[[ {opposite}]]",
    "contrasts.unsure": "The interaction {term} may depend on the scale: a condition reverses its direction, but not "
    "significantly on both sides.[[ {opposite}]]",
    "contrasts.opposite": "In plain means it has the opposite sign.",
    "contrasts.formula_and_conditions": "A formula already names its conditions. Leave out the formula or the "
    "conditions.",
    "contrasts.no_condition": "No column is clearly a condition of the design. Name the conditions with --conditions, "
    "or set a formula such as response ~ group + (1 | participant) + (1 | item) with karat measure --formula.",
    "contrasts.empty_conditions": "`conditions` is empty. Name at least one column.",
    "contrasts.repeats": "{n:answer} {n:is|are} to a stimulus that the participant had answered before. The model "
    "treats {n:it|them} like any other of that participant and item.",
    "contrasts.labels": "Labels without an order have no contrasts. Treat two of them as yes and no.",
    "contrasts.choices": "A choice is between two stimuli, so it has no condition of its own. Acceptability estimates "
    "compare the stimuli, and decisions compare pairs of them.",
    "contrasts.no_values": "No answer has a value in {conditions:and}.",
    "contrasts.participants": "participants",
    "contrasts.items": "items",
    "contrasts.same_participants": "{n} of {total} participants always gave the same answer.",
    "contrasts.same_items": "{n} of {total} items always got the same answer.",
    "contrasts.too_many_slopes": "With {n} random effects the model would take minutes to fit, so slopes of {group} "
    "were left out. Use karat measure --formula to fit them anyway.",
    "contrasts.many_slopes": "There are many slopes of {group}, so their correlations were left out from the start.",
    "contrasts.not_within": "{condition} does not vary within most {group}, so there is no such slope.",
    "contrasts.one_answer_per_cell": "There is no slope of {terms:and} for {group} because most have only one answer "
    "per cell.",
    "contrasts.no_factors": "The model has no factors, so there are no means to plot.",
    "contrasts.too_many_factors": "{n} factors do not fit into a figure. Use a formula with fewer.",
    "contrasts.too_many_levels": "{factor} has more than {most} levels, too many to distinguish as lines.",
    "contrasts.no_means": "No mean of the model could be estimated, so there is nothing to plot. See its notes.",
    "proportional.splits": "For {n} of {splits} coefficients at a split of the scale, the interval excludes the "
    "coefficient that all splits share in the ordinal model.",
    "proportional.not_ordinal": "Proportional odds are an assumption of ordinal models, and these answers have another "
    "model.",
    "proportional.no_fit": "The split at {split} could not be fitted.",
    "spread.test": "Equal spread of the answers in all conditions: χ²({df}) = {chi2:.2}, p {p:p}.",
    "spread.not_ordinal": "Equal spread is checked for ratings with the logit link; these answers have another model.",
    "spread.no_fit": "The fit with unequal spread did not converge.",
    "bayes.difference": "{name}: {first} minus {second} is {estimate:.2} {interval}[[, {response:.2}]][[ {answers} on "
    "the scale of the answers]].",
    "bayes.posterior": "{name}: {positive:%} of the posterior lie above zero, {rope:%} within ±{bound:.2}.",
    "bayes.null": "{name}: the answers are {factor:.1} times as probable without a difference as with one.",
    "bayes.alternative": "{name}: the answers are {factor:.1} times as probable with a difference as without one.",
    "bayes.much_null": "{name}: the answers are over {factor} times as probable without a difference as with one.",
    "bayes.much_alternative": "{name}: the answers are over {factor} times as probable with a difference as without "
    "one.",
    "bayes.units": "Differences are in {unit}, those on the scale of the answers in {answers} for a typical "
    "participant and item.",
    "bayes.not_installed": "Bayesian models need NumPyro: {command}. Without it, `contrasts` fits the same model by "
    "maximum likelihood.",
    "bayes.draws": "Posteriors are from {draws} draws of {chains} {chains:chain|chains}: R-hat is at most {rhat:.3}, "
    "there are at least {ess} effective draws, and {divergences} {divergences:divergence|divergences}.",
    "bayes.not_converged": "The sampler did not converge, so do not rely on these posteriors: R-hat should be below "
    "{rhat}, effective draws at least {ess}, and divergences none. Use more draws or fewer random effects.",
    "bayes.rough_factor": "Hardly any draws lie beyond zero for {names:and}, so the Bayes factor is known by its order "
    "of magnitude only.",
    "bayes.fits": "Posterior predictive check: answers drawn from the model resemble those given in all {statistics} "
    "statistics.",
    "bayes.misfit": "Posterior predictive check: {n} of {statistics} statistics lie outside the intervals of answers "
    "drawn from the model: {names:and}.",
    "planned.difference": "{name}: {first} minus {second} is {estimate:.2} {interval}[[, p {p:p}]].",
    "planned.no_interval": "{name}: {first} minus {second} is {estimate:.2}, without an interval.",
    "planned.unit": "Differences are in {unit}.",
    "planned.equivalence": "{name}: {verdict} (equivalence p {p:p}).",
    "planned.equivalent": "the difference is smaller than the stated bound",
    "planned.different": "the difference is larger than the stated bound",
    "planned.undecided": "whether the difference is smaller than the stated bound is undecided",
    "planned.failed": "The planned comparison {name:quoted} could not be computed. {reason}",
    "planned.no_term": "The model has no term of {factors:and}.",
    "planned.no_answers": "There are no answers at {first} or {second}.",
    "planned.no_factor": "The model has no factor {names:and}.",
    "planned.choice": "A choice compares two levels, so it has no interaction or weights over cells. Plan a difference "
    "of two levels `within` each level of the other factor.",
    "planned.no_column": "The choices have no column {column:quoted}.",
    "planned.no_choice": "No choice is between {levels:and} of {factor}.",
    "planned.ties": "{name}: {n:answer} “no difference” {n:was|were} left out.",
    "planned.no_sides": "The choices do not record what was shown left and right.",
    "planned.nothing": "The study file plans no comparison.",
    "order.answers": "answers",
    "order.times": "response times",
    "order.change": "Answers[[ in the condition {condition:quoted}]] change by {change:.2}[[ {interval}]] from "
    "trial {first} to trial {last}[[, p {p:p}]].",
    "order.unit": "Changes of answers are in {unit}.",
    "order.time_change": "Response times[[ in the condition {condition:quoted}]] change by[[ {change:.1} %]]"
    "[[ {interval}]] from trial {first} to trial {last}[[, p {p:p}]].",
    "order.percent": "[{lower:.1} %, {upper:.1} %]",
    "order.differ": "The conditions differ in this change[[ (p {p:p})]].",
    "order.adjusted": "These p values are adjusted for the number of conditions (Holm).",
    "order.alike": "There is no evidence that conditions differ in this change[[ (p {p:p})]].",
    "order.no_order": "The answers have no order, so only response times were analysed.",
    "order.untimed": "Response times were not analysed because there are none in {conditions}.",
    "order.nothing": "The answers have no order and there are no response times, so there is no change to measure.",
    "order.not_converged": "Do not trust the slopes of {measure}. {convergence}",
    "order.simplified": "The model of {measure} was singular and was therefore simplified. {steps}",
    "order.left_out": "In the model of {measure}: {note}",
    "order.too_many_conditions": "{n:condition} are too many to distinguish in a figure. Name fewer columns with "
    "--conditions.",
    "scores.no_table": "The function must return a table with the columns {key} and {value}, or a mapping.",
    "measures.too_many": "{n} measures do not fit on a page. Plot at most {most}.",
    "measures.not_measured": "{name} was not computed. {reason}",
    "measures.unknown": "There is no result {name:quoted}. The results are {known}.",
    "run.differential": "Each question is modelled for up to {most} questions, and there are {n}. Use karat measure "
    "--question for one of them, such as {question:quoted}.",
    "run.no_question": "There is no question {question:quoted}. The questions are {questions}.",
    "run.no_models": "{model:quoted} is not a model for {kinds:and} answers, which have none. Leave it out.",
    "run.no_posterior": "A posterior is for choices; {kinds:and} answers have none here. Leave it out.",
    "run.order_size": "The model would take too long for more than {most} answers. In Python, "
    "karat.measure.order_effects fits it.",
    "run.contrasts_size": "A model with slopes would take too long for more than {most} answers. Use karat measure "
    "--formula to fit one without.",
    "run.samples_size": "The samples would take too long for more than {most} answers. In Python, "
    "karat.measure.noise_ceiling computes them.",
    "run.no_labels": "A consensus is computed for labels, not for {kinds:and} answers.[[ If the answers are labels, "
    "read the file with --scale {scale}.]]",
    "run.many_groups": "{by} has {n} values. Stability compares every two of them, but more than {most} values only "
    "on request: use karat measure --by {by}.",
    "run.one_group": "There is one session and one source of participants. Use karat measure --by to compare other "
    "groups.",
    # ==================== measure: agreement, dimensions, decisions, stability, consensus ====================
    "bootstrap.settings": "samples must be 0 or more and level between 0 and 1. They are {samples} and {level}.",
    "agreement.alpha": "[[{question}: ]]{coefficient} is {estimate:.2r}[[ ({level:%} interval {lower:.2r} to "
    "{upper:.2r})]] for {participants:participant} and {stimuli:stimulus}.",
    "agreement.split_half": "[[{question}: ]]The split-half reliability of the means of stimuli is {estimate:.2r}[[ "
    "({level:%} interval {lower:.2r} to {upper:.2r})]].",
    "agreement.undefined": "[[{question}: ]]{coefficient} is not defined for these answers.",
    "agreement.unknown_coefficient": "There is no coefficient {coefficient}[[ for the question {question:quoted}]]. "
    "The coefficients are {known}.",
    "agreement.no_shared_stimulus": "[[{question}: ]]No stimulus was judged by two participants. If columns "
    "split what should be one stimulus, use karat measure --conditions ''.",
    "agreement.k": "Intraclass correlations of means are for k = {k:.1} answers per stimulus.",
    "agreement.unequal": "Some stimuli have up to {most} answers, the usual one {usual:.0}. These numbers weigh "
    "answers equally, so such stimuli dominate them, unlike split-half reliability and ICCs by REML.",
    "agreement.single_answers": "{n:stimulus} with a single answer {n:has|have} no pair of participants.",
    "noise_ceiling.participants": "This is the best any model could predict, estimated from {n:participant}.",
    "noise_ceiling.means": "[[{question}: ]]Perfect predictions would correlate {estimate:.2r}[[ ({level:%} interval "
    "{lower:.2r} to {upper:.2r})]] with the means of stimuli[[ and {low:.2r} to {high:.2r} with the answers of one "
    "participant]][[ and {one:.2r} with the answers of one participant]].",
    "noise_ceiling.majority": "[[{question}: ]]Predicting the majority answer of the other participants would be right "
    "{estimate:%} of the time[[ ({level:%} interval {lower:%} to {upper:%})]].",
    "noise_ceiling.undefined": "[[{question}: ]]How well the means of stimuli can be predicted is not defined for "
    "these answers.",
    "noise_ceiling.no_shared_stimulus": "[[{question}: ]]No stimulus was judged by two participants.",
    "decision_study.stimuli": "[[{question}: ]]To order stimuli with a reliability of {wanted:.2r}, each stimulus "
    "needs {needed} {needed:rating|ratings} (now {now:.0}[[, reliability {reliability:.2r}]]).",
    "decision_study.participants": "[[{question}: ]]To order participants with a reliability of {wanted:.2r}, each "
    "participant needs {needed:item} (now {now:.0}[[, reliability {reliability:.2r}]]).",
    "decision_study.equal_stimuli": "[[{question}: ]]No number of participants can order the stimuli reliably because "
    "the stimuli do not differ.",
    "decision_study.equal_participants": "[[{question}: ]]No number of items can order the participants reliably "
    "because the participants do not differ.",
    "decision_study.unknown_question": "There is no question {question:quoted}.",
    "decision_study.wanted": "The wanted reliability must be between 0 and 1. It is {wanted}.",
    "decision_study.no_variances": "Labels and choices have no variances, so they are left out.",
    "decision_study.no_shared_stimulus": "[[{question}: ]]No stimulus was judged by several participants, so the "
    "numbers of participants and items needed cannot be computed.",
    "decision_study.inseparable": "[[{question}: ]]Participants judged different stimuli, so differences between them "
    "cannot be separated from the rest. The estimated variance of the rest is negative.",
    "decision_study.no_numbers": "The answers are not numbers. How many participants and items are needed can be "
    "computed for ratings, yes or no, sliders and magnitudes.",
    "stability.scores": "[[{question}: ]]The scores of stimuli in {first} and {second} ({kind:word}) correlate "
    "{estimate:.2r}[[ ({level:%} interval {lower:.2r} to {upper:.2r})]] over {n:stimulus}.",
    "stability.decisions": "[[{question}: ]]{first} and {second} ({kind:word}) lead to the same decision on "
    "{estimate:%} of {n:pair}[[ ({level:%} interval {lower:%} to {upper:%})]].",
    "stability.undefined": "[[{question}: ]]How the scores of stimuli in {first} and {second} ({kind:word}) correlate "
    "is not defined.",
    "stability.no_shared_stimulus": "No stimulus was judged in more than one group ({by}), so there are no scores to "
    "compare.",
    "stability.unknown_scores": "scores must be mean, zscore or a function, not {scores:quoted}.",
    "stability.labels": "Labels have no scores to correlate. Give scores or decisions as functions.",
    "stability.no_scores": "The function gives no scores for any group.",
    "stability.no_decisions": "There are no decisions for {group}. There are decisions for {known}.",
    "stability.no_shared_pair": "No pair has a decision in both {first} and {second}.",
    "stability.no_group": "{n:answer} without {by} {n:was|were} left out.",
    "stability.fewer_samples": "With {pairs} pairs of groups, intervals come from {samples} bootstrap samples instead "
    "of 1,000.",
    "stability.empty_column": "Stability compares groups, but the column {by} is empty. Use by=... to name another "
    "column of the judgments or of their participants.",
    "stability.one_group": "Stability compares groups, but the column {by} has only one value ({group}). Use by=... to "
    "name another column of the judgments or of their participants.",
    "consensus.labels": "{method:word} labelled {items:item} from {answers:answer}. {sure} {sure:label has|labels "
    "have} a probability of {limit:.2r} or more, and {ties} {ties:is a tie|are ties}.",
    "consensus.right": "The median participant is expected to be right in {right:%} of answers.",
    "consensus.converged": "{method:word} converged after {n} {n:round|rounds}.",
    "consensus.not_converged": "{method:word} did not converge in {n} {n:round|rounds}. In Python, "
    "iterations=... allows more.",
    "consensus.numbers": "Numbers have no labels, so they are left out.",
    "consensus.no_categories": "Consensus needs answers in categories (labels, yes or no, ratings, choices), but the "
    "scale is {kind}. For numbers, use means or strengths.",
    "consensus.unknown_method": "method must be {known:or}, not {method:quoted}.",
    "consensus.weights_without_method": "Weights need method=\"weighted\". The method is {method}.",
    "consensus.errors": "errors must be \"free\" or \"ordered\", and needs method=\"dawid-skene\".",
    "consensus.search": "iterations must be 1 or more, and tolerance must not be negative.",
    "consensus.unordered": "Ordered errors need an ordered scale with at least three levels. This scale is {kind}.",
    "consensus.no_weight": "There is no weight for {participant}[[ and {more} more]].",
    "consensus.weights": "Weights must be numbers, none of them negative and not all of them 0.",
    "decisions.counts": "{expert} of {pairs:pair} {expert:goes|go} as experts prefer, {reverse} {reverse:goes|go} the "
    "other way, and {none} {none:shows|show} no difference (measure: {model}).",
    "decisions.equivalent": "Of the pairs without a difference, {equal} {equal:is|are} practically equivalent (within "
    "{rope:.2} {unit}).",
    "decisions.left_out": "{n:pair} without enough answers {n:was|were} left out: {pairs}[[ and {more} more]].",
    "decisions.ties": "{n:answer} \"no difference\" {n:is|are} not part of the tests. The column ties has their share.",
    "decisions.constant_answers": "{n:participant} whose answers do not vary {n:was|were} left out.",
    "decisions.no_option": "{model} contrasts have no {option}. Use model=... for another model, or leave {option} "
    "out.",
    "decisions.alpha": "alpha must lie between 0 and .5. It is {alpha}.",
    "decisions.adjust": "adjust must be \"holm\", \"bh\" or \"none\", not {adjust:quoted}.",
    "decisions.rope": "rope is the half-width of a region and must be positive. It is {rope}.",
    "decisions.labels": "Labels cannot be better or worse.",
    "decisions.wrong_model": "{model} is not for {kind} answers. Use {usual} or a model of strengths.",
    "decisions.too_few_answers": "No pair has enough answers to both of its stimuli.",
    "decisions.unknown_stimulus": "There is no stimulus {stimulus}.[[ Did you mean {close}?]]",
    "decisions.no_rope": "Means of {kind} answers have no usual region of equivalence. Use rope=... to set one.",
    "decisions.no_sides": "Choices need the columns left and right, which name the two stimuli.",
    "decisions.no_pairs": "There are no pairs.",
    "decisions.incomplete_pairs": "{n:pair} {n:lacks|lack} a name, a better stimulus or a worse stimulus.",
    "decisions.repeated_pairs": "Each pair must be listed once, but these are listed more than once: {pairs}[[ and "
    "{more} more]].",
    "decisions.same_stimulus": "The better and the worse stimulus of a pair must differ, but they are the same in: "
    "{pairs}[[ and {more} more]].",
    "decisions.no_file": "There is no file {file}.",
    "decisions.unreadable_file": "{file} cannot be read ({why}). Give a CSV file with the columns pair, better and "
    "worse.",
    "decisions.pairs_of_list": "Each pair of a list must be (pair, better, worse).",
    "decisions.missing_column": "The table of pairs has no column {column}. It needs the columns pair, better (the "
    "stimulus that experts prefer) and worse.",
    "decisions.choices_without_pairs": "Name the pairs with karat measure --pairs (pairs=... in Python). Otherwise "
    "choices need the columns left, right and expected (the side of the better stimulus).",
    "decisions.ratings_without_pairs": "Name the pairs with karat measure --pairs (pairs=... in Python). Otherwise "
    "ratings need the column pair, and status or expected to show which stimulus is better.",
    "decisions.unclear_pairs": "Name the pairs with karat measure --pairs (pairs=... in Python). In some pairs, the "
    "columns status and expected do not show which stimulus is better, or there are not two stimuli: {pairs}[[ and "
    "{more} more]].",
    "unit.share": "in the share of answers",
    "unit.scale_points": "points",
    "unit.scale": "units of the scale",
    "unit.deviations": "standard deviations of a participant's answers",
    "compare_decisions.different": "{measures} measures decide differently on {different} of {pairs:pair}.",
    "compare_decisions.agree": "{first} and {second} agree on {same:%} of pairs[[ (kappa {kappa:.2r})]].",
    "compare_decisions.agree_least": "{first} and {second} agree least often, on {same:%} of pairs[[ (kappa "
    "{kappa:.2r})]].",
    "compare_decisions.agree_most": "{first} and {second} agree most often, on {same:%} of pairs[[ (kappa "
    "{kappa:.2r})]].",
    "compare_decisions.undecided": "{n:pair} {n:was|were} not decided by every measure.",
    "compare_decisions.one_measure": "At least two measures are needed to compare decisions.",
    "compare_decisions.unknown_reference": "There is no measure {measure}.[[ Did you mean {close}?]]",
    "compare_decisions.columns": "The table of {measure} must have the columns pair and decision.",
    "compare_decisions.repeated_pair": "{measure} decides on pair {pair} more than once.",
    "compare_decisions.unknown_decision": "{decision:quoted} is not a decision of {measure}. Decisions are {words:or}, "
    "or {symbols}.",
    "compare_decisions.reserved_name": "A measure cannot be called pair. Give it another name.",
    "compare_decisions.no_shared_pair": "{first} and {second} have no pair in common.",
    "dimensions.unknown_number": "The number of factors could not be determined. Use --dimensions to set it.",
    "dimensions.no_factors": "Parallel analysis finds no factors. Use --dimensions to set a number.",
    "overall_regression.explained": "The dimensions explain {r2:%} of the variance of {overall} over {texts} "
    "{texts:text|texts} ({left_out:%} for texts left out of the fit).",
    "overall_regression.largest": "{dimension} has the largest weight (standardised {weight:.2}).",
    "overall_regression.inflated": "Dimensions overlap: the variance of the weight of {dimensions:and} is more than "
    "{times} times as large as it would be without the others.",
    "overall_regression.too_few_texts": "{texts} {texts:text is|texts are} too few for {dimensions} "
    "{dimensions:dimension|dimensions}.",
    "overall_regression.dependent": "The dimensions are not independent of each other. Leave one out.",
    "feature_correlations.clear": "{clear} of {n} {n:correlation|correlations} {clear:differs|differ} from zero "
    "(adjusted p < {alpha:.2r}).",
    "feature_correlations.strongest": "The strongest is {dimension} with {feature} (r = {r:.2r}).",
    "feature_correlations.too_few_texts": "{dimension} and {feature} have fewer than four texts in common.",
    "dimension_links.unknown_column": "There is no column {column}. The columns are {known}.",
    "dimension_links.repeated_column": "The column {column} is named twice. Name each column once.",
    "dimension_links.no_numbers": "The column {column} does not hold numbers.",
    "dimension_links.missing_values": "{n} {n:text|texts} with a missing value {n:was|were} left out.",
    "dimension_scores.scores": "{texts} {texts:text has|texts have} scores on {dimensions:and}, from {cases} "
    "{cases:case|cases}.",
    "dimension_scores.no_texts": "Scores of texts need to know the texts. Compute the factors from a ratings_matrix.",
    "factors.explained": "{n:factor} {n:explains|explain} {share:%} of the variance of {pairs:pair}.",
    "factors.fit": "Fit: χ²({dof}) = {chi2:.2}, p {p:p}, RMSEA {rmsea:.3}.",
    "factors.no_test": "No degrees of freedom are left to test the fit.",
    "factors.no_degrees_of_freedom": "No degrees of freedom are left, so any correlations would fit.",
    "factors.few_cases": "{cases} {cases:case is|cases are} few for {pairs:pair}. Expect loadings to vary between "
    "samples.",
    "factors.extraction_not_converged": "The extraction did not converge. Its gradient is still {gradient}.",
    "factors.heywood": "Heywood case: {pairs:and} {n:has|have} no variance of {n:its|their} own (uniqueness "
    "{uniqueness:.3r}). The solution lies at the edge of what is possible. Try fewer factors.",
    "factors.better_start": "Another start fits better (objective {lowest:.5} instead of {objective:.5}), so the "
    "solution is not well determined. Use start=\"best\" for the better one.",
    "factors.rotation_not_converged": "The rotation did not converge.",
    "factors.varimax_stopped": "Varimax stops where R stops it, before its maximum. At the maximum, loadings differ by "
    "up to {moved:.3}.",
    "factors.few_pairs": "{factor} is carried by {pairs:and} alone. A factor with fewer than three pairs is poorly "
    "determined.",
    "factors.no_pair": "{factor} is not carried by any pair. A factor with fewer than three pairs is poorly "
    "determined.",
    "factors.not_distinct": "{first} and {second} correlate {r:.2r} and can hardly be distinguished.",
    "factors.discriminant_validity": "Discriminant validity: {first} and {second} correlate {r:.2r}. They share more "
    "variance ({shared:.2r}) than is extracted from the pairs of {weak:and}.",
    "factors.names": "There {n:is|are} {n:factor}. Give each a different name.",
    "factors.no_ratings": "Scores need the ratings, but only their correlations were given.",
    "factors.score_method": "Scores are computed by \"regression\" or \"bartlett\", not {method:quoted}.",
    "factors.method": "method must be \"ml\" or \"minres\", not {method:quoted}.",
    "factors.rotation": "rotation must be \"promax\", \"oblimin\", \"varimax\" or None, not {rotation:quoted}.",
    "factors.start": "start must be \"usual\" or \"best\", not {start:quoted}.",
    "factors.kaiser": "kaiser must be {known:or} for {rotation}, not {kaiser:quoted}.",
    "factors.number": "{pairs} pairs allow at most {most:factor} and at least 1, not {n}. Take fewer factors or more "
    "pairs.",
    "factors.too_few_pairs": "{pairs:pair} {pairs:is|are} too few for a factor. Take more pairs.",
    "factor_intervals.width": "{level:%} intervals of loadings are {width:.2} wide on average ({draws} "
    "{draws:draw|draws}).",
    "factor_intervals.no_ratings": "Intervals need the ratings, but only their correlations were given.",
    "factor_intervals.settings": "draws must be at least 2 and level between 0 and 1.",
    "factor_intervals.no_participants": "The rows do not name participants, so they were resampled as if they were "
    "independent.",
    "factor_intervals.left_out": "{n} {n:draw was|draws were} left out because the search found no solution.",
    "factor_intervals.no_solutions": "Hardly any draw has a solution. Take fewer factors or more participants.",
    "factor_intervals.unstable": "{factors:and} {n:is|are} often another factor in the draws (mean congruence under "
    "{congruence:.2r}).",
    "number_of_factors.agreed": "All rules give {n:factor}: {rules}.",
    "number_of_factors.range": "The rules give {low} to {high} factors: {rules}.",
    "number_of_factors.rule": "{n} by {rule}",
    "number_of_factors.unknown_rule": "There is no rule {rule}. The rules are {known}.",
    "number_of_factors.settings": "draws must be at least 1 and quantile between 0 and 1.",
    "number_of_factors.too_few_pairs": "The number of factors needs at least three pairs.",
    "adequacy.kmo": "KMO is {kmo:.2r} ({word:word}).",
    "adequacy.undefined": "KMO is not defined.",
    "adequacy.bartlett": "Bartlett's test with {cases} {cases:case|cases}: χ²({dof}) = {chi2:.1}, p {p:p}.",
    "adequacy.low": "KMO is under {limit:.1r} for {pairs:and}.",
    "adequacy.too_few_cases": "{cases} {cases:case is|cases are} too few for {pairs:pair}.",
    "suitability.both": "{kept} of {pairs:pair} {kept:is|are} kept. A pair is dropped if its mean is under {mean} and "
    "its standard deviation is over {sd}.",
    "suitability.either": "{kept} of {pairs:pair} {kept:is|are} kept. A pair is dropped if its mean is under {mean} or "
    "its standard deviation is over {sd}.",
    "suitability.other_rule": "With rule=\"{rule}\", {kept:pair} would be kept.",
    "suitability.low": "mean {mean:.2} is under {mean_limit}",
    "suitability.wide": "standard deviation {sd:.2} is over {sd_limit}",
    "suitability.low_and_wide": "mean {mean:.2} is under {mean_limit} and standard deviation {sd:.2} is over "
    "{sd_limit}",
    "suitability.suitable": "suitable",
    "suitability.rule": "rule must be \"both\" or \"either\", not {rule:quoted}.",
    "suitability.no_answers": "There are no answers to trials with the function {functions:or}.",
    "suitability.one_rating": "{pairs:and} {n:was|were} rated only once, so {n:it has|they have} no standard "
    "deviation.",
    "profiles.groups": "{groups} {groups:group|groups} (by {by}) {groups:has a profile|have profiles} on {pairs:pair}.",
    "profiles.widest": "They differ most on {pair} ({points:.1} points).",
    "profiles.no_group": "{n} {n:rating|ratings} without {by} {n:was|were} left out.",
    "profiles.unknown_column": "There is no column {column}. The columns are {known}.",
    "profiles.empty_column": "The column {column} is empty.",
    "profiles.unknown_group": "There is no group {group} in the column {column}.",
    "profiles.lines": "A figure can show 1 to {most} groups, not {n}. Name the groups to show.",
    "reduction.removed": "{n:pair} {n:was|were} removed, leaving {left}.",
    "reduction.low_communality": "communality {communality:.2r} is under {limit:.2r}",
    "reduction.close_loadings": "its two largest loadings differ by {gap:.2r}, under {limit:.2r}",
    "reduction.stays": "{pair} stays because {factors:factor} {factors:needs|need} {pairs:pair}, although there is a "
    "reason to remove it: {reason}.",
    "reduction.settings": "communality and gap must lie between 0 and 1.",
    "reduction.unknown_pair": "keep names {pair}, which is not a pair. The pairs are {known}.",
    "reduction.no_names": "Removing pairs needs a RatingsMatrix or a polars frame of ratings with named columns.",
    "short_form.pairs": "The short form has {n:pair}: {pairs}.",
    "short_form.pair": "{pair} for {dimension}",
    "short_form.no_pair": "No pair is carried by {dimension}, so the short form leaves it out.",
    "short_form.study": "The study must have one block, a differential with a table of questions.",
    "short_form.unknown_question": "The study has no question {question}.",
    "short_form.folder": "{folder} is not empty, and nothing is overwritten. Choose another folder.",
    "short_form.not_rewritten": "The study file could not be rewritten. Set its questions by hand.",
    "select_controls.clear": "{clear} of {n:stimulus} {clear:is|are} clear. {chosen} {chosen:is|are} chosen, {low} at "
    "the low end and {high} at the high end of the scale.",
    "select_controls.not_clear": "Not clear: {reasons}.",
    "select_controls.too_few_answers": "with too few answers: {n}, at least {fewest} are needed",
    "select_controls.marked": "marked: participants may differ about it",
    "select_controls.other_side": "on the wrong side of the scale for its status or expected answer: the mean is "
    "{mean:.2}",
    "select_controls.not_near_end": "not near an end: the interval {lower:.2} to {upper:.2} passes {limit}",
    "select_controls.variation": "with too much variation: the standard deviation is {sd:.2}, at most {max_sd} is "
    "allowed",
    "select_controls.others_clearer": "clear, but others are clearer",
    "select_controls.too_few_low": "Only {number} of the {n} wanted {number:is|are} clear at the low end.",
    "select_controls.too_few_high": "Only {number} of the {n} wanted {number:is|are} clear at the high end.",
    "select_controls.n": "n, the number of stimuli wanted at each end, must be at least 1, not {n}.",
    "select_controls.max_sd": "max_sd must be above 0, not {max_sd}.",
    "select_controls.clearly": "clearly, a share of the scale, must be above 0 and at most 0.5, not {clearly}.",
    "select_controls.questions": "A norming study has one question, but these judgments have several: {questions}.",
    "select_controls.no_ends": "{kind} answers have no two ends to be clear at. Norm with a rating scale, yes and no, "
    "or a slider with both ends.",
    "verified_items.unreadable_rows": "{file} has rows that cannot be read. Fix them first; karat check names them.",
    "verified_items.no_item_column": "{file} is not an item table: it has no column item.",
    "verified_items.no_items": "{file} has none of the items of the norming study ({items}, ...).",
    "verified_items.two_targets": "Use either out=... or in_place=True, not both.",
    "verified_items.spreadsheet": "{file} is a spreadsheet, which is not changed in place. Use out=... with the name "
    "of a CSV file.",
    "verified_items.no_target": "Use out=... for a new item table, or in_place=True to change {file} itself.",
    "verified_items.target_exists": "{target} already exists. Name another file, or use in_place=True for {file} "
    "itself.",
    "verified_items.not_csv": "Item tables are written as CSV. Name the file {name}.",
    "verified_items.versions": "{file}: {item} was normed in several versions that the table does not distinguish. It "
    "needs the column {columns:or}.",
    "excluded.nobody": "nobody. Use --without {file} to leave out participants excluded by a screening.",
    "excluded.screened": "nobody here. {file} has the {kept} of {participants:participant} that screening left.",
    "excluded.some": "{n} of {participants:participant}, by {file}.[[ It does not mention {unknown:participant}, such "
    "as {example}; they stay.]]",
    "excluded.nobody_in_file": "nobody. {file} excludes nobody.",
    "excluded.nobody_left": "nobody else. The participants excluded by {file} are no longer in these judgments.",
    "excluded.rules": "{n} of {participants:participant}, by the rules of this screening.",
    "excluded.rules_nobody": "nobody.",
    "excluded.other_study": "{file} excludes only participants who are not in these judgments, such as {participant}. "
    "Is it the screening of another study?",
    "excluded.everybody": "{file} excludes every participant, so nothing is left to measure.",
    "excluded.unreadable": "{file} cannot be read: {why}. Give screening.json or a CSV file of participants.",
    "excluded.not_text": "{file} is not a text file. Give screening.json or a CSV file of participants.",
    "excluded.not_screening": "{file} is not a screening as karat screen --out writes it.",
    "excluded.not_csv": "{file} is not a CSV file: {why}",
    "excluded.no_column": "{file} has no column participant. Its columns are {columns}.",
    "measure_correlations.spearman": "{first} and {second}: Spearman's correlation over {n:stimulus} is "
    "{estimate:.2r}[[ ({level:%} interval {lower:.2r} to {upper:.2r})]].",
    "measure_correlations.undefined": "{first} and {second}: Spearman's correlation over {n:stimulus} is not defined.",
    "measure_correlations.more": "The table has {n} more {n:correlation|correlations}.",
    "measure_correlations.left_out": "{first} and {second}: {n} {n:estimate was|estimates were} left out because only "
    "one of them has {n:it|them}.",
    "measure_correlations.one_measure": "Give at least two measures, as a mapping from their names.",
    "measure_correlations.few_shared": "{first} and {second} have {shared:stimulus} in common and need {fewest}.[[ "
    "{first} has {first_stimuli}.]][[ {second} has {second_stimuli}.]]",
    "measure_correlations.reserved_name": "A measure cannot be called \"stimulus\", because the column of stimulus "
    "names has that name. Give it another name.",
    "measure_correlations.repeated": "{measure} has {stimulus} twice. Add the columns that distinguish stimuli, "
    "between item and estimate.",
    "measure_correlations.columns": "{measure} must have the columns item and estimate.",
    "correlations.incomplete": "{n} of {cases} {cases:case|cases} {n:was|were} left out because not every pair was "
    "rated.",
    "correlations.nearest_matrix": "The polychoric correlations, estimated pair by pair, were moved to the nearest "
    "proper correlation matrix.",
    "correlations.kind": "correlations must be \"pearson\" or \"polychoric\", not {kind:quoted}.",
    "correlations.too_few_pairs": "Correlations need at least two pairs.",
    "correlations.no_observations": "This is a correlation matrix. Use observations=... to give the number of cases "
    "behind it.",
    "correlations.observations": "observations=... is for a correlation matrix. Here the ratings are counted.",
    "correlations.too_few_cases": "Only {n} {n:case has|cases have} a rating of every pair. Correlations need at least "
    "three.",
    "correlations.constant": "All answers to {pairs:and} are the same. Leave out what does not vary.",
    "correlations.singular": "The correlation matrix is singular because a pair follows from others or there are fewer "
    "cases than pairs. Leave out pairs, or take more cases.",
    "correlations.shape": "A matrix needs two dimensions: rows (cases) and columns (pairs).",
    "correlations.no_numbers": "The column {column} does not hold numbers. Give only the columns of pairs.",
    "correlations.too_many_points": "{pair} has more than {most} different answers, too many for polychoric "
    "correlations. Use correlations=\"pearson\".",
    "word.within": "same participants",
    "word.between": "different participants",
    "word.mixed": "partly the same participants",
    "word.majority": "Majority vote",
    "word.weighted": "Weighted majority vote",
    "word.dawid-skene": "Dawid and Skene's model",
    "word.marvellous": "marvellous",
    "word.meritorious": "meritorious",
    "word.middling": "middling",
    "word.mediocre": "mediocre",
    "word.miserable": "miserable",
    "word.unacceptable": "unacceptable",
    "word.select_controls.too_few_answers": "with too few answers",
    "word.select_controls.marked": "marked",
    "word.select_controls.other_side": "on the other side of the scale than expected",
    "word.select_controls.not_near_end": "not near an end",
    "word.select_controls.variation": "with too much variation",
    # ==================== report, terminal and pages ====================
    "report.not_computed": "It was not computed.",
    "report.too_long": "With more than {limit:answer}, this would take too long for a report. Use `karat.screen` and "
    "`karat.measure` in Python.",
    "report.criterion_long": "With more than {limit:answer}, a report computes it only if the rules name it. Use "
    "`karat screen` for this criterion.",
    "report.quick": "It was left out by --quick.",
    "report.new_names": "Participants whose names were ids of a platform are shown under new names.",
    "report.no_answers": "There are no answers.",
    "report.no_criteria": "The rules name no criterion.",
    "report.no_scores": "Nobody has a score.",
    "report.guessing_passes": "A participant who guesses passes with p {p:p} at most.",
    "report.index_unknown": "The interval is too wide to draw a conclusion, because there are too few answers.",
    # ==================== words for values ====================
    "word.yes": "yes",
    "word.no": "no",
}  # fmt: skip

LANGUAGE = Language(
    "en", FORMS | TEXTS, NOUNS, "and", ".", ",", ("“", "”"), messages=MESSAGE_FORMS | MESSAGES,
    numerals=("no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine"),
    day="{day} {month} {year}",
    months=(
        "January", "February", "March", "April", "May", "June", "July", "August", "September", "October", "November",
        "December",
    ),
)  # fmt: skip
