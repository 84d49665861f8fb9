"""Simulate: crowds and participants with known behaviour, studies answered before anybody is asked, and power."""

from __future__ import annotations

from karat.simulate.behaviours import BEHAVIOURS
from karat.simulate.closed_form import closed_power
from karat.simulate.crowd import crowd
from karat.simulate.errors import SimulateError
from karat.simulate.planned import answer_study
from karat.simulate.power import power
from karat.simulate.power_result import Power
from karat.simulate.respond import SimulatedPeople, draw_people, respond
from karat.simulate.spread import Spread
from karat.simulate.tasks import Tasks, draw_tasks
from karat.simulate.workers import WorkerSettings, worker_answers

__all__ = [
    "BEHAVIOURS",
    "Power",
    "SimulateError",
    "SimulatedPeople",
    "Spread",
    "Tasks",
    "WorkerSettings",
    "answer_study",
    "closed_power",
    "crowd",
    "draw_people",
    "draw_tasks",
    "power",
    "respond",
    "worker_answers",
]
