"""Errors of the UVM runtime."""

from __future__ import annotations


class StuckError(Exception):
    """The step cannot run on this machine: a kernel does not fit, or nothing can proceed. Exit status 3."""

    exit_status = 3


class AccountingError(Exception):
    """A broken invariant of the runtime itself: pages were lost or invented, or a tier is over-full. Never the user's fault."""
