"""Recognises the words into which a shell splits an unquoted pipeline, and says to quote it.

A shell expands ``migrate{a=1,b=2}`` to ``migratea=1 migrateb=2``, and ``a, b`` to two words.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from g10c.compiler.driver import pass_registry
from g10c.ir.errors import InputError, UsageError


def refuse_split_pipeline(text: str, words: Sequence[str], files: Sequence[str]) -> None:
    """Raise when ``words``, which are no arguments, belong to the pipeline ``text``, or when its braces are gone."""
    try:
        names = sorted(pass_registry(files), key=len, reverse=True)
    except InputError:
        names = sorted(pass_registry(), key=len, reverse=True)
    head = re.compile("|".join(re.escape(name) for name in names) or r"\Z.")
    glued = re.compile(rf"(?:.*,)?(?:{head.pattern})[a-z_]+=")
    if words and (glued.match(text) or any(glued.match(word) or head.match(word.strip(",")) or word.endswith(",") for word in words)):
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


def rejoin(names: Sequence[str], words: Sequence[str]) -> str:
    """The pipeline text that a shell most likely split: braces around options that follow a pass's name."""
    options: dict[str, list[str]] = {}
    for word in ",".join(word.strip(",") for word in words if word).split(","):
        name = next((name for name in names if word.startswith(name)), word)
        rest = word[len(name) :].strip("{}")
        options.setdefault(name, []).extend([rest] if rest else [])
    return ",".join(name + ("{" + ",".join(values) + "}" if values else "") for name, values in options.items())
