"""Texts ``name=value`` that change constants of a rules file."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable

from g10c.compiler.rules.expressions import Expressions
from g10c.compiler.rules.kinds import VALUES
from g10c.compiler.rules.scope import Scope
from g10c.compiler.rules.syntax import parse_line
from g10c.compiler.rules.tree import Let
from g10c.compiler.rules.typed import Typed
from g10c.ir.errors import Diagnostic, near_hint
from g10c.ir.source import Source, Span

_SETTING = re.compile(r"\s*([\w.]+)\s*=(?!=)")


def read_settings(
    settings: Iterable[str], names: Collection[str], excused: Collection[str], diagnostics: list[Diagnostic]
) -> dict[str, Typed]:
    """The values that constants are set to. ``names`` are those of the file; nothing is missed of ``excused`` ones."""
    found: dict[str, Typed] = {}
    for text in settings:
        source = Source("set", text)
        match = _SETTING.match(text)
        if not match:
            diagnostics.append(Diagnostic("expected name=value", Span(source, 0, max(1, len(text))), 'such as set="least=4MiB"'))
            continue
        name, span = match[1], Span(source, match.start(1), match.end(1))
        if name in found:
            diagnostics.append(Diagnostic(f"the constant {name!r} is set twice", span, "set it once"))
        elif name not in names and name not in excused:
            hint = near_hint(name, names, "constants") or "a file defines constants with let: let least = 1MiB"
            diagnostics.append(Diagnostic(f"the rules have no constant {name!r}", span, hint))
        value = _value(source, match.end(), diagnostics)
        if value is not None:
            found[name] = value
    return found


def _value(source: Source, start: int, diagnostics: list[Diagnostic]) -> Typed | None:
    parsed = parse_line("let", source, "let value = " + source.text[start:], start - len("let value = "))
    if isinstance(parsed, Let):
        return Expressions(Scope(constant=True), {}, {}, diagnostics).value(parsed.value, VALUES, "a value")
    if isinstance(parsed, Diagnostic):
        diagnostics.append(parsed)
    return None
