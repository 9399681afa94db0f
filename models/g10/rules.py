"""What each operator of a transformer network becomes: one rule per operator type, in the form of :mod:`~g10c.models.g10.rule_form`.

The rules state the kernels that the artifact schedules (``analysis.cc``, ``transformer_scheduling_kernels``), with the tensors in the
order in which it enters them.
"""

from __future__ import annotations

from g10c.models.g10.rule_form import KernelRule, OpRule, WeightUse, kernel


def _forward(op: str, artifact: str) -> KernelRule:
    return kernel(op, artifact, "operands -> y")


_GRADIENT_THEN_WEIGHT = kernel("apply_grad", "Apply_Grad", "dw w -> w")
_WEIGHT_THEN_GRADIENT = kernel("apply_grad", "Apply_Grad", "w dw -> w")


def _unary(op: str, artifact: str, backward: str) -> OpRule:
    return OpRule(_forward(f"{op}.forward", f"{artifact}_Forward"), (kernel(f"{op}.backward", f"{artifact}_Backward", backward),))


def _binary(op: str, artifact: str, *backward: KernelRule, weights: WeightUse = WeightUse.AT_MOST_ONE) -> OpRule:
    return OpRule(_forward(f"{op}.forward", f"{artifact}_Forward"), backward, operands=2, weights=weights)


RULES: dict[str, OpRule] = {
    "GatherV2": _binary(
        "gather",
        "GatherV2",
        kernel("gather.backward", "GatherV2_Backward", "dy x -> dw dx"),
        _GRADIENT_THEN_WEIGHT,
        weights=WeightUse.ONE,
    ),
    "Dot": _binary(
        "linear",
        "Linear",
        kernel("linear.backward_weight", "Linear_Backward_Weight", "dy x -> dw"),
        kernel("linear.backward_input", "Linear_Backward_Input", "w dy -> dx"),
        kernel("apply_grad", "Linear_Apply_Grad_Weight", "dw w -> w"),
        weights=WeightUse.ONE,
    ),
    "Convolution": _binary(
        "conv2d",
        "Conv2d",
        kernel("conv2d.backward_weight", "Conv2d_Backward_Weight", "dy x -> dw"),
        kernel("conv2d.backward_input", "Conv2d_Backward_Input", "dy w -> dx"),
        _GRADIENT_THEN_WEIGHT,
        weights=WeightUse.ONE,
    ),
    "Relu": _unary("relu", "ReLU", "a dy -> da"),
    "SoftmaxBasic": _unary("softmax", "SoftmaxBasic", "a dy -> da"),
    "Sqrt": _unary("sqrt", "Sqrt", "dy a -> da"),
    "Sum": _unary("sum", "Sum", "dy a -> da"),
    "Tanh": _unary("tanh", "Tanh", "dy a -> da"),
    "Erf": _unary("erf", "Erf", "dy a -> da"),
    "Add": _binary("add", "Add", kernel("add.backward", "Add_Backward", "dy -> gradients"), _WEIGHT_THEN_GRADIENT),
    "Subtract": _binary("subtract", "Subtract", kernel("subtract.backward", "Subtract_Backward", "dy -> gradients"), _WEIGHT_THEN_GRADIENT),
    "Multiply": _binary(
        "multiply",
        "Multiply",
        kernel("multiply.backward_a", "Multiply_Backward", "dy b -> da"),
        kernel("multiply.backward_b", "Multiply_Backward", "dy a -> db"),
        _WEIGHT_THEN_GRADIENT,
    ),
    "Divide": _binary(
        "divide",
        "Divide",
        kernel("divide.backward_a", "Divide_Backward_A", "b dy -> da"),
        kernel("divide.backward_b", "Divide_Backward_B", "b y dy -> db"),
        _WEIGHT_THEN_GRADIENT,
    ),
    "BatchMatMul": _binary(
        "matmul",
        "BatchMatMul",
        kernel("matmul.backward_a", "BatchMatMul_Backward", "dy b -> da"),
        kernel("matmul.backward_b", "BatchMatMul_Backward", "dy a -> db"),
        _WEIGHT_THEN_GRADIENT,
    ),
    "Power": _binary("power", "Power", kernel("power.backward", "Power_Backward", "dy a b -> da"), weights=WeightUse.CONSTANT),
}
"""Rules by the operator type that a network file names."""
