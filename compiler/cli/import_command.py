"""``g10c import``: make a model from the files of another tool, or with a builder."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from typing import TYPE_CHECKING, cast, get_args

from g10c.compiler.cli.common import Parser, check_writable, say, write_output
from g10c.compiler.options import Option, OptionError, from_text, options_of, to_text
from g10c.compiler.pass_base import summary_of
from g10c.compiler.registry import registry
from g10c.ir.errors import UsageError

if TYPE_CHECKING:
    from g10c.compiler.protocols import Importer


def run(argv: Sequence[str]) -> int:
    """Import as the arguments say."""
    importers = registry("g10c.importers")
    if not argv or argv[0] in ("-h", "--help"):
        say("usage: g10c import NAME ... -o model.ir ('g10c import NAME --help' shows the arguments)\n")
        for name in importers:
            say(f"  {name:<12} {summary_of(cast('type[Importer]', importers.find(name)))}")
        return 0 if argv else 2
    kind = cast("type[Importer]", importers.find(argv[0]))
    parser = Parser("import", summary_of(kind))
    parser.prog = f"g10c import {argv[0]}"
    options = options_of(kind)
    for option in options:
        _add_flag(parser, option)
    parser.add_argument("-o", dest="output_file", metavar="FILE", required=True, help="the model, as .ir text ('-': to stdout)")
    arguments = parser.parse_all(argv[1:])
    check_writable([arguments.output_file])
    program = kind(**_values(options, arguments)).load()
    from g10c.ir.printer import print_program
    from g10c.ir.verifier import check_program

    check_program(program)
    write_output(arguments.output_file, print_program(program))
    if arguments.output_file != "-":
        say(f"{program.name}: {len(program.kernels):,} kernels, {len(program.tensors):,} tensors\nwrote {arguments.output_file}")
    return 0


def _add_flag(parser: argparse.ArgumentParser, option: Option) -> None:
    text = option.help + (f" ({option.type_text()})" if option.type not in (int, float, str) else "")
    if not option.required and option.default is not None:
        text += f" (default: {to_text(option.default)})"
    parser.add_argument(
        option.flag,
        dest=option.name,
        metavar=option.name.upper(),
        required=option.required,
        default=argparse.SUPPRESS,
        help=text.replace("%", "%%"),
        nargs="?" if option.type is bool else None,
        const="true" if option.type is bool else None,
    )


def _values(options: Sequence[Option], arguments: argparse.Namespace) -> dict[str, object]:
    values: dict[str, object] = {}
    for option in options:
        if option.name not in arguments:
            continue
        text = getattr(arguments, option.name)
        is_list = bool(get_args(option.type)) and getattr(option.type, "__origin__", None) is tuple
        try:
            values[option.name] = from_text(option.type, text.split(",") if is_list else text)
        except OptionError as error:
            raise UsageError.at(f"{option.flag} {text}: {error}", None, error.hint) from None
    return values
