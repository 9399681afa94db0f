"""The artifact's names of kernels."""

from __future__ import annotations

from functools import cache

from g10c.ir.program import Op
from g10c.models.g10 import layer_rules, rules
from g10c.models.g10.rule_form import ACCUMULATE, LOSS


@cache
def default_artifact_names() -> dict[str, str]:
    """The artifact's kernel name for each op name; where it has several, the first in the tables.

    One to one, but for ``multiply.backward_a`` and ``_b``, and ``matmul.backward_a`` and ``_b``, which the artifact does not tell apart,
    and for ``apply_grad`` and ``avg_pool2d``, of which it tells several kinds apart.
    """
    names: dict[str, str] = {LOSS.op: LOSS.artifact, ACCUMULATE.op: ACCUMULATE.artifact}
    for table in (rules.RULES, layer_rules.ARTIFACT, layer_rules.PYTORCH):
        for rule in table.values():
            for kernel in rule.kernels:
                names.setdefault(kernel.op, kernel.artifact)
    return names


def artifact_name(op: Op) -> str:
    """What the artifact calls a kernel of an imported program; the attribute ``kernel`` has it where the op's name does not decide it."""
    kernel = op.attrs.get("kernel")
    return default_artifact_names().get(op.name, op.name) if kernel is None else str(kernel)
