"""What names look like in text, for programs, tensors, ops and attributes.

A name holds letters, digits, ``_`` and, inside, ``.``, ``-``, ``/`` and ``:`` (``layer.0/attn:q``); it starts and ends
with a letter, a digit or ``_``. A word (an attribute's key, a bare identifier) is a name that does not start with a digit.
"""

from __future__ import annotations

import re

NAME_PATTERN = r"\w(?:[\w.\-/:]*\w)?"
WORD_PATTERN = r"[^\W\d](?:[\w.\-/:]*\w)?"
RESERVED_WORDS = frozenset({"true", "false"})
"""Words that are values of another type."""

_NAME = re.compile(NAME_PATTERN)
_WORD = re.compile(WORD_PATTERN)
_UNSAFE = re.compile(r"[^\w.\-/:]+")


def is_name(text: str) -> bool:
    """Whether a program or a tensor can be called this."""
    return _NAME.fullmatch(text) is not None


def is_word(text: str) -> bool:
    """Whether this can be an attribute's key or a bare identifier."""
    return _WORD.fullmatch(text) is not None and text not in RESERVED_WORDS


def safe_name(text: str) -> str:
    """The nearest legal name: other characters become ``_``. Different texts may give the same name."""
    name = _UNSAFE.sub("_", text).strip(".-/:")
    return name or "_"
