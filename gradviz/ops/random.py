"""Random tensors from PyTorch's own stream: mt19937, its uniform and normal transforms, on the
CPU.
"""

from __future__ import annotations

import functools
import math
import threading

from ..backend import DeviceArray, MetaArray, beside, contiguous, meta, readable, xp
from ..engine import dtypes, views
from ..engine.construct import mark
from ..engine.device import META, Device, cuda, of, resolve
from ..engine.device import like as like_of
from ..engine.dispatch import Tensor, wrap
from ..engine.memory_format import contiguous_format, in_format, preserve_format
from ..engine.modes import local
from ..engine.operands import broadcast_error
from . import known
from .box_muller import box_muller, fused, scaled
from .declare import method, only_method, public
from .shape import check_sizes, sizes

_BLOCK = 624  # words that mt19937 makes at a time
_STATE = xp.dtype(
    {
        "names": ["seed", "left", "seeded", "next", "key", "normal", "kept"],
        "formats": ["<u8", "<i4", "<i4", "<u8", ("<u8", (_BLOCK,)), "<f8", "<i4"],
        "offsets": [0, 8, 12, 16, 24, 5024, 5040],
        "itemsize": 5056,
    }
)


class Generator:
    """A stream of random numbers; ``manual_seed`` starts it anew, ``get_state``/``set_state`` move
    it.
    """

    __module__ = "gradviz"

    def __init__(self, device="cpu"):
        self.device = Device(device)
        if self.device.type != "cpu":
            self.device = resolve(self.device)
        self._lock = threading.RLock()
        self.manual_seed(67280421310721)

    def __reduce__(self):
        return _continued, (self.device, self.get_state())

    def __deepcopy__(self, memo):
        return self.clone_state()

    def clone_state(self):
        """A generator of its own that goes on from the same state."""
        return _continued(self.device, self.get_state())

    def manual_seed(self, seed):
        """Start the stream that belongs to ``seed``; returns self. ValueError for one of more than
        64 bits.
        """
        if not -(2**63) <= seed < 2**64:
            raise ValueError("Overflow when unpacking long long")
        self._seed = int(seed) & (2**64 - 1)
        self._bits = None
        self._next_normal = None
        return self

    @property
    def _stream(self):
        """The mt19937 stream, made when first needed: importing loads no random module."""
        if self._bits is None:
            self._bits = xp.random.RandomState(self._seed & 0xFFFFFFFF)._bit_generator
        return self._bits

    def initial_seed(self):
        """The seed of the stream."""
        return self._seed

    def seed(self):
        """Start from a seed of the operating system and return it."""
        import secrets

        self.manual_seed(secrets.randbits(63))
        return self._seed

    def get_state(self):
        """The state as a uint8 tensor of 5056 bytes, laid out as PyTorch's."""
        fresh = self._bits is None
        state = self._stream.state["state"]
        at = int(state["pos"])
        found = xp.zeros(1, _STATE)
        found["seed"], found["seeded"] = self._seed, 1
        found["left"], found["next"] = (1 if at == _BLOCK else _BLOCK + 1 - at), 0 if fresh else at
        found["key"] = state["key"]
        if self._next_normal is not None:
            found["kept"], found["normal"] = 1, self._next_normal
        return wrap(found.view(xp.uint8))

    def set_state(self, new_state):
        """Go on from a state that ``get_state`` gave, here or in PyTorch. TypeError for what is no
        uint8 tensor, RuntimeError for one that is no state.
        """
        if not isinstance(new_state, Tensor):
            raise TypeError("expected a torch.ByteTensor, but got " + type(new_state).__name__)
        if new_state._a.dtype != xp.uint8:
            raise TypeError("RNG state must be a torch.ByteTensor")
        if new_state._a.size != _STATE.itemsize:
            raise RuntimeError(
                f"Expected a CPUGeneratorImplState of size {_STATE.itemsize} but found the input "
                f"RNG state size to be {new_state._a.size}"
            )
        (told,) = contiguous(new_state._a).ravel().view(_STATE)
        if not (told["seeded"] and 0 < told["left"] <= _BLOCK and told["next"] <= _BLOCK):
            raise RuntimeError("Invalid mt19937 state")
        at = _BLOCK if told["left"] == 1 else int(told["next"])
        key = told["key"].astype(xp.uint32)
        self._stream.state = {"bit_generator": "MT19937", "state": {"key": key, "pos": at}}
        self._seed = int(told["seed"])
        self._next_normal = float(told["normal"]) if told["kept"] else None
        return self

    def words(self, n):
        """``n`` 32-bit words."""
        return self._stream.random_raw(n).astype(xp.uint64) if n else xp.zeros(0, xp.uint64)

    def doubles(self, n):
        """``n`` uniform doubles of 53 bits: PyTorch takes two words each, the first as the high
        one.
        """
        words = self.words(2 * n)
        return (
            ((words[0::2] << xp.uint64(32)) | words[1::2]) & xp.uint64((1 << 53) - 1)
        ) * 2.0**-53

    def floats(self, n):
        """``n`` uniform floats of 24 bits."""
        return ((self.words(n) & xp.uint64((1 << 24) - 1)) * 2.0**-24).astype(xp.float32)

    def normal_double(self):
        """One normal double; the second of each pair is kept for the next call."""
        if self._next_normal is not None:
            found, self._next_normal = self._next_normal, None
            return found
        u1, u2 = self.doubles(2)
        r = math.sqrt(-2.0 * math.log1p(-u2))
        self._next_normal = r * math.sin(2.0 * math.pi * u1)
        return r * math.cos(2.0 * math.pi * u1)


def _continued(device, state):
    """A generator that goes on from a state."""
    return Generator(device).set_state(state)


default_generator = Generator()


class _NoNumbers(Generator):
    """The stream of ``device("meta")``: what is drawn from it has a form only."""

    def __init__(self):
        self.device = META

    def words(self, n):
        return meta.fresh(n, xp.uint64)

    def doubles(self, n):
        return meta.fresh(n, xp.float64)

    def floats(self, n):
        return meta.fresh(n, xp.float32)


_no_numbers = _NoNumbers()


def _numbers(function):
    """``function(n, dtype, generator, …)``; from no stream, an array without numbers."""

    @functools.wraps(function)
    def drawn(n, np_dtype, generator=None, *args, **kwargs):
        if generator is _no_numbers:
            return meta.fresh(n, np_dtype)
        return function(n, np_dtype, generator, *args, **kwargs)

    return drawn


_on_devices: dict[int, Generator] = {}


def device_generator(index):
    """The stream of a GPU, made when it is first used."""
    found = _on_devices.get(index)
    if found is None:
        found = _on_devices[index] = Generator(cuda(index))
        found.manual_seed(_device_seed[0])
    return found


_device_seed = [default_generator.initial_seed()]


def seed_devices(seed):
    """Start the streams of all GPUs from one seed, also of those that are not in use yet."""
    _device_seed[0] = seed
    for generator in _on_devices.values():
        generator.manual_seed(seed)


def manual_seed(seed):
    """Seed the default streams of all devices; returns that of the CPU."""
    seed = int(seed)
    seed_devices(seed)
    return default_generator.manual_seed(seed)


def set_rng_state(new_state):
    """Let the default stream of the CPU go on from a state that ``get_rng_state`` gave."""
    default_generator.set_state(new_state)


def random_states():
    """The states of the default streams of all devices that are in use."""
    states = {k: g.get_state() for k, g in _on_devices.items()}
    return {None: default_generator.get_state(), **states}


def set_random_states(states):
    """Let the default streams go on from where they were."""
    for index, state in states.items():
        (default_generator if index is None else device_generator(index)).set_state(state)


def stream_of(generator, array):
    """The stream for numbers beside ``array`` (None: on the CPU): the one that was given, or that
    of the device. RuntimeError when that belongs to another device.
    """
    if isinstance(array, MetaArray):
        return _no_numbers
    if not isinstance(array, DeviceArray):
        wanted = "cpu"
    elif generator is None:
        return device_generator(array.index)
    else:
        wanted = "cuda"
    if generator is not None and generator.device.type != wanted:
        raise RuntimeError(
            f"Expected a '{wanted}' device type for generator but found '{generator.device.type}'"
        )
    generator = generator or default_generator
    if local.batch is not None:
        local.batch.drawing(generator)
    return generator


def drawn(shape, make):
    """``make(shape)``; inside a vmap whose slices differ, one for each of them."""
    return make(shape) if local.batch is None else local.batch.made(shape, make)


def by_slice(function):
    """``function``, called for each slice inside a vmap whose slices differ."""

    @functools.wraps(function)
    def sliced(*args, **kwargs):
        return drawn(None, lambda _: function(*args, **kwargs))

    return sliced


@_numbers
def uniform_array(n, np_dtype, generator=None, low=0.0, high=1.0):
    """``n`` uniform numbers in [low, high) as PyTorch draws them for this dtype."""
    g = generator or default_generator
    if np_dtype == xp.float64:
        return fused(g.doubles(n), high - low, low)
    single = xp.float32
    # 24 bits by 24 bits are exact in double precision: one rounding, as by PyTorch's fused step
    drawn = g.floats(n) * xp.float64(single(high) - single(low)) + xp.float64(single(low))
    if np_dtype == single:
        return drawn.astype(single)
    drawn = drawn.astype(single).astype(np_dtype)
    top = np_dtype.type(high)
    return xp.where(drawn == top, np_dtype.type(low), drawn)  # what was rounded up to the end


@_numbers
def normal_array(n, np_dtype, generator=None, mean=0.0, std=1.0):
    """``n`` normal numbers: Box–Muller on blocks of 16 from 16 on, one at a time below."""
    g = generator or default_generator
    if n < 16:
        drawn = xp.asarray([g.normal_double() for _ in range(n)], xp.float64)
        return scaled(drawn, float(mean), float(std)).astype(np_dtype)
    whole = n - n % 16
    if np_dtype.itemsize == 2:
        return _short_normals(n, whole, np_dtype, g, mean, std)
    out = uniform_array(n, np_dtype, g)
    out[:whole] = box_muller(out[:whole], mean, std)
    if n % 16:
        out[n - 16 :] = box_muller(uniform_array(16, np_dtype, g), mean, std)
    return out


def _short_normals(n, whole, np_dtype, g, mean, std):
    """Half precision is computed in single precision, block after block."""
    single = xp.dtype(xp.float32)
    out = xp.empty(n, single)
    out[:whole] = box_muller(g.floats(whole), mean, std)
    if n % 16:
        out[n - 16 :] = box_muller(g.floats(16), mean, std)
    return out.astype(np_dtype)


def stored_like(array, values):
    """``values``, drawn in the order of memory, in the shape of ``array``."""
    if array.flags.c_contiguous:
        return values.reshape(array.shape)
    order = sorted(range(array.ndim), key=lambda d: -abs(array.strides[d]))
    return values.reshape([array.shape[d] for d in order]).transpose(
        [order.index(d) for d in range(array.ndim)]
    )


def integer_array(n, low, high, generator=None, words_of=28):
    """``n`` integers in [low, high): from one word each, from two where the span has more bits than
    ``words_of``.
    """
    g = generator or default_generator
    if g is _no_numbers:
        return meta.fresh(n, xp.int64)
    span = high - low
    if span >= 1 << words_of:
        words = g.words(2 * n)
        raw = (words[0::2] << xp.uint64(32)) | words[1::2]
    else:
        raw = g.words(n)
    return (raw % xp.uint64(span)).astype(xp.int64) + low


# ---------------------------------------------------------------- factories
def _made(array, requires_grad, there):
    return mark(wrap(beside(array, there)), requires_grad)


def _refuse_integers(kernel, np_dtype):
    if np_dtype.kind in "biu":
        name = dtypes.scalar_name(dtypes.from_np(np_dtype))
        raise NotImplementedError(f"\"{kernel}\" not implemented for '{name}'")


_INTEGERS = {
    "bool": "bool",
    "uint8": "unsigned char",
    "int8": "signed char",
    "int16": "short int",
    "int32": "int",
}


def _check_range(low, high, np_dtype):
    """RuntimeError for bounds that an integer dtype does not hold."""
    name = _INTEGERS.get(np_dtype.name)
    if name is None:
        return
    least, most = (0, 1) if name == "bool" else (xp.iinfo(np_dtype).min, xp.iinfo(np_dtype).max)
    for what, bound in (("from", low), ("to - 1", high - 1)):
        if not least <= bound <= most:
            raise RuntimeError(f"{what} is out of bounds for {name}")


def _float(dtype):
    return (dtype or dtypes.default.float).np


def _part(complex_dtype):
    """The dtype of the real part of complex numbers."""
    return xp.dtype(xp.float32 if complex_dtype == xp.complex64 else xp.float64)


def rand(
    *given,
    size=None,
    generator=None,
    dtype=None,
    requires_grad=False,
    device=None,
    layout=None,
    pin_memory=False,
    out=None,
):
    """Uniform numbers in [0, 1)."""
    wanted, there = _float(dtype), like_of(device)
    _refuse_integers("check_uniform_bounds", wanted)

    def make(shape):
        g = stream_of(generator, there)
        if wanted.kind == "c":
            numbers = uniform_array(2 * math.prod(shape), _part(wanted), g).view(wanted)
        else:
            numbers = uniform_array(math.prod(shape), wanted, g)
        return _made(numbers.reshape(shape), requires_grad, there)

    return drawn(check_sizes(sizes(given if size is None else (size,))), make)


def randn(
    *given,
    size=None,
    generator=None,
    dtype=None,
    requires_grad=False,
    device=None,
    layout=None,
    pin_memory=False,
    out=None,
):
    """Standard normal numbers; complex ones have variance 1 in all."""
    wanted, there = _float(dtype), like_of(device)
    _refuse_integers("normal_kernel_cpu", wanted)

    def make(shape):
        g = stream_of(generator, there)
        if wanted.kind == "c":
            std = math.sqrt(0.5)
            numbers = normal_array(2 * math.prod(shape), _part(wanted), g, std=std).view(wanted)
        else:
            numbers = normal_array(math.prod(shape), wanted, g)
        return _made(numbers.reshape(shape), requires_grad, there)

    return drawn(check_sizes(sizes(given if size is None else (size,))), make)


def randint(
    low,
    high=None,
    size=None,
    *,
    generator=None,
    dtype=None,
    requires_grad=False,
    device=None,
    layout=None,
):
    """Integers in [low, high)."""
    if size is None and high is not None and not isinstance(high, int):
        low, high, size = 0, low, high
    if size is None:
        low, high, size = 0, low, high
    if high <= low:
        raise RuntimeError(
            f"random_ expects 'from' to be less than 'to', but got from={low} >= to={high}"
        )
    there = like_of(device)
    kind = (dtype or dtypes.int64).np
    _check_range(low, high, kind)

    def make(shape):
        array = integer_array(math.prod(shape), low, high, stream_of(generator, there))
        return _made(array.reshape(shape).astype(kind), requires_grad, there)

    return drawn(check_sizes(sizes((size,))), make)


@by_slice
def randperm(
    n,
    *,
    generator=None,
    dtype=None,
    requires_grad=False,
    device=None,
    layout=None,
    pin_memory=False,
):
    """A random permutation of 0 … n−1."""
    check_sizes((n,))
    there = like_of(device)
    g = stream_of(generator, there)
    kind = (dtype or dtypes.int64).np
    if kind.kind in "iu" and n > xp.iinfo(kind).max + 1:
        raise RuntimeError(f"value cannot be converted to type {kind.name}_t without overflow")
    if g is _no_numbers:
        return _made(meta.fresh(n, kind), requires_grad, there)
    out = list(range(n))
    for i, word in enumerate(g.words(max(n - 1, 0)).tolist()):
        j = word % (n - i) + i
        out[i], out[j] = out[j], out[i]
    return _made(xp.asarray(out, kind), requires_grad, there)


_KEPT = (None, preserve_format)


def _like(function, fill):
    def like(
        input,
        *,
        dtype=None,
        requires_grad=False,
        device=None,
        memory_format=None,
        layout=None,
        generator=None,
    ):
        kept = memory_format is not contiguous_format and device is None
        if kept and not (memory_format in _KEPT and input._a.flags.c_contiguous):
            # the numbers go through memory in its order
            made = xp.empty_like(input._a, (dtype or input.dtype).np)
            made = wrap(made if memory_format in _KEPT else in_format(made, memory_format))
            getattr(made, fill)(generator=generator)
            return mark(made, requires_grad)
        return function(
            input._a.shape,
            dtype=dtype or input.dtype,
            requires_grad=requires_grad,
            generator=generator,
            device=device or input.device,
        )

    like.__doc__ = f"``{function.__name__}`` in the shape and dtype of ``input``."
    return like


def _common_shape(*given):
    shapes = [t._a.shape for t in given]
    try:
        return xp.broadcast_shapes(*shapes)
    except ValueError:
        raise broadcast_error(*shapes) from None


@by_slice
def normal(mean, std=1.0, size=None, *, generator=None, dtype=None, device=None, out=None):
    """Normal numbers with the given means and standard deviations."""
    given = [x for x in (mean, std) if isinstance(x, Tensor)]
    kind = given[0]._a.dtype if given else _float(dtype)
    _refuse_integers("normal_kernel_cpu", kind)
    least = std._a.min(initial=0) if isinstance(std, Tensor) else std
    if least < 0:
        raise RuntimeError(f"normal expects std >= 0.0, but found std {least:g}")
    shape = sizes((size,)) if size is not None else _common_shape(*given)
    plain = [x._a if isinstance(x, Tensor) else x for x in (mean, std)]
    there = next((x for x in plain if isinstance(x, DeviceArray)), like_of(device))
    g = stream_of(generator, there)
    base = beside(normal_array(math.prod(shape), kind, g).reshape(shape), there)
    made = (base * plain[1] + plain[0]).astype(base.dtype)
    if not given:
        return wrap(made)
    if len(given) == 2:
        return _drawn_from_both(*given, made)
    return (_drawn_from_mean if given[0] is mean else _drawn_from_std)(*given, made)


_drawn_from_mean = known.drawn("normal_of_mean", "NormalBackward1", "mean")
_drawn_from_std = known.drawn("normal_of_std", "NormalBackward2", "std")
_drawn_from_both = known.drawn("normal_of_both", "NormalBackward3", "mean std")


def _check_chance(input, p):
    chance = input._a if p is None else p
    if p is None and input._a.dtype.kind not in "fV":
        raise NotImplementedError(
            f"\"bernoulli_tensor_cpu_p_\" not implemented for '{dtypes.scalar_name(input.dtype)}'"
        )
    if p is None and readable(chance) and not bool(((chance >= 0) & (chance <= 1)).all()):
        raise RuntimeError(
            "Expected p_in >= 0 && p_in <= 1 to be true, but got false.  (Could this error message "
            "be improved?  If so, please report an enhancement request to PyTorch.)"
        )


@by_slice
def bernoulli(input, p=None, *, generator=None, out=None):
    """1 with the probability given by each element, else 0."""
    _check_chance(input, p)
    generator = stream_of(generator, input._a)
    made = _bernoulli(input._a, generator, input if p is None else p).astype(input._a.dtype)
    return (_drawn_bernoulli if p is None else _bernoulli_of_number)(input, made)


_drawn_bernoulli = known.drawn("bernoulli", "BernoulliBackward0")
_bernoulli_of_number = known.without_derivative("bernoulli")


for _f in (rand, randn, randint, randperm, normal):
    public(_f.__name__, _f)
public("rand_like", _like(rand, "uniform_"))
public("randn_like", _like(randn, "normal_"))
public(
    "randint_like",
    lambda input, low, high=None, *, dtype=None, **kw: randint(
        *((0, low) if high is None else (low, high)),
        input._a.shape,
        dtype=dtype or input.dtype,
        device=kw.get("device") or input.device,
    ),
)
method(bernoulli)
public("manual_seed", manual_seed)
public("seed", lambda: default_generator.seed())
public("initial_seed", lambda: default_generator.initial_seed())
public("get_rng_state", lambda: default_generator.get_state())
public("set_rng_state", set_rng_state)
public("Generator", Generator)
public("default_generator", default_generator)


# ---------------------------------------------------------------- in place
def _fill_from(name, draw):
    def inplace(self, *args, generator=None, **kwargs):
        node = _NODES[name] if isinstance(_NODES[name], str) else _NODES[name](*args, **kwargs)
        if local.batch is not None:
            local.batch.filling()
        g = stream_of(generator, self._a)
        return views.overwrite(self, lambda: draw(self._a, g, *args, **kwargs), node)

    inplace.__name__ = name
    inplace.__doc__ = f"Fill in place with random numbers (``{name}``)."
    only_method(inplace, name)


_NODES = {
    "uniform_": "UniformBackward0",
    "normal_": "NormalBackward0",
    "bernoulli_": lambda p=0.5: f"BernoulliBackward{1 if isinstance(p, Tensor) else 2}",
    "random_": lambda *a, **k: f"RandomBackward{(2, 1, 0)[min(len(a) + len(k), 2)]}",
}


def _uniform(a, g, *bounds, **named):
    _refuse_integers("check_uniform_bounds", a.dtype)
    low, high = (
        named.get("from", bounds[0] if bounds else 0.0),
        named.get("to", bounds[1] if len(bounds) > 1 else 1.0),
    )
    if low > high:
        raise RuntimeError(
            f"uniform_ expects to return a [from, to) range, but found from={low} > to={high}"
        )
    return stored_like(a, uniform_array(a.size, a.dtype, g, low, high))


def _normal(a, g, mean=0.0, std=1.0):
    _refuse_integers("normal_kernel_cpu", a.dtype)
    if std < 0:
        raise RuntimeError(f"normal expects std >= 0.0, but found std {std}")
    if g is _no_numbers:
        return a
    if a.dtype.kind == "c":
        return randn(*a.shape, dtype=dtypes.of(a), generator=g, device=of(a))._a * std + mean
    if a.flags.c_contiguous:
        return normal_array(a.size, a.dtype, g, mean, std).reshape(a.shape)
    return stored_like(a, xp.asarray([g.normal_double() * std + mean for _ in range(a.size)]))


def _bernoulli(a, g, p=0.5):
    chance = p._a if isinstance(p, Tensor) else p
    if isinstance(p, float) and not 0 <= p <= 1:
        raise RuntimeError(f"bernoulli_ expects p to be in [0, 1], but got p={p}")
    if g is _no_numbers:
        return a
    # PyTorch draws in the precision of a tensor of probabilities, and doubles for a number
    short = isinstance(p, Tensor) and chance.dtype.itemsize <= 4
    drawn = g.floats(a.size) if short else g.doubles(a.size)
    drawn = drawn.reshape(a.shape) if isinstance(p, Tensor) else stored_like(a, drawn)
    return beside(drawn, chance if isinstance(p, Tensor) else None) < chance


def _span(np_dtype):
    """How many numbers ``random_`` draws from: what the dtype holds exactly."""
    if np_dtype.kind == "f":
        return 2 ** (xp.finfo(np_dtype).nmant + 1) + 1
    return (
        2
        if np_dtype.kind == "b"
        else 2**8 + 1
        if np_dtype.kind == "V"
        else int(xp.iinfo(np_dtype).max) + 1
    )


def _integers(a, g, *bounds, **named):
    low, high = (
        (0, bounds[0])
        if len(bounds) == 1
        else bounds
        if bounds
        else (named.get("from", 0), named.get("to"))
    )
    if high is None:
        return stored_like(a, integer_array(a.size, 0, _span(a.dtype), g, words_of=32))
    if high <= low:
        raise RuntimeError(
            f"random_ expects 'from' to be less than 'to', but got from={low} >= to={high}"
        )
    _check_range(low, high, a.dtype)
    return stored_like(a, integer_array(a.size, low, high, g))


for _n, _d in [
    ("uniform_", _uniform),
    ("normal_", _normal),
    ("bernoulli_", _bernoulli),
    ("random_", _integers),
]:
    _fill_from(_n, _d)
