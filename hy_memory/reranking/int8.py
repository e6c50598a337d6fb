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


class _Rounded:
    """The forward pass of a linear layer, rounded.

    What enters a narrowing layer comes out of an activation function: nearly all of it is positive, so
    that half the levels would be lost unless they are laid around the middle of each row.
    """

    def __init__(self, layer: Any) -> None:
        weights = layer.weight.detach()
        self._scale = weights.abs().amax(dim=1).clamp_min(_LEAST) / _LEVELS
        whole = (weights / self._scale[:, None]).round()
        self._weights = whole.to(torch.int8).t()
        self._sums = whole.sum(dim=1) * self._scale if layer.in_features > layer.out_features else None
        self._bias = torch.zeros_like(self._scale) if layer.bias is None else layer.bias.detach()

    def __call__(self, inputs: Any) -> Any:
        rows, bias = inputs.reshape(-1, inputs.shape[-1]), self._bias
        high, low = rows.amax(dim=1, keepdim=True), rows.amin(dim=1, keepdim=True)
        # NaN stays NaN in a scale, and shows in the outputs
        if self._sums is None:
            scale = torch.maximum(high, -low).clamp_min_(_LEAST) / _LEVELS
            levels = rows / scale
        else:
            middle, scale = (high + low) / 2, (high - low).clamp_min_(_LEAST) / (2 * _LEVELS)
            levels = torch.addcmul(-middle / scale, rows, 1 / scale)
            bias = torch.addcmul(bias, middle, self._sums)
        product = torch._int_mm(levels.round_().to(torch.int8), self._weights).float()
        return torch.addcmul(bias, product.mul_(scale), self._scale).reshape(*inputs.shape[:-1], -1)


def to_int8(model: object) -> None:
    """Round the linear layers in the stacks of a torch module.

    What is not stacked stays as it is: the head reads one token of a text, costs next to nothing,
    and says the most.
    """
    stacks = [one for one in cast("Any", model).modules() if isinstance(one, torch.nn.ModuleList)]
    for layer in {part for stack in stacks for part in stack.modules()}:
        # exactly this class: a relative may compute something else
        if type(layer) is torch.nn.Linear:
            layer.forward = _Rounded(layer)
