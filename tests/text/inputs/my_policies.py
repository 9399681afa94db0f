"""Policies of a user's, right and wrong."""

from dataclasses import dataclass

from g10c.compiler import CopyPolicy, CopyRules, Policy, option


@dataclass
class Ahead(Policy):
    """Fetches what the next kernel needs."""

    name = "ahead"
    by: int = option(1, "kernels")

    def begin(self, step, machine):
        self.needed = [kernel.operands for kernel in step.kernels]

    def prefetch(self, kernel, memory):
        return self.needed[(kernel + self.by) % len(self.needed)]


@dataclass
class Failing(Policy):
    """Divides by zero."""

    name = "failing"

    def prefetch(self, kernel, memory):
        return [3 // (1 - kernel)]


@dataclass
class Naming(Policy):
    """Answers with a name."""

    name = "naming"

    def spared(self, kernel):
        return ["w1"]


@dataclass
class Outside(CopyPolicy):
    """Fetches what is not there."""

    name = "outside"

    def fetch_after(self, kernel, pool):
        return [99]


@dataclass
class Ruleless(CopyPolicy):
    """Has no rules."""

    name = "ruleless"

    def begin(self, step, moves, machine):
        return None


@dataclass
class Small(CopyPolicy):
    """Has hardly any memory."""

    name = "small"

    def begin(self, step, moves, machine):
        rules = CopyRules.of(machine)
        return CopyRules(40 << 20, rules.ssd_bandwidth, rules.host_bandwidth)
