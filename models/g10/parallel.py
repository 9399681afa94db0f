"""Cases run at once, in processes; what is finished is kept, so that an interrupted run goes on where it was."""

from __future__ import annotations

import signal
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import BrokenExecutor, Executor, Future, ProcessPoolExecutor, as_completed

from g10c.ir.errors import InfeasibleError
from g10c.ir.output import make_folder
from g10c.models.g10.layout import Layout
from g10c.models.g10.outcomes import Job, Outcome, answer, kept_path, read_kept

MAX_JOBS = 64
"""Processes at most: more than that only cost memory."""


def processes(workers: int) -> Executor:
    """The executor that runs cases unless another is given."""
    return ProcessPoolExecutor(max_workers=workers, initializer=_die_quietly)


def _die_quietly() -> None:
    """An interrupt at the terminal reaches the workers too; only the first process tells of it."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)


def run_jobs(
    layout: Layout,
    jobs: Sequence[Job],
    workers: int = 1,
    folder: str | None = None,
    progress: Callable[[str], None] = lambda text: None,
    executor: Callable[[int], Executor] = processes,
) -> dict[Job, Outcome]:
    """The outcome of every job. Those that ``folder`` holds are not run again; each that is finished is kept there at once."""
    done: dict[Job, Outcome] = {}
    for job in jobs if folder else ():
        kept = read_kept(kept_path(layout, job, folder)) if folder else None
        if kept is not None:
            done[job] = kept
    waiting = sorted({job: None for job in jobs if job not in done}, key=_cost, reverse=True)
    from_before = f", {len(done)} from before" if done else ""
    total = len(done) + len(waiting)
    for job, outcome in _run_all(layout, waiting, min(workers, len(waiting), MAX_JOBS), folder, executor):
        done[job] = outcome
        progress(f"{len(done)}/{total} cases{from_before}")
    return done


def _cost(job: Job) -> tuple[bool, int, str]:
    """The longest first, so that none is left over at the end; cases of one program together, as it is imported once."""
    return job.case.policy == "deepum", job.case.batch, job.case.model


def _run_all(
    layout: Layout, jobs: Sequence[Job], workers: int, folder: str | None, executor: Callable[[int], Executor]
) -> Iterator[tuple[Job, Outcome]]:
    if folder:
        make_folder(folder)
    if workers <= 1:
        yield from ((job, answer(layout, job, folder)) for job in jobs)
        return
    pool = executor(workers)
    try:
        waiting: dict[Future[Outcome], Job] = {pool.submit(answer, layout, job, folder): job for job in jobs}
        for future in as_completed(waiting):
            yield waiting[future], future.result()
    except BrokenExecutor as error:
        hint = "finished cases are kept: run it again, with fewer --jobs if memory was short" if folder else "give fewer --jobs"
        raise InfeasibleError.at("a process that runs cases was ended from outside, perhaps for want of memory", None, hint) from error
    except BaseException:
        pool.shutdown(wait=False, cancel_futures=True)
        raise
    pool.shutdown()
