"""What the README shows is what happens: its commands with their output, its Python, its pass."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest
from support import ROOT

from g10c.compiler.cli import main

README = (ROOT / "README.md").read_text(encoding="utf-8")


def blocks(language: str) -> list[str]:
    found = re.findall(rf"```{language}\n(.*?)```", README, re.DOTALL)
    assert found, f"the README has no block of {language}"
    return found


def run(command: str, capture: pytest.CaptureFixture[str]) -> str:
    command, _, head = command.partition(" | head -")
    words = shlex.split(command)
    assert main(words[1:]) == 0, command
    printed = capture.readouterr()
    lines = (printed.out + printed.err).splitlines()
    return "\n".join(lines[: int(head)] if head else lines)


def test_the_console_shows_what_is_printed(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    for block in blocks("console"):
        commands = re.findall(r"^\$ (.*)$", block, re.MULTILINE)
        shown = "\n".join(f"$ {command}\n{run(command, capsys)}" for command in commands)
        assert shown.rstrip() == block.rstrip()


def test_the_demand_paging_time_is_right(capsys):
    assert main(["sim", "bert-base"]) == 0
    shown = re.search(r"the same step takes ([\d.]+ s)", README)
    assert shown
    assert f"step time  {shown[1]}" in capsys.readouterr().out


def test_the_python_runs(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    first, sweep, *_ = blocks("python")
    exec(compile(first, "README.md", "exec"), {})  # noqa: S102 - the README's own code
    assert re.fullmatch(r"\d+ \d+ \{'gpu': \d+, 'host': \d+, 'ssd': \d+\}\n", capsys.readouterr().out)
    exec(compile(sweep, "README.md", "exec"), {})  # noqa: S102 - the README's own code
    assert [line.split()[0] for line in capsys.readouterr().out.splitlines()] == ["32", "64", "128"]


def test_the_pass_works(tmp_path: Path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    text = next(block for block in blocks("python") if "PinSmall" in block)
    (tmp_path / "pin_small.py").write_text(text, encoding="utf-8")
    command = re.search(r"g10c (compile .*pin_small\.py.*)", README)
    assert command
    assert main(shlex.split(command[1])) == 0
    taken_out = re.search(r"pin-small: +([\d,]+) directives taken out", capsys.readouterr().err)
    assert taken_out
    assert int(taken_out[1].replace(",", "")) > 0


def test_the_program_by_hand_is_right(tmp_path, capsys):
    (tmp_path / "tiny.ir").write_text(blocks("text")[1], encoding="utf-8")
    assert main(["check", str(tmp_path / "tiny.ir")]) == 0
    assert main(["sim", str(tmp_path / "tiny.ir")]) == 0


def test_the_text_of_the_ir_is_a_part_of_what_is_written(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    assert main(["compile", "bert-base", "--pass", "vitality,migrate", "-o", "out.ir"]) == 0
    written = set((tmp_path / "out.ir").read_text(encoding="utf-8").splitlines())
    shown = [line for line in blocks("text")[0].splitlines() if "..." not in line]
    assert len(shown) > 5
    assert [line for line in shown if line not in written] == []
