"""Mistakes in rules, each with its place, what was expected and what to do: the cases of ``mistakes.txt``.

A case is a piece of text and below it its mistakes as ``! line:column message | hint``. What is around the piece, ``CONTEXTS`` says;
``--update-golden`` writes the mistakes anew.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from rules.rule_texts import errors, rule

CASES = Path(__file__).with_name("mistakes.txt")
RELU = "@a: %y = relu.forward(%x) {time = $t}"
TWO = "@a: %y = relu.forward(%x)\n@b: %z = gelu.forward(%y)"
CONTEXTS: dict[str, Callable[[str], str]] = {
    "file": lambda text: text + "\n",
    "match": lambda text: rule(text, rewrite="nothing"),
    "where": lambda text: rule(RELU, text),
    "rewrite": lambda text: rule(RELU, rewrite=text),
    "rewrite of two": lambda text: rule(TWO, rewrite=text),
}
"""What makes a file of a piece: by itself, or as a section of a rule, which stands in line 2 or below."""


def blocks() -> Iterator[tuple[str, str, list[str]]]:
    """Context, piece and mistakes of each case."""
    context = ""
    for block in CASES.read_text(encoding="utf-8").strip().split("\n\n"):
        lines = block.split("\n")
        if lines[0].startswith("# "):
            context = lines[0][2:]
            continue
        yield context, "\n".join(line for line in lines if not line.startswith("! ")), [line[2:] for line in lines if line.startswith("! ")]


@pytest.mark.parametrize(("context", "piece", "expected"), list(blocks()))
def test_mistakes(context, piece, expected):
    assert expected, "a case has a mistake"
    assert errors(CONTEXTS[context](piece)) == expected


def test_update(request):
    if not request.config.getoption("--update-golden"):
        return
    text, last = "", ""
    for context, piece, _ in blocks():
        if context != last:
            text, last = text + f"# {context}\n\n", context
        text += "\n".join([piece, *(f"! {found}" for found in errors(CONTEXTS[context](piece)))]) + "\n\n"
    CASES.write_text(text, encoding="utf-8")
