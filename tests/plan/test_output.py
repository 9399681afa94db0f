"""Files are written whole or not at all, and read with one clear message where that fails."""

from __future__ import annotations

import os
import stat
from pathlib import Path

import pytest

from g10c.ir.errors import InputError
from g10c.ir.input_text import read_text
from g10c.ir.output import write_text_atomically

needs_permissions = pytest.mark.skipif(os.geteuid() == 0, reason="root may write everything")


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def test_new_file_has_the_permissions_of_new_files(tmp_path: Path) -> None:
    path, other = tmp_path / "a.json", tmp_path / "b.json"
    other.touch()
    write_text_atomically(path, "β\n")
    assert path.read_bytes() == "β\n".encode()
    assert mode(path) == mode(other)
    assert sorted(entry.name for entry in tmp_path.iterdir()) == ["a.json", "b.json"]


def test_existing_file_keeps_its_permissions(tmp_path: Path) -> None:
    path = tmp_path / "a.json"
    path.write_text("old and longer")
    path.chmod(0o640)
    write_text_atomically(str(path), "new")
    assert path.read_text() == "new"
    assert mode(path) == 0o640


def test_a_link_stays_a_link(tmp_path: Path) -> None:
    path, link = tmp_path / "a.json", tmp_path / "link.json"
    path.write_text("old")
    link.symlink_to(path)
    write_text_atomically(link, "new")
    assert link.is_symlink()
    assert path.read_text() == "new"


def test_a_pipe_is_written_directly(tmp_path: Path) -> None:
    path = tmp_path / "pipe"
    os.mkfifo(path)
    reader = os.open(path, os.O_RDONLY | os.O_NONBLOCK)
    try:
        write_text_atomically(path, "text")
        assert os.read(reader, 10) == b"text"
    finally:
        os.close(reader)


def test_what_cannot_be_written(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    for path, message in (
        (tmp_path, "cannot be written: it is a folder\n  help: give the path of a file"),
        (
            tmp_path / "none" / "a.json",
            f"cannot be written: its folder does not exist\n  help: create the folder first: mkdir -p {tmp_path / 'none'}",
        ),
        (tmp_path / "file" / "a.json", "cannot be written: not a directory"),
        (tmp_path / ("x" * 300), "cannot be written: file name too long"),
    ):
        with pytest.raises(InputError) as caught:
            write_text_atomically(path, "text")
        assert f"{path}: {message}" in caught.value.render()
    assert [entry.name for entry in tmp_path.iterdir()] == ["file"]


@needs_permissions
def test_a_read_only_file_is_not_replaced(tmp_path: Path) -> None:
    path = tmp_path / "a.json"
    path.write_text("old")
    path.chmod(0o444)
    with pytest.raises(InputError, match="the file is read-only"):
        write_text_atomically(path, "new")
    assert path.read_text() == "old"


def test_text_without_a_form_in_utf8(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no UTF-8 form"):
        write_text_atomically(tmp_path / "a.json", "\ud800")
    assert list(tmp_path.iterdir()) == []


def test_nothing_is_left_behind_when_writing_fails(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(source: str, target: str) -> None:
        raise OSError(28, "No space left on device")

    path = tmp_path / "a.json"
    path.write_text("old")
    monkeypatch.setattr(os, "replace", full)
    with pytest.raises(InputError, match="cannot be written: no space left on device"):
        write_text_atomically(path, "new")
    assert path.read_text() == "old"
    assert [entry.name for entry in tmp_path.iterdir()] == ["a.json"]


def test_reading(tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    path.write_bytes(b"\xef\xbb\xbfone\r\ntwo\n")
    assert read_text(path, "a text") == "one\ntwo\n"
    for data, message in (
        (b"", "the file is empty, expected a text"),
        (b"a\nb\xff", "a.txt:2: not UTF-8 text (byte 3 is 0xff), expected a text"),
    ):
        path.write_bytes(data)
        with pytest.raises(InputError) as caught:
            read_text(path, "a text")
        assert message in caught.value.render()
    for wrong, message in (
        (tmp_path, "this is a folder, expected a text"),
        (tmp_path / "no" / "a", "there is no folder"),
        (Path("a\0b"), "cannot be read"),
    ):
        with pytest.raises(InputError) as caught:
            read_text(wrong, "a text")
        assert message in caught.value.render()
