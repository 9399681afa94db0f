"""The ``direct`` runtime: explicit copies only, no faults, as in FlashNeuron and G10-GDS.

:func:`~g10c.backends.direct.runner.simulate_direct` is the interface. A plan is first read in issue order, without time
(:mod:`~g10c.backends.direct.lower`): which bytes each directive moves, and whether each kernel finds what it needs, follows from the order
alone. Only then is it timed (:mod:`~g10c.backends.direct.player`), so that whether data are found never depends on how fast a link is.
"""

from g10c.backends.direct.runner import simulate_direct

__all__ = ["simulate_direct"]
