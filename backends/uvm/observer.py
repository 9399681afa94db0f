"""A timeline of a simulated step, for whoever asks for it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

from g10c.backends.uvm.pages import HOST, SSD

if TYPE_CHECKING:
    from g10c.backends.uvm.service import Service


class Observer(Protocol):
    """Told what happens, in order of time, of every step. Times are nanoseconds from the start of the first step."""

    def step(self, number: int, start_ns: int) -> None:
        """Step ``number`` begins."""
        ...

    def kernel(self, kernel: int, start_ns: int, end_ns: int, fault_ns: int) -> None:
        """A kernel was current from ``start_ns`` to ``end_ns``, ``fault_ns`` of it beyond its own time."""
        ...

    def copy(self, link: str, start_ns: int, end_ns: int, size_bytes: int) -> None:
        """Bytes moved over ``link`` (one of :data:`g10c.ir.result.LINKS`) in a stretch of time of uniform traffic."""
        ...

    def queued(self, start_ns: int, end_ns: int) -> None:
        """Pages moved, were allocated or waited for that. Stretches come in order; some touch."""
        ...

    def memory(self, time_ns: int, gpu: int, host: int, ssd: int) -> None:
        """Bytes in use on each tier."""
        ...


class Watch:
    """Turns the traffic counters of a service into calls of an observer."""

    def __init__(self, observer: Observer, service: Service, page: int) -> None:
        self._observer = observer
        self._service = service
        self._page = page
        self._seen = (0, 0, 0, 0)

    def restart(self) -> None:
        """The traffic counters were set to zero."""
        self._seen = (0, 0, 0, 0)

    def queued(self, start_ns: int, end_ns: int) -> None:
        """Report a time in which pages moved or waited."""
        self._observer.queued(start_ns, end_ns)

    def report(self, start_ns: int, end_ns: int) -> None:
        """Report what moved since the last call as the traffic of ``start_ns`` to ``end_ns``."""
        traffic, page = self._service.traffic, self._page
        now = (traffic.host_out, traffic.host_in, traffic.ssd_out, traffic.ssd_in)
        for link, old, new in zip(("gpu_to_host", "host_to_gpu", "gpu_to_ssd", "ssd_to_gpu"), self._seen, now, strict=True):
            if new > old:
                self._observer.copy(link, start_ns, end_ns, (new - old) * page)
        self._seen = now
        self.queued(start_ns, end_ns)
        pages = self._service.pages
        self._observer.memory(end_ns, (pages.gpu_pages - pages.free) * page, pages.used[HOST] * page, pages.used[SSD] * page)
