"""All figures of a small network, end to end: data against golden files, plots, what is kept between runs."""

from __future__ import annotations

import builtins
import csv
import json
import shutil
from concurrent.futures import BrokenExecutor, ThreadPoolExecutor
from pathlib import Path

import pytest
from figures.tiny import make_cases, make_data, row
from support import ROOT, g10c

from g10c.compiler.cli import main
from g10c.ir.errors import G10cError
from g10c.models.g10 import outcomes, parallel
from g10c.models.g10.cases import Case
from g10c.models.g10.figures import writing
from g10c.models.g10.figures.data import FIGURES
from g10c.models.g10.figures.summary import file_stem
from g10c.models.g10.layout import Layout
from g10c.models.g10.outcomes import Job

GOLDEN = ROOT / "tests" / "figures" / "golden"
ALL = "2-4,11-21"


@pytest.fixture(scope="module")
def folder(tmp_path_factory) -> Path:
    """Data, cases, and all figures without plots in ``out``."""
    folder = tmp_path_factory.mktemp("tiny")
    make_data(folder / "data")
    make_cases(folder / "cases.json")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(writing, "find_spec", lambda name: None)
        lines = writing.write_figures(str(folder / "data"), str(folder / "cases.json"), ALL, str(folder / "out"), 1, lambda text: None)
    assert lines[-1] == writing.WITHOUT_PLOTS
    return folder


@pytest.mark.parametrize("figure", FIGURES)
def test_data(figure: int, folder: Path, request):
    found = (folder / "out" / f"{file_stem(figure)}.csv").read_text(encoding="utf-8")
    golden = GOLDEN / f"{file_stem(figure)}.csv"
    if request.config.getoption("--update-golden"):
        golden.write_text(found, encoding="utf-8")
        return
    assert found == golden.read_text(encoding="utf-8"), f"if that is right: pytest --update-golden {Path(__file__).name}"


def table(folder: Path, figure: int) -> list[dict[str, str]]:
    with (folder / "out" / f"{file_stem(figure)}.csv").open(encoding="utf-8") as stream:
        return list(csv.DictReader(stream))


def test_times_are_those_of_the_command_line(folder: Path, tmp_path: Path):
    """A case can be typed by hand: import, compile, sim."""
    data, machine = folder / "data", ["--machine", "g10-paper", "--set", "gpu.memory=24MiB", "--set", "host.memory=64MiB"]
    imported = g10c(
        *("import", "g10", "--net", data / "nets" / "Tiny.txt", "--batch", "8", "-o", "tiny.ir"),
        *("--kernel-times", data / "times" / "Tiny" / "cudnn8.txt"),
        cwd=tmp_path,
    )
    assert imported.status == 0, imported.err
    pipeline = "migrate{solver=greedy,memory_line=1.0,preallocate=until-fits,estimate=false}"
    assert g10c("compile", "tiny.ir", "--pass", pipeline, "--emit", "plan.json", *machine, cwd=tmp_path).status == 0
    result = json.loads(g10c("sim", "plan.json", "--json", "-", cwd=tmp_path).out)
    (ours,) = (row for row in table(folder, 11) if row["policy"] == "g10")
    assert int(ours["iteration_ns"]) == min(result["step_times_ns"])
    assert int(ours["ideal_ns"]) == result["ideal_time_ns"]
    links = {row["link"]: int(row["bytes"]) for row in table(folder, 14) if row["policy"] == "g10"}
    assert links == {link: result["links"][link]["bytes"] for link in links}


def test_parts_and_slowdowns_add_up(folder: Path):
    parts = [row for row in table(folder, 12) if row["policy"] == "g10"]
    (ours,) = (row for row in table(folder, 11) if row["policy"] == "g10")
    assert sum(int(row["ns"]) for row in parts) == int(ours["iteration_ns"])
    kernels = [row for row in table(folder, 13) if row["policy"] == "g10"]
    assert sum(int(row["time_ns"]) for row in kernels) == int(ours["iteration_ns"])
    assert sum(int(row["own_ns"]) for row in kernels) == int(ours["ideal_ns"])
    assert all(float(row["slowdown"]) >= 1 for row in kernels)


def test_published_values_stand_beside_ours(folder: Path):
    (ours,) = (row for row in table(folder, 11) if row["policy"] == "g10")
    assert ours["published_ns"] == "10000000"
    assert float(ours["error"]) == pytest.approx(int(ours["iteration_ns"]) / 1e7 - 1, rel=1e-4)
    (part,) = (row for row in table(folder, 12) if (row["policy"], row["part"]) == ("g10", "stall"))
    assert float(part["published_share"]) == pytest.approx(0.1)
    assert float(part["points"]) == pytest.approx(100 * float(part["share"]) - 10, abs=1e-3)
    (link,) = (row for row in table(folder, 14) if (row["policy"], row["link"]) == ("g10", "ssd_to_gpu"))
    assert int(link["published_bytes"]) == 100 * 4096
    assert [row["published"] for row in table(folder, 19)] == ["0.9", "0.89", "0.88", "0.87", "0.86", "0.85"]


def test_the_summary_names_what_cannot_run(folder: Path):
    page = (folder / "out" / "summary.md").read_text(encoding="utf-8")
    assert page.count("\n## Figure ") == len(FIGURES)
    assert "- Tiny 8 flashneuron, host 0.0625 GiB, SSD 3.2 GB/s: kernel " in page
    assert ".png" not in page


def test_finished_cases_are_not_run_again(folder: Path, tmp_path: Path, monkeypatch):
    """A run that is interrupted goes on where it was; a case that was kept gives the same data."""
    begun: list[Case] = []

    def run_case(layout: Layout, job: Job, original=outcomes.run_case) -> outcomes.Outcome:
        if len(begun) == 4:
            raise KeyboardInterrupt
        begun.append(job.case)
        return original(layout, job)

    monkeypatch.setattr(outcomes, "run_case", run_case)
    arguments = ["reproduce", "g10", "--data", str(folder / "data"), "--cases", str(folder / "cases.json"), "--figures", "15"]
    assert main([*arguments, "--output", str(tmp_path)]) == 130
    assert len(list((tmp_path / "cases").glob("*.json"))) == 4
    first, begun[:] = set(begun), []
    assert main([*arguments, "--output", str(tmp_path)]) == 0
    assert len(begun) == 2
    assert not first & set(begun)
    name = f"{file_stem(15)}.csv"
    assert (tmp_path / name).read_text() == (folder / "out" / name).read_text()


def test_a_plain_run_keeps_cases_too(folder: Path, tmp_path: Path, monkeypatch, capsys):
    (tmp_path / "cases.json").write_text(json.dumps([row(11, "ideal")]), encoding="utf-8")
    arguments = ["reproduce", "g10", "--data", str(folder / "data"), "--cases", str(tmp_path / "cases.json"), "--output", str(tmp_path)]
    assert main(arguments) == 0
    shown = capsys.readouterr().out
    monkeypatch.setattr(outcomes, "run_case", lambda layout, job: pytest.fail("it was kept"))
    assert main(arguments) == 0
    assert capsys.readouterr().out == shown


def test_what_is_kept_is_what_decides(folder: Path, tmp_path: Path, monkeypatch):
    """Another setting, another detail, other data or another version is another file; a broken one is run again."""
    layout = Layout.find(str(folder / "data"))
    job = Job(Case.of(row(11, "g10")))
    path = outcomes.kept_path(layout, job, "kept")
    assert path == outcomes.kept_path(layout, Job(Case.of(row(12, "g10", gpu_gb=24 / 1024, ssd_gbps=3.2))), "kept")
    assert path == outcomes.kept_path(layout, Job(Case.of(row(11, "g10", pcie_gbps=15.754, seed=5489))), "kept")
    others = [Job(job.case, detail=True), *(Job(Case.of(row(11, "g10", **{name: 3}))) for name in ("gpu_gb", "variation", "seed"))]
    assert len({path, *(outcomes.kept_path(layout, other, "kept") for other in others)}) == 5
    monkeypatch.setattr(outcomes, "code_digest", lambda: "another")
    assert path != outcomes.kept_path(layout, job, "kept")
    monkeypatch.undo()
    shutil.copytree(folder / "data", tmp_path / "data")
    times = tmp_path / "data" / "times" / "Tiny" / "cudnn4.txt"
    assert path.name == outcomes.kept_path(Layout.find(str(tmp_path / "data")), job, "kept").name
    outcomes.data_digest.cache_clear()
    times.write_text(times.read_text().replace("0.1", "0.2", 1))
    assert path.name != outcomes.kept_path(Layout.find(str(tmp_path / "data")), job, "kept").name
    outcomes.data_digest.cache_clear()


@pytest.mark.parametrize("text", ["", "{", "[]", '{"outcome": 3}'])
def test_a_broken_file_is_run_again(text: str, folder: Path, tmp_path: Path):
    layout, job = Layout.find(str(folder / "data")), Job(Case.of(row(11, "ideal")))
    path = outcomes.kept_path(layout, job, str(tmp_path))
    path.write_text(text)
    done = parallel.run_jobs(layout, [job], folder=str(tmp_path))
    assert done[job]["iteration_ns"] == json.loads(path.read_text())["outcome"]["iteration_ns"] > 0


def test_any_executor_runs_the_cases(folder: Path):
    layout = Layout.find(str(folder / "data"))
    jobs = [Job(Case.of(row(11, policy))) for policy in ("ideal", "g10", "base-uvm")]
    shown: list[str] = []
    made: list[int] = []

    def threads(workers: int) -> ThreadPoolExecutor:
        made.append(workers)
        return ThreadPoolExecutor(workers)

    found = parallel.run_jobs(layout, [*jobs, *jobs], 2, None, shown.append, threads)
    assert found == parallel.run_jobs(layout, jobs)
    assert made == [2]
    assert shown == ["1/3 cases", "2/3 cases", "3/3 cases"]


class Ended(ThreadPoolExecutor):
    """An executor whose processes are ended before the second case."""

    def submit(self, function, /, layout, job, folder):
        if job.case.policy != "ideal":
            return super().submit(lambda: (_ for _ in ()).throw(BrokenExecutor("ended")))
        return super().submit(function, layout, job, folder)


def test_a_process_that_is_ended_is_no_accident_of_g10c(folder: Path, tmp_path: Path):
    layout = Layout.find(str(folder / "data"))
    jobs = [Job(Case.of(row(11, policy))) for policy in ("ideal", "g10")]
    with pytest.raises(G10cError, match=r"was ended from outside.*\n.*finished cases are kept"):
        parallel.run_jobs(layout, jobs, 2, str(tmp_path), executor=Ended)


def test_several_processes_give_the_same(folder: Path, tmp_path: Path):
    arguments = ("reproduce", "g10", "--data", folder / "data", "--cases", folder / "cases.json", "--figures", "16", "--output", tmp_path)
    done = g10c(*arguments, "--jobs", "2")
    assert (done.status, done.err) == (0, "")
    name = f"{file_stem(16)}.csv"
    assert (tmp_path / name).read_text() == (folder / "out" / name).read_text()


@pytest.mark.parametrize("figure", FIGURES)
def test_a_plot_of_each_figure(figure: int, folder: Path):
    pytest.importorskip("matplotlib")
    from g10c.models.g10.figures.data import Sources, jobs_of
    from g10c.models.g10.figures.plots import plot_files
    from g10c.models.g10.figures.published import read_published

    layout, published = Layout.find(str(folder / "data")), read_published(folder / "cases.json")
    kept = str(folder / "out" / "cases")
    sources = Sources(layout, published, parallel.run_jobs(layout, jobs_of(published, [figure]), folder=kept))
    data = FIGURES[figure].data(sources, figure)
    files = plot_files(figure, data)
    assert files["png"].startswith(b"\x89PNG")
    assert files["pdf"].startswith(b"%PDF")


def test_plots_are_written_where_matplotlib_is(folder: Path, tmp_path: Path, monkeypatch):
    pytest.importorskip("matplotlib")
    arguments = ["reproduce", "g10", "--data", str(folder / "data"), "--cases", str(folder / "cases.json"), "--output", str(tmp_path)]
    assert main([*arguments, "--figures", "3"]) == 0
    assert {path.name for path in tmp_path.glob("figure*")} == {f"{file_stem(3)}.{suffix}" for suffix in ("csv", "png", "pdf")}
    first = (tmp_path / f"{file_stem(3)}.pdf").read_bytes()
    assert main([*arguments, "--figures", "3"]) == 0
    assert (tmp_path / f"{file_stem(3)}.pdf").read_bytes() == first


def test_nothing_of_matplotlib_is_imported_without_figures(monkeypatch, folder: Path, capsys):
    real = builtins.__import__

    def refuse(name, *rest, **more):
        assert not name.startswith("matplotlib"), "matplotlib is imported where figures are plotted only"
        return real(name, *rest, **more)

    monkeypatch.setattr(builtins, "__import__", refuse)
    assert main(["reproduce", "g10", "--data", str(folder / "data"), "--cases", str(folder / "cases.json")]) == 0


@pytest.mark.parametrize(
    ("arguments", "status", "message"),
    [
        (["--figures", "11"], 2, "--figures takes --output too"),
        ([], 2, "--cases, or --figures and --output"),
        (["--figures", "5", "--output", "o"], 2, "there is no figure 5"),
        (["--figures", "11", "--output", "o", "--json", "x"], 2, "--json means nothing with --figures"),
        (["--figures", "11", "--output", "file"], 1, "file: this folder cannot be made: a file of that name is there"),
        (["--figures", "11", "--output", "o", "--cases", "none.json"], 1, "none.json: cannot be read"),
        (["--figures", "11", "--output", "o", "--cases", "wrong.json"], 1, "wrong.json: traffic[0]: the key 'pages_4kib' is missing"),
    ],
)
def test_mistakes(arguments, status, message, folder: Path, tmp_path: Path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    Path("file").touch()
    Path("wrong.json").write_text('{"iteration_time": [], "traffic": [{"model": "Tiny"}]}')
    assert main(["reproduce", "g10", "--data", str(folder / "data"), *arguments]) == status
    assert message in capsys.readouterr().err


def test_a_system_without_figures_says_so():
    from g10c.compiler.protocols import Reproduction

    class Other(Reproduction):
        name = "other"

        def run(self, data, cases, jobs, progress, folder=None):
            return {}

        def render(self, report, form):
            return ""

    with pytest.raises(G10cError, match="other has no figures here"):
        Other().figures("data", None, "1", "out", 1, print)
