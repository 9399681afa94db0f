"""Transcripts: files in ``tests/text`` with commands, what they print and, where it is not 0, their exit status in brackets.

A command is a line ``$ g10c ...``. All of a file run in a folder of their own with the files of ``tests/text/inputs``.
``--update-golden`` writes what is printed now.
"""

from __future__ import annotations

import shlex
import shutil
from pathlib import Path

import pytest
from support import ROOT

from g10c.compiler.cli import main

TEXTS = sorted((ROOT / "tests" / "text").glob("*.txt"))


def run(command: str, capture: pytest.CaptureFixture[str]) -> str:
    words = shlex.split(command)
    assert words[0] == "g10c", f"a transcript runs g10c, not {words[0]}"
    status = main(words[1:])
    printed = capture.readouterr()
    text = printed.out + printed.err
    return text + (f"[{status}]\n" if status else "")


def commands(text: str) -> list[str]:
    return [line[2:] for line in text.splitlines() if line.startswith("$ ")]


@pytest.mark.parametrize("path", TEXTS, ids=lambda path: path.stem)
def test_transcript(path: Path, tmp_path: Path, monkeypatch, capsys, request):
    text = path.read_text(encoding="utf-8")
    assert commands(text), "a transcript holds at least one command"
    shutil.copytree(ROOT / "tests" / "text" / "inputs", tmp_path, dirs_exist_ok=True)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "120")
    found = "\n".join(f"$ {command}\n{run(command, capsys)}" for command in commands(text))
    if request.config.getoption("--update-golden"):
        path.write_text(found, encoding="utf-8")
        return
    assert found == text, f"what is printed has changed; if that is right: pytest --update-golden {path}"


def test_there_are_transcripts():
    assert TEXTS, "write one: a file with '$ g10c ...' lines, then pytest --update-golden"
