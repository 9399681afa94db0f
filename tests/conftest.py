"""Options and fixtures of all tests."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import settings
from support import data_folder


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--slow", action="store_true", help="also run the long sweeps")
    parser.addoption("--explore", action="store_true", help="draw new random examples; otherwise every run draws the same")
    parser.addoption("--update-golden", action="store_true", help="write golden files anew instead of comparing with them")


def pytest_configure(config: pytest.Config) -> None:
    settings.register_profile("repeatable", derandomize=not config.getoption("--explore"))
    settings.load_profile("repeatable")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    if config.getoption("--slow"):
        return
    skip = pytest.mark.skip(reason="a long sweep; run with --slow")
    for item in items:
        if item.get_closest_marker("slow"):
            item.add_marker(skip)


@pytest.fixture(scope="session")
def g10_data() -> Path:
    """The folder of the published G10 data; tests that need it are skipped where it is absent."""
    folder = data_folder()
    if folder is None:
        pytest.skip("published data not found; set G10C_DATA")
    return folder / "g10"
