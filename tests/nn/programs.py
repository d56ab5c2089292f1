"""The programs that both engines run: name -> text that sets ``result``."""

# ruff: noqa: E501 (the programs are lists of text)

PROGRAMS = {}


def add(family, *codes):
    """Programs named by their family and text."""
    for code in codes:
        PROGRAMS[f"{family}: {code[:90]}"] = code


def each(family, template, values):
    """One program a value."""
    for value in values:
        PROGRAMS[f"{family}: {value}"] = template.replace("@", value)


# ---------------------------------------------------------------- functions and their derivatives
each(
    "activation",
    "result = derivatives(lambda x: F.@, [(3, 4)])",
    """relu(x) relu6(x) elu(x,0.7) selu(x) celu(x,1.3) leaky_relu(x,0.2) gelu(x) gelu(x,approximate="tanh")
    silu(x) mish(x) hardtanh(x,-0.5,0.7) hardsigmoid(x) hardswish(x) softplus(x,2,3) hardshrink(x)
    softshrink(x) logsigmoid(x) softsign(x) tanhshrink(x) threshold(x,0.1,5.0) glu(x,1) softmax(x,0)
    log_softmax(x,1) softmin(x,1) normalize(x,dim=0)""".split(),
)
each(
    "pointwise loss",
    "result = [derivatives(lambda x, y: F.@(x, y.detach(), reduction=r), [(3, 4), (3, 4)]) "
    "for r in ('mean', 'sum', 'none')]",
    "mse_loss l1_loss smooth_l1_loss huber_loss soft_margin_loss poisson_nll_loss".split(),
)
each(
    "convolution",
    "result = derivatives(lambda x, w, b: F.@, [(2, 4, 7, 6), (6, 4, 3, 3), (6,)])",
    """conv2d(x,w,b) conv2d(x,w,b,stride=2) conv2d(x,w,b,padding=1) conv2d(x,w,b,padding="same")
    conv2d(x,w,b,dilation=2) conv2d(x,w,b,stride=2,padding=2,dilation=2) conv2d(x[:,:2],w[:,:1],b,groups=2)
    conv_transpose2d(x,w[:4],b[:4]) conv_transpose2d(x,w[:4],b[:4],stride=2,output_padding=1)
    conv_transpose2d(x,w[:4],None,groups=2,padding=1)""".split(),
)
each(
    "other dimensions",
    "result = derivatives(@)",
    (
        "lambda x, w, b: F.conv1d(x, w, b, 2, 1), [(2, 3, 9), (5, 3, 3), (5,)]",
        "lambda x, w: F.conv3d(x, w, None, 1, 1), [(1, 2, 3, 4, 4), (3, 2, 2, 2, 2)]",
        "lambda x, w: F.conv_transpose1d(x, w, stride=2), [(2, 3, 5), (3, 2, 3)]",
        "lambda x: F.unfold(x, 2, stride=2, padding=1), [(2, 3, 5, 6)]",
        "lambda x: F.fold(x, (5, 6), (2, 3)), [(2, 12, 16)]",
        "lambda x: F.pad(x, (1, 2, 2, 1), 'reflect'), [(1, 2, 4, 5)]",
        "lambda x: F.pad(x, (1, 2, 2, 1), 'replicate'), [(1, 2, 4, 5)]",
        "lambda x: F.pad(x, (-1, 2, 0, -1), value=3.0), [(3, 4)]",
    ),
)
each(
    "pooling",
    "result = derivatives(lambda x: F.@, [(2, 3, 7, 8)])",
    """max_pool2d(x,2) max_pool2d(x,3,2,1) max_pool2d(x,3,2,ceil_mode=True) max_pool2d(x,2,1,0,2)
    avg_pool2d(x,2) avg_pool2d(x,3,2,1) avg_pool2d(x,3,2,1,count_include_pad=False)
    avg_pool2d(x,3,2,ceil_mode=True) avg_pool2d(x,2,divisor_override=3) adaptive_avg_pool2d(x,(3,1))
    adaptive_avg_pool2d(x,1) adaptive_max_pool2d(x,3) lp_pool2d(x.abs(),2,2) max_pool1d(x[0],3)
    avg_pool1d(x[0],3,2) max_pool3d(x,2) adaptive_max_pool1d(x[0],3)""".split(),
)
each(
    "normalisation",
    "result = derivatives(lambda x, w, b: F.@, [(3, 4, 5), (4,), (4,)])",
    """batch_norm(x,None,None,w,b,True) batch_norm(x,w.detach(),b.detach().abs(),w,b) group_norm(x,2,w,b)
    instance_norm(x,weight=w,bias=b) layer_norm(x,(4,5)) rms_norm(x,(5,)) local_response_norm(x,3)
    layer_norm(x.transpose(1,2),(4,),w,b)""".split(),
)
each(
    "images",
    "result = derivatives(lambda x: F.@, [(2, 4, 4, 6)])",
    """pixel_shuffle(x,2) pixel_unshuffle(x,2) channel_shuffle(x,2) interpolate(x,scale_factor=2)
    interpolate(x,size=(3,4),mode="bilinear") interpolate(x,scale_factor=1.5,mode="bicubic")
    interpolate(x,size=7,mode="bilinear",align_corners=True) interpolate(x,scale_factor=2,mode="nearest-exact")
    interpolate(x,size=(3,3),mode="bilinear",antialias=True)""".split(),
)
add(
    "images",
    "result = [derivatives(lambda x, g: F.grid_sample(x, g * 1.3, m, p, a), [(2, 2, 4, 5), (2, 3, 4, 2)], "
    "second=False) for m in ('bilinear', 'nearest') for p in ('zeros', 'border', 'reflection') "
    "for a in (True, False)]",
    "result = derivatives(lambda t: F.affine_grid(t, (2, 1, 3, 4)), [(2, 2, 3)])",
)
add(
    "attention",
    "result = derivatives(lambda q, k, v: F.scaled_dot_product_attention(q, k, v), [(2, 2, 4, 3)] * 3, second=False)",
    "result = derivatives(lambda q, k, v: F.scaled_dot_product_attention(q, k, v, is_causal=True), "
    "[(2, 2, 4, 3)] * 3, second=False)",
    "result = summary(F.scaled_dot_product_attention(torch.randn(2, 4, 3), torch.randn(2, 5, 3), "
    "torch.randn(2, 5, 3), torch.tensor([[False] * 5, [True] * 5, [True, False] * 2 + [True], [True] * 5])))",
)
add(
    "embedding",
    "result = derivatives(lambda w: F.embedding(torch.tensor([[1, 2, 2], [0, 5, 4]]), w, padding_idx=2), [(6, 3)])",
    "result = [derivatives(lambda w: F.embedding_bag(torch.tensor([1, 2, 2, 0, 5, 4]), w, torch.tensor([0, 2, 2]), "
    "mode=m), [(6, 3)], second=False) for m in ('sum', 'mean', 'max')]",
)
add(
    "classes",
    "x = torch.randn(5, 3); y = torch.tensor([0, 2, 1, 1, 0]); w = torch.tensor([1.0, 2.0, 0.5])\n"
    "result = [summary(F.cross_entropy(x, y, weight=v, ignore_index=i, label_smoothing=s, reduction=r)) "
    "for v in (None, w) for i in (-100, 1) for s in (0.0, 0.1) for r in ('mean', 'sum', 'none')]",
    "result = derivatives(lambda x: F.cross_entropy(x, torch.tensor([0, 2, 1])), [(3, 4)])",
    "result = derivatives(lambda x: F.cross_entropy(x, torch.tensor([[0, 2], [1, 1]])), [(2, 3, 2)])",
    "result = derivatives(lambda x: F.cross_entropy(x, torch.tensor([[[0, 2]], [[1, 1]]])), [(2, 3, 1, 2)])",
    "result = derivatives(lambda x, t: F.cross_entropy(x, t.softmax(1), label_smoothing=0.2), [(3, 4), (3, 4)])",
    "result = derivatives(lambda x: F.binary_cross_entropy(x.sigmoid(), torch.eye(3).double()), [(3, 3)])",
    "result = derivatives(lambda x: F.binary_cross_entropy_with_logits(x, torch.eye(3).double(), "
    "pos_weight=torch.tensor([1.0, 2.0, 3.0]).double()), [(3, 3)])",
    "result = [summary(F.kl_div(torch.randn(3, 4).log_softmax(1), torch.rand(3, 4), reduction=r)) "
    "for r in ('mean', 'batchmean', 'sum', 'none')]",
    "t = torch.tensor([[1, 2, 2, 0], [3, 1, 0, 0], [1, 1, 1, 1]])\n"
    "result = [derivatives(lambda x: F.ctc_loss(x.log_softmax(2), t, (7, 6, 7), (3, 2, 4), reduction=r), "
    "[(7, 3, 5)], second=False) for r in ('mean', 'sum', 'none')]",
    "result = [summary(F.multi_margin_loss(torch.randn(3, 4), torch.tensor([0, 1, 3]))), "
    "summary(F.multilabel_margin_loss(torch.randn(2, 4), torch.tensor([[3, 0, -1, 1], [1, -1, 0, 0]]))), "
    "summary(F.triplet_margin_loss(*torch.randn(3, 2, 3), swap=True)), "
    "summary(F.cosine_embedding_loss(*torch.randn(2, 3, 4), torch.tensor([1, -1, 1]))), "
    "summary(F.gaussian_nll_loss(torch.randn(3, 2), torch.randn(3, 2), torch.rand(3, 2), full=True)), "
    "summary(F.margin_ranking_loss(torch.randn(3), torch.randn(3), torch.tensor([1, -1, 1])))]",
)

# ---------------------------------------------------------------- modules
each(
    "layer",
    "m = nn.@\nresult = layer(m, torch.randn(4, 3, requires_grad=True))",
    """Linear(3,2) Linear(3,2,bias=False) LazyLinear(2)
    Sequential(nn.Linear(3,4),nn.ReLU(),nn.Linear(4,1)) BatchNorm1d(3) BatchNorm1d(3,affine=False) LayerNorm(3)
    RMSNorm(3) PReLU() Dropout(0.5) AlphaDropout(0.3) RReLU() GELU() Softmax(dim=1) Threshold(0.1,2) Hardtanh()
    ELU(0.5) GLU(0) RNNCell(3,2) LSTMCell(3,2) GRUCell(3,2) LazyBatchNorm1d()""".split(),
)
each(
    "image layer",
    "m = nn.@\nresult = layer(m, torch.randn(2, 4, 6, 6, requires_grad=True))",
    """Conv2d(4,3,3,padding=1) Conv2d(4,4,(3,2),padding="same",padding_mode="circular") ConvTranspose2d(4,2,2,stride=2)
    LazyConv2d(3,2) MaxPool2d(2) AvgPool2d(3,2,1) AdaptiveAvgPool2d((1,2)) BatchNorm2d(4) InstanceNorm2d(4,affine=True)
    GroupNorm(2,4) Dropout2d(0.5) Upsample(scale_factor=2) Flatten() PixelShuffle(2) ReflectionPad2d(1)
    ZeroPad2d((1,2,0,1)) LocalResponseNorm(2)""".split(),
)
each(
    "sequence layer",
    "m = nn.@\nresult = layer(m, torch.randn(5, 2, 4, requires_grad=True))",
    """RNN(4,3) RNN(4,3,nonlinearity="relu") LSTM(4,3) LSTM(4,3,2,bidirectional=True,batch_first=True)
    LSTM(4,3,proj_size=2) LSTM(4,3,2,dropout=0.5) GRU(4,3) GRU(4,3,2,bias=False)
    TransformerEncoderLayer(4,2,8) TransformerEncoderLayer(4,2,8,norm_first=True,activation="gelu")
    TransformerEncoder(nn.TransformerEncoderLayer(4,2,8,dropout=0.0),2)""".split(),
)
add(
    "attention layer",
    "m = nn.MultiheadAttention(4, 2); x = torch.randn(3, 2, 4, requires_grad=True); result = layer(m, x, x, x)",
    "m = nn.MultiheadAttention(4, 2, add_bias_kv=True, add_zero_attn=True, batch_first=True)\n"
    "x = torch.randn(3, 2, 4); out, w = m(x, x, x, average_attn_weights=False); result = [summary(out), summary(w)]",
    "m = nn.MultiheadAttention(4, 2, kdim=3, vdim=5)\n"
    "result = layer(m, torch.randn(3, 2, 4), torch.randn(6, 2, 3), torch.randn(6, 2, 5))",
    "m = nn.Transformer(4, 2, 1, 1, 8, dropout=0.0)\n"
    "result = [summary(m(torch.randn(3, 2, 4), torch.randn(2, 2, 4))), len(list(m.parameters()))]",
)
add(
    "table layer",
    "m = nn.Embedding(5, 3, padding_idx=1); result = layer(m, torch.tensor([[0, 1], [4, 4]]))",
    "m = nn.EmbeddingBag(5, 3, mode='max'); result = layer(m, torch.tensor([[0, 1], [4, 4]]))",
    "m = nn.AdaptiveLogSoftmaxWithLoss(8, 10, [2, 5]); result = layer(m, torch.randn(4, 8), torch.tensor([0, 3, 9, 1]))",
)
add(
    "packed",
    "m = nn.LSTM(3, 4, 2, bidirectional=True); seqs = [torch.randn(n, 3) for n in (4, 2, 3)]\n"
    "packed = utils.rnn.pack_sequence(seqs, enforce_sorted=False); out, (h, c) = m(packed)\n"
    "padded, lengths = utils.rnn.pad_packed_sequence(out)\n"
    "result = [summary(out.data), out.batch_sizes.tolist(), summary(h), summary(c), summary(padded), lengths.tolist()]",
)
each(
    "starting values",
    "t = torch.empty(4, 6)\nnn.init.@\nresult = summary(t)",
    """uniform_(t) normal_(t,1,2) xavier_uniform_(t,2) xavier_normal_(t) kaiming_uniform_(t,nonlinearity="relu")
    kaiming_normal_(t,mode="fan_out") trunc_normal_(t) trunc_normal_(t,5,1,-1,1) orthogonal_(t) eye_(t) ones_(t) constant_(t,3)""".split(),
)
add(
    "containers",
    "result = repr(nn.ModuleList([nn.Linear(2, 2), nn.Linear(2, 2), nn.ReLU(), nn.Sequential(nn.ReLU())]))",
    "result = repr(nn.ModuleDict({'a': nn.ReLU(), 'b': nn.Sequential()}))",
    "result = repr(nn.ParameterList([torch.ones(2, 3), nn.Parameter(torch.ones(1)), 5]))",
    "result = repr(nn.ParameterDict({'a': torch.ones(2, 3), 'b': nn.Parameter(torch.ones(1).double())}))",
    "m = nn.Sequential(nn.Linear(1, 1), nn.ReLU(), nn.Tanh()); m.insert(1, nn.Sigmoid()); del m[0]\n"
    "result = [repr(m), repr(m[1:]), len(m * 2)]",
)
each(
    "message",
    "result = message(lambda: @)",
    (
        "nn.Linear(2, 2).foo",
        "nn.Module()(1)",
        "nn.Linear(2, 2).register_parameter('w', torch.ones(2))",
        "nn.Linear(2, 2).register_buffer('w', 3)",
        "nn.Linear(2, 2).add_module('w', 3)",
        "nn.Linear(2, 2).add_module('weight', nn.ReLU())",
        "setattr(nn.Linear(2, 2), 'weight', torch.ones(2, 2))",
        "nn.Linear(2, 2).load_state_dict({'weight': torch.ones(3, 2), 'z': torch.ones(1)})",
        "nn.Linear(2, 2).load_state_dict({'weight': 3, 'bias': torch.ones(2)})",
        "nn.Linear(3, 2)(torch.ones(2, 4))",
        "nn.Linear(3, 2)(torch.ones(2, 3).double())",
        "nn.Linear(3, 2).to(torch.int64)",
        "nn.Linear(3, 2).get_submodule('a.b')",
        "nn.Sequential(nn.ReLU())[3]",
        "nn.ModuleList(3)",
        "nn.Parameter([1.0])",
        "F.nll_loss(torch.randn(3, 2), torch.tensor([0, 1]))",
        "F.nll_loss(torch.randn(2, 2), torch.tensor([0, 5]))",
        "F.nll_loss(torch.randn(2, 2), torch.tensor([0.0, 1.0]))",
        "F.nll_loss(torch.randn(2, 2), torch.tensor([[0], [1]]))",
        "F.cross_entropy(torch.randn(2, 2), torch.tensor([[0, 1], [1, 0]]))",
        "F.cross_entropy(torch.randn(2, 3, 4), torch.zeros(2, 5, dtype=torch.int64))",
        "F.binary_cross_entropy(torch.tensor([2.0]), torch.tensor([1.0]))",
        "F.binary_cross_entropy(torch.tensor([0.2, 0.1]), torch.tensor([1.0]))",
        "F.binary_cross_entropy_with_logits(torch.tensor([0.2, 0.1]), torch.tensor([1.0]))",
        "F.mse_loss(torch.ones(3), torch.ones(3), reduction='x')",
        "F.dropout(torch.ones(2), 1.5)",
        "F.conv2d(torch.ones(2, 3, 5, 5), torch.ones(2, 4, 2, 2))",
        "F.conv2d(torch.ones(2, 3, 5, 5), torch.ones(2, 3, 7, 2))",
        "F.conv2d(torch.ones(2, 5), torch.ones(2, 3, 7, 2))",
        "nn.Conv2d(3, 4, 2, groups=2)",
        "F.max_pool2d(torch.ones(1, 3, 4, 4), 9)",
        "F.max_pool2d(torch.ones(1, 3, 4, 4), 2, padding=2)",
        "F.batch_norm(torch.ones(1, 3), torch.zeros(3), torch.ones(3), training=True)",
        "nn.BatchNorm1d(3)(torch.ones(2, 3, 4, 5))",
        "nn.BatchNorm2d(3)(torch.ones(2, 4, 5, 5))",
        "F.layer_norm(torch.ones(2, 3), (4,))",
        "F.group_norm(torch.ones(2, 3), 2)",
        "F.embedding(torch.tensor([7]), torch.ones(2, 3))",
        "F.embedding(torch.tensor([1.0]), torch.ones(2, 3))",
        "F.one_hot(torch.tensor([1, 5]), 3)",
        "F.pixel_shuffle(torch.ones(1, 3, 2, 2), 2)",
        "nn.LSTM(3, 4)(torch.ones(2, 3, 5))",
        "nn.LSTM(3, 4)(torch.ones(2, 3, 3), (torch.ones(1, 2, 4), torch.ones(1, 3, 4)))",
        "nn.GRUCell(3, 4)(torch.ones(2, 5))",
        "nn.MultiheadAttention(5, 2)",
        "utils.clip_grad_norm_([nn.Parameter(torch.ones(1))], 1.0).item() / 0",
        "data.random_split([1, 2, 3], [1])",
        "data.DataLoader([1, 2], shuffle=True, sampler=[0])",
        "checkpoint.checkpoint(lambda x: x, torch.ones(1), use_reentrant=True, debug=True)",
        "amp.GradScaler('cpu').update()",
        "optim.SGD([], lr=0.1)",
        "optim.SGD(torch.ones(1), lr=0.1)",
        "optim.SGD([torch.ones(1, requires_grad=True) * 2], lr=0.1)",
        "optim.SGD([1], lr=0.1)",
        "optim.SGD([torch.ones(1)], lr=-0.1)",
        "optim.SGD([torch.ones(1)], nesterov=True)",
        "optim.SGD({torch.ones(1)}, lr=0.1)",
        "optim.Adam([torch.ones(1)], betas=(1.0, 0.9))",
        "optim.RMSprop([torch.ones(1)], alpha=-1)",
        "optim.LBFGS([{'params': [torch.ones(1)]}, {'params': [torch.ones(1)]}])",
        "optim.Muon([torch.ones(1)])",
        "schedules.StepLR(3, 1)",
        "schedules.OneCycleLR(optim.SGD([torch.ones(1)]), 0.1)",
    ),
)

# ---------------------------------------------------------------- behaviour of modules
add(
    "behaviour",
    """seen = []
m = nn.Linear(2, 1)
m.register_forward_pre_hook(lambda m, a: seen.append(["pre", len(a)]))
m.register_forward_hook(lambda m, a, out: seen.append(["forward", summary(out)]))
m.register_full_backward_pre_hook(lambda m, g: seen.append(["backward pre", summary(g[0])]))
m.register_full_backward_hook(lambda m, gi, go: seen.append(["backward", summary(gi[0]), summary(go[0])]))
x = torch.ones(1, 2, requires_grad=True)
y = m(x)
y.sum().backward()
result = [seen, names(y), summary(x.grad), summary(m.weight.grad)]""",
    """m = nn.Linear(2, 2)
h = m.register_forward_hook(lambda m, a, out: out * 2)
m.register_forward_pre_hook(lambda m, a: (a[0] + 1,), prepend=True)
one = m(torch.ones(1, 2)); h.remove(); two = m(torch.ones(1, 2))
result = [summary(one), summary(two), len(m._forward_hooks)]""",
    """m = nn.Linear(2, 2)
m.register_full_backward_hook(lambda m, gi, go: tuple(g * 3 for g in gi))
x = torch.ones(1, 2, requires_grad=True); m(x).sum().backward(); result = summary(x.grad)""",
    """m = nn.Linear(2, 2)
m.register_forward_hook(lambda m, a, k, out: out + k["extra"], with_kwargs=True)
m.forward = lambda x, extra: x
result = summary(m(torch.ones(2), extra=3))""",
    """import copy, pickle
m = nn.Sequential(nn.Linear(2, 3), nn.BatchNorm1d(3)); m(torch.randn(4, 2)).sum().backward()
c = copy.deepcopy(m); p = pickle.loads(pickle.dumps(m))
result = [[summary(v) for v in n.state_dict().values()] for n in (m, c, p)] + [
    c[0].weight.grad is not None, c[0].weight is not m[0].weight, list(c.state_dict()) == list(p.state_dict())]""",
    """m = nn.Linear(2, 2); s = m.state_dict()
with torch.no_grad():
    m.weight.fill_(5.0)
result = [summary(s["weight"]), s["weight"].requires_grad, dict(s._metadata), repr(m.load_state_dict(s))]""",
    """m = nn.Module()
m.w = nn.Parameter(torch.ones(2)); m.register_buffer("b", torch.zeros(1)); m.register_buffer("n", torch.zeros(1), persistent=False)
m.child = nn.Linear(1, 1); m.shared = m.child; m.none = None
result = [[n for n, _ in m.named_parameters()], [n for n, _ in m.named_buffers()], [n for n, _ in m.named_modules()],
          [n for n, _ in m.named_children()], list(m.state_dict()), [n for n, _ in m.named_parameters(remove_duplicate=False)]]
del m.w
result.append([n for n, _ in m.named_parameters()])""",
    """m = nn.Sequential(nn.Linear(2, 2), nn.Dropout(), nn.BatchNorm1d(2)).eval()
result = [[n.training for n in m.modules()], str(m.double()[0].weight.dtype), str(m.half()[2].running_mean.dtype),
          str(m[2].num_batches_tracked.dtype)]
m.requires_grad_(False); result.append([p.requires_grad for p in m.parameters()])""",
    """m = nn.Linear(2, 2); m(torch.ones(1, 2)).sum().backward()
m.zero_grad(set_to_none=False); one = summary(m.weight.grad); m.zero_grad(); result = [one, m.weight.grad is None]""",
    """w = nn.Parameter(torch.ones(2)); b = nn.Buffer(torch.ones(1))
m = nn.Module(); m.b = b
result = [repr(w), w.requires_grad, w.is_leaf, isinstance(w, nn.Parameter), isinstance(w.data, nn.Parameter), list(m.state_dict())]""",
    """m = nn.BatchNorm1d(3)
for k in range(3):
    m(torch.randn(4, 3) * k)
before = m.running_mean._version; m.eval(); m(torch.randn(4, 3))
result = [{k: summary(v) for k, v in m.state_dict().items()}, before]""",
)
add(
    "clipping",
    """ps = [nn.Parameter(torch.randn(3)) for _ in range(2)]
for p in ps:
    p.grad = torch.randn(3) * 10
n = utils.clip_grad_norm_(ps, 2.0); a = [summary(p.grad) for p in ps]
m = utils.clip_grad_norm_(ps, 1.0, float("inf")); b = [summary(p.grad) for p in ps]
utils.clip_grad_value_(ps, 0.3)
result = [n.item(), m.item(), a, b, [summary(p.grad) for p in ps], [p.grad._version for p in ps]]""",
    """p = nn.Parameter(torch.ones(1)); p.grad = torch.tensor([float("inf")])
result = [message(lambda: utils.clip_grad_norm_([p], 1.0, error_if_nonfinite=True)), utils.clip_grad_norm_([], 1.0).item()]""",
    """m = nn.Linear(2, 3); v = utils.parameters_to_vector(m.parameters()); utils.vector_to_parameters(v * 2, m.parameters())
result = [summary(v), summary(m.weight), names(v)]""",
    """m = utils.parametrizations.weight_norm(nn.Linear(3, 2)); y = m(torch.ones(1, 3)); y.sum().backward()
result = [list(m.state_dict()), summary(y), [summary(p.grad) for p in m.parameters()], type(m).__name__]""",
    """m = utils.parametrizations.spectral_norm(nn.Linear(3, 4)); result = [list(m.state_dict()), summary(m.weight), summary(m.eval().weight)]""",
)
add(
    "checkpointing",
    """m = nn.Sequential(nn.Linear(3, 3), nn.Dropout(0.5), nn.Tanh(), nn.Linear(3, 3))
result = []
for way in (True, False):
    x = torch.ones(4, 3, requires_grad=True); torch.manual_seed(3); m.zero_grad()
    y = checkpoint.checkpoint(m, x, use_reentrant=way); y.sum().backward()
    result.append([summary(y), summary(x.grad), summary(m[0].weight.grad), names(y)[:1]])
    m.zero_grad(); checkpoint.checkpoint_sequential(m, 2, x, use_reentrant=way).sum().backward()
    result.append(summary(m[0].weight.grad))""",
    """calls = []
def block(x):
    calls.append(1)
    return (x.sin() * x.exp()).tanh()
x = torch.ones(2, requires_grad=True); y = checkpoint.checkpoint(block, x, use_reentrant=False)
a = len(calls); y.sum().backward(); b = len(calls); result = [a, b, summary(x.grad)]""",
    """n = [0]
def block(x):
    n[0] += 1
    return x.sin() if n[0] == 1 else x.sin().exp().cos()[:1]
def go():
    checkpoint.checkpoint(block, torch.ones(2, requires_grad=True), use_reentrant=False).sum().backward()
result = message(go)""",
    """x = torch.ones(2, requires_grad=True)
g, = torch.autograd.grad(checkpoint.checkpoint(lambda t: (t ** 3).sum(), x, use_reentrant=False), x, create_graph=True)
g.sum().backward(); result = [summary(g), summary(x.grad)]""",
)
add(
    "data",
    """ds = data.TensorDataset(torch.arange(10), torch.arange(10.0)); result = []
for kw in (dict(batch_size=3), dict(batch_size=4, shuffle=True), dict(batch_size=4, drop_last=True), dict(batch_size=None)):
    loader = data.DataLoader(ds, **kw)
    result.append([[b[0].tolist() for b in loader], [b[0].tolist() for b in loader], len(loader), torch.rand(1).item()])""",
    """result = [list(data.RandomSampler(range(5))), list(data.RandomSampler(range(3), replacement=True, num_samples=40)),
    list(data.WeightedRandomSampler([1, 2, 3.0], 6)), list(data.SubsetRandomSampler([4, 5, 6])),
    list(data.BatchSampler(range(5), 2, False)), list(data.DistributedSampler(range(7), 3, 1))]""",
    """a, b = data.random_split(range(10), [0.3, 0.7], torch.Generator().manual_seed(1))
c = data.default_collate([{"a": 1, "b": (1.0, [2, 3])}, {"a": 2, "b": (2.0, [4, 5])}])
result = [a.indices, b.indices, c["a"].tolist(), c["b"][0].tolist(), [t.tolist() for t in c["b"][1]],
    str(c["b"][0].dtype), (data.TensorDataset(torch.ones(2)) + data.TensorDataset(torch.zeros(1)))[2][0].item()]""",
)
add(
    "mixed precision",
    """m = nn.Linear(2, 1); x = torch.ones(3, 2)
with amp.autocast("cpu", dtype=torch.bfloat16):
    y = m(x); z = F.mse_loss(y.float(), torch.ones(3, 1))
z.backward(); result = [str(y.dtype), str(z.dtype), str(m.weight.grad.dtype), summary(m.bias.grad)]""",
    """p = nn.Parameter(torch.tensor(1.0)); opt = optim.SGD([p], lr=0.1); s = amp.GradScaler("cpu", init_scale=4.0, growth_interval=2)
trace = []
for k in [2.0, 2.0, float("inf"), 2.0, 2.0]:
    opt.zero_grad(); s.scale(p * k).backward(); s.step(opt); s.update(); trace.append([p.item(), s.get_scale()])
result = [trace, s.state_dict()]""",
    """p = nn.Parameter(torch.tensor(1.0)); opt = optim.SGD([p], lr=0.1); s = amp.GradScaler("cpu", init_scale=8.0)
s.scale(p * 2).backward(); s.unscale_(opt); a = message(lambda: s.unscale_(opt)); s.step(opt)
result = [a, message(lambda: s.unscale_(opt)), message(lambda: s.step(opt)), p.item()]""",
)
each(
    "distribution",
    """a, b = (torch.tensor(v, requires_grad=True) for v in ([0.5, 1.5, 2.5], [1.0, 2.0, 0.7]))
d = dist.@
v = torch.tensor([0.0, 1.0, 1.0]) if d.support.is_discrete else torch.tensor([0.6, 0.1, 0.3])
v = torch.tensor(2) if type(d).__name__ == "Categorical" else v
p = d.log_prob(v); p.sum().backward(); moved = [summary(t.grad) for t in (a, b)]
torch.manual_seed(0); x = d.sample((2,)); same_stream = type(d).__name__ not in ("Gamma", "Beta", "Dirichlet", "Poisson")
result = [list(d.batch_shape), list(d.event_shape), summary(d.mean), summary(d.variance), summary(p), moved,
    summary(x) if same_stream else list(x.shape), summary(d.expand((4, *d.batch_shape)).mean)]
if type(d).__name__ != "Poisson":
    result.append(summary(d.entropy()))""",
    (
        "Normal(a, b)",
        "LogNormal(a, b)",
        "Uniform(a * 0, a + b)",
        "Exponential(b)",
        "Laplace(a, b)",
        "Gamma(a, b)",
        "Beta(a, b)",
        "Dirichlet(a)",
        "Bernoulli(a / 3)",
        "Bernoulli(logits=a)",
        "Categorical(a)",
        "Categorical(logits=b)",
        "Poisson(b)",
        "Independent(dist.Normal(a, b), 1)",
        "MultivariateNormal(a, torch.diag(b) + 0.1)",
        "MultivariateNormal(a, scale_tril=torch.diag(b))",
        "MultivariateNormal(a, precision_matrix=torch.diag(b) + 0.1)",
    ),
)
each(
    "divergence",
    """a, b = torch.tensor([0.5, 1.5, 2.5]), torch.tensor([1.0, 2.0, 0.7])
result = summary(dist.kl_divergence(@))""",
    [f"dist.{c}(a, b), dist.{c}(b, a)" for c in ("Normal", "LogNormal", "Laplace", "Gamma", "Beta")]
    + [f"dist.{c}(a), dist.{c}(b)" for c in ("Exponential", "Dirichlet", "Categorical", "Poisson")]
    + [
        "dist.Bernoulli(a / 3), dist.Bernoulli(b / 3)",
        "dist.Uniform(a, a + b), dist.Normal(a, b)",
        "dist.MultivariateNormal(a, torch.diag(b)), dist.MultivariateNormal(b, torch.diag(a) + 0.2)",
    ],
)
each(
    "message of distributions",
    "result = message(lambda: dist.@)",
    (
        "Normal(0.0, -1.0)",
        "Normal(0.0, 1.0).log_prob('a')",
        "Uniform(1.0, 0.0)",
        "Bernoulli(torch.tensor(0.3)).log_prob(torch.tensor(0.5))",
        "Poisson(1.0).rsample()",
        "Categorical()",
        "Categorical(torch.ones(3)).log_prob(torch.tensor(5))",
        "Normal(torch.zeros(2), 1.0).log_prob(torch.ones(3))",
    ),
)

# ---------------------------------------------------------------- what goes wrong, in PyTorch's words
_TOLD = """t = torch
def told(f):
    try: return str(f()).replace("gradviz", "torch")
    except Exception as error: return [type(error).__name__, str(error).replace("gradviz", "torch")]
"""
PROGRAMS["a checkpoint that is entered again wants all gradients"] = (
    _TOLD
    + """x = torch.ones(3, requires_grad=True); way = dict(use_reentrant=True)
result = [told(lambda: torch.autograd.grad(checkpoint.checkpoint(lambda a: (a * a).sum(), x, **way), x)), told(lambda: checkpoint.checkpoint(lambda a: (a * a).sum(), x, **way).backward(inputs=[x])),
    told(lambda: checkpoint.checkpoint_sequential(nn.Sequential(nn.ReLU()), 3, x, **way)), told(lambda: (checkpoint.checkpoint(lambda a: (a * a).sum(), x, **way).backward(), x.grad.tolist())[1])]"""
)
PROGRAMS["misuse of modules"] = (
    _TOLD
    + """class M(nn.Module):
    def __init__(s): super().__init__(); s.register_buffer("b",t.ones(1),persistent=False); s.register_parameter("p",None); s.w=nn.Parameter(t.ones(2)); s.k=nn.ParameterList([nn.Parameter(t.ones(1)),t.ones(2)]); s.d=nn.ParameterDict({"a":t.ones(1)}); s.md=nn.ModuleDict({"q":nn.ReLU(),"z":nn.Linear(1,1)})
    def get_extra_state(s): return {"e":1}
    def set_extra_state(s,x): pass
q = M()
result = [told(f) for f in (
    lambda: q.register_buffer(3,t.ones(1)),
    lambda: q.register_buffer("a.b",t.ones(1)),
    lambda: q.register_buffer("",t.ones(1)),
    lambda: q.register_buffer("w",t.ones(1)),
    lambda: q.register_buffer("x",3),
    lambda: q.register_parameter("x",3),
    lambda: q.register_parameter("a.b",None),
    lambda: q.register_parameter("forward",None),
    lambda: q.register_parameter("x",q.w*2),
    lambda: q.add_module("a.b",nn.ReLU()),
    lambda: q.add_module("",nn.ReLU()),
    lambda: q.add_module("w",nn.ReLU()),
    lambda: q.add_module(3,nn.ReLU()),
    lambda: q.add_module("r",3),
    lambda: setattr(q,"w",3),
    lambda: setattr(q,"md",3),
    lambda: setattr(q,"b",3),
    lambda: q.nope,
    lambda: q.get_submodule("md.x"),
    lambda: q.get_submodule("md.q.z"),
    lambda: q.get_parameter("md.z.weight").shape,
    lambda: q.get_parameter("md.z.w"),
    lambda: q.get_parameter("b"),
    lambda: q.get_buffer("b"),
    lambda: q.get_buffer("w"),
    lambda: q(1),
    lambda: q.to(t.int32),
    lambda: q.to("float64"),
    lambda: q.half().w.dtype,
    lambda: q.train(3),
    lambda: nn.Module()(1),
    lambda: nn.Sequential(nn.Linear(2,2))(t.ones(1,2),3),
    lambda: nn.ModuleList([1]),
    lambda: nn.ModuleDict({"a":1}),
    lambda: nn.ModuleDict({1:nn.ReLU()}),
    lambda: nn.ModuleList([nn.ReLU()])[3],
    lambda: nn.Sequential(nn.ReLU())[2],
    lambda: nn.ModuleList([nn.ReLU()])(1),
    lambda: nn.ModuleDict({})(1),
    lambda: nn.ParameterList([1,t.ones(1)]),
    lambda: nn.ParameterDict({"a":3,"b":t.ones(2)}),
    lambda: nn.Sequential(3),
    lambda: nn.Sequential(nn.ReLU())+nn.Sequential(nn.Tanh()),
    lambda: nn.Sequential(nn.ReLU())*2,
    lambda: nn.Sequential(nn.ReLU())*0,
    lambda: nn.Sequential(nn.ReLU())+3,
    lambda: nn.Sequential(nn.ReLU()).append(nn.Tanh()).insert(0,nn.GELU()).extend([nn.SiLU()]),
    lambda: nn.Sequential(nn.ReLU()).insert(5,nn.GELU()),
    lambda: nn.ModuleList([nn.ReLU()]*3),
    lambda: nn.ModuleList(nn.Linear(i+1,i+1) for i in range(3))[1:],
    lambda: q.zero_grad(),
    lambda: q.requires_grad_(False).w.requires_grad,
    lambda: q.type(t.float64).w.dtype,
    lambda: q.bfloat16().w.dtype,
    lambda: q.to_empty(device="cpu").w.shape,
    lambda: list(q.children()),
    lambda: q.set_submodule("md.q",nn.Tanh()) or q.md,
    lambda: q.__dir__() and "w" in dir(q),
    lambda: delattr(q,"zz"),
    lambda: q.extra_repr(),
    lambda: q.named_parameters(remove_duplicate=False).__class__.__name__,
)]"""
)
PROGRAMS["misuse of losses and layers"] = (
    _TOLD
    + """i, x = torch.tensor([0, 1, 2]), torch.arange(9.0).view(3, 3)
result = [told(f) for f in (
    lambda: F.cross_entropy(x,t.tensor([0,1])),
    lambda: F.cross_entropy(x,t.tensor([0,1,5])),
    lambda: F.cross_entropy(x,i,weight=t.ones(2)),
    lambda: F.cross_entropy(x,i.float()),
    lambda: F.cross_entropy(x,x),
    lambda: F.cross_entropy(x,i,label_smoothing=2.),
    lambda: F.cross_entropy(x,i,ignore_index=1,reduction="none"),
    lambda: F.cross_entropy(x,t.tensor([-100]*3)),
    lambda: F.nll_loss(x,i,reduction="x"),
    lambda: F.nll_loss(x[0],i),
    lambda: F.nll_loss(x.view(1,3,3,1),i),
    lambda: F.binary_cross_entropy(x,x),
    lambda: F.binary_cross_entropy(x[:2]/9,x/9),
    lambda: F.binary_cross_entropy_with_logits(x,x[:2]),
    lambda: F.binary_cross_entropy_with_logits(x,x/9,pos_weight=t.ones(2)),
    lambda: F.mse_loss(x,x[:2]),
    lambda: F.mse_loss(x,x[:,:1]),
    lambda: F.smooth_l1_loss(x,x,beta=-1),
    lambda: F.huber_loss(x,x,delta=0),
    lambda: F.kl_div(x,x[:2]),
    lambda: F.cosine_embedding_loss(x,x,t.ones(2)),
    lambda: F.cosine_embedding_loss(x,x,t.ones(3),reduction="q"),
    lambda: F.margin_ranking_loss(x,x,t.ones(2)),
    lambda: F.multi_margin_loss(x,i,p=3),
    lambda: F.multi_margin_loss(x,i,weight=t.ones(2)),
    lambda: F.multilabel_margin_loss(x,i),
    lambda: F.triplet_margin_loss(x,x,x,margin=-1),
    lambda: F.ctc_loss(x.view(3,1,3),i[None],[3],[9]),
    lambda: F.gaussian_nll_loss(x,x,-x),
    lambda: F.gaussian_nll_loss(x,x,x[:2]),
    lambda: F.embedding(t.tensor([5]),x),
    lambda: F.embedding(x,x),
    lambda: F.embedding(i,x,padding_idx=7),
    lambda: F.embedding_bag(i,x),
    lambda: F.embedding_bag(i,x,t.tensor([0,2]),mode="q"),
    lambda: F.one_hot(i,2),
    lambda: F.one_hot(x),
    lambda: F.one_hot(-i),
    lambda: F.softmax(x,5),
    lambda: F.dropout(x,-1),
    lambda: F.layer_norm(x,(2,)),
    lambda: F.layer_norm(x,(3,),t.ones(2)),
    lambda: F.batch_norm(x,t.ones(2),t.ones(3)),
    lambda: F.batch_norm(x[:1],None,None,training=True),
    lambda: F.batch_norm(x,None,None),
    lambda: F.instance_norm(x[None],use_input_stats=False),
    lambda: F.normalize(x,p=1,dim=0),
    lambda: F.linear(x,t.ones(2,2)),
    lambda: F.linear(x,t.ones(2,3),t.ones(3)),
    lambda: F.conv1d(x,t.ones(1,2,2)),
    lambda: F.conv1d(x[None],t.ones(1,3,2),stride=0),
    lambda: F.conv1d(x[None],t.ones(1,3,2),padding=-1),
    lambda: F.conv1d(x[None],t.ones(1,3,2),t.ones(2)),
    lambda: F.conv1d(x[None],t.ones(1,3,2),groups=2),
    lambda: F.conv1d(x[None].int(),t.ones(1,3,2)),
    lambda: F.max_pool1d(x,0),
    lambda: F.max_pool1d(x,2,padding=2),
    lambda: F.max_pool1d(x,5),
    lambda: F.scaled_dot_product_attention(x,x,x[:,:2]),
    lambda: F.scaled_dot_product_attention(x,x[:,:2],x),
    lambda: F.affine_grid(t.ones(1,2,3),(1,1,2,2)),
    lambda: F.affine_grid(t.ones(2,3),(1,1,2,2)),
    lambda: F.grid_sample(t.ones(1,1,2,2),t.ones(1,2,2,3)),
    lambda: F.pixel_shuffle(t.ones(1,3,2,2),2),
    lambda: F.pairwise_distance(x,x[:2]),
    lambda: F.cosine_similarity(x,x[:2]),
    lambda: F.glu(x),
    lambda: F.prelu(x,t.ones(2)),
    lambda: F.threshold(x,1,0),
    lambda: F.rrelu(x,.5,.1,True),
)]"""
)
PROGRAMS["misuse of functions"] = (
    _TOLD
    + """torch.manual_seed(0)
result = [told(f) for f in (
    lambda: F.interpolate(torch.rand(1,2,3),scale_factor=2,mode='bilinear'),
    lambda: F.interpolate(torch.rand(1,2,3),scale_factor=2,mode='bicubic'),
    lambda: F.interpolate(torch.rand(1,2,3),scale_factor=2,mode='trilinear'),
    lambda: F.interpolate(torch.rand(1,2,3,3),scale_factor=2,mode='linear'),
    lambda: F.interpolate(torch.rand(1,2,3,3,3),scale_factor=2,mode='linear'),
    lambda: F.interpolate(torch.rand(1,2,3,3,3),scale_factor=2,mode='bilinear'),
    lambda: F.interpolate(torch.rand(1,2,3,3),scale_factor=2,mode='trilinear'),
    lambda: F.interpolate(torch.rand(1,2,3,3,3),scale_factor=2,mode='bicubic'),
    lambda: F.interpolate(torch.rand(2,3),scale_factor=2,mode='nearest'),
    lambda: F.interpolate(torch.rand(1,2,3,3),scale_factor=2,mode='zz'),
    lambda: F.interpolate(torch.rand(1,2,3,3),scale_factor=2,size=3),
    lambda: F.interpolate(torch.rand(1,2,3,3)),
    lambda: F.interpolate(torch.rand(1,2,3,3),size=(2,3,4)),
    lambda: F.group_norm(torch.rand(2,6),2,torch.rand(4)),
    lambda: F.group_norm(torch.rand(2,6),4),
    lambda: F.bilinear(torch.rand(2,3),torch.rand(3,4),torch.rand(2,3,4)),
    lambda: F.bilinear(torch.rand(2,3),torch.rand(2,5),torch.rand(2,3,4)),
    lambda: F.bilinear(torch.rand(2,5),torch.rand(2,4),torch.rand(2,3,4)),
    lambda: F.bilinear(torch.rand(2,2,3),torch.rand(2,4),torch.rand(2,3,4)),
    lambda: F.fold(torch.rand(1,8,11),(4,5),(2,2)),
    lambda: F.fold(torch.rand(1,7,12),(4,5),(2,2)),
    lambda: F.fold(torch.rand(7,12),(4,5),(2,2)),
    lambda: F.adaptive_avg_pool2d(torch.rand(1,2,4,4),-1),
    lambda: F.adaptive_avg_pool1d(torch.rand(1,2,4),-1),
    lambda: F.avg_pool3d(torch.rand(3,3,3),3),
    lambda: F.max_pool2d(torch.rand(3,3),3),
    lambda: F.conv_transpose2d(torch.rand(1,2,4,4),torch.rand(2,3,3,3),output_padding=2),
    lambda: F.conv_transpose1d(torch.rand(1,2,4),torch.rand(2,3,3),output_padding=2),
    lambda: F.conv_transpose3d(torch.rand(1,2,4,4,4),torch.rand(2,3,3,3,3),output_padding=2),
    lambda: F.pad(torch.rand(1,2,4,4),(-3,-3,-3,-3)),
    lambda: F.pad(torch.rand(4),(-3,-3)),
    lambda: F.soft_margin_loss(torch.rand(2),torch.rand(2,requires_grad=True)),
    lambda: torch.nn.Hardtanh(2,2),
    lambda: F.hardtanh(torch.rand(2),2,1),
    lambda: F.mse_loss(torch.rand(2),torch.rand(2),reduction='x'),
    lambda: F.kl_div(torch.rand(2),torch.rand(2),reduction='x'),
)]"""
)
PROGRAMS["loading a state_dict"] = (
    _TOLD
    + """n = nn.Sequential(nn.Linear(2, 3), nn.BatchNorm1d(3), nn.Linear(3, 1)); sd = n.state_dict()
result = [told(f) for f in (
    lambda: n.load_state_dict({k:v for k,v in sd.items() if k!="0.weight"}),
    lambda: n.load_state_dict({**sd,"x.y":t.ones(1)}),
    lambda: n.load_state_dict({**sd,"x.y":t.ones(1)},strict=False),
    lambda: n.load_state_dict({},strict=False),
    lambda: n.load_state_dict(sd),
    lambda: n.load_state_dict({**sd,"0.weight":t.ones(3,3),"2.bias":t.ones(2)}),
    lambda: n.load_state_dict({**sd,"0.weight":t.ones(3,3)},strict=False),
    lambda: n.load_state_dict([1]),
    lambda: n.load_state_dict({**sd,"0.weight":[1]}),
    lambda: n.load_state_dict({**sd,"0.weight":t.ones(3,2),"0.bias":3}),
    lambda: n.load_state_dict(sd,assign=True),
    lambda: n.load_state_dict({**sd,"0.weight":t.ones(3,2,dtype=t.int64)}),
    lambda: n[0].weight,
    lambda: n.load_state_dict({**sd,"1.num_batches_tracked":t.tensor([3])}),
    lambda: n[1].num_batches_tracked,
    lambda: nn.Linear(2,2).load_state_dict({"weight":t.ones(())}),
    lambda: nn.Linear(2,2).load_state_dict({"weight":t.ones(4)}),
)]"""
)
PROGRAMS["lazy modules, step by step"] = (
    _TOLD
    + """result = []
for made, shape in (("LazyLinear(2)", (3, 4)), ("LazyConv2d(2, 3)", (1, 3, 5, 5)), ("LazyConvTranspose1d(2, 3)", (1, 3, 5)), ("LazyBatchNorm1d()", (4, 3)), ("LazyInstanceNorm2d()", (1, 3, 4, 4))):
    m = eval("nn." + made)
    result.append([told(f) for f in (lambda: m, lambda: sorted(m.state_dict()), lambda: m.weight.shape, lambda: m.has_uninitialized_params(), lambda: m.weight.numel(), lambda: m.weight + 1, lambda: m.share_memory(), lambda: m.double().weight.dtype)])
    m(torch.ones(*shape, dtype=torch.float64)); result.append([told(lambda: m), type(m).__name__, {k: list(v.shape) for k, v in m.state_dict().items()}])
m = nn.LazyLinear(2); m.load_state_dict(nn.Linear(3, 2).state_dict()); result.append([told(lambda: m.weight.shape), told(lambda: m)])
result.append(told(lambda: nn.Linear(3, 2).load_state_dict(nn.LazyLinear(2).state_dict())))
result += [repr(nn.ParameterDict({"a": torch.ones(1)})), repr(nn.ParameterDict({"a": torch.ones(1), "b": 3})), repr(nn.ParameterList([torch.ones(1)])), repr(nn.TripletMarginWithDistanceLoss())]"""
)

each(
    "rows by how often they were chosen",
    "i = torch.tensor([[1, 2, 2], [1, 1, 3]]); result = derivatives(lambda w: @, [(6, 2)])",
    [
        "F.embedding(i, w, scale_grad_by_freq=True)",
        "F.embedding(i, w, 1, scale_grad_by_freq=True)",
        "torch.embedding(w, i, -1, True)",
    ],
)
each(
    "targets, weighted",
    "W = torch.tensor([1.0, 2.0, 0.5], dtype=torch.float64); "
    "result = derivatives(lambda x, y: F.@, [(4, 3), (4, 3)])",
    [
        "binary_cross_entropy_with_logits(x, y, weight=W)",
        "binary_cross_entropy_with_logits(x, y, pos_weight=W)",
        "binary_cross_entropy_with_logits(x, y, weight=W, pos_weight=W, reduction='sum')",
    ],
)
each(
    "more at the end than a stride",
    "found = derivatives(lambda x, w, b: F.@, [(2, 4, 5), (4, 3, 3), (3,)]); result = [found[0], *found[2:]]",
    [
        f"conv_transpose1d(x,w,b,{s},{p},{e},1,{d})"
        for s, p, e, d in (
            (1, 0, 1, 2),
            (1, 1, 1, 2),
            (1, 2, 1, 2),
            (1, 0, 2, 3),
            (1, 1, 2, 3),
            (2, 1, 2, 3),
        )
    ],
)
PROGRAMS["what attention and losses refuse"] = (
    _TOLD
    + """A = nn.MultiheadAttention(4, 2, kdim=5); B = nn.MultiheadAttention(4, 2); x = torch.rand(3, 2, 4)
result = [told(f) for f in (
    lambda: A(x, x, x), lambda: A(x, torch.rand(3, 2, 5), torch.rand(3, 2, 5)),
    lambda: B(x, x, x, key_padding_mask=torch.zeros(3, 3)), lambda: B(x, x, x, key_padding_mask=torch.zeros(2, 4)),
    lambda: F.softshrink(x, -1), lambda: F.softshrink(x.double(), -0.5), lambda: F.softshrink(x, float("nan")),
    lambda: F.soft_margin_loss(x, torch.rand(3, 2, 4, requires_grad=True), reduction="batchmean"),
    lambda: F.adaptive_avg_pool1d(x, (None,)), lambda: F.adaptive_avg_pool1d(x, None), lambda: F.adaptive_max_pool1d(x, (None,)),
    lambda: F.channel_shuffle(x, 3), lambda: F.channel_shuffle(x, 0), lambda: F.pixel_shuffle(x, 0),
    lambda: F.pixel_unshuffle(x, 3), lambda: F.embedding_bag(torch.tensor([1]), torch.rand(2, 2), torch.tensor([0]), mode="max", scale_grad_by_freq=True),
)]"""
)
PROGRAMS["nodes of recurrent layers, batch first"] = """result = []
for kind in (nn.RNN, nn.GRU):
    out, h = kind(3, 4, batch_first=True, bidirectional=True)(torch.rand(2, 5, 3)); result.append([out.grad_fn.name(), h.grad_fn.name(), list(out.stride())])"""
PROGRAMS["misuse of sequences and norms of weights"] = (
    _TOLD
    + """from importlib import import_module
R, U = import_module(torch.__name__ + ".nn.utils.rnn"), import_module(torch.__name__ + ".nn.utils"); import warnings; warnings.simplefilter("ignore"); x = torch.arange(12.0).reshape(3, 2, 2)
result = [told(f) for f in (
    lambda: R.pack_padded_sequence(x, [3]), lambda: R.pack_padded_sequence(x, [3, 2, 1]), lambda: R.pack_padded_sequence(x, []),
    lambda: R.pad_sequence([torch.ones(2)], padding_side="x"), lambda: R.pad_sequence([]), lambda: R.pad_sequence([1]),
    lambda: U.weight_norm(U.weight_norm(nn.Linear(2, 2))), lambda: U.spectral_norm(U.spectral_norm(nn.Linear(2, 2))),
    lambda: iter(data.DataLoader([1, 2], timeout=1)), lambda: nn.Bilinear(0, 1, 1),
)]"""
)

_SELECTIVE = """import functools
P, aten, log = checkpoint.CheckpointPolicy, torch.ops.aten, []
def contexts(policy, **more): return functools.partial(checkpoint.create_selective_checkpoint_contexts, policy, **more)
def told(function):
    found = message(function)
    return found if found == "nothing" else [found[0], found[1].partition("This can")[0]]
x = torch.arange(16.0).reshape(4, 4).div(16).requires_grad_(); w = torch.eye(4).add(0.1).requires_grad_(); b = torch.ones(4, requires_grad=True)
def f(x, w, b): return torch.sigmoid(F.relu(F.linear(torch.matmul(torch.matmul(x, w), w) * 2, w, b)).exp().sum(0) + 1).softmax(0)
def run(policy, function=f, args=(x, w, b), **more): return checkpoint.checkpoint(function, *args, use_reentrant=False, context_fn=contexts(policy, **more))
"""
PROGRAMS["a selective checkpoint asks about each operator"] = f"""{_SELECTIVE}
result = []
for answer in (P.PREFER_RECOMPUTE, P.PREFER_SAVE, P.MUST_CPU_OFFLOAD, True, False):
    log.clear(); x.grad = w.grad = b.grad = None
    run(lambda ctx, op, *args, **kwargs: (log.append([str(op), ctx.is_recompute, list(ctx.op_output.shape)]), answer)[1])[0].backward()
    result.append([list(log), x.grad.tolist(), w.grad.tolist(), b.grad.tolist()])
def h(x, w, b):
    y = x * 1; y.add_(1); y = y.t()[1:].reshape(-1); m = y.max(0); e = y > 2; s, i = torch.where(e, y, y * 2).sort()
    return s.sum() + m[0]
log.clear(); run(lambda ctx, op, *args, **kwargs: (log.append(str(op)), P.PREFER_RECOMPUTE)[1], h).backward(); result += [log, x.grad.tolist()]"""
PROGRAMS["what a selective checkpoint kept is not computed again"] = f"""{_SELECTIVE}
calls, result = [], []
class Counted(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x): calls.append(1); return x * 2
    @staticmethod
    def backward(ctx, g): return g * 2
def g(x, w, b):
    y = torch.mm(x, w); z = y.sin(); y.mul_(2); return z.cos()
mm = [aten.mm.default]
def twice():
    o = run(mm); o[0].backward(retain_graph=True); o[0].backward()
def other(k):
    runs = []
    def block(x, w, b):
        runs.append(1); y = torch.mm(x, w)
        if len(runs) == 2 and k: y = y.cosh()
        return Counted.apply(y.sin()).cos()
    run(mm, block).sum().backward()
result = [told(twice), told(lambda: run(mm, g).sum().backward()), told(lambda: run(mm, g, allow_cache_entry_mutation=True).sum().backward()), told(lambda: other(False)), told(lambda: other(True)), len(calls), x.grad.tolist()]"""
PROGRAMS["what a selective checkpoint refuses"] = f"""{_SELECTIVE}
import contextlib
def fails(x, w, b): raise ValueError("no")
result = [told(lambda: contexts([aten.mm])()), told(lambda: contexts(3)()), told(lambda: contexts([3])()), [p.name for p in P], told(lambda: checkpoint.SelectiveCheckpointContext(3)),
    told(lambda: checkpoint.checkpoint(fails, x, w, b, use_reentrant=False, context_fn=lambda: (contextlib.suppress(ValueError), contextlib.nullcontext()))),
    told(lambda: checkpoint.checkpoint(f, x, w, b, use_reentrant=False, debug=True, context_fn=contexts([]))), told(lambda: checkpoint.checkpoint(f, x, w, b, use_reentrant=False, determinism_check="all")),
    told(lambda: checkpoint.checkpoint(f, x, w, b, use_reentrant=True, context_fn=contexts([]))), str(aten.mm), repr(aten.mm), str(aten.mul.Tensor), repr(aten.mul.Tensor), aten.mm.default.name(), aten.mul.Tensor.name(),
    told(lambda: aten.nothing), told(lambda: aten.mm.nothing), aten.mm.default is aten.mm.default, aten.mm.default(x, w).tolist()]"""
PROGRAMS["debug of a checkpoint tells the operators"] = """def f(x):
    f.runs += 1; y = x.sin() * x
    return y.exp() if f.runs == 1 else y[:1].exp()
def kind(error): return [type(error).__name__, [line.split(" = ")[1] for line in str(error).split("Operations executed during the original forward:")[-1].split("during recomputation:")[0].splitlines() if " = " in line], "An error happened while unpacking tensors; dumping logs" in str(error), "Detected non-determinism" in str(error), type(error.__cause__).__name__]
result = []
for debug in (None, True, False):
    f.runs, x = 0, torch.ones(2, requires_grad=True)
    if debug is None: y = checkpoint.checkpoint(f, x, use_reentrant=False, debug=True)
    else:
        with checkpoint.set_checkpoint_debug_enabled(debug): y = checkpoint.checkpoint(f, x, use_reentrant=False, debug=not debug)
    try: y.sum().backward()
    except RuntimeError as error: result.append(kind(error) if debug is not False else [type(error).__name__, str(error).splitlines()[0]])"""
PROGRAMS[
    "a saved tensor is unpacked once a node"
] = """a, b, c = (torch.rand(3, 3).add(0.3).requires_grad_() for _ in range(3))
def count(function):
    seen = [0, 0]
    def pack(t): seen[0] += 1; return t
    def unpack(t): seen[1] += 1; return t
    with torch.autograd.graph.saved_tensors_hooks(pack, unpack): function().sum().backward()
    return seen
result = [count(f) for f in (lambda: torch.where(a > 0.5, a, b), lambda: torch.maximum(a, b), lambda: torch.atan2(a, b), lambda: a ** b, lambda: torch.lerp(a, b, c), lambda: a / b, lambda: F.mse_loss(a, b), lambda: torch.cdist(a, b), lambda: torch.addcdiv(a, b, c), lambda: torch.xlogy(a, b))]"""

_META = """import copy, pickle, warnings
T, m, c = torch, torch.empty(2, 3, device="meta"), torch.ones(2, 3)
one, number = torch.ones(1, device="meta"), torch.ones((), device="meta", dtype=torch.int64)
def shown(v):
    if isinstance(v, torch.Tensor): return [list(v.shape), list(v.stride()), str(v.dtype).replace("gradviz", "torch"), str(v.device), v.requires_grad]
    if isinstance(v, (tuple, list)): return [shown(x) for x in v]
    return str(v)
def tell(text):
    try: return shown(eval(text, scope))
    except Exception as error: return [type(error).__name__, str(error).replace("gradviz", "torch").partition(" This implementation")[0].partition(" You may have")[0]]
scope = globals()
"""
PROGRAMS["tensors without numbers"] = f"""{_META}
result = [tell(text) for text in '''m|T.zeros(2, 3, device="meta", dtype=T.int64)|T.tensor([1.0, 2.0], device="meta")|T.rand(2, device="meta", requires_grad=True)|T.full((2,), 3.0, device="meta")|T.arange(5, device="meta")|T.linspace(0, 1, 5, device="meta")|T.eye(3, device="meta")
T.empty_strided((2, 3), (1, 2), device="meta")|T.randint(3, (2,), device="meta")|T.randperm(3, device="meta")|T.tril_indices(3, 3, device="meta")|T.zeros_like(c, device="meta")|T.rand_like(m)|m.new_tensor([1, 2])|m.new_full((2,), 1)|T.as_tensor([1, 2], device="meta")|T.asarray([1, 2], device="meta")
(m.device, m.is_meta, c.is_meta, m.is_cuda, m.is_cpu, m.numel(), m.element_size(), m.data_ptr(), m[1].storage_offset(), m.type(), m.is_pinned())|(m.untyped_storage().device, m.untyped_storage().nbytes(), m.untyped_storage().data_ptr())|T.empty(2, device="meta:1").device
c.to("meta")|c.t().to("meta")|m.to("cpu")|m.cpu()|m.to(c)|c.to(m)|m.double()|m.to("meta") is m|m.to("meta", copy=True) is m|m.item()|one.item()|m.tolist()|m.numpy()|m.numpy(force=True)|bool(one)|float(one)|int(one)|[0, 1][number]|one.__index__()|1 in one
repr(m)|str(m.t())|repr(m.clone().requires_grad_())|repr(m.clone().requires_grad_() * 2)|repr(nn.Parameter(m))|repr(T.empty(0, 2, device="meta"))|repr(T.empty(3, device="meta", dtype=T.int32))|format(T.ones((), device="meta"), ".2f")
m + c|c + m|m + 1|1 + m|m + T.tensor(1.0)|T.tensor(1.0) + m|m * T.ones(3)|T.cat([m, c])|T.cat([c, m])|T.stack([m, c])|T.where(c > 0, c, m)|m.copy_(c)|c.copy_(m)|m.add_(1)|m[0]|m[:, 1]|m[T.tensor([0])]|m[T.tensor([0], device="meta")]|m[m > 0]|m.nonzero()|T.unique(m)|m.masked_select(m > 0)
m.repeat_interleave(2)|m.repeat_interleave(T.tensor([1, 2], device="meta"), 0)|T.equal(m, m)|T.allclose(m, m)|m.all().item()|T.bincount(number[None])|m.normal_()|m.uniform_()|m.bernoulli_()|m.random_()|m.zero_()|F.dropout(m)|F.one_hot(number[None])|F.one_hot(number[None], 3)|F.embedding(number[None], m)|F.cross_entropy(m, T.zeros(2, dtype=T.int64, device="meta"))
F.conv2d(T.empty(1, 3, 8, 8, device="meta"), T.empty(4, 3, 3, 3, device="meta"), stride=2, padding=1)|F.scaled_dot_product_attention(m[None], m[None], m[None])|F.interpolate(T.empty(1, 3, 8, 8, device="meta"), scale_factor=2)|m.sort()|m.topk(1)|m @ m.t()|T.linalg.inv(T.empty(3, 3, device="meta"))|T.fft.fft(m)
m.pin_memory()|m.share_memory_()|copy.deepcopy(m)|pickle.loads(pickle.dumps(m.t()))|[x.shape for x in m]|m.__dlpack__()|m.view(7)|m.sum(5)|m[5]|T.testing.assert_close(m, m)|m.set_(m)|m.resize_(3, 3)'''.replace(chr(10), "|").split("|")]"""
PROGRAMS["modules without numbers"] = f"""{_META}
D = "meta"
made = [eval(text) for text in '''nn.Linear(3,4,device=D) nn.Bilinear(2,3,4,device=D) nn.LazyLinear(3,device=D) nn.Conv2d(2,3,2,device=D) nn.ConvTranspose1d(2,3,2,device=D) nn.LazyConv2d(2,2,device=D) nn.BatchNorm1d(3,device=D) nn.LazyBatchNorm1d(device=D) nn.InstanceNorm2d(3,affine=True,device=D) nn.LayerNorm(3,device=D) nn.RMSNorm(3,device=D) nn.GroupNorm(1,3,device=D) nn.PReLU(device=D) nn.LSTM(2,3,device=D) nn.RNNCell(2,3,device=D) nn.LSTMCell(2,3,device=D) nn.GRUCell(2,3,device=D) nn.Embedding(3,2,device=D) nn.EmbeddingBag(3,2,device=D) nn.MultiheadAttention(4,2,add_bias_kv=True,device=D) nn.MultiheadAttention(4,2,kdim=3,device=D) nn.Transformer(4,2,1,1,8,device=D) nn.AdaptiveLogSoftmaxWithLoss(4,6,[2],device=D) utils.skip_init(nn.Linear,2,3,device=D)'''.split()]
result = [[str(t.device) for t in (*m.parameters(), *m.buffers())] for m in made] + [str(nn.Transformer.generate_square_subsequent_mask(3, device=D).device)]
result += [shown(made[k](torch.empty(*size, device=D))) for k, size in ((0, (2, 3)), (3, (1, 2, 5, 5)), (6, (4, 3)), (9, (4, 3)), (11, (4, 3)), (13, (5, 2)), (15, (4, 2)))]
with torch.device("meta"): model = nn.Sequential(nn.Linear(3, 4), nn.BatchNorm1d(4)); result += [shown(model(torch.rand(2, 3))), torch.tensor(1.0).device.type]
w = model[0].weight; model.to_empty(device="cpu"); result += [model[0].weight is w, shown(model[0].weight), shown(model[1].running_mean)]
m = nn.Linear(2, 2); w = m.weight; m.to("meta"); result += [m.weight is w, shown(m.weight), shown(w)]
state, p = nn.Linear(2, 2).state_dict(), nn.Parameter(torch.ones(2))
def data(): p.data = torch.ones(2, device="meta")
def grad(): p.grad = torch.ones(2, device="meta")
result += [message(f) for f in (lambda: m.to("cpu"), lambda: m.cpu(), lambda: m.load_state_dict(state), data, grad, lambda: nn.Linear(2, 2).load_state_dict(m.state_dict()), lambda: utils.skip_init(dict), lambda: utils.skip_init(nn.ReLU))]
with warnings.catch_warnings(record=True) as said:
    warnings.simplefilter("always"); m.load_state_dict(state)
result += [str(one.message) for one in said] + [m.weight.device.type, str(m.load_state_dict(state, assign=True)), shown(m.weight), m.weight.data_ptr() == state["weight"].data_ptr()]
m = nn.Linear(3, 2, device="meta"); sgd, adam = optim.SGD(m.parameters(), lr=0.1, momentum=0.9), optim.Adam(m.parameters())
m(torch.ones(4, 3, device="meta")).sum().backward(); sgd.step(); adam.step(); result += [shown(m.weight.grad), shown(sgd.state[m.weight]["momentum_buffer"]), shown(torch.autograd.grad(m(torch.ones(4, 3, device="meta")).pow(2).sum(), [m.weight], create_graph=True)[0])]
result += [shown(f(m.weight)) for f in (nn.init.kaiming_normal_, nn.init.orthogonal_, nn.init.trunc_normal_, nn.init.eye_, nn.init.xavier_uniform_)]
torch.set_default_device("meta"); result.append(torch.ones(2).device.type); torch.set_default_device(None); result.append(torch.ones(2).device.type)"""
PROGRAMS["buffers"] = """import copy, pickle
class S(torch.Tensor): pass
def tell(function):
    try: return function()
    except Exception as error: return [type(error).__name__, str(error).replace("gradviz", "torch")]
x, b = torch.ones(2), nn.Buffer(torch.ones(2))
class M(nn.Module):
    def __init__(self): super().__init__(); self.b = nn.Buffer(torch.ones(2)); self.c = nn.Buffer(torch.zeros(1), persistent=False); self.d = torch.ones(1)
class Early(nn.Module):
    def __init__(self): self.b = nn.Buffer(torch.ones(1))
class Narrow(nn.Module):
    def register_buffer(self, name, tensor): super().register_buffer(name, tensor)
m = M()
def put(v, name="b", m=m):
    def run(): setattr(m, name, v); return [type(getattr(m, name)).__name__, [n for n, _ in m.named_buffers()], list(m.state_dict()), name in m.__dict__]
    return tell(run)
result = [type(b).__name__, repr(b), isinstance(b, nn.Buffer), isinstance(x, nn.Buffer), isinstance(b, nn.Parameter), b.persistent, isinstance(b * 2, nn.Buffer), isinstance(b.detach(), nn.Buffer), nn.Buffer(x).data_ptr() == x.data_ptr(), nn.Buffer(x) is x, type(nn.Buffer(nn.Parameter(x))).__name__, type(nn.Buffer(x.as_subclass(S))).__name__, isinstance(nn.UninitializedBuffer(), nn.Buffer), type(nn.Buffer).__name__,
    nn.Buffer(torch.ones(2, requires_grad=True)).requires_grad, tell(lambda: nn.Buffer([1.0])), tell(lambda: nn.Buffer(x, False)), list(nn.Buffer().shape), isinstance(copy.deepcopy(b), nn.Buffer), isinstance(pickle.loads(pickle.dumps(b)), nn.Buffer), isinstance(M().double().b, nn.Buffer)]
result += [put(torch.zeros(2)), put(None), put(3), put(nn.Buffer(x, persistent=False)), put(nn.Parameter(torch.ones(1))), put(nn.Buffer(x), "d"), tell(Early), put(nn.Buffer(x), "e", Narrow()), put(nn.Buffer(x, persistent=False), "f", Narrow())]"""
PROGRAMS["one element written several times with one value"] = """result = []
for write in (lambda x: x.masked_fill_(x < 1, torch.tensor(2.0)), lambda x: x.masked_fill_(x < 1, 2.0), lambda x: x.fill_(torch.tensor(2.0)), lambda x: x.index_fill_(0, torch.tensor([0]), torch.tensor(2.0)), lambda x: x.add_(1)):
    x = torch.zeros(3).unsqueeze(-1).expand(3, 2); result.append([message(lambda: write(x)), x.tolist(), x._version])"""
PROGRAMS["saved tensors are unpacked by their names"] = """result = []
ops = (lambda a, b, c: a * b, lambda a, b, c: a / b, torch.lerp, torch.addcmul, torch.addcdiv, lambda a, b, c: a ** b, lambda a, b, c: torch.atan2(a, b), lambda a, b, c: torch.where(a > 0, b, c), lambda a, b, c: torch.dot(a, b), lambda a, b, c: a[None] @ b[:, None], lambda a, b, c: torch.addmm(c[:1], a[None], b[:, None]), lambda a, b, c: torch.xlogy(a, b), lambda a, b, c: F.mse_loss(a, b), lambda a, b, c: torch.hypot(a, b), lambda a, b, c: torch.maximum(a, b), lambda a, b, c: F.conv1d(a[None, None], b[None, None]))
for op in ops:
    for idle in (False, True):
        log, start = [], torch.tensor([1.0, 3.0], requires_grad=True)
        a, b, c = start * 1, start * 2, start * 3
        with torch.autograd.graph.saved_tensors_hooks(lambda t: t, lambda t: (log.append(t.flatten()[0].item()), t)[1]): out = op(a, b, c)
        (out * 2).sum().backward(inputs=[out] if idle else None); result.append(log)"""
