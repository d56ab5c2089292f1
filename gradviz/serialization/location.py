"""Where loaded tensors lie: where they lay when they were saved, or where ``map_location`` says."""

from __future__ import annotations

from ..backend import accelerator
from ..engine.device import CPU, Device, place, resolve
from ..ops.storage import Storage
from .refused import Absent

NO_GPU = (
    "Attempting to deserialize object on a CUDA device but torch.cuda.is_available() is False. If "
    "you are running on a CPU-only machine, please use torch.load with "
    "map_location=torch.device('cpu') to map your storages to the CPU."
)


class Placement:
    """``map_location`` as ``load`` takes it: a device, its name, a dict of names, or a function of
    a storage and the name of its device.
    """

    def __init__(self, map_location=None):
        """TypeError for a ``map_location`` that is none."""
        known = map_location is None or isinstance(map_location, (str, Device, dict))
        if not (known or callable(map_location)):
            raise TypeError(
                "map_location should be a device, a name, a dict or a function, not "
                f"{type(map_location).__name__}"
            )
        self._map = map_location

    def put(self, array, saved):
        """An array that lay on the device named ``saved``, where it is to lie. RuntimeError where
        that device is not there.
        """
        try:
            return place(array, self._device(array, saved))
        except RuntimeError as error:
            raise Absent(*error.args) from None

    def _device(self, array, saved):
        if self._map is None:
            return _present(saved)
        if isinstance(self._map, (str, Device)):
            return _present(str(self._map))
        if isinstance(self._map, dict):
            return _present(str(self._map.get(saved, saved)))
        return _present(saved) if self._map(Storage(array), saved) is None else CPU


def _present(name):
    try:
        device = Device(name)
    except RuntimeError:
        raise RuntimeError(
            "don't know how to restore data location of torch.storage.UntypedStorage (tagged with "
            f"{name})"
        ) from None
    if device.type == "cuda" and accelerator.gpu() is None:
        raise RuntimeError(NO_GPU)
    return resolve(device)
