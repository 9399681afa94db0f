"""What the importer says about wrong files and options, on a network of three operators."""

from __future__ import annotations

from pathlib import Path

import pytest

from g10c.ir.errors import G10cError, InputError, UsageError
from g10c.models.g10.importer import G10Importer

DASHES = "-------------------\n"
DOT = "6\nDot\n2\n5\n0\n2\n99\n4\n2\n4\n8\n" + DASHES
RELU = "7\nRelu\n1\n6\n2\n99\n8\n" + DASHES
ADD = "8\nAdd\n2\n7\n1\n2\n99\n8\n2\n99\n8\n" + DASHES
NET = DOT + RELU + ADD
KERNELS = 3 + 1 + 2 + 1 + 2
TABLE = "".join(f"{number:04} 0.{number + 1} ms\n" for number in range(KERNELS))


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty current folder, so that messages hold relative paths."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


def importer(net: str = NET, times: str = TABLE, **options: object) -> G10Importer:
    Path("net.txt").write_text(net)
    Path("times.txt").write_text(times)
    for option in ("all_fault_times", "output_fault_times", "workspace"):
        if option in options:
            Path(f"{option}.txt").write_text(str(options[option]))
            options[option] = Path(f"{option}.txt")
    return G10Importer(Path("net.txt"), **{"batch": 2, "kernel_times": Path("times.txt"), "weights_below": 2, **options})  # type: ignore[arg-type]


def failure(wrong: G10Importer, kind: type[G10cError] = InputError) -> str:
    with pytest.raises(kind) as caught:
        wrong.load()
    return caught.value.render()


def test_the_network_that_the_mistakes_are_made_in(folder: Path):
    program = importer(workspace="".join(f"{number} {number % 2 * 3} B\n" for number in range(KERNELS))).load()
    assert [(op.name, op.reads, op.writes) for op in program.ops] == [
        ("linear.forward", ("x5", "w0"), ("x6",)),
        ("relu.forward", ("x6",), ("x7", "ws1")),
        ("add.forward", ("x7", "w1"), ("x8",)),
        ("loss", ("x8",), ("dx8", "ws3")),
        ("add.backward", ("dx8",), ("dx7", "dw1")),
        ("apply_grad", ("w1", "dw1"), ("w1", "ws5")),
        ("relu.backward", ("x6", "dx7"), ("dx6",)),
        ("linear.backward_weight", ("dx6", "x5"), ("dw0", "ws7")),
        ("apply_grad", ("dw0", "w0"), ("w0",)),
    ]
    assert list(program.tensors) == ["x6", "x5", "w0", "dw0", "x7", "dx6", "x8", "w1", "dx7", "dw1", "dx8", "ws1", "ws3", "ws5", "ws7"]
    assert program.tensors["ws3"].size_bytes == 3
    assert [op.time_ns for op in program.ops] == [100_000 * (number + 1) for number in range(KERNELS)]
    assert str(program.ops[1].location) == "net.txt:14:1"
    assert [op.attrs.get("kernel") for op in program.ops] == [None] * 8 + ["Linear_Apply_Grad_Weight"]


@pytest.mark.parametrize(
    ("net", "expected"),
    [
        ("", "net.txt: the file is empty, expected a network file"),
        (" \n\n", "net.txt: the file is empty, expected a network file"),
        ("Net: Dot", "net.txt:1:1: error: expected the id of an operator, a whole number of at least 0, found 'Net:'"),
        (
            NET.replace("Relu", "Relux"),
            "net.txt:14:1: error: unknown operator type 'Relux'\n   14 | Relux\n      | ^~~~~\n  help: did you mean 'Relu'?",
        ),
        (NET.replace("Relu", "Q"), "help: known types: Add, BatchMatMul, "),
        (NET.replace("6\nDot", "6x\nDot"), "net.txt:1:1: error: expected the id of an operator, a whole number of at least 0, found '6x'"),
        (NET.replace("Dot\n2", "Dot\n3"), "net.txt:3:1: error: Dot 6 has 3 operands"),
        (
            NET.replace("0\n2\n99\n4\n", "0\n3\n99\n4\n"),
            "net.txt:12:1: error: the block ends too early: size 2 of 4 of operand 0 of Dot 6 is missing",
        ),
        (
            NET.replace("0\n2\n99\n4\n", "0\n1\n99\n4\n"),
            "net.txt:12:1: error: the block ends too early: size 4 of 4 of operand 0 of Dot 6 is missing",
        ),
        (NET.replace("4\n8\n", "4\n8\n16\n"), "net.txt:12:1: error: 1 word too many in the block"),
        (NET.replace("4\n8\n", "4\n"), "net.txt:11:1: error: the block ends too early: size 2 of 2 of operand 0 of Dot 6 is missing"),
        (
            NET.replace("4\n8\n", "4\n0\n"),
            "net.txt:11:1: error: expected size 2 of 2 of operand 0 of Dot 6, a whole number of at least 1, found '0'",
        ),
        (NET.replace("4\n8\n", "4\n8.5\n"), "net.txt:11:1: error: expected size 2 of 2"),
        (NET.removesuffix(DASHES), "net.txt:31:1: error: the last block is not closed"),
        (NET[: NET.index("Add")], "net.txt:21:1: error: the block ends too early: the type of operator 8 is missing"),
        (DASHES, "net.txt:1:1: error: the block ends too early: the id of an operator is missing"),
        (NET.replace("8\nAdd", "7\nAdd"), "net.txt:21:1: error: id 7 is produced twice"),
        (RELU + DOT + ADD, "net.txt:4:1: error: Relu 7 reads 6, which is produced later, in line 9"),
        (NET.replace("2\n7\n1\n", "2\n6\n1\n"), "net.txt:13:1: error: nothing reads the result of Relu 7"),
    ],
)
def test_wrong_networks(net: str, expected: str, folder: Path):
    assert expected in failure(importer(net))


def test_all_mistakes_of_a_network_are_named_together(folder: Path):
    text = failure(importer(NET.replace("Dot\n2", "Dot\ntwo").replace("Relu", "Rely").replace("7\n1\n2\n99", "7\n1\n2\n-99")))
    assert [line for line in text.splitlines() if "error:" in line] == [
        "net.txt:3:1: error: expected the number of operands of Dot 6, a whole number of at least 1, found 'two'",
        "net.txt:14:1: error: unknown operator type 'Rely'",
        "net.txt:27:1: error: expected size 1 of 2 of operand 7 of Add 8, a whole number of at least 1, found '-99'",
    ]


SOFTMAX = "".join(f"{20 + number}\nSoftmaxBasic\n1\n{19 + number if number else 8}\n1\n99\n" + DASHES for number in range(4))


def test_four_softmax_blocks_are_one(folder: Path):
    times = "".join(f"{number} 1 ms\n" for number in range(KERNELS + 2))
    program = importer(NET + SOFTMAX, times).load()
    assert [(op.name, op.reads, op.writes) for op in program.ops if op.attrs["layer"] == "SoftmaxBasic 23"] == [
        ("softmax.forward", ("x8",), ("x23",)),
        ("loss", ("x23",), ("dx23",)),
        ("softmax.backward", ("x8", "dx23"), ("dx8",)),
    ]


@pytest.mark.parametrize(
    ("blocks", "expected"),
    [
        (SOFTMAX[: SOFTMAX.index("23\n")], "SoftmaxBasic 20 is not a softmax: only 3 blocks follow one another"),
        (SOFTMAX.replace("22\nSoftmaxBasic", "22\nRelu"), "SoftmaxBasic 20 is not a softmax: block 3 is Relu 22"),
        (SOFTMAX.replace("1\n21\n", "1\n7\n"), "SoftmaxBasic 20 is not a softmax: block 3 reads 7, which is neither"),
        (SOFTMAX + "30\nRelu\n1\n21\n1\n99\n" + DASHES, "Relu 30 reads 21, which is inside the softmax of line 40"),
    ],
)
def test_wrong_softmax(blocks: str, expected: str, folder: Path):
    assert expected in failure(importer(NET + blocks))


@pytest.mark.parametrize(
    ("border", "expected"),
    [
        (0, "net.txt:2:1: error: Dot 6 reads 5 and 0, of which none is a weight: expected that exactly one operand is a weight"),
        (6, "net.txt:5:1: error: Dot 6 reads 5 and 0, of which 5 and 0 are weights: expected that exactly one operand is a weight"),
        (8, "net.txt:1:1: error: Dot 6 produces 6, which is the id of a weight (and 2 more like it)"),
    ],
)
def test_a_border_that_contradicts_the_operators(border: int, expected: str, folder: Path):
    text = failure(importer(weights_below=border))
    assert expected in text
    assert f"ids below {border} are weights (given; see --weights-below); the operators ask for one from 1 to 5" in text


def test_the_border_is_given_or_in_a_table_or_follows(folder: Path):
    """Id 1 may be a weight or an input: only the borders 1 and 2 tell."""
    unknown = importer(weights_below=None)
    assert failure(unknown) == (
        "error: net.txt: cannot tell which ids are weights: 1 may be a weight or an input\n"
        "  help: pass --weights-below with a number from 1 to 5, or write it as 'weight_ids_below' into nets.json beside the network"
    )
    assert importer(weights_below=3).load().tensors["w1"].persistent
    Path("nets.json").write_text('{"net": {"weight_ids_below": 2}, "other": {}}')
    assert unknown.load().attrs["weights_below"] == 2
    Path("nets.json").write_text('{"other": {"weight_ids_below": 1}}')
    assert "cannot tell" in failure(unknown)
    clear = NET.replace("7\n1\n2\n99", "7\n5\n2\n99")
    table = "".join(f"{number} 1 ms\n" for number in range(KERNELS - 1))
    assert importer(clear, table, weights_below=None).load().attrs["weights_below"] == 1


@pytest.mark.parametrize(
    ("table", "expected"),
    [
        ('{"net": {"weight_ids_below": 2}', "nets.json:1:"),
        ('{"net": {"weight_ids_below": "2"}}', "nets.json:1:30: error: the entry 'net' has no whole number in 'weight_ids_below'"),
        ('{"net": 2}', "nets.json:1:9: error: the entry 'net' has no whole number"),
        ('{"net": {"weight_ids_below": 6}}', "ids below 6 are weights (from nets.json; see --weights-below)"),
    ],
)
def test_wrong_tables_of_networks(table: str, expected: str, folder: Path):
    Path("nets.json").write_text(table)
    assert expected in failure(importer(weights_below=None))


def test_a_border_that_no_operator_leaves(folder: Path):
    """The first Dot makes 3 a weight, the second makes it an input."""
    second = "9\nDot\n2\n8\n3\n1\n99\n1\n4\n" + DASHES
    relu = "10\nAdd\n2\n9\n11\n1\n99\n1\n99\n" + DASHES
    first = "11\nRelu\n1\n3\n1\n99\n" + DASHES
    assert "Relu 11 reads 3, of which 3 is a weight: expected that no operand is a weight" in failure(
        importer(NET + second + first + relu, weights_below=None)
    )


def test_a_computed_exponent_is_refused(folder: Path):
    power = "9\nPower\n2\n8\n7\n2\n99\n8\n2\n99\n8\n" + DASHES
    assert "net.txt:37:1: error: the second operand of Power 9, 7, is computed" in failure(importer(NET + power))


def lines(*changes: tuple[int, str | None], table: str = TABLE) -> str:
    rows: list[str | None] = list(table.splitlines())
    for number, text in changes:
        rows[number : number + 1] = [text]
    return "".join(f"{row}\n" for row in rows if row is not None)


@pytest.mark.parametrize(
    ("table", "expected"),
    [
        ("", "error: times.txt: the file is empty, expected a table for --kernel-times"),
        (
            lines((8, None)),
            "times.txt:8:1: error: 8 kernels in the table, 9 in the network;"
            " the first without a time is kernel 8, apply_grad of Dot 6 (net.txt:2:1)",
        ),
        (lines((4, None)), "times.txt:5:1: error: expected kernel 4, found 5"),
        (
            lines((4, None)),
            "times.txt:5:1: error: 8 kernels in the table, 9 in the network; the first without a time is kernel 4, add.backward of",
        ),
        (TABLE + "0009 1 ms\n", "times.txt:10:1: error: 10 kernels in the table, 9 in the network; the first too many is kernel 9"),
        (lines((4, "0003 0.5 ms")), "times.txt:5:1: error: expected kernel 4, found 3"),
        (lines((4, "x 0.5 ms")), "times.txt:5:1: error: expected the number of a kernel, 4, found 'x'"),
        (lines((4, "0004 -0.5 ms")), "times.txt:5:6: error: the time '-0.5' is not a positive decimal number"),
        (lines((4, "0004 nan ms")), "the time 'nan' is not a positive decimal number"),
        (lines((4, "0004 0.0 ms")), "times.txt:5:6: error: the time '0.0' is not positive"),
        (lines((4, "0004 0.5x ms")), "the time '0.5x' is not a positive decimal number"),
        (lines((4, "0004 0.0000001 ms")), "the time '0.0000001' is not a whole number of nanoseconds"),
        (lines((4, "0004 1e15 ms")), "the time '1e15' is too large"),
        (lines((4, "0004 0.5 us")), "times.txt:5:10: error: expected unit 'ms', found 'us'"),
        (lines((4, "0004 0.5")), "times.txt:5:1: error: expected a number, a time and 'ms', found 2 words"),
        (lines((4, "0004 0.5 ms x")), "found 4 words"),
    ],
)
def test_wrong_time_tables(table: str, expected: str, folder: Path):
    assert expected in failure(importer(times=table))


@pytest.mark.parametrize(
    ("text", "time_ns"), [("12", 12_000_000), ("0.000001", 1), ("1.5e-3", 1_500), ("3.1234560", 3_123_456), ("7.", 7_000_000)]
)
def test_times_are_exact(text: str, time_ns: int, folder: Path):
    assert importer(times=lines((4, f"0004 {text} ms"))).load().ops[4].time_ns == time_ns


def test_mistakes_of_all_tables_are_named_together(folder: Path):
    wrong = importer(
        times=lines((2, "0002 x ms")),
        all_fault_times=lines((8, None)),
        output_fault_times=TABLE.replace("0003 0.4 ms", "0003 0.4 s"),
        workspace="0 -1 B\n" + "".join(f"{number} 0 B\n" for number in range(1, KERNELS)),
    )
    text = failure(wrong)
    assert [line.split(": error: ") for line in text.splitlines() if "error:" in line] == [
        ["times.txt:3:6", "the time 'x' is not a positive decimal number"],
        [
            "all_fault_times.txt:8:1",
            "8 kernels in the table, 9 in the network; the first without a time is kernel 8, apply_grad of Dot 6 (net.txt:2:1)",
        ],
        ["output_fault_times.txt:4:10", "expected unit 'ms', found 's'"],
        ["workspace.txt:1:3", "the workspace '-1' is not a whole number of bytes"],
    ]


def test_files_that_cannot_be_read(folder: Path):
    wrong = importer(kernel_times=Path("tims.txt"), workspace="\n")
    assert failure(wrong) == (
        "error: tims.txt: no such file\n  help: did you mean 'times.txt' or 'net.txt'?\n"
        "error: workspace.txt: the file is empty, expected a table for --workspace"
    )
    Path("net.txt").write_bytes(b"6\n\xff")
    assert "net.txt:2: not UTF-8 text (byte 2 is 0xff), expected a network file" in failure(wrong)
    assert "this is a folder, expected a network file" in failure(G10Importer(folder, 2, Path("times.txt")))


def test_options_that_make_no_sense(folder: Path):
    text = failure(importer(batch=0, weights_below=-1), UsageError)
    assert text.splitlines()[::2] == ["error: --batch is 0", "error: --weights-below is -1"]


def test_tables_that_are_by_name_for_something_else(folder: Path):
    wrong = G10Importer(Path("net.txt"), 256, Path("cudnn512.txt"), Path("cudnn256InputPF.txt"), Path("cudnn256InputPF.txt"))
    text = failure(wrong, UsageError)
    assert [line for line in text.splitlines() if "error" in line] == [
        "error: cudnn512.txt is by its name for batch 512, and --batch is 256",
        "error: cudnn256InputPF.txt is by its name a table for --output-fault-times, not for --all-fault-times",
    ]
    assert "expected cudnn256PF.txt, or another name" in text
