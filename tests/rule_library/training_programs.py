"""Random training steps that give the bundled rules something to do, among what they have to leave alone."""

from __future__ import annotations

from hypothesis import strategies as st

from g10c.ir.program import Op, Program, Role, Tensor
from g10c.ir.values import Ident, Time

FORWARD = {
    # name: activations read, weights read, results
    "relu.forward": (1, 0, 1),
    "gelu.forward": (1, 0, 1),
    "add.forward": (2, 0, 1),
    "multiply.forward": (1, 1, 1),
    "layer_norm.forward": (1, 1, 2),
    "dropout.forward": (1, 0, 2),
    "softmax.forward": (1, 0, 1),
    "linear.forward": (1, 1, 1),
    "split.forward": (1, 0, 2),
    "kernel": (1, 0, 1),
}
CHEAP = ("relu.forward", "gelu.forward", "layer_norm.forward", "multiply.forward")
BACKWARD = {
    # name: gradients read, activations read, weights read, results
    "gelu.backward": (1, 1, 0, 1),
    "dropout.backward": (1, 1, 0, 1),
    "linear.backward_weight": (1, 1, 0, 1),
    "linear.backward_input": (1, 0, 1, 1),
    "layer_norm.backward": (1, 1, 1, 2),
    "matmul.backward_b": (1, 2, 0, 1),
    "accumulate": (2, 0, 0, 1),
}


def _tensors(draw: st.DrawFn) -> dict[str, Tensor]:
    shapes = st.sampled_from([(4,), (4,), (8, 2)])
    tensors = [Tensor(f"w{n}", "f32", (4,), Role.WEIGHT) for n in range(3)] + [Tensor("m0", "f32", (4,), Role.OPTIMIZER)]
    tensors += [Tensor("x", "f32", (4,), Role.INPUT)]
    tensors += [Tensor(f"t{n}", draw(st.sampled_from(["f32", "f32", "f16"])), draw(shapes), Role.ACTIVATION) for n in range(7)]
    tensors += [Tensor(f"g{n}", "f32", draw(shapes), Role.GRADIENT) for n in range(9)]
    tensors += [Tensor("s0", "f32", (4,), Role.WORKSPACE), Tensor("loss", "f32", (), Role.ACTIVATION)]
    return {tensor.name: tensor for tensor in tensors}


class _Builder:
    """Ops in order. What an op reads was written, or was there at the start; what it writes is any tensor of a kind."""

    def __init__(self, draw: st.DrawFn) -> None:
        self.draw = draw
        self.tensors = _tensors(draw)
        self.there = ["w0", "w1", "w2", "m0", "x"]
        self.ops: list[Op] = []

    def some(self, number: int, start: str) -> list[str]:
        """Operands whose names begin with one of some letters; the latest are the likeliest."""
        known = [name for name in self.there if name[0] in start]
        return [known[-1] if self.draw(st.integers(0, 2)) else self.draw(st.sampled_from(known)) for _ in range(number)]

    def results(self, number: int, start: str) -> list[str]:
        """Results: mostly tensors that nothing has written."""
        names = [name for name in self.tensors if name[0] in start]
        fresh = [name for name in names if name not in self.there]
        pool = fresh if len(fresh) >= number and self.draw(st.integers(0, 3)) else names
        return self.draw(st.lists(st.sampled_from(pool), min_size=number, max_size=number, unique=True))

    def add(self, name: str, reads: list[str], writes: list[str], phase: str) -> None:
        attrs: dict[str, object] = {"time": Time(self.draw(st.integers(1, 1000))), "phase": Ident(phase)}
        if name == "kernel":
            attrs["kernel"] = "mine"
        if not self.draw(st.integers(0, 5)):
            attrs["stream"] = Ident("comm")
        attrs["layer"] = self.draw(st.sampled_from(["embed", "h0"]))
        if not self.draw(st.integers(0, 9)):
            del attrs["phase"]
        self.ops.append(Op(name, tuple(reads), tuple(writes), attrs))
        self.there = [name for name in self.there if name not in writes] + writes

    def forward(self) -> None:
        name = self.draw(st.sampled_from(sorted(FORWARD)))
        activations, weights, results = FORWARD[name]
        into = "tw" if not self.draw(st.integers(0, 15)) else "t"
        self.add(name, self.some(activations, "xt") + self.some(weights, "w"), self.results(results, into), "forward")

    def chain(self) -> None:
        """Two elementwise ops in a row, on tensors of one shape as often as not."""
        self.add(self.draw(st.sampled_from(["relu.forward", "gelu.forward"])), self.some(1, "xt"), self.results(1, "t"), "forward")
        self.add("relu.forward", [self.ops[-1].writes[0]], self.results(1, "t"), "forward")

    def backward(self) -> None:
        name = self.draw(st.sampled_from(sorted(BACKWARD)))
        gradients, activations, weights, results = BACKWARD[name]
        reads = self.some(gradients, "g") + self.some(activations, "xt") + self.some(weights, "w")
        self.add(name, reads, self.results(results, "gs" if results > 1 else "g"), "backward")

    def backward_of(self) -> None:
        """Backward kernels that read the result of a forward op, then one that reads its operand."""
        forward = [op for op in self.ops if op.name in FORWARD]
        op = self.draw(st.sampled_from([op for op in forward if op.name in CHEAP] or forward))
        for _ in range(self.draw(st.integers(1, 2))):
            self.add("linear.backward_weight", [*self.some(1, "g"), op.writes[0]], self.results(1, "g"), "backward")
        self.add("gelu.backward", [*self.some(1, "g"), op.reads[0]], self.results(1, "g"), "backward")

    def update(self) -> None:
        weight = self.draw(st.sampled_from(["w0", "w1", "w2"]))
        gradient = [self.draw(st.sampled_from([name for name in self.there if name[0] == "g"]))]
        if self.draw(st.booleans()):
            self.add("apply_grad", [weight, *gradient, "m0"], [weight, "m0"], "update")
        else:
            self.add(self.draw(st.sampled_from(["apply_grad", "scaled_apply_grad"])), [weight, *gradient], [weight], "update")


@st.composite
def training_programs(draw: st.DrawFn) -> Program:
    """Programs that the verifier accepts: forward, loss, backward and updates, with writes over and in place."""
    made = _Builder(draw)
    for _ in range(draw(st.integers(1, 7))):
        made.forward() if draw(st.integers(0, 3)) else made.chain()
    made.add("loss", made.some(1, "xt"), draw(st.sampled_from([["g0"], ["g0", "loss"]])), "loss")
    for _ in range(draw(st.integers(1, 7))):
        step = made.backward if draw(st.booleans()) else made.backward_of
        step()
        if not draw(st.integers(0, 4)):
            made.update()
    for _ in range(draw(st.integers(1, 4))):
        made.update()
    return Program("random", made.tensors, tuple(made.ops))
