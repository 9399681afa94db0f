"""What a user would type for each policy of the paper: a pipeline for ``g10c compile`` and options for ``g10c sim``."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

ARTIFACT_GIGABYTE = "1.073741824"
"""The artifact's explicit-copy runtime reads GB/s as 2^30 bytes per second (``FlashNeuron_simulator`` in ``analysis.cc``)."""

EXPLICIT_COPIES = (
    f'policy{{use="on-demand{{memory=4.0,bandwidth={ARTIFACT_GIGABYTE},quirks=[weights-return-free,demand-from-ssd,copies-again]}}"}}'
)
"""The artifact's runtime of G10-GDS and G10-Host, which has four times the GPU memory."""


@dataclass(frozen=True, slots=True)
class Run:
    """``pipeline`` with ``MEMORY_LINE`` for the factor on the planner's memory line, and options of the simulator."""

    pipeline: str
    options: Mapping[str, object] = field(default_factory=dict)

    def passes(self, memory_line: float) -> str:
        """The pipeline of one case."""
        return self.pipeline.replace("MEMORY_LINE", str(memory_line))


def _planned(options: str) -> str:
    return f"migrate{{solver=greedy,memory_line=MEMORY_LINE,{options}estimate=false}}"


RUNS: dict[str, Run] = {
    "base-uvm": Run(""),
    "ideal": Run("", {"ideal": True}),
    "g10": Run(_planned("preallocate=until-fits,")),
    "deepum": Run("deepum{degree=8,operand_order=artifact}"),
    "flashneuron": Run(f"flashneuron{{memory_line=MEMORY_LINE,operand_order=artifact,bandwidth={ARTIFACT_GIGABYTE}}}", {"steps": 1}),
    "g10-gds": Run(f"{_planned('target=ssd,preallocate=never,evict_at_peak=true,')},{EXPLICIT_COPIES}", {"steps": 1}),
    "g10-host": Run(f"{_planned('preallocate=never,evict_at_peak=true,')},{EXPLICIT_COPIES}", {"steps": 1}),
}
"""By policy, as cases name it."""
