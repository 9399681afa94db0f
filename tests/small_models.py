"""Steps by names, written short, for tests of the runtimes."""

from __future__ import annotations

from g10c.ir.step import Kernel, Move, Step, StepTensor


class SmallModel:
    """A step by names. ``sizes`` of persistent tensors are given as ``(size,)``; kernels as ``(time, "reads", "writes")``."""

    def __init__(self, sizes: dict[str, int | tuple[int]], kernels: list[tuple[int, str, str]]) -> None:
        self.names = list(sizes)
        tensors = [StepTensor(name, size[0] if isinstance(size, tuple) else size, isinstance(size, tuple)) for name, size in sizes.items()]
        number = self.names.index
        self.step = Step(
            "model",
            tuple(tensors),
            tuple(
                Kernel(f"k{n}", time, time, time, tuple(map(number, reads.split())), tuple(map(number, writes.split())))
                for n, (time, reads, writes) in enumerate(kernels)
            ),
        )

    def move(self, text: str) -> Move:
        """``"3 evict x host 0..10"``: slot, directive, tensor, and where needed tier and range."""
        slot, kind, name, *rest = text.split()
        tier = next((word for word in rest if ".." not in word), None)
        tensor = self.names.index(name)
        span = next((word for word in rest if ".." in word), f"0..{self.step.tensors[tensor].size_bytes}")
        start, end = map(int, span.split(".."))
        return Move(int(slot), kind, tensor, tier, start, end)

    def moves(self, *texts: str) -> list[Move]:
        """Moves in the order given."""
        return [self.move(text) for text in texts]
