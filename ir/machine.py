"""The machine a step runs on: values with units, as plain data.

Bandwidths are bytes per second (``GB/s`` is 10^9), memories are bytes (``GiB`` is 2^30), times are nanoseconds.
Reading and checking of machine files is in :mod:`g10c.ir.machine_file`, the keys of these files in :mod:`g10c.ir.machine_keys`.
"""

from __future__ import annotations

from dataclasses import dataclass, field

UNLIMITED = 1 << 60
"""A capacity nothing in a program reaches (bytes)."""

FAULT_MODELS = ("profiled", "artifact")
"""``profiled`` prices faults with the profiled times; ``artifact`` with those times in whole seconds, as the published G10 code does."""

NETWORK_KINDS = ("none", "electrical", "optical")
"""``electrical``: links between neighbours of a ring, shared by the flows on them; ``optical``: circuits on a mesh of rows and columns."""


@dataclass(frozen=True, slots=True)
class Gpu:
    """Memory (bytes) of one GPU, how much of it the program cannot have, and the cost of allocating."""

    name: str = "gpu"
    count: int = 1
    memory: int = 40 << 30
    reserved: int = 0
    malloc_time_per_byte: float = 0.0
    """Nanoseconds per byte that an allocation on demand costs (G10 artifact: 8.14e-7 us per byte)."""

    @property
    def usable(self) -> int:
        """Bytes of memory a program may fill."""
        return max(0, self.memory - self.reserved)


@dataclass(frozen=True, slots=True)
class Host:
    """Host memory (bytes) that tensors may move to."""

    memory: int = 128 << 30


@dataclass(frozen=True, slots=True)
class Link:
    """A connection with one bandwidth in each direction (bytes per second) and a latency (ns)."""

    bandwidth: int
    latency_ns: int = 0


@dataclass(frozen=True, slots=True)
class Uvm:
    """Unified virtual memory: what a far fault costs and how pages travel."""

    fault_latency_ns: int = 45_000
    fault_model: str = "profiled"
    """One of :data:`FAULT_MODELS`."""
    batch_pages: int = 0
    """Pages served together in one PCIe period; 0 means that pages flow without a period (fluid)."""
    page: int = 4096
    """Bytes of a page, a power of two."""


@dataclass(frozen=True, slots=True)
class Network:
    """Links between GPUs: ``bandwidth`` is bytes per second of one link in one direction, ``latency_ns`` that of one hop."""

    kind: str = "none"
    """One of :data:`NETWORK_KINDS`."""
    bandwidth: int = 0
    latency_ns: int = 0
    rows: int = 0
    cols: int = 0


@dataclass(frozen=True, slots=True)
class Machine:
    """One machine. A missing SSD has bandwidth 0; missing host memory has 0 bytes.

    ``pcie`` is the link of one GPU to the host; SSD traffic shares it. ``remote`` is the link of one GPU to a memory outside the
    machine that holds what a step starts from (0: there is none).
    """

    name: str
    gpu: Gpu = field(default_factory=Gpu)
    host: Host = field(default_factory=Host)
    pcie: Link = field(default_factory=lambda: Link(15_754_000_000))
    ssd: Link = field(default_factory=lambda: Link(0))
    uvm: Uvm = field(default_factory=Uvm)
    remote: Link = field(default_factory=lambda: Link(0))
    network: Network = field(default_factory=Network)
    description: str = ""
    source: tuple[str, ...] = ()
    """Where the figures come from, one citation an entry."""

    def pages(self, size_bytes: int) -> int:
        """Pages that ``size_bytes`` bytes occupy."""
        return -(-size_bytes // self.uvm.page)
