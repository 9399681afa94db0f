"""Pipeline text to passes and back, and what is said about mistakes in it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from g10c.compiler.options import from_text, options_of, to_text
from g10c.compiler.pass_base import Pass, PassContext, option, required_option
from g10c.compiler.pipeline import build_passes, parse_pipeline, pipeline_text
from g10c.compiler.registry import Registry
from g10c.ir.errors import InputError
from g10c.ir.program import Program
from g10c.ir.values import Size, Time


class _Nothing(Pass):
    def run(self, program: Program, context: PassContext) -> Program:
        return program


@dataclass(frozen=True)
class Split(_Nothing):
    """Splits."""

    name = "split"
    ranks: int = required_option("number of parts")
    mode: Literal["even", "ragged"] = option("even", "how")
    below: Size = option(Size(1 << 20), "size")
    after: Time | None = option(None, "time")
    share: float = option(0.5, "share")
    names: tuple[str, ...] = option((), "names")
    fast: bool = option(False, "fast")


@dataclass(frozen=True)
class Plain(_Nothing):
    """Has no options."""

    name = "plain"


@pytest.fixture
def passes() -> Registry[type[Pass]]:
    registry: Registry[type[Pass]] = Registry("pass")
    registry.add("split", Split, "test")
    registry.add("plain", Plain, "test")
    return registry


def build(text: str, registry: Registry[type[Pass]]) -> list[Pass]:
    return build_passes(parse_pipeline(text), registry)


@pytest.mark.parametrize(
    "text",
    [
        "plain",
        "split{ranks=4}",
        "plain,split{ranks=2,mode=ragged,below=3KiB,after=45us,share=0.25,names=[a,b.c],fast=true},plain",
        'split{ranks=1,names=["with space"]}',
        "",
    ],
)
def test_text_round_trips(text, passes):
    built = build(text, passes)
    assert pipeline_text(built) == text
    assert build(pipeline_text(built), passes) == built


def test_defaults_and_spaces_are_left_out(passes):
    assert pipeline_text(build(" split { ranks = 4 , mode=even, below=1024KiB } , plain ", passes)) == "split{ranks=4},plain"


@given(
    st.builds(
        Split,
        ranks=st.integers(-5, 10**9),
        mode=st.sampled_from(["even", "ragged"]),
        below=st.integers(0, 2**60).map(Size),
        after=st.none() | st.integers(0, 2**60).map(Time),
        share=st.floats(allow_nan=False, allow_infinity=False),
        names=st.lists(st.text(min_size=1), max_size=3).map(tuple),
        fast=st.booleans(),
    )
)
def test_options_round_trip(item):
    registry: Registry[type[Pass]] = Registry("pass")
    registry.add("split", Split, "test")
    assert build(pipeline_text([item]), registry) == [item]


def test_every_type_of_option_converts_both_ways():
    for item in options_of(Split):
        if not item.required:
            assert (
                from_text(
                    item.type,
                    to_text(item.default).strip("[]").split(",")
                    if item.name == "names" and item.default
                    else "none"
                    if item.default is None
                    else []
                    if item.default == ()
                    else to_text(item.default),
                )
                == item.default
            )


@pytest.mark.parametrize(
    ("text", "message", "column"),
    [
        ("splt{ranks=4}", "unknown pass 'splt'", 1),
        ("plain,,plain", "expected the name of a pass, found ','", 7),
        ("split{ranks}", "expected '=' after option 'ranks', found '}'", 12),
        ("split{ranks=}", "expected a value, found '}'", 13),
        ("split{ranks=4", "expected ',' or '}', found the end", 14),
        ("split{ranks=four}", "option 'ranks' of pass 'split': expected a whole number, found 'four'", 13),
        ("split{ranks=4,mode=evn}", "option 'mode' of pass 'split': expected even or ragged, found 'evn'", 20),
        ("split{ranks=4,below=4}", "option 'below' of pass 'split': expected one of the units", 21),
        ("split{ranks=4,rnks=4}", "pass 'split' has no option 'rnks'", 15),
        ("split{ranks=4,ranks=5}", "option 'ranks' is given twice", 15),
        ("split", "pass 'split' needs its option 'ranks'", 1),
        ("plain;plain", "unexpected ';'", 6),
        ("plain plain", "expected ',' or the end of the pipeline, found 'plain'", 7),
        ("split{ranks=[1,2]}", "expected one value (int), found a list", 13),
    ],
)
def test_mistakes_are_placed(text, message, column, passes):
    with pytest.raises(InputError) as caught:
        build(text, passes)
    found = caught.value.diagnostics[0]
    assert message in found.message
    assert found.location.column == column


def test_all_mistakes_are_reported_together(passes):
    with pytest.raises(InputError) as caught:
        build("splt,plain{x=1},split{ranks=a,mode=b}", passes)
    assert len(caught.value.diagnostics) == 4
    assert "did you mean 'split'?" in caught.value.render()
