"""What each layer of a printed module becomes: one rule per class, in the form of :mod:`~g10c.models.g10.rule_form`.

There are two tables. ``ARTIFACT`` states what the artifact makes of its convolutional networks (``analysis.cc``,
``layer_first_pass_dataflow`` and ``layer_second_pass_scheduling_kernels``); its oddities, each marked below, are part of the published
results. ``PYTORCH`` differs where a training step in PyTorch does.
"""

from __future__ import annotations

from g10c.ir.program import Role
from g10c.models.g10.rule_form import OpRule, Own, Shape, kernel


def _as_operand(operand: Shape, _: Shape) -> Shape:
    return operand


def _as_result(_: Shape, result: Shape) -> Shape:
    return result


def _channels(operand: Shape, _: Shape) -> Shape:
    return (operand[1],)


def _two_per_channel(operand: Shape, _: Shape) -> Shape:
    return (2, operand[1])


def _unary(op: str, artifact: str, backward: str) -> OpRule:
    forward = kernel(f"{op}.forward", f"{artifact}_Forward", "x -> y")
    return OpRule(forward, (kernel(f"{op}.backward", f"{artifact}_Backward", backward),), ("y", "dx"))


_LOAD = kernel("load", "LoadData_A0", "-> y")
_CONCAT = OpRule(
    kernel("concat.forward", "Concat_Forward", "operands -> y"),
    (kernel("concat.backward", "Concat_Backward", "dy -> gradients"),),
    ("gradients", "y"),
)
_ADD = OpRule(kernel("add.forward", "Add_Forward", "operands -> y"), (), ("y",), shares_gradient=True)
_CONV_BACKWARD = (
    kernel("conv2d.backward_weight", "Conv2d_Backward_Weight", "dy x -> dw"),
    kernel("conv2d.backward_input", "Conv2d_Backward_Input", "dy w -> dx"),
    kernel("apply_grad", "Conv2d_Apply_Grad", "dw w -> w"),
)
_LINEAR = OpRule(
    kernel("linear.forward", "Linear_Forward", "x w bias -> y"),
    (
        kernel("linear.backward_bias", "Linear_Backward_Bias", "dy -> dbias"),
        kernel("apply_grad", "Linear_Apply_Grad_Bias", "dbias bias -> bias"),
        kernel("linear.backward_weight", "Linear_Backward_Weight", "dy x -> dw"),
        kernel("linear.backward_input", "Linear_Backward_Input", "w dy -> dx"),
        kernel("apply_grad", "Linear_Apply_Grad_Weight", "dw w -> w"),
    ),
    ("w", "y", "dx", "dw", "bias", "dbias"),
)
_NORM_UPDATE = kernel("apply_grad", "BatchNorm2d_Apply_Grad", "dw w -> w")

ARTIFACT: dict[str, OpRule] = {
    # Oddity: the batch is loaded, and has a gradient.
    "Input": OpRule(_LOAD, (), ("y",)),
    # Oddity: a convolution has no bias.
    "Conv2d": OpRule(kernel("conv2d.forward", "Conv2d_Forward", "x w -> y"), _CONV_BACKWARD, ("y", "w", "dw", "dx")),
    # Oddity: mean, variance and the gradients of all that it computes on the way are tensors, which nothing reads.
    "BatchNorm2d": OpRule(
        kernel(
            "batch_norm.forward",
            "BatchNorm2d_Forward",
            "x w running_mean running_var -> running_mean running_var y mean var normalized inv_std",
        ),
        (
            kernel("batch_norm.backward", "BatchNorm2d_Backward", "dy normalized inv_std w -> dx dw dmean dvar dnormalized dinv_std"),
            _NORM_UPDATE,
        ),
        (
            *("y", "dx", "w", "dw", "mean", "var", "normalized", "inv_std"),
            *("dmean", "dvar", "dnormalized", "dinv_std", "running_mean", "running_var"),
        ),
        own=(
            Own("mean", _channels, Role.WORKSPACE),
            Own("var", _channels, Role.WORKSPACE),
            Own("normalized", _as_operand, Role.ACTIVATION),
            Own("inv_std", _channels, Role.ACTIVATION),
        ),
    ),
    "Linear": _LINEAR,
    "ReLU": _unary("relu", "ReLU", "x dy -> dx"),
    "Sigmoid": _unary("sigmoid", "Sigmoid", "y dy -> dx"),
    "Tanh": _unary("tanh", "Tanh", "y dy -> dx"),
    "GELU": _unary("gelu", "GELU", "x dy -> dx"),
    "MaxPool2d": _unary("max_pool2d", "MaxPool2d", "x dy -> dx"),
    "AvgPool2d": _unary("avg_pool2d", "AvgPool2d", "x dy -> dx"),
    "AdaptiveAvgPool2d": _unary("avg_pool2d", "AdaptiveAvgPool2d", "x dy -> dx"),
    # Oddity: forward reads the mask, and nothing writes it.
    "Dropout": OpRule(
        kernel("dropout.forward", "Dropout_Forward", "x mask -> y"),
        (kernel("dropout.backward", "Dropout_Backward", "mask dy -> dx"),),
        ("mask", "y", "dx"),
        own=(Own("mask", _as_operand, Role.INPUT),),
    ),
    "Add": _ADD,
    "Concat": _CONCAT,
    # Oddity: the images that are scaled are neither read nor given a gradient, only the factors are.
    "Scale": OpRule(
        kernel("scale.forward", "Scale_Forward", "b -> y"),
        (kernel("scale.backward", "Scale_Backward", "dy -> db"),),
        ("y", "db"),
    ),
}
"""Rules by class of layer, as the artifact has them; classes that it does not know are as in PyTorch."""

PYTORCH: dict[str, OpRule] = {
    **ARTIFACT,
    "Input": OpRule(_LOAD, (), ("y",), differentiable=False),
    "Conv2d": OpRule(
        kernel("conv2d.forward", "Conv2d_Forward", "x w bias -> y"),
        (
            kernel("conv2d.backward_bias", "Conv2d_Backward_Bias", "dy -> dbias"),
            *_CONV_BACKWARD,
            kernel("apply_grad", "Conv2d_Apply_Grad_Bias", "dbias bias -> bias"),
        ),
        ("y", "w", "dw", "bias", "dbias", "dx"),
    ),
    "BatchNorm2d": OpRule(
        kernel("batch_norm.forward", "BatchNorm2d_Forward", "x w running_mean running_var -> running_mean running_var y mean_and_inv_std"),
        (kernel("batch_norm.backward", "BatchNorm2d_Backward", "dy x mean_and_inv_std w -> dx dw"), _NORM_UPDATE),
        ("y", "dx", "w", "dw", "mean_and_inv_std", "running_mean", "running_var"),
        own=(Own("mean_and_inv_std", _two_per_channel, Role.ACTIVATION),),
    ),
    "ReLU": _unary("relu", "ReLU", "y dy -> dx"),
    "MaxPool2d": OpRule(
        kernel("max_pool2d.forward", "MaxPool2d_Forward", "x -> y indices"),
        (kernel("max_pool2d.backward", "MaxPool2d_Backward", "dy x indices -> dx"),),
        ("y", "indices", "dx"),
        own=(Own("indices", _as_result, Role.ACTIVATION, "i64"),),
    ),
    "Dropout": OpRule(
        kernel("dropout.forward", "Dropout_Forward", "x -> y mask"),
        (kernel("dropout.backward", "Dropout_Backward", "mask dy -> dx"),),
        ("y", "mask", "dx"),
        own=(Own("mask", _as_operand, Role.ACTIVATION, "bool"),),
    ),
    "Scale": OpRule(
        kernel("scale.forward", "Scale_Forward", "operands -> y"),
        (kernel("scale.backward", "Scale_Backward", "dy operands -> gradients"),),
        ("y", "gradients"),
    ),
}
"""Rules by class of layer, as a training step in PyTorch has them."""
