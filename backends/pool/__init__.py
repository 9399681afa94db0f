"""Explicit copies out of and into one pool of GPU memory, in which every tensor has a place in one piece.

This is the runtime of FlashNeuron (FAST'21) as G10's artifact models it (``FlashNeuron_simulator`` in ``analysis.cc``); the artifact runs
G10-GDS and G10-Host on it too. :func:`~g10c.backends.pool.runner.simulate_pool` is the interface. A
:class:`~g10c.compiler.protocols.CopyPolicy` states the rules and fetches ahead.
"""
