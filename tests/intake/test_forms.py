"""The forms in which tables come, the roles of their columns, and what is asked where a file leaves something open."""

from __future__ import annotations

import contextlib
import csv
import json
import random
from collections.abc import Sequence
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import karat
from intake.cases import noted
from karat.errors import KaratError
from karat.intake import Options, read_files
from karat.intake.reading import ProposalError, remember
from karat.intake.table_repair import read_results
from karat.judgments.scales import Choice, Ordinal
from karat.judgments.source import SourceFile
from messages import refuses

VERBS, CONTENTS = ("know", "say", "think"), ("cat", "dog", "bird", "fish")


def written(path: Path, header: Sequence[str], rows: Sequence[Sequence[object]], delimiter: str = ",") -> Path:
    with path.open("w", newline="", encoding="utf-8") as file:
        csv.writer(file, delimiter=delimiter).writerows([header, *rows])
    return path


def crossed(path: Path) -> Path:
    """Nine participants judge three verbs with four contents; each has a level of their own, as people do."""
    draw = random.Random(3)
    rows = [
        [f"s{p}", verb, content, min(7, max(1, p % 5 + 1 + draw.randint(0, 2)))]
        for p in range(9) for verb in VERBS for content in CONTENTS
    ]  # fmt: skip
    return written(path, ["subject", "verb", "content", "rating"], rows)


def test_several_columns_are_proposed_as_the_item(tmp_path: Path) -> None:
    path = crossed(tmp_path / "t.csv")
    with pytest.raises(ProposalError) as error:
        read_files([path])
    (question,) = error.value.questions
    assert (question.role, question.choices[0].mapping) == ("item", {"item": "verb+content"})
    assert "--map item=verb+content" in str(error.value)
    assert "s1" not in str(error.value)
    accepted = read_files([path], options=Options(accept=True)).judgments
    result = karat.read(path, mapping={"item": ["verb", "content"]})
    assert accepted.frame["item"].n_unique() == 12
    assert result.frame["item"].to_list() == accepted.frame["item"].to_list()
    assert {"verb", "content"} <= set(result.frame.columns)


def test_answers_are_kept_beside_the_file(tmp_path: Path) -> None:
    path = crossed(tmp_path / "t.csv")
    kept = remember(path, {"item": "verb+content"}, {})
    assert kept is not None
    intake = read_files([path])
    assert intake.judgments.frame["item"].n_unique() == 12
    assert "intake.remembered" in [note.code for note in intake.notes]
    kept.write_text("[map]\nitem = ", encoding="utf-8")
    with refuses(KaratError, "t.csv.karat.toml"):
        read_files([path])


def test_one_row_per_participant(tmp_path: Path) -> None:
    rows = [[f"p{p}", 20 + p, *("yes" if (p + i) % 3 else "no" for i in range(6))] for p in range(8)]
    path = written(tmp_path / "t.csv", ["subject", "age", *(f"cond-{i}" for i in range(6))], rows)
    with refuses(ProposalError, "--wide participant"):
        read_files([path])
    judgments = read_files([path], options=Options(wide="participant")).judgments
    assert (judgments.frame.height, judgments.frame["item"].n_unique()) == (48, 6)
    assert "age" in judgments.participants.columns


def test_one_column_per_judge(tmp_path: Path) -> None:
    rows = [[f"word{i}", i % 2, (i + 1) % 2, 1, 0, 0.5] for i in range(30)]
    path = written(tmp_path / "t.csv", ["word", "AB", "CD", "EF", "GH", "average"], rows)
    frame = read_files([path], options=Options(accept=True)).judgments.frame
    assert sorted(frame["participant"].unique()) == ["AB", "CD", "EF", "GH"]
    assert frame.height == 120


def test_trials_in_a_list_of_each_participant(tmp_path: Path) -> None:
    data = [
        {"participant": f"p{p}", "trials": [{"item": f"i{i}", "response": (p + i) % 5 + 1} for i in range(4)]}
        for p in range(6)
    ]
    path = tmp_path / "t.json"
    path.write_text(json.dumps(data), encoding="utf-8")
    assert read_files([path]).judgments.frame.height == 24


def test_names_with_other_content_are_conditions(tmp_path: Path) -> None:
    rows = [[f"p{p}", f"i{i}", p % 5 + 1, "FB-who" if i % 2 else "F-K", "negative"] for p in range(6) for i in range(4)]
    path = written(tmp_path / "t.csv", ["participant", "item", "response", "trial", "polarity"], rows)
    intake = read_files([path])
    assert {"trial_", "polarity_"} <= set(intake.judgments.frame.columns)
    assert {"role.no_position", "role.other_content"} <= {note.code for note in intake.notes}


def test_two_rows_per_choice(tmp_path: Path) -> None:
    rows = [
        [p, t, f"{kind}{t}", int(kind == "good")] for p in range(6) for t in range(1, 6) for kind in ("bad", "good")
    ]
    path = written(tmp_path / "t.csv", ["subject", "order", "item", "judgment"], rows)
    frame = read_files([path]).judgments.frame
    assert (frame.height, frame["response"].unique().to_list()) == (30, ["right"])


def test_comment_lines_row_names_and_missing_last_cells(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_text('"#Data, see README",,\n#x\n,,\nsubject,item,rating\na,1,2\n', encoding="utf-8")
    assert read_results(SourceFile(path)).frame.rows() == [("a", "1", "2")]
    path.write_text('"subject" "item"\n"1" "a" 3\n"2" "b" 4\n', encoding="utf-8")
    assert read_results(SourceFile(path)).frame.columns == ["row", "subject", "item"]
    path.write_text('"HITId","Answer.x","Approve","Reject"\n"h","1"\n"i","2"\n', encoding="utf-8")
    assert read_results(SourceFile(path)).frame.height == 2


def test_ratings_without_participants_are_refused_by_their_form(tmp_path: Path) -> None:
    rows = [[i, "[{'rating': '3'}, {'rating': '4'}]", "[{'rating': '1'}, {'rating': '2'}]"] for i in range(5)]
    path = written(tmp_path / "t.csv", ["id", "a_ratings", "b_ratings"], rows)
    with refuses(KaratError, "t.csv", "a_ratings", "b_ratings"):
        read_files([path])


def test_no_more_than_ten_lines(tmp_path: Path) -> None:
    rows = [["", f"i{i}", 9 + i] for i in range(60)]
    path = written(tmp_path / "t.csv", ["participant", "item", "response"], rows)
    with pytest.raises(KaratError) as error:
        read_files([path], options=Options(scale=karat.Ordinal(5)))
    assert len(str(error.value).splitlines()) <= 11


@given(st.lists(st.lists(st.text(max_size=6), min_size=1, max_size=6), min_size=1, max_size=30), st.booleans())
def test_any_table_gives_judgments_or_a_sentence(
    tmp_path_factory: pytest.TempPathFactory, rows: list[list[str]], accept: bool
) -> None:
    path = tmp_path_factory.mktemp("any") / "t.csv"
    path.write_text("\n".join(",".join(row) for row in rows), encoding="utf-8", errors="replace")
    with contextlib.suppress(KaratError):
        read_files([path], options=Options(accept=accept))


def test_a_file_without_a_header_shows_its_first_line(tmp_path: Path) -> None:
    """A crowd as it is often published: worker, item, label and right label, without names."""
    rows = [(worker, 79185673 + item, item % 3, item % 3) for item in range(6) for worker in (842, 38, 5)]
    with refuses(KaratError, "(842, 79185673, 0, 0, ...)"):
        karat.read(written(tmp_path / "crowd.csv", rows[0], rows[1:]))


def test_lines_with_blanks_and_no_header_are_named(tmp_path: Path) -> None:
    for person in range(3):
        lines = [f"main {n} {('gram', 'ungram')[n % 2]} {900 + 7 * n} {1 + (n + person) % 2}" for n in range(12)]
        (tmp_path / f"s{person}.txt").write_text("\n".join(lines) + "\n")
    with refuses(KaratError, "header", "participant", "item", "response"):
        read_files([tmp_path])


def lines(rows: Sequence[Sequence[object]], sign: str = ";") -> str:
    return "".join(sign.join(map(str, row)) + "\n" for row in rows)


def table(seed: int = 1) -> list[list[object]]:
    """Eight people who rated twelve items."""
    draw = random.Random(seed)
    return [[f"vp{p}", i, "ab"[(p + i) % 2], draw.randint(1, 5)] for p in range(8) for i in range(1, 13)]


@pytest.mark.parametrize("above", ["sep=;\n", "Experiment 2, pilot\nLab: X\n\n", "Experiment;2\n\n"])
def test_lines_above_a_header(tmp_path: Path, above: str) -> None:
    (tmp_path / "r.csv").write_text(f"{above}vp;item;cond;rating\n{lines(table())}", encoding="utf-8")
    assert read_files([tmp_path / "r.csv"]).judgments.answers == 96


def test_units_below_a_header_and_means_below_a_table(tmp_path: Path) -> None:
    draw = random.Random(1)
    rows = [["", *["1-7"] * 8], *([f"VP{p}", *(draw.randint(1, 7) for _ in range(8))] for p in range(10)),
            ["Mittelwert", *["4.25"] * 8]]  # fmt: skip
    header = ["Teilnehmer", *(f"S{n:02}_SVO" for n in range(8))]
    (tmp_path / "r.csv").write_text(lines([header, *rows]), encoding="utf-8")
    found = read_files([tmp_path / "r.csv"], options=Options(accept=True))
    assert (found.judgments.answers, found.judgments.scale) == (80, Ordinal(7))
    assert noted(found.notes, "table.labels")


def test_points_separate_thousands_beside_decimal_commas(tmp_path: Path) -> None:
    rows = [
        [*row, f"{0.125 * row[1]:.3f}".replace(".", ","), f"{1 + n % 4}.{500 + n}"] for n, row in enumerate(table())
    ]
    (tmp_path / "r.csv").write_text(f"vp;item;cond;rating;z;RT\n{lines(rows)}", encoding="utf-8")
    frame = read_files([tmp_path / "r.csv"]).judgments.frame
    assert (frame["rt"].min(), frame["rt"].max()) == (1.5, 4.595)


def test_contrasts_are_factors(tmp_path: Path) -> None:
    rows = [[vp, item, rating, 0.5 if cond == "a" else -0.5] for vp, item, cond, rating in table()]
    (tmp_path / "r.csv").write_text(f"vp;item;rating;gram\n{lines(rows)}", encoding="utf-8")
    assert read_files([tmp_path / "r.csv"]).judgments.factors() == ["gram"]


def test_what_most_annotators_said_is_no_annotator(tmp_path: Path) -> None:
    draw, rows = random.Random(2), []
    for item in range(40):
        said = [draw.choice(["hate", "none"]) for _ in range(3)]
        rows.append([item, f"a tweet about {item}", *said, max(said, key=said.count)])
    (tmp_path / "r.csv").write_text(lines([["id", "text", "anna", "ben", "carla", "final"], *rows]), encoding="utf-8")
    frame = read_files([tmp_path / "r.csv"], options=Options(accept=True)).judgments.frame
    assert sorted(frame["participant"].unique()) == ["anna", "ben", "carla"]
    assert "final" not in frame.columns


def test_the_chosen_side_beside_what_was_chosen(tmp_path: Path) -> None:
    draw, rows = random.Random(3), []
    for person in range(12):
        for item in range(16):
            left, right = draw.sample(["active", "passive"], 2)
            side = draw.choice(["left", "right"])
            rows.append([f"p{person}", item, left, right, side, left if side == "left" else right])
    header = ["pid", "item", "left_option", "right_option", "side_chosen", "chosen"]
    (tmp_path / "r.csv").write_text(lines([header, *rows]), encoding="utf-8")
    judgments = read_files([tmp_path / "r.csv"], options=Options(accept=True)).judgments
    assert (judgments.scale, judgments.answers) == (Choice(), 192)
    assert judgments.frame["left"].to_list() == [row[2] for row in rows]
