"""``g10c rules``: what files there are, and the text of one."""

from __future__ import annotations

from g10c.compiler.cli import main
from g10c.passes.rule_library import BUNDLED


def test_the_list_has_every_file_with_its_first_comment(capsys):
    assert main(["rules"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert [line.split("  ")[0] for line in lines] == sorted(BUNDLED)
    for line in lines:
        name, summary = line.split("  ", 1)
        assert f"# {summary.strip()}" == BUNDLED[name].read_text(encoding="utf-8").splitlines()[0]


def test_one_is_printed_as_it_is(capsys):
    name = min(BUNDLED)
    assert main(["rules", name]) == 0
    assert capsys.readouterr().out == BUNDLED[name].read_text(encoding="utf-8")


def test_an_unknown_name(capsys):
    assert main(["rules", min(BUNDLED) + "s"]) == 1
    assert f"did you mean '{min(BUNDLED)}'" in capsys.readouterr().err
