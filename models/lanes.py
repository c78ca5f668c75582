"""Lanes: the threads on which inference runs, off the event loop.

One lane per model; lanes know of one another, because engines that queue for the cores beat engines that fight. A job
carries a deadline (when its sound must be ready, or when the person stopped speaking) and the earliest goes first, over
all lanes. It is not a general task queue: jobs are short, made of plain CPU work, and lost when the process ends.

The one rule: a job that has not started can be cancelled and then never runs; one that has started runs to its end.
"""

from __future__ import annotations

import asyncio
import contextlib
import heapq
import itertools
import math
import threading
import time
from collections.abc import AsyncGenerator, Callable, Iterator
from dataclasses import dataclass, field
from typing import Any, TypeVar

T = TypeVar("T")

# How long closing waits for the job that runs: several times the longest (a recogniser on 30 s of sound, 1 to 2 s).
_LAST_JOB_S = 10.0


class LanesClosed(RuntimeError):
    """Work was handed to lanes that are closed (the server is stopping)."""


@dataclass(order=True, slots=True)
class _Job:
    deadline_s: float
    order: int
    lane: Lane = field(compare=False)
    work: Callable[[], Any] = field(compare=False)
    future: asyncio.Future[Any] = field(compare=False)
    loop: asyncio.AbstractEventLoop = field(compare=False)


class Lanes:
    """All lanes of one process.

    `at_once` jobs run at the same time (1 or more; the default suits engines that each use all the cores).
    `clock` gives seconds and only orders jobs whose deadline is left out. With `first_come` deadlines are passed over:
    what came first goes first, which is there to be measured against.
    """

    def __init__(
        self, *, at_once: int = 1, clock: Callable[[], float] = time.monotonic, first_come: bool = False
    ) -> None:
        if at_once < 1:
            raise ValueError(f"at_once is {at_once}; at least one job must be able to run")
        self._clock = clock
        self._first_come = first_come
        self._orders = itertools.count()
        self._waiting: dict[Lane, list[_Job]] = {}  # a heap a lane, so that finding the earliest looks at lanes only
        self._busy: set[Lane] = set()
        self._running: dict[Lane, threading.Thread] = {}
        self._closed = False
        self._changed = threading.Condition()
        self._threads = [threading.Thread(target=self._serve, name=f"lane-{n}", daemon=True) for n in range(at_once)]
        for thread in self._threads:
            thread.start()

    def lane(self, name: str) -> Lane:
        """A lane for one model: its jobs never run two at a time."""
        return Lane(self, name)

    @property
    def waiting(self) -> int:
        """Jobs that have not started."""
        with self._changed:
            return sum(len(jobs) for jobs in self._waiting.values())

    def close(self) -> None:
        """Refuse what waits (`LanesClosed`), finish what runs, and end the threads. Safe to call twice.

        What waits is refused rather than cancelled: a task that nobody cancelled must not see a `CancelledError`.
        """
        with self._changed:
            if self._closed:
                return
            self._closed = True
            left = [job for jobs in self._waiting.values() for job in jobs]
            self._waiting.clear()
            threads = list(self._threads)
            self._changed.notify_all()
        for job in left:
            _settle(job, fault=_closed(job.lane))
        for thread in threads:
            if thread is not threading.current_thread():
                thread.join(timeout=_LAST_JOB_S)

    def _submit(self, lane: Lane, work: Callable[[], T], deadline_s: float | None) -> asyncio.Future[T]:
        loop = asyncio.get_running_loop()
        future: asyncio.Future[T] = loop.create_future()
        due = self._clock() if deadline_s is None or self._first_come else deadline_s
        job = _Job(due, next(self._orders), lane, work, future, loop)
        with self._changed:
            if self._closed:
                raise _closed(lane)
            heapq.heappush(self._waiting.setdefault(lane, []), job)
            self._changed.notify()
        future.add_done_callback(lambda done: self._forget(job) if done.cancelled() else None)
        return future

    def _forget(self, job: _Job) -> None:
        with self._changed:
            left = [other for other in self._waiting.pop(job.lane, []) if other is not job]
            if left:
                heapq.heapify(left)
                self._waiting[job.lane] = left

    def _take(self) -> _Job | None:
        """The earliest job whose lane is idle; waits for one; None once closed."""
        with self._changed:
            while not self._closed:
                first = min((jobs[0] for lane, jobs in self._waiting.items() if lane not in self._busy), default=None)
                if first is not None:
                    heapq.heappop(self._waiting[first.lane])
                    if not self._waiting[first.lane]:
                        del self._waiting[first.lane]
                    self._busy.add(first.lane)
                    self._running[first.lane] = threading.current_thread()
                    return first
                self._changed.wait()
        return None

    def _disown(self, lane: Lane) -> bool:
        with self._changed:
            stuck = self._running.pop(lane, None)
            if stuck is None or self._closed:
                return False
            self._threads.remove(stuck)
            self._busy.discard(lane)
            instead = threading.Thread(target=self._serve, name=stuck.name, daemon=True)
            self._threads.append(instead)
            instead.start()
            return True

    def _release(self, lane: Lane) -> bool:
        """The lane is free again; False where this thread was disowned and must end."""
        with self._changed:
            if self._running.get(lane) is not threading.current_thread():
                return False
            del self._running[lane]
            self._busy.discard(lane)
            self._changed.notify_all()
            return True

    def _serve(self) -> None:
        while self._serve_one():
            pass

    def _serve_one(self) -> bool:
        """A function of its own, so that a thread that waits keeps hold of no job and of nothing that a job gave."""
        job = self._take()
        if job is None:
            return False
        try:
            if not job.future.cancelled():
                _settle(job, result=job.work())
        except StopIteration as stop:  # a future takes none, and whoever awaits would wait for ever
            fault = RuntimeError("the work raised StopIteration")
            fault.__cause__ = stop
            _settle(job, fault=fault)
        except BaseException as fault:
            _settle(job, fault=fault)
        finally:
            owned = self._release(job.lane)
        return owned


class Lane:
    """One model's place in the queue. Made by `Lanes.lane`."""

    def __init__(self, lanes: Lanes, name: str) -> None:
        self._lanes = lanes
        self.name = name

    async def run(self, work: Callable[[], T], *, deadline_s: float | None = None) -> T:
        """Run `work` on a lane thread and give back what it gives.

        `deadline_s` is on the clock of the lanes (monotonic seconds); left out, it is the moment of asking. Cancelling
        the awaiting task before the work starts means that it never does.
        """
        return await self._lanes._submit(self, work, deadline_s)

    @property
    def waiting(self) -> int:
        """Jobs that have not started, of this lane and of those that share its threads."""
        return self._lanes.waiting

    def disown(self) -> bool:
        """Give up on the job that runs on this lane because it is stuck: its thread is left to it and the lane is free.

        Another thread takes its place. False where no job was running.
        """
        return self._lanes._disown(self)

    async def stream(self, make: Callable[[], Iterator[T]], *, deadline_s: float | None = None) -> AsyncGenerator[T]:
        """Run an iterator a step at a time: each step is a job of its own, so that an earlier deadline goes between.

        `make` is called on the lane too. Leaving closes the iterator, on the lane and after the step that may still be
        running: a generator cannot be closed from beside. Leaving does not wait for that.
        """
        iterator: Iterator[T] | None = None
        end = object()

        def step() -> object:
            nonlocal iterator
            if iterator is None:
                iterator = iter(make())
            return next(iterator, end)

        def leave() -> None:
            close = getattr(iterator, "close", None)
            if close is not None:
                close()

        try:
            while (item := await self.run(step, deadline_s=deadline_s)) is not end:
                yield item  # type: ignore[misc]
        finally:
            # Ahead of everything: what closes frees memory, and takes no time.
            with contextlib.suppress(LanesClosed):
                self._lanes._submit(self, leave, -math.inf).add_done_callback(_overlook)


def _closed(lane: Lane) -> LanesClosed:
    return LanesClosed(f"lane {lane.name} is closed: the server is stopping")


def _overlook(done: asyncio.Future[Any]) -> None:
    """Nobody awaits a closing; a fault in it is the iterator's own and ends with it."""
    if not done.cancelled():
        done.exception()


def _settle(job: _Job, *, result: object = None, fault: BaseException | None = None) -> None:
    """Finish the future on its own loop, unless somebody cancelled it or the loop is gone."""

    def act() -> None:
        if job.future.done():
            return
        if fault is None:
            job.future.set_result(result)
        else:
            job.future.set_exception(fault)

    # The loop closed while the job ran: nobody waits any more.
    with contextlib.suppress(RuntimeError):
        job.loop.call_soon_threadsafe(act)
