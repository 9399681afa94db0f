"""The published results of G10, run again."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from support import g10c

from g10c.models.g10.reproduction import G10Reproduction

MODELS = ("BERT_Base", "VIT", "Inceptionv3", "ResNet152", "SENet154")
POLICIES = ("g10", "base-uvm", "ideal")


def published(folder: Path) -> list[dict]:
    rows = json.loads((folder / "published.json").read_text(encoding="utf-8"))["iteration_time"]
    return [row for row in rows if row["model"] in MODELS and row["policy"] in POLICIES]


def reproduce(folder: Path, rows: list[dict], tmp_path: Path) -> list[dict]:
    (tmp_path / "cases.json").write_text(json.dumps(rows), encoding="utf-8")
    report = G10Reproduction().run(str(folder), str(tmp_path / "cases.json"), 2 if len(rows) > 50 else 1, lambda text: None)
    assert report["summary"]["all"]["refused"] == 0
    return report["cases"]


def errors(rows: list[dict], policy: str) -> list[float]:
    found = sorted(abs(row["error"]) for row in rows if row["policy"] == policy)
    assert found, f"no case of {policy}"
    return found


def check(rows: list[dict]) -> None:
    """The bounds that hold for all published settings, as fractions of the published time."""
    assert max(errors(rows, "ideal")) <= 1e-4
    g10 = errors(rows, "g10")
    assert sum(error <= 1e-3 for error in g10) >= 0.9 * len(g10)
    assert sum(error <= 1e-2 for error in g10) >= 0.98 * len(g10)
    base = errors(rows, "base-uvm")
    assert base[len(base) // 2] <= 0.02
    assert base[-1] <= 0.06


def test_some_settings(g10_data, tmp_path):
    """Of transformers and of convolutional networks: batch sizes that fit and that do not, little host memory, a fast SSD."""
    wanted = [
        *(("BERT_Base", 256, 128.0, 3.2), ("VIT", 1280, 128.0, 3.2), ("VIT", 1024, 16.0, 3.2), ("VIT", 1280, 128.0, 25.6)),
        *(("Inceptionv3", 512, 128.0, 3.2), ("ResNet152", 768, 16.0, 3.2), ("SENet154", 256, 128.0, 3.2), ("SENet154", 1024, 128.0, 25.6)),
    ]
    rows = [row for row in published(g10_data) if (row["model"], row["batch"], row["host_gb"], row["ssd_gbps"]) in wanted]
    assert {row["policy"] for row in rows} == set(POLICIES)
    assert {row["model"] for row in rows} == set(MODELS)
    check(reproduce(g10_data, rows, tmp_path))


@pytest.mark.slow
def test_many_settings(g10_data, tmp_path):
    """All of the transformers, and every seventh of the convolutional networks, which take ten times as long; `reproduce` runs them all."""
    rows = published(g10_data)
    assert len(rows) == 293
    transformers = [row for row in rows if row["model"] in ("BERT_Base", "VIT")]
    others = [row for row in rows if row not in transformers][::7]
    assert {row["policy"] for row in others} == set(POLICIES)
    check(reproduce(g10_data, [*transformers, *others], tmp_path))


def test_a_case_needs_no_published_value(g10_data, tmp_path):
    """The same answer with the published value, without it, and with a wrong one; a setting that nobody published runs too."""
    settings = {"model": "VIT", "batch": 768, "policy": "g10"}
    rows = [
        {**settings, "iteration_ns": 2902590503},
        settings,
        {**settings, "iteration_ns": None},
        {**settings, "gpu_gb": 24, "host_gb": 48},
    ]
    known, without, null, other = reproduce(g10_data, rows, tmp_path)
    assert known["ours_ns"] == without["ours_ns"] == null["ours_ns"]
    assert without["error"] is None
    assert null["error"] is None
    assert other["ours_ns"] > known["ours_ns"]


def test_the_command_gives_each_case_and_a_summary(g10_data, tmp_path):
    rows = [{"model": "VIT", "batch": 256, "policy": policy} for policy in ("ideal", "g10", "deepun")] + [
        {"model": "VIT", "batch": 257, "policy": "g10"},
        {"model": "VIT", "batch": 256, "policy": "g10", "gpu_gb": 0.001},
    ]
    (tmp_path / "cases.json").write_text(json.dumps(rows), encoding="utf-8")
    done = g10c("reproduce", "g10", "--data", g10_data, "--cases", "cases.json", "--json", "-", "--jobs", "2", cwd=tmp_path)
    assert (done.status, done.err) == (0, "")
    report = json.loads(done.out)
    ideal, planned, unknown, unprofiled, small = report["cases"]
    assert ideal["ours_ns"] <= planned["ours_ns"]
    assert "policy 'deepun' is not one of" in unknown["refused"]
    assert "no kernel times for batch 257" in unprofiled["refused"]
    assert "alone needs 390.25 MiB of GPU memory" in small["refused"]
    assert report["summary"]["all"] == {"cases": 5, "compared": 0, "refused": 3}


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "not JSON"),
        ("{}", "expected a list of cases"),
        ("[3]", "[0]: error: expected a case (an object), found int"),
        ('[{"model": "VIT", "batch": 256}]', "the key 'policy' is missing"),
        ('[{"model": "VIT", "batch": 256, "policy": "g10", "host_gbs": 3}]', "did you mean 'host_gb'"),
        ('[{"model": "VIT", "batch": 2.5, "policy": "g10"}]', "[0].batch: error: expected a whole number above 0, found 2.5"),
        ('[{"model": "VIT", "batch": 256, "policy": "g10", "ssd_gbps": -1}]', "expected a number, at least 0, found -1"),
        ('[{"model": "VIT", "batch": 256, "policy": "g10", "iteration_ns": NaN}]', "expected a time above 0 or null, found nan"),
        ('[{"model": "VIT", "batch": 256, "policy": "g10", "iteration_ns": 1' + "0" * 400 + "}]", "expected a time above 0 or null"),
        ('[{"model": "VIT", "batch": 256, "batch": 512, "policy": "g10"}]', "the key 'batch' is there twice"),
        ("[" * 5000, "nested too deeply"),
        ('[{"model": "VIT", "batch": 256, "policy": "g10", "iteration_ns": 0}]', "expected a time above 0 or null, found 0"),
    ],
)
def test_mistakes_in_a_case_file(text, message, g10_data, tmp_path):
    (tmp_path / "cases.json").write_text(text, encoding="utf-8")
    done = g10c("reproduce", "g10", "--data", g10_data, "--cases", "cases.json", cwd=tmp_path)
    assert done.status == 1
    assert message in done.err


def test_a_folder_without_data(tmp_path):
    (tmp_path / "cases.json").write_text("[]", encoding="utf-8")
    done = g10c("reproduce", "g10", "--data", tmp_path, "--cases", "cases.json", cwd=tmp_path)
    assert done.status == 1
    assert "no data of G10 here" in done.err


def test_a_checkout_of_the_artifact_is_recognised(g10_data, tmp_path):
    """The artifact keeps networks in frontend/Nets, without nets.json, and kernel times in results."""
    (tmp_path / "frontend" / "Nets").mkdir(parents=True)
    for net in (g10_data / "nets").glob("*.txt"):
        (tmp_path / "frontend" / "Nets" / net.name).symlink_to(net)
    (tmp_path / "results").symlink_to(g10_data / "times")
    case = {"model": "BERT_Base", "batch": 256, "policy": "ideal"}
    assert reproduce(tmp_path, [case], tmp_path)[0]["ours_ns"] == reproduce(g10_data, [case], tmp_path)[0]["ours_ns"]


def test_the_cases_are_not_overwritten(g10_data, tmp_path):
    (tmp_path / "cases.json").write_text("[]", encoding="utf-8")
    done = g10c("reproduce", "g10", "--data", g10_data, "--cases", "cases.json", "--json", "./cases.json", cwd=tmp_path)
    assert done.status == 2
    assert "is the input, and would be overwritten" in done.err


def test_keys_of_ones_own_are_kept(g10_data, tmp_path):
    (case,) = reproduce(g10_data, [{"model": "VIT", "batch": 256, "policy": "ideal", "note": "mine"}], tmp_path)
    assert case["note"] == "mine"
