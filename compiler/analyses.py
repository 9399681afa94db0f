"""The analyses that come with g10c. A pass asks for them by ``context.analysis(STEP, program)``."""

from __future__ import annotations

from g10c.compiler.analysis import Analysis, AnalysisCache
from g10c.compiler.step_of import step_of
from g10c.compiler.vitality import Lifetimes, Period, inactive_periods, liveness
from g10c.ir.program import Program
from g10c.ir.step import Step


def _step(program: Program, cache: AnalysisCache) -> Step:
    return step_of(program)


def _lifetimes(program: Program, cache: AnalysisCache) -> Lifetimes:
    return liveness(cache.get(STEP, program))


def _periods(program: Program, cache: AnalysisCache) -> list[Period]:
    return inactive_periods(cache.get(STEP, program), cache.get(LIFETIMES, program))


STEP: Analysis[Step] = Analysis("step", _step)
"""Tensors and kernels as numbers: what planners and simulators read."""

LIFETIMES: Analysis[Lifetimes] = Analysis("lifetimes", _lifetimes)
"""Birth and death kernel of every tensor."""

PERIODS: Analysis[list[Period]] = Analysis("periods", _periods)
"""Inactive periods of every tensor, persistent ones across the step's end."""
