"""Groups of processes: joining, leaving, subgroups, who is who."""

from __future__ import annotations

import itertools
import os
import tempfile
from datetime import timedelta
from pathlib import Path
from urllib.parse import urlparse

from ..engine.errors import advised
from .transport import Alone

TIMEOUT = timedelta(minutes=30)
BACKENDS = ("gloo", "mpi", "nccl", "undefined")


class ProcessGroup:
    """The processes ``ranks`` (numbers in the whole job) that work together."""

    def __init__(self, transport, ranks, backend, timeout, name):
        self.transport, self.ranks, self.backend = transport, ranks, backend
        self.timeout, self.group_name = timeout, name

    def rank(self):
        """The number of this process in the group."""
        return self.transport.rank

    def size(self):
        """How many processes it has."""
        return self.transport.size

    def name(self):
        """The backend it was asked for."""
        return self.backend


class _World:
    default = None
    groups: list = []
    serial = itertools.count(1)
    joined = itertools.count()


class _HasWorld(type):
    @property
    def WORLD(cls):
        """The group of all processes, None before ``init_process_group``."""
        return _World.default


class GroupMember(metaclass=_HasWorld):
    """``NON_GROUP_MEMBER`` is what ``new_group`` gives to processes that are not in the group."""

    NON_GROUP_MEMBER = -100


class group(metaclass=_HasWorld):
    """``group.WORLD`` is the group of all processes."""


def is_available():
    """Always: files are enough."""
    return True


def is_initialized():
    """Whether ``init_process_group`` was called."""
    return _World.default is not None


def is_mpi_available():
    """Whether ``mpi4py`` is installed."""
    from importlib.util import find_spec

    return find_spec("mpi4py") is not None


def is_gloo_available():
    """Always: programs written for gloo run over files or MPI."""
    return True


def is_nccl_available():
    """Whether CuPy and a GPU are there."""
    from ..cuda import is_available as has_gpu

    return has_gpu()


def is_torchelastic_launched():
    """False: torchrun is not used."""
    return False


def init_process_group(
    backend=None,
    init_method=None,
    timeout=None,
    world_size=-1,
    rank=-1,
    store=None,
    group_name="",
    pg_options=None,
    device_id=None,
):
    """Join the processes of a job.

    With ``backend="nccl"`` tensors on a GPU go by NCCL (CuPy); never run by the project's own
    checks. They talk over MPI when ``mpiexec`` or ``gradviz launch`` started them, otherwise
    through the folder that ``init_method`` (``file://…``, ``tcp://localhost:port`` or the variables
    ``MASTER_PORT``, ``RANK`` and ``WORLD_SIZE``) names. ValueError when called twice or for an
    unknown backend, NotImplementedError for processes of several machines without MPI.
    """
    if _World.default is not None:
        raise ValueError("trying to initialize the default process group twice!")
    backend = _backend(backend)
    if timeout is None:
        told = os.environ.get("GRADVIZ_TIMEOUT")
        timeout = timedelta(seconds=float(told)) if told else TIMEOUT
    if not isinstance(timeout, timedelta):
        raise TypeError(
            f"Expected timeout argument to be of type datetime.timedelta, got {timeout}"
        )
    transport = _transport(backend, init_method, world_size, rank)
    if backend == "nccl":
        from .nccl import Nccl

        transport = Nccl(transport)
    ranks = list(range(transport.size))
    _World.default = ProcessGroup(transport, ranks, backend, timeout, "default_pg")
    _World.groups = [_World.default]
    from .collectives import barrier

    barrier()


def _backend(named):
    backend = str(named or "gloo").lower().split(",")[0].rpartition(":")[2]
    if backend not in BACKENDS:
        raise ValueError(f"Unknown c10d backend type {backend.upper()}")
    if backend == "nccl" and not is_nccl_available():
        raise ValueError("ProcessGroupNCCL is only supported with GPUs, no GPUs found!")
    return "gloo" if backend == "undefined" else backend


def _transport(backend, init_method, world_size, rank):
    place = urlparse(init_method or "env://")
    if place.scheme not in ("file", "tcp") and _under_mpi(backend):
        from .mpi import world

        return world()
    rank = int(os.environ.get("RANK", 0)) if rank < 0 else rank
    size = int(os.environ.get("WORLD_SIZE", 1)) if world_size < 0 else world_size
    if size == 1:
        return Alone()
    from .files import Folder

    path = _folder(place)
    return Folder(path.with_name(f"{path.name}.{next(_World.joined)}"), rank, size)


def _under_mpi(backend):
    started = any(name in os.environ for name in ("OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "PMIX_RANK"))
    return is_mpi_available() and (backend == "mpi" or started)


def _folder(place):
    """The folder that all processes of the job agree on."""
    if place.scheme == "file":
        return Path(place.path)
    if "GRADVIZ_FOLDER" in os.environ:
        return Path(os.environ["GRADVIZ_FOLDER"])
    host = place.hostname or os.environ.get("MASTER_ADDR", "localhost")
    port = place.port or os.environ.get("MASTER_PORT")
    if port is None or host not in ("localhost", "127.0.0.1", "::1"):
        error = NotImplementedError(
            f"processes of one machine only: cannot join at {host}:{port or '(MASTER_PORT unset)'}"
        )
        raise advised(error, "rendezvous")
    session = (getattr(os, name, int)(*given) for name, given in (("getuid", ()), ("getsid", (0,))))
    mine = "-".join(map(str, ("gradviz", *session, port)))
    return Path(tempfile.gettempdir()) / mine


def new_group(
    ranks=None,
    timeout=None,
    backend=None,
    pg_options=None,
    use_local_synchronization=False,
    group_desc=None,
    device_id=None,
):
    """A group of some of the processes; all processes of the job call it, in the same order.

    For the others it is ``GroupMember.NON_GROUP_MEMBER``.
    """
    world = default()
    ranks = list(range(world.size())) if ranks is None else sorted(int(r) for r in ranks)
    if len(set(ranks)) < len(ranks) or any(r not in world.ranks for r in ranks):
        raise ValueError(
            "The new group's rank should be within the world_size set by init_process_group"
        )
    name = f"g{next(_World.serial)}"
    transport = world.transport.part(ranks, name)
    if transport is None:
        return GroupMember.NON_GROUP_MEMBER
    made = ProcessGroup(
        transport, ranks, _backend(backend or world.backend), timeout or world.timeout, name
    )
    _World.groups.append(made)
    return made


def new_subgroups(group_size=None, group=None, timeout=None, backend=None, **_):
    """(own group, all groups): neighbours in groups of ``group_size``."""
    size = default().size()
    group_size = group_size or size
    if group_size <= 0 or size % group_size:
        raise ValueError(f"The world size ({size}) must be divisible by group_size={group_size}")
    every = [
        new_group(range(first, first + group_size), timeout, backend)
        for first in range(0, size, group_size)
    ]
    own = next((g for g in every if g != GroupMember.NON_GROUP_MEMBER), None)
    return own, every


def destroy_process_group(group=None):
    """Leave ``group``; without one, all groups."""
    if group is GroupMember.NON_GROUP_MEMBER:
        return
    leaving = _World.groups if group is None or group is _World.default else [group]
    for one in reversed(leaving):
        one.transport.close()
    if leaving is _World.groups:
        _World.default, _World.groups = None, []
    else:
        _World.groups.remove(group)


def default():
    """The group of all processes; ValueError before ``init_process_group``."""
    if _World.default is None:
        raise ValueError(
            "Default process group has not been initialized, please make sure to call "
            "init_process_group."
        )
    return _World.default


def member(group):
    """The given group, or that of all; None for a process that is not in it."""
    world = default()
    if group is GroupMember.NON_GROUP_MEMBER:
        return None
    return world if group is None else group


def get_rank(group=None):
    """The number of this process in its group, -1 when it is not in it."""
    own = member(group)
    return -1 if own is None else own.rank()


def get_world_size(group=None):
    """How many processes work together, -1 when this one is not among them."""
    own = member(group)
    return -1 if own is None else own.size()


def get_backend(group=None):
    """The name given to ``init_process_group``."""
    own = member(group)
    if own is None:
        raise ValueError("Invalid process group specified")
    return own.backend


def get_process_group_ranks(group):
    """The numbers, in the whole job, of the processes of a group."""
    return list(member(group).ranks)


def get_group_rank(group, global_rank):
    """The number in ``group`` of the process ``global_rank``; ValueError when it is not in it."""
    own = member(group)
    if global_rank not in own.ranks:
        raise ValueError(f"Global rank {global_rank} is not part of group {group}")
    return own.ranks.index(global_rank)


def get_global_rank(group, group_rank):
    """The number in the whole job of a process of ``group``; ValueError when there is none."""
    own = member(group)
    if not 0 <= group_rank < own.size():
        raise ValueError(f"Group rank {group_rank} is not part of group {group}")
    return own.ranks[group_rank]


def get_node_local_rank(fallback_rank=None):
    """The number of this process on its machine."""
    if "LOCAL_RANK" in os.environ:
        return int(os.environ["LOCAL_RANK"])
    if fallback_rank is not None:
        return int(fallback_rank)
    raise RuntimeError(
        "LOCAL_RANK is not in the environment. Consider passing fallback_rank to allow "
        "`get_node_local_rank` to work, assuming you are not running in a multi-device context and "
        "want the code to run locally instead."
    )
