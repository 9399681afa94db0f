"""Documents whose blocks are run: what they show is what happens.

The blocks of one document run in order, in one folder, so that later ones use the files of earlier ones:

- ``console``: lines ``$ g10c ...``, each with what it prints and, where it is not 0, its exit status in brackets; ``| head -N`` may follow.
- A block whose first line is ``# NAME.EXTENSION`` is saved as that file, which a later block has to use.
- ``python``: runs; a block ``output`` behind it shows what it prints.
- ``text`` that starts with ``g10c.ir``: a program that ``g10c check`` accepts.
- ``text`` with lines ``...``, ``toml``, ``rules``: an excerpt; its other lines are lines of files in the folder.
- ``sh``: for the reader only.
"""

from __future__ import annotations

import contextlib
import io
import re
import shlex
from dataclasses import dataclass, field
from pathlib import Path

from g10c.compiler.cli import main

FENCE = re.compile(r"^```(\w*)\n(.*?)^```$", re.DOTALL | re.MULTILINE)
FILE_NAME = re.compile(r"# ([\w-]+\.\w+)\n")


@dataclass(frozen=True)
class Block:
    """A fenced block: its language and text, and the characters of the document that the text takes."""

    language: str
    text: str
    start: int
    end: int

    @property
    def file_name(self) -> str | None:
        """The file that the block is saved as."""
        match = FILE_NAME.match(self.text)
        return match[1] if match else None


def blocks(document: str) -> list[Block]:
    """The fenced blocks of a document, in order."""
    return [Block(match[1], match[2], match.start(2), match.end(2)) for match in FENCE.finditer(document)]


def run_command(command: str) -> str:
    """What a ``g10c`` command prints, with its exit status in brackets where that is not 0."""
    command, _, head = command.partition(" | head -")
    words = shlex.split(command)
    assert words[0] == "g10c", f"a document runs g10c, not {words[0]}"
    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        status = main(words[1:])
    lines = (out.getvalue() + err.getvalue()).splitlines()
    lines = lines[: int(head)] if head else [*lines, *([f"[{status}]"] if status else [])]
    return "\n".join([f"$ {command}{f' | head -{head}' if head else ''}", *lines]) + "\n"


@dataclass
class Reader:
    """Runs the blocks of a document in the current folder."""

    document: str
    found: list[tuple[Block, str]] = field(default_factory=list)
    """What each block with output should show."""
    printed: list[str] = field(default_factory=list)
    """What each block of Python printed."""

    def read(self) -> str:
        """Run every block; the document as it should be."""
        everything = blocks(self.document)
        for number, block in enumerate(everything):
            if block.file_name:
                later = "".join(other.text for other in everything[number + 1 :])
                assert block.file_name in later or Path(block.file_name).stem in later, f"no later block uses {block.file_name}"
                Path(block.file_name).write_text(block.text, encoding="utf-8")
                continue
            run = getattr(self, f"_run_{block.language}", None)
            assert run, f"nothing runs this block of {block.language or 'no language'}:\n{block.text}"
            run(block)
        document = self.document
        for block, text in reversed(self.found):
            document = document[: block.start] + text + document[block.end :]
        return document

    def _run_sh(self, block: Block) -> None:
        """For the reader only."""

    def _run_console(self, block: Block) -> None:
        commands = re.findall(r"^\$ (.*)$", block.text, re.MULTILINE)
        assert commands, f"no command in a block of console:\n{block.text}"
        self.found.append((block, "".join(run_command(command) for command in commands)))

    def _run_python(self, block: Block) -> None:
        out = io.StringIO()
        with contextlib.redirect_stdout(out):
            exec(compile(block.text, "document", "exec"), {})  # noqa: S102 - the document's own code
        self.printed.append(out.getvalue())

    def _run_output(self, block: Block) -> None:
        assert self.printed, f"no block of python before this output:\n{block.text}"
        self.found.append((block, self.printed[-1]))

    def _run_text(self, block: Block) -> None:
        if "..." in block.text.splitlines():
            self._check_excerpt(block)
            return
        assert block.text.startswith("g10c.ir"), f"nothing runs this block of text:\n{block.text}"
        Path("shown.ir").write_text(block.text, encoding="utf-8")
        checked = run_command("g10c check shown.ir")
        assert "[1]" not in checked, checked

    def _check_excerpt(self, block: Block) -> None:
        files = [path for path in Path().rglob("*") if path.is_file() and path.suffix != ".pyc"]
        there = {line for path in files for line in path.read_text(encoding="utf-8").splitlines()}
        missing = [line for line in block.text.splitlines() if "..." not in line and line not in there]
        assert missing == [], "no file of the folder has these lines"

    _run_toml = _run_rules = _check_excerpt
