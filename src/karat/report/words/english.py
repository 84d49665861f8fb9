"""The sentences of methods and preregistrations in English."""

from __future__ import annotations

from karat.report.words.language import Language

NOUNS = {
    "participant": ("participant", "participants"), "item": ("item", "items"), "test item": ("test item", "test items"),
    "list": ("list", "lists"), "trial": ("trial", "trials"), "answer": ("answer", "answers"),
    "condition": ("condition", "conditions"), "question": ("question", "questions"), "day": ("day", "days"),
    "stimulus": ("stimulus", "stimuli"), "attempt": ("attempt", "attempts"),
    "minute": ("minute", "minutes"), "pair": ("pair", "pairs"), "factor": ("factor", "factors"),
    "time": ("time", "times"), "step": ("step", "steps"),
}  # fmt: skip

TEXTS = {
    "yes": "yes", "no": "no",
    # What is asked.
    "block": "Block {name}: {text}",
    "task.yes-no": "participants [answered|will answer] {low} or {high} to each stimulus.",
    "task.likert": "participants [rated|will rate] each stimulus on a scale of {points} points{ends}{slider}.",
    "task.choice": "participants [saw|will see] two stimuli at a time and [chose|will choose] one of them{none}.",
    "task.magnitude": "participants [gave|will give] each stimulus a number in proportion to its "
    "acceptability{modulus} "
    "[@bard1996].",
    "task.differential": "participants [rated|will rate] each text on {pairs} of opposite adjectives, with {points} "
    "points each{slider} [@osgood1957; @macketanz2022].",
    "task.label": "participants [gave|will give] each stimulus one of {number} labels ({levels}).",
    "task.continuous": "participants [rated|will rate] each stimulus on a line from {low} to {high}.",
    "task.number": "participants [gave|will give] each stimulus a number.",
    "ends": ", from {low} to {high}",
    "slider": ", with a slider that [was|will be] unset at first",
    "none": ", or [answered|will answer] \"no difference\"",
    "modulus": ", compared with a modulus of {number}",
    "repeated": "Asked twice [were|will be] {pairs}.",
    "prompt": "The question [was|will be] {prompt}.",
    "factors": "The design [had|will have] {number}: {factors}.",
    "factor": "{name} ({levels}; {within})",
    "within.": "within items and participants", "within.items": "between items",
    "within.participants": "between participants",
    "compared": "The levels of {factor} [were|will be] shown side by side.",
    "items": "There [were|will be] {tests}, in {lists}.",
    "items.conditions": "There [were|will be] {tests} in {conditions}, spread over {lists}.",
    "subset": "Each participant [judged|will judge] {items}, and each item [was|will be] judged by {participants}.",
    "random pairs": "Each participant [saw|will see] {pairs} drawn at random as well.",
    "functions": "A list [had|will have] {trials}: {functions}.",
    "function": "{number} {name}", "function.test": "test", "function.filler": "filler", "function.control": "control",
    "function.attention": "attention", "function.calibration": "calibration", "function.practice": "practice",
    "range": "{low} to {high}",
    "clear": "Controls and attention trials have a clear answer [@pieper].",
    "rounds": "The items [were|will be] judged {times}, in a new order each time.",
    "sessions": "There [were|will be] two sessions{days}.",
    "days": ", at least {days} apart",
    "order": "The order of trials [was|will be] drawn anew for each participant.",
    "order.rules": "The order of trials [was|will be] drawn anew for each participant, under these constraints: "
    "{rules}.",
    "order.calibration": "calibration trials come first",
    "order.adjacent": "no two test trials follow each other",
    "order.spread": "{functions} trials are spread evenly",
    "order.in_a_row": "at most {number} in a row share {column}",
    "order.distance": "trials that share {column} are at least {number} positions apart",
    "order.keep_ratio": "the share of test trials is the same in every quarter",
    "order.mixed_blocks": "trials are dealt into {number} blocks of equal mixture",
    "quiz": "A quiz of {questions} about the instructions [came|will come] before the trials, with at most {attempts}.",
    "browser": "The questionnaire was fielded with karat, which shows trials in the browser by jsPsych [@deleeuw2015].",
    "answers": "The data have {answers} to {items} by {participants}; the median participant gave {median}.",
    "answers.functions": "By function of the trial: {functions}.",
    # Who is asked.
    "simulated": "These answers are simulated: nobody gave them. They show what a report on this study would look like "
    "and say nothing about people or language.",
    "simulated.some": "Of {participants}, {number} are simulated: nobody gave their answers. Leave them out before "
    "anything is concluded.",
    "simulated.methods": "The answers were simulated with karat, to try out the study before anybody is asked: nobody "
    "was recruited, and nobody answered. Where participants, answers and response times are spoken of here, "
    "simulated ones are meant.",
    "simulated.methods.some": "Of {participants}, {number} were simulated with karat; nobody gave their answers.",
    "simulated.took part": "The data are those of {participants}, all of them simulated.",
    "platform": "Participants [were|will be] recruited through {platform}; {number} eligible [were|are] wanted.",
    "source.link": "a link",
    "platform.link": "Participants [were|will be] recruited by a link; {number} eligible [were|are] wanted.",
    "pay": "The stated pay [was|is] {pay} {currency} an hour.",
    "minutes": "The stated duration [was|is] {minutes}.",
    "eligible": "Eligible [were|will be] those who [answered|answer] {answers} to the question {question}.",
    "asked": "Participants [were|will be] asked about {columns}.",
    "took part": "The data are those of {participants}.",
    "sources": "By source: {counts}.",
    "when": "Answers were given between {first} and {last}.",
    "when.day": "Answers were given on {first}.",
    "working.minutes": "The median working time was {median} minutes.",
    "working.seconds": "The median working time was {median} seconds.",
    "background": "{column}: {counts}.",
    "background.number": "{column}: median {median}, {low} to {high}.",
    "count": "{value} ({number})", "count.missing": "not known ({number})",
    # Who is excluded.
    "rules.study": "The criteria, their settings and the rule that joins them are those of the study file, whose "
    "fingerprint is {fingerprint}; by it the file can be compared with a registered copy.",
    "rules.other": "The criteria or the rule that were applied are not those of the study file (fingerprint "
    "{fingerprint}).",
    "rules.given": "The criteria and the rule were given for this analysis; no study file states them.",
    "rules.none": "No rule of exclusion [was|is] stated, so that nobody [was|will be] excluded.",
    "rules.evidence": "What criteria found is evidence only.",
    "stages": "Criteria [ran|will run] in three stages: completion, response times, answers. Whoever [was|is] excluded "
    "after a stage [was|will be] left out of the next.",
    "asks": "Each criterion [asked|will ask] for the following.",
    "flagged": "{name}: {clause}{cites}; {number} of {participants} flagged.",
    "stage.excluded": "Excluded thereupon: {number} of {entered}; {remained} remained.",
    "stage.nobody": "Nobody was excluded at this stage.",
    "planned": "{name}: {clause}{cites}.",
    "skipped": "{name} could not be computed: {why}.",
    "skipped.several": "These data do not allow to compute: {names}.",
    "rule.any": "whoever any criterion [flagged|flags]", "rule.all": "whoever all criteria [flagged|flag]",
    "rule.number": "whoever at least {number} criteria [flagged|flag]",
    "rule.expression": "whoever [met|meets] \"{rule}\"",
    "rule": "Excluded [was|will be] {rule}.",
    "verdict": "Excluded in all: {number} of {participants}; {kept} entered the analysis.",
    "index": "The Spammer Index of those who remained was {value} (95 % interval {lower} to {upper}) [@ba2024].",
    "no study": "There is no study file, so that nothing was stated that could be preregistered.",
    "no screening": "The study file states no criteria of exclusion, so that nobody will be excluded.",
    "fingerprint": "The fingerprint of the study file and its tables is {fingerprint}.",
    "nobody else": "Nobody will be excluded by another criterion.",
    # What a participant must meet, criterion by criterion.
    "further": "{name} = {value}",
    "needs": "flagged [was|will be] {asks}",
    "needs.eligibility": "answers that admit: {answers}", "needs.eligibility.same": "columns that must agree: {same}",
    "needs.quiz": "the quiz passed in at most {attempts_at_most} attempts",
    "needs.completion": "at least {at_least} of the trials answered, no person twice",
    "needs.completion.trials": "at least {at_least} of {trials} trials answered, no person twice",
    "needs.speed.mean_below": "a mean response time of at least {mean_below} s",
    "needs.speed.median_below": "a median response time of at least {median_below} s",
    "needs.speed.relative_below": "a median time of at least {relative_below} of the median participant's",
    "needs.speed.share_of_expected": "a working time of more than {share_of_expected} of {expected_minutes} minutes",
    "needs.remfod": "at least {genuine_at_least} of response times that are neither intermissions, more than {upper} "
    "median absolute deviations above the median by participant and by item function, nor rushes, more than {lower} "
    "below it, as found in rounds",
    "needs.remfod.rule": "at least {genuine_at_least} of response times that are not outlying by the rule {rule}",
    "needed": "at least {needed} of {trials} right", "needed.group": "at least {needed} of {trials} {group} ones right",
    "needed.guess": "guessing passes with p {p}", "group.grammatical": "grammatical",
    "group.ungrammatical": "ungrammatical", "account.positional": "positional", "account.relational": "relational",
    "account.extended": "extended relational", "account.strict": "strict", "account.pairwise": "pairwise",
    "needs.controls": "clear cases told apart on the {account} account, alpha = {alpha}",
    "needs.controls.slips": "clear cases told apart on the {account} account, with at most {slips} wrong",
    "needs.attention": "attention trials answered rightly on the {account} account, alpha = {alpha}",
    "needs.attention.slips": "attention trials answered rightly on the {account} account, with at most {slips} wrong",
    "needs.controls.neutral": "at most {neutral_at_most} neutral answers to controls",
    "needs.straightlining": "no run or pattern of answers that has a probability under {alpha} by chance",
    "needs.inconsistency": "a difference between repeated answers of at most {upper} median absolute deviations above "
    "the median",
    "needs.scale_use": "at most {neutral_at_most} neutral answers",
    "needs.even_odd": "a correlation between halves of the answers of at least {at_least}",
    "needs.mahalanobis": "a distance from everybody's answers with a probability of at least {alpha}",
    "needs.person_total": "a correlation with the means of the others of at least {at_least}",
    "needs.time_filter.mean": "a mean response time not below the mean of all times",
    "needs.time_filter.mean-sd": "a mean response time not more than a standard deviation below the mean of all times",
    "needs.markov": "no pattern in the transitions between answers; {cutoffs} cutoffs, alpha = {alpha}",
    "needs.risk": "no high risk level by pattern, time and accuracy; {cutoffs} cutoffs, alpha = {alpha}",
    "needs.deletion": "no large change of the model of all answers; {by} rule, alpha = {alpha}",
    "needs.credence": "a probability of at least {below} of having answered in earnest",
    "needs.procedure": "not all steps met: Spammer Index from {least_index} on, {order}, auxiliary factor {auxiliary}, "
    "{cutoffs} cutoffs, alpha = {alpha}",
    # How it is measured.
    "analysed": "Trials with the function {functions} [entered|will enter] the measures; intervals [have|will have] a "
    "level of {level}.",
    "question": "{text} ({question})",
    "strengths.ordinal": "Strengths of {stimuli} [were|will be] estimated by a cumulative logit model with random "
    "effects "
    "of participants and stimuli [@mccullagh1980].",
    "strengths.binary": "Strengths of {stimuli} [were|will be] estimated by a logit model with random effects of "
    "participants and stimuli [@bates2015].",
    "strengths.mean": "Strengths of {stimuli} [were|will be] measured by mean answers.",
    "strengths.zscore": "Strengths of {stimuli} [were|will be] measured by means of answers standardised within "
    "participants.",
    "strengths.magnitude": "Strengths of {stimuli} [were|will be] measured by means of log ratios to the modulus, "
    "standardised within participants [@bard1996].",
    "strengths.thurstone": "Strengths of {stimuli} [were|will be] estimated by Thurstone's model with three answers, "
    "in "
    "which participants differ in variability and criterion [@thurstone1927; @langsford2018].",
    "strengths.davidson": "Strengths of {stimuli} [were|will be] estimated by Davidson's model, which has \"no "
    "difference\" as a third answer [@davidson1970].",
    "strengths.bradley-terry": "Strengths of {stimuli} [were|will be] estimated by Bradley and Terry's model "
    "[@bradley1952].",
    "all stimuli": "all stimuli",
    "contrasts.ordinal": "Conditions [were|will be] compared by a cumulative logit mixed model, {formula} "
    "[@mccullagh1980; "
    "@barr2013], with Wald's Type III tests and Holm's adjustment within terms [@holm1979].",
    "contrasts.binary": "Conditions [were|will be] compared by a logit mixed model, {formula} [@bates2015; @barr2013], "
    "with Wald's Type III tests and Holm's adjustment within terms [@holm1979].",
    "contrasts.gaussian": "Conditions [were|will be] compared by a linear mixed model, {formula} [@bates2015; "
    "@barr2013], "
    "with Type III F tests, Satterthwaite's degrees of freedom [@satterthwaite1946; @kuznetsova2017] and Holm's "
    "adjustment within terms [@holm1979].",
    "simplified": "Its random effects were simplified in {times}, as the fit was singular; what remained is {formula}.",
    "simplify": "Slopes vary by participant and by item where the design has several answers a cell; where the fit is "
    "singular, the random effects will be simplified, and the report will say how.",
    "planned contrasts": "Planned comparisons [were|will be]: {contrasts}; p values are not adjusted, and Holm's "
    "adjustment [@holm1979] is told beside them.",
    "contrast": "{name} ({factor}: {first} less {second}{within})",
    "contrast.within": ", where {levels}",
    "part.order effects": "Order effects are slopes of answers and of log response times over the position of the "
    "trial, "
    "by condition, in a mixed model.",
    "part.decisions": "Decisions on pairs are tests of which of two stimuli is the better one, with equivalence tests "
    "beside them [@langsford2018].",
    "part.agreement": "Agreement is told by {coefficients}, with bootstrap intervals over participants{cites}.",
    "part.noise ceiling": "The noise ceiling is the split-half reliability and the correlation of each participant "
    "with "
    "the others [@nili2014].",
    "part.decision study": "How many participants and items a reliable mean takes follows from the variance components "
    "[@brennan2001].",
    "part.stability": "Stability is the correlation of scores between sessions or groups, with bootstrap intervals "
    "[@langsford2018].",
    "part.factors": "Dimensions [were|will be] found by a factor analysis (maximum likelihood, promax) "
    "[@hendrickson1964; "
    "@macketanz2022], their number by parallel analysis [@horn1965] beside Velicer's criterion [@velicer1976], after "
    "a look at adequacy [@kaiser1974].",
    "part.consensus": "The label of each item [was|will be] estimated together with participants' errors [@dawid1979].",
    "unmeasured": "Nothing was measured: {why}.",
    "software": "All of this was computed with karat {karat} ({others}).",
    "software.planned": "All of this will be computed with karat {karat}.",
}  # fmt: skip

ENGLISH = Language("en", TEXTS, NOUNS, "and", ".", ",", ("“", "”"))
