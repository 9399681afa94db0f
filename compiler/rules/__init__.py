"""The rule language: ``.rules`` files to the rules of the rewriting engine.

The way of a text: lines (``lines``), sections of lines (``sections``), nodes by the grammar (``syntax``, ``nodes``, ``tree``), checked
expressions (``expressions``), patterns (``patterns``), conditions (``conditions``) and rewrites (``rewrites``), rules (``reader``).
"""
