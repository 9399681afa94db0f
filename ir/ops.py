"""Declarations of ops: what exists, its kind, what it may read and write, and its attributes.

A kernel's name is ``base`` or ``base.variant`` (``linear.backward_weight``). A kernel that no declaration fits is written
``kernel(...) {kernel = "its name"}``.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from functools import cache

from g10c.ir.values import Ident, Range, Time


class OpKind(StrEnum):
    """The three kinds of ops."""

    KERNEL = "kernel"
    DIRECTIVE = "directive"
    COLLECTIVE = "collective"


@dataclass(frozen=True, slots=True)
class AttrDecl:
    """An attribute: its type, whether it must be there, the words allowed, and what it means."""

    name: str
    type: type
    doc: str
    required: bool = False
    choices: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class OpDecl:
    """An op: variants are the suffixes of its name; ``reads`` and ``writes`` are (least, most) with ``None`` for no limit."""

    name: str
    kind: OpKind
    doc: str
    variants: tuple[str, ...] = ()
    reads: tuple[int, int | None] = (0, None)
    writes: tuple[int, int | None] = (1, None)
    attrs: tuple[AttrDecl, ...] = ()
    commutative: bool = False

    def attr(self, name: str) -> AttrDecl | None:
        """Declaration of an attribute, or ``None``."""
        return next((attr for attr in self.attrs if attr.name == name), None)


STREAMS = ("compute", "copy_in", "copy_out", "comm")
PHASES = ("forward", "loss", "backward", "update")
TIERS = ("host", "ssd")

_PLACEMENT = (
    AttrDecl("on", str, 'ranks that run it, such as "pp:0"; all when absent'),
    AttrDecl("stream", Ident, "stream of issue", choices=STREAMS),
    AttrDecl("microbatch", int, "number of the micro-batch it belongs to"),
)
_KERNEL_ATTRS = (
    AttrDecl("time", Time, "profiled or predicted duration with all data in GPU memory"),
    AttrDecl("all_fault_time", Time, "duration when every page it touches faults"),
    AttrDecl("output_fault_time", Time, "duration when only the pages it writes fault"),
    AttrDecl("phase", Ident, "part of the training step", choices=PHASES),
    AttrDecl("flops", int, "floating-point operations"),
    AttrDecl("kernel", str, "name of the kernel in the trace it came from"),
    AttrDecl("layer", str, "layer or block of the model it belongs to"),
    *_PLACEMENT,
)
_RANGE = AttrDecl("range", Range, "bytes of the tensor, such as 0B..64MiB; the whole tensor when absent")

FORWARD_BACKWARD = ("forward", "backward")
WEIGHTED = ("forward", "backward_input", "backward_weight", "backward_bias", "backward")
BINARY = ("forward", "backward", "backward_a", "backward_b")


def _kernel(
    name: str,
    doc: str,
    variants: tuple[str, ...] = FORWARD_BACKWARD,
    reads: tuple[int, int | None] = (1, None),
    writes: tuple[int, int | None] = (1, None),
    commutative: bool = False,
) -> OpDecl:
    return OpDecl(name, OpKind.KERNEL, doc, variants, reads, writes, _KERNEL_ATTRS, commutative)


def _directive(name: str, doc: str, *attrs: AttrDecl) -> OpDecl:
    return OpDecl(name, OpKind.DIRECTIVE, doc, (), (1, 1), (0, 0), (*attrs, _RANGE, *_PLACEMENT))


def _collective(name: str, doc: str, reads: tuple[int, int | None], writes: tuple[int, int | None], *attrs: AttrDecl) -> OpDecl:
    return OpDecl(
        name, OpKind.COLLECTIVE, doc, (), reads, writes, (*attrs, AttrDecl("time", Time, "duration, where it is known"), *_PLACEMENT)
    )


_OVER = AttrDecl("over", Ident, "mesh axis whose ranks take part", required=True)

DECLARATIONS: tuple[OpDecl, ...] = (
    _kernel("add", "elementwise sum", BINARY, commutative=True),
    _kernel("subtract", "elementwise difference", BINARY),
    _kernel("multiply", "elementwise product", BINARY, commutative=True),
    _kernel("divide", "elementwise quotient", BINARY),
    _kernel("power", "elementwise power", BINARY),
    _kernel("sqrt", "elementwise square root"),
    _kernel("erf", "elementwise error function"),
    _kernel("tanh", "elementwise hyperbolic tangent"),
    _kernel("sigmoid", "elementwise logistic function"),
    _kernel("relu", "rectified linear unit"),
    _kernel("gelu", "Gaussian error linear unit"),
    _kernel("scale", "product with one factor per channel"),
    _kernel("dropout", "dropout, with its mask"),
    _kernel("cast", "conversion to another data type"),
    _kernel("copy", "copy of a tensor"),
    _kernel("transpose", "permutation of dimensions that moves data"),
    _kernel("concat", "concatenation"),
    _kernel("split", "split into parts"),
    _kernel("sum", "reduction by a sum"),
    _kernel("mean", "reduction by a mean"),
    _kernel("max", "reduction by a maximum"),
    _kernel("gather", "lookup of rows, such as an embedding"),
    _kernel("matmul", "product of two batches of matrices", BINARY),
    _kernel("linear", "product with a weight matrix, with or without a bias", WEIGHTED),
    _kernel("conv2d", "two-dimensional convolution", WEIGHTED),
    _kernel("batch_norm", "batch normalisation", WEIGHTED),
    _kernel("layer_norm", "layer normalisation", WEIGHTED),
    _kernel("softmax", "softmax over one dimension"),
    _kernel("attention", "fused scaled dot-product attention"),
    _kernel("max_pool2d", "maximum pooling"),
    _kernel("avg_pool2d", "average pooling"),
    _kernel("cross_entropy", "softmax cross entropy loss", FORWARD_BACKWARD),
    _kernel("loss", "loss of the step, with the gradient it starts backward with", ()),
    _kernel("load", "loads a batch of input", (), reads=(0, None)),
    _kernel("zero", "fills with zeros", (), reads=(0, None)),
    _kernel("accumulate", "sum of the gradients of several uses", (), reads=(2, None), commutative=True),
    _kernel("apply_grad", "optimizer update of a weight in place from its gradient", (), reads=(1, None)),
    _kernel("scaled_apply_grad", "optimizer update of a weight in place from its scaled gradient", (), reads=(1, None)),
    _kernel("fused", "several kernels run as one", (), reads=(0, None)),
    _kernel("kernel", "any other kernel; its attribute `kernel` names it", (), reads=(0, None), writes=(0, None)),
    _directive("alloc", "makes room for a tensor in GPU memory"),
    _directive("free", "drops a tensor's data wherever it is"),
    _directive("evict", "moves a tensor out of GPU memory", AttrDecl("to", Ident, "tier it moves to", True, TIERS)),
    _directive("prefetch", "moves a tensor into GPU memory", AttrDecl("from", Ident, "tier it is expected on", True, TIERS)),
    _collective("all_reduce", "sum over ranks, on all of them", (1, None), (1, None), _OVER),
    _collective("all_gather", "parts of all ranks, on all of them", (1, None), (1, None), _OVER),
    _collective("reduce_scatter", "sum over ranks, a part on each", (1, None), (1, None), _OVER),
    _collective("broadcast", "one rank's data, on all of them", (1, None), (1, None), _OVER),
    _collective("send", "sends to another rank", (1, None), (0, 0), AttrDecl("to", str, "ranks it goes to", True)),
    _collective("recv", "receives from another rank", (0, 0), (1, None), AttrDecl("from", str, "ranks it comes from", True)),
)

BY_NAME: dict[str, OpDecl] = {decl.name: decl for decl in DECLARATIONS}


@cache
def declaration(name: str) -> OpDecl | None:
    """Declaration of ``base`` or ``base.variant``; ``None`` where there is none."""
    base, dot, variant = name.partition(".")
    decl = BY_NAME.get(base)
    if decl is None or (variant not in decl.variants if dot else bool(decl.variants)):
        return None
    return decl


@cache
def is_commutative(name: str) -> bool:
    """Whether the operands of an op may stand in any order. Of the variants only ``forward`` is such: gradients differ by operand."""
    decl = declaration(name)
    return decl is not None and decl.commutative and name in (decl.name, f"{decl.name}.forward")


@cache
def kind_of(name: str) -> OpKind:
    """Kind of an op by name; an undeclared one counts as a kernel until the verifier refuses it."""
    decl = declaration(name)
    return decl.kind if decl else OpKind.KERNEL


def known_names() -> list[str]:
    """Every name an op can have, in order of declaration."""
    return [f"{decl.name}.{variant}" if variant else decl.name for decl in DECLARATIONS for variant in (decl.variants or ("",))]
