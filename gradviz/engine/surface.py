"""What nodes have of objects written in C: attributes that nobody can set, methods that count their
arguments, and the words of both.
"""

from __future__ import annotations


class fixed(property):
    """A property that cannot be set or deleted, in PyTorch's words."""

    def __set__(self, owner, value):
        refuse_write(owner, self.fget.__name__)

    def __delete__(self, owner):
        refuse_write(owner, self.fget.__name__)


def refuse_write(owner, name):
    """AttributeError: this attribute is not for setting."""
    kind = owner.owner_name or type(owner).__name__
    raise AttributeError(f"attribute '{name}' of '{kind}' objects is not writable")


# What the engine keeps on nodes for itself; ``dir`` does not show it.
_ENGINES_OWN = frozenset(
    """
    __del__ __module__ __slots__ __weakref__ _add_hook _differentiable _forward_cls _kind
    _materialize _meta _needs _open _places _renumber _run_arrays _run_window at born describe_saved
    dtype e first held hooks idles inputs leaf mark message note op outputs owner_name r run s seq
    shape theirs whole
    """.split()
)


def none(node, name, given):
    """The arguments of a method that has none."""
    if given:
        raise TypeError(f"{type(node).__name__}.{name}() takes no arguments ({len(given)} given)")


def only(node, name, given):
    """The one argument of a method."""
    if len(given) != 1:
        raise TypeError(
            f"{type(node).__name__}.{name}() takes exactly one argument ({len(given)} given)"
        )
    return given[0]


def surfaced(kind):
    """A class of nodes with all that ``Surface`` defines and it does not: without a base class that
    people would see.
    """
    for name, found in vars(Surface).items():
        if name not in kind.__dict__:
            setattr(kind, name, found)
    return kind


class Surface:
    """What all nodes share, recorded operations and AccumulateGrad: the user's notes, the checks of
    methods. ``owner_name``: the class that messages name, None for its own.
    """

    __slots__ = ()
    owner_name = None

    @fixed
    def metadata(self):
        """A dict for the user's notes."""
        try:
            return self._meta
        except AttributeError:
            self._meta = {}
            return self._meta

    @fixed
    def requires_grad(self):
        """True: nodes are made for what is tracked only."""
        return True

    def _sequence_nr(self, *given):
        none(self, "_sequence_nr", given)
        return self.seq

    def _set_sequence_nr(self, *given):
        number = only(self, "_set_sequence_nr", given)
        if not isinstance(number, int):
            raise TypeError("an integer is required")
        if number < 0:
            raise OverflowError("can't convert negative int to unsigned")
        self._renumber(number)

    def _register_hook_dict(self, *given):
        from .hooks import join_table
        from .tensor import Tensor

        tensor = only(self, "_register_hook_dict", given)
        if not isinstance(tensor, Tensor):
            raise TypeError("_register_hook_dict expected a variable")
        join_table(self, tensor)

    def register_hook(self, *hook):
        """Call ``hook(grad_inputs, grad_outputs)`` after this node ran; a returned tuple replaces
        grad_inputs.
        """
        return self._add_hook("post", only(self, "register_hook", hook))

    def register_prehook(self, *hook):
        """Call ``hook(grad_outputs)`` before this node runs; a returned tuple replaces them."""
        return self._add_hook("pre", only(self, "register_prehook", hook))

    def __dir__(self):
        return [n for n in object.__dir__(self) if n not in _ENGINES_OWN]

    def __repr__(self):
        return f"<{type(self).__name__} object at 0x{id(self):x}>"

    def __reduce_ex__(self, protocol):
        raise TypeError(f"cannot pickle '{type(self).__name__}' object")
