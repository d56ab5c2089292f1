"""The workers of one pass as the loader sees them: orders go out, data come back."""

from __future__ import annotations

import multiprocessing
import queue
import signal
import threading
import time
from multiprocessing.connection import wait

from .worker import Task, in_process, serve

PATIENCE = 5.0


class Processes:
    """One process a worker, each with a queue of orders and a pipe for what it made."""

    def __init__(self, recipe, base_seed, context):
        self._workers, self._orders, self._pipes = [], [], []
        for k in range(recipe.workers):
            orders, (here, there) = context.Queue(), context.Pipe(duplex=False)
            orders.cancel_join_thread()
            task = Task(recipe, k, base_seed, "multiprocessing")
            worker = context.Process(
                target=_process, args=(task, orders, there), daemon=True, name=f"loader-{k}"
            )
            worker.start()
            there.close()
            self._workers.append(worker)
            self._orders.append(orders)
            self._pipes.append(here)
        self._busy = set(range(recipe.workers))

    def order(self, k, what):
        """Give worker ``k`` an order."""
        self._orders[k].put(what)

    def dismiss(self, k):
        """Worker ``k`` is not needed any more."""
        self._busy.discard(k)
        self.order(k, None)

    def receive(self, timeout):
        """(worker, answer), or None when nothing came in time; RuntimeError when a worker died."""
        pipes = {self._pipes[k]: k for k in self._busy}
        sentinels = {self._workers[k].sentinel: k for k in self._busy}
        ready = wait([*pipes, *sentinels], timeout)
        for one in ready:
            if one in pipes:
                try:
                    return pipes[one], one.recv()
                except EOFError:
                    self._died([pipes[one]])
        if ready:
            self._died([sentinels[one] for one in ready])
        return None

    def _died(self, which):
        workers = [self._workers[k] for k in which]
        self._busy.difference_update(which)
        for worker in workers:
            worker.join(PATIENCE)
        pids = ", ".join(str(worker.pid) for worker in workers)
        raise RuntimeError(f"DataLoader worker (pid(s) {pids}) exited unexpectedly") from _end_of(
            workers[0]
        )

    def close(self):
        """End all workers; what they still send is thrown away."""
        for k in tuple(self._busy):
            self.dismiss(k)
        end = time.monotonic() + PATIENCE
        while (alive := [w for w in self._workers if w.is_alive()]) and time.monotonic() < end:
            self._drain(wait([*self._pipes, *(w.sentinel for w in alive)], 0.1))
        for worker in self._workers:
            if worker.is_alive():
                worker.terminate()
            worker.join(PATIENCE)
        for orders in self._orders:
            orders.close()
        for pipe in self._pipes:
            pipe.close()

    def _drain(self, ready):
        for pipe in list(self._pipes):
            if pipe in ready:
                try:
                    pipe.recv_bytes()
                except (EOFError, OSError):
                    self._pipes.remove(pipe)


def _process(task, orders, results):
    parent = multiprocessing.parent_process()
    in_process(task, orders, results, lambda: parent is None or parent.is_alive())


def _end_of(worker):
    code = worker.exitcode
    if code is not None and code < 0:
        name = signal.strsignal(-code)
        return RuntimeError(f"DataLoader worker (pid {worker.pid}) is killed by signal: {name}. ")
    return RuntimeError(
        f"DataLoader worker (pid {worker.pid}) exited unexpectedly with exit code {code}. "
        f"Details are "
        "lost due to multiprocessing. Rerunning with num_workers=0 may give better error trace."
    )


class Threads:
    """One thread a worker: nothing is copied, and the random numbers are those of the process."""

    def __init__(self, recipe, base_seed):
        self._results: queue.SimpleQueue = queue.SimpleQueue()
        self._orders = [queue.SimpleQueue() for _ in range(recipe.workers)]
        self._workers = [
            threading.Thread(target=self._serve(recipe, k, base_seed), daemon=True)
            for k in range(recipe.workers)
        ]
        for worker in self._workers:
            worker.start()

    def _serve(self, recipe, k, base_seed):
        task, orders, results = Task(recipe, k, base_seed, "thread"), self._orders[k], self._results
        return lambda: serve(task, orders.get, lambda answer: results.put((k, answer)), _always)

    def order(self, k, what):
        """Give worker ``k`` an order."""
        self._orders[k].put(what)

    def dismiss(self, k):
        """Worker ``k`` is not needed any more."""
        self.order(k, None)

    def receive(self, timeout):
        """(worker, answer), or None when nothing came in time."""
        try:
            return self._results.get(timeout=timeout)
        except queue.Empty:
            return None

    def close(self):
        """End all workers, after what they are doing now."""
        for k in range(len(self._workers)):
            self.dismiss(k)
        for worker in self._workers:
            worker.join(PATIENCE)


def _always():
    return True
