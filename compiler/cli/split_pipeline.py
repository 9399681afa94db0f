"""Recognises the words into which a shell splits an unquoted pipeline, and says to quote it.

A shell expands ``migrate{a=1,b=2}`` to ``migratea=1 migrateb=2``, and ``a, b`` to two words.
"""

from __future__ import annotations

import contextlib
import re
from collections.abc import Sequence

from g10c.compiler.driver import pass_registry
from g10c.compiler.pipeline import parse_pipeline
from g10c.ir.errors import InputError, UsageError


def refuse_split_pipeline(text: str, words: Sequence[str], model: str, files: Sequence[str]) -> None:
    """Raise when ``words``, which are no arguments, belong to the pipeline ``text``, or when its braces are gone."""
    try:
        names = sorted(pass_registry(files), key=len, reverse=True)
    except InputError:
        names = sorted(pass_registry(), key=len, reverse=True)
    if words and _unfinished(text) and model in names:
        words = [model, *words[:-1]]  # the second word was taken for the MODEL, and the MODEL was left over
    head = re.compile("|".join(re.escape(name) for name in names) or r"\Z.")
    glued = re.compile(rf"(?:.*,)?(?:{head.pattern})[a-z_]+=")
    parts = any(glued.match(word) or head.match(word.strip(",")) or set(word) & set(",={}[]") for word in words)
    if words and (_unfinished(text) or glued.match(text) or parts):
        raise InputError.at(
            f"--pass: the shell split the pipeline text into {len(words) + 1} words: {' '.join([text, *words])}",
            None,
            f"quote it: --pass '{rejoin(names, [text, *words])}'",
        )
    if words:
        raise UsageError.at(f"unexpected argument {words[0]!r}", None, "one MODEL at a time; see 'g10c compile --help'")
    if glued.match(text) and "{" not in text:
        raise InputError.at(
            f"--pass: {text!r} looks like pipeline text whose braces the shell took away",
            None,
            f"quote it: --pass '{rejoin(names, [text])}'",
        )


def _unfinished(text: str) -> bool:
    """Whether a pipeline goes on after this text: it ends in a comma or equals sign, or a brace or bracket is open."""
    return text.rstrip().endswith((",", "=", "{", "[")) or any(text.count(a) > text.count(b) for a, b in ("{}", "[]"))


def rejoin(names: Sequence[str], words: Sequence[str]) -> str:
    """The pipeline text that a shell most likely split: the words without the blanks, or with braces around options."""
    joined = "".join(words)
    with contextlib.suppress(InputError):
        if all(call.name in names for call in parse_pipeline(joined)):
            return joined
    options: dict[str, list[str]] = {}
    for word in ",".join(word.strip(",") for word in words if word).split(","):
        name = next((name for name in names if word.startswith(name)), word)
        rest = word[len(name) :].strip("{}")
        options.setdefault(name, []).extend([rest] if rest else [])
    return ",".join(name + ("{" + ",".join(values) + "}" if values else "") for name, values in options.items())
