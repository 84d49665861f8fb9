"""How far a stored rt is from what happened in the browser: python benchmarks/timing.py [--trials N]

A real server, a real Chromium, and a probe inside the page that shares no code with it. Sentences are judged by mouse,
by key and by touch, each after a known delay of 200 to 3,000 ms, at the full speed of the machine and with a processor
four times slower, as in a slow phone. The probe asks the browser when it presented the sentence (Element Timing) and
notes the time stamp of the input that answers (pointerup, keydown). The input is trusted: it is sent to the browser
from outside and takes the way of a real one. Then the judgments are exported, and

    error = rt stored - (time stamp of the input - time at which the sentence was presented)

for every trial. A second table compares rt with the delay that was asked for; the time that the timer of the probe and
the way from this script into the browser take is in that difference, so it is an upper bound. Two sessions run at a
time: more than that would wait for each other and measure themselves. Most delays are short and a few are long, so that
all is done in three minutes. With --write the figures go into docs/timing.md; --smallest is two trials of each
input, and of one with the slow processor.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from textwrap import fill
from typing import Any, NamedTuple

import numpy as np
import polars as pl

from karat.field.bots.process import ServerProcess

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from benchmarks.marked import parse_options
from tests.field.browser import FLAGS, MISSING, chromium_path

ROOT = Path(__file__).resolve().parents[1]
PAGE = ROOT / "docs" / "timing.md"
BEGIN, END = "<!-- figures of python benchmarks/timing.py --write -->", "<!-- end of the figures -->"
SLUG = "timing"
KINDS = ("mouse", "key", "touch")
SPEEDS = {1: "full speed", 4: "4 times slower"}
SHORTEST, LONGEST = 200.0, 3000.0
AT_A_TIME = 2
PATIENCE = 240.0
"""Seconds that all sessions may take beside their trials, on a machine that is busy with something else."""
SLOW_SHARE = 0.3
"""Trials on the slow processor for one at full speed."""
FRAME = 1000 / 60
HEADING = "| Input | Processor | Trials | Mean | SD | 5 % | Median | 95 % | Over a frame off |"
STUDY = """title = "Timing"
public_title = "Timing"
language = "en"

[texts]
consent = "Nobody takes part but a program."

[[block]]
task   = "likert"
items  = "items.csv"
scale  = { points = 5 }
prompt = "How natural does this sentence sound?"
"""
PROBE = """
(() => {
  const records = [];
  let announce = () => {};
  const watched = (node) => node.querySelector?.(".stimulus .sentence")?.setAttribute("elementtiming", "stimulus");
  // The observer runs before the frame ends in which the page was changed, so before the sentence is painted.
  new MutationObserver((changes) => changes.forEach((change) => change.addedNodes.forEach(watched)))
    .observe(document, { childList: true, subtree: true });
  new PerformanceObserver((list) => {
    for (const { element, renderTime } of list.getEntries()) {
      records.push({ sentence: element.textContent, painted: renderTime, input: null, inputs: 0 });
      announce();
    }
  }).observe({ type: "element" });
  const note = (event) => {
    const last = records.at(-1);
    if (last && event.isTrusted) Object.assign(last, { input: event.timeStamp, inputs: last.inputs + 1 });
  };
  for (const kind of ["pointerup", "keydown"]) addEventListener(kind, note, { capture: true, passive: true });
  const sleep = (milliseconds) => new Promise((resolve) => setTimeout(resolve, milliseconds));

  window.probe = {
    records,
    /** Wait until so many sentences were painted; false where that does not happen. */
    async shown(count) {
      const end = performance.now() + 5000;
      while (records.length < count && performance.now() < end) {
        await Promise.race([sleep(end - performance.now()), new Promise((resolve) => (announce = resolve))]);
      }
      return records.length >= count;
    },
    /** Wait until the last sentence has been there for so long; gives the place of an answer. */
    async after(delay, answer) {
      await sleep(records.at(-1).painted + delay - performance.now());
      const { x, y, width, height } = document.querySelectorAll(".points input")[answer - 1].getBoundingClientRect();
      return { x: x + width / 2, y: y + height / 2 };
    },
    /** The smallest step of the page's clock in milliseconds. */
    resolution() {
      let smallest = Infinity;
      for (let step = 0, last = performance.now(); step < 1000; ) {
        const now = performance.now();
        if (now > last) {
          smallest = Math.min(smallest, now - last);
          last = now;
          step += 1;
        }
      }
      return smallest;
    },
  };
})();
"""


class Plan(NamedTuple):
    """A session: how trials are answered, how many times slower the processor is, how many, and the longest delay."""

    kind: str
    slower: int
    trials: int
    longest: float = LONGEST


def planned(trials: int) -> list[Plan]:
    """Every kind of input at every speed.

    >>> planned(100)[-1]
    Plan(kind='touch', slower=4, trials=30, longest=3000.0)
    """
    numbers = {slower: trials if slower == 1 else max(2, round(SLOW_SHARE * trials)) for slower in SPEEDS}
    return [Plan(kind, slower, number) for slower, number in numbers.items() for kind in KINDS]


def study_folder(folder: Path, trials: int) -> Path:
    """A study with so many sentences, and one more that stays unanswered, so that the page of the probe stays open."""
    (folder / SLUG).mkdir()
    (folder / SLUG / "study.toml").write_text(STUDY, encoding="utf-8")
    rows = [f"s{number},test,Sentence number {number} is here to be judged." for number in range(1, trials + 2)]
    (folder / SLUG / "items.csv").write_text("\n".join(["item,function,sentence", *rows]), encoding="utf-8")
    return folder / SLUG


def delays(trials: int, seed: int, longest: float = LONGEST) -> list[float]:
    """Delays in milliseconds from the shortest to the longest, the short ones more often, in random order.

    >>> sorted(round(delay) for delay in delays(3, seed=1))
    [200, 237, 3000]
    """
    spread = SHORTEST * (longest / SHORTEST) ** (np.linspace(0, 1, trials) ** 4)
    return [float(delay) for delay in np.random.default_rng(seed).permutation(spread)]


async def send(devtools: Any, kind: str, answer: int, x: float, y: float) -> None:
    """Press and release at once, as trusted input; both are sent before either is confirmed."""
    steps: list[tuple[str, dict[str, Any]]]
    if kind == "key":
        key = {"key": str(answer), "code": f"Digit{answer}", "windowsVirtualKeyCode": ord(str(answer))}
        steps = [("KeyEvent", {"type": "keyDown", "text": str(answer), **key}), ("KeyEvent", {"type": "keyUp", **key})]
    elif kind == "touch":
        steps = [("TouchEvent", {"type": "touchStart", "touchPoints": [{"x": x, "y": y}]})]
        steps += [("TouchEvent", {"type": "touchEnd", "touchPoints": []})]
    else:
        place = {"x": x, "y": y, "button": "left", "clickCount": 1}
        steps = [("MouseEvent", {"type": kind, **place}) for kind in ("mousePressed", "mouseReleased")]
    await asyncio.gather(*(devtools.send(f"Input.dispatch{name}", step) for name, step in steps))


async def session(browser: Any, address: str, kind: str, slower: int, waits: Sequence[float]) -> pl.DataFrame:
    """One participant who answers all trials but the last; what the probe saw, one row per trial."""
    context = await browser.new_context(viewport={"width": 412, "height": 800}, has_touch=kind == "touch")
    page = await context.new_page()
    page.set_default_timeout(60_000)
    await page.add_init_script(PROBE)
    await page.goto(f"{address}/s/{SLUG}/")
    while not await page.locator("#trials").count():
        async with page.expect_navigation():
            await page.locator("main form button").first.click()
    name = await page.locator("#trials").get_attribute("data-session")
    resolution = await page.evaluate("probe.resolution()")
    devtools = await context.new_cdp_session(page)
    await devtools.send("Emulation.setCPUThrottlingRate", {"rate": slower})
    while not await page.evaluate("probe.shown(1)"):
        pass
    for number, wait in enumerate(waits, start=1):
        # Not the same answer twice: two quick taps on one place are a double tap, of which the page ignores the second.
        answer = 2 + 2 * (number % 2)
        place = await page.evaluate("([delay, answer]) => probe.after(delay, answer)", [wait, answer])
        await send(devtools, kind, answer, **place)
        while not await page.evaluate("count => probe.shown(count)", number + 1):
            await send(devtools, kind, answer, **place)  # The page takes no input in the first moment of a trial.
    while await page.evaluate("Object.keys(localStorage).some((name) => name.startsWith('karat/'))"):
        await asyncio.sleep(0.1)  # Answers are there until the server has confirmed them.
    records = await page.evaluate("probe.records")
    await context.close()
    return pl.DataFrame(records[: len(waits)]).with_columns(
        kind=pl.lit(kind), slower=pl.lit(slower), delay=pl.Series(list(waits)),
        participant=pl.lit(name.rpartition("-")[0]), resolution=pl.lit(resolution),
    )  # fmt: skip


async def sessions(address: str, plans: Sequence[Plan]) -> pl.DataFrame:
    """A session for each plan, two at a time in one browser."""
    from playwright.async_api import async_playwright

    async with async_playwright() as playwright:
        browser = await playwright.chromium.launch(executable_path=chromium_path(), args=FLAGS)
        room = asyncio.Semaphore(AT_A_TIME)

        async def in_turn(seed: int, plan: Plan) -> pl.DataFrame:
            async with room:
                return await session(browser, address, plan.kind, plan.slower, delays(plan.trials, seed, plan.longest))

        async with asyncio.timeout(PATIENCE + sum(plan.trials for plan in plans)):
            seen = await asyncio.gather(*(in_turn(seed, plan) for seed, plan in enumerate(plans)))
        version = browser.version
        await browser.close()
    return pl.concat(seen).with_columns(version=pl.lit(version))


def measure(folder: Path, plans: Sequence[Plan]) -> pl.DataFrame:
    """What the server stored beside what the probe saw, one row per trial, with `error` and `beyond` in milliseconds.

    `error` is rt minus what the probe saw; `beyond` is rt minus the delay that was asked for.
    """
    study = study_folder(folder, max(plan.trials for plan in plans))
    data, out = folder / "data", folder / "judgments.parquet"
    with ServerProcess(study, data) as server:
        seen = asyncio.run(sessions(server.address, plans))
    command = [sys.executable, "-m", "karat", "export", SLUG, "--data", str(data), "--out", str(out)]
    subprocess.run(command, check=True, capture_output=True)
    stored = pl.read_parquet(out).select("participant", "sentence", "rt", "pointer", "isolated", "frame_rate")
    both = seen.join(stored, on=["participant", "sentence"], how="left", validate="1:1")
    wrong = both.filter(pl.col("rt").is_null() | pl.col("input").is_null() | (pl.col("pointer") != pl.col("kind")))
    if wrong.height:
        raise RuntimeError(f"Trials that were not answered as planned, or not stored:\n{wrong}")
    rt, at_once = 1000 * pl.col("rt"), pl.col("inputs") == 1
    return both.with_columns(
        error=rt - (pl.col("input") - pl.col("painted")), beyond=pl.when(at_once).then(rt - pl.col("delay"))
    )


def table(measured: pl.DataFrame, column: str) -> list[str]:
    """The rows of a table in Markdown: how a difference in milliseconds is distributed."""
    lines = [HEADING, "| --- | --- |" + " ---: |" * 7]
    for (slower, kind), group in measured.group_by("slower", "kind", maintain_order=True):
        values = group[column].drop_nulls().to_numpy()
        low, middle, high = np.quantile(values, (0.05, 0.5, 0.95))
        figures = (values.mean(), values.std(ddof=1), low, middle, high)
        text = " | ".join(f"{value:.1f}" for value in figures).replace("-", "−")
        over = 100 * float((np.abs(values) > FRAME).mean())
        lines.append(f"| {kind} | {SPEEDS[int(str(slower))]} | {len(values)} | {text} | {over:.0f} % |")
    return lines


def conditions(measured: pl.DataFrame, load: float) -> str:
    """Under what conditions it was measured."""
    rates, niceness = measured["frame_rate"].drop_nulls().round(), os.nice(0)
    priority = f", and the benchmark ran at niceness {niceness}".replace("-", "−") if niceness else ""
    return (
        f"Chromium {str(measured['version'][0]).partition('.')[0]} without a window on {os.cpu_count()} cores, with "
        f"{AT_A_TIME} sessions at a time; other programs made a load of {load:.1f} when it began{priority}. The page "
        f"was isolated from other origins in {measured['isolated'].sum()} of {measured.height} trials. The smallest "
        f"step of its clock was {measured['resolution'].max():.3f} ms, and it had "
        f"{' to '.join(f'{rate:.0f}' for rate in sorted({rates.min(), rates.max()}))} frames per second."
    )


def sizes(measured: pl.DataFrame) -> str:
    """How large the errors were, in two sentences."""
    lines = []
    for (slower,), group in measured.group_by("slower", maintain_order=True):
        size = group["error"].abs()
        lines.append(
            f"{'At full speed' if slower == 1 else 'On the slow processor'} the median error was "
            f"{group['error'].median():.1f} ms; 95 % of the errors were smaller than {size.quantile(0.95):.0f} ms, and "
            f"the largest was {size.max():.0f} ms."
        )
    return " ".join(lines).replace("was -", "was −")


def section(measured: pl.DataFrame, load: float) -> str:
    """The part of the page that is made of figures."""
    paragraphs = [
        fill(conditions(measured, load), 120),
        fill(sizes(measured), 120),
        "**Error**: rt as stored minus the time from presentation to input, in milliseconds.",
        "\n".join(table(measured, "error")),
        '<details markdown="1">\n<summary>Compared with the requested delay</summary>',
        fill(
            "**Beyond the delay**: rt as stored minus the requested delay, in milliseconds. This includes the time of "
            "the timer and of the input's way into the browser. Trials whose first input came too early for the page "
            "and was sent again are left out.", 120
        ),
        "\n".join(table(measured, "beyond")),
        "</details>",
    ]  # fmt: skip
    return "\n\n".join(paragraphs)


def written(page: str, figures: str) -> str:
    """The page with other figures between its marks."""
    before, _, rest = page.partition(BEGIN)
    _, mark, after = rest.partition(END)
    if not mark:
        raise ValueError(f"The page has lost its marks {BEGIN} and {END}. Put them back.")
    return f"{before}{BEGIN}\n\n{figures}\n\n{END}{after}"


def main(arguments: Sequence[str] | None = None) -> int:
    """Print the figures, and write them to the page on request; fail where the median error is a frame or more."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument(
        "--trials", type=int, default=100, help="trials of each kind of input at full speed (default 100)"
    )
    parser.add_argument("--write", action="store_true", help=f"put the figures into {PAGE.relative_to(ROOT)}")
    options = parse_options(parser, arguments)
    if chromium_path() is None:
        sys.exit(f"Nothing was measured: {MISSING}")
    load = os.getloadavg()[0]
    with tempfile.TemporaryDirectory(prefix="karat-timing-") as folder:
        measured = measure(Path(folder), planned(2)[: len(KINDS) + 1] if options.smallest else planned(options.trials))
    figures = section(measured, load)
    print(figures)
    if options.write:
        PAGE.write_text(written(PAGE.read_text(encoding="utf-8"), figures), encoding="utf-8")
    held = abs(float(np.median(measured.filter(pl.col("slower") == 1)["error"]))) < FRAME
    print(f"{'held    ' if held else 'NOT HELD'}  median error under one frame at full speed")
    return int(not held and not options.smallest)


if __name__ == "__main__":
    sys.exit(main())
