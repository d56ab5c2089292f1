"""PyTorch's zip checkpoints, read without executing anything.

The archive holds ``data.pkl`` and one raw file a storage. The pickle program is followed opcode by
opcode with ``pickletools`` and may only build containers and plain values; the few names that a
checkpoint needs (rebuilding a tensor, storage types, OrderedDict) are understood here, any other is
refused.
"""

from __future__ import annotations

import contextlib
import io
import pickletools
import zipfile
import zlib
from collections import Counter, OrderedDict

from ..backend import xp
from ..engine import dtypes
from ..engine.device import Device, strided
from ..engine.dispatch import wrap
from ..engine.tensor import Size
from .refused import Absent, Refused

STORAGES = {
    "FloatStorage": "float32",
    "DoubleStorage": "float64",
    "HalfStorage": "float16",
    "BFloat16Storage": "bfloat16",
    "LongStorage": "int64",
    "IntStorage": "int32",
    "ShortStorage": "int16",
    "CharStorage": "int8",
    "ByteStorage": "uint8",
    "BoolStorage": "bool_",
    "ComplexFloatStorage": "complex64",
    "ComplexDoubleStorage": "complex128",
    "UntypedStorage": "uint8",
}
_MARK = object()
_DAMAGE = (
    ArithmeticError,
    AttributeError,
    LookupError,
    MemoryError,
    RecursionError,
    RuntimeError,
    TypeError,
    ValueError,
)


class Name:
    """A name that the pickle mentions: never imported, only compared."""

    __slots__ = ("text",)

    def __init__(self, module, name):
        self.text = f"{module}.{name}"


def read(raw, placement):
    """The object of a checkpoint. UnpicklingError when it holds more than tensors in containers or
    its program is damaged, RuntimeError when the archive is.
    """
    with damage_told(), zipfile.ZipFile(io.BytesIO(raw)) as archive:
        return _read(_Entries(archive, len(raw)), placement)


@contextlib.contextmanager
def damage_told():
    """What stumbles over a damaged file says so."""
    try:
        yield
    except (Refused, Absent):
        raise
    except (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError) as error:
        raise RuntimeError(
            "PytorchStreamReader failed reading zip archive: the file is cut off or damaged "
            f"({error})"
        ) from None
    except _DAMAGE as error:
        raise Refused(f"the checkpoint is damaged ({type(error).__name__}: {error})") from None


def _read(entries, placement):
    main = next((n for n in entries.names if n.endswith("data.pkl") and n.count("/") <= 1), None)
    if main is None:
        raise Absent(
            "PytorchStreamReader failed locating file data.pkl: file not found. The zip file is no "
            "PyTorch checkpoint"
        )
    folder = main[: -len("data.pkl")]
    machine = Machine(lambda key, _: entries.read(f"{folder}data/{key}"), placement)
    return machine.run(entries.read(main))


class _Entries:
    """The files of an archive, which together may not be larger than the archive itself."""

    def __init__(self, archive, size):
        self._archive, self._left, self.names = archive, size, archive.namelist()

    def read(self, name):
        if name not in self.names:
            raise Absent(f"PytorchStreamReader failed locating file {name}: file not found")
        self._left -= self._archive.getinfo(name).file_size
        if self._left < 0:
            raise Refused("the zip file holds more than its size: it is not read")
        return self._archive.read(name)


class Machine:
    """A stack machine for the opcodes that containers, numbers and tensors need."""

    def __init__(self, bytes_of, placement):
        """``bytes_of``: the content of a storage, from its key and its size."""
        self._bytes_of, self._placement = bytes_of, placement
        self._storages = {}
        self._stack, self._memo = [], {}

    def run(self, program):
        for opcode, argument, _ in pickletools.genops(program):
            step = getattr(self, f"_{opcode.name.lower()}", None)
            if step is not None:
                step(argument)
            elif opcode.name in _CONSTANTS:
                self._stack.append(_CONSTANTS[opcode.name])
            elif opcode.name in _PUSH:
                self._stack.append(argument)
            elif opcode.name == "STOP":
                return self._stack[-1]
            elif opcode.name not in ("PROTO", "FRAME"):
                raise Refused(
                    f"the checkpoint uses {opcode.name}, which only code needs; it is not read"
                )
        raise Refused("the checkpoint ends too early")

    # -- stack and memo --------------------------------------------------------
    def _mark(self, _):
        self._stack.append(_MARK)

    def _pop_mark(self):
        at = len(self._stack) - 1
        while self._stack[at] is not _MARK:
            at -= 1
        found = self._stack[at + 1 :]
        del self._stack[at:]
        return found

    def _binput(self, key):
        self._memo[key] = self._stack[-1]

    _long_binput = _put = _binput

    def _memoize(self, _):
        self._memo[len(self._memo)] = self._stack[-1]

    def _binget(self, key):
        self._stack.append(self._memo[key])

    _long_binget = _get = _binget

    # -- containers --------------------------------------------------------------
    def _empty_dict(self, _):
        self._stack.append({})

    def _empty_list(self, _):
        self._stack.append([])

    def _empty_set(self, _):
        self._stack.append(set())

    def _empty_tuple(self, _):
        self._stack.append(())

    def _tuple(self, _):
        self._stack.append(tuple(self._pop_mark()))

    def _take(self, n):
        found = tuple(self._stack[-n:])
        del self._stack[-n:]
        return found

    def _tuple1(self, _):
        self._stack.append(self._take(1))

    def _tuple2(self, _):
        self._stack.append(self._take(2))

    def _tuple3(self, _):
        self._stack.append(self._take(3))

    def _append(self, _):
        value = self._stack.pop()
        self._stack[-1].append(value)

    def _appends(self, _):
        values = self._pop_mark()
        self._stack[-1].extend(values)

    def _additems(self, _):
        values = self._pop_mark()
        self._stack[-1].update(map(_key, values))

    def _setitem(self, _):
        value, key = self._stack.pop(), self._stack.pop()
        self._stack[-1][_key(key)] = value

    def _setitems(self, _):
        values = self._pop_mark()
        target = self._stack[-1]
        for k in range(0, len(values), 2):
            target[_key(values[k])] = values[k + 1]

    # -- names, storages, calls ------------------------------------------------------
    def _global(self, argument):
        module, name = argument.split(" ", 1)
        self._name(module, name)

    def _stack_global(self, _):
        name, module = self._stack.pop(), self._stack.pop()
        self._name(module, name)

    def _name(self, module, name):
        known = dtypes.PUBLIC.get(name) if module == "torch" else None
        found = Name(module, name) if known is None else known
        if known is None and not (
            found.text in _CALLS or found.text in _CLASSES or _storage(found)
        ):
            raise Refused(
                f"the checkpoint names {found.text}; only tensors and containers are read"
            )
        self._stack.append(found)

    def _binpersid(self, _):
        told = self._stack.pop()
        if not (
            isinstance(told, tuple)
            and len(told) in (5, 6)
            and told[0] == "storage"
            and isinstance(told[1], Name)
        ):
            raise Refused("the checkpoint refers to something that is no storage")
        _, kind, key, location, count, *view = told
        if view not in ([], [None]):
            raise Refused("the checkpoint refers to a part of a storage")
        kind = kind.text.rpartition(".")[2]
        self._stack.append(self._storage(kind, str(key), str(location), count))

    def _storage(self, kind, key, location, count):
        if key not in self._storages:
            if kind not in STORAGES:
                raise Refused(f"the checkpoint holds a {kind}, which is not known")
            dtype = getattr(dtypes, STORAGES[kind]).np
            content = self._bytes_of(key, count * dtype.itemsize)
            if len(content) != count * dtype.itemsize:
                raise Refused(f"storage {key} has {len(content)} bytes, not {count} {dtype}s")
            array = xp.frombuffer(bytearray(content), dtype)
            self._storages[key] = self._placement.put(array, location)
        return self._storages[key]

    def _reduce(self, _):
        arguments, function = self._stack.pop(), self._stack.pop()
        text = function.text if isinstance(function, Name) else ""
        build = _CALLS.get(text)
        if build is None:
            raise Refused(f"the checkpoint calls {text or 'a value'}, which is no function")
        self._stack.append(build(*arguments))

    def _newobj(self, _):
        raise Refused(
            "the checkpoint builds an object of a class; only tensors and containers are read"
        )

    def _build(self, _):
        state = self._stack.pop()
        if not isinstance(self._stack[-1], OrderedDict) or not isinstance(state, dict):
            raise Refused(
                "the checkpoint sets the state of an object; only tensors and containers are read"
            )
        if isinstance(state.get("_metadata"), OrderedDict):
            self._stack[-1]._metadata = state["_metadata"]  # of a module's state_dict


def _storage(name):
    """Whether a name is one of PyTorch's classes of storages, known or not."""
    return name.text.startswith("torch.") and name.text.endswith("Storage")


def _key(value):
    """Keys are plain: hashing what is nested deeply would exhaust the stack of C."""
    parts = value if isinstance(value, tuple) else (value,)
    if not all(isinstance(p, (str, bytes, int, float, type(None), Size)) for p in parts):
        raise Refused("the checkpoint uses something as a key that is neither text nor number")
    return value


def _tensor(storage, offset, size, stride, requires_grad=False, hooks=None, metadata=None):
    from ..engine.strides import strided as window

    t = wrap(
        window(storage, tuple(size), tuple(stride), offset)
        if 0 not in size
        else storage[:0].reshape(size)
    )
    if isinstance(metadata, dict):  # what PyTorch has left to do when the tensor is read
        t = t.conj() if metadata.get("conj") else t
        t = -t if metadata.get("neg") else t
    return t.requires_grad_() if requires_grad else t


def _tensor_of_dtype(
    storage, offset, size, stride, requires_grad, hooks, dtype=None, metadata=None
):
    """A tensor of a dtype that has no storage type of its own."""
    if not isinstance(dtype, dtypes.dtype):
        raise Refused(f"the checkpoint holds a tensor of {getattr(dtype, 'text', 'no dtype')}")
    values = storage.view(dtype.np)
    return _tensor(values, offset, size, stride, requires_grad, hooks, metadata)


def _counter(items=()):
    """How often keys occur."""
    return Counter({_key(k): v for k, v in dict(items).items()})


def _parameter(data, requires_grad=True, *_):
    from ..nn.parameter import Parameter

    return Parameter(data, bool(requires_grad))


def _parameter_with_state(data, requires_grad, hooks, state):
    return _given(_parameter(data, requires_grad), state)


def _meta_tensor(dtype, size, stride, requires_grad=False):
    """A tensor without numbers."""
    from ..ops.create import empty_strided

    if not isinstance(dtype, dtypes.dtype):
        raise Refused(f"the checkpoint holds a tensor of {getattr(dtype, 'text', 'no dtype')}")
    return empty_strided(size, stride, dtype=dtype, device="meta", requires_grad=requires_grad)


def _given(t, attributes):
    """A tensor with the attributes that somebody gave it."""
    if isinstance(attributes, dict):
        for name in filter(str.isidentifier, attributes):
            if not hasattr(type(t), name):
                setattr(t, name, attributes[name])
    return t


def _with_attributes(build, kind, arguments, state):
    """A tensor to which somebody gave attributes."""
    if not isinstance(build, Name) or build.text not in _TENSORS or kind.text not in _CLASSES:
        raise Refused(
            "the checkpoint holds a tensor of another class; only tensors and containers are read"
        )
    return _given(_CALLS[build.text](*arguments), state)


def _set(items=()):
    return set(map(_key, items))


def _layout(name):
    if name != "torch.strided":
        raise Refused(f"the checkpoint holds a layout that is not known: {name}")
    return strided


def _bytearray(content=b"", encoding="latin-1"):
    if not isinstance(content, (str, bytes)) or encoding != "latin-1":
        raise Refused("the checkpoint makes a bytearray of something that is no text")
    return bytearray(content if isinstance(content, bytes) else content.encode("latin-1"))


def _encoded(text, encoding):
    """Bytes, as pickles of protocol 2 hold them."""
    if not isinstance(text, str) or encoding != "latin1":
        raise Refused("the checkpoint encodes something that is no text")
    return text.encode("latin1")


_TENSORS = frozenset(
    f"torch._utils._rebuild_{name}" for name in ("tensor_v2", "tensor_v3", "parameter")
)
_CLASSES = frozenset(("torch.Tensor", "torch._tensor.Tensor", "torch.nn.parameter.Parameter"))


_CALLS = {
    "torch._utils._rebuild_tensor_v2": _tensor,
    "torch._utils._rebuild_parameter": _parameter,
    "torch._utils._rebuild_parameter_with_state": _parameter_with_state,
    "torch._utils._rebuild_meta_tensor_no_storage": _meta_tensor,
    "torch.serialization._get_layout": _layout,
    "collections.OrderedDict": OrderedDict,
    "torch.Size": lambda sizes=(): Size(sizes),
    "torch._utils._rebuild_tensor_v3": _tensor_of_dtype,
    "torch._tensor._rebuild_from_type_v2": _with_attributes,
    "torch.device": Device,
    "_codecs.encode": _encoded,
    "builtins.complex": complex,
    "__builtin__.complex": complex,
    "collections.Counter": _counter,
    "builtins.set": _set,
    "__builtin__.set": _set,
    "builtins.bytearray": _bytearray,
    "__builtin__.bytearray": _bytearray,
}
_CONSTANTS = {"NONE": None, "NEWTRUE": True, "NEWFALSE": False}
_PUSH = frozenset(
    (
        "BININT",
        "BININT1",
        "BININT2",
        "INT",
        "LONG",
        "LONG1",
        "LONG4",
        "BINFLOAT",
        "FLOAT",
        "BINUNICODE",
        "SHORT_BINUNICODE",
        "BINUNICODE8",
        "UNICODE",
        "BINSTRING",
        "SHORT_BINSTRING",
        "STRING",
        "BINBYTES",
        "SHORT_BINBYTES",
        "BINBYTES8",
    )
)
