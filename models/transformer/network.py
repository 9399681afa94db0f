"""Forward passes: BERT-style encoders and GPT-2-style decoders.

Names follow the published models: blocks ``h0``, ``h1``, ... with ``attn`` and ``mlp``. Activations keep the batch as their first
dimension; weights of linear layers are [out, in].
"""

from __future__ import annotations

from dataclasses import dataclass

from g10c.models.transformer.rules import Value
from g10c.models.transformer.tape import Tape

HEADS = {"encoder": ("pretraining", "mlm", "classifier"), "decoder": ("lm",)}
"""Heads of each kind of network, the default first."""

KIND_DEFAULTS = {
    "encoder": {"vocab": 30522, "positions": 512, "sequence": 128},
    "decoder": {"vocab": 50257, "positions": 1024, "sequence": 1024},
}
"""Numbers of BERT (uncased; the sequences of its first phase of training) and of GPT-2."""

CLASSES = 2
"""Classes of next-sentence prediction and of the classifier."""


@dataclass(frozen=True, slots=True)
class Architecture:
    """A network and the batch it is trained on; all numbers are positive.

    ``dropout``: whether there are dropout kernels. ``fused``: whether attention is one kernel.
    ``tied``: whether the output projection is the token embedding.
    """

    kind: str
    layers: int
    hidden: int
    heads: int
    ffn: int
    vocab: int
    positions: int
    sequence: int
    batch: int
    head: str
    dropout: bool
    fused: bool
    tied: bool


def forward(tape: Tape, arch: Architecture) -> None:
    """Record the forward pass and the loss of a network."""
    (_encoder if arch.kind == "encoder" else _decoder)(tape, arch)


def _encoder(tape: Tape, arch: Architecture) -> None:
    """BERT (Devlin et al., NAACL 2019): layer normalisation after each residual sum."""
    tape.layer = "embed"
    words = tape.weight("embed.word.w", arch.vocab, arch.hidden)
    mask = tape.input("mask", arch.batch, arch.sequence, dtype=tape.dtype)
    x = _encoder_embedding(tape, arch, words)
    for number in range(arch.layers):
        tape.layer = f"h{number}"
        name = tape.layer
        query, key, value = (_linear(tape, f"{name}.attn.{part}", x, arch.hidden) for part in "qkv")
        context = _attention(tape, arch, f"{name}.attn", query, key, value, mask)
        out = _dropout(tape, arch, _linear(tape, f"{name}.attn.out", context, arch.hidden))
        x = _layer_norm(tape, f"{name}.ln1", tape.apply("add", f"{name}.attn.sum", x, out))
        x = _layer_norm(tape, f"{name}.ln2", tape.apply("add", f"{name}.mlp.sum", x, _mlp(tape, arch, x)))
    losses = []
    if arch.head != "classifier":
        losses.append(_masked_language_model(tape, arch, x, words))
    if arch.head != "mlm":
        losses.append(_sequence_classes(tape, arch, x))
    if len(losses) == 2:
        tape.layer, tape.phase = "loss", "loss"
        tape.apply("add", "loss", *losses)


def _encoder_embedding(tape: Tape, arch: Architecture, words: Value) -> Value:
    ids = tape.input("ids", arch.batch, arch.sequence)
    segments = tape.input("segments", arch.batch, arch.sequence)
    x = tape.apply("gather", "embed.word", words, ids)
    x = tape.apply("add", "embed.sum1", x, tape.apply("gather", "embed.type", tape.weight("embed.type.w", 2, arch.hidden), segments))
    x = tape.apply("add", "embed.sum2", x, _positions(tape, arch))
    return _dropout(tape, arch, _layer_norm(tape, "embed.ln", x), "embed.drop")


def _masked_language_model(tape: Tape, arch: Architecture, x: Value, words: Value) -> Value:
    """Logits and loss at every position, as in PyTorch implementations; unmasked positions have a label that the loss ignores."""
    tape.layer = "mlm"
    labels = tape.input("mlm.labels", arch.batch, arch.sequence)
    x = tape.apply("gelu", "mlm.gelu", _linear(tape, "mlm.dense", x, arch.hidden))
    x = _layer_norm(tape, "mlm.ln", x)
    table = words if arch.tied else tape.weight("mlm.decoder.w", arch.vocab, arch.hidden)
    logits = tape.apply("linear", "mlm.logits", x, table, tape.weight("mlm.decoder.b", arch.vocab))
    return _loss(tape, logits, labels)


def _sequence_classes(tape: Tape, arch: Architecture, x: Value) -> Value:
    """Next-sentence prediction or a classifier from the first token, through the pooler."""
    tape.layer = "pooler"
    first = tape.apply("first_token", "pooler.first", x)
    pooled = tape.apply("tanh", "pooler.tanh", _linear(tape, "pooler.dense", first, arch.hidden))
    tape.layer = name = "nsp" if arch.head == "pretraining" else "classifier"
    labels = tape.input(f"{name}.labels", arch.batch)
    return _loss(tape, _linear(tape, f"{name}.logits", pooled, CLASSES), labels)


def _decoder(tape: Tape, arch: Architecture) -> None:
    """GPT-2 (Radford et al., 2019): layer normalisation before each sublayer and at the end, one projection to query, key and value."""
    tape.layer = "embed"
    words = tape.weight("embed.word.w", arch.vocab, arch.hidden)
    ids = tape.input("ids", arch.batch, arch.sequence)
    x = tape.apply("add", "embed.sum", tape.apply("gather", "embed.word", words, ids), _positions(tape, arch))
    x = _dropout(tape, arch, x, "embed.drop")
    for number in range(arch.layers):
        tape.layer = f"h{number}"
        name = tape.layer
        projected = _linear(tape, f"{name}.attn.qkv", _layer_norm(tape, f"{name}.ln1", x), 3 * arch.hidden)
        query, key, value = tape.call("split", f"{name}.attn", {"x": projected}, dims={"parts": 3})
        context = _attention(tape, arch, f"{name}.attn", query, key, value, None)
        out = _dropout(tape, arch, _linear(tape, f"{name}.attn.out", context, arch.hidden))
        x = tape.apply("add", f"{name}.attn.sum", x, out)
        x = tape.apply("add", f"{name}.mlp.sum", x, _mlp(tape, arch, _layer_norm(tape, f"{name}.ln2", x)))
    tape.layer = "lm"
    x = _layer_norm(tape, "lm.ln", x)
    table = words if arch.tied else tape.weight("lm.decoder.w", arch.vocab, arch.hidden)
    logits = tape.apply("linear", "lm.logits", x, table)
    _loss(tape, logits, tape.input("lm.labels", arch.batch, arch.sequence))


def _positions(tape: Tape, arch: Architecture) -> Value:
    """Position embeddings [sequence, hidden], looked up once for the whole batch."""
    table = tape.weight("embed.pos.w", arch.positions, arch.hidden)
    return tape.apply("gather", "embed.pos", table, tape.input("positions", arch.sequence))


def _attention(tape: Tape, arch: Architecture, name: str, query: Value, key: Value, value: Value, mask: Value | None) -> Value:
    """Scaled dot-product attention of all heads; without a mask it is causal.

    Products of batches of matrices address the heads by strides, so no data is moved between them.
    """
    if arch.fused:
        return tape.apply("attention", f"{name}.ctx", query, key, value, mask, heads=arch.heads, causal=int(mask is None))
    square = (arch.batch, arch.heads, arch.sequence, arch.sequence)
    score = tape.apply("matmul", f"{name}.score", query, key, shape=square, inner=arch.hidden // arch.heads)
    prob = _dropout(tape, arch, tape.apply("softmax", f"{name}.prob", score, mask))
    return tape.apply("matmul", f"{name}.ctx", prob, value, shape=query.shape, inner=arch.sequence)


def _mlp(tape: Tape, arch: Architecture, x: Value) -> Value:
    name = f"{tape.layer}.mlp"
    x = tape.apply("gelu", f"{name}.gelu", _linear(tape, f"{name}.up", x, arch.ffn))
    return _dropout(tape, arch, _linear(tape, f"{name}.down", x, arch.hidden))


def _linear(tape: Tape, name: str, x: Value, width: int) -> Value:
    weight = tape.weight(f"{name}.w", width, x.shape[-1])
    return tape.apply("linear", name, x, weight, tape.weight(f"{name}.b", width))


def _layer_norm(tape: Tape, name: str, x: Value) -> Value:
    return tape.apply("layer_norm", name, x, tape.weight(f"{name}.w", x.shape[-1]), tape.weight(f"{name}.b", x.shape[-1]))


def _dropout(tape: Tape, arch: Architecture, x: Value, name: str = "") -> Value:
    return tape.apply("dropout", name or f"{x.name}.drop", x) if arch.dropout else x


def _loss(tape: Tape, logits: Value, labels: Value) -> Value:
    tape.phase = "loss"
    loss = tape.apply("cross_entropy", tape.layer, logits, labels)
    tape.phase = "forward"
    return loss
