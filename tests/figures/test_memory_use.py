"""Live and active memory by what it holds, by hand."""

from __future__ import annotations

from g10c.compiler.memory_use import MemoryUse, Use, memory_use
from g10c.compiler.summary import summarize
from g10c.ir.parser import parse_program

TEXT = """g10c.ir 1
program p

tensor %w : u8[1000]  weight
tensor %m : u8[200]   optimizer
tensor %x : u8[30]    input
tensor %h : u8[7]     activation
tensor %g : u8[2]     gradient

%h = kernel(%x, %w)  {time = 1us, kernel = "k"}
%g = kernel(%h)      {time = 1us, kernel = "k"}
%h = kernel(%h, %g)  {time = 1us, kernel = "k"}
%w, %m = kernel(%w, %m, %g)  {time = 1us, kernel = "k"}
"""


def test_by_kernel():
    program = parse_program(TEXT)
    live = (Use(1200, 30, 7), Use(1200, 0, 9), Use(1200, 0, 9), Use(1200, 0, 2))
    active = (Use(1000, 30, 7), Use(0, 0, 9), Use(0, 0, 9), Use(1200, 0, 2))
    assert memory_use(program) == MemoryUse(live, active)


def test_the_peaks_are_those_that_show_tells():
    program = parse_program(TEXT)
    use, summary = memory_use(program), summarize(program)
    assert max(part.total for part in use.live) == summary.live_peak_bytes == 1237
    assert max(part.total for part in use.active) == summary.active_peak_bytes
