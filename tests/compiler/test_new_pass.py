"""The folder that ``g10c new-pass`` writes is there whole or not at all."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from g10c.compiler.cli import main
from g10c.compiler.cli.new_pass_command import package_files


def test_every_file_is_made_for_the_name():
    files = package_files("pin-2-small")
    assert list(files) == [
        "pyproject.toml",
        "README.md",
        "src/g10c_pin_2_small/__init__.py",
        "src/g10c_pin_2_small/pin_2_small.py",
        "src/g10c_pin_2_small/py.typed",
        "tests/test_pin_2_small.py",
    ]
    assert 'pin-2-small = "g10c_pin_2_small.pin_2_small:Pin2SmallPass"' in files["pyproject.toml"]
    assert "class Pin2SmallPass(Pass):" in files["src/g10c_pin_2_small/pin_2_small.py"]
    assert [path for path, text in files.items() if "$" in text] == []


def test_a_failure_half_way_leaves_nothing(tmp_path, monkeypatch, capsys):
    write = Path.write_text

    def fail(path: Path, text: str, **options: str) -> int:
        if path.name == "py.typed":
            raise OSError(28, "No space left on device")
        return write(path, text, **options)

    monkeypatch.setattr(Path, "write_text", fail)
    assert main(["new-pass", "mine", "--dir", str(tmp_path / "mine")]) == 1
    assert "mine: cannot be made: No space left on device" in capsys.readouterr().err
    assert list(tmp_path.iterdir()) == []


def test_a_folder_that_is_in_the_way_is_left_alone(tmp_path, capsys):
    other = tmp_path / f".g10c-{os.getpid()}.tmp"
    other.mkdir()
    (other / "kept").touch()
    assert main(["new-pass", "mine", "--dir", str(tmp_path / "mine")]) == 1
    assert "cannot be made: File exists" in capsys.readouterr().err
    assert (other / "kept").exists()


@pytest.mark.parametrize("name", ["mine", "vitality"])
def test_what_is_there_stays(name, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    (tmp_path / name).write_text("mine")
    assert main(["new-pass", name]) in (1, 2)
    assert (tmp_path / name).read_text() == "mine"
