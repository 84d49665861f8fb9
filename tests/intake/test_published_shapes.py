"""Shapes of published result files, with made-up data: what is proposed, and what is never taken for an answer."""

from __future__ import annotations

import csv
import json
import random
from collections.abc import Iterable, Sequence
from pathlib import Path

import pytest

import karat
from karat.errors import KaratError
from karat.intake import Options, read_files
from karat.intake.reading import ProposalError
from karat.judgments import Judgments
from karat.judgments.source import SourceFile
from messages import refuses

WORDS = ("old", "cat", "sees", "green", "tree", "while", "small", "dog", "sleeps", "under", "large", "house")


def saved(path: Path, header: str, rows: Iterable[Sequence[object]]) -> Path:
    with path.open("w", newline="", encoding="utf-8") as file:
        csv.writer(file).writerows([header.split(","), *rows])
    return path


def proposals(path: Path) -> dict[str, dict[str, str]]:
    """The first proposal of each question."""
    with pytest.raises(ProposalError) as error:
        read_files([path])
    return {question.role: dict(question.choices[0].mapping) for question in error.value.questions}


def accepted(path: Path) -> Judgments:
    return read_files([path], options=Options(accept=True)).judgments


class Crowd:
    """People and things with levels of their own, so that answers differ as answers do."""

    def __init__(self) -> None:
        self.draw = random.Random(5)
        self.levels: dict[object, float] = {}

    def rate(self, person: object, thing: object, points: int = 7) -> int:
        for key in (person, thing):
            self.levels.setdefault(key, self.draw.gauss(0, points / 6))
        level = (points + 1) / 2 + self.levels[person] + self.levels[thing] + self.draw.gauss(0, points / 8)
        return max(1, min(points, round(level)))

    def text(self, n: int = 6) -> str:
        return " ".join(self.draw.choice(WORDS) for _ in range(n))


@pytest.fixture
def crowd() -> Crowd:
    return Crowd()


def test_a_system_and_a_title_are_what_was_judged(tmp_path: Path, crowd: Crowd) -> None:
    rows = [
        [f"doc{d}", system, f"ann{a}", aspect, crowd.rate(a, (d, system, aspect), 5)]
        for d in range(12) for system in ("bart", "t5", "gpt") for a in range(4) for aspect in ("coherence", "fluency")
    ]  # fmt: skip
    path = saved(tmp_path / "long.csv", "doc_id,system,annotator,dimension,score", rows)
    assert proposals(path)["item"] == {"item": "doc_id+system"}
    assert set(accepted(path).scales) == {"coherence", "fluency"}
    rows = [[p, f"Title {t}", crowd.rate(p, t)] for p in range(10) for t in range(12)]
    assert proposals(saved(tmp_path / "t.csv", "submission_id,title,rating", rows))["item"] == {"item": "title"}


def test_texts_made_anew_for_each_trial_are_not_the_item(tmp_path: Path, crowd: Crowd) -> None:
    people, rows = [f"Name{n}" for n in range(30)], []
    for worker in range(40):
        for thing in ("beads", "books", "cups", "eggs", "hats"):
            quantifier, who = crowd.draw.choice(["some", "all", "none"]), crowd.draw.choice(people)
            story = f"{who} threw all of the {thing} into a pool."
            answer = "yes" if crowd.rate(worker, (thing, quantifier)) > 3 else "no"
            rows.append([worker, quantifier, thing, story, f"Is {crowd.draw.choice(people)} right there?", answer])
    path = saved(tmp_path / "t.csv", "workerid,quantifier,object,story,prompt,response", rows)
    assert proposals(path)["item"] == {"item": "quantifier+object"}


@pytest.mark.parametrize("words", [("A", "B", "tie"), ("model_a", "model_b", "tie (both bad)")])
def test_a_preference_may_be_a_tie(tmp_path: Path, crowd: Crowd, words: tuple[str, str, str]) -> None:
    rows = []
    for prompt in range(30):
        one, other = crowd.draw.sample(["gpt", "llama", "human"], 2)
        texts = crowd.text(12), crowd.text(12)
        rows += [[f"q{prompt}", f"r{r}", one, other, *texts, crowd.draw.choice(words)] for r in range(4)]
    path = saved(tmp_path / "t.csv", "question_id,rater,model_a,model_b,text_a,text_b,winner", rows)
    assert proposals(path)["item"] == {"left": "model_a", "right": "model_b"}
    judgments = accepted(path)
    assert judgments.scales[""] == karat.Choice(none=True)
    assert set(judgments.frame["response"]) == {"left", "right", "none"}


@pytest.mark.parametrize("systems", [("gpt", "llama", "human"), ("gpt", "llama")])
@pytest.mark.parametrize("names", [("participant", "item", "response"), ("annotator", "prompt_id", "answer")])
def test_lines_of_json_compare_systems(
    tmp_path: Path, crowd: Crowd, names: tuple[str, str, str], systems: tuple[str, ...]
) -> None:
    rows = []
    for trial in range(80):
        compared = crowd.draw.sample(systems, 2) if len(systems) > 2 else systems
        cells = f"r{trial % 4}", f"q{trial // 4}", crowd.draw.choice(("A", "B", "tie")), *compared
        rows.append(json.dumps(dict(zip((*names, "model_a", "model_b"), cells, strict=True))))
    path = tmp_path / "t.jsonl"
    path.write_text("\n".join(rows), encoding="utf-8")
    assert proposals(path)["item"] == {"left": "model_a", "right": "model_b"}
    judgments = accepted(path)
    assert judgments.scales[""] == karat.Choice(none=True)
    assert set(judgments.frame["left"]) <= set(systems)


def test_numbered_groups_of_columns_are_trials(tmp_path: Path, crowd: Crowd) -> None:
    rows = []
    for worker in range(20):
        order = crowd.draw.sample(range(8), 5)
        rows.append(
            [f"w{worker}", 30, *(cell for i in order for cell in (crowd.rate(worker, i), f"item{i}", "ab"[i % 2]))]
        )
    header = ",".join(["workerid", "age", *(f"{name}{n}" for n in range(5) for name in ("Response", "ID", "Cond"))])
    path = saved(tmp_path / "t.csv", header, rows)
    frame = accepted(path).frame
    assert (frame.height, frame["item"].n_unique(), frame["trial"].max()) == (100, 8, 5)
    assert frame.filter(frame["participant"] == "w3")["response"].to_list() == [str(c) for c in rows[3][2::3]]


def test_numbered_groups_may_fill_several_rows_of_a_worker(tmp_path: Path, crowd: Crowd) -> None:
    rows: list[list[object]] = []
    for unit in range(30):
        texts = [crowd.text() for _ in range(3)]
        for worker in crowd.draw.sample(range(12), 3):
            ratings = [10 * crowd.rate(worker, text) for text in texts]
            rows.append(
                [900 + unit, f"w{worker}", *ratings, *texts, *crowd.draw.sample(["tgen", "slug", "nle", "gong"], 3)]
            )
    path = saved(tmp_path / "t.csv", "_unit_id,_worker_id,natur1,natur2,natur3,ref1,ref2,ref3,sys1,sys2,sys3", rows)
    frame = accepted(path).frame
    assert frame.height == 270
    assert frame.head(3)["response"].to_list() == [str(cell) for cell in rows[0][2:5]]


def test_points_worded_anew_for_each_question(tmp_path: Path, crowd: Crowd) -> None:
    asked = [(f"R{r}{q}", word) for r in (1, 2, 3) for q, word in (("Q1", "fluide"), ("Q2", "concis"), ("Q3", "clair"))]
    header = ["id. ID de la réponse", "submitdate. Date", "token. Code"]
    for code, word in asked:
        header += [f"{code}. Est-il {word} ?", f"{code}[comment]. Est-il {word} ? [Commentaire]"]
    header += [f"{code}Time. Durée pour la question: {code}" for code, _ in asked]
    rows = []
    for person in range(9):
        answers = [(f"{crowd.rate(person, code, 5)} : tout à fait {word}", crowd.text(9)) for code, word in asked]
        rows.append(
            [person + 1, "2024-04-26", f"t{person}", *(cell for both in answers for cell in both), *["3.1"] * 9]
        )
    path = saved(tmp_path / "t.csv", ",".join(header), rows)
    judgments = accepted(path)
    assert {*judgments.scales} == {"Q1", "Q2", "Q3"}
    assert all(isinstance(scale, karat.Ordinal) for scale in judgments.scales.values())
    assert (judgments.frame.height, judgments.frame["item"].n_unique()) == (81, 3)


def batch(path: Path, inputs: str, answers: Sequence[str], cells: Iterable[tuple[str, str, list[object]]]) -> Path:
    """Batch results of MTurk: HIT, worker and the cells of each assignment."""
    header = f"HITId,AssignmentId,WorkerId,AssignmentStatus,{inputs},{','.join(f'Answer.{name}' for name in answers)}"
    rows = [[hit, f"a{n}", worker, "Approved", *rest] for n, (hit, worker, rest) in enumerate(cells)]
    return saved(path, header, rows)


def test_logs_and_languages_of_workers_are_no_judgments(tmp_path: Path, crowd: Crowd) -> None:
    def cells() -> Iterable[tuple[str, str, list[object]]]:
        for hit in range(15):
            for worker in range(6):
                log = f'{{"clicks": [{crowd.draw.randint(1, 900)}], "agent": "browser"}}'
                yield f"h{hit}", f"w{worker}", [f"text {hit}", crowd.rate(worker, hit), log, ("yes", "no")[worker % 2]]

    path = batch(tmp_path / "batch.csv", "Input.text", ["quality", "clicks", "english"], cells())
    judgments = karat.read(path)
    assert judgments.frame.height == 90
    assert judgments.scales[""] == karat.Ordinal(7)
    assert "english" in judgments.participants.columns


def test_one_of_several_answers_of_a_hit(tmp_path: Path, crowd: Crowd) -> None:
    cells = [
        (f"h{h}", f"w{w}", [f"text {h}", crowd.draw.choice("AB"), crowd.rate(w, h)]) for h in range(9) for w in range(4)
    ]
    path = batch(tmp_path / "batch.csv", "Input.text", ["better", "fluency"], cells)
    assert set(karat.read(path).scales) == {"better", "fluency"}
    assert karat.read(path, mapping={"response": "Answer.fluency"}).scales[""] == karat.Ordinal(7)


def qualtrics(path: Path, questions: Sequence[tuple[str, str]], rows: Sequence[Sequence[object]]) -> Path:
    """An export of Qualtrics with three header rows."""
    tags = ["StartDate", "Status", "Finished", "ResponseId", *(tag for tag, _ in questions)]
    texts = ["Start Date", "Response Type", "Finished", "Response ID", *(text for _, text in questions)]
    ids = ["startDate", "status", "finished", "_recordId", *(f"QID{n}" for n in range(len(questions)))]
    about = [["2024-01-01 10:00:00", "IP Address", "True", f"R_{n}"] for n in range(len(rows))]
    body = [[*one, *row] for one, row in zip(about, rows, strict=True)]
    return saved(path, ",".join(tags), [texts, [f'{{"ImportId":"{name}"}}' for name in ids], *body])


def test_two_long_batteries_on_different_scales_are_asked_about(tmp_path: Path, crowd: Crowd) -> None:
    words = ["Disagree", "Neutral", "Agree"]
    items = [f"item{n}_{c}" for n in range(8) for c in "ab"]
    traits = [f"trait_{n}" for n in range(13)]
    rows = [[*(crowd.rate(p, i) for i in items), *(words[crowd.rate(p, t, 3) - 1] for t in traits)] for p in range(12)]
    questions = [
        *((tag, f"How natural is this? {crowd.text()}") for tag in items),
        *((tag, "I am calm.") for tag in traits),
    ]
    path = qualtrics(tmp_path / "t.csv", questions, rows)
    assert proposals(path)["response"] == {"response": "item"}
    assert accepted(path).frame["item"].n_unique() == len(items)
    assert set(karat.read(path, mapping={"response": "item+trait"}).scales) == {"item", "trait"}
    few = karat.read(path, mapping={"response": "item0_a+item1_b"})
    assert set(few.frame["item"]) == {"item0_a", "item1_b"}


def test_points_on_several_dimensions_are_answers_and_not_items(tmp_path: Path, crowd: Crowd) -> None:
    rows = [
        [p, f"v{i}", crowd.rate(p, ("valence", i)), crowd.rate(p, ("arousal", i)), crowd.draw.choice(["yes", "no"])]
        for p in range(20) for i in range(12)
    ]  # fmt: skip
    path = saved(tmp_path / "t.csv", "rater,video,valence,arousal,familiar", rows)
    assert proposals(path) == {"wide": {}, "item": {"item": "video"}}
    assert set(accepted(path).scales) == {"valence", "arousal"}


def test_annotators_in_columns_may_answer_in_words(tmp_path: Path, crowd: Crowd) -> None:
    labels = ["entailment", "neutral", "contradiction"]
    rows = [[f"{n}e", crowd.text(), crowd.text(), *(crowd.draw.choice(labels) for _ in range(5))] for n in range(40)]
    header = "pairID,sentence1,sentence2,annotator1,annotator2,annotator3,annotator4,gold_label"
    frame = accepted(saved(tmp_path / "t.csv", header, rows)).frame
    assert set(frame["participant"]) == {f"annotator{n}" for n in range(1, 5)}
    assert frame["item"].n_unique() == 40


def test_label_lists_without_annotators_are_refused(tmp_path: Path) -> None:
    lines = [f'{{"pairID": "{n}e", "sentence1": "A cat {n}.", "annotator_labels": ["yes", "no"]}}' for n in range(30)]
    (tmp_path / "t.jsonl").write_text("\n".join(lines), encoding="utf-8")
    with refuses(KaratError, "t.jsonl", "annotator_labels"):
        read_files([tmp_path / "t.jsonl"])


def test_best_and_worst_of_four_is_no_traceback(tmp_path: Path, crowd: Crowd) -> None:
    rows = []
    for person in range(12):
        for trial in range(10):
            shown = crowd.draw.sample([f"w{n}" for n in range(20)], 4)
            rows.append([f"p{person}", trial, *shown, *crowd.draw.sample(shown, 2)])
    with pytest.raises(KaratError):
        read_files([saved(tmp_path / "t.csv", "participant,trial,Item1,Item2,Item3,Item4,Best,Worst", rows)])


@pytest.mark.parametrize("encoding", ["utf-8", "cp932", "euc_jp"])
def test_headers_in_another_script_and_encoding_are_known(tmp_path: Path, crowd: Crowd, encoding: str) -> None:
    rows = [
        f"P{p},{n},花子が本を{n}回読んだ,{'ab'[(n + p) % 2]},{crowd.rate(p, n)},{900 + 10 * n}"
        for p in range(10) for n in range(12)
    ]  # fmt: skip
    path = tmp_path / "results.csv"
    path.write_bytes("\n".join(["参加者,番号,文,条件,評価,反応時間", *rows]).encode(encoding))
    judgments = karat.read(path)
    assert judgments.frame["item"].n_unique() == 12
    assert judgments.frame["item"][0] == "花子が本を0回読んだ"
    assert judgments.frame["rt"].max() == pytest.approx(1.01)


@pytest.mark.parametrize(
    ("encoding", "text"),
    [("cp1251", "участник,оценка\n1,Маша читала книгу"), ("euc_kr", "참가자,평가\n1,철수가 책을 읽었다"),
     ("gb18030", "被试,评分\n1,我不知道谁来了"), ("gb18030", "被试,句子,评分\n1,他被书放在桌子上了,5\n2,他把书,4"),
     ("big5", "受試者,評分\n1,我不知道誰來了"),
     ("gb18030", "被试编号,性别,句子编号,条件,评分,反应时" + "\n1,男,1,a,5,900\n2,女,1,b,4,812" * 9),
     ("cp1252", "sujet;phrase\n1;L’élève a été très déçu à Noël")],
)  # fmt: skip
def test_encodings_are_recognised_by_their_letters(tmp_path: Path, encoding: str, text: str) -> None:
    path = tmp_path / "results.csv"
    path.write_bytes(text.encode(encoding))
    assert SourceFile(path).text() == text


def test_columns_called_after_annotators_are_participants(tmp_path: Path, crowd: Crowd) -> None:
    labels = ("entailment", "neutral", "contradiction")
    rows = [[n, crowd.text(), *(crowd.draw.choice(labels) for _ in range(4))] for n in range(30)]
    judgments = accepted(saved(tmp_path / "r.csv", "id,text,annotator_1,annotator_2,annotator_3,gold_label", rows))
    assert sorted(judgments.frame["participant"].unique()) == ["annotator_1", "annotator_2", "annotator_3"]
    assert judgments.frame["item"].n_unique() == 30
    assert judgments.frame["expected"].null_count() == 0


@pytest.mark.parametrize(
    ("name", "no", "yes", "function"),
    [("practice", "no", "yes", "practice"), ("is_filler", "0", "1", "filler"),
     ("attentionCheck", "false", "true", "attention")],
)  # fmt: skip
def test_a_column_that_marks_trials_names_their_function(
    tmp_path: Path, crowd: Crowd, name: str, no: str, yes: str, function: str
) -> None:
    rows = [[f"s{p}", n, crowd.rate(p, n), yes if n < 2 else no] for p in range(8) for n in range(10)]
    judgments = accepted(saved(tmp_path / "r.csv", f"subject,item,rating,{name}", rows))
    assert dict(judgments.frame["function"].value_counts().iter_rows()) == {function: 16, "test": 64}


def test_unnumbered_attention_items_are_named_by_text(tmp_path: Path, crowd: Crowd) -> None:
    texts = {"": ["Click on 7", "Click on 1"]}
    rows = [[f"s{p}", n, f"Sentence {n} is here", crowd.rate(p, n), 0] for p in range(8) for n in range(10)]
    rows += [[f"s{p}", "", text, 7 if "7" in text else 1, 1] for p in range(8) for text in texts[""]]
    judgments = accepted(saved(tmp_path / "r.csv", "subject,item,sentence,rating,attention_check", rows))
    asked = judgments.frame.filter(judgments.frame["function"] == "attention")
    assert sorted(asked["item"].unique()) == ["Click on 1", "Click on 7"]


def test_a_second_label_is_no_part_of_the_item(tmp_path: Path, crowd: Crowd) -> None:
    draw = crowd.draw
    rows = []
    for n in range(20):
        share = draw.random()
        for p in range(15):
            given = [int(draw.random() < (share + p / 15) / 2) for _ in range(2)]
            rows.append([p, f"T{n}", *given, crowd.text()] if p == 0 else [p, f"T{n}", *given, rows[-1][-1]])
    path = saved(tmp_path / "r.csv", "worker_id,tweet,hateful_label,offensive_label,tweet_text", rows)
    assert accepted(path).frame["item"].n_unique() == 20
    again = saved(tmp_path / "s.csv", "row,annotator,label1,label2", [[r[1][1:], r[0], r[2], r[3]] for r in rows])
    assert accepted(again).frame["item"].n_unique() == 20


def test_blanks_after_commas_are_no_part_of_answers(tmp_path: Path, crowd: Crowd) -> None:
    lines = ["item, annotator, label", *(f"{n}, a{p}, {'ok' if crowd.rate(p, n) > 3 else 'not ok'}"
                                         for n in range(10) for p in range(8))]  # fmt: skip
    path = tmp_path / "r.csv"
    path.write_text("\n".join(lines))
    frame = accepted(path).frame
    assert set(frame["response"]) == {"ok", "not ok"}
    assert "a0" in set(frame["participant"])


def test_a_second_answer_is_no_factor_of_the_design(tmp_path: Path, crowd: Crowd) -> None:
    rows = [[f"s{p}", n, crowd.rate(p, n, 4), crowd.rate(p, n, 4), (n + p) % 2] for p in range(12) for n in range(16)]
    judgments = accepted(saved(tmp_path / "r.csv", "subject,item,rating,rating_again,version", rows))
    assert "rating_again" not in judgments.factors()


def test_a_time_beside_the_answer_in_its_cell_is_a_response_time(tmp_path: Path, crowd: Crowd) -> None:
    rows: list[list[object]] = []
    for p in range(10):
        rows.append([p, "name", f"[0, '{['Ann', 'Bo', 'Cy'][p % 3]}']", 1])
        rows += [
            [p, f"clip{n}.wav", f"[{900 + 37 * p + n}, '{'Yes' if crowd.rate(p, n) > 3 else 'No'}']", n + 2]
            for n in range(12)
        ]
    judgments = accepted(saved(tmp_path / "r.csv", "workerid,item,response,slide_number", rows))
    assert judgments.scale.kind == "binary"
    assert judgments.answers == 120, "the check on names is no judgment"
    assert 0.9 < judgments.frame["rt"].median() < 1.4


def lines(path: Path, records: Iterable[object]) -> Path:
    path.write_text("\n".join(map(json.dumps, records)), encoding="utf-8")
    return path


def test_battles_of_chatbots_are_choices_between_models(tmp_path: Path, crowd: Crowd) -> None:
    talk = [{"role": "user", "content": "Hello"}, {"role": "assistant", "content": "Good day"}]
    rows = []
    for n in range(80):
        first, second = crowd.draw.sample(["owl", "fox", "hen", "cat"], 2)
        winner = crowd.draw.choice(["model_a", "model_b", "tie"])
        rows.append({"question_id": f"q{n}", "model_a": first, "model_b": second, "winner": winner,
                     "judge": f"user_{n % 9}", "conversation_a": talk, "conversation_b": talk,
                     "tstamp": 1.6e9 + n})  # fmt: skip
    judgments = accepted(lines(tmp_path / "battles.jsonl", rows))
    assert judgments.scale.kind == "choice"
    assert judgments.answers == 80
    assert set(judgments.frame["left"]) == {"owl", "fox", "hen", "cat"}
    assert judgments.frame["item"].n_unique() == 80, "another prompt is no repetition"


def test_tasks_of_prodigy_are_answers_of_their_annotators(tmp_path: Path, crowd: Crowd) -> None:
    options = [{"id": "POS", "text": "positive"}, {"id": "NEG", "text": "negative"}]
    rows = [
        {"text": f"Headline {n}", "_input_hash": n, "_task_hash": -n, "options": options, "config": {"style": "single"},
         "accept": ["POS" if crowd.rate(p, n) > 3 else "NEG"], "answer": "ignore" if n == 3 else "accept",
         "_session_id": f"news-{p}"}
        for p in ("ann", "bo", "cy") for n in range(12)
    ]  # fmt: skip
    judgments = karat.read(lines(tmp_path / "news.jsonl", rows))
    assert set(judgments.frame["response"].drop_nulls()) == {"POS", "NEG"}
    assert judgments.frame.filter(judgments.frame["item"] == "Headline 3")["response"].null_count() == 3


def test_a_file_per_annotator_names_them(tmp_path: Path, crowd: Crowd) -> None:
    for who in ("ann", "bo", "cy"):
        rows = [{"id": n, "text": crowd.text(), "label": [crowd.draw.choice("abc")]} for n in range(20)]
        lines(tmp_path / f"{who}.jsonl", rows)
    frame = accepted(tmp_path).frame
    assert set(frame["participant"]) == {"ann", "bo", "cy"}
    assert set(frame["response"]) == {"a", "b", "c"}


def test_a_table_per_person_is_proposed_as_such(tmp_path: Path, crowd: Crowd) -> None:
    for p in range(6):
        rows = [[n + 1, f"Satz {n} ist da", crowd.rate(p, n)] for n in range(12)]
        saved(tmp_path / f"vp_{p:02}_2021-04-03.csv", "trial,satz,urteil", rows)
    assert proposals(tmp_path) == {"participant": {"participant": "results_file"}}
    assert accepted(tmp_path).frame["participant"].n_unique() == 6


def test_several_criteria_on_a_text_are_several_questions(tmp_path: Path, crowd: Crowd) -> None:
    rows = [
        [f"a{p}", f"d{n}", system, *(crowd.rate(p, (n, system, k), 5) for k in range(3))]
        for p in range(6) for n in range(8) for system in ("owl", "fox", "hen")
    ]  # fmt: skip
    path = saved(tmp_path / "eval.csv", "annotator,doc_id,system,coherence,fluency,relevance", rows)
    judgments = accepted(path)
    assert sorted(judgments.scales) == ["coherence", "fluency", "relevance"]
    assert judgments.answers == 3 * len(rows)
    assert read_files([path], options=Options(wide="trial", accept=True)).judgments.answers == 3 * len(rows)


def test_factors_in_numbers_are_no_criteria(tmp_path: Path, crowd: Crowd) -> None:
    rows = [[f"a{p}", n, n % 3 + 1, n % 4 + 1, crowd.rate(p, n)] for p in range(8) for n in range(12)]
    judgments = accepted(saved(tmp_path / "r.csv", "annotator,item,naturalness_level,clarity_level,judged", rows))
    assert list(judgments.scales) == [""]


def test_sentences_as_headers_are_items_in_any_language(tmp_path: Path, crowd: Crowd) -> None:
    words = ("völlig unnatürlich", "eher unnatürlich", "weder noch", "eher natürlich", "völlig natürlich")
    heads = [f"Wie klingt das? [Der Hund hat {n} Katzen gesehen.]" for n in range(8)]
    rows = [[p, f"0{p}.03.2023 12:00", *(words[crowd.rate(p, n, 5) - 1] for n in range(8))] for p in range(1, 10)]
    path = tmp_path / "umfrage.csv"
    with path.open("w", newline="", encoding="utf-8") as file:
        csv.writer(file, delimiter=";").writerows([["Antwort ID", "Datum Abgeschickt", *heads], *rows])
    judgments = accepted(path)
    assert judgments.frame["item"][0] == "Der Hund hat 0 Katzen gesehen."
    assert judgments.frame["participant"].n_unique() == 9
    assert judgments.scale.known() == ", ".join(words)


def test_texts_that_everybody_writes_are_no_judgments(tmp_path: Path, crowd: Crowd) -> None:
    asked = {
        "choice": lambda p: crowd.draw.choice(["both", "one"]),
        "why": lambda p: f"Because I thought of {p} things",
    }
    rows = [[p, "colony", measure, answer(p)] for p in range(20) for measure, answer in asked.items()]
    judgments = accepted(saved(tmp_path / "r.csv", "submission_id,itemName,measure,response", rows))
    assert list(judgments.scales) == ["choice"]
    assert judgments.answers == 20


def test_answers_a_and_b_on_two_systems_are_choices(tmp_path: Path, crowd: Crowd) -> None:
    rows = []
    for n in range(12):
        pair = crowd.draw.sample(["owl", "fox", "hen"], 2)
        for p in range(3):
            best = crowd.draw.choice("AB")
            rows.append([f"h{n}", f"a{n}{p}", f"W{p}", "Approved", "Sat Jul 01 08:04:59 PDT 2023",
                         f"Text {n} of {pair[0]}", pair[0], f"Text {n} of {pair[1]}", pair[1], best,
                         crowd.rate(p, n)])  # fmt: skip
    header = "HITId,AssignmentId,WorkerId,AssignmentStatus,AcceptTime,Input.text1,Input.system1,Input.text2,"
    judgments = karat.read(saved(tmp_path / "batch.csv", f"{header}Input.system2,Answer.best,Answer.sure", rows))
    assert {question: scale.kind for question, scale in judgments.scales.items()} == {
        "best": "choice",
        "sure": "ordinal",
    }
    compared = judgments.frame.filter(question="best")
    assert set(compared["left"]) | set(compared["right"]) == {"owl", "fox", "hen"}


def test_a_log_of_lab_js_without_ids_has_a_participant_per_run(tmp_path: Path, crowd: Crowd) -> None:
    rows: list[list[object]] = []
    for p in range(4):
        rows.append(["Intro", "html.Page", "0", "", 3000, "form submission", "", ""])
        rows += [["Rate", "html.Screen", f"1_{n}", crowd.rate(p, n), 1500 + n, "response", n, "ab"[n % 2]]
                 for n in range(10)]  # fmt: skip
    path = saved(tmp_path / "log.csv", "sender,sender_type,sender_id,response,duration,ended_on,item,cond", rows)
    judgments = karat.read(path)
    assert judgments.frame["participant"].unique(maintain_order=True).to_list() == ["log-1", "log-2", "log-3", "log-4"]
    assert judgments.answers == 40


def test_a_file_without_a_header_is_refused_as_such(tmp_path: Path, crowd: Crowd) -> None:
    rows = [[f"rater{p}", "owl", n, "TGT", crowd.rate(p, n, 100)] for p in range(3) for n in range(10)]
    path = saved(tmp_path / "scores.csv", "rater0,owl,1,TGT,57", rows)
    with pytest.raises(KaratError) as error:
        read_files([path])
    assert "header" in str(error.value)


def test_ratings_of_nobody_in_one_cell_are_refused_by_their_form(tmp_path: Path, crowd: Crowd) -> None:
    rows = [[n, crowd.text(), ",".join(str(crowd.rate(p, n, 4)) for p in range(5 + n % 3))] for n in range(25)]
    with pytest.raises(KaratError) as error:
        read_files([saved(tmp_path / "r.csv", "ID,sentence,full-ratings", rows)])
    assert "full-ratings" in str(error.value)


def test_what_all_raters_of_a_text_have_is_no_answer(tmp_path: Path, crowd: Crowd) -> None:
    texts = [(crowd.text(), crowd.draw.random()) for _ in range(40)]
    rows = [
        [f"c{n}", text, score, worker, aspect, crowd.rate(worker, (n, aspect), 5) - 1]
        for n, (text, score) in enumerate(texts)
        for worker in crowd.draw.sample(range(15), 4)
        for aspect in ("fluency", "meaning")
    ]
    path = saved(tmp_path / "t.csv", "comment_id,comment,perspective_score,worker_id,aspect,toxic_score", rows)
    judgments = accepted(path)
    assert set(judgments.scales) == {"fluency", "meaning"}
    assert judgments.frame["response"].to_list() == [str(row[5]) for row in rows]


def test_a_form_among_trials_is_known_by_any_column_of_kinds(tmp_path: Path, crowd: Crowd) -> None:
    rows = [["RatingTrial", f"p{p}", f"s{t}", crowd.rate(p, t)] for p in range(12) for t in range(20)]
    rows += [["Survey", f"p{p}", "age", crowd.draw.randint(20, 60)] for p in range(12)]
    path = saved(tmp_path / "t.csv", "trial_template,participant_id,stim1_name,response_value", rows)
    assert accepted(path).frame.height == 240


def test_reviews_of_several_systems_are_all_read(tmp_path: Path, crowd: Crowd) -> None:
    def reviews(text: str) -> dict[str, object]:
        people = crowd.draw.sample(range(9), 3)
        rated = [
            {"worker_id": f"w{p}", "overall-rating": 10 * crowd.rate(p, text), "overall-rank": p % 3} for p in people
        ]
        return {"response": text, "reviews": rated, "overall": {"overall-rating": 50}}

    systems = ("bart", "dpr", "human")
    records = [
        {"passage-id": f"{n}", "questions": [{name: reviews(crowd.text(9)) for name in systems} for _ in range(4)]}
        for n in range(12)
    ]
    frame = accepted(lines(tmp_path / "t.jsonl", records)).frame
    assert (frame.height, frame["item"].n_unique()) == (432, 144)
    assert set(frame["version"]) == {*systems}


def test_items_that_may_be_fillers_are_named(tmp_path: Path) -> None:
    names = [f"{name}.{n}.{kind}" for name in ("F", "whether") for n in range(4) for kind in ("G", "UG")]
    rows = [[f"p{person}", name, (at + person) % 7 + 1] for person in range(6) for at, name in enumerate(names)]
    path = saved(tmp_path / "t.csv", "participant,item,response", rows)
    (note,) = (note for note in read_files([path]).notes if note.code == "role.perhaps_fillers")
    assert note.values == {"n": 8, "item": "F.0.G", "pattern": "F.*"}
    marked = read_files([path], options=Options(functions={note.values["pattern"]: "filler"}))
    assert marked.to_dict()["functions"] == {"filler": 48, "test": 48}
    assert "role.perhaps_fillers" not in [note.code for note in marked.notes]
