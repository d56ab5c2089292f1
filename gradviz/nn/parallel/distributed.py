"""``DistributedDataParallel``: one module in every process, kept equal."""

from __future__ import annotations

import contextlib

from ...distributed import GroupMember, broadcast
from ...distributed.algorithms.join import Join, Joinable
from ...distributed.group import member
from ...engine.events import block
from ...engine.modes import is_grad_enabled
from ...engine.tensor import Tensor
from ...func.tree import flatten
from ..modules.module import Module
from .joining import DDPJoinHook, agreed_rank, some_wants
from .reducer import Reducer, check_same_model


class DistributedDataParallel(Module, Joinable):
    """``module`` in every process of a group: parameters and buffers start as those of the first
    rank, gradients are averaged bucket by bucket while backward goes on.

    RuntimeError when nothing requires a gradient or the processes have different parameters,
    ValueError before ``init_process_group`` and for ``device_ids`` of a module on the CPU.
    """

    def __init__(
        self,
        module,
        device_ids=None,
        output_device=None,
        dim=0,
        broadcast_buffers=True,
        init_sync=True,
        process_group=None,
        bucket_cap_mb=None,
        find_unused_parameters=False,
        check_reduction=False,
        gradient_as_bucket_view=False,
        static_graph=False,
        delay_all_reduce_named_params=None,
        param_to_hook_all_reduce=None,
        mixed_precision=None,
        device_mesh=None,
        skip_all_reduce_unused_params=False,
    ):
        super().__init__()
        Joinable.__init__(self)
        group = member(process_group)
        if group is None:
            raise ValueError(f"process {GroupMember.NON_GROUP_MEMBER} is not in the given group")
        named = [(n, p) for n, p in module.named_parameters() if p.requires_grad]
        if not named:
            raise RuntimeError(
                "DistributedDataParallel is not needed when a module doesn't have any parameter "
                "that "
                "requires a gradient."
            )
        asked = bool(device_ids) or output_device is not None
        if asked and any(p.device.type == "cpu" for _, p in named):
            raise ValueError(
                "DistributedDataParallel device_ids and output_device arguments only work with "
                "single-device/multiple-device GPU modules or CPU modules, but got device_ids "
                f"{device_ids}, output_device {output_device}, and module parameters "
                f"{ {p.device for _, p in named} }."
            )
        self.module, self.process_group, self.dim = module, group, dim
        self.device_ids, self.output_device = None, None
        self.broadcast_buffers, self.bucket_bytes_cap_default = (
            broadcast_buffers,
            bucket_cap_mb is None,
        )
        self.find_unused_parameters, self.static_graph = find_unused_parameters, static_graph
        self.gradient_as_bucket_view = gradient_as_bucket_view
        self.require_backward_grad_sync = self.require_forward_param_sync = True
        if init_sync:
            check_same_model(list(module.parameters()), group)
            self._broadcast((*module.parameters(), *module.buffers()))
        self.reducer = Reducer(named, group, bucket_cap_mb, find_unused_parameters or static_graph)

    def _synchronise_buffers(self, joined=False):
        """Buffers as those of one process: of the first, or of one that still has inputs."""
        buffers = list(self.module.buffers())
        if not (self.broadcast_buffers and self.require_forward_param_sync and buffers):
            return
        if self._join_config.enable:
            self._broadcast(buffers, agreed_rank(self.process_group, not joined))
        else:
            self._broadcast(buffers)

    def join(
        self, divide_by_initial_world_size=True, enable=True, throw_on_early_termination=False
    ):
        """A block in which processes may have different numbers of inputs: those that are done take
        part in the averages with zeros. ``divide_by_initial_world_size``: averages are over all
        processes, not over those that still have inputs. All have the model of one that finished
        last afterwards.
        """
        return Join(
            [self],
            enable,
            throw_on_early_termination,
            divide_by_initial_world_size=divide_by_initial_world_size,
        )

    def join_hook(self, **kwargs):
        """What stands in for this module in a process without inputs."""
        return DDPJoinHook(self, kwargs.get("divide_by_initial_world_size", True))

    @property
    def join_device(self):
        """Where the parameters lie."""
        return next(self.module.parameters()).device

    @property
    def join_process_group(self):
        """The processes whose gradients are averaged."""
        return self.process_group

    def _broadcast(self, tensors, source=0):
        first = self.process_group.ranks[source]
        works = [broadcast(t, first, self.process_group, async_op=True) for t in tensors]
        for work in works:
            work.wait()

    @contextlib.contextmanager
    def no_sync(self):
        """Inside the block gradients only add up here; the next forward and backward outside
        average the sum."""
        before, self.require_backward_grad_sync = self.require_backward_grad_sync, False
        try:
            yield
        finally:
            self.require_backward_grad_sync = before

    def forward(self, *inputs, **kwargs):
        synchronised = is_grad_enabled() and self.require_backward_grad_sync
        if synchronised:
            self.reducer.check_finished()
        work = Join.notify_join_context(self)
        self._synchronise_buffers()
        if work is not None:
            self.reducer.active = work
            some_wants(self.process_group, self.require_backward_grad_sync)
        with block("DistributedDataParallel.forward"):
            output = self.module(*inputs, **kwargs)
        self.require_forward_param_sync = synchronised
        if synchronised:
            self.reducer.expect([t for t in flatten(output)[0] if isinstance(t, Tensor)])
        return output

    def register_comm_hook(self, state, hook):
        """``hook(state, bucket)`` gives a future of the flat tensor to write back, instead of the
        average that would be computed. TypeError when it cannot be called, RuntimeError the second
        time.
        """
        if not callable(hook):
            raise TypeError("Communication hook must be callable.")
        if self.reducer.hook is not None:
            raise RuntimeError(
                "register_comm_hook or register_builtin_comm_hook can only be called once."
            )
        self.reducer.hook = (state, hook)

    def timeline(self):
        """When the gradients of each bucket came and its all-reduce ran in the last backward: plain
        data, seconds since the forward ended."""
        return [dict(row) for row in self.reducer.timeline]
