"""Training steps of encoder and decoder transformers, built from their dimensions.

:class:`~g10c.models.transformer.builder.TransformerBuilder` holds the options; ``rules`` says of every op what it costs, what
its backward reads and which kernels compute it; ``tape`` records a forward pass and derives the rest of the step from the rules.
"""

from g10c.models.transformer.builder import TransformerBuilder

__all__ = ["TransformerBuilder"]
