"""Mixed precision as programs that both engines run."""

# ruff: noqa: E501 (the programs are lists of text)

PROGRAMS = {}
PROGRAMS["nested blocks"] = """a=torch.rand(2,2)
out=[]
with torch.autocast("cpu"):
    out.append((a@a).dtype)
    with torch.autocast("cpu",enabled=False): out.append((a@a).dtype);
    with torch.autocast("cpu",dtype=torch.float16): out.append((a@a).dtype)
    out.append((a@a).dtype)
out.append((a@a).dtype); out.append(torch.is_autocast_enabled("cpu"))
try:
    with torch.autocast("cpu"): raise KeyError
except KeyError: out.append(torch.is_autocast_enabled("cpu"))
result=[str(o) for o in out]"""
PROGRAMS["weights are cast once"] = """w=nn.Parameter(torch.rand(2,2)); x=torch.rand(2,2); out=[]
for kw in ({},{"cache_enabled":False}):
    w.grad=None
    with torch.autocast("cpu",**kw):
        y=x@w; z=x@w
        e=[n[0] for n in (y.grad_fn.next_functions[1], z.grad_fn.next_functions[1])]
        out.append([type(e[0]).__name__, e[0] is e[1]])
        with torch.autocast("cpu"): out.append((x@w).grad_fn.next_functions[1][0] is e[0])
        with torch.no_grad(): v=x@w
        out.append(v.requires_grad)
        u=x@w; out.append(u.requires_grad)
    (y.float().sum()+z.float().sum()).backward(); out.append([str(w.grad.dtype), summary(w.grad)])
with torch.autocast("cpu"):
    with torch.no_grad(): x@w
    out.append((x@w).requires_grad)
result=out"""
PROGRAMS[
    "names"
] = """result=[torch.get_autocast_dtype("cpu")==torch.bfloat16, torch.is_autocast_available("cpu") if hasattr(torch,"is_autocast_available") else amp.is_autocast_available("cpu"), torch.is_autocast_cache_enabled(), torch.is_autocast_cpu_enabled(), str(torch.get_autocast_cpu_dtype()), str(torch.get_autocast_gpu_dtype())]
torch.set_autocast_cache_enabled(False); result.append(torch.is_autocast_cache_enabled()); torch.set_autocast_cache_enabled(True); torch.clear_autocast_cache()
with torch.cpu.amp.autocast(): result.append(str((torch.rand(2,2)@torch.rand(2,2)).dtype))
result.append(message(lambda: torch.autocast("xyz"))); result.append(message(lambda: torch.autocast(3)))
@torch.autocast("cpu")
def f(x): return str((x@x).dtype)
result+= [f(torch.rand(2,2)), f.__name__]
result.append(message(lambda: torch.autocast("cpu")(3)))"""
PROGRAMS["custom functions"] = """class F1(torch.autograd.Function):
    @staticmethod
    @torch.amp.custom_fwd(device_type="cpu", cast_inputs=torch.float32)
    def forward(ctx,a,b): ctx.save_for_backward(a,b); ctx.s=[str(a.dtype), torch.is_autocast_enabled("cpu")]; global seen; seen=ctx.s; return a@b
    @staticmethod
    @torch.amp.custom_bwd(device_type="cpu")
    def backward(ctx,g):
        a,b=ctx.saved_tensors; seen.append([torch.is_autocast_enabled("cpu"), str(g.dtype)]); return g@b.t(), a.t()@g
class F2(torch.autograd.Function):
    @staticmethod
    @torch.amp.custom_fwd(device_type="cpu")
    def forward(ctx,a,b): ctx.save_for_backward(a,b); global seen; seen=[str(a.dtype), torch.is_autocast_enabled("cpu")]; return a@b
    @staticmethod
    @torch.amp.custom_bwd(device_type="cpu")
    def backward(ctx,g):
        a,b=ctx.saved_tensors; r=g.to(a.dtype)@b.t(); seen.append([torch.is_autocast_enabled("cpu"), str(r.dtype)]); return r.to(a.dtype), (a.t()@g.to(a.dtype)).to(b.dtype)
result=[]
for f in (F1,F2):
    for on in (True,False):
        for dt in (torch.float32,torch.bfloat16):
            a=torch.rand(2,2).to(dt).requires_grad_(); b=torch.rand(2,2).to(dt).requires_grad_()
            with torch.autocast("cpu",enabled=on): y=f.apply(a,b)
            y.sum().backward(); result.append([str(y.dtype),seen,str(a.grad.dtype)])
result.append(message(lambda: torch.amp.custom_fwd(device_type=3)))"""
PROGRAMS["a scaler, step by step"] = """result=[]
def mk(**k): return torch.amp.GradScaler("cpu",init_scale=8.,growth_interval=2,**k)
m=nn.Linear(2,1); o=optim.SGD(m.parameters(),lr=.1); s=mk()
result.append([message(lambda: s.step(o)), message(lambda: s.unscale_(o)), message(lambda: s.update()), s.get_scale(), s.state_dict()])
x=torch.rand(4,2)
for k in range(8):
    o.zero_grad(); l=m(x).sum()*(float('inf') if k in (2,5) else 1); s.scale(l).backward()
    if k%2: s.unscale_(o); result.append(message(lambda: s.unscale_(o)))
    r=s.step(o); result.append(str(r));
    if k==3: result.append(message(lambda: s.step(o))); result.append(message(lambda: s.unscale_(o)))
    s.update(); result.append([s.get_scale(), s._get_growth_tracker(), summary(m.weight)])
s.scale(m(x).sum()).backward(); s.step(o); s.update(32.); result.append(s.get_scale()); s.update(torch.tensor(16.)); result.append(s.get_scale())
result.append(message(lambda: s.update(torch.tensor([1.,2.])))); result.append(message(lambda: s.update(torch.tensor(3))))
t=mk(enabled=False); result.append([t.is_enabled(), t.get_scale(), t.state_dict(), t.scale(torch.ones(1)).item()])
t=mk(); t.load_state_dict(s.state_dict()); result.append([t.state_dict(), s.state_dict()]); result.append(message(lambda: t.load_state_dict({})))
result.append([message(lambda: mk(growth_factor=1.)), message(lambda: mk(backoff_factor=1.))])
result.append([t.get_growth_factor(), t.get_backoff_factor(), t.get_growth_interval()]); t.set_growth_factor(3.); t.set_backoff_factor(.1); t.set_growth_interval(7); result.append([t.get_growth_factor(), t.get_backoff_factor(), t.get_growth_interval()])
result.append([y.tolist() for y in t.scale([torch.ones(1),torch.ones(1)])]); result.append(message(lambda: t.scale("x"))); result.append(message(lambda: t.scale(3)))
e=optim.SGD([nn.Parameter(torch.ones(1))],lr=.1); result.append(message(lambda: t.step(e)));
result.append(message(lambda: t.step(optim.LBFGS(m.parameters()), closure=lambda: 0)))
h=nn.Parameter(torch.ones(1).half()); h.grad=torch.ones(1).half(); result.append(message(lambda: t.unscale_(optim.SGD([h],lr=.1))))
import pickle
result.append(pickle.loads(pickle.dumps(mk(enabled=True))).get_scale())
result.append(repr(type(t)).split('.')[-1])"""
PROGRAMS[
    "two optimizers"
] = """a,b=nn.Linear(2,1),nn.Linear(2,1); oa,ob=optim.SGD(a.parameters(),lr=.1),optim.Adam(b.parameters(),lr=.1); s=torch.amp.GradScaler("cpu",init_scale=4.); x=torch.rand(3,2); result=[]
for k in range(4):
    oa.zero_grad(); ob.zero_grad(); s.scale(a(x).sum()*(float('nan') if k==1 else 1)).backward(retain_graph=True); s.scale(b(x).pow(2).sum()).backward()
    s.unscale_(ob); n=utils.clip_grad_norm_(b.parameters(),.5); s.step(oa); s.step(ob); s.update(); result.append([n.item(), s.get_scale(), summary(a.weight), summary(b.weight)])"""
PROGRAMS[
    "training"
] = """m=nn.Sequential(nn.Linear(4,8),nn.LayerNorm(8),nn.GELU(),nn.Linear(8,3)); o=optim.AdamW(m.parameters(),lr=.01); s=torch.amp.GradScaler("cpu"); x=torch.rand(16,4); y=torch.randint(0,3,(16,)); result=[]
for _ in range(5):
    o.zero_grad()
    with torch.autocast("cpu",dtype=torch.bfloat16): l=nn.functional.cross_entropy(m(x),y)
    s.scale(l).backward(); s.step(o); s.update(); result.append([round(l.item(),2), str(l.dtype), str(m[0].weight.grad.dtype)])"""
PROGRAMS["recurrent layers"] = """m=nn.LSTM(3,4,2,batch_first=True); x=torch.rand(2,5,3)
with torch.autocast("cpu"): o,(h,c)=m(x)
o.float().sum().backward(); result=[str(o.dtype),str(h.dtype),str(m.weight_ih_l0.grad.dtype), [round(v,1) for v in summary(m.weight_ih_l0.grad)[1:3]]]
m=nn.GRU(3,4);
with torch.autocast("cpu"): o,h=m(x)
result+=[str(o.dtype),str(h.dtype)]"""

_INPUTS = """torch.manual_seed(0)
a, b, v, t = torch.rand(3, 3) + torch.eye(3), torch.rand(3, 3), torch.rand(3), torch.rand(3, 3, 3)
h, i, j = (torch.rand(3, 3) + torch.eye(3)).to(torch.bfloat16), torch.tensor([0, 2, 1]), torch.tensor([[0, 1, 2]] * 3)
def kind(r):
    if isinstance(r, (tuple, list)): return [kind(q) for q in r]
    return str(r.dtype) if hasattr(r, "dtype") else type(r).__name__
result = {}
with torch.autocast("cpu"):
    for line in @:
        result[line] = kind(eval(line))"""
_CASTS = """
torch.einsum('ij,jk->ik',a,b)
torch.einsum('i,i->',v,v)
torch.einsum('ij,kj->ik',a,h)
a@b
torch.mm(a,b)
torch.mv(a,v)
torch.dot(v,v)
torch.addmm(a,a,b)
torch.addmv(v,a,v)
torch.addr(a,v,v)
torch.baddbmm(t,t,t)
torch.bmm(t,t)
torch.addbmm(a,t,t)
torch.matmul(t,a)
torch.inner(a,b)
torch.outer(v,v)
torch.tensordot(a,b,1)
torch.kron(a,b)
torch.chain_matmul(a,b,a)
torch.linalg.multi_dot([a,b,a])
torch.linalg.matmul(a,b)
torch.linalg.vecdot(v,v)
torch.vdot(v,v)
torch.cross(a,b,dim=0)
torch.cdist(a,b)
torch.prod(a)
torch.prod(h)
torch.prod(h,0)
h.sum()
h.mean()
h.cumsum(0)
h.cumprod(0)
h.norm()
h.std()
h.var()
h.exp()
h.log()
h.pow(2)
h.softmax(0)
h.log_softmax(0)
F.softmax(h,0)
F.linear(a,b)
F.linear(a,b,v)
F.linear(h,b)
F.bilinear(a,b,t)
F.conv1d(a[None],t)
F.conv2d(t[None],t[None])
F.conv3d(t[None,None],t[None,None])
F.conv_transpose1d(a[None],t)
F.conv_transpose3d(t[None,None],t[None,None])
F.scaled_dot_product_attention(t,t,t)
F.prelu(a,v[:1])
F.gelu(h)
F.relu(h)
F.layer_norm(h,(3,))
F.layer_norm(h,(3,),v)
F.group_norm(h,3)
F.batch_norm(h,v,v,v,v,True)
F.mse_loss(h,h)
F.l1_loss(h,h)
F.smooth_l1_loss(h,h)
F.huber_loss(h,h)
F.cross_entropy(h,i)
F.nll_loss(h,i)
F.kl_div(h,h)
F.binary_cross_entropy(h.sigmoid(),h.sigmoid())
F.binary_cross_entropy_with_logits(h,h.sigmoid())
F.poisson_nll_loss(h,h)
F.cosine_similarity(h,h)
F.cosine_embedding_loss(h,h,torch.ones(3))
F.hinge_embedding_loss(h,h)
F.margin_ranking_loss(h[0],h[1],h[2])
F.multilabel_margin_loss(h,j)
F.multi_margin_loss(h,i)
F.soft_margin_loss(h,h)
F.triplet_margin_loss(h,h,h)
F.ctc_loss(t.log_softmax(2),torch.tensor([[1],[1],[1]]),torch.tensor([3,3,3]),torch.tensor([1,1,1]))
F.gaussian_nll_loss(h,h,h.abs()+1)
F.normalize(h)
F.pairwise_distance(h,h)
F.avg_pool1d(h,2)
F.avg_pool2d(h[None],2)
F.avg_pool3d(h[None,None],(1,2,2))
F.max_pool2d(h[None],2)
F.adaptive_avg_pool1d(h,2)
F.adaptive_avg_pool2d(h[None],2)
F.adaptive_avg_pool3d(h[None,None],(1,2,2))
F.adaptive_max_pool1d(h,2)
F.adaptive_max_pool2d(h[None],2)
F.adaptive_max_pool3d(h[None,None],(1,2,2))
F.interpolate(h[None,None],scale_factor=2)
F.interpolate(h[None,None],scale_factor=2,mode='bilinear')
F.interpolate(h[None],scale_factor=2,mode='linear')
F.interpolate(h[None,None],scale_factor=2,mode='bicubic')
F.pad(h,(1,1))
F.pad(h[None],(1,1),'reflect')
F.pad(h[None],(1,1),'replicate')
F.grid_sample(h[None,None],h[None][...,:2,None].repeat(1,1,1,2)*0)
F.embedding(i,h)
F.embedding_bag(i[None],h)
F.glu(torch.cat([h,h],1))
torch.cat([a,h])
torch.stack([a,h])
torch.hstack([a,h])
torch.index_copy(a,0,i,h)
a+h
a*h
torch.where(a>0,a,h)
torch.addcmul(a,h,h)
torch.addcdiv(a,h,h+3)
torch.trace(h)
torch.quantile(a.float(),0.5)
torch.nanquantile(a.float(),0.5)
torch.polar(a,b)
torch.stft(v.repeat(4),4,return_complex=True,window=torch.ones(4))
torch.cholesky_inverse(torch.eye(3))
torch.cholesky_solve(a,torch.eye(3))
torch.inverse(a)
torch.linalg.inv(a)
torch.linalg.inv(h)
torch.linalg.det(a)
torch.linalg.solve(h,h)
torch.linalg.qr(h)
torch.linalg.svd(h)
torch.linalg.svdvals(h)
torch.linalg.eigh(h)
torch.linalg.eigvalsh(h)
torch.linalg.eig(h)
torch.linalg.eigvals(h)
torch.linalg.cholesky(torch.eye(3).to(h.dtype))
torch.linalg.lstsq(h,h)
torch.linalg.cond(h)
torch.linalg.matrix_rank(h)
torch.linalg.norm(h)
torch.linalg.vector_norm(h)
torch.linalg.cross(h,h)
torch.linalg.solve_triangular(a,a,upper=True)
torch.fft.fft(v)
torch.fft.fft(h)
torch.fft.rfft(h)
torch.fft.ifft(h)
torch.fft.fft2(h)
torch.pinverse(h)
torch.svd(h)
torch.renorm(h,2,0,1)
torch.logsumexp(h,0)
torch.dist(a,h)
torch.bernoulli(h.abs()*0+.5)
torch.cumsum(h,0)
torch.erfinv(h*0.1)
torch.nn.LSTM(3,2)(t)
torch.nn.GRU(3,2)(t)
torch.nn.RNN(3,2)(t)
torch.nn.LSTMCell(3,2)(a)
torch.nn.GRUCell(3,2)(a)
torch.nn.RNNCell(3,2)(a)
torch.nn.MultiheadAttention(3,1)(t,t,t)
torch.nn.TransformerEncoderLayer(3,1,5)(t)
torch.nn.TransformerDecoderLayer(3,1,5)(t,t)
a.double()@b.double()
torch.einsum('ij,jk->ik',a.double(),b.double())
torch.einsum('ij->ji',a)
torch.einsum('ij,ij->ij',a,b)
F.conv2d(t[None].double(),t[None].double())
torch.mm(a.int(),b.int())
torch.combinations(v)
torch.corrcoef(a)
torch.cov(a)
torch.vander(v)
torch.block_diag(a,h)
a.bfloat16()@b
a.half()@b
torch.matmul(v,v)
torch.matmul(a,v)
torch.addmm(h,a,b)
torch.view_as_complex(torch.stack([a,b],-1))
torch.linalg.vander(v)
torch.linalg.householder_product(a,v)
torch.cosine_similarity(h,h)
F.rms_norm(h,(3,))
F.instance_norm(h[None])
F.local_response_norm(h[None],2)
F.dropout(h)
F.unfold(h[None,None],2)
F.fold(h[None,:,:1].repeat(1,4,1)[:,:4],(2,2),(2,2))
F.pixel_shuffle(h[None,:,:].repeat(4,1,1),2)
torch.lerp(a,a,0.5)
torch.atan2(a,h)
torch.clamp(h,0,1)
torch.scatter_add(a,0,j,a)
torch.index_add(a,0,i,a)
torch.masked_scatter(a,a>0,a)
torch.fmod(a,h)
torch.meshgrid(v,v)
torch.maximum(a,h)
torch.nextafter(a,b)
torch.hypot(a,h)
torch.ldexp(a,i)
torch.linalg.matrix_rank(a)
torch.histc(a)
torch.bucketize(a,v.sort()[0])
torch.cartesian_prod(v,v)
torch.trapezoid(a)
torch.sinc(h)
torch.special.erf(h)
torch.tensor_split(h,3)
a.__rmatmul__(b)
"""
_LINES = [line for line in _CASTS.split("\n") if line]
PROGRAMS["which dtype which operation has"] = _INPUTS.replace("@", repr(_LINES))
