"""A package outside g10c: one pass, one machine."""
