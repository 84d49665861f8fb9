"""Simulation: participants with known behaviour, planned studies with simulated answers, and power."""

from __future__ import annotations

from karat.simulate.analysis import closed_power
from karat.simulate.behaviours import BEHAVIOURS, SimulateError
from karat.simulate.crowd import Tasks, WorkerSettings, crowd, draw_tasks, worker_answers
from karat.simulate.planned import answer_study
from karat.simulate.power import Power, power
from karat.simulate.respond import SimulatedPeople, draw_people, respond
from karat.simulate.scale_answers import Spread

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
