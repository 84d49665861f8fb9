"""Simulation: participants with known behaviour, planned studies with simulated answers, and power.

Names are loaded when they are first used.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from karat.packages import load_when_used

if TYPE_CHECKING:
    from karat.simulate.analysis import closed_power as closed_power
    from karat.simulate.behaviours import BEHAVIOURS as BEHAVIOURS
    from karat.simulate.behaviours import SimulateError as SimulateError
    from karat.simulate.crowd import Tasks as Tasks
    from karat.simulate.crowd import WorkerSettings as WorkerSettings
    from karat.simulate.crowd import crowd as crowd
    from karat.simulate.crowd import draw_tasks as draw_tasks
    from karat.simulate.crowd import worker_answers as worker_answers
    from karat.simulate.planned import answer_study as answer_study
    from karat.simulate.power import Power as Power
    from karat.simulate.power import power as power
    from karat.simulate.respond import SimulatedPeople as SimulatedPeople
    from karat.simulate.respond import draw_people as draw_people
    from karat.simulate.respond import respond as respond
    from karat.simulate.scale_answers import Spread as Spread

__all__ = load_when_used(__name__)
