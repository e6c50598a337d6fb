"""Linear layers with weights of eight bits, multiplied as integers: three times as fast on a CPU.

Weights are rounded per output channel when the model is opened, activations per token as they come.
So a token's values, and with them a pair's score, never depend on what else is in the batch, which a
scale for the whole batch (torch's own dynamic quantisation) cannot promise.
"""

from __future__ import annotations

from typing import Any, cast

from hy_memory.errors import MissingExtraError

try:
    import torch as _torch
except ImportError as error:
    raise MissingExtraError("rerank", "torch") from error

torch = cast("Any", _torch)  # a foreign object whose types are not there in a plain installation

_LEVELS = 127  # of a signed byte, the same on both sides of 0
_LEAST = 1e-12  # a row of zeros needs a scale too
_NARROW = 32  # outputs; a head of one or a few labels costs nothing and says the most


class _Rounded:
    """The forward pass of a linear layer, rounded: right to about one part in two hundred."""

    def __init__(self, layer: Any) -> None:
        weights = layer.weight.detach()
        self._scale = weights.abs().amax(dim=1).clamp_min(_LEAST) / _LEVELS
        self._weights = (weights / self._scale[:, None]).round().to(torch.int8).t()
        self._bias = torch.zeros_like(self._scale) if layer.bias is None else layer.bias.detach()

    def __call__(self, inputs: Any) -> Any:
        rows = inputs.reshape(-1, inputs.shape[-1])
        most = torch.maximum(rows.amax(dim=1, keepdim=True), -rows.amin(dim=1, keepdim=True))
        scale = most.clamp_min(_LEAST) / _LEVELS  # NaN stays NaN, and shows in the outputs
        whole = (rows / scale).round_().to(torch.int8)
        product = torch._int_mm(whole, self._weights).float()
        outputs = torch.addcmul(self._bias, product.mul_(scale), self._scale)
        return outputs.reshape(*inputs.shape[:-1], -1)


def to_int8(model: object) -> None:
    """Round the linear layers inside a torch module, heads of a few outputs excepted."""
    for layer in cast("Any", model).modules():
        # exactly this class: a relative may compute something else
        if type(layer) is torch.nn.Linear and layer.out_features >= _NARROW:
            layer.forward = _Rounded(layer)
