"""What the README and the documents show is what happens; how blocks are run stands in ``documents.py``.

``--update-golden`` writes what commands print now into the documents. ``make docs`` writes the generated sections.
"""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest
from documents import Reader, blocks, run_command
from support import ROOT

from g10c.compiler.cli import main
from g10c.compiler.reference import SECTIONS, renewed
from g10c.ir.errors import InputError

README = ROOT / "README.md"
DOCUMENTS = [README, *sorted((ROOT / "docs").glob("*.md"))]
IN_SENTENCES = {"README.md": ["g10c compile bert-base --pass vitality,migrate -o out.ir"]}
"""Commands that a document names in a sentence and whose files its blocks show."""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "120")
    return tmp_path


@pytest.mark.parametrize("path", DOCUMENTS, ids=lambda path: path.stem)
def test_what_a_document_shows_is_what_happens(path: Path, folder, request):
    document = path.read_text(encoding="utf-8")
    for command in IN_SENTENCES.get(path.name, ()):
        assert f"`{command}`" in document
        run_command(command)
    reader = Reader(document)
    right = reader.read()
    if path == README:
        check_what_its_python_prints(reader.printed)
    if request.config.getoption("--update-golden"):
        path.write_text(right, encoding="utf-8")
        return
    assert right == document, f"what is printed has changed; if that is right: pytest --update-golden {Path(__file__).name}"


def check_what_its_python_prints(printed: list[str]) -> None:
    first, sweep, *_ = printed
    assert re.fullmatch(r"\d+ \d+ \{'gpu': \d+, 'host': \d+, 'ssd': \d+\}\n", first)
    assert [line.split()[0] for line in sweep.splitlines()] == ["32", "64", "128"]


@pytest.mark.parametrize("path", DOCUMENTS, ids=lambda path: path.stem)
def test_generated_sections_are_up_to_date(path: Path):
    document = path.read_text(encoding="utf-8")
    assert renewed(document, path.name) == document, "run make docs"


def test_every_generated_section_is_shown():
    documents = "".join(path.read_text(encoding="utf-8") for path in DOCUMENTS)
    assert sorted(re.findall(r"<!-- generated: ([\w-]+) -->", documents)) == sorted(SECTIONS)


@pytest.mark.parametrize("path", DOCUMENTS, ids=lambda path: path.stem)
def test_links_lead_to_files(path: Path):
    for link in re.findall(r"\]\(([^)#:]+)(?:#[^)]*)?\)", path.read_text(encoding="utf-8")):
        assert (path.parent / link).exists(), link


def test_the_demand_paging_time_of_the_readme_is_right(capsys):
    assert main(["sim", "bert-base"]) == 0
    shown = re.search(r"the same step takes ([\d.]+ s)", README.read_text(encoding="utf-8"))
    assert shown
    assert f"step time  {shown[1]}" in capsys.readouterr().out


def test_the_pass_of_the_readme_works(folder, capsys):
    document = README.read_text(encoding="utf-8")
    text = next(block.text for block in blocks(document) if block.language == "python" and "PinSmall" in block.text)
    (folder / "pin_small.py").write_text(text, encoding="utf-8")
    command = re.search(r"g10c (compile .*pin_small\.py.*)", document)
    assert command
    assert main(shlex.split(command[1])) == 0
    taken_out = re.search(r"pin-small: +([\d,]+) directives taken out", capsys.readouterr().err)
    assert taken_out
    assert int(taken_out[1].replace(",", "")) > 0


def test_the_program_by_hand_of_the_readme_runs(folder):
    program = next(block.text for block in blocks(README.read_text(encoding="utf-8")) if "program tiny" in block.text)
    (folder / "tiny.ir").write_text(program, encoding="utf-8")
    assert "step time" in run_command("g10c sim tiny.ir")


def test_the_pass_in_fifteen_lines_has_no_more():
    first = blocks((ROOT / "docs" / "passes.md").read_text(encoding="utf-8"))[0]
    assert first.file_name == "pin_small.py"
    assert len([line for line in first.text.splitlines()[1:] if line]) <= 15


def test_the_rule_of_the_tutorial_has_fifteen_lines_at_most():
    first = next(block for block in blocks((ROOT / "docs" / "rules.md").read_text(encoding="utf-8")) if block.language == "rules")
    assert first.file_name == "epilogue.rules"
    assert len([line for line in first.text.splitlines()[1:] if line]) <= 15


def test_a_document_that_shows_something_else_is_found(folder):
    document = "```console\n$ g10c --version\ng10c 7\n```\n\n```python\nprint(1)\n```\n\n```output\n2\n```\n"
    right = Reader(document).read()
    assert "g10c 7" not in right
    assert right.endswith("```output\n1\n```\n")
    assert Reader(right).read() == right


@pytest.mark.parametrize(
    ("document", "message"),
    [
        ("```\nwhat is this\n```\n", "nothing runs this block of no language"),
        ("```text\nwhat is this\n```\n", "nothing runs this block of text"),
        ("```console\n$ rm -rf .\n```\n", "a document runs g10c, not rm"),
        ("```python\n# lost.py\n```\n", "no later block uses lost.py"),
        ("```text\n...\nnowhere\n```\n", "no file of the folder has these lines"),
        ("```text\ng10c.ir 1\nprogram p\n%a = loss(%b)\n```\n", "tensor %a is not declared"),
        ("```output\n1\n```\n", "no block of python before this output"),
    ],
)
def test_blocks_that_nothing_runs_are_refused(document, message, folder):
    with pytest.raises(AssertionError, match=re.escape(message)):
        Reader(document).read()


def test_a_section_that_cannot_be_generated_is_refused():
    with pytest.raises(InputError, match=r"no section 'kernel' can be generated[\s\S]*did you mean 'kernels'"):
        renewed("<!-- generated: kernel -->\n<!-- end -->\n", "a.md")
