"""The rewriting engine: programs that can be edited, patterns over their dataflow, rules, and rules applied to a fixpoint."""
