"""Power: of the test that `measure` runs, against closed forms, by seed and process, from a pilot."""

from __future__ import annotations

import json
import os
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from scipy.stats import f_oneway, nct, t, ttest_rel
from typer.testing import CliRunner

import karat
from karat.cli.main import app
from karat.errors import KaratError
from karat.executors import open_executor
from karat.measure.effects.contrasts import contrasts
from karat.measure.effects.planned import planned_contrasts
from karat.messages import Message
from karat.simulate import Power, SimulateError, Spread, answer_study, closed_power, power
from karat.simulate.analysis import by_mean_squares, by_measured_model, by_mixed_model, expected_variance
from karat.simulate.layout import SimulationLayout, layout_of, named_contrast
from karat.simulate.power import Batch, read_pilot, run_batch
from karat.simulate.scale_answers import Normal, draw_rounds, in_logits, mean_answers, on_scale
from karat.study.init import write_study
from karat.study.study import Study, load
from karat.types import Progress
from messages import codes, raises

SCALE = karat.Ordinal(5)
SPREAD = Spread(0.8, 0.8, 0.4, 0.4, 0)
LATIN = np.array([[0.5, -0.5], [-0.5, 0.5]])
FOUR = np.array([[[0.5, -0.5, 0.0, 0.0][(g + h) % 4] for h in range(4)] for g in range(4)])
CROSSED = np.array([[[0.25, -0.25, -0.25, 0.25][(g + h) % 4] for h in range(4)] for g in range(4)])
LAYOUTS = {
    "interaction": SimulationLayout(CROSSED, SCALE),
    "Latin square": SimulationLayout(LATIN, SCALE),
    "part of a Latin square": SimulationLayout(FOUR, SCALE),
    "between items": SimulationLayout(np.array([[0.5, -0.5]]), SCALE),
    "between participants": SimulationLayout(np.array([[0.5], [-0.5]]), SCALE),
    "choice": SimulationLayout(np.array([[1.0]]), karat.Choice(), compared=True),
    "parts of the items": SimulationLayout(np.kron(np.eye(2), np.array([[0.5, -0.5]])), SCALE),
}
MODEL = Normal(0.5, 0.5, 0.4, 0.3, 1.0)
EFFECTS = {"interaction": 0.7, "between items": 0.8, "between participants": 0.7, "choice": 0.3,
           "part of a Latin square": 0.5, "parts of the items": 0.8}  # fmt: skip


@pytest.fixture
def study(tmp_path: Path) -> Study:
    write_study(tmp_path / "study", "yes-no")
    return load(tmp_path / "study")


def simulated(layout: SimulationLayout, effect: float, count: int = 1500) -> np.ndarray:
    batch = Batch(layout, MODEL, 24, 16, effect, 0.0, "means", 7, 0, count)
    return np.array(run_batch(None, batch))


@pytest.mark.few(1)
@pytest.mark.parametrize("name", list(LAYOUTS))
def test_power_agrees_with_the_closed_form(name: str) -> None:
    layout, effect = LAYOUTS[name], EFFECTS.get(name, 0.4)
    table = simulated(layout, effect)
    expected = closed_power(layout, MODEL, 24, 16, effect)
    assert 0.3 < expected < 0.95
    assert (table[:, 2] < 0.05).mean() == pytest.approx(expected, abs=4 * np.sqrt(0.25 / len(table)))
    variance, _ = expected_variance(layout, MODEL, 24, 16)
    assert table[:, 0].var() == pytest.approx(variance, rel=0.15)
    assert (table[:, 1] ** 2).mean() == pytest.approx(variance, rel=0.15)
    assert table[:, 0].mean() == pytest.approx(effect, abs=4 * np.sqrt(variance / len(table)))


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=[pytest.mark.slow] * (place > 0)) for place, name in enumerate(LAYOUTS)]
)
def test_type_i_errors_keep_to_alpha(name: str) -> None:
    assert 0.02 < (simulated(LAYOUTS[name], 0.0)[:, 2] < 0.05).mean() < 0.07


def test_closed_form_is_that_of_the_paired_t_test() -> None:
    """Very many items and no differences between them leave a paired t test of participants."""
    layout, model = LAYOUTS["between items"], Normal(0.7, 0.0, 0.5, 0.0, 1.0)
    n, m = 20, 200_000
    error = 0.5 / np.sqrt(n)
    cut = t.ppf(0.975, n - 1)
    exact = nct.sf(cut, n - 1, 0.3 / error) + nct.cdf(-cut, n - 1, 0.3 / error)
    assert closed_power(layout, model, n, m, 0.3) == pytest.approx(exact, abs=0.002)


def test_mean_squares_are_those_of_textbook_tests() -> None:
    """One item a level: participants' part is the paired t test; one participant a group: items' part is ANOVA's."""
    random = np.random.default_rng(4)
    answers = random.normal(0, 1, (12, 8)) + np.arange(12)[:, None]
    layout, things = LAYOUTS["between items"], np.arange(8) % 2
    estimate, _, _ = by_mean_squares(answers, layout, np.zeros(12, dtype=int), things)
    first, second = answers[:, things == 0].mean(axis=1), answers[:, things == 1].mean(axis=1)
    assert estimate == pytest.approx((first - second).mean())
    strong = random.normal(0, 5, (12, 1)) * np.where(things == 0, 1, -1) + answers
    by_person = [strong[:, things == side].mean(axis=1) for side in (0, 1)]
    found = by_mean_squares(strong, layout, np.zeros(12, dtype=int), things)
    assert found[2] == pytest.approx(ttest_rel(*by_person).pvalue, abs=0.05)
    items = random.normal(0, 1, (12, 8)) + random.normal(0, 20, (1, 8))
    found = by_mean_squares(items, layout, np.zeros(12, dtype=int), things)
    by_item = [items[:, things == side].mean(axis=0) for side in (0, 1)]
    assert found[2] == pytest.approx(f_oneway(*by_item).pvalue, abs=0.02)


def test_mean_squares_agree_with_the_mixed_model() -> None:
    layout = LAYOUTS["Latin square"]
    people, things = layout.participant_groups(16), layout.item_groups(12)
    model = Normal(0.5, 0.5, 0.8, 0.8, 1.0)
    for seed in range(3):
        rounds = draw_rounds(model, layout, people, things, 0.5, np.random.default_rng(seed))
        answers = mean_answers(rounds, layout, people, things)
        quick = by_mean_squares(answers, layout, people, things)
        mixed = by_mixed_model(answers, layout, people, things)
        assert quick[0] == pytest.approx(mixed[0], abs=1e-3)
        assert quick[1] == pytest.approx(mixed[1], rel=0.1)
        assert quick[2] == pytest.approx(mixed[2], abs=0.05)


def test_a_study_that_lost_a_list_cannot_be_tested() -> None:
    people = np.zeros(5, dtype=int)
    assert np.isnan(by_mean_squares(np.ones((5, 4)), LAYOUTS["Latin square"], people, np.arange(4) % 2)).all()


def test_effects_on_the_scale_and_in_logits() -> None:
    layout = SimulationLayout(LATIN, karat.Binary())
    exact = 2 / (1 + np.exp(-0.5)) - 1
    assert on_scale(layout, Spread(0, 0, 0, 0, 0), 1.0) == pytest.approx(exact, abs=0.01)
    assert in_logits(layout, Spread(0, 0, 0, 0, 0), exact) == pytest.approx(1.0, abs=0.05)
    assert in_logits(layout, Spread(), -0.1) == -in_logits(layout, Spread(), 0.1)
    with raises(SimulateError, "power.difference_too_large"):
        in_logits(layout, Spread(), 1.5)


@pytest.mark.slow
def test_more_of_everything_is_more_power(study: Study) -> None:
    found = power(study, [16, 48], [12, 36], [0.0, 0.8], simulations=300, analysis="means").table()
    table = {row[:3]: row[5] for row in found.select("participants", "items", "effect", "difference", "simulations",
                                                     "power").rows()}  # fmt: skip
    assert table[16, 12, 0.8] < table[48, 12, 0.8] < table[48, 36, 0.8]
    assert all(share < 0.1 for (_, _, effect), share in table.items() if not effect)
    lost = power(study, [48], [36], [0.8], exclude=0.5, simulations=300, analysis="means").table()["power"][0]
    assert lost < table[48, 36, 0.8]


@pytest.mark.slow
def test_type_s_and_m_errors_of_a_weak_study(study: Study) -> None:
    row = power(study, [8], [8], [0.2], analysis="means").table().row(0, named=True)
    assert row["type_s"] > 0.03
    assert row["type_m"] > 2
    assert row["lower"] < row["power"] < row["upper"]


@pytest.mark.slow
def test_seeds_and_processes(study: Study) -> None:
    settings = {"participants": [12, 16], "effects": [0.8], "simulations": 120, "analysis": "means"}
    one = power(study, **settings, seed=4)  # type: ignore[arg-type]
    with open_executor(processes=2) as executor:
        assert one.table().equals(power(study, **settings, seed=4, executor=executor).table())  # type: ignore[arg-type]
    assert not one.table().equals(power(study, **settings, seed=5).table())  # type: ignore[arg-type]
    alone = power(study, [16], effects=[0.8], simulations=120, seed=4, analysis="means").table()
    assert alone.equals(one.table()[1:])


@pytest.mark.slow
def test_interrupted_work_continues(study: Study, tmp_path: Path) -> None:
    settings = {"participants": [12], "effects": [0.8], "simulations": 200, "analysis": "means"}
    whole = power(study, **settings)  # type: ignore[arg-type]

    class StoppedError(Exception):
        pass

    def stop(done: int, total: int) -> None:
        if done == 2:
            raise StoppedError

    def kept(progress: Progress, seed: int = 1) -> Power:
        with open_executor(checkpoint=tmp_path / "kept") as executor:
            return power(study, **settings, seed=seed, progress=progress, executor=executor)  # type: ignore[arg-type]

    with pytest.raises(StoppedError):
        kept(stop)
    written = {path: path.stat().st_mtime_ns for path in (tmp_path / "kept").iterdir()}
    assert len(written) == 2
    seen: list[tuple[int, int]] = []
    assert kept(lambda *at: seen.append(at)).table().equals(whole.table())
    assert seen == [(1, 4), (2, 4), (3, 4), (4, 4)]
    assert {path: path.stat().st_mtime_ns for path in written} == written, "nothing is computed twice"
    # What was kept of other work does not hold.
    assert not kept(lambda *_: None, seed=9).table().equals(whole.table())
    assert len(list((tmp_path / "kept").iterdir())) == 8


@pytest.mark.slow
def test_a_pilot_gives_effect_and_deviations(study: Study) -> None:
    pilot = answer_study(study, 60, shares={}, effects=1.5, seed=8)
    contrast = named_contrast(study, None)
    layout, block, _ = layout_of(study, contrast)
    read = read_pilot(pilot, contrast, block, layout)
    true = on_scale(layout, Spread(), 1.5)
    assert read.effect == pytest.approx(true, abs=4 * read.standard_error)
    assert 0.3 < read.model.residual < 0.6
    found = power(study, [24], pilot=pilot, simulations=100)
    assert "power.quick_pilot" in codes(found.notes)
    assert found.table()["effect"][0] == pytest.approx(read.effect)
    assert found.unit == Message("power.share_of", {"level": "yes"})
    with raises(SimulateError, "pilot.no_column"):
        read_pilot(karat.Judgments(pilot.frame.drop("order"), pilot.scales), contrast, block, layout)


@pytest.mark.few(1)
@pytest.mark.parametrize("task", ["likert", "choice", "magnitude", "label", "norming"])
def test_every_task_with_a_contrast(task: str, tmp_path: Path) -> None:
    write_study(tmp_path, task)
    planned = load(tmp_path)
    found = power(planned, [32], effects=[0.0, 1.5], simulations=60, analysis="means").table()
    assert found["power"][1] > 0.5 > found["power"][0]
    pilot = answer_study(planned, 32, shares={}, effects=1.5, seed=1)
    assert power(planned, [32], pilot=pilot, simulations=10).table()["difference"][0] > 0


def test_layouts_of_other_designs(tmp_path: Path) -> None:
    write_study(tmp_path, "yes-no")
    text = (tmp_path / "study.toml").read_text()
    old = 'order = ["size first", "material first"] }'
    for between, sides in (("items", [[0.5, -0.5]]), ("participants", [[0.5], [-0.5]])):
        new = f'order = {{ levels = ["size first", "material first"], between = "{between}" }} }}'
        (tmp_path / "study.toml").write_text(text.replace(old, new))
        planned = load(tmp_path)
        assert layout_of(planned, named_contrast(planned, None))[0].sides.tolist() == sides


def test_what_is_refused(study: Study) -> None:
    cases = {
        "contrasts.unknown": {"contrast": "ordr"}, "power.few_participants": {"participants": [3]},
        "power.no_effects": {"unit": "scale"}, "power.few_items": {"items": [2]},
    }  # fmt: skip
    for code, wrong in cases.items():
        with raises(SimulateError, code):
            power(study, **wrong)  # type: ignore[arg-type]
    settings = {"exclude": 1.0, "simulations": 0, "alpha": 0, "unit": "steps", "analysis": "best"}
    for name, value in settings.items():
        with raises(SimulateError, "setting.refused", setting=name):
            power(study, **{name: value})  # type: ignore[arg-type]


@pytest.mark.slow
def test_sentences_and_curve(study: Study) -> None:
    found = power(study, [8, 60], [13], [1.2], simulations=100, analysis="means")
    assert isinstance(found, Power)
    assert found.needed()["participants"].to_list() == [60]
    assert codes(found.summary) == ["power.reached"]
    for part in ("14 items", "1.2 log-odds", "60 participants", ".80"):
        assert part in str(found)
    assert codes(found.notes) == ["layout.items"]
    assert found.svg() == found.svg()
    assert "participants</text>" in found.svg()
    assert power(study, [8], effects=[0.1], simulations=50, analysis="means").needed()["participants"].to_list() == [
        None
    ]


def test_latent_answers_have_the_difference_that_is_reported() -> None:
    layout, spread = SimulationLayout(LATIN, SCALE), Spread()
    random = np.random.default_rng(3)
    people, things = layout.participant_groups(40), layout.item_groups(40)
    drawn = (draw_rounds(spread, layout, people, things, 0.9, random) for _ in range(200))
    answers = (mean_answers(rounds, layout, people, things) for rounds in drawn)
    estimates = [by_mean_squares(own, layout, people, things)[0] for own in answers]
    error = np.std(estimates) / np.sqrt(len(estimates))
    assert np.mean(estimates) == pytest.approx(on_scale(layout, spread, 0.9), abs=4 * error + 0.01)


@pytest.mark.slow
def test_command(study: Study, tmp_path: Path) -> None:
    picture = tmp_path / "power.svg"
    arguments = ["power", str(study.path), "--participants", "12,24", "--effect", "1.0", "--simulations", "100"]
    arguments += ["--processes", "1", "--quick"]
    result = CliRunner().invoke(app, [*arguments, "-o", str(picture), "--exclude", "0.1"])
    assert result.exit_code == 0, (result.output, result.exception)
    assert "10 % of participants excluded" in result.output
    assert picture.read_text().startswith("<svg")
    older = tmp_path / "older.svg"
    data = json.loads(CliRunner().invoke(app, [*arguments, "--json", "--svg", str(older)]).output)
    assert older.read_text().startswith("<svg")
    assert [row["participants"] for row in data["sizes"]] == [12, 24]
    for wrong in (["--items", "many"], ["--items", "2.5"], ["--contrast", "x"]):
        assert isinstance(CliRunner().invoke(app, [*arguments, *wrong]).exception, KaratError)


ISLANDS = """title = "Islands"

[[block]]
task = "likert"
items = "items.csv"
scale = { points = 7 }
factors = { island = ["island", "none"], length = ["long", "short"] }

[recruitment]
participants = 32

[[contrast]]
name = "island effect"
factors = ["island", "length"]

[[contrast]]
name = "long islands"
factors = ["island", "length"]
weights = { "island, long" = -3, "island, short" = 1, "none, long" = 1, "none, short" = 1 }
"""


@pytest.fixture
def islands(tmp_path: Path) -> Study:
    cells = [(island, length) for island in ("island", "none") for length in ("long", "short")]
    rows = "".join(f"t{n},Sentence {n} {a} {b}.,{a},{b}\n" for n in range(16) for a, b in cells)
    (tmp_path / "items.csv").write_text(f"item,sentence,island,length\n{rows}", encoding="utf-8")
    (tmp_path / "study.toml").write_text(ISLANDS, encoding="utf-8")
    return load(tmp_path)


def test_an_interaction_is_planned_simulated_and_found(islands: Study) -> None:
    layout, _, items = layout_of(islands, named_contrast(islands, "island effect"))
    assert items == 16
    assert sorted(set(layout.sides.ravel())) == [-0.25, 0.25]
    found = power(islands, effects=[0.0, 3.0], contrast="island effect", simulations=100, analysis="means").table()
    assert found["power"][0] < 0.15 < 0.7 < found["power"][1]
    frame = answer_study(islands, effects={"island effect": 3.0}, seed=3).frame
    means = frame.group_by("island", "length").agg(pl.col("response").cast(pl.Float64).mean())
    cells = {(island, length): mean for island, length, mean in means.rows()}
    gap = cells["island", "long"] - cells["island", "short"] - cells["none", "long"] + cells["none", "short"]
    assert gap > 1


def test_weights_recover_the_effect_they_define(islands: Study) -> None:
    layout, _, _ = layout_of(islands, named_contrast(islands, "long islands"))
    assert float((layout.weights * layout.sides).sum()) == pytest.approx(1)
    assert sorted({round(float(one), 4) for one in layout.weights.ravel()}) == [-0.75, 0.25]


def test_interaction_pilot_has_no_main_effects_in_its_residual(islands: Study) -> None:
    contrast = named_contrast(islands, "island effect")
    layout, block, _ = layout_of(islands, contrast)
    pilot = answer_study(islands, effects={"island effect": 2.0}, seed=3)
    response = pl.col("response").cast(pl.Int64)
    moved = pl.when(pl.col("island") == "island").then(response.clip(1, 4)).otherwise(response.clip(4, 7))
    shifted = karat.Judgments(pilot.frame.with_columns(response=moved.cast(pl.String)), pilot.scale)
    found = read_pilot(shifted, contrast, block, layout)
    spread = shifted.frame.select(pl.col("response").cast(pl.Float64).std().over("island", "length")).mean().item()
    assert found.model.residual < spread


def measured(study: Study, effect: float, seed: int, people: int = 24, spread: Spread = SPREAD) -> float:
    """p of the planned contrast in a study that is simulated here, without karat's simulation, and measured."""
    random = np.random.default_rng([seed, 77])
    contrast, levels = study.settings.contrast[0], study.settings.contrast[0].levels
    rows = {"participant": [], "item": [], contrast.factor: [], "response": []}  # type: ignore[var-annotated]
    strength, slopes = random.normal(0, spread.item, 12), random.normal(0, spread.item_effect, 12)
    for person in range(people):
        criterion, own = random.normal(0, spread.participant), random.normal(0, spread.participant_effect)
        for item in range(12):
            side = (person + item) % 2
            latent = strength[item] - criterion + (0.5 - side) * (effect + own + slopes[item])
            rows["participant"].append(f"p{person}")
            rows["item"].append(f"i{item:02d}")
            rows[contrast.factor].append(levels[side])
            rows["response"].append("yes" if random.logistic(latent) > 0 else "no")
    scale = study.blocks[0].scale
    found = contrasts(karat.Judgments(rows, scale), levels={contrast.factor: levels})
    return float(planned_contrasts(study.settings.contrast[:1], found).table()["p"][0] or np.nan)


def runs(usual: int) -> int:
    """How many studies a slow test simulates: as KARAT_POWER_RUNS says, where there is less time."""
    return int(os.environ.get("KARAT_POWER_RUNS", usual))


@pytest.mark.slow
@pytest.mark.parametrize("effect", [0.5, 0.9, 1.3])
def test_power_matches_an_independent_simulation(study: Study, effect: float) -> None:
    """Within what chance leaves open; with KARAT_POWER_RUNS=1500, within .03."""
    number = runs(500)
    with open_executor(processes=2) as executor:
        row = power(study, [24], effects=[effect], simulations=number, spread=SPREAD, executor=executor).table()
    independent = np.mean([measured(study, effect, seed) < 0.05 for seed in range(number)])
    error = np.sqrt(2 * independent * (1 - independent) / number)
    print(f"{number} studies: power {row['power'][0]:.3f}, independent {independent:.3f}, standard error {error:.3f}")
    assert row["power"][0] == pytest.approx(independent, abs=0.03 if number >= 1500 else max(0.03, 2.58 * error))


@pytest.mark.slow
def test_type_i_error_of_the_measured_test_is_alpha(study: Study) -> None:
    number = runs(1000)
    with open_executor(processes=2) as executor:
        row = power(study, [24], effects=[0.0], simulations=number, spread=SPREAD, executor=executor).table()
    print(f"{number} studies: type I error {row['power'][0]:.4f}")
    assert row["power"][0] == pytest.approx(0.05, abs=2.58 * np.sqrt(0.05 * 0.95 / number))


def test_the_measured_test_is_simulated_by_default(islands: Study) -> None:
    """A simulated study has the p of `measure`, whatever way the model was simplified."""
    layout, block, _ = layout_of(islands, named_contrast(islands, None))
    people, things = layout.participant_groups(18), layout.item_groups(14)
    rounds = draw_rounds(Spread(), layout, people, things, 1.5, np.random.default_rng(5))
    _, who, what = np.nonzero(np.isfinite(rounds))
    rows = {name: levels[people[who], things[what]].tolist() for name, levels in layout.shown.items()}
    rows |= {"participant": [f"p{one:02d}" for one in who], "item": [f"i{one:02d}" for one in what]}
    answers = rounds[np.isfinite(rounds)].astype(int) + 1
    judgments = karat.Judgments(rows | {"response": answers.astype(str).tolist()}, block.scale)
    expected = planned_contrasts(islands.settings.contrast[:1], contrasts(judgments)).table().row(0, named=True)
    estimate, error, p = by_measured_model(rounds, layout, people, things)
    assert (estimate, error) == pytest.approx((expected["estimate"], expected["se"]), rel=1e-3)
    assert p == pytest.approx(expected["p"], rel=1e-2)
    found = power(islands, [18], [14], [3.0], simulations=2, exclude=0.2)
    assert found.analysis == "model"
    assert found.table().select("items", "simulations", "untested").row(0) == (14, 2, 0)
    assert 0 <= found.table()["quick"][0] <= 1


@pytest.mark.few(1)
@pytest.mark.parametrize(("task", "analysis"), [("magnitude", "model"), ("choice", "model"), ("label", "means")])
def test_measured_tests_of_other_tasks(task: str, analysis: str, tmp_path: Path) -> None:
    write_study(tmp_path, task)
    found = power(load(tmp_path), [24], effects=[3.0], simulations=4)
    assert found.analysis == analysis
    assert found.table()["power"][0] > 0.5
    assert codes(found.notes) == ([] if analysis == "model" else ["power.quick_only"])
