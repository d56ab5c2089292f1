"""Where parameters and values of distributions may lie."""

from __future__ import annotations


class Constraint:
    """``check(value)`` tells, elementwise, whether a value is allowed."""

    is_discrete = False
    event_dim = 0

    def check(self, value):
        """A tensor of bool."""
        raise NotImplementedError

    def __repr__(self):
        return self.__class__.__name__.removeprefix("_") + "()"


class _Real(Constraint):
    def check(self, value):
        return value == value


class _Boolean(Constraint):
    is_discrete = True

    def check(self, value):
        return (value == 0) | (value == 1)


class _IntegerInterval(Constraint):
    is_discrete = True

    def __init__(self, lower_bound, upper_bound):
        self.lower_bound, self.upper_bound = lower_bound, upper_bound

    def check(self, value):
        return (value % 1 == 0) & (value >= self.lower_bound) & (value <= self.upper_bound)

    def __repr__(self):
        return f"IntegerInterval(lower_bound={self.lower_bound}, upper_bound={self.upper_bound})"


class _IntegerGreaterThan(Constraint):
    is_discrete = True

    def __init__(self, lower_bound):
        self.lower_bound = lower_bound

    def check(self, value):
        return (value % 1 == 0) & (value >= self.lower_bound)

    def __repr__(self):
        return f"IntegerGreaterThan(lower_bound={self.lower_bound})"


class _GreaterThan(Constraint):
    def __init__(self, lower_bound):
        self.lower_bound = lower_bound

    def check(self, value):
        return value > self.lower_bound

    def __repr__(self):
        return f"GreaterThan(lower_bound={self.lower_bound})"


class _GreaterThanEq(_GreaterThan):
    def check(self, value):
        return value >= self.lower_bound

    def __repr__(self):
        return f"GreaterThanEq(lower_bound={self.lower_bound})"


class _Interval(Constraint):
    def __init__(self, lower_bound, upper_bound):
        self.lower_bound, self.upper_bound = lower_bound, upper_bound

    def check(self, value):
        return (value >= self.lower_bound) & (value <= self.upper_bound)

    def __repr__(self):
        return f"Interval(lower_bound={self.lower_bound}, upper_bound={self.upper_bound})"


class _LessThan(Constraint):
    def __init__(self, upper_bound):
        self.upper_bound = upper_bound

    def check(self, value):
        return value < self.upper_bound

    def __repr__(self):
        return f"LessThan(upper_bound={self.upper_bound})"


class _Simplex(Constraint):
    event_dim = 1

    def check(self, value):
        return (value >= 0).all(-1) & ((value.sum(-1) - 1).abs() < 1e-6)


class _Independent(Constraint):
    """A constraint of which the last dimensions are checked together."""

    def __init__(self, base, dims):
        self.base, self.dims = base, dims
        self.is_discrete, self.event_dim = base.is_discrete, base.event_dim + dims

    def check(self, value):
        found = self.base.check(value)
        return found.reshape(*found.shape[: found.dim() - self.dims], -1).all(-1)

    def __repr__(self):
        return f"IndependentConstraint({self.base!r}, {self.dims})"


class _LowerCholesky(Constraint):
    event_dim = 2

    def check(self, value):
        lower = (value.tril() == value).reshape(*value.shape[:-2], -1).all(-1)
        return lower & (value.diagonal(dim1=-2, dim2=-1) > 0).all(-1)


class _PositiveDefinite(Constraint):
    event_dim = 2

    def check(self, value):
        from importlib import import_module

        eigenvalues = import_module("gradviz.linalg").eigvalsh(value)
        return (eigenvalues > 0).all(-1)


real, boolean, simplex = _Real(), _Boolean(), _Simplex()
nonnegative_integer = _IntegerGreaterThan(0)
positive, nonnegative, unit_interval = _GreaterThan(0.0), _GreaterThanEq(0.0), _Interval(0.0, 1.0)
lower_cholesky, positive_definite = _LowerCholesky(), _PositiveDefinite()
real_vector = _Independent(real, 1)
integer_interval, interval, less_than, greater_than = (
    _IntegerInterval,
    _Interval,
    _LessThan,
    _GreaterThan,
)
independent = _Independent
