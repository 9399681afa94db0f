"""The bundled models: their files, and the commands that made them.

Both are larger than the 40 GiB of an A100 at their batch sizes, so that a step needs a plan; ``g10c import transformer`` builds others.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from g10c.ir.errors import InputError, near_hint

FOLDER = Path(__file__).parent / "bundled"


@dataclass(frozen=True, slots=True)
class BundledModel:
    """A model that comes with g10c. ``options`` are those of ``g10c import``."""

    name: str
    summary: str
    options: str

    @property
    def path(self) -> Path:
        """The model's file."""
        return FOLDER / f"{self.name}.ir"

    @property
    def command(self) -> str:
        """What writes the file anew, run in the project's root."""
        return f"g10c import {self.options} -o models/bundled/{self.name}.ir"


MODELS: dict[str, BundledModel] = {
    model.name: model
    for model in (
        BundledModel(
            "bert-base",
            "BERT-Base uncased, pretraining (masked words, next sentence): 110,106,428 parameters, 109,482,240 without these heads; "
            "f32, 512 sequences of 128 tokens, unfused attention",
            "transformer --kind encoder --batch 512 --program bert_base",
        ),
        BundledModel(
            "gpt2",
            "GPT-2 small: 124,439,808 parameters; bf16 with f32 master weights, 128 sequences of 1024 tokens, fused attention",
            "transformer --kind decoder --batch 128 --dtype bf16 --attention fused --program gpt2",
        ),
    )
}
"""Bundled models by name."""

BUNDLED: dict[str, Path] = {name: model.path for name, model in MODELS.items()}
"""Files of the bundled models by name: what the entry point of the group ``g10c.models`` names."""


def find(name: str) -> BundledModel:
    """A bundled model. Raises :class:`~g10c.ir.errors.InputError` with near names where there is none of that name."""
    model = MODELS.get(name)
    if model is None:
        raise InputError.at(f"unknown model {name!r}", None, near_hint(name, MODELS, "models"))
    return model
