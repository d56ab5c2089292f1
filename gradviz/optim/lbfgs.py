"""L-BFGS: a quasi-Newton method that remembers its last steps, with an optional line search."""

from __future__ import annotations

from ..backend import xp
from ..engine import views
from ..engine.dispatch import wrap
from ..engine.modes import enable_grad, no_grad
from .optimizer import Optimizer, check_lr, number


class LBFGS(Optimizer):
    """``step(closure)`` evaluates the loss several times; one parameter group."""

    def __init__(
        self,
        params,
        lr=1,
        max_iter=20,
        max_eval=None,
        tolerance_grad=1e-7,
        tolerance_change=1e-9,
        history_size=100,
        line_search_fn=None,
    ):
        check_lr(lr)
        super().__init__(
            params,
            {
                "lr": lr,
                "max_iter": max_iter,
                "max_eval": max_iter * 5 // 4 if max_eval is None else max_eval,
                "tolerance_grad": tolerance_grad,
                "tolerance_change": tolerance_change,
                "history_size": history_size,
                "line_search_fn": line_search_fn,
            },
        )
        if len(self.param_groups) != 1:
            raise ValueError("LBFGS doesn't support per-parameter options (parameter groups)")
        self._params = self.param_groups[0]["params"]

    # ------------------------------------------------------------ flat vectors
    def _gradient(self):
        return xp.concatenate(
            [
                xp.zeros(p.numel(), p._a.dtype, like=p._a)
                if p._grad is None
                else p._grad._a.ravel()
                for p in self._params
            ]
        )

    def _move(self, size, direction):
        start = 0
        for p in self._params:
            n = p.numel()
            p._a += direction[start : start + n].reshape(p._a.shape) * p._a.dtype.type(size)
            views.bump(p)
            start += n

    def _restore(self, values):
        for p, value in zip(self._params, values, strict=True):
            p._a[...] = value
            views.bump(p)

    def _evaluate(self, closure, start, size, direction):
        self._move(size, direction)
        loss = float(closure())
        gradient = self._gradient()
        self._restore(start)
        return loss, gradient

    # ------------------------------------------------------------ the step
    @no_grad()
    def step(self, closure):
        """Up to ``max_iter`` iterations; returns the loss before them."""
        run = enable_grad()(closure)
        group = self.param_groups[0]
        state = self.state[self._params[0]]
        state.setdefault("func_evals", 0)
        state.setdefault("n_iter", 0)
        first = run()
        state["func_evals"] += 1
        gradient = self._gradient()
        if _largest(gradient) <= group["tolerance_grad"]:
            return first
        memory = _Memory(state, group["history_size"])
        self._iterate(run, group, state, memory, float(first), gradient)
        memory.keep(state)
        return first

    def _iterate(self, run, group, state, memory, loss, gradient):
        evaluations, limit = 1, group["max_iter"]
        lr = number(group["lr"])
        for iteration in range(1, limit + 1):
            state["n_iter"] += 1
            direction = memory.direction(gradient, state["n_iter"] == 1)
            memory.before = gradient.copy()
            previous = memory.loss = loss
            size = (
                min(1.0, 1.0 / float(xp.abs(gradient).sum())) * lr if state["n_iter"] == 1 else lr
            )
            memory.size = size
            slope = float(gradient.dot(direction))
            if slope > -group["tolerance_change"]:
                return
            count = 0
            if group["line_search_fn"] is not None:
                if group["line_search_fn"] != "strong_wolfe":
                    raise RuntimeError("only 'strong_wolfe' is supported")
                start = [p._a.copy() for p in self._params]
                search = _Search(
                    lambda t, x=start, d=direction: self._evaluate(run, x, t, d),
                    direction,
                    loss,
                    gradient,
                    slope,
                )
                loss, gradient, size, count = search.run(size, group["max_eval"] - evaluations)
                memory.size = size
                self._move(size, direction)
            else:
                self._move(size, direction)
                if iteration != limit:
                    loss, gradient, count = float(run()), self._gradient(), 1
                    gradient = self._gradient()
            evaluations += count
            state["func_evals"] += count
            if (
                iteration == limit
                or evaluations >= group["max_eval"]
                or _largest(gradient) <= group["tolerance_grad"]
            ):
                return
            if (
                _largest(direction * size) <= group["tolerance_change"]
                or abs(loss - previous) < group["tolerance_change"]
            ):
                return


def _largest(x):
    return float(xp.abs(x).max())


class _Memory:
    """The last changes of position and gradient, and the direction they imply."""

    def __init__(self, state, limit):
        self.limit = limit
        self.changes = [x._a for x in state.get("old_dirs") or []]
        self.steps = [x._a for x in state.get("old_stps") or []]
        self.rates = [float(x) for x in state.get("ro") or []]
        self.scale = float(state.get("H_diag", 1))
        self.last = state["d"]._a if "d" in state else None
        self.size = float(state.get("t", 1))
        self.before = state["prev_flat_grad"]._a if "prev_flat_grad" in state else None
        self.loss = state.get("prev_loss")

    def keep(self, state):
        """Write everything back as tensors and numbers."""
        state["d"], state["t"] = wrap(self.last), self.size
        state["old_dirs"], state["old_stps"] = (
            [wrap(x) for x in self.changes],
            [wrap(x) for x in self.steps],
        )
        state["ro"] = [wrap(xp.asarray(x, self.last.dtype)) for x in self.rates]
        state["H_diag"] = (
            self.scale if not self.rates else wrap(xp.asarray(self.scale, self.last.dtype))
        )
        state["prev_flat_grad"], state["prev_loss"] = wrap(self.before), self.loss

    def direction(self, gradient, first):
        """Minus the estimated inverse Hessian times ``gradient``."""
        if first:
            self.changes, self.steps, self.rates, self.scale = [], [], [], 1.0
            self.last = -gradient
            return self.last
        self._learn(gradient)
        q = -gradient
        weights = [0.0] * len(self.changes)
        for k in reversed(range(len(self.changes))):
            weights[k] = q.dtype.type(self.steps[k].dot(q) * self.rates[k])
            q -= weights[k] * self.changes[k]
        q *= q.dtype.type(self.scale)
        for k in range(len(self.changes)):
            q += (weights[k] - q.dtype.type(self.changes[k].dot(q) * self.rates[k])) * self.steps[k]
        self.last = q
        return q

    def _learn(self, gradient):
        change, step = gradient - self.before, self.last * self.last.dtype.type(self.size)
        product = float(change.dot(step))
        if product <= 1e-10:
            return
        if len(self.changes) == self.limit:
            for kept in (self.changes, self.steps, self.rates):
                kept.pop(0)
        self.changes.append(change)
        self.steps.append(step)
        self.rates.append(1.0 / product)
        self.scale = product / float(change.dot(change))


def _cubic(x1, f1, g1, x2, f2, g2, low=None, high=None):
    """The minimum of the cubic through two points with slopes, kept within [low, high]."""
    if low is None:
        low, high = min(x1, x2), max(x1, x2)
    a = g1 + g2 - 3 * (f1 - f2) / (x1 - x2)
    inside = a * a - g1 * g2
    if inside < 0:
        return (low + high) / 2.0
    root = inside**0.5
    if x1 <= x2:
        found = x2 - (x2 - x1) * ((g2 + root - a) / (g2 - g1 + 2 * root))
    else:
        found = x1 - (x1 - x2) * ((g1 + root - a) / (g1 - g2 + 2 * root))
    return min(max(found, low), high)


class _Search:
    """A step length that satisfies the strong Wolfe conditions: first bracket one, then close
    in."""

    enough, flat, smallest = 1e-4, 0.9, 1e-9

    def __init__(self, evaluate, direction, loss, gradient, slope):
        self.evaluate, self.direction = evaluate, direction
        self.start = (0.0, loss, gradient.copy(), slope)

    def at(self, size):
        """(size, loss, gradient, slope) there."""
        self.count += 1
        loss, gradient = self.evaluate(size)
        return (size, loss, gradient, float(gradient.dot(self.direction)))

    def run(self, size, limit=25):
        """(loss, gradient, size, evaluations)."""
        self.count = 0
        bracket, done, used = self._bracket(size, limit)
        if not done:
            bracket = self._zoom(bracket, used, limit)
        best = bracket[0] if bracket[0][1] <= bracket[-1][1] else bracket[-1]
        return best[1], best[2], best[0], self.count

    def _too_high(self, point):
        return point[1] > self.start[1] + self.enough * point[0] * self.start[3]

    def _bracket(self, size, limit):
        before, point = self.start, self.at(size)
        for k in range(limit):
            if self._too_high(point) or (k > 1 and point[1] >= before[1]):
                return [before, point], False, k
            if abs(point[3]) <= -self.flat * self.start[3]:
                return [point], True, k
            if point[3] >= 0:
                return [before, point], False, k
            size = _cubic(
                before[0],
                before[1],
                before[3],
                point[0],
                point[1],
                point[3],
                point[0] + 0.01 * (point[0] - before[0]),
                point[0] * 10,
            )
            before, point = point, self.at(size)
        return [self.start, point], False, limit

    def _zoom(self, bracket, used, limit):
        span = _largest(self.direction)
        stuck = False
        low = 0 if bracket[0][1] <= bracket[-1][1] else 1
        while used < limit and abs(bracket[1][0] - bracket[0][0]) * span >= self.smallest:
            size, stuck = self._trial(bracket, stuck)
            point = self.at(size)
            used += 1
            high = 1 - low
            if self._too_high(point) or point[1] >= bracket[low][1]:
                bracket[high] = point
                low = 0 if bracket[0][1] <= bracket[1][1] else 1
                continue
            done = abs(point[3]) <= -self.flat * self.start[3]
            if not done and point[3] * (bracket[high][0] - bracket[low][0]) >= 0:
                bracket[high] = bracket[low]
            bracket[low] = point
            if done:
                break
        return [bracket[low]]

    @staticmethod
    def _trial(bracket, stuck):
        a, b = bracket
        size = _cubic(a[0], a[1], a[3], b[0], b[1], b[3])
        least, most = min(a[0], b[0]), max(a[0], b[0])
        margin = 0.1 * (most - least)
        if min(most - size, size - least) >= margin:
            return size, False
        if stuck or size >= most or size <= least:
            return (
                most - margin if abs(size - most) < abs(size - least) else least + margin
            ), False
        return size, True
