"""``g10c export --format g10``."""

from __future__ import annotations

from pathlib import Path

import pytest

from g10c.compiler import compile, load  # noqa: A004 - the API's verb
from g10c.compiler.cli import main
from g10c.compiler.driver import find_machine
from g10c.ir.parser import parse_program
from g10c.models.g10.layout import Layout, import_case
from g10c.models.g10.listing import G10Listing
from g10c.models.g10.outcomes import MACHINE
from g10c.models.g10.runs import RUNS

HEAD = """g10c.ir 1
program p

tensor %w : u8[16384]  weight
tensor %x : u8[16384]  activation

"""
KERNEL = '%x = kernel(%w)  {time = 1ms, kernel = "k"}\n'
PLAN = (
    HEAD + "alloc(%x)\n" + KERNEL + "evict(%w)  {to = host}\nevict(%x)  {to = ssd}\n" + KERNEL + "prefetch(%w)  {from = host}\nfree(%x)\n"
)


def listing(text: str) -> str:
    return G10Listing().export(parse_program(text), find_machine(MACHINE))


def test_destinations():
    assert listing(PLAN) == "issued_at_kernel\ttensor\tto\n0\t1\tgpu\n1\t0\tcpu\n1\t1\tssd\n2\t0\tgpu\n2\t1\tnot_present\n"


def test_parts_have_pages():
    text = HEAD + KERNEL + "evict(%x)  {to = ssd, range = 4KiB..10KiB}\nevict(%w)  {to = host}\n" + KERNEL
    assert listing(text) == "issued_at_kernel\ttensor\tto\tpages\n1\t1\tssd\t1..3\n1\t0\tcpu\t\n"


@pytest.mark.parametrize("structure", ["BERT_Base-256", "VIT-1024", "Inceptionv3-1536"])
def test_the_artifacts_own_plans(structure: str, g10_data: Path):
    model, batch = structure.rsplit("-", 1)
    program = import_case(Layout.find(str(g10_data)), model, int(batch))
    plan = compile(program, RUNS["g10"].passes(1.0), MACHINE)
    expected = (g10_data / "structure" / structure / "plan.tsv").read_text(encoding="utf-8")
    assert G10Listing().export(plan.program, plan.machine) == expected


def test_the_command(tmp_path: Path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    Path("plan.ir").write_text(PLAN, encoding="utf-8")
    assert main(["export", "plan.ir", "--format", "g10", "-o", "plan.tsv"]) == 0
    assert capsys.readouterr().out == "wrote plan.tsv\n"
    assert Path("plan.tsv").read_text() == listing(PLAN)
    assert main(["export", "plan.ir", "--format", "g10"]) == 0
    assert capsys.readouterr().out == listing(PLAN)
    assert load("plan.ir") is not None


@pytest.mark.parametrize(
    ("arguments", "status", "message"),
    [
        (["bert-base", "--format", "g10"], 1, "bert_base has no directives to list"),
        (["bert-base", "--format", "g11"], 1, "unknown export format 'g11'"),
        (["bert-base"], 2, "--format"),
        (["plan.ir", "--format", "g10", "-o", "plan.ir"], 2, "would be overwritten"),
    ],
)
def test_mistakes(arguments, status, message, tmp_path: Path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    Path("plan.ir").write_text(PLAN, encoding="utf-8")
    assert main(["export", *arguments]) == status
    assert message in capsys.readouterr().err
