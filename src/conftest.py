"""Modules of an extra are left out of the doctests where the extra is not installed."""

from __future__ import annotations

from importlib.util import find_spec

collect_ignore = [] if find_spec("numpyro") else ["karat/models/choices/posterior_density.py"]
