"""How containers call their children: one entry of a table per class.

A printed module shows what a module holds, not what its forward function does. A class is either a *chain*, which calls its
children in the order printed, or has a *wiring*: steps in order, each of which names its result. ``x`` is what the module is
given, and its result is that of the last step.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, TypeAlias


@dataclass(frozen=True, slots=True)
class Call:
    """Calls children one after the other; one written with ``?`` only where it is there."""

    result: str
    source: str
    children: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Apply:
    """Applies a layer that is no child; where the child ``unless`` is there, it is its first operand instead."""

    result: str
    layer: str
    operands: tuple[str, ...]
    arguments: Mapping[str, Any] = field(default_factory=dict)
    unless: str = ""


Wiring: TypeAlias = "tuple[Call | Apply, ...]"


def call(result: str, source: str, children: str) -> Call:
    """``call("main", "x", "conv1 bn1 downsample?")``."""
    return Call(result, source, tuple(children.split()))


def apply(result: str, layer: str, operands: str, arguments: Mapping[str, Any] | None = None, unless: str = "") -> Apply:
    """``apply("sum", "Add", "main shortcut")``; arguments are those of the layer's class."""
    return Apply(result, layer, tuple(operands.split()), arguments or {}, unless)


@dataclass(frozen=True, slots=True)
class Wirings:
    """What is known of containers: chains, and wirings of the others."""

    chains: frozenset[str]
    wirings: Mapping[str, Wiring]

    def knows(self, kind: str) -> bool:
        """Whether a class is a container here."""
        return kind in self.chains or kind in self.wirings


CHAINS = frozenset(
    {
        *("Sequential", "Sequential1", "Sequential2", "Sequential3", "Sequential4", "Sequential5"),
        *("AlexNet", "VGG", "ResNet", "Inception3", "SENet"),
        *("SEInitBlock", "SENetBottleneck", "ConvBlock"),
    }
)
"""Containers that call their children in the order printed: those of torchvision and pytorchcv."""

_POOL = {"kernel_size": (3, 3), "stride": (1, 1), "padding": (1, 1)}
_HALVING_POOL = {"kernel_size": (3, 3), "stride": (2, 2)}


def inception(pool: str) -> dict[str, Wiring]:
    """The blocks of Inception; ``pool`` is the layer before ``branch_pool``."""
    return {
        "InceptionA": (
            call("one", "x", "branch1x1"),
            call("five", "x", "branch5x5_1 branch5x5_2"),
            call("three", "x", "branch3x3dbl_1 branch3x3dbl_2 branch3x3dbl_3"),
            apply("pool", pool, "x", _POOL),
            call("last", "pool", "branch_pool"),
            apply("concat", "Concat", "one five three last"),
        ),
        "InceptionB": (
            call("three", "x", "branch3x3"),
            call("double", "x", "branch3x3dbl_1 branch3x3dbl_2 branch3x3dbl_3"),
            apply("pool", "MaxPool2d", "x", _HALVING_POOL),
            apply("concat", "Concat", "three double pool"),
        ),
        "InceptionC": (
            call("one", "x", "branch1x1"),
            call("seven", "x", "branch7x7_1 branch7x7_2 branch7x7_3"),
            call("double", "x", "branch7x7dbl_1 branch7x7dbl_2 branch7x7dbl_3 branch7x7dbl_4 branch7x7dbl_5"),
            apply("pool", pool, "x", _POOL),
            call("last", "pool", "branch_pool"),
            apply("concat", "Concat", "one seven double last"),
        ),
        "InceptionD": (
            call("three", "x", "branch3x3_1 branch3x3_2"),
            call("seven", "x", "branch7x7x3_1 branch7x7x3_2 branch7x7x3_3 branch7x7x3_4"),
            apply("pool", "MaxPool2d", "x", _HALVING_POOL),
            apply("concat", "Concat", "three seven pool"),
        ),
        "InceptionE": (
            call("one", "x", "branch1x1"),
            call("three", "x", "branch3x3_1"),
            call("three_a", "three", "branch3x3_2a"),
            call("three_b", "three", "branch3x3_2b"),
            apply("concat3x3", "Concat", "three_a three_b"),
            call("double", "x", "branch3x3dbl_1 branch3x3dbl_2"),
            call("double_a", "double", "branch3x3dbl_3a"),
            call("double_b", "double", "branch3x3dbl_3b"),
            apply("concat3x3dbl", "Concat", "double_a double_b"),
            apply("pool", pool, "x", _POOL),
            call("last", "pool", "branch_pool"),
            apply("concat", "Concat", "one concat3x3 concat3x3dbl last"),
        ),
    }


SQUEEZE_EXCITATION: dict[str, Wiring] = {
    "SEBlock": (
        call("factors", "x", "pool conv1 activ conv2 sigmoid"),
        apply("scale", "Scale", "x factors"),
    ),
    "SENetUnit": (
        call("main", "x", "body se"),
        call("shortcut", "x", "identity_conv?"),
        apply("add", "Add", "main shortcut"),
        call("out", "add", "activ"),
    ),
}

PYTORCH = Wirings(
    CHAINS,
    {
        "BasicBlock": (
            call("main", "x", "conv1 bn1 relu conv2 bn2"),
            call("shortcut", "x", "downsample?"),
            apply("add", "Add", "main shortcut"),
            call("out", "add", "relu"),
        ),
        "Bottleneck": (
            call("main", "x", "conv1 bn1 relu conv2 bn2 relu conv3 bn3"),
            call("shortcut", "x", "downsample?"),
            apply("add", "Add", "main shortcut"),
            call("out", "add", "relu"),
        ),
        "BasicConv2d": (
            call("normed", "x", "conv bn relu?"),
            apply("relu", "ReLU", "normed", {"inplace": True}, unless="relu"),
        ),
        **inception("AvgPool2d"),
        **SQUEEZE_EXCITATION,
    },
)
"""What the forward functions of torchvision's and pytorchcv's classes do."""
