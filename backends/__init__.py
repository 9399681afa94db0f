"""Consumers of programs and plans: the simulator and reports."""
