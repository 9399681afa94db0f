"""Bundled machine files."""
