"""Images: resizing, sampling on a grid."""

from __future__ import annotations

import itertools
import math
import warnings

from ...backend import beside, contiguous, xp
from ...engine.dispatch import wrap
from ...engine.operation import RAW, TENSOR
from ...engine.saved_names import kept
from ...ops import resample as table
from ...ops.declare import declare, public
from ...ops.lower import keeps_precise
from .pooling import adaptive_avg_pool1d, adaptive_avg_pool2d, adaptive_avg_pool3d

# ---------------------------------------------------------------- resizing
_LINEAR = {1: "linear", 2: "bilinear", 3: "trilinear"}


def _sizes(input, size, scale_factor, n, recompute):
    image = input.shape[2:]
    if size is not None and scale_factor is not None:
        raise ValueError("only one of size or scale_factor should be defined")
    if size is not None:
        if isinstance(size, (list, tuple)):
            if len(size) != n:
                raise ValueError(
                    "Input and output must have the same number of spatial dimensions, but got "
                    "input with spatial dimensions of "
                    f"{list(image)} and output size of {size}. Please provide input tensor in (N, "
                    "C, d1, d2, ...,dK) format and output "
                    "size in (o1, o2, ...,oK) format."
                )
            return tuple(int(s) for s in size), (None,) * n
        return (int(size),) * n, (None,) * n
    if scale_factor is None:
        raise ValueError("either size or scale_factor should be defined")
    scales = tuple(scale_factor) if isinstance(scale_factor, (list, tuple)) else (scale_factor,) * n
    if len(scales) != n:
        raise ValueError(
            "Input and scale_factor must have the same number of spatial dimensions, but got "
            "input with spatial dimensions of "
            f"{list(image)} and scale_factor of shape {scale_factor}. Please provide input tensor "
            "in (N, C, d1, d2, ...,dK) format and "
            "scale_factor in (s1, s2, ...,sK) format."
        )
    out = tuple(math.floor(float(i) * s) for i, s in zip(image, scales, strict=True))
    return out, (None,) * n if recompute else scales


def interpolate(
    input,
    size=None,
    scale_factor=None,
    mode="nearest",
    align_corners=None,
    recompute_scale_factor=None,
    antialias=False,
):
    """Images (N, C, …) with another number of pixels."""
    n = input.dim() - 2
    if mode in ("nearest", "area", "nearest-exact"):
        if align_corners is not None:
            raise ValueError(
                "align_corners option can only be set with the interpolating modes: linear | "
                "bilinear | bicubic | trilinear"
            )
    else:
        align_corners = bool(align_corners)
    if n not in _LINEAR:
        raise _no_such_mode(input.dim(), mode)
    out, scales = _sizes(input, size, scale_factor, n, recompute_scale_factor)
    if antialias and not (mode in ("bilinear", "bicubic") and n == 2):
        raise ValueError(
            "Anti-alias option is restricted to bilinear, bicubic, and lanczos modes and requires "
            "a 4-D tensor as input"
        )
    if mode == "area":
        return (adaptive_avg_pool1d, adaptive_avg_pool2d, adaptive_avg_pool3d)[n - 1](input, out)
    known = (
        mode in ("nearest", "nearest-exact")
        or _LINEAR.get(n) == mode
        or (mode == "bicubic" and n == 2)
    )
    if not known:
        raise _no_such_mode(input.dim(), mode)
    matrices = [
        _matrix(mode, o, i, align_corners, s, antialias)
        for o, i, s in zip(out, input.shape[2:], scales, strict=True)
    ]
    return table.RESIZE[mode + ("-aa" if antialias else ""), n](
        input, matrices, (scales, align_corners)
    )


def _no_such_mode(dim, mode):
    wanted = {word: n + 2 for n, word in _LINEAR.items()}.get(mode)
    if wanted is not None and dim - 2 in _LINEAR:
        return NotImplementedError(f"Got {dim}D input, but {mode} mode needs {wanted}D input")
    return NotImplementedError(
        f"Input Error: Only 3D, 4D and 5D input Tensors supported (got {dim}D) for the modes: "
        "nearest | linear | bilinear | bicubic | trilinear | lanczos | area | nearest-exact (got "
        f"{mode})"
    )


def _matrix(mode, count, size, align_corners, scale, antialias):
    if antialias:
        return table.antialias_matrix(count, size, align_corners, scale, mode == "bicubic")
    if mode.startswith("nearest"):
        return table.nearest_matrix(count, size, mode == "nearest-exact", scale)
    if mode == "bicubic":
        return table.cubic_matrix(count, size, align_corners, scale)
    return table.linear_matrix(count, size, align_corners, scale)


def upsample(input, size=None, scale_factor=None, mode="nearest", align_corners=None):
    """The old name of ``interpolate``."""
    return interpolate(input, size, scale_factor, mode, align_corners)


def upsample_nearest(input, size=None, scale_factor=None):
    """``interpolate`` with the nearest pixel."""
    return interpolate(input, size, scale_factor, "nearest")


def upsample_bilinear(input, size=None, scale_factor=None):
    """``interpolate`` between four pixels, corners aligned."""
    return interpolate(input, size, scale_factor, "bilinear", True)


# ---------------------------------------------------------------- grids
def _corners(align_corners):
    if align_corners is None:
        warnings.warn(
            "Default grid_sample and affine_grid behavior has changed to align_corners=False since "
            "1.3.0. Please specify align_corners=True if the old behavior is desired. See the "
            "documentation of grid_sample for details.",
            stacklevel=3,
        )
    return bool(align_corners)


def affine_grid(theta, size, align_corners=None):
    """Places (N, H, W, 2) or (N, D, H, W, 3) that the matrices ``theta`` give to the pixels of an
    image of ``size``."""
    align_corners = _corners(align_corners)
    if not theta.is_floating_point():
        raise ValueError(
            f"Expected theta to have floating point type, but got torch.{theta.dtype.name}"
        )
    n = len(size) - 2
    if tuple(theta.shape[1:]) != (n, n + 1) or theta.dim() != 3:
        raise ValueError(
            f"Expected a batch of {n}D affine matrices of shape Nx{n}x{n + 1} for size "
            f"{tuple(size)}. Got {theta.shape}."
        )
    axes = []
    for count in reversed(size[2:]):
        at = xp.linspace(-1, 1, count) if count > 1 else xp.zeros(1)
        axes.append(at if align_corners else at * (count - 1) / count)
    meshes = xp.meshgrid(*reversed(axes), indexing="ij")
    base = (
        xp.stack([*reversed(meshes), xp.ones(size[2:])], -1)
        .reshape(-1, n + 1)
        .astype(theta._a.dtype)
    )
    return affine_op(theta, beside(base, theta._a), tuple(size[2:]))


affine_op = declare(
    "affine_grid_generator",
    lambda theta, base, image: xp.matmul(base, theta.swapaxes(1, 2)).reshape(
        len(theta), *image, -1
    ),
    "theta",
    "base image",
    formula="gᵀ · base",
    theta=lambda F, g, base, image: _affine_back(F, g, base),
)


def _affine_back(F, g, base):
    rows = F.reshape(g, (g.shape[0], len(base), g.shape[-1]))
    wide = F.constant(contiguous(xp.broadcast_to(base, (g.shape[0], *base.shape))))
    return F.transpose(F.bmm(F.transpose(wide, 1, 2), rows), 1, 2)


def _sample(F, x, grid, mode, padding, align_corners):
    """The same formula on arrays and tensors: images (N, C, …) at places (N, …, dims)."""
    image, dims = tuple(x.shape[2:]), grid.shape[-1]
    at = [
        table.pixels(
            F.select(grid, dims + 1, dims - 1 - d) if F is TENSOR else grid[..., dims - 1 - d],
            image[d],
            align_corners,
        )
        for d in range(dims)
    ]
    if mode == "bicubic":
        return _sample_cubic(F, x, at, image, align_corners, padding)
    at = [table.inside(F, a, n, align_corners, padding) for a, n in zip(at, image, strict=True)]
    raw = [a._a if F is TENSOR else a for a in at]
    if mode == "nearest":
        return _gathered(F, x, [xp.rint(a).astype(int) for a in raw], image)
    low = [xp.floor(a).astype(int) for a in raw]
    total = None
    for corner in table.corners(raw, dims):
        weight = None
        for d in range(dims):
            part = at[d] - F.constant(low[d].astype(raw[d].dtype))
            part = part if corner[d] else 1 - part
            weight = part if weight is None else weight * part
        picked = _gathered(F, x, [i + c for i, c in zip(low, corner, strict=True)], image)
        term = picked * F.reshape(weight, (weight.shape[0], 1, *weight.shape[1:]))
        total = term if total is None else total + term
    return total


def _sample_cubic(F, x, at, image, align_corners, padding):
    """Four pixels a dimension; the pixels are brought inside, not the place."""
    indices, weights = [], []
    for a, n in zip(at, image, strict=True):
        low = xp.floor(a._a if F is TENSOR else a)
        weights.append(table.cubic_weights(a - F.constant(low)))
        reach = [table.inside(RAW, low + k, n, align_corners, padding) for k in range(-1, 3)]
        indices.append([i.astype(int) for i in reach])
    total = None
    for i, j in itertools.product(range(4), repeat=2):
        picked = _gathered(F, x, [indices[0][i], indices[1][j]], image)
        weight = weights[0][i] * weights[1][j]
        term = picked * F.reshape(weight, (weight.shape[0], 1, *weight.shape[1:]))
        total = term if total is None else total + term
    return total


def _gathered(F, x, indices, image):
    flat, inside = table.flat_index(indices, image)
    n, c = x.shape[:2]
    wide = contiguous(xp.broadcast_to(flat.reshape(n, 1, -1), (n, c, flat[0].size)))
    rows = F.reshape(x, (n, c, table.area(image)))
    picked = xp.take_along_axis(rows, wide, 2) if F is RAW else TENSOR.gather(rows, wrap(wide), 2)
    picked = F.reshape(picked, (n, c, *flat.shape[1:]))
    return picked * F.constant(inside[:, None].astype((x if F is RAW else x._a).dtype))


def _sample_joint(F, g, self, grid, needs, mode, padding, align_corners):
    """The gradient of ``_sample``, through the operations it is made of."""
    from ...engine.backward import grad
    from ...engine.modes import enable_grad

    if F is TENSOR:
        with enable_grad():
            x, at = (t if t.requires_grad else t.detach().requires_grad_() for t in (self, grid))
            out = _sample(TENSOR, x, at, mode, padding, align_corners)
            return grad(out, (x, at), g, create_graph=True, materialize_grads=True)
    with enable_grad():
        x, at = (wrap(a).requires_grad_() for a in (self, grid))
        out = _sample(TENSOR, x, at, mode, padding, align_corners)
    return tuple(f._a for f in grad(out, (x, at), wrap(g), materialize_grads=True))


_MODES, _EDGES = ("bilinear", "nearest", "bicubic"), ("zeros", "border", "reflection")
_sampler = {
    n: declare(
        f"grid_sampler_{n}d_op",
        lambda x, grid, mode, padding, align: _sample(RAW, x, grid, mode, padding, align),
        "self grid",
        "mode padding align_corners",
        node=f"GridSampler{n}DBackward0",
        formula="g to the pixels around each place",
        hidden=("self", "mode", "padding"),
        also={
            "input": kept("self"),
            "interpolation_mode": lambda node: _MODES.index(node.at[0]),
            "padding_mode": lambda node: _EDGES.index(node.at[1]),
        },
        joint=_sample_joint,
    )
    for n in (2, 3)
}


@keeps_precise
def grid_sample(input, grid, mode="bilinear", padding_mode="zeros", align_corners=None):
    """Images (N, C, H, W) read at the places (N, H', W', 2) of ``grid``, in [−1, 1]."""
    if mode not in ("bilinear", "nearest", "bicubic"):
        raise ValueError(
            "nn.functional.grid_sample(): expected mode to be 'bilinear', 'nearest' or "
            f"'bicubic', but got: '{mode}'"
        )
    if padding_mode not in ("zeros", "border", "reflection"):
        raise ValueError(
            "nn.functional.grid_sample(): expected padding_mode to be 'zeros', 'border', or "
            "'reflection', but got: "
            f"'{padding_mode}'"
        )
    align_corners = _corners(align_corners)
    n = input.dim() - 2
    if grid.shape[-1] != n:
        raise RuntimeError(
            f"grid_sampler(): expected grid to have size {n} in last dimension, but got grid with "
            f"sizes {list(grid.shape)}"
        )
    if mode == "bicubic" and n == 3:
        raise RuntimeError("grid_sampler(): bicubic interpolation only supports 4D input")
    return _sampler[n](input, grid, mode, padding_mode, bool(align_corners))


public("affine_grid_generator", affine_grid)


def _by_number(input, grid, interpolation_mode, padding_mode, align_corners):
    mode, padding = (
        ("bilinear", "nearest", "bicubic")[interpolation_mode],
        ("zeros", "border", "reflection")[padding_mode],
    )
    return grid_sample(input, grid, mode, padding, align_corners)


for _name in ("grid_sampler", "grid_sampler_2d", "grid_sampler_3d"):
    public(_name, _by_number)
