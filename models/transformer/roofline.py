"""Predicted kernel times: the roofline model and the GPUs it knows.

A kernel takes the longer of its arithmetic and its memory traffic (Williams, Waterman and Patterson, "Roofline: An Insightful
Visual Performance Model for Multicore Architectures", CACM 52(4), 2009), each at a fraction of the peak, and a launch latency.
Occupancy, caches and tile quantisation are not modelled: small kernels are predicted too fast.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

from g10c.ir.values import Time

TERA = 10**12
GIGA = 10**9


@dataclass(frozen=True, slots=True)
class GpuSpec:
    """Peaks of one GPU, dense (without structured sparsity).

    ``matrix_flops`` is the rate of matrix products in FLOP/s by precision: tensor cores where they take that precision, else the
    vector units. ``vector_flops`` is the f32 rate of the vector units, ``bandwidth`` that of device memory in bytes per second.
    """

    name: str
    matrix_flops: Mapping[str, float]
    vector_flops: float
    bandwidth: int
    source: str


def _spec(name: str, vector: float, bandwidth_gb: int, source: str, **tensor_cores: float) -> GpuSpec:
    rates = {"f32": vector, **tensor_cores}
    return GpuSpec(name, {dtype: rate * TERA for dtype, rate in rates.items()}, vector * TERA, bandwidth_gb * GIGA, source)


_A100 = "NVIDIA A100 Tensor Core GPU datasheet (SXM)"
_H100 = "NVIDIA H100 Tensor Core GPU datasheet (SXM); its tensor core rates are given with sparsity, halved here"
_H200 = "NVIDIA H200 Tensor Core GPU datasheet (SXM); its tensor core rates are given with sparsity, halved here"
_V100 = "NVIDIA V100 Tensor Core GPU datasheet (SXM2)"

GPUS: dict[str, GpuSpec] = {
    spec.name: spec
    for spec in (
        _spec("a100-40gb", 19.5, 1555, _A100, tf32=156, bf16=312, f16=312),
        _spec("a100-80gb", 19.5, 2039, _A100, tf32=156, bf16=312, f16=312),
        _spec("h100-80gb", 67, 3350, _H100, tf32=494.5, bf16=989.5, f16=989.5),
        _spec("h200-141gb", 67, 4800, _H200, tf32=494.5, bf16=989.5, f16=989.5),
        _spec("v100-32gb", 15.7, 900, _V100, f16=125),
    )
}
"""Known GPUs by the name that the option ``gpu`` takes."""

COMPUTE_EFFICIENCY = {"f32": 0.7, "tf32": 0.6, "bf16": 0.6, "f16": 0.6}
"""Share of the peak that large matrix products reach, by precision. f32: 0.71 to 0.78 in NeuSight's measurements of GPT-2 Large's
layers on an H100, 0.69 in the G10 artifact's profile of BERT-Base on an A100. 16 bits: chosen so that the steps with the largest
micro-batches that vTrain measured on A100s under data parallelism (micro-batch x width of at least 16384) are predicted 3 to 10% too
short, exchange of gradients not counted; smaller ones are predicted shorter still. tf32 is taken to be like 16 bits."""

BANDWIDTH_EFFICIENCY = 0.8
"""Share of the peak memory bandwidth: 0.73 to 0.85 for large elementwise kernels and softmax in NeuSight's measurements on an H100."""

LAUNCH_LATENCY = Time(3000)
"""Time from one kernel's end to the next one's first instruction; a few microseconds on all GPUs of the table."""


@dataclass(frozen=True, slots=True)
class Cost:
    """What a kernel does: floating-point operations, bytes of device memory moved, and whether it runs at the rate of matrix products."""

    flops: int
    traffic_bytes: int
    matrix: bool = False


@dataclass(frozen=True, slots=True)
class Roofline:
    """Predicts kernel times on ``gpu`` where matrix products run in precision ``dtype``.

    The efficiencies are the fractions of the peaks that a kernel reaches, in (0, 1].
    """

    gpu: GpuSpec
    dtype: str
    compute_efficiency: float
    bandwidth_efficiency: float
    launch_latency_ns: int

    def time_ns(self, cost: Cost) -> int:
        """Nanoseconds of a kernel, rounded up."""
        peak = self.gpu.matrix_flops[self.dtype] if cost.matrix else self.gpu.vector_flops
        compute_s = cost.flops / (peak * self.compute_efficiency)
        memory_s = cost.traffic_bytes / (self.gpu.bandwidth * self.bandwidth_efficiency)
        return math.ceil(max(compute_s, memory_s) * GIGA) + self.launch_latency_ns
