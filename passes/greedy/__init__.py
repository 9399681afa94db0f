"""G10's greedy migration planner as pure functions on arrays."""

from g10c.passes.greedy.options import GreedyOptions
from g10c.passes.greedy.planner import GreedyPlan, GreedyStatistics, plan_greedy

__all__ = ["GreedyOptions", "GreedyPlan", "GreedyStatistics", "plan_greedy"]
