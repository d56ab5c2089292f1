"""What one object holds: (step kind, name, object) for each strong reference a person can name.

Only what can lead to a tensor is listed. Classes, modules and code are not entered, except classes
that the person wrote. Weak containers hold nothing.
"""

from __future__ import annotations

import contextvars
import functools
import gc
import inspect
import itertools
import logging
import sys
import threading
import types
import weakref
from collections import deque
from collections.abc import Callable
from itertools import islice

from .places import FOREIGN, engines, is_persons

ITEMS = 4_000

PLAIN = frozenset(
    (
        int,
        float,
        complex,
        str,
        bytes,
        bytearray,
        bool,
        type(None),
        type(...),
        type(NotImplemented),
        range,
        slice,
    )
    + (
        types.ModuleType,
        types.CodeType,
        types.BuiltinFunctionType,
        types.MemberDescriptorType,
        memoryview,
    )
    + (types.GetSetDescriptorType, types.WrapperDescriptorType, types.MethodDescriptorType, object)
    + (weakref.ref, weakref.ProxyType, weakref.CallableProxyType, weakref.WeakSet)
    + (weakref.WeakKeyDictionary, weakref.WeakValueDictionary, weakref.WeakMethod)
)

LONG, PARTS = 60, 8  # of a key that is written out
OURS = ("gradviz.widgets.", "gradviz.notebook.")  # what a paused player holds was asked for

KINDS = 10_000  # remembered

_plain_kinds: dict[type, bool] = {}
_known_readers: dict[type, Callable] = {}


def is_plain(kind: type) -> bool:
    """True for types whose objects hold nothing of interest."""
    known = _plain_kinds.get(kind)
    if known is None:
        known = kind in PLAIN or issubclass(kind, (weakref.ref, types.ModuleType, int, float, str))
        known = known or kind.__module__.startswith(OURS)
        if len(_plain_kinds) < KINDS:
            _plain_kinds[kind] = known
    return known


def children(thing):
    """What ``thing`` holds. Never raises for strange objects: they hold nothing then."""
    kind = type(thing)
    reader = _READERS.get(kind) or _known_readers.get(kind) or _reader_for(kind)
    try:
        yield from reader(thing)
    except Exception:
        return


def _reader_for(kind):
    named = kind.__module__.partition(".")[0], kind.__name__
    found = next((reader for base, reader in _BASES if issubclass(kind, base)), None)
    found = found or _BY_NAME.get(named, _object)
    if len(_known_readers) < KINDS:
        _known_readers[kind] = found
    return found


# -- containers ---------------------------------------------------------------
def _sequence(thing):
    size = len(thing)
    if size <= ITEMS:
        for index, item in enumerate(thing):
            yield "item", index, item
        return
    half = ITEMS // 2
    for index in (*range(half), *range(size - half, size)):
        yield "item", index, thing[index]


def _set(thing):
    for index, item in enumerate(list(islice(thing, ITEMS))):
        yield "item", f"* {index}", item


def _mapping(thing):
    for index, (key, item) in enumerate(list(islice(thing.items(), ITEMS))):
        if not is_plain(type(key)):
            yield "item", f"* {index}", key
        yield "item", _written(key) or f"* {index}", item


def _written(key):
    """A key as a person would write it, cut where it is long; '' for one that cannot be written."""
    kind = type(key)
    if kind in (str, bytes) and len(key) > LONG:
        return f"{key[:LONG]!r}…"
    if kind is tuple and 0 < len(key) <= PARTS:
        parts = [_written(part) for part in key]
        return f"({', '.join(parts)}{',' * (len(parts) == 1)})" if all(parts) else ""
    return repr(key) if is_plain(kind) else ""


def _table(thing):
    """The columns of a pandas DataFrame that can hold tensors: ``df['loss']``."""
    for name, dtype in thing.dtypes.items():
        if dtype.kind == "O":
            yield "item", _written(name) or name, thing[name]


def _column(thing):
    """``df['loss'][3]``, by the labels of its rows."""
    if thing.dtype.kind == "O":
        for label, item in islice(thing.items(), ITEMS):
            yield "item", _written(label) or label, item


# -- functions ----------------------------------------------------------------
def _function(thing):
    for name, cell in zip(thing.__code__.co_freevars, thing.__closure__ or (), strict=False):
        try:
            yield "closure", name, cell.cell_contents
        except ValueError:
            continue
    for index, item in enumerate(thing.__defaults__ or ()):
        yield "default", index, item
    for name, item in (thing.__kwdefaults__ or {}).items():
        yield "kwdefault", name, item
    for name, item in vars(thing).items():
        yield "attribute", name, item


def _method(thing):
    yield "attribute", "__self__", thing.__self__
    yield "attribute", "__func__", thing.__func__


def _partial(thing):
    yield "attribute", "func", thing.func
    yield "attribute", "args", thing.args
    yield "attribute", "keywords", thing.keywords


def _property(thing):
    for name in ("fget", "fset", "fdel"):
        yield "attribute", name, getattr(thing, name)


def _wrapped(thing):
    yield "attribute", "__func__", thing.__func__


def _cache(thing):
    """Entries of functools.lru_cache: the collector lists key and result one after the other."""
    entries = [item for item in gc.get_referents(thing) if not isinstance(item, type)]
    whole = next(
        (item for item in entries if type(item) is dict and item is not thing.__dict__), {}
    )
    counts: dict[type, dict[int, int]] = {}
    bounded = thing.cache_parameters().get("maxsize") is not None
    pairs = list(zip(entries[::2], entries[1::2], strict=False)) if bounded else list(whole.items())
    for key, result in pairs[: thing.cache_info().currsize]:
        yield "cache", _call_text(key, counts), result
        for part in key if isinstance(key, tuple) else ():
            if not is_plain(type(part)):
                yield "cachekey", _call_text(key, counts), part
    yield "attribute", "__wrapped__", thing.__wrapped__


def _call_text(key, counts):
    parts = key if isinstance(key, tuple) else (key,)
    return ", ".join(_argument(part, counts) for part in parts if type(part) is not object)


def _argument(part, counts):
    if is_plain(type(part)):
        return repr(part)
    known = counts.setdefault(type(part), {})
    return f"{type(part).__name__} #{known.setdefault(id(part), len(known) + 1)}"


# -- frames -------------------------------------------------------------------
def _traceback(thing):
    while thing is not None:
        frame = thing.tb_frame
        ours = frame.f_code.co_filename.startswith((*engines(), *FOREIGN))
        if not ours and frame.f_locals is not frame.f_globals:
            yield "frame", frame.f_code.co_name, frame
        thing = thing.tb_next


def _frame(thing):
    if thing.f_locals is not thing.f_globals:
        for name, item in list(thing.f_locals.items()):
            yield "local", name, item


def _generator(thing):
    frame = thing.gi_frame
    if frame is None or thing.gi_running:
        return
    yield from (("generator", name, item) for name, item in locals_of(frame))
    if thing.gi_yieldfrom is not None:
        yield "attribute", "gi_yieldfrom", thing.gi_yieldfrom


def locals_of(frame):
    """Locals of a frame that will run on; what reading them stored in the frame is taken away
    again.
    """
    names = frame.f_locals
    items = list(names.items())
    copied = sys.version_info < (3, 13) and frame.f_code.co_flags & inspect.CO_OPTIMIZED
    if copied and sys.getrefcount(names) <= 3:
        names.clear()
    return items


def _coroutine(thing):
    if thing.cr_frame is not None and not thing.cr_running:
        yield from (("coroutine", name, item) for name, item in locals_of(thing.cr_frame))


def _async_generator(thing):
    if thing.ag_frame is not None and not thing.ag_running:
        yield from (("async generator", name, item) for name, item in locals_of(thing.ag_frame))


def _exception(thing):
    yield "attribute", "args", thing.args
    yield "attribute", "__traceback__", _Through(thing.__traceback__)
    for name in ("__cause__", "__context__"):
        yield "attribute", name, getattr(thing, name)
    for name, item in getattr(thing, "__dict__", {}).items():
        yield "attribute", name, item


class _Through:
    """A traceback that is reached through an exception."""

    __slots__ = ("traceback",)

    def __init__(self, traceback):
        self.traceback = traceback


def _through(thing):
    return _traceback(thing.traceback)


# -- objects ------------------------------------------------------------------
def _record(thing):
    for name in ("args", "msg", "exc_info"):
        yield "logger", name, getattr(thing, name, None)
    for name, item in vars(thing).items():
        if name not in ("args", "msg", "exc_info"):
            yield "logger", name, item


def _class(thing):
    """A class the person wrote: its attributes and methods."""
    module = sys.modules.get(thing.__module__)
    if not is_persons(thing) and getattr(module, "__file__", None) is not None:
        return
    for name, item in list(vars(thing).items()):
        if not name.startswith("__") or name == "__init__":
            yield "attribute", name, item


def attributes(thing) -> dict | None:
    """The instance dict of an ordinary object; None for functions, classes, containers and the
    like.
    """
    if type(thing) in _READERS or issubclass(type(thing), type):
        return None
    try:
        own = object.__getattribute__(thing, "__dict__")
    except Exception:
        return None
    return own if type(own) is dict else None


def _context_variable(thing):
    yield "attribute", "get()", thing.get(None)


def _thread_local(thing):
    yield from _attributes(thing.__dict__)


def _object(thing):
    own = attributes(thing)
    if own is not None:
        yield from _module(own) if "_parameters" in own and "_modules" in own else _attributes(own)
    for kind in type(thing).__mro__:
        slots = kind.__dict__.get("__slots__", ())
        for name in (slots,) if isinstance(slots, str) else slots:
            if name not in ("__dict__", "__weakref__"):
                item = getattr(thing, name, None)
                if item is not None:
                    yield "attribute", name, item
    if issubclass(type(thing), _ITERATORS):
        for index, item in enumerate(gc.get_referents(thing)):
            yield "item", f"* {index}", item
    if is_persons(type(thing)):
        yield "class", "__class__", type(thing)


def _attributes(own):
    for name, item in list(own.items()):
        yield "attribute", name, item


def _module(own):
    for table, step in (
        ("_parameters", "parameter"),
        ("_buffers", "buffer"),
        ("_modules", "member"),
    ):
        for name, item in list(own[table].items()):
            yield step, name, item
    for name, item in list(own.items()):
        if name in ("_parameters", "_buffers", "_modules"):
            continue
        if name.endswith("_hooks") and isinstance(item, dict):
            for index, hook in enumerate(list(item.values())):
                yield "hooktable", f"{name}[{index}]", hook
        else:
            yield "attribute", name, item


_ITERATORS = (
    type(iter([])),
    type(iter(())),
    map,
    filter,
    zip,
    enumerate,
    reversed,
    *(kind for kind in vars(itertools).values() if isinstance(kind, type)),
    type(iter({}.values())),
)

_READERS = {
    list: _sequence,
    tuple: _sequence,
    deque: _sequence,
    dict: _mapping,
    set: _set,
    frozenset: _set,
    types.FunctionType: _function,
    types.MethodType: _method,
    types.GeneratorType: _generator,
    types.CoroutineType: _coroutine,
    types.AsyncGeneratorType: _async_generator,
    types.TracebackType: _traceback,
    types.FrameType: _frame,
    types.MappingProxyType: _mapping,
    functools.partial: _partial,
    functools._lru_cache_wrapper: _cache,
    property: _property,
    staticmethod: _wrapped,
    classmethod: _wrapped,
    _Through: _through,
    logging.LogRecord: _record,
    contextvars.ContextVar: _context_variable,
}

_BASES = (
    (BaseException, _exception),
    (dict, _mapping),
    (list, _sequence),
    (tuple, _sequence),
    (deque, _sequence),
    (set, _set),
    (frozenset, _set),
    (logging.LogRecord, _record),
    (functools.partial, _partial),
    (threading.local, _thread_local),
    (type, _class),
)

_BY_NAME = {("pandas", "DataFrame"): _table, ("pandas", "Series"): _column}
