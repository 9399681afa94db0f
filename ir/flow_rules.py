"""Rules on a program as a whole: the flow of data through tensors, directives, places on the mesh, levels."""

from __future__ import annotations

from collections.abc import Iterator

from g10c.ir.errors import Diagnostic
from g10c.ir.mesh import Mesh, MeshError
from g10c.ir.ops import OpKind
from g10c.ir.program import Level, Op, Role, Tensor
from g10c.ir.rule import Rule, Subject, at_operand, at_tensor, at_value
from g10c.ir.source import Location, Span
from g10c.ir.values import Ident, Range, Size, format_size


class _Places:
    """The ranks of ops as bit masks; a place that the mesh does not have counts as all ranks, since its own rule names it."""

    def __init__(self, subject: Subject) -> None:
        try:
            self._mesh = Mesh.of(subject.program)
        except MeshError:
            self._mesh = Mesh({})
        self.all = (1 << self._mesh.size) - 1
        self._masks: dict[str, int] = {}

    def mask(self, op: Op) -> int:
        place = op.attrs.get("on")
        if place is None:
            return self.all
        text = str(place)
        if text not in self._masks:
            try:
                self._masks[text] = sum(1 << rank for rank in self._mesh.ranks(text))
            except MeshError:
                self._masks[text] = self.all
        return self._masks[text]


_THERE_AT_START = frozenset({Role.WEIGHT, Role.OPTIMIZER, Role.INPUT})


def _written_before_read(subject: Subject) -> Iterator[Diagnostic]:
    places, tensors = _Places(subject), subject.program.tensors
    present = {name: places.all if tensor.role in _THERE_AT_START else 0 for name, tensor in tensors.items()}
    freed: dict[str, Op] = {}
    for op in subject.program.ops:
        mask = places.mask(op)
        if op.kind is OpKind.DIRECTIVE:
            if op.name == "free":
                for name in op.reads:
                    present[name] = present.get(name, 0) & ~mask
                    freed[name] = op
            continue
        for name in op.reads:
            if present.get(name, mask) & mask != mask:
                yield _unwritten(op, tensors[name], freed.get(name), present[name])
                present[name] |= mask
        for name in op.writes:
            present[name] = present.get(name, 0) | mask


def _unwritten(op: Op, tensor: Tensor, freed: Op | None, present: int) -> Diagnostic:
    where = at_operand(op, tensor.name)
    if freed is not None:
        return Diagnostic(f"{op.name} reads %{tensor.name} after it was freed{_line(freed.location)}", where, "free it behind its last use")
    if present:
        return Diagnostic(f"{op.name} reads %{tensor.name} on ranks where nothing has written it", where, "send it there, or recv it first")
    if tensor.name in op.writes:
        hint = "start an accumulator with zero(), or with an op that only writes it"
    else:
        hint = "weight, optimizer and input are the roles of tensors that are there at the start of the step"
    return Diagnostic(f"{op.name} reads the {tensor.role} %{tensor.name} before anything has written it", where, hint)


def _line(location: Location | None) -> str:
    return f" in line {location.line}" if isinstance(location, Span) else ""


def _persistent_kept(subject: Subject) -> Iterator[Diagnostic]:
    places, tensors = _Places(subject), subject.program.tensors
    lost: dict[str, tuple[int, Op]] = {}
    for op in subject.program.ops:
        if op.name == "free":
            for name in op.reads:
                if name in tensors and tensors[name].persistent:
                    lost[name] = lost.get(name, (0, op))[0] | places.mask(op), op
        elif lost:
            for name in op.writes:
                if name in lost:
                    lost[name] = lost[name][0] & ~places.mask(op), lost[name][1]
    for name, (mask, op) in lost.items():
        if mask:
            message = f"the {tensors[name].role} %{name} is freed, and the next step needs it"
            yield Diagnostic(message, at_tensor(op.location, name), "evict it to make room")


def _directive_ranges(subject: Subject) -> Iterator[Diagnostic]:
    for op in subject.program.ops:
        span = op.attrs.get("range")
        if isinstance(span, Range) and op.kind is OpKind.DIRECTIVE and op.reads:
            tensor = subject.program.tensors.get(op.reads[0])
            message = _range_mistake(span, tensor)
            if message:
                yield Diagnostic(f"{op.name} of %{op.reads[0]}: {message}", at_value(op.location, "range"))


def _range_mistake(span: Range, tensor: Tensor | None) -> str:
    if type(span.start) is not Size or type(span.end) is not Size:
        return f"expected bytes with units, such as {format_size(span.start)}..{format_size(span.end)}, found {span}"
    if not 0 <= span.start < span.end:
        return f"expected a start of 0B or more below the end, found {span}"
    if tensor is not None and span.end > tensor.size_bytes:
        return f"the range {span} ends behind the tensor's {format_size(tensor.size_bytes)}"
    return ""


def _inactive(subject: Subject) -> Iterator[Diagnostic]:
    count = len(subject.program.kernels)
    for tensor in subject.program.tensors.values():
        periods = tensor.attrs.get("inactive")
        for period in periods if isinstance(periods, tuple) else ():
            if not isinstance(period, Range) or type(period.start) is not int:
                problem = f"expected ranges of kernel numbers, such as 3..7, found {period!s}"
            elif not (0 <= period.start <= count and 0 <= period.end <= count):
                problem = f"{period} goes beyond the {count} kernels"
            elif period.start == period.end:
                problem = f"{period} holds no kernel"
            else:
                continue
            yield Diagnostic(f"inactive periods of %{tensor.name}: {problem}", at_value(tensor.location, "inactive"))


def _mesh(subject: Subject) -> Iterator[Diagnostic]:
    try:
        Mesh.of(subject.program)
    except MeshError as error:
        yield Diagnostic(str(error), at_value(subject.program.location, "mesh"), error.hint)


def _ranks(subject: Subject) -> Iterator[Diagnostic]:
    try:
        mesh = Mesh.of(subject.program)
    except MeshError:
        return  # the rule on the mesh
    checked: dict[tuple[str, str], MeshError | None] = {}
    for op in subject.program.ops:
        if op.attrs:
            for key in ("on", "to", "from", "over"):
                value = op.attrs.get(key)
                if value is not None and type(value) is (Ident if key == "over" else str):
                    known = (key, str(value))
                    if known not in checked:
                        checked[known] = _place_mistake(mesh, *known)
                    error = checked[known]
                    if error:
                        yield Diagnostic(f"{key!r} of {op.name}: {error}", at_value(op.location, key), error.hint)


def _place_mistake(mesh: Mesh, key: str, value: str) -> MeshError | None:
    try:
        if key == "over":
            mesh.require_axis(value)
        else:
            mesh.place(value)
    except MeshError as error:
        return error
    return None


def _exchange(subject: Subject) -> Iterator[Diagnostic]:
    for op in subject.program.ops:
        if op.name == "send" or op.name == "recv":
            key = "to" if op.name == "send" else "from"
            other = op.attrs.get(key)
            if other is not None and other == op.attrs.get("on"):
                yield Diagnostic(f"{op.name} between {other!r} and itself", at_value(op.location, key))


def _kinds(subject: Subject) -> Iterator[Diagnostic]:
    program, level = subject.program, subject.level
    if level is Level.TRACED and "mesh" in program.attrs:
        yield Diagnostic("a traced program has no mesh", at_value(program.location, "mesh"))
    for op in program.ops:
        if op.kind is not OpKind.KERNEL and (level is Level.TRACED or op.kind is OpKind.DIRECTIVE):
            yield Diagnostic(f"a {level} program holds no {op.kind}, found {op.name}", op.location)


BELOW_PLANNED = frozenset({Level.TRACED, Level.PARTITIONED})
MESHED = frozenset({Level.PARTITIONED, Level.PLANNED})
PLANNED = frozenset({Level.PLANNED})

FLOW_RULES = (
    Rule("level", "A traced program holds kernels only, a partitioned one kernels and collectives.", _kinds, BELOW_PLANNED),
    Rule(
        "written-before-read",
        "What a kernel or collective reads was written or was there at the start, on its ranks, and not freed since.",
        _written_before_read,
    ),
    Rule("persistent-kept", "A weight or optimizer state that is freed is written again before the step ends.", _persistent_kept, PLANNED),
    Rule(
        "directive-range",
        "A directive's byte range has sizes for ends, holds at least a byte and lies inside its tensor.",
        _directive_ranges,
        PLANNED,
    ),
    Rule("inactive-period", "Inactive periods are ranges of kernel numbers of the program that are not empty.", _inactive),
    Rule("mesh", "The mesh is a list of axes, each with its number of ranks.", _mesh),
    Rule("rank", "Places name ranks of the mesh, and a collective runs over one of its axes.", _ranks),
    Rule("exchange", "Ranks send to and receive from others.", _exchange, MESHED),
)
"""What holds for a program as a whole, by level."""
