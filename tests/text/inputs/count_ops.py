from dataclasses import dataclass

from g10c.compiler import Pass, option


@dataclass(frozen=True)
class CountOps(Pass):
    """Counts the kernels of a program that take longer than a time."""

    name = "count-ops"
    above: int = option(0, "nanoseconds")

    def run(self, program, context):
        context.count("long kernels", sum(op.time_ns > self.above for op in program.kernels))
        return program


@dataclass(frozen=True)
class Careless(Pass):
    """Reads a tensor that does not exist."""

    name = "careless"

    def run(self, program, context):
        first = program.ops[0]
        return program.with_ops([type(first)(first.name, ("ghost",), first.writes, first.attrs), *program.ops[1:]])


@dataclass(frozen=True)
class Crashing(Pass):
    """Divides by zero."""

    name = "crashing"

    def run(self, program, context):
        return program.with_ops(program.ops[: 1 // 0])


@dataclass(frozen=True)
class Exits(Pass):
    """Ends the process."""

    name = "exits"

    def run(self, program, context):
        raise SystemExit(0)


@dataclass(frozen=True)
class InPlace(Pass):
    """Changes the program that it was given."""

    name = "in-place"

    def run(self, program, context):
        object.__setattr__(program, "tensors", {})
        return program


@dataclass(frozen=True)
class Counts(Pass):
    """Counts what is no number."""

    name = "counts-nan"

    def run(self, program, context):
        context.count("x", float("nan"))
        return program
