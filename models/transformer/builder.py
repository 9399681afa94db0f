"""``g10c import transformer``: the options of a transformer's training step, checked, and the program they give."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any, ClassVar

from g10c.compiler.options import options_of, to_text
from g10c.compiler.protocols import Importer
from g10c.ir.program import Program
from g10c.ir.values import Time
from g10c.models.transformer.checks import check_options
from g10c.models.transformer.network import HEADS, KIND_DEFAULTS, Architecture, forward
from g10c.models.transformer.optimizer import OPTIMIZERS
from g10c.models.transformer.roofline import BANDWIDTH_EFFICIENCY, COMPUTE_EFFICIENCY, GPUS, LAUNCH_LATENCY, Roofline
from g10c.models.transformer.tape import Tape


def _option(default: Any, text: str) -> Any:
    return field(default=default, metadata={"help": text})


@dataclass(frozen=True)
class TransformerBuilder(Importer):
    """Builds one training step (forward, loss, backward, update) of a transformer, with predicted kernel times.

    With bf16 or f16, weights, activations and gradients have that type and every weight has an f32 master copy beside the
    optimizer's f32 state: 16 bytes per parameter with Adam (Rajbhandari et al., "ZeRO", SC 2020, section 3.1). Loss scaling is left
    out. With tf32, all tensors are f32 and matrix products run on tensor cores.
    """

    name: ClassVar[str] = "transformer"
    summary: ClassVar[str] = "builds a training step of a BERT-style encoder or a GPT-2-style decoder"

    kind: str = _option("encoder", "network: encoder as BERT, or decoder as GPT-2")
    layers: int = _option(12, "number of blocks")
    hidden: int = _option(768, "width of the hidden states; a multiple of heads")
    heads: int = _option(12, "attention heads")
    ffn: int = _option(0, "width of the feed-forward layer; 0 is four times hidden")
    vocab: int = _option(0, "vocabulary; 0 is 30522 for an encoder, 50257 for a decoder")
    positions: int = _option(0, "longest sequence that has position embeddings; 0 is 512 for an encoder, 1024 for a decoder")
    sequence: int = _option(0, "tokens per sample; 0 is 128 for an encoder, 1024 for a decoder")
    batch: int = _option(32, "samples per step")
    head: str = _option("", "pretraining (masked words and next sentence), mlm or classifier; lm for a decoder")
    untied: bool = _option(False, "output projection with a weight of its own, not the token embedding")
    dropout: float = _option(0.1, "probability; 0 leaves the dropout kernels and their masks out")
    attention: str = _option("unfused", "unfused kernels, or one fused kernel each way (FlashAttention-2)")
    dtype: str = _option("f32", "precision: f32, tf32, or mixed with f32 master weights: bf16, f16")
    optimizer: str = _option("adamw", "optimizer: sgd, momentum, adam or adamw")
    update: str = _option("end", "when weights are updated: end of the step, or backward as soon as a gradient is ready")
    gpu: str = _option("a100-40gb", f"GPU whose kernel times are predicted: {', '.join(GPUS)}")
    compute_efficiency: float = _option(0.0, "share of the peak arithmetic rate that kernels reach; 0 is 0.7 for f32, else 0.6")
    bandwidth_efficiency: float = _option(BANDWIDTH_EFFICIENCY, "share of the peak memory bandwidth that kernels reach")
    launch_latency: Time = _option(LAUNCH_LATENCY, "what every kernel takes besides")
    program: str = _option("", "name of the program; by default the kind and its size")

    def load(self) -> Program:
        """Build the step. Raises :class:`~g10c.ir.errors.UsageError` that names every wrong option."""
        check_options(self)
        resolved = self.resolved()
        storage = "f32" if self.dtype == "tf32" else self.dtype
        tape = Tape(storage, resolved._roofline(), OPTIMIZERS[self.optimizer], update_in_backward=self.update == "backward")
        forward(tape, resolved._architecture())
        tape.backward()
        tape.update()
        return tape.program(
            resolved.program, {"batch": self.batch, "source": "builder:transformer", "gpu": self.gpu, "command": resolved.command()}
        )

    def resolved(self) -> TransformerBuilder:
        """The same options with every default that depends on others filled in."""
        defaults = KIND_DEFAULTS[self.kind]
        return replace(
            self,
            vocab=self.vocab or defaults["vocab"],
            positions=self.positions or defaults["positions"],
            sequence=self.sequence or defaults["sequence"],
            ffn=self.ffn or 4 * self.hidden,
            head=self.head or HEADS[self.kind][0],
            compute_efficiency=self.compute_efficiency or COMPUTE_EFFICIENCY[self.dtype],
            launch_latency=Time(self.launch_latency),
            program=self.program or f"{self.kind}_{self.layers}x{self.hidden}",
        )

    def command(self) -> str:
        """The command line that builds the same program, without its output file."""
        words = ["g10c import", self.name]
        for option in options_of(TransformerBuilder):
            value = getattr(self, option.name)
            if option.type is bool:
                words += [option.flag] * value
            elif value != "":
                words.append(f"{option.flag} {to_text(value)}")
        return " ".join(words)

    def _roofline(self) -> Roofline:
        return Roofline(GPUS[self.gpu], self.dtype, self.compute_efficiency, self.bandwidth_efficiency, self.launch_latency)

    def _architecture(self) -> Architecture:
        same = ("kind", "layers", "hidden", "heads", "ffn", "vocab", "positions", "sequence", "batch", "head")
        values = {name: getattr(self, name) for name in same}
        return Architecture(**values, dropout=self.dropout > 0, fused=self.attention == "fused", tied=not self.untied)
