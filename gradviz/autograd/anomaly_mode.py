"""``torch.autograd.anomaly_mode``: the switches of anomaly detection under PyTorch's name."""

from .anomaly import detect_anomaly, set_detect_anomaly

__all__ = ["detect_anomaly", "set_detect_anomaly"]
