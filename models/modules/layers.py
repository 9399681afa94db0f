"""Layers that a module can hold: one entry of a table per class, with its parameters, the shape of its result, and what it keeps."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from g10c.models.modules.arguments import Arguments, Parameter, amounts, count, dimension, flag, number, padding, sizes, target_sizes, text
from g10c.models.modules.shapes import (
    Shape,
    adaptive_pool,
    batch_norm,
    batch_norm_weights,
    concatenation,
    convolution,
    convolution_weights,
    flatten,
    linear,
    linear_weights,
    no_weights,
    pool,
    same,
    scale,
)


@dataclass(frozen=True, slots=True)
class LayerType:
    """A class of layers: parameters in the order in which PyTorch prints them, the result's shape from those of the operands, and
    the shapes of what is kept across steps, by name. A view has no kernel.
    """

    shape: Callable[[Arguments, Sequence[Shape]], Shape]
    parameters: Mapping[str, Parameter] = field(default_factory=dict)
    weights: Callable[[Arguments], dict[str, Shape]] = no_weights
    operands: tuple[int, int | None] = (1, 1)
    view: bool = False


_INPLACE = {"inplace": Parameter(flag, False)}
_ONE, _ZERO = (1, 1), (0, 0)

LAYERS: dict[str, LayerType] = {
    "Conv2d": LayerType(
        convolution,
        {
            "in_channels": Parameter(count),
            "out_channels": Parameter(count),
            "kernel_size": Parameter(sizes),
            "stride": Parameter(sizes, _ONE),
            "padding": Parameter(padding, _ZERO),
            "dilation": Parameter(sizes, _ONE),
            "groups": Parameter(count, 1),
            "bias": Parameter(flag, True),
            "padding_mode": Parameter(text, "zeros"),
        },
        convolution_weights,
    ),
    "BatchNorm2d": LayerType(
        batch_norm,
        {
            "num_features": Parameter(count),
            "eps": Parameter(number, 1e-5),
            "momentum": Parameter(number, 0.1),
            "affine": Parameter(flag, True),
            "track_running_stats": Parameter(flag, True),
        },
        batch_norm_weights,
    ),
    "Linear": LayerType(
        linear,
        {"in_features": Parameter(count), "out_features": Parameter(count), "bias": Parameter(flag, True)},
        linear_weights,
    ),
    "MaxPool2d": LayerType(
        pool,
        {
            "kernel_size": Parameter(sizes),
            "stride": Parameter(sizes, None),
            "padding": Parameter(amounts, _ZERO),
            "dilation": Parameter(sizes, _ONE),
            "ceil_mode": Parameter(flag, False),
        },
    ),
    "AvgPool2d": LayerType(
        pool,
        {
            "kernel_size": Parameter(sizes),
            "stride": Parameter(sizes, None),
            "padding": Parameter(amounts, _ZERO),
            "ceil_mode": Parameter(flag, False),
        },
    ),
    "AdaptiveAvgPool2d": LayerType(adaptive_pool, {"output_size": Parameter(target_sizes)}),
    "ReLU": LayerType(same, _INPLACE),
    "Sigmoid": LayerType(same),
    "Tanh": LayerType(same),
    "GELU": LayerType(same, {"approximate": Parameter(text, "none")}),
    "Dropout": LayerType(same, {"p": Parameter(number, 0.5), **_INPLACE}),
    "Identity": LayerType(same, view=True),
    "Flatten": LayerType(flatten, {"start_dim": Parameter(dimension, 1), "end_dim": Parameter(dimension, -1)}, view=True),
    "Add": LayerType(same, operands=(2, None)),
    "Concat": LayerType(concatenation, operands=(2, None)),
    "Scale": LayerType(scale, operands=(2, 2)),
}
"""Layers by class. The last three are no modules: forward functions call them, and a wiring says where."""

MODULES = tuple(name for name, layer in LAYERS.items() if layer.operands == (1, 1))
"""Layers that can stand in a printed module."""
