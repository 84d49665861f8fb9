"""The broken studies, one or more per rule of the check: each a sound study with one flaw."""

from __future__ import annotations

from pathlib import Path

from tests.study.check.builder import (
    BROKEN,
    SOUND,
    VERIFIED,
    Study,
    broken,
    choice,
    parts,
    row,
    sentence,
    tests,
)


@broken("public-title__none")
def _(study: Study) -> None:
    del study.settings["public_title"]


@broken("telling-title__a-level-and-a-term")
def _(study: Study) -> None:
    study.settings["public_title"] = "Word order and acceptability"


@broken("filler-range__ordinary-ones-natural")
def _(study: Study) -> None:
    for filler in study.only("filler"):
        filler.update(status="grammatical", acceptability="high")


@broken("lexicalisations__four-of-each")
def _(study: Study) -> None:
    study.tests = tests(8)


@broken("lexicalisations__choice-of-five", choice)
def _(study: Study) -> None:
    study.tests = tests(5)


@broken("ratio__one-to-one-point-eight")
def _(study: Study) -> None:
    study.drop("filler")


@broken("adjacent-tests__eighteen-beside-sixteen")
def _(study: Study) -> None:
    study.tests = tests(18)
    study.drop("filler")
    study.add("calibration", 14, "marked", acceptability="mid")


@broken("order__too-far-apart")
def _(study: Study) -> None:
    study.settings["order"] = {"distance": {"subgroup": 30}}


@broken("length__hundred-and-four")
def _(study: Study) -> None:
    for status in ("grammatical", "marked", "ungrammatical", "marked"):
        study.add("filler", 16, status, subgroup="pseudo")


@broken("calibration__five")
def _(study: Study) -> None:
    study.others.remove(study.only("calibration")[0])


@broken("calibration__none")
def _(study: Study) -> None:
    study.drop("calibration")
    study.add("filler", 6, "marked", subgroup="pseudo")


@broken("calibration__choice", choice)
def _(study: Study) -> None:
    study.drop("calibration", keep=3)


@broken("calibration-range__no-middle")
def _(study: Study) -> None:
    study.drop("calibration")
    study.add("calibration", 3, "grammatical", acceptability="high")
    study.add("calibration", 3, "ungrammatical", acceptability="1")


@broken("calibration-range__unstated")
def _(study: Study) -> None:
    for one in study.only("calibration"):
        one.update(acceptability="", status="")


@broken("attention__four")
def _(study: Study) -> None:
    study.drop("attention", keep=4)


@broken("attention__two")
def _(study: Study) -> None:
    study.drop("attention", keep=2)


@broken("attention__choice-of-six", choice)
def _(study: Study) -> None:
    study.drop("attention", keep=6)


@broken("attention__strict-alpha")
def _(study: Study) -> None:
    study.settings["screening"]["attention"] = {"alpha": 0.01}


@broken("controls__three-of-each")
def _(study: Study) -> None:
    kept = study.only("control")[:3] + study.only("control")[-3:]
    study.others = [one for one in study.others if one["function"] != "control" or one in kept]


@broken("controls__choice-of-seven", choice)
def _(study: Study) -> None:
    study.drop("control", keep=7)


@broken("controls__five-pairs")
def _(study: Study) -> None:
    study.settings["screening"]["controls"] = {"account": "pairwise"}
    for number, one in enumerate(study.only("control")):
        one["pair"] = f"c{number % 5}"


@broken("relational-controls__extended-five")
def _(study: Study) -> None:
    study.settings["screening"]["controls"] = {"account": "extended"}


@broken("relational-account__eight")
def _(study: Study) -> None:
    study.settings["screening"]["controls"] = {"account": "relational"}
    for status in ("grammatical", "ungrammatical"):
        study.add("control", 3, status, subgroup="related", verified=VERIFIED)


@broken("no-controls__no-attention")
def _(study: Study) -> None:
    study.drop("attention")
    del study.settings["screening"]["attention"]
    study.add("filler", 2, "ungrammatical", subgroup="pseudo")


@broken("spread__not-stated")
def _(study: Study) -> None:
    study.settings["order"] = {"spread": ["control"]}


@broken("spread__last-block")
def _(study: Study) -> None:
    last = study.only("attention")
    study.drop("attention")
    study.add("filler", 6, "ungrammatical", subgroup="pseudo")
    study.tables["last.csv"] = last
    study.more_blocks.append({"task": "likert", "items": "last.csv", "scale": {"points": 5}})


@broken("expected__none")
def _(study: Study) -> None:
    study.only("control")[0]["expected"] = ""


@broken("expected__beyond-the-scale")
def _(study: Study) -> None:
    study.only("attention")[2]["expected"] = "6-7"


@broken("expected__of-a-test-item")
def _(study: Study) -> None:
    study.tests[3]["expected"] = "6"


@broken("expected__choice", base=choice)
def _(study: Study) -> None:
    study.only("calibration")[0]["expected"] = "3"


@broken("acceptability__beyond-the-scale")
def _(study: Study) -> None:
    study.only("filler")[0]["acceptability"] = "7"


@broken("expected-status__turned-round")
def _(study: Study) -> None:
    study.only("control")[-1]["expected"] = "4-5"


@broken("verified__one-open")
def _(study: Study) -> None:
    study.only("control")[3]["verified"] = "no"


@broken("verified-where__two-bare")
def _(study: Study) -> None:
    study.only("control")[0]["verified"] = "yes"
    study.only("control")[1]["verified"] = "yes, in 2026"


@broken("expected-points__five-of-seven")
def _(study: Study) -> None:
    study.block["scale"] = {"points": 7}
    study.add("attention", 1, "ungrammatical")
    for one in study.others:
        if one.get("expected") == "1-2":
            one["expected"] = "1-3"
    study.only("control")[1]["expected"] = "4-7"
    for one in [*study.only("control")[:1], *study.only("control")[2:5]]:
        one["expected"] = "4-5"


@broken("attention-early__violation-column")
def _(study: Study) -> None:
    one = study.only("attention")[0]
    one.update(sentence="The the gardener had watered all of his roses before the rain began.", violation="The the")
    study.only("attention")[1]["violation"] = "rain the"


@broken("attention-early__choice", choice)
def _(study: Study) -> None:
    good = "The gardener had watered all of his roses before the rain began."
    study.only("attention")[0].update(sentence=good, sentence_2=good.replace("gardener had", "had gardener"))


@broken("filler-frames__shared-words")
def _(study: Study) -> None:
    for one in study.tests:
        one["sentence"] = f"Ruth thinks that {one['sentence'][0].lower()}{one['sentence'][1:]}"


@broken("filler-frames__questions")
def _(study: Study) -> None:
    for one in study.tests:
        one["sentence"] = f"{one['sentence'][:-1]}?"


@broken("filler-frames__long")
def _(study: Study) -> None:
    for place, one in enumerate(study.tests):
        more = ("of which all in the valley spoke", "that no one there had hoped for", "which the old man foresaw now")
        one["sentence"] = one["sentence"].replace("rain", f"rain {more[place // 2 % 3]}")


@broken("related-controls__none")
def _(study: Study) -> None:
    for one in study.only("control"):
        one["subgroup"] = "unrelated"


@broken("pseudo-fillers__none")
def _(study: Study) -> None:
    for one in study.only("filler"):
        one["subgroup"] = ""


@broken("attention-grammatical__one")
def _(study: Study) -> None:
    study.add("attention", 2, "ungrammatical")
    study.add("attention", 1, "grammatical")


@broken("instruction-check__please-tick")
def _(study: Study) -> None:
    study.only("attention")[0]["sentence"] = "It matters that you read this, so please tick 'very unnatural'."


@broken("filler-range__nearly-all-natural")
def _(study: Study) -> None:
    study.add("filler", 40, "grammatical", subgroup="pseudo")


@broken("filler-range__no-unnatural")
def _(study: Study) -> None:
    study.drop("control")
    study.add("control", 10, "grammatical", subgroup="related", verified=VERIFIED)
    for one in [*study.only("attention"), *study.only("filler")]:
        one["acceptability"] = "mid"


@broken("filler-range__no-middle")
def _(study: Study) -> None:
    study.drop("filler")
    study.add("filler", 12, "grammatical", subgroup="pseudo")
    study.add("filler", 12, "ungrammatical", subgroup="pseudo")


@broken("filler-match__no-doubtful")
def _(study: Study) -> None:
    study.drop("filler")
    study.add("filler", 3, "grammatical", subgroup="pseudo")
    study.add("filler", 3, "ungrammatical", subgroup="pseudo")
    for one in study.tests:
        one["acceptability"] = "3"


@broken("acceptability-unknown__fillers")
def _(study: Study) -> None:
    for one in study.only("filler"):
        one["status"] = ""


@broken("columns__misspelt")
def _(study: Study) -> None:
    for one in study.tests:
        one["contxt"] = "The evening was long."


@broken("item-twice__filler")
def _(study: Study) -> None:
    study.only("filler")[1]["item"] = study.only("filler")[0]["item"]


@broken("item-twice__no-factors")
def _(study: Study) -> None:
    del study.block["factors"]
    study.tests = study.tests[:2]


@broken("list-sizes__unequal-groups")
def _(study: Study) -> None:
    study.tests = [one for one in tests(13) if one["order"] == ("SO" if one["item"] < "t07" else "OS")]
    study.block["factors"] = {"order": {"levels": ["SO", "OS"], "between": "participants"}}
    study.settings["recruitment"]["participants"] = 48


@broken("confounded-with-item__one-list")
def _(study: Study) -> None:
    study.block["lists"] = 1


@broken("confounded-with-item__one-level-each")
def _(study: Study) -> None:
    study.tests = [one for one in tests(12) if one["order"] == ("SO" if one["item"] < "t07" else "OS")]


@broken("confounded-with-list__one-item")
def _(study: Study) -> None:
    study.tests = tests(1)
    study.settings["check"] = {"allow": ["lexicalisations", "unbalanced"]}


@broken("missing-cells__one-sentence")
def _(study: Study) -> None:
    study.tests = tests(14)[1:]


@broken("missing-cells__no-item-has-it")
def _(study: Study) -> None:
    study.tests = [{**one, "case": case} for one in tests(18) for case in ("a", "b")]
    study.tests = [one for one in study.tests if (one["order"], one["case"]) != ("OS", "b")]
    for one in study.tests:
        one["sentence"] = one["sentence"].replace("rain", "rain" if one["case"] == "a" else "storm")
    study.block["factors"] = {"order": ["SO", "OS"], "case": ["a", "b"]}
    study.add("filler", 8, "marked", subgroup="pseudo")


@broken("levels__misspelt")
def _(study: Study) -> None:
    study.tests[3]["order"] = "0S"


@broken("levels__misspelt-side", choice)
def _(study: Study) -> None:
    study.tests[3]["order"] = "os"


@broken("design__two-rows-in-a-condition")
def _(study: Study) -> None:
    study.tests.insert(2, row("t01", "test", "Somebody else opened a letter before the rain began.", order="SO"))


@broken("unbalanced__thirteen-items")
def _(study: Study) -> None:
    study.tests = tests(13)


@broken("identical-sentences__two-conditions")
def _(study: Study) -> None:
    study.tests[5]["sentence"] = study.tests[4]["sentence"]


@broken("identical-sentences__both-sides", choice)
def _(study: Study) -> None:
    one = study.only("filler")[0]
    one["sentence_2"] = one["sentence"]


@broken("identical-sentences__in-two-fillers")
def _(study: Study) -> None:
    study.only("filler")[1]["sentence"] = study.only("filler")[0]["sentence"]


@broken("other-language__german-fillers")
def _(study: Study) -> None:
    study.settings["check"] = {"allow": ["filler-frames", "near-identical"]}
    for number, one in enumerate(study.others):
        one["sentence"] = f"Ich weiß nicht, ob der Gast {number} das mit dem Zug auch bei uns noch schafft."


@broken("one-answer__all-natural")
def _(study: Study) -> None:
    for one in [*study.only("control"), *study.only("attention")]:
        one.update(status="marked", expected="4-5")


@broken("scale-direction__natural-first")
def _(study: Study) -> None:
    study.block["scale"] = {"points": 5, "labels": ["entirely natural", "entirely unnatural"]}


@broken("near-identical__one-word")
def _(study: Study) -> None:
    name, verb, noun = parts(0)
    study.tests[8]["sentence"] = f"{name} {verb} the {noun} before the storm began."


@broken("white-space__two-blanks")
def _(study: Study) -> None:
    study.tests[0]["sentence"] = study.tests[0]["sentence"].replace(" before ", "  before ")


@broken("white-space__no-break-space")
def _(study: Study) -> None:
    study.only("filler")[0]["sentence"] = sentence(90).replace("the rain", "the\u00a0rain")


@broken("quotes__left-open")
def _(study: Study) -> None:
    study.only("filler")[0]["sentence"] = 'The old baker said "no before the shop was shut.'


@broken("judgment-marks__asterisk")
def _(study: Study) -> None:
    study.tests[1]["sentence"] = "*" + study.tests[1]["sentence"]


@broken("unicode__two-codings")
def _(study: Study) -> None:
    study.only("filler")[0]["sentence"] = "The cafe\u0301 was empty when the guests came."


@broken("unicode__two-scripts")
def _(study: Study) -> None:
    study.only("filler")[0]["sentence"] = "The c\u0430t was asleep when the guests came."


@broken("unicode__mistaken-encoding")
def _(study: Study) -> None:
    first, second, *_ = study.only("filler")
    first["sentence"] = "The caf\u00c3\u00a9 was empty when the guests came."
    second["sentence"] = "J\u00c3\u00bcrgen has forgotten his umbrella."


@broken("final-punctuation__missing")
def _(study: Study) -> None:
    study.tests[0]["sentence"] = study.tests[0]["sentence"].rstrip(".")


@broken("lengths__one-item")
def _(study: Study) -> None:
    one = study.tests[12]
    one["sentence"] = one["sentence"].replace("rain", "rain that everybody in the valley had wanted")


@broken("condition-lengths__one-condition")
def _(study: Study) -> None:
    for one in study.tests[::2]:
        one["sentence"] = one["sentence"].replace("rain", "rain that all in the valley wanted")


@broken("images__not-there")
def _(study: Study) -> None:
    study.only("filler")[0]["image"] = "pictures/lantern.png"


@broken("images__no-image")
def _(study: Study) -> None:
    # A file that is there: the item table itself.
    study.only("filler")[0]["image"] = "items.csv"


@broken("probes__honeypots")
def _(study: Study) -> None:
    for filler in study.only("filler")[:2]:
        filler.update(subgroup="honeypot", hidden="Programs choose 1 here.", expected="1-5")


@broken("probes__hidden-in-a-test-item")
def _(study: Study) -> None:
    study.only("filler")[0]["hidden"] = "Programs choose 1 here."


@broken("feedback__filler")
def _(study: Study) -> None:
    study.only("filler")[0]["feedback"] = "Most people find this natural."


@broken("instructions__school-grammar")
def _(study: Study) -> None:
    study.settings["texts"] = {"instructions": "Rate every sentence from 1 to 5 by the rules of English grammar."}


@broken("screening__none")
def _(study: Study) -> None:
    del study.settings["screening"]


@broken("screening-impossible__no-attention")
def _(study: Study) -> None:
    study.drop("attention")
    study.add("filler", 2, "ungrammatical", subgroup="pseudo")


@broken("screening-impossible__no-quiz")
def _(study: Study) -> None:
    study.settings["screening"]["quiz"] = {}


@broken("screening-impossible__nothing-asked-twice")
def _(study: Study) -> None:
    study.settings["screening"]["inconsistency"] = {}


@broken("screening-impossible__nobody-ineligible")
def _(study: Study) -> None:
    study.settings["screening"]["eligibility"] = {}


@broken("screening-impossible__numbers-without-ends")
def _(study: Study) -> None:
    del study.block["scale"]
    study.block.update(task="magnitude", scale={"modulus": 100})
    del study.settings["screening"]["controls"]
    for one in study.others:
        if one.get("expected"):
            one["expected"] = "1-99"


@broken("screening-impossible__no-neutral-answer", choice)
def _(study: Study) -> None:
    study.settings["screening"]["scale_use"] = {}


@broken("participants__twelve")
def _(study: Study) -> None:
    study.settings["recruitment"]["participants"] = 12


@broken("participants__two-groups")
def _(study: Study) -> None:
    study.tests = [one for one in tests(12) if one["order"] == ("SO" if one["item"] < "t07" else "OS")]
    study.block["factors"] = {"order": {"levels": ["SO", "OS"], "between": "participants"}}


@broken("participants-lists__thirty-seven")
def _(study: Study) -> None:
    study.settings["recruitment"]["participants"] = 37


@broken("participants-ratings__too-few")
def _(study: Study) -> None:
    del study.block["factors"]
    study.tests = [one for one in tests(12) if one["order"] == "SO"]
    study.block["subset"] = {"per_participant": 4, "ratings": 15}


@broken("pay__below-the-minimum")
def _(study: Study) -> None:
    study.settings["recruitment"].update(hourly_pay=9.0, minimum_hourly_pay=12.0)


@broken("pay__eight-of-nine-minutes")
def _(study: Study) -> None:
    study.settings["recruitment"].update(minutes=8, hourly_pay=12.0, minimum_hourly_pay=12.0)


@broken("minutes__three-of-nine")
def _(study: Study) -> None:
    study.settings["recruitment"]["minutes"] = 3


@broken("quotas__no-room")
def _(study: Study) -> None:
    study.settings["recruitment"]["quotas"] = {"region": {"north": 10, "south": 10}}
    question = {"name": "region", "question": "Where do you live?", "answers": ["north", "south"], "required": False}
    study.settings["background"] = [question]


@broken("quotas__asked-too-late")
def _(study: Study) -> None:
    study.settings["recruitment"]["quotas"] = {"region": {"north": 10}}
    question = {
        "name": "region",
        "question": "Where do you live?",
        "answers": ["north", "south"],
        "when": "after",
        "required": False,
    }
    study.settings["background"] = [question]


@broken("personal-question__no-way-out")
def _(study: Study) -> None:
    answers = ["woman", "man", "another"]
    study.settings["background"] = [
        {"name": "gender", "question": "What is your gender?", "answers": answers},
        {"name": "age", "question": "How old are you?", "answers": ["18-39", "40 or older", "I prefer not to say"]},
        {"name": "town", "question": "Where do you live?", "required": False},
        {"name": "first", "question": "Is English your first language?", "answers": ["yes", "no"], "eligible": ["yes"]},
    ]


@broken("taken-names__question")
def _(study: Study) -> None:
    study.settings["background"] = [
        {"name": "source", "question": "Where did you hear of this study?", "required": False}
    ]


@broken("taken-names__column")
def _(study: Study) -> None:
    for one in study.others:
        one["time"] = "past"


@broken("platform__misspelt")
def _(study: Study) -> None:
    study.settings["recruitment"]["platform"] = "prolfic"


@broken("completion-code__prolific")
def _(study: Study) -> None:
    study.settings["recruitment"]["platform"] = "Prolific"


@broken("encoding__latin-1")
def _(study: Study) -> None:
    study.encoding = "cp1252"
    study.only("filler")[0]["sentence"] = "The old café was empty when the guests came."


@broken("function-column__role")
def _(study: Study) -> None:
    # A task of which no controls are asked, so that nothing else is missed where all rows are test items.
    study.block = {"task": "label", "items": "items.csv", "scale": {"levels": ["past", "present"]}}
    study.settings["screening"] = {"completion": {"at_least": 0.9}}
    roles = ("critical", "Filler")
    study.tests = [{"item": f"i{n}", "role": roles[n % 2], "sentence": sentence(n)} for n in range(12)]
    study.others = []


@broken("contrast-untested__labels")
def _(study: Study) -> None:
    study.block |= {"task": "label", "scale": {"levels": ["past", "present", "future"]}}
    study.settings["contrast"] = [{"name": "order", "factor": "order", "levels": ["SO", "OS"]}]
    study.settings["screening"] = {"completion": {"at_least": 0.9}}
    study.others = []


@broken("scale-labels__twice")
def _(study: Study) -> None:
    study.block["scale"] = {"points": 5, "labels": ["bad", "rather bad", "neither", "rather bad", "good"]}


@broken("scale-labels__gap")
def _(study: Study) -> None:
    study.block["scale"] = {"points": 5, "labels": ["bad", "", "neither", "rather good", "good"]}


@broken("consent__missing")
def _(study: Study) -> None:
    study.settings["texts"] = {"consent": " "}


@broken("allow__misspelt")
def _(study: Study) -> None:
    study.settings["check"] = {"allow": ["atention"]}


STUDIES = {f"sound__{name}": made for name, made in SOUND.items()} | BROKEN


def study_folder(name: str, parent: Path) -> Path:
    """The folder of one of these studies, written below another one."""
    STUDIES[name]().write(parent / name)
    return parent / name
