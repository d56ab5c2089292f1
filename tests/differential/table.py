"""The expressions that are compared, by family, one a line; ``compare.arrays`` says what the
letters are.
"""

UNARY = """
abs acos acosh asin asinh atan atanh ceil cos cosh erf erfc exp exp2 expm1 floor frac log log10
log1p log2 neg reciprocal relu round rsqrt sigmoid sign sin sinh sqrt square tan tanh trunc sgn
logical_not bitwise_not isnan isinf isfinite signbit clone t sum mean prod max min var std
argmax argmin all any amax amin median cumsum(0) cumprod(0) softmax(0) log_softmax(0)
logsumexp(0) positive isposinf isneginf isreal deg2rad rad2deg angle digamma lgamma erfinv i0
sinc logit nan_to_num
""".split()
DOMAIN = {
    "acos": "u",
    "acosh": "a",
    "asin": "u",
    "atanh": "u",
    "log": "p",
    "log10": "p",
    "log1p": "p",
    "log2": "p",
    "rsqrt": "p",
    "sqrt": "p",
    "erfinv": "u",
    "digamma": "p",
    "lgamma": "p",
    "logit": "u",
}

ARITHMETIC = """
x + y
x + 2
2 + x
x + 2.5
x + v
x + col
col * v
x + s
s + 1
x - y
x - 2
2 - x
s - x
x * y
x * 2
2 * x
x * x
x * col
x / p
x / 2
2 / p
1 / p
x / x
x // p
x // 2
x % p
x % 2
2 % p
x ** 2
p ** 3
p ** 0.5
p ** -1
p ** x
2 ** x
0 ** p
x ** 0
x ** 1
-x
+x
abs(x)
torch.add(x, y, alpha=2)
torch.sub(x, y, alpha=2)
torch.rsub(x, y)
torch.mul(x, 3)
torch.div(x, p, rounding_mode='floor')
torch.div(x, p, rounding_mode='trunc')
torch.remainder(x, p)
torch.fmod(x, p)
torch.pow(p, 2)
torch.pow(2.0, x)
torch.maximum(x, y)
torch.minimum(x, y)
torch.maximum(ties, ties)
torch.fmax(x, y)
torch.fmin(x, y)
torch.atan2(x, p)
torch.hypot(x, y)
torch.lerp(x, y, 0.3)
torch.lerp(x, y, p)
torch.add(z, z * 2, alpha=1 - 2j)
torch.sub(z, z * 2, alpha=1 - 2j)
torch.rsub(z, z * 2, alpha=2j)
torch.lerp(z, z * 2, 2j)
torch.addmm(z, z, z.t() @ z, beta=2j, alpha=1 - 2j)
torch.baddbmm(z[None], z[None], (z.t() @ z)[None], beta=2j, alpha=1 - 2j)
z.index_add(0, iv, z * 2, alpha=2j)
torch.addcmul(x, y, p, value=0.5)
torch.addcdiv(x, y, p, value=0.5)
torch.where(b, x, y)
torch.where(b, x, 0.0)
torch.where(x > 0, x, y)
x.masked_fill(b, 1.5)
x.masked_fill(b, s)
x.clamp(-0.5, 0.5)
x.clamp(min=0)
x.clamp(max=0.3)
x.clamp_min(0.1)
x.clamp_max(0.1)
torch.clamp(x, y, p)
x.clip(-1, 1)
torch.real(z)
torch.imag(z)
z.real
z.imag
z.conj()
z.abs()
z * z
z + x
z * x
z / z
x / z
z ** 2
torch.complex(x, y)
torch.angle(z)
torch.polar(p, x)
x ** z
z ** z
torch.acosh(z)
F.silu(z)
F.silu(z.detach())
z.select_scatter(z[0], 0, 1)
z.slice_scatter(z[:2], 0, 1)
z.scatter_reduce(1, n, z, 'sum')
torch.view_as_real(z)
torch.view_as_complex(torch.stack([x, y], -1))
x == y
x != y
x < 0
x >= y
torch.eq(x, 1)
torch.logical_and(b, x > 0)
b & (x > 0)
b | (x > 0)
b ^ b
~b
i & j
i | j
i ^ j
i << 1
i >> 1
torch.bitwise_left_shift(i, j)
torch.logaddexp(x, y)
torch.logaddexp2(x, y)
torch.xlogy(x, p)
torch.copysign(x, y)
torch.heaviside(x, y)
torch.nextafter(x, y)
torch.ldexp(x, i)
torch.gcd(i, j)
torch.lcm(i, j)
torch.float_power(p, 2)
torch.polygamma(1, p)
torch.igamma(p, q)
torch.igammac(p, q)
torch.mvlgamma(a + 1, 2)
torch.nn.functional.relu(x)
torch.isclose(x, y)
torch.sigmoid(x) * x
(x.exp() + 1).log()
torch.softmax(x, 1)
torch.log_softmax(x, -1)
torch.frexp(x)
torch.threshold(x, 0.1, 20.0)
torch.celu(x)
torch.selu(x)
torch.hardshrink(x)
torch.prelu(x, v[:1])
torch.logit(p / 3, 1e-6)
torch.nan_to_num(x / zeros)
torch.special.expit(x)
"""

REDUCTIONS = """
x.sum()
x.sum(0)
x.sum(1, keepdim=True)
x.sum((0, 1))
x.sum(-1)
B.sum((0, 2))
B.sum(())
s.sum()
s.sum(0)
e.sum()
e.sum(0)
e.mean(0)
x.mean()
x.mean(0)
x.mean((0, 1), keepdim=True)
x.sum(dtype=torch.float32)
i.sum()
b.sum()
b.sum(0)
i.prod()
x.prod()
x.prod(0)
zeros.prod()
zeros.prod(1)
zeros.prod(0, keepdim=True)
x.max()
x.min()
ties.max()
x.max(0)
x.max(1, keepdim=True)
ties.max(1)
x.min(0)
torch.max(x, y)
torch.min(x, y)
s.max(0)
x.amax(0)
ties.amax((0, 1))
ties.amin(1, keepdim=True)
torch.aminmax(x)
torch.aminmax(x, dim=0)
x.argmax()
x.argmin(1)
x.argmax(1, keepdim=True)
ties.argmax(1)
x.median()
x.median(0)
torch.nanmedian(x)
x.mode(0)
ties.mode(1)
x.sort()
x.sort(0, descending=True)
x.argsort(1)
ties.argsort(1, stable=True)
x.topk(2)
x.topk(2, 0, largest=False)
x.kthvalue(2)
x.msort()
x.cumsum(1)
x.cumprod(1)
zeros.cumprod(1)
x.cummax(0)
x.cummin(1)
x.logcumsumexp(1)
i.cumsum(0)
x.var()
x.var(0)
x.var(0, unbiased=False)
x.var(1, correction=0, keepdim=True)
x.std()
x.std(1)
torch.var_mean(x, 0)
torch.std_mean(x)
z.var()
z.mean()
z.sum(0)
z.prod()
x.norm()
x.norm(1)
x.norm(2, 0)
x.norm(float('inf'))
x.norm(3, 1, True)
x.norm(p='fro')
x.norm(dim=1)
x.norm('nuc')
z.norm()
torch.dist(x, y)
torch.dist(x, y, 1)
torch.linalg.norm(x)
torch.linalg.vector_norm(x, 3)
torch.linalg.vector_norm(x, dim=1)
x.logsumexp(1)
x.logsumexp((0, 1), keepdim=True)
x.softmax(-1)
x.log_softmax(0)
x.softmax(0, dtype=torch.float32)
s.softmax(0)
x.all()
b.all(0)
b.any(1, keepdim=True)
x.count_nonzero()
x.sum(axis=0, keepdims=True)
torch.max(x, axis=1, keepdims=True)
torch.softmax(input=x, axis=1)
torch.cat([x, x], axis=1)
x.unsqueeze(axis=0)
zeros.count_nonzero(0)
x.nansum()
x.nanmean()
torch.quantile(x, 0.3)
torch.quantile(x, 0.3, dim=1)
torch.nanquantile(x, 0.3)
torch.unique(i)
torch.unique(i, return_inverse=True, return_counts=True)
torch.unique_consecutive(iv)
torch.bincount(n.view(-1))
torch.histc(x, 4, -1, 1)
torch.allclose(x, x)
torch.equal(x, y)
x.diff()
torch.trapezoid(x)
torch.trapezoid(x, p)
torch.cumulative_trapezoid(x)
torch.cov(x)
torch.corrcoef(x)
torch.renorm(x, 2, 0, 1.0)
x.trace()
torch.bucketize(x, v.sort().values)
torch.searchsorted(v.sort().values, x)
torch.isin(i, iv)
"""

SHAPES = """
x.view(4, 3)
x.view(-1)
x.view(2, -1)
x.reshape(12)
x.t().reshape(12)
x.reshape(3, 4)
x.t().contiguous()
x.contiguous()
x.view_as(x)
x.flatten()
B.flatten(1)
B.flatten(0, 1)
s.flatten()
x.ravel()
x.unflatten(1, (2, 2))
x.t()
x.T
B.mT
x.H
B.mH
B.permute(2, 0, 1)
B.transpose(0, 2)
B.transpose(-1, -2)
torch.movedim(B, 0, 2)
B.swapaxes(0, 1)
col.expand(3, 4)
v.expand(3, 4)
s.expand(2, 2)
col.expand(-1, 4)
v.expand_as(x)
v.broadcast_to((2, 4))
torch.broadcast_tensors(x, v)
x.unsqueeze(0)
x.unsqueeze(-1)
one.squeeze()
one.squeeze(0)
one.squeeze(1)
one.squeeze((0, 2))
torch.cat([x, y])
torch.cat([x, y], 1)
torch.cat([x, y, x], -1)
torch.stack([x, y])
torch.stack([x, y], -1)
torch.hstack([x, y])
torch.vstack([x, y])
torch.dstack([x, y])
torch.column_stack([h, x])
torch.cat([x, x.int()])
x.split(2)
x.split(2, 1)
x.split([1, 3], 1)
x.chunk(2, 1)
x.unbind()
x.unbind(1)
list(x)
torch.tensor_split(x, 3)
torch.tensor_split(x, (1, 2), 1)
torch.hsplit(x, 2)
torch.vsplit(x, 3)
x.flip(0)
x.flip((0, 1))
torch.fliplr(x)
torch.flipud(x)
x.rot90()
x.roll(1, 0)
x.roll(2)
x.roll((1, 2), (0, 1))
x.repeat(2, 1)
v.repeat(2, 2)
x.tile((2,))
x.repeat_interleave(2, 0)
x.repeat_interleave(2)
torch.repeat_interleave(h, iv)
x.diagonal()
B.diagonal(0, 1, 2)
x.diag()
v.diag()
v.diag(1)
torch.diagflat(v)
torch.diag_embed(x)
x.tril()
x.triu(1)
x.as_strided((2, 2), (4, 1))
x.as_strided((2, 2), (1, 1), 1)
x.narrow(1, 1, 2)
x.select(0, 1)
x[0]
x[-1]
x[1, 2]
x[1:]
x[:, 1]
x[:, 1:3]
x[::2]
x[:, ::3]
x[None]
x[..., 0]
x[:, None, 1]
x[...]
x[:]
x[iv]
x[[0, 2]]
x[b]
x[:, bv]
x[iv, 1]
x[iv, :2]
x[iv[:, None], iv]
x[x > 0]
x[torch.tensor(1)]
x[True]
x[0:0]
B[:, iv]
B[:, iv, 1]
B[0, iv]
B[iv[:2] // 2, :, iv[:2]]
B[..., iv]
s[None]
s[...]
s[()]
x.unfold(1, 2, 1)
x.unfold(0, 2, 1)
torch.gather(x, 1, n)
torch.gather(x, 0, n)
torch.take_along_dim(x, n, 1)
x.index_select(0, iv)
x.index_select(1, iv)
x.masked_select(b)
torch.take(x, n)
x.scatter(1, n, y)
x.scatter(1, n, 2.0)
x.scatter_add(1, n, y)
x.scatter_reduce(1, n, y, 'sum')
x.scatter_reduce(1, n, y, 'amax')
x.scatter_reduce(1, n, y, 'mean')
x.scatter_reduce(1, n, y, 'prod')
x.index_add(0, iv, y)
x.index_add(0, iv, y, alpha=2)
x.index_copy(0, torch.tensor([2, 0, 1]), y)
x.index_fill(0, iv, 1.5)
x.index_put((iv, iv), h)
x.index_put((iv, iv), h, accumulate=True)
x.masked_scatter(b, y)
x.put(iv, h)
torch.select_scatter(x, v, 0, 1)
torch.slice_scatter(x, y[1:], 0, 1)
torch.diagonal_scatter(x, h, 0)
x.nonzero()
b.nonzero(as_tuple=True)
torch.argwhere(b)
torch.where(b)
torch.atleast_1d(s)
torch.atleast_2d(v)
torch.atleast_3d(x)
torch.block_diag(x, h)
torch.cartesian_prod(v, h)
torch.combinations(v)
torch.meshgrid(v, h, indexing='ij')
torch.meshgrid(v, h, indexing='xy')
x.clone()
x.detach()
x.to(torch.float32)
x.float()
x.double()
x.long()
x.bool()
x.to(torch.complex64)
i.float()
x.type_as(i)
x.movedim(0, 1).clone()
x.view(torch.int64)
torch.block_diag(x)
torch.kron(h, v)
torch.vander(h)
torch.unravel_index(n, (3, 4))
x.resolve_conj()
x.new_zeros(2)
torch.constant_pad_nd(x, (1, 1), 2.0)
torch.pixel_shuffle(torch.cat([D, D, D, D], 1), 2)
torch.narrow(x, 0, 1, 1)
torch.adjoint(z)
x.sum_to_size(3, 1)
torch.channel_shuffle(torch.cat([D, D], 1), 2)
"""

PRODUCTS = """
x @ m
x.mm(m)
x @ v
v @ m
v @ w
v.dot(w)
torch.mv(x, v)
B @ C
B.bmm(C)
B @ m
B @ v
v @ C
D @ C
x @ C
torch.matmul(B, m)
torch.outer(h, v)
torch.ger(h, v)
torch.inner(v, w)
torch.inner(x, y)
torch.vdot(zv, zv)
z @ z.t()
z.dot(z) if z.ndim == 1 else z.mm(z.t().conj())
torch.addmm(torch.ones(3, 5, dtype=x.dtype), x, m)
torch.addmm(torch.ones(5, dtype=x.dtype), x, m, beta=0.5, alpha=2)
torch.addmv(h, x, v)
torch.addr(x, h, v)
torch.addbmm(torch.ones(3, 3, dtype=x.dtype), B, C)
torch.baddbmm(SB, B, C)
torch.einsum('ij,jk->ik', x, m)
torch.einsum('ij->j', x)
torch.einsum('ij->ji', x)
torch.einsum('i,j->ij', h, v)
torch.einsum('bij,bjk->bik', B, C)
torch.einsum('bij,jk->bik', B, m)
torch.einsum('ii->i', S)
torch.einsum('ii', S)
torch.einsum('...ij->...ji', B)
torch.einsum('i,i', v, w)
torch.einsum('ij,ij->', x, y)
torch.tensordot(x, m, 1)
torch.tensordot(B, C, ([1, 2], [2, 1]))
torch.chain_matmul(x, m, m.t())
torch.linalg.multi_dot([x, m, m.t()])
torch.cross(S, S.t(), 1)
torch.linalg.cross(S, S.t())
torch.cdist(x, y)
torch.cosine_similarity(x, y)
torch.nn.functional.linear(x, m.t())
torch.nn.functional.linear(x, m.t(), torch.ones(5, dtype=x.dtype))
torch.nn.functional.linear(B, m.t(), torch.ones(5, dtype=x.dtype))
torch.bilinear(x, y, torch.ones(2, 4, 4, dtype=x.dtype), None)
"""

LINALG = """
torch.det(S)
torch.linalg.det(SB)
torch.logdet(P)
torch.slogdet(S)
torch.linalg.slogdet(SB)
torch.inverse(S)
torch.linalg.inv(SB)
torch.linalg.solve(S, h)
torch.linalg.solve(S, x)
torch.linalg.solve(SB, B)
torch.linalg.cholesky(P)
torch.cholesky(P)
torch.linalg.qr(S)
torch.linalg.svdvals(x)
torch.linalg.eigvalsh(P)
torch.linalg.matrix_power(S, 3)
torch.matrix_power(S, -2)
torch.linalg.matrix_power(S, 0)
torch.linalg.pinv(x)
torch.pinverse(x)
torch.linalg.norm(S, 'fro')
torch.linalg.norm(S, 2)
torch.linalg.norm(S, 'nuc')
torch.linalg.norm(S, 1)
torch.linalg.matrix_norm(SB)
torch.linalg.matrix_rank(S)
torch.linalg.cond(S)
torch.linalg.solve_triangular(S.triu(), x, upper=True)
torch.cholesky_solve(x, P)
torch.linalg.lstsq(x, h).solution
torch.linalg.matrix_exp(S)
torch.matrix_exp(S)
torch.linalg.vecdot(x, y)
torch.linalg.diagonal(S)
torch.linalg.tensorinv(S.reshape(3, 3), 1)
torch.linalg.vander(h)
torch.linalg.eigvals(S).abs().sort().values
torch.linalg.svd(x)[1]
torch.linalg.eigh(P)[0]
torch.linalg.lu(S)
torch.linalg.lu_factor(S)
torch.linalg.cholesky_ex(P)
torch.linalg.inv_ex(S)
torch.lu_solve(x.t()[:3], *torch.linalg.lu_factor(S[:3, :3]))
"""

FOURIER = """
torch.fft.fft(x)
torch.fft.fft(z)
torch.fft.fft(x, 6)
torch.fft.fft(z, 3, 0)
torch.fft.fft(z, norm='ortho')
torch.fft.ifft(z)
torch.fft.ifft(x)
torch.fft.rfft(x)
torch.fft.rfft(x, 5, 0, 'forward')
torch.fft.irfft(z)
torch.fft.irfft(z, 5)
torch.fft.hfft(z)
torch.fft.ihfft(x)
torch.fft.fft2(x)
torch.fft.fftn(B)
torch.fft.fftn(z, (2, 6))
torch.fft.ifft2(z)
torch.fft.ifftn(z, norm='forward')
torch.fft.rfft2(x)
torch.fft.rfftn(B, dim=(0, 2))
torch.fft.irfft2(z)
torch.fft.irfftn(z, (3, 5))
torch.fft.hfft2(z)
torch.fft.ihfft2(x)
torch.fft.fftfreq(5)
torch.fft.rfftfreq(6, 0.5)
torch.fft.fftshift(x)
torch.fft.ifftshift(x, 1)
torch.fft.fft(i)
torch.fft.rfft(z)
torch.fft.fft(x, norm='no')
torch.fft.fft(x, 0)
torch.stft(v, 4, 1, return_complex=True)
torch.stft(B[0], 4, 2, window=w, return_complex=True)
torch.istft(torch.stft(v, 4, 1, return_complex=True), 4, 1)
"""

SPECIALS = """
torch.special.expit(x)
torch.special.erfcx(x)
torch.special.i0e(x)
torch.special.i1(x)
torch.special.i1e(x)
torch.special.ndtr(x)
torch.special.ndtri(p / 3)
torch.special.log_ndtr(x)
torch.special.entr(p)
torch.special.zeta(p + 1, p)
torch.special.xlog1py(x, p)
torch.special.gammaln(p)
torch.special.psi(p)
torch.special.gammainc(p, q)
torch.special.multigammaln(a + 1, 2)
torch.special.sinc(x)
torch.special.logsumexp(x, 1)
torch.special.softmax(x, 0)
torch.special.round(x)
torch.special.polygamma(2, p)
torch.special.exp2(x)
"""

INPLACE = """
out = x.clone(); out.add_(y)
out = x.clone(); out += 1
out = x.clone(); out -= y
out = x.clone(); out *= 2
out = x.clone(); out /= p
out = x.clone(); out **= 2
out = x.clone(); out.mul_(y); out.add_(1)
out = x.clone(); out.exp_()
out = x.clone(); out.relu_()
out = x.clone(); out.sigmoid_()
out = x.clone(); out.clamp_(0, 1)
out = x.clone(); out.zero_()
out = x.clone(); out.fill_(2)
out = x.clone(); out.fill_(s)
out = x.clone(); out.copy_(v)
out = x.clone(); out[0] = 1
out = x.clone(); out[0] = v
out = x.clone(); out[:, 1] = h
out = x.clone(); out[b] = 0
out = x.clone(); out[iv] = v
out = x.clone(); out[1:, ::2] = 3.0
out = x.clone(); out.t_()
out = x.clone(); out.unsqueeze_(0)
out = x.clone(); out.transpose_(0, 1)
out = x.clone(); out.masked_fill_(b, 3)
out = x.clone(); out.scatter_(1, n, y)
out = x.clone(); out.index_add_(0, iv, y)
out = x.clone(); out.addcmul_(y, p)
out = x.clone(); out.lerp_(y, 0.2)
out = x.clone(); out.tril_()
out = x.clone(); out.cumsum_(0)
out = x.clone(); out.neg_()
out = x.clone(); out.sub_(y, alpha=2)
out = x.clone(); out.view(-1)[::2].mul_(3)
out = x.clone(); w2 = out[0]; w2.mul_(2)
out = x.clone(); out[0].add_(out[1])
out = x.clone(); q2 = out.t(); q2.exp_(); out = out + q2.t()
out = x.clone(); out.fill_diagonal_(2)
out = x.clone(); out.index_fill_(0, iv, 2)
out = x.clone(); out.masked_scatter_(b, y)
out = x.clone(); out.put_(iv, h)
out = x.clone(); out.squeeze_()
out = x.clone(); out.remainder_(p)
out = x.clone(); out.floor_()
out = x.clone(); out.eq_(y)
out = x.clone(); out.detach_()
out = x.clone(); out.addmm_(x, S.new_zeros(4, 4))
out = x.clone(); out.swapaxes_(0, 1)
"""

MISUSE = """
x + S
x @ S
x.view(5)
x.view()
x.view(4., 3)
x.view(None)
x.view(-2, 3)
x.view(4, 3, size=(4, 3))
x.reshape(None)
x.reshape(-2, 3)
x.view(-1, 5)
x.t().view(12)
x.reshape(5, -1)
x[5]
x[0, 0, 0]
x[0, 7]
x[1.5]
x['a']
x.sum(2)
x.sum((0, 0))
x.mean(5)
i.mean()
x.max(3)
e.max()
e.argmax()
x.softmax(4)
x.permute(0)
x.permute(0, 0)
x.transpose(0, 3)
B.t()
x.expand(2, 2)
x.expand(4)
torch.cat([x, B])
torch.cat([x, v.unsqueeze(0)], 1)
torch.cat([])
torch.stack([x, v])
torch.stack([])
x.split(-1)
x.split([1, 1], 1)
x.chunk(0)
x.squeeze(4)
x.unsqueeze(5)
x.narrow(0, 2, 5)
x.select(0, 9)
s[0]
len(s)
list(s)
bool(x)
bool(e)
float(x)
x.item()
int(x)
x.numpy()
x.backward()
x.sum().backward()
i.requires_grad_()
torch.tensor([1, 2], requires_grad=True)
torch.tensor([[1, 2], [3]])
torch.tensor('a')
torch.tensor(None)
torch.ones(2, dtype=torch.int64, requires_grad=True)
x.add_(S)
i.add_(1.5)
i.div_(2)
b - b
-b
x & y
~x
i ** -1
torch.dot(x, y)
torch.dot(v, h)
torch.mm(x, v)
torch.mm(x, y)
torch.bmm(x, y)
torch.mv(x, h)
torch.matmul(s, x)
torch.gather(x, 1, n.float())
x.index_select(0, torch.tensor([5]))
x[torch.tensor([5])]
x[torch.tensor([0.5])]
x[bv]
x.scatter(1, n.float(), y)
torch.where(x, x, y)
x.masked_fill(i, 1.0)
x.masked_fill(b, v)
torch.arange(0, 1, 0)
torch.arange(1, 0)
torch.eye(-1)
torch.zeros(-1)
torch.exp('a')
torch.exp(1.0)
torch.add(1, 2)
torch.add(x, 'a')
x + 'a'
x + None
x < 'a'
torch.relu(b)
torch.linalg.inv(x)
torch.linalg.inv(torch.zeros(2, 2))
torch.linalg.cholesky(-P)
torch.det(x)
torch.linalg.solve(S, v)
x.clamp()
x.topk(9)
x.unfold(0, 9, 1)
x.repeat(2)
x.flip(5)
x.diagonal(0, 0, 0)
torch.einsum('ij,jk', x)
torch.einsum('ijk->i', x)
torch.meshgrid(x)
x.to('cuda')
x.copy_(S)
x.float() @ x.double().t()
torch.manual_seed('a')
torch.full((2,), 'a')
torch.ones(2).imag
torch.multinomial(-p, 2)
x.norm(p='q')
x.fill_(v)
x.std('a')
x.__getitem__(slice(None, None, -1))
x.var(0, 1, 2, 3, 4)
x.nosuch
torch.nosuch
x.unflatten(1, (3, 2))
x.index_add(0, iv, v)
x.T.unknown
"""

FACTORIES = """
torch.tensor([1, 2])
torch.tensor([1.0, 2])
torch.tensor([True, False])
torch.tensor(3)
torch.tensor(2.5)
torch.tensor(1 + 2j)
torch.tensor([-0.41, 0.1], dtype=torch.float64)
torch.tensor([300], dtype=torch.uint8)
torch.tensor(1j, dtype=torch.float32)
torch.tensor(2**63)
torch.tensor([])
torch.tensor([[]])
torch.tensor([[1, 2], [3, 4]])
torch.tensor([1, 2.5, True])
torch.tensor([torch.tensor(1), torch.tensor(2)])
torch.tensor(i.numpy())
torch.as_tensor([1, 2])
torch.zeros(2, 3)
torch.zeros((2, 3))
torch.ones(2, dtype=torch.int32)
torch.zeros(())
torch.full((2, 2), 3)
torch.full((2,), 3.5)
torch.full((2,), True)
torch.full_like(x, 2)
torch.zeros_like(x)
torch.ones_like(i)
torch.arange(5)
torch.arange(1, 4)
torch.arange(0, 1, 0.25)
torch.arange(5.0)
torch.arange(5, 0, -2)
torch.linspace(0, 1, 5)
torch.linspace(0, 10, 3, dtype=torch.int64)
torch.logspace(0, 2, 3)
torch.eye(3)
torch.eye(2, 3)
torch.range(0, 3)
torch.tril_indices(3, 3)
torch.triu_indices(3, 3)
torch.scalar_tensor(2)
torch.empty(2, 3).shape
torch.Tensor([1, 2])
torch.Tensor(2, 0)
torch.Tensor()
torch.FloatTensor([1, 2])
torch.LongTensor([1, 2])
torch.hann_window(5)
torch.hamming_window(5)
torch.blackman_window(5)
torch.bartlett_window(5)
torch.kaiser_window(5)
torch.promote_types(torch.int64, torch.float16)
torch.result_type(x, 1.5)
torch.result_type(i, 1.5)
torch.can_cast(torch.float32, torch.int64)
torch.finfo(torch.float32).eps
torch.iinfo(torch.int64).max
torch.finfo(torch.float64)
torch.iinfo(torch.int8)
torch.is_tensor(x)
torch.is_floating_point(i)
torch.numel(x)
torch.Size([2, 3])
torch.Size([2, 3]).numel()
x.size()
x.size(0)
x.stride()
x.t().stride()
x.dim()
x.nelement()
x.element_size()
x.is_contiguous()
x.t().is_contiguous()
x.type()
i.type()
x.dtype
x.device
str(x.layout)
x.new_tensor([1, 2])
x.new_full((2,), 3)
x.new_ones(2)
i.new_zeros(2)
x.tolist()
i.tolist()
x[0, 0].item()
i[0, 0].item()
b[0, 0].item()
int(i[0, 0])
float(i[0, 0])
x.storage_offset()
x[1].storage_offset()
i + 1.5
i + 1
i / 2
i / j
i // 2
i // j
i % j
i * x
i * b
b + b
b * 2
b + 1.5
n1 + x
n1 + 1
n1 * i
n1 + s
i + s
x.half() + 1
x.half() + n1
x.bfloat16() + x.half()
i.int() + i
i.to(torch.uint8) + i.to(torch.int8)
n1 + z
i ** 2
i ** 2.0
i ** i.abs()
2 ** i.abs()
i.abs()
i.sqrt()
i.exp()
i.sum(dtype=torch.float32)
i.max()
i.clamp(0.5, 2)
i.float().mean()
torch.get_default_dtype()
torch.is_grad_enabled()
torch.broadcast_shapes((3, 1), (1, 4))
x.ndim
"""


def lines(block):
    """The expressions of a block."""
    return [line for line in block.strip().splitlines() if line.strip()]


def unary_expressions():
    """``x.exp()`` and the like for every name of UNARY, on an input inside its domain."""
    return [f"{DOMAIN.get(n, 'x')}.{n if n.endswith(')') else n + '()'}" for n in UNARY]


# Tensors of two dtypes: which operation converts without a node of its own.
MIXED = """
torch.where(b, n1, x)
torch.where(b, n1, z)
torch.where(b, n1, 1j)
torch.clamp(n1, x)
torch.clamp(n1, x, y)
torch.clamp(n1, max=x)
torch.clamp_min(n1, x)
torch.cat([n1, x])
torch.cat([n1, z])
torch.stack([n1, x])
torch.hstack([n1, x])
torch.nextafter(n1, x)
torch.nextafter(x, x)
torch.lerp(n1, x, 0.3)
n1.clone().lerp_(x, 0.3)
n1.clone().add_(x)
n1.clone().copy_(x)
n1.clone().fill_(s)
n1.masked_fill(b, s)
n1.sum(dtype=torch.float64)
n1.mean(dtype=torch.float64)
n1.prod(dtype=torch.float64)
n1.cumsum(0, dtype=torch.float64)
n1.cumprod(0, dtype=torch.float64)
n1.softmax(0, dtype=torch.float64)
n1.norm(dtype=torch.float64)
torch.nansum(n1, dtype=torch.float64)
F.mse_loss(n1, x)
F.l1_loss(n1, x)
F.smooth_l1_loss(n1, x)
"""

FAMILIES = {
    "mixed": lines(MIXED),
    "arithmetic": lines(ARITHMETIC),
    "reductions": lines(REDUCTIONS),
    "shapes": lines(SHAPES),
    "products": lines(PRODUCTS),
    "linalg": lines(LINALG),
    "fourier": lines(FOURIER),
    "specials": lines(SPECIALS),
    "inplace": lines(INPLACE),
    "misuse": lines(MISUSE),
    "factories": lines(FACTORIES),
    "unary": unary_expressions(),
}

# Families and expressions of which values and derivatives are compared, not the graph: PyTorch
# puts them together in its own way.
LOOSE = {
    "fourier",
    "torch.quantile(x, 0.3)",
    "torch.quantile(x, 0.3, dim=1)",
    "torch.nanquantile(x, 0.3)",
    "torch.trapezoid(x)",
    "torch.trapezoid(x, p)",
    "torch.cumulative_trapezoid(x)",
    "torch.cov(x)",
    "torch.corrcoef(x)",
    "x.rot90()",
    "torch.combinations(v)",
    "torch.unravel_index(n, (3, 4))",
    "torch.einsum('ii->i', S)",
    "torch.einsum('ii', S)",
    "torch.cosine_similarity(x, y)",
    "torch.bilinear(x, y, torch.ones(2, 4, 4, dtype=x.dtype), None)",
    "torch.linalg.lstsq(x, h).solution",
    "torch.lu_solve(x.t()[:3], *torch.linalg.lu_factor(S[:3, :3]))",
    "torch.special.ndtr(x)",
}

# Where gradviz is known to differ, and why.
DIFFERENT = {
    "0 ** p": "the second derivative of 0 ** p is 0 here, NaN in PyTorch",
    "z.conj()": "conj computes at once here; in PyTorch it is a lazy view",
    "torch.adjoint(z)": "conj computes at once here; in PyTorch it is a lazy view",
    "torch.ldexp(x, i)": "PyTorch's gradient with a negative integer exponent is 0, which is wrong",
    "z.index_add(0, iv, z * 2, alpha=2j)": "PyTorch does not conjugate alpha, which is wrong",
    "ties.argsort(1, stable=True)": "the method takes stable= here, as the function does",
    "x.softmax(0, dtype=torch.float32)": "a gradient in single precision differs in its last digit",
    "torch.vander(h)": "PyTorch's derivative of torch.vander fails on its own in-place writes",
    "torch.cdist(x, y)": "cdist has a second derivative here",
    "torch.meshgrid(x)": "PyTorch prints the tensor in its C++ form inside the message",
    "torch.nosuch": "the module has another name",
}

# Expressions of which the graph of the second derivative differs, and why.
OTHERWISE_DERIVED = {
    **dict.fromkeys(
        lines("""
torch.cat([n1, z])
n1.prod(dtype=torch.float64)
n1.cumsum(0, dtype=torch.float64)
n1.cumprod(0, dtype=torch.float64)
n1.norm(dtype=torch.float64)
torch.nansum(n1, dtype=torch.float64)
F.mse_loss(n1, x)
F.smooth_l1_loss(n1, x)
"""),
        "the gradient changes its dtype at another place",
    ),
    **dict.fromkeys(
        lines("""
torch.atan2(x, p)
torch.polar(p, x)
"""),
        "PyTorch computes once what both gradients need",
    ),
    **dict.fromkeys(
        lines("""
torch.renorm(x, 2, 0, 1.0)
torch.block_diag(x, h)
torch.combinations(v)
torch.block_diag(x)
torch.bilinear(x, y, torch.ones(2, 4, 4, dtype=x.dtype), None)
out = x.clone(); q2 = out.t(); q2.exp_(); out = out + q2.t()
F.hardsigmoid(x)
F.group_norm(im, 3)
F.group_norm(im, 3, h, h)
F.max_unpool2d(*F.max_pool2d(im, 2, return_indices=True), 2)
F.grid_sample(im, torch.tanh(im[:, :2].permute(0, 2, 3, 1)))
F.grid_sample(im, 1.4 * torch.tanh(im[:, :2].permute(0, 2, 3, 1)), "bicubic", align_corners=True)
F.grid_sample(im, 1.4 * torch.tanh(im[:, :2].permute(0, 2, 3, 1)), "bicubic", "border")
F.grid_sample(im, 1.4 * torch.tanh(im[:, :2].permute(0, 2, 3, 1)), "bicubic", "reflection")
torch.cdist(x, y, p=1)
F.scaled_dot_product_attention(B, B, B)
F.bilinear(x, y, torch.ones(2, 4, 4, dtype=x.dtype))
F.pdist(x)
torch.pdist(x, 1)
F.multi_margin_loss(x, iv)
F.multi_margin_loss(x, iv, p=2, weight=v.detach())
F.multilabel_margin_loss(x, n)
torch.gradient(x, spacing=0.5)[0]
"""),
        "the derivative is put together in another way",
    ),
    **dict.fromkeys(
        lines("""
zeros.prod()
zeros.prod(1)
zeros.prod(0, keepdim=True)
zeros.cumprod(1)
x.logcumsumexp(1)
x.scatter_reduce(1, n, y, 'prod')
"""),
        "products with zeros, and scans, go another way",
    ),
    **dict.fromkeys(
        lines("""
torch.linalg.lstsq(x, h).solution
torch.lu_solve(x.t()[:3], *torch.linalg.lu_factor(S[:3, :3]))
torch.linalg.lu(S)
torch.linalg.lu_factor(S)
"""),
        "the derivative of a factorisation is put together in another way",
    ),
    **dict.fromkeys(
        lines("""
torch.stft(v, 4, 1, return_complex=True)
torch.stft(B[0], 4, 2, window=w, return_complex=True)
torch.istft(torch.stft(v, 4, 1, return_complex=True), 4, 1)
"""),
        "PyTorch writes into slices of its own",
    ),
}

# Expressions left out over other dtypes and shapes, by kind: PyTorch picks another of several
# equal elements, or fails itself.
OTHER_DTYPES = {
    "all": (),
    "int64": ("x.kthvalue(2)",),
    "empty": ("torch.view_as_real(z)", "torch.pixel_shuffle(torch.cat([D, D, D, D], 1), 2)"),
}
