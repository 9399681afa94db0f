"""Checks of the builder's options: every mistake at once, each with the option it is in and what was expected."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from typing import TYPE_CHECKING

from g10c.ir.errors import Diagnostic, UsageError, near_hint
from g10c.ir.names import is_name
from g10c.ir.source import Origin
from g10c.ir.values import Time
from g10c.models.transformer.network import HEADS, KIND_DEFAULTS
from g10c.models.transformer.optimizer import OPTIMIZERS
from g10c.models.transformer.roofline import GPUS

if TYPE_CHECKING:
    from g10c.models.transformer.builder import TransformerBuilder

WORDS: dict[str, Collection[str]] = {
    "kind": HEADS,
    "attention": ("unfused", "fused"),
    "dtype": ("f32", "tf32", "bf16", "f16"),
    "optimizer": OPTIMIZERS,
    "update": ("end", "backward"),
    "gpu": GPUS,
}
"""What options that are words may be."""

LIMITS = {
    "layers": 4096,
    "hidden": 1 << 20,
    "heads": 1 << 20,
    "ffn": 1 << 24,
    "vocab": 1 << 28,
    "positions": 1 << 24,
    "sequence": 1 << 24,
    "batch": 1 << 24,
}
"""Largest values of numbers: far above any published network, so that a slip is refused."""

MIN_EFFICIENCY = 0.001
MAX_LATENCY = Time(1_000_000_000)
MAX_WORK = 1 << 60
"""Bound on the operations of a step's largest kernels, so that its time in nanoseconds stays below 2^63 at any efficiency."""

OPTIONAL = frozenset({"ffn", "vocab", "positions", "sequence"})
"""Numbers for which 0 stands for a default."""


def check_options(options: TransformerBuilder) -> None:
    """Raises :class:`~g10c.ir.errors.UsageError` with every wrong option."""
    mistakes = [*_words(options), *_numbers(options), *_shares(options)]
    if not mistakes:
        mistakes += _sizes(options)
    if mistakes:
        raise UsageError(mistakes)


def _mistake(option: str, message: str, hint: str = "") -> Diagnostic:
    return Diagnostic(message, Origin("--" + option.replace("_", "-")), hint)


def _words(options: TransformerBuilder) -> Iterator[Diagnostic]:
    for option, known in WORDS.items():
        word = getattr(options, option)
        if word not in known:
            yield _mistake(option, f"unknown {option} {word!r}", near_hint(word, known, f"values of --{option}"))
    if options.kind in HEADS and options.head and options.head not in HEADS[options.kind]:
        known = HEADS[options.kind]
        yield _mistake(
            "head", f"a network of kind {options.kind} has no head {options.head!r}", near_hint(options.head, known, "heads of it")
        )
    if options.untied and options.head == "classifier":
        yield _mistake("untied", "a classifier has no output projection over the vocabulary", "leave --untied out")
    gpu = GPUS.get(options.gpu)
    if gpu and options.dtype in WORDS["dtype"] and options.dtype not in gpu.matrix_flops:
        yield _mistake("dtype", f"{gpu.name} does not compute in {options.dtype}", f"it computes in {', '.join(gpu.matrix_flops)}")
    if options.program and not is_name(options.program):
        hint = "letters, digits and '_', and '.', '-', '/', ':' inside"
        yield _mistake("program", f"{options.program!r} is not a name", hint)


def _numbers(options: TransformerBuilder) -> Iterator[Diagnostic]:
    for option, limit in LIMITS.items():
        number = getattr(options, option)
        least = 0 if option in OPTIONAL else 1
        if not least <= number <= limit:
            yield _mistake(option, f"{number} is not between {least} and {limit}")
    if min(options.heads, options.hidden) >= 1 and options.hidden % options.heads:
        near = sorted({options.hidden // options.heads * options.heads, -(-options.hidden // options.heads) * options.heads} - {0})
        hint = f"each head has hidden / heads columns; with {options.heads} heads, hidden could be {' or '.join(map(str, near))}"
        yield _mistake("heads", f"hidden width {options.hidden} is not a multiple of {options.heads} heads", hint)
    if options.kind in KIND_DEFAULTS:
        defaults = KIND_DEFAULTS[options.kind]
        sequence, positions = options.sequence or defaults["sequence"], options.positions or defaults["positions"]
        if sequence > positions:
            message = f"sequences of {sequence} tokens, but position embeddings for {positions} only"
            yield _mistake("sequence", message, f"give --positions {sequence}, or shorter sequences")


def _shares(options: TransformerBuilder) -> Iterator[Diagnostic]:
    if not 0 <= options.dropout < 1:
        yield _mistake("dropout", f"{options.dropout} is not a probability of at least 0 and below 1")
    for option in ("compute_efficiency", "bandwidth_efficiency"):
        share = getattr(options, option)
        if not MIN_EFFICIENCY <= share <= 1 and not (option == "compute_efficiency" and share == 0):
            yield _mistake(option, f"{share} is not a share between {MIN_EFFICIENCY} and 1")
    if not 0 <= options.launch_latency <= MAX_LATENCY:
        yield _mistake("launch_latency", f"{Time(options.launch_latency)!r} is not between {Time(0)!r} and {MAX_LATENCY!r}")


def _sizes(options: TransformerBuilder) -> Iterator[Diagnostic]:
    full = options.resolved()
    tokens = full.batch * full.sequence
    products = 2 * full.hidden * max(full.ffn, 3 * full.hidden) + 10 * full.hidden * full.sequence
    scores = 0 if full.attention == "fused" else 8 * full.heads * full.sequence
    if tokens * (full.layers * (products + scores) + 2 * full.hidden * full.vocab) > MAX_WORK:
        message = "the largest kernels of all layers have more than 2^60 operations or bytes"
        yield _mistake("batch", message, "make the batch, the sequence or the width smaller")
