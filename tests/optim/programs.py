"""Optimizers and schedules as programs that both engines run."""

# ruff: noqa: E501 (the programs are lists of text)

PROGRAMS = {}

_TRAIN = """m = nn.Linear(3, 4, bias=False); x = torch.randn(6, 3); o = optim.{cls}(m.parameters(){options})
def closure():
    o.zero_grad(); loss = ((m(x) - 1) ** 2).mean(); loss.backward(); return loss
losses = [o.step(closure).item() for _ in range(6)]
state = o.state_dict()
own = state["state"].get(0, {{}})
result = [summary(m.weight), losses, sorted(k for k in own if k != "al"), {{k: v for k, v in state["param_groups"][0].items() if k != "params"}},
    [own[k].item() for k in ("step",) if k in own], repr(o), m.weight._version if "{cls}" in ("SGD", "Adam", "AdamW") else 0]
n = nn.Linear(3, 4, bias=False); n.load_state_dict(m.state_dict()); p = optim.{cls}(n.parameters(){options}); p.load_state_dict(state)
m, o = n, p; o.step(closure); result.append(summary(m.weight))"""

for _cls, _all in {
    "SGD": [
        "",
        ", lr=0.1, momentum=0.9",
        ", lr=0.1, momentum=0.9, nesterov=True, weight_decay=0.1",
        ", lr=0.1, momentum=0.5, dampening=0.1, maximize=True",
    ],
    "Adam": [
        "",
        ", lr=0.1, amsgrad=True",
        ", weight_decay=0.1, maximize=True",
        ", lr=torch.tensor(0.01)",
    ],
    "AdamW": ["", ", lr=0.1, weight_decay=0.5"],
    "RMSprop": ["", ", momentum=0.5, centered=True", ", weight_decay=0.1"],
    "Adagrad": ["", ", lr_decay=0.1, initial_accumulator_value=0.1"],
    "Adadelta": ["", ", weight_decay=0.1"],
    "Adamax": [""],
    "NAdam": ["", ", weight_decay=0.1, decoupled_weight_decay=True"],
    "RAdam": ["", ", weight_decay=0.1, decoupled_weight_decay=True"],
    "ASGD": ["", ", t0=2"],
    "Rprop": [""],
    "Adafactor": [""],
    "Muon": ["", ", adjust_lr_fn='match_rms_adamw', nesterov=False"],
}.items():
    for _options in _all:
        PROGRAMS[f"{_cls}({_options[2:]})"] = _TRAIN.format(cls=_cls, options=_options)

for _line_search in ("None", "'strong_wolfe'"):
    PROGRAMS[
        f"LBFGS line_search_fn={_line_search}"
    ] = f"""w = nn.Parameter(torch.tensor([-1.2, 1.0], dtype=torch.float64))
o = optim.LBFGS([w], lr=0.5, max_iter=10, line_search_fn={_line_search})
def closure():
    o.zero_grad(); loss = (1 - w[0]) ** 2 + 5 * (w[1] - w[0] ** 2) ** 2; loss.backward(); return loss
losses = [o.step(closure).item() for _ in range(3)]
result = [w.tolist(), losses, o.state_dict()["state"][0]["func_evals"], o.state_dict()["state"][0]["n_iter"]]"""

_FOLLOW = """p = nn.Parameter(torch.ones(1)); o = optim.SGD([p], lr=0.5, momentum=0.9); s = {made}
seen = []
for _ in range(9):
    seen.append([s.get_last_lr()[0], o.param_groups[0]["momentum"]]); o.step(); s.step()
result = [seen, sorted(s.state_dict())]"""

for _made in (
    "schedules.StepLR(o, 2)", "schedules.MultiStepLR(o, [2, 4, 4])", "schedules.ConstantLR(o)", "schedules.LinearLR(o)",
    "schedules.ExponentialLR(o, 0.5)", "schedules.PolynomialLR(o, power=2)", "schedules.CosineAnnealingLR(o, 3)",
    "schedules.CosineAnnealingWarmRestarts(o, 2, 2)", "schedules.LambdaLR(o, lambda e: 1 / (e + 1))",
    "schedules.MultiplicativeLR(o, lambda e: 0.9)", "schedules.OneCycleLR(o, 1.0, total_steps=10)",
    "schedules.OneCycleLR(o, 1.0, epochs=2, steps_per_epoch=5, three_phase=True, anneal_strategy='linear')",
    "swa.SWALR(o, 0.05, 3)",
    "schedules.ChainedScheduler([schedules.ConstantLR(o, 0.1, 2), schedules.ExponentialLR(o, 0.9)])",
    "schedules.SequentialLR(o, [schedules.ConstantLR(o, 0.1, 2), schedules.ExponentialLR(o, 0.9)], [3])",
):  # fmt: skip
    PROGRAMS[_made] = _FOLLOW.format(made=_made)
PROGRAMS["CyclicLR"] = """result = []
for kw in (dict(mode="triangular2"), dict(mode="exp_range", gamma=0.9, step_size_down=3), dict(scale_fn=lambda x: 0.5)):
    o = optim.SGD([nn.Parameter(torch.ones(1))], lr=0.5, momentum=0.9)
    s = schedules.CyclicLR(o, 0.1, 1.0, step_size_up=2, **kw)
    for _ in range(9):
        result.append([s.get_last_lr()[0], o.param_groups[0]["momentum"]]); o.step(); s.step()"""
PROGRAMS[
    "ReduceLROnPlateau"
] = """o = optim.SGD([nn.Parameter(torch.ones(1))], lr=0.5); s = schedules.ReduceLROnPlateau(o, patience=1, cooldown=1)
result = []
for m in [1, 0.9, 0.9, 0.9, 0.9, 0.9, 0.9, 0.8, 0.9, 0.9, 0.9]:
    s.step(m); result.append(o.param_groups[0]["lr"])"""
PROGRAMS[
    "averages"
] = """m = nn.Sequential(nn.Linear(2, 2)); a = swa.AveragedModel(m); e = swa.AveragedModel(m, multi_avg_fn=swa.get_ema_multi_avg_fn(0.9))
for i in range(3):
    with torch.no_grad():
        m[0].weight.fill_(i + 1.0)
    a.update_parameters(m); e.update_parameters(m)
result = [summary(a.module[0].weight), summary(e.module[0].weight), a.n_averaged.item()]"""
PROGRAMS["groups"] = """a, b = nn.Parameter(torch.ones(1)), nn.Parameter(torch.ones(1))
o = optim.SGD([{"params": [a], "lr": 0.5}, {"params": b}], lr=0.1); (a + b).sum().backward(); o.step()
o.add_param_group({"params": [nn.Parameter(torch.ones(1))], "momentum": 0.5})
result = [a.item(), b.item(), repr(o), o.state_dict()["param_groups"], message(lambda: o.add_param_group({"params": [a]})),
    message(lambda: o.load_state_dict(optim.SGD([a], lr=1).state_dict())), message(lambda: o.add_param_group([a]))]"""
PROGRAMS["hooks"] = """p = nn.Parameter(torch.ones(1)); o = optim.SGD([p], lr=0.1); seen = []
o.register_step_pre_hook(lambda o, a, k: seen.append("pre")); h = o.register_step_post_hook(lambda o, a, k: seen.append("post"))
p.sum().backward(); o.step(); h.remove(); o.step(); result = [seen, p.item()]"""
PROGRAMS["named"] = """m = nn.Linear(1, 1); o = optim.SGD(m.named_parameters(), lr=0.1)
result = [o.state_dict()["param_groups"], message(lambda: o.add_param_group({"params": [nn.Parameter(torch.ones(1))]}))]"""
PROGRAMS["warnings"] = """import warnings
with warnings.catch_warnings(record=True) as seen:
    warnings.simplefilter("always")
    o = optim.SGD([nn.Parameter(torch.ones(1))], lr=0.5); s = schedules.StepLR(o, 1); s.step(); s.get_lr(); s.step(3)
    p = nn.Parameter(torch.ones(1)); optim.SGD([p, p], lr=0.1)
result = [str(w.message) for w in seen]"""

_DIFFERENTIABLE = """w = torch.randn(4, dtype=torch.float64).requires_grad_(); p = w.clone(); lr = torch.tensor(0.1, dtype=torch.float64)
o = optim.{cls}([p]{options}, differentiable=True); grads = []
for _ in range({steps}):
    g = torch.randn(4, dtype=torch.float64).requires_grad_(); grads.append(g); p.grad = g * 1.0; o.step()
result = [None if d is None else d.tolist() for d in torch.autograd.grad((p ** 2).sum(), [w, *grads], allow_unused=True)] + [p.tolist()]"""
for _cls, _options, _steps in (
    ("SGD", ", lr=0.1, momentum=0.9, nesterov=True, weight_decay=0.1", 5),
    ("Adam", ", amsgrad=True, weight_decay=0.1", 1),
    ("AdamW", ", maximize=True", 5),
    ("Adamax", "", 1),
    ("NAdam", ", weight_decay=0.1, decoupled_weight_decay=True", 5),
    ("RAdam", "", 7),
    ("RMSprop", ", momentum=0.5, centered=True", 1),
    ("Adagrad", ", lr_decay=0.1", 5),
    ("Adadelta", "", 5),
    ("ASGD", "", 5),
    ("Rprop", "", 1),
):
    PROGRAMS[f"differentiable {_cls}"] = _DIFFERENTIABLE.format(
        cls=_cls, options=_options, steps=_steps
    )
PROGRAMS["differentiable misuse"] = """w = torch.ones(2, requires_grad=True); w.grad = torch.ones(2)
result = [message(optim.SGD([w], lr=0.1, differentiable=True).step), message(lambda: optim.Adam([w], fused=True, differentiable=True)),
    message(lambda: optim.SGD([w], fused=True, differentiable=True)), message(lambda: optim.Adam([w], lr=torch.tensor(0.1), foreach=True))]"""
PROGRAMS["names of schedules in errors"] = """o = optim.SGD([nn.Parameter(torch.ones(1))], lr=0.5)
result = [message(lambda: schedules.SequentialLR(o, [], [])), message(lambda: schedules.ChainedScheduler([])), message(lambda: swa.SWALR(o, 0.1, anneal_strategy="x"))]"""
PROGRAMS["short dtypes"] = """result = []
for cls, options in (("SGD", dict(lr=0.1, momentum=0.9, nesterov=True, weight_decay=0.1)), ("Adam", {}), ("Adafactor", {}), ("RMSprop", {})):
    p = nn.Parameter(torch.randn(3, 2).bfloat16()); o = getattr(optim, cls)([p], **options)
    for _ in range(3):
        p.grad = torch.randn(3, 2).bfloat16(); o.step()
    result.append({k: str(v.dtype) for k, v in o.state[p].items()})"""

# what options each optimizer takes together
for _cls in (
    "SGD",
    "Adam",
    "AdamW",
    "Adamax",
    "NAdam",
    "RAdam",
    "RMSprop",
    "Rprop",
    "Adagrad",
    "Adadelta",
    "ASGD",
):
    for _options in (
        "foreach=True, differentiable=True",
        "foreach=True, fused=True",
        "fused=True, differentiable=True",
        "fused=True",
    ):
        PROGRAMS[
            f"{_cls} with {_options}"
        ] = f"""w = torch.ones(2, requires_grad=True); result = "taken"
try:
    o = optim.{_cls}([w], lr=0.1, {_options}); (w * w).sum().backward(); o.step()
except Exception as error:
    result = [type(error).__name__, str(error)]"""
