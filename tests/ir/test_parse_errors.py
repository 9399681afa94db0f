"""Texts with mistakes: all of them are found, each at its place, with what was expected."""

from pathlib import Path

import pytest

from g10c.ir.errors import InputError
from g10c.ir.parser import load_program, parse_program

HEAD = "g10c.ir 1\nprogram x\ntensor %a : f32[4]  weight\ntensor %b : f32[4]  activation\n"


def errors(text: str) -> list[str]:
    """Mistakes as ``line:column message | hint``."""
    with pytest.raises(InputError) as caught:
        parse_program(text, "t")
    found = []
    for diagnostic in caught.value.diagnostics:
        place = str(diagnostic.location).removeprefix("t:")
        found.append(f"{place} {diagnostic.message}" + (f" | {diagnostic.hint}" if diagnostic.hint else ""))
    return found


def test_rendering_shows_line_and_caret() -> None:
    with pytest.raises(InputError) as caught:
        parse_program(HEAD + "evict(%a)  {to = hots}\n", "net.ir")
    assert caught.value.render() == (
        "net.ir:5:18: error: 'to' of evict is one of host, ssd, found 'hots' [rule attribute-word]\n"
        "    5 | evict(%a)  {to = hots}\n"
        "      |                  ^~~~\n"
        "  help: did you mean 'host'?"
    )


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("x", ["5:2 expected operands in parentheses, such as (%a, %b), found the end of the line"]),
        ("?", ["5:1 expected a statement: tensor %name : ..., or %result = op(%operand) {attributes}, found '?'"]),
        ("%b", ["5:3 expected '=' and an op, found the end of the line"]),
        ("%b, %a add(%b)", ["5:8 expected '=' and an op, found 'add'"]),
        ("%b =", ["5:5 expected an op, such as linear.forward, found the end of the line"]),
        ("%b = relu.forward(%a", ["5:18 '(' is not closed | close it with ')' in the same line"]),
        ("%b = relu.forward(%a {x = 1}", ["5:22 '{' stands before '(' is closed | close it with ')' in the same line"]),
        ("%b = relu.forward(%a) {phase = forward", ["5:23 '{' is not closed | close it with '}' in the same line"]),
        ("%b = relu.forward(%a) {a = {}}", ["5:28 '{' stands before '{' is closed | close it with '}' in the same line"]),
        ('%b = relu.forward(%a) {layer = "x}', ["5:32 the string is not closed | a string ends with \" in its own line"]),
        ('%b = relu.forward(%a) {layer = "x\\"}', ["5:32 the string is not closed | a string ends with \" in its own line"]),
        ("%b = relu.forward(%a) x", ["5:23 expected attributes in braces, such as {phase = forward} or the end of the line, found 'x'"]),
        ("%b = relu.forward(%a) {} x", ["5:26 expected the end of the line, found 'x'"]),
        ("%b = relu.forward(a)", ["5:19 expected a tensor's name, such as %h0, found 'a' | write %a"]),
        ("%b = relu.forward(%a %b)", ["5:19 expected a tensor's name, such as %h0, found '%a %b' | names are separated by commas"]),
        ("%b = relu.forward(%a,)", ["5:22 expected a tensor's name, such as %h0, next to the comma"]),
        ("%b %a = relu.forward(%a)", ["5:1 expected a tensor's name, such as %h0, found '%b %a' | names are separated by commas"]),
        ("tensor %c", ["5:10 expected ':' with a blank before it, then the type, found the end of the line"]),
        ("tensor c : f32[] input", ["5:8 expected a tensor's name, such as %h0, found 'c'"]),
        ("tensor %c : f32 input", ["5:13 expected a type, such as f32[2, 3] or f32[] for a scalar, found 'f32'"]),
        ("tensor %c : f32[2]", ["5:19 expected the tensor's role, such as activation, found the end of the line"]),
        ("tensor %c : f33[2] input", ["5:13 unknown data type 'f33' | did you mean 'f32'?"]),
        ("tensor %c : f32[2,, -1] input", [
            "5:19 expected a dimension, 0 or more and below 2^63, found ''",
            "5:21 expected a dimension, 0 or more and below 2^63, found '-1'",
        ]),
        ("tensor %c : f32[9223372036854775808] input", [
            "5:17 expected a dimension, 0 or more and below 2^63, found '9223372036854775808'",
        ]),
        ("tensor %c : f32[1152921504606846976, 2] input", [
            "5:13 %c would have 8388608.00 TiB, more than 2^63 bytes [rule tensor-type]",
        ]),
        ("tensor %c : f32[2] activatoin", ["5:20 unknown role 'activatoin' | did you mean 'activation'?"]),
        ("tensor %a : f32[2] input", ["5:8 tensor %a is declared twice; the first is in line 3"]),
        ("program y", ["5:1 a file holds one program; the first is in line 2"]),
        ("g10c.ir 1", ["5:1 the format stands once, in the first line"]),
    ],
)  # fmt: skip
def test_syntax(line: str, expected: list[str]) -> None:
    assert errors(HEAD + line) == expected


def attribute_errors(block: str) -> list[str]:
    """Of the attributes of an op, with columns counted from the opening brace."""
    found = errors(HEAD + "%b = relu.forward(%a)  " + block)
    return [f"{int(error.split(' ', 1)[0].split(':')[1]) - 23} {error.split(' ', 1)[1]}" for error in found]


FORMS = ' | a value is true, false, a word, a number with or without a unit, a "string", a range such as 0B..64MiB, or a list [...]'


@pytest.mark.parametrize(
    ("block", "expected"),
    [
        ("{3}", ["2 expected an attribute, such as phase = forward, found '3'"]),
        ("{phase}", ["7 expected '=' and a value after 'phase', found the end of the attributes"]),
        ("{phase forward}", ["8 expected '=' and a value after 'phase', found 'forward'"]),
        ("{phase = }", ["10 expected a value, found the end of the attributes" + FORMS]),
        ("{phase = , time = %}", ["10 expected a value, found ','" + FORMS, "19 expected a value, found '%'" + FORMS]),
        ("{phase = forward,}", ["18 expected an attribute, such as phase = forward, found the end of the attributes"]),
        ("{flops = 1 2}", ["12 expected ',' or '}', found '2'"]),
        ("{time = 3 us}", ["11 expected ',' or '}', found 'us' | write a unit right behind its number"]),
        ("{phase = forward, phase = loss}", ["19 attribute 'phase' is given twice"]),
        ("{my.a = [1, 2}", ["14 expected ',' or ']' in the list, found the end of the attributes"]),
        ("{my.a = [1 2]}", ["12 expected ',' or ']' in the list, found '2'"]),
        ("{my.a = [1,]}", ["12 expected a value, found ']'" + FORMS]),
        ("{my.a = [[], 1]]}", ["16 expected ',' or '}', found ']'"]),
        ("{my.a = " + "[" * 40 + "}", ["41 lists are nested more than 32 deep"]),
        ("{my.a = 1..2MiB}", ["9 both ends of a range are sizes with a unit (0B..64MiB) or plain integers (1..3)"]),
        ("{my.a = 1us..2us}", ["9 both ends of a range are sizes with a unit (0B..64MiB) or plain integers (1..3)"]),
        ("{my.a = 1.5..2.5}", ["9 both ends of a range are sizes with a unit (0B..64MiB) or plain integers (1..3)"]),
        ("{my.a = 3uss}", ["9 unknown unit 'uss' in '3uss' | did you mean 'us'?"]),
        ("{my.a = 3mib}", ["9 unknown unit 'mib' in '3mib' | did you mean 'MiB'?"]),
        ("{my.a = 3parsec}", [
            "9 unknown unit 'parsec' in '3parsec' | times are in ns, us, ms, s; sizes in B, KiB, MiB, GiB, TiB, KB, MB, GB, TB",
        ]),
        ("{my.a = 1.5ns}", ["9 '1.5ns' is not a whole number of ns below 2^63"]),
        ("{my.a = 1e200s}", ["9 '1e200s' is not a whole number of ns below 2^63"]),
        ("{my.a = 1e-200s}", ["9 '1e-200s' is not a whole number of ns below 2^63"]),
        ("{my.a = 9223372036854775808}", ["9 integers lie between -2^63 and 2^63, found '9223372036854775808'"]),
        ("{my.a = " + "9" * 9999 + "}", [f"9 integers lie between -2^63 and 2^63, found '{'9' * 40}'"]),
        ("{my.a = " + "9" * 9999 + "us}", [f"9 {'9' * 40}...us is too long for a number"]),
        ("{my.a = 1e999}", ["9 '1e999' is too large for a number with 64 bits"]),
        ("{my.a = 3.3.3}", ["9 expected a value, found '3.3.3'" + FORMS]),
        ('{my.a = "\\q"}', ['9 unknown escape \\q in a string | escapes are \\" \\\\ \\n \\t \\r and \\u{hex}']),
        ("{phase = forwrd}", ["10 'phase' of relu.forward is one of forward, loss, backward, update, found 'forwrd' [rule attribute-word]"
                              " | did you mean 'forward'?"]),
        ("{time = 3}", ["9 'time' of relu.forward: expected a time with a unit, such as 12.5us, found 3 [rule attribute-type]"
                        " | write 3ns, 3us or 3ms"]),
        ("{flops = 3B}", ["10 'flops' of relu.forward: expected an integer, found 3B [rule attribute-type] | floating-point operations"]),
        ("{flops = -3}", ["10 'flops' of relu.forward is negative: -3 [rule attribute-type]"]),
        ("{layer = enc}", ["10 'layer' of relu.forward: expected a string in quotes, found enc [rule attribute-type]"
                           ' | write layer = "enc"']),
        ('{phase = "loss"}', ["10 'phase' of relu.forward: expected a word without quotes, found \"loss\" [rule attribute-type]"
                              " | write phase = loss"]),
        ("{tme = 3us}", ["2 relu.forward has no attribute 'tme' [rule declared-attribute]"
                         " | did you mean 'time'?; an attribute of your own has a dot in its name, such as my.tme"]),
    ],
)  # fmt: skip
def test_attributes(block: str, expected: list[str]) -> None:
    assert attribute_errors(block) == expected


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("%b = rellu.forward(%a)", ["5:6 unknown op 'rellu.forward' [rule declared-op] | did you mean 'relu.forward'"]),
        ("%b = relu.forwad(%a)", ["5:6 unknown op 'relu.forwad' [rule declared-op] | did you mean 'relu.forward'"]),
        ("%b = relu(%a)", ["5:6 unknown op 'relu' [rule declared-op] | known variants of relu: relu.backward, relu.forward"]),
        ("%b = qwertz(%a)", ["5:6 unknown op 'qwertz' [rule declared-op]"
                             ' | a kernel without a declaration is written kernel(...) {kernel = "its name"}']),
        ("%b = relu.forward(%c)", ["5:19 tensor %c is not declared [rule declared-tensor] | known tensors: a, b"]),
        ("%b = relu.forward()", ["5:18 relu.forward has at least 1 operand, found 0 [rule operand-count]"
                                " | relu.forward: rectified linear unit"]),
        ("relu.forward(%a)", ["5:1 relu.forward has at least 1 result, found 0 [rule operand-count]"
                                " | relu.forward: rectified linear unit"]),
        ("free(%a, %b)", ["5:5 free has 1 operand, found 2 [rule operand-count] | free: drops a tensor's data wherever it is"]),
        ("%b = free(%a)", ["5:1 free has no results, found 1 [rule operand-count] | free: drops a tensor's data wherever it is"]),
        ("%b, %b = relu.forward(%a)", ["5:1 relu.forward writes %b twice [rule operand-count]"]),
        ("evict(%a)", ["5:1 evict needs the attribute 'to' [rule declared-attribute] | tier it moves to; one of host, ssd"]),
        ("tensor %c : f32[] input {when = 3}", ["5:26 tensor %c has no attribute 'when' [rule declared-attribute]"
                                                " | known attributes of tensor %c: inactive;"
                                                " an attribute of your own has a dot in its name, such as my.when"]),
    ],
)  # fmt: skip
def test_declarations(line: str, expected: list[str]) -> None:
    found = errors(HEAD + line)
    assert len(found) == len(expected)
    assert all(error.startswith(start) for error, start in zip(found, expected, strict=True)), found


def test_program_attributes() -> None:
    assert errors("g10c.ir 1\nprogram x {batch = 2.5, own = 3, runtime = uvn}") == [
        "2:20 'batch' of the program: expected an integer, found 2.5 [rule attribute-type] | samples of a step",
        "2:44 'runtime' of the program is one of uvm, direct, found 'uvn' [rule attribute-word] | did you mean 'uvm'?",
    ]


def test_all_mistakes_of_a_text_together() -> None:
    text = (
        HEAD + "%b = relu.forward(%a\n%b = rellu.forward(%a)\ntensor %c : f32 input\n%b = relu.forward(%c)\n%b = relu.forward(%a) {x = 1}\n"
    )
    assert [error.split(" ")[0] for error in errors(text)] == ["5:18", "6:6", "7:13", "9:24"]  # %c is not missed in line 8


def test_what_is_broken_is_not_missed() -> None:
    assert [error.split(" ")[0] for error in errors(HEAD + "evict(%a) {to}\nfree(a)\n")] == ["5:14", "6:6"]


def test_one_unknown_name_is_one_mistake() -> None:
    found = errors(HEAD + "%b = relu.forward(%missing)\n" * 500)
    assert found == ["5:19 tensor %missing is not declared (and 499 more uses) [rule declared-tensor] | known tensors: a, b"]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "t: the text is empty"),
        (" \n\t\n", "t: the text is empty"),
        ("# only this", "expected `g10c.ir 1` as the first line"),
        ("program x\n", "expected `g10c.ir 1` as the first line"),
        ('{"format": "g10c.plan"}', "expected `g10c.ir 1` as the first line"),
        ("g10c.ir 2\nwhatever comes", "this g10c reads version 1 of the text, found version '2'"),
        ("g10c.ir\nprogram x", "this g10c reads version 1 of the text, found no version"),
        ("g10c.ir 1", "the text names no program"),
        ("g10c.ir 1\nprogram", "expected the program's name: letters, digits and _, with . - / : inside, found the end of the line"),
        ("g10c.ir 1\ntensor %a : f32[] input\nprogram x", "the program's line stands before its tensors and ops"),
        ("g10c.ir 1\nprogram x\n\0", "this is not text: it holds a NUL byte"),
    ],
)
def test_texts_that_are_no_program(text: str, message: str) -> None:
    with pytest.raises(InputError) as caught:
        parse_program(text, "t")
    assert [diagnostic.message for diagnostic in caught.value.diagnostics] == [message]


def test_json_is_recognised() -> None:
    assert errors("\n{}")[0].endswith("| this looks like JSON; a plan is read as a plan")


def test_files_that_cannot_be_read(tmp_path: Path) -> None:
    (tmp_path / "net.ir").write_text("")
    (tmp_path / "latin.ir").write_bytes(b"g10c.ir 1\nprogram \xe9")
    for name, expected in {
        "nett.ir": "no such file",
        "": "this is a folder",
        "net.ir": "the file is empty",
        "latin.ir": "not UTF-8",
    }.items():
        with pytest.raises(InputError, match=expected) as caught:
            load_program(tmp_path / name)
        assert str(tmp_path / name) in str(caught.value)
    with pytest.raises(InputError, match=r"did you mean 'net\.ir'"):
        load_program(tmp_path / "nett.ir")


def test_many_mistakes_stay_quick() -> None:
    tensors = "".join(f"tensor %tensor{i} : f32[1] input\n" for i in range(2000))
    found = errors("g10c.ir 1\nprogram x\n" + tensors + "".join(f"%tensor_{i} = reluu.fwd{i}(%tensr{i})\n" for i in range(2000)))
    assert len(found) == 6000
