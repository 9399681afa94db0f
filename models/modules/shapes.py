"""Shapes of results and of what layers keep: PyTorch's arithmetic, as the documentation of each class states it; the batch comes first."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TypeAlias

from g10c.models.modules.arguments import Arguments

Shape: TypeAlias = tuple[int, ...]


class LayerError(ValueError):
    """A layer that cannot be applied to its operands; the text says why."""


def _dims(shape: Shape) -> tuple[int, int, int, int]:
    if len(shape) != 4:
        raise LayerError(f"it takes images (batch, channels, height, width), and is given {_written(shape)}")
    batch, channels, height, width = shape
    return batch, channels, height, width


def _written(shape: Shape) -> str:
    return f"[{', '.join(map(str, shape))}]"


def _window(size: int, kernel: int, stride: int, pad: int, dilation: int, ceil_mode: bool = False) -> int:
    span = size + 2 * pad - dilation * (kernel - 1) - 1
    if span < 0:
        raise LayerError(f"its window of {dilation * (kernel - 1) + 1} is larger than the input of {size} with a padding of {pad}")
    steps = -(-span // stride) if ceil_mode else span // stride
    if ceil_mode and steps * stride >= size + pad:
        steps -= 1  # a window that would begin in the padding on the right is left out
    return steps + 1


def _images(arguments: Arguments, channels: int, shape: Shape) -> Shape:
    batch, _, *size = _dims(shape)
    kernel, stride, pad, dilation = [arguments[key] for key in ("kernel_size", "stride", "padding", "dilation")]
    ceil_mode = arguments.get("ceil_mode", False)
    rows, columns = [_window(size[at], kernel[at], stride[at], pad[at], dilation[at], ceil_mode) for at in (0, 1)]
    return batch, channels, rows, columns


def convolution(arguments: Arguments, shapes: Sequence[Shape]) -> Shape:
    """Images with the channels and the size that the windows give."""
    batch, channels, height, width = _dims(shapes[0])
    if channels != arguments["in_channels"]:
        raise LayerError(f"it takes {arguments['in_channels']} channels, and is given {channels}")
    if arguments["padding"] == "same":
        if arguments["stride"] != (1, 1):
            raise LayerError("padding=same needs a stride of 1")
        return batch, arguments["out_channels"], height, width
    if arguments["padding"] == "valid":
        arguments = {**arguments, "padding": (0, 0)}
    return _images(arguments, arguments["out_channels"], shapes[0])


def convolution_weights(arguments: Arguments) -> dict[str, Shape]:
    """The filters, and the bias where there is one."""
    channels, groups = arguments["in_channels"], arguments["groups"]
    if channels % groups or arguments["out_channels"] % groups:
        raise LayerError(f"its channels cannot be divided into {groups} groups")
    found: dict[str, Shape] = {"w": (arguments["out_channels"], channels // groups, *arguments["kernel_size"])}
    if arguments["bias"]:
        found["bias"] = (arguments["out_channels"],)
    return found


def batch_norm(arguments: Arguments, shapes: Sequence[Shape]) -> Shape:
    """As the operand."""
    channels = _dims(shapes[0])[1]
    if channels != arguments["num_features"]:
        raise LayerError(f"it takes {arguments['num_features']} channels, and is given {channels}")
    return shapes[0]


def batch_norm_weights(arguments: Arguments) -> dict[str, Shape]:
    """Factor and offset are one tensor."""
    channels = arguments["num_features"]
    found: dict[str, Shape] = {"w": (2, channels)} if arguments["affine"] else {}
    if arguments["track_running_stats"]:
        found |= {"running_mean": (channels,), "running_var": (channels,)}
    return found


def linear(arguments: Arguments, shapes: Sequence[Shape]) -> Shape:
    """Printed modules do not show where a forward function flattens: images whose elements are as many as the features are."""
    shape, features = shapes[0], arguments["in_features"]
    if math.prod(shape[1:]) == features:
        return shape[0], arguments["out_features"]
    if len(shape) > 1 and shape[-1] == features:
        return *shape[:-1], arguments["out_features"]
    raise LayerError(f"it takes {features} features, and is given {math.prod(shape[1:])}")


def linear_weights(arguments: Arguments) -> dict[str, Shape]:
    """The matrix, and the bias where there is one."""
    found: dict[str, Shape] = {"w": (arguments["out_features"], arguments["in_features"])}
    if arguments["bias"]:
        found["bias"] = (arguments["out_features"],)
    return found


def pool(arguments: Arguments, shapes: Sequence[Shape]) -> Shape:
    """Images of the size that the windows give; without a stride windows stand side by side."""
    stride = arguments["kernel_size"] if arguments["stride"] is None else arguments["stride"]
    return _images({"dilation": (1, 1), **arguments, "stride": stride}, _dims(shapes[0])[1], shapes[0])


def adaptive_pool(arguments: Arguments, shapes: Sequence[Shape]) -> Shape:
    """Images of a given size."""
    batch, channels, height, width = _dims(shapes[0])
    rows, columns = arguments["output_size"]
    return batch, channels, height if rows is None else rows, width if columns is None else columns


def same(_: Arguments, shapes: Sequence[Shape]) -> Shape:
    """As the operands, which are all alike."""
    if len(set(shapes)) > 1:
        raise LayerError(f"its operands differ in shape: {' and '.join(_written(shape) for shape in dict.fromkeys(shapes))}")
    return shapes[0]


def concatenation(_: Arguments, shapes: Sequence[Shape]) -> Shape:
    """The channels of all operands."""
    batch, _channels, *size = _dims(shapes[0])
    if any(shape[0] != batch or list(shape[2:]) != size for shape in shapes):
        raise LayerError(f"its operands differ in more than channels: {' and '.join(map(_written, shapes))}")
    return batch, sum(shape[1] for shape in shapes), *size


def scale(_: Arguments, shapes: Sequence[Shape]) -> Shape:
    """As the first operand; the second has one factor per channel."""
    images, factors = [_dims(shape) for shape in shapes]
    if factors != (*images[:2], 1, 1):
        raise LayerError(f"it takes a factor for each channel of {_written(images)}, and is given {_written(factors)}")
    return images


def flatten(arguments: Arguments, shapes: Sequence[Shape]) -> Shape:
    """Some dimensions as one."""
    shape = shapes[0]
    rank = len(shape)
    start, end = [at + rank if at < 0 else at for at in (arguments["start_dim"], arguments["end_dim"])]
    if not 0 < start <= end < rank:
        raise LayerError(f"it cannot flatten {_written(shape)} from dimension {start} to {end}: the batch stays")
    return *shape[:start], math.prod(shape[start : end + 1]), *shape[end + 1 :]


def no_weights(_: Arguments) -> dict[str, Shape]:
    """Nothing is kept."""
    return {}
