"""From a tree of modules to a network: the layers that it calls, in order of execution, with operands and shapes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from g10c.ir.errors import Diagnostic, InputError, near_hint
from g10c.ir.source import Span
from g10c.models.modules.arguments import Arguments, read_arguments
from g10c.models.modules.layers import LAYERS, MODULES
from g10c.models.modules.shapes import LayerError, Shape
from g10c.models.modules.tree import Module
from g10c.models.modules.wiring import Apply, Call, Wirings

INPUT = "Input"
"""The first layer of every network; it has the input's shape."""
INPUT_SIZES = {"Inception3": 299}
"""Height and width of input images by class of the network, where they are not those below."""
DEFAULT_INPUT_SIZE = 224
MAX_CALLS = 100_000


@dataclass(frozen=True, slots=True)
class Layer:
    """A layer that is called: class, label (unique), numbers of the layers whose results it takes, shape of its own, and what it keeps.

    ``path`` names the module, which may be called several times; ``operand_shapes`` may be views of the operands' shapes.
    """

    kind: str
    label: str
    path: str
    arguments: Arguments
    operands: tuple[int, ...]
    operand_shapes: tuple[Shape, ...]
    shape: Shape
    weights: dict[str, Shape]
    span: Span


@dataclass(frozen=True, slots=True)
class Flow:
    """What flows between layers: whose result, and the shape it is seen in."""

    layer: int
    shape: Shape


def build_network(module: Module, wirings: Wirings, batch: int, input_size: int | None = None) -> tuple[Layer, ...]:
    """The layers of a module for a batch size.

    The input has the channels or features of the first layer; images are square, of ``input_size`` or what is usual for the class.
    Raises :class:`~g10c.ir.errors.InputError` with every class, child and argument that is not known, or with the first layer that does
    not fit its operands.
    """
    checker = _Checker(wirings)
    checker.check(module, "")
    if checker.diagnostics:
        raise InputError(checker.diagnostics)
    builder = _Builder(wirings, checker.arguments)
    shape = _input_shape(module, checker.arguments, batch, input_size)
    start = builder.add(INPUT, "input", {}, (), shape, module.span)
    builder.run(module, "", start)
    return tuple(builder.layers)


class _Checker:
    """Reads the arguments of every layer, and notes what of a tree is not known."""

    def __init__(self, wirings: Wirings) -> None:
        self.wirings = wirings
        self.diagnostics: list[Diagnostic] = []
        self.arguments: dict[Module, Arguments] = {}

    def check(self, module: Module, path: str) -> None:
        """Check a module once, however often it is repeated."""
        if module in self.arguments:
            return
        self.arguments[module] = {}
        if module.kind in MODULES:
            self.arguments[module] = read_arguments(module, LAYERS[module.kind].parameters, self.diagnostics)
            self._no_children(module)
            return
        if not self.wirings.knows(module.kind):
            self._unknown(module, path)
            return
        if extra := next(iter((*module.positional, *module.keywords.values())), None):
            self.diagnostics.append(Diagnostic(f"{module.kind} takes children, not arguments", extra.span))
        if module.kind in self.wirings.wirings:
            self._children(module)
        for name, child in module.children.items():
            self.check(child, _join(path, name))

    def _unknown(self, module: Module, path: str) -> None:
        containers = [*self.wirings.chains, *self.wirings.wirings]
        place = f" at {path}" if path else ""
        near = near_hint(module.kind, [*MODULES, *containers], "classes")
        if module.children:
            what = f"it is not known how {module.kind}{place} calls its children"
            known = f"containers that are known: {', '.join(sorted(containers))}"
        else:
            what = f"{module.kind}{place} is not a layer that is known"
            known = f"layers that are known: {', '.join(sorted(MODULES))}"
        self.diagnostics.append(Diagnostic(what, module.span, f"{near} {known}".strip()))

    def _no_children(self, module: Module) -> None:
        for child in module.children.values():
            self.diagnostics.append(Diagnostic(f"{module.kind} has no children", child.span))

    def _children(self, module: Module) -> None:
        """Every child is in the wiring, and every child of the wiring is there, but for those that may be left out."""
        words = [word for step in self.wirings.wirings[module.kind] if isinstance(step, Call) for word in step.children]
        names = {word.rstrip("?") for word in words}
        for name, child in module.children.items():
            if name not in names:
                hint = f"its children are {', '.join(dict.fromkeys(words))} (? for those that may be left out)"
                self.diagnostics.append(Diagnostic(f"{module.kind} has no child ({name})", child.span, hint))
        missing = [word for word in dict.fromkeys(words) if not word.endswith("?") and word not in module.children]
        if missing:
            self.diagnostics.append(Diagnostic(f"{module.kind} is without its child {', '.join(f'({m})' for m in missing)}", module.span))


def _join(path: str, name: str) -> str:
    return f"{path}.{name}" if path else name


def _input_shape(root: Module, arguments: dict[Module, Arguments], batch: int, size: int | None) -> Shape:
    """The shape that the first layer with a number of channels or features takes."""
    for given in arguments.values():
        if "in_features" in given:
            return batch, given["in_features"]
        channels = given.get("in_channels", given.get("num_features"))
        if channels:
            side = size or INPUT_SIZES.get(root.kind, DEFAULT_INPUT_SIZE)
            return batch, channels, side, side
    raise InputError.at("no layer says what the input is like", root.span, "expected at least one Conv2d, BatchNorm2d or Linear")


class _Builder:
    """Calls modules one after the other."""

    def __init__(self, wirings: Wirings, arguments: dict[Module, Arguments]) -> None:
        self.wirings = wirings
        self.arguments = arguments
        self.layers: list[Layer] = []
        self.times: dict[str, int] = {}
        self.calls = 0

    def run(self, module: Module, path: str, given: Flow) -> Flow:
        """Call a module at a path of the tree."""
        self.calls += 1
        if self.calls > MAX_CALLS:
            raise InputError.at(f"the network calls more than {MAX_CALLS:,} modules", module.span)
        if module.kind in LAYERS:
            return self._layer(module.kind, path or module.kind.lower(), self.arguments[module], (given,), module.span)
        if module.kind in self.wirings.wirings:
            return self._wired(module, path, given)
        for name, child in module.children.items():
            given = self.run(child, _join(path, name), given)
        return given

    def _wired(self, module: Module, path: str, given: Flow) -> Flow:
        named = {"x": given}
        for step in self.wirings.wirings[module.kind]:
            given = self._step(step, module, path, named)
            named[step.result] = given
        return given

    def _step(self, step: Call | Apply, module: Module, path: str, named: dict[str, Flow]) -> Flow:
        if isinstance(step, Apply):
            operands = tuple(named[name] for name in step.operands)
            if step.unless in module.children:
                return operands[0]
            defaults = {name: parameter.default for name, parameter in LAYERS[step.layer].parameters.items()}
            return self._layer(step.layer, _join(path, step.result), {**defaults, **step.arguments}, operands, module.span)
        flow = named[step.source]
        for word in step.children:
            name = word.rstrip("?")
            if name in module.children:
                flow = self.run(module.children[name], _join(path, name), flow)
        return flow

    def _layer(self, kind: str, path: str, arguments: Arguments, operands: tuple[Flow, ...], span: Span) -> Flow:
        layer = LAYERS[kind]
        try:
            shape = layer.shape(arguments, [operand.shape for operand in operands])
            weights = layer.weights(arguments)
        except LayerError as error:
            raise InputError.at(f"{kind} {path}: {error}", span, self._trail(operands)) from None
        if layer.view:
            return Flow(operands[0].layer, shape)
        return self.add(kind, path, arguments, operands, shape, span, weights)

    def add(
        self,
        kind: str,
        path: str,
        arguments: Arguments,
        operands: Sequence[Flow],
        shape: Shape,
        span: Span,
        weights: dict[str, Shape] | None = None,
    ) -> Flow:
        """Append a layer."""
        times = self.times[path] = self.times.get(path, 0) + 1
        label = path if times == 1 else f"{path}.{times}"
        numbers, shapes = tuple(flow.layer for flow in operands), tuple(flow.shape for flow in operands)
        self.layers.append(Layer(kind, label, path, arguments, numbers, shapes, shape, weights or {}, span))
        return Flow(len(self.layers) - 1, shape)

    def _trail(self, operands: Sequence[Flow]) -> str:
        """Where the operands of a layer come from."""
        sources = [self.layers[flow.layer] for flow in operands]
        return "; ".join(
            f"{layer.label} ({layer.span}) gives [{', '.join(map(str, flow.shape))}]" for layer, flow in zip(sources, operands, strict=True)
        )
