"""Small programs for tests of the engine: from text, and random ones."""

from __future__ import annotations

from hypothesis import strategies as st

from g10c.ir.parser import parse_program
from g10c.ir.program import Op, Program, Role, Tensor
from g10c.ir.source import Source
from g10c.ir.values import Ident, Time

TENSORS = """
tensor %w : f32[1024]  weight
tensor %v : f32[1024]  weight
tensor %x : f32[1024]  input
tensor %a : f32[1024]  activation
tensor %b : f32[1024]  activation
tensor %c : f32[1024]  activation
tensor %d : f32[1024]  activation
tensor %m : u8[1024]  activation
tensor %g : f32[1024]  gradient
tensor %h : f32[1024]  gradient
"""


def program(ops: str, attrs: str = "") -> Program:
    """A program of these ops on the tensors w v (weights), x (input), a b c d m (activations), g h (gradients)."""
    text = "\n".join(line.strip() for line in ops.strip().splitlines())
    return parse_program(f"g10c.ir 1\nprogram p {attrs}\n{TENSORS}\n{text}\n")


def texts(program: Program) -> list[str]:
    """The ops without their attributes."""
    return [
        f"{', '.join(op.writes)} = {op.name}({', '.join(op.reads)})" if op.writes else f"{op.name}({', '.join(op.reads)})"
        for op in program.ops
    ]


_KINDS = {
    # name: operands, results
    "relu.forward": (1, 1),
    "gelu.forward": (1, 1),
    "add.forward": (2, 1),
    "subtract.forward": (2, 1),
    "dropout.forward": (1, 2),
    "scale.forward": (1, 1),
    "linear.forward": (2, 1),
    "gelu.backward": (2, 1),
    "accumulate": (3, 1),
    "apply_grad": (2, 1),
}


@st.composite
def random_programs(draw: st.DrawFn, most_ops: int = 14) -> Program:
    """Programs that the verifier accepts: everything is written before it is read, updates in place and repeated writes among it."""
    tensors = [Tensor(f"w{n}", "f32", (4,), Role.WEIGHT) for n in range(2)] + [Tensor("x", "f32", (4,), Role.INPUT)]
    tensors += [Tensor(f"t{n}", "f32", (draw(st.sampled_from((4, 1 << 20))),), Role.ACTIVATION) for n in range(5)]
    tensors += [Tensor(f"g{n}", "f32", (4,), Role.GRADIENT) for n in range(2)]
    there = ["w0", "w1", "x"]
    ops = []
    for _ in range(draw(st.integers(1, most_ops))):
        name = draw(st.sampled_from(sorted(_KINDS)))
        operands, results = _KINDS[name]
        reads = tuple(draw(st.sampled_from(there)) for _ in range(operands))
        choice = st.sampled_from([tensor.name for tensor in tensors if tensor.role is not Role.INPUT])
        if name == "apply_grad":
            target = draw(st.sampled_from(("w0", "w1")))
            reads, writes = (target, reads[1]), (target,)
        else:
            writes = tuple(draw(st.lists(choice, min_size=results, max_size=results, unique=True)))
        phase = draw(st.sampled_from(("forward", "backward")))
        ops.append(Op(name, reads, writes, {"time": Time(draw(st.integers(1, 1000))), "phase": Ident(phase)}))
        there += [written for written in writes if written not in there]
    return Program("random", {tensor.name: tensor for tensor in tensors}, tuple(ops))


def source(text: str) -> Source:
    return Source("test.rules", text)
