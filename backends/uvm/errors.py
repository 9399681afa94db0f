"""Signals inside the UVM runtime. What a user sees is an :class:`~g10c.ir.errors.InfeasibleError`."""

from __future__ import annotations


class StalledError(Exception):
    """Nothing can proceed; the runner, which knows the kernel that waits, turns it into a message."""
