"""The Python API: :func:`load`, :func:`compile` and :func:`simulate`. Nothing here prints or exits."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from g10c.compiler.registry import Registry, library, load_python_file, registry
from g10c.ir.errors import InputError, near_hint
from g10c.ir.plan import Plan, Provenance, load_plan
from g10c.ir.program import Level, Program

if TYPE_CHECKING:
    from g10c.compiler.observers import Observer
    from g10c.compiler.pass_base import Pass, PassContext
    from g10c.compiler.protocols import Backend, Evaluator
    from g10c.compiler.rewriting.log import RewriteLog
    from g10c.ir.machine import Machine
    from g10c.ir.result import SimResult

DEFAULT_MACHINE = "a100-40gb"
"""The machine of a compilation or simulation that names none."""


def load(model: str | Path) -> Program | Plan:
    """Read a model or a plan: a path to ``.ir`` text or to a ``plan.json``, or the name of a bundled model.

    Raises :class:`InputError` with every mistake of the file, each with its place.
    """
    path = find_model(model)
    if path.suffix == ".json" or (path.suffix != ".ir" and _looks_like_json(path)):
        return load_plan(path)
    from g10c.ir.parser import load_program
    from g10c.ir.verifier import check_program

    program = load_program(path)
    check_program(program)
    return program


def _looks_like_json(path: Path) -> bool:
    try:
        with path.open("rb") as stream:
            return stream.read(64).lstrip().startswith(b"{")
    except OSError:
        return False


def _is_path(name: str | Path) -> bool:
    """Whether a word means a file, not the name of something bundled."""
    path = Path(name)
    return bool(path.suffix) or len(path.parts) > 1 or os.path.exists(path)


def find_model(model: str | Path) -> Path:
    """The file that a path or the name of a bundled model means."""
    if _is_path(model):
        return Path(model)
    models = library("g10c.models")
    name = str(model)
    if name not in models:
        hint = near_hint(name, models, "bundled models") or "give a path to an .ir file, or a name that 'g10c models' shows"
        raise InputError.at(f"{name}: no such file, and no bundled model of that name", None, hint)
    return models.find(name)


def find_machine(machine: str | Path | Machine | None = None, settings: Iterable[str] = ()) -> Machine:
    """A machine by name, by TOML file, or as given, with ``key=value`` settings applied in order."""
    from g10c.ir.machine import Machine as MachineType
    from g10c.ir.machine_file import load_machine, override

    if machine is None:
        machine = DEFAULT_MACHINE
    if isinstance(machine, MachineType):
        found = machine
    else:
        machines = library("g10c.machines")
        if _is_path(machine):
            found = load_machine(Path(machine))
        elif str(machine) in machines:
            found = load_machine(machines.find(str(machine)))
        else:
            hint = near_hint(str(machine), machines, "bundled machines") or "give a TOML file, or a name that 'g10c machines' shows"
            raise InputError.at(f"{machine}: no such file, and no bundled machine of that name", None, hint)
    return override(found, *([settings] if isinstance(settings, str) else settings))


def pass_registry(files: Sequence[str | Path] = ()) -> Registry[type[Pass]]:
    """Passes of the installed packages, and of the Python files given, which may also hold policies and functions for rules."""
    from g10c.compiler.pass_base import Pass as PassType
    from g10c.compiler.pass_check import check_entry, check_file_pass
    from g10c.compiler.policies import policies_of
    from g10c.compiler.rules.functions import rule_functions_of

    installed = registry("g10c.passes")
    if not files:
        return cast("Registry[type[Pass]]", installed)
    found: Registry[Any] = Registry("pass", check_entry)
    found.copy_from(installed)
    for file in dict.fromkeys(str(file) for file in files):
        module = load_python_file(str(file))
        own = [value for value in vars(module).values() if isinstance(value, type) and value.__module__ == module.__name__]
        passes = [value for value in own if issubclass(value, PassType) and "name" in vars(value)]
        if not passes and not rule_functions_of(module) and not policies_of(file):
            hint = "a pass is a dataclass derived from g10c.compiler.Pass with a class attribute `name`"
            raise InputError.at(f"{file}: defines no pass, no policy and no rule function", None, hint)
        for value in passes:
            check_file_pass(value, file)
            found.add(value.name, value, f"file {file}")
    return found


@dataclass
class CompileOptions:
    """How to run a pipeline, beyond what it is."""

    load: Sequence[str | Path] = ()
    """Python files that define passes, policies or functions for rules."""
    observers: Sequence[Observer] = ()
    """Are told what the pipeline does."""
    verify: bool = True
    """Whether the program is verified after every pass."""
    rewrite_log: RewriteLog | None = None
    """Where rules write what they do and nearly do; nowhere when ``None``."""
    reproducer: str | None = None
    """Where a failing pass leaves the program it was given; nowhere when ``None``."""


def compile(  # noqa: A001 - the verb of this field; callers use it through the package
    model: Program | Plan | str | Path,
    passes: str | Sequence[Pass] = "",
    machine: str | Path | Machine | None = None,
    settings: Iterable[str] = (),
    options: CompileOptions | None = None,
) -> Plan:
    """Run passes over a model for a machine and return the plan.

    ``passes`` is pipeline text or pass objects. A plan is compiled further on its own machine unless another is given.
    Raises :class:`InputError` for mistakes in the model, the machine or the pipeline, and
    :class:`~g10c.ir.errors.InfeasibleError` where the step cannot be made to fit.
    """
    from g10c.compiler.pass_base import PassContext
    from g10c.compiler.pipeline import build_passes, parse_pipeline, pipeline_text

    options = options or CompileOptions()
    pipeline = build_passes(parse_pipeline(passes), pass_registry(options.load)) if isinstance(passes, str) else list(passes)
    name = str(model) if isinstance(model, str | Path) else ""
    loaded = _loaded(model)
    program, earlier = (loaded.program, loaded) if isinstance(loaded, Plan) else (loaded, None)
    target = machine_for(loaded, machine, settings)
    context = PassContext(
        target,
        find_evaluator=lambda: find_evaluator(options.load),
        find_rule_functions=lambda: _rule_functions(options.load),
        rewrite_log=options.rewrite_log,
        load=tuple(options.load),
    )
    program = _run(program, pipeline, context, options)
    notes = [*context.notes, *kernel_time_notes(program, target)]
    text = pipeline_text(pipeline)
    if earlier and earlier.pipeline:
        text = ",".join(part for part in (earlier.pipeline, text) if part)
    return Plan(
        program,
        target,
        text,
        _provenance(name, earlier),
        estimate_ns=_time(program, "estimated_time"),
        bound_ns=_time(program, "bound_time"),
        statistics={**context.totals, "notes": notes} if notes else dict(context.totals),
    )


def _run(program: Program, passes: Sequence[Pass], context: PassContext, options: CompileOptions) -> Program:
    """Run the passes; where one fails, the error tells of the file that reproduces it."""
    from g10c.compiler.observers import Reproducer
    from g10c.compiler.pass_manager import PassError, run_passes

    if options.reproducer is None:
        return run_passes(program, passes, context, options.observers, options.verify)
    reproducer = Reproducer(options.reproducer, context.machine, tuple(str(file) for file in options.load))
    try:
        return run_passes(program, passes, context, [*options.observers, reproducer], options.verify)
    except PassError as error:
        if reproducer.command:
            error.add_note(f"  to see it again: {reproducer.command}")
        raise


def _rule_functions(files: Sequence[str | Path]) -> Mapping[str, Callable[..., Any]]:
    from g10c.compiler.rules.functions import find_rule_functions

    return find_rule_functions(files)


def _time(program: Program, name: str) -> int | None:
    value = program.attrs.get(name)
    return int(value) if isinstance(value, int) else None


def _provenance(name: str, earlier: Plan | None) -> Provenance:
    if earlier is not None:
        return earlier.provenance
    digest = ""
    if name:
        import hashlib

        path = find_model(name)
        digest = hashlib.sha256(path.read_bytes()).hexdigest() if path.is_file() else ""
    return Provenance(version(), name, digest)


def version() -> str:
    """Version of the installed package."""
    from importlib.metadata import version as installed

    return installed("g10c")


def find_backend(name: str) -> Backend:
    """A backend by name, made ready to run."""
    return cast("type[Backend]", registry("g10c.backends").find(name))()


@dataclass(frozen=True)
class SimulatorEvaluator:
    """The simulator as an evaluator for passes."""

    backend: Backend
    load: Sequence[str | Path] = ()
    """Python files that define policies."""

    def evaluate(self, program: Program, machine: Machine) -> SimResult:
        """Simulate with the backend's defaults."""
        return self.backend.run(program, machine, {"load": self.load} if self.load else {})


def find_evaluator(files: Sequence[str | Path] = ()) -> Evaluator:
    """The evaluator that passes ask: the simulator found through the registry. ``files`` are Python files that define policies."""
    return SimulatorEvaluator(find_backend("sim"), tuple(files))


def simulate(
    model: Program | Plan | str | Path,
    machine: str | Path | Machine | None = None,
    settings: Iterable[str] = (),
    options: Mapping[str, object] | None = None,
) -> SimResult:
    """Execute a model or plan and return its timing.

    A plan runs on its own machine unless another is given (the result's notes say so). ``options``: ``ideal`` (unlimited
    memory), ``steps`` (simulated; the last is reported), ``timeline`` (keep copies and memory samples), ``load`` (Python files that
    define policies).
    Raises :class:`~g10c.ir.errors.InfeasibleError` with the reason where it cannot run.
    """
    import dataclasses

    from g10c.ir.machine_file import machine_changes

    loaded = _loaded(model)
    target = machine_for(loaded, machine, settings)
    program = loaded.program if isinstance(loaded, Plan) else loaded
    result = find_backend("sim").run(program, target, options or {})
    changes = machine_changes(loaded.machine, target) if isinstance(loaded, Plan) else []
    notes = [*_machine_notes(loaded, target, changes, machine is None), *kernel_time_notes(program, target), *result.notes]
    bound_ns = None if changes else result.bound_time_ns  # a bound holds on the machine it was proven for
    return dataclasses.replace(result, bound_time_ns=bound_ns, notes=tuple(dict.fromkeys(notes)))


def _machine_notes(loaded: Program | Plan, target: Machine, changes: Sequence[str], is_default: bool) -> Iterator[str]:
    """What to know of the machine: its ``changes`` from the plan's or from the bundled one of its name, or that it is a guess."""
    from g10c.ir.machine_file import machine_changes

    if isinstance(loaded, Plan):
        yield from loaded.notes if not changes else [f"the plan was made for {loaded.machine.name}; here {', '.join(changes)}"]
    elif is_default and loaded.level is Level.PLANNED:
        yield f"an .ir file does not say for which machine it was planned; simulated on {target.name}"
    machines = library("g10c.machines")
    if target.name in machines and not changes:
        own = machine_changes(find_machine(target.name), target)
        yield from [f"{target.name} changed: {', '.join(own)}"] if own else []
    if target.gpu.count > 1:
        yield f"{target.name} has {target.gpu.count} GPUs; one is simulated"


def kernel_time_notes(program: Program, machine: Machine) -> list[str]:
    """A note where kernel times are those of another GPU: they do not change with the machine."""
    gpu = program.attrs.get("gpu")
    if gpu is None or str(gpu) in (machine.name, machine.gpu.name):
        return []
    return [f"kernel times of {program.name} are those of {gpu}, not of {machine.name}: build the model for its GPU to change them"]


def machine_for(loaded: Program | Plan, machine: str | Path | Machine | None = None, settings: Iterable[str] = ()) -> Machine:
    """The machine that a model or plan runs on: the one given, else the plan's own, else the default; with settings applied."""
    if machine is None and isinstance(loaded, Plan):
        machine = loaded.machine
    return find_machine(machine, settings)


def _loaded(model: Program | Plan | str | Path) -> Program | Plan:
    """Read a model by name or path; a program made in Python is verified, as :func:`load` does with files."""
    if isinstance(model, str | Path):
        return load(model)
    if isinstance(model, Program):
        from g10c.ir.verifier import check_program

        check_program(model)
    return model
