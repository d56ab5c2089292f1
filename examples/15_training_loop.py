# %% [markdown] lang="en"
# # The training loop
#
# **Question.** Four lines make a training loop. Which orders of them work, what does an optimizer do with a
# gradient, and how do you
# split a batch without changing the result?

# %% [markdown] lang="zh"
# # 训练循环
#
# **问题**：训练循环就是四行代码。哪些顺序可行？优化器拿梯度做了什么？怎样拆分一批数据而不改变结果？

# %%
# %load_ext gradviz
import gradviz
import gradviz as torch
from gradviz import nn, teach

lesson = teach.Lesson("15", exercises=4)

# %% [markdown] lang="en"
# ## Four lines
#
# `zero_grad`, forward, `backward`, `step`. Predict for each order whether it trains as the usual one does
# (`True` or `False`).
#
# | order | lines of one round |
# |---|---|
# | A | `zero_grad`, forward, `backward`, `step` |
# | B | forward, `zero_grad`, `backward`, `step` |
# | C | forward, `backward`, `zero_grad`, `step` |
# | D | forward, `backward`, `step`, `zero_grad` |

# %% [markdown] lang="zh"
# ## 四行代码
#
# `zero_grad`、前向、`backward`、`step`。请预测每种顺序的训练效果是否与通常的一样（`True` 或 `False`）。
#
# | 顺序 | 一轮中的各行 |
# |---|---|
# | A | `zero_grad`，前向，`backward`，`step` |
# | B | 前向，`zero_grad`，`backward`，`step` |
# | C | 前向，`backward`，`zero_grad`，`step` |
# | D | 前向，`backward`，`step`，`zero_grad` |

# %%
guess_b = ...
guess_c = ...
guess_d = ...


# %%
def run(order, steps=20):
    w = torch.tensor(0.0, requires_grad=True)
    optimizer = torch.optim.SGD([w], lr=0.1)
    for _ in range(steps):
        for line in order:
            if line == "zero":
                optimizer.zero_grad()
            elif line == "forward":
                loss = (w - 3) ** 2
            elif line == "backward":
                loss.backward()
            else:
                optimizer.step()
    return w.item()


usual = run(["zero", "forward", "backward", "step"])
b_works = run(["forward", "zero", "backward", "step"]) == usual
c_works = run(["forward", "backward", "zero", "step"]) == usual
d_works = run(["forward", "backward", "step", "zero"]) == usual
lesson.compare(guess_b, b_works)
lesson.compare(guess_c, c_works)
lesson.compare(guess_d, d_works)

# %% [markdown] lang="en"
# Clearing may stand anywhere except between `backward` and `step`. Order C throws each gradient away and
# never says so.
#
# ## What an optimizer does
#
# SGD subtracts `lr * grad`. Momentum subtracts a running sum of gradients; Adam divides a running mean by the
# root of a running mean of
# squares. A consequence: predict the length of Adam's **first** step with `lr=0.1`, for a gradient of 1000,
# and for one of 0.001.

# %% [markdown] lang="zh"
# 清零放在哪里都行，唯独不能在 `backward` 与 `step` 之间。顺序 C 把每次的梯度都扔掉了，而且一声不吭。
#
# ## 优化器做了什么
#
# SGD 减去 `lr * grad`。动量法减去梯度的滚动累积；Adam 用梯度的滑动平均，除以梯度平方的滑动平均的平方根。由此有一个推论：
# `lr=0.1` 时，Adam 的**第一步**有多长？请对梯度为 1000 和 0.001 两种情况分别预测。

# %%
guess_huge = ...
guess_tiny = ...


# %%
def first_step(slope):
    w = torch.tensor(0.0, requires_grad=True)
    optimizer = torch.optim.Adam([w], lr=0.1)
    (w * slope).backward()
    optimizer.step()
    return abs(w.item())


lesson.compare(guess_huge, round(first_step(1000.0), 3))
lesson.compare(guess_tiny, round(first_step(0.001), 3))

# %% [markdown] lang="en"
# Here are three optimizers in a narrow valley, $x^2 + 25y^2$, with a scheduler that lowers the learning rate
# for the third. One click on
# the button is one more step of all three.

# %% [markdown] lang="zh"
# 下面是三个优化器在一条狭窄的山谷 $x^2 + 25y^2$ 里的表现，第三个还带有逐步降低学习率的调度器。点一次按钮，三个各走一步。

# %%
points = {
    name: torch.tensor([4.0, 1.0], requires_grad=True) for name in ("sgd", "momentum", "adam")
}
optimizers = {
    "sgd": torch.optim.SGD([points["sgd"]], lr=0.03),
    "momentum": torch.optim.SGD([points["momentum"]], lr=0.03, momentum=0.8),
    "adam": torch.optim.Adam([points["adam"]], lr=0.5),
}
scheduler = torch.optim.lr_scheduler.ExponentialLR(optimizers["adam"], gamma=0.97)


def one_step():
    losses = {}
    for name, point in points.items():
        loss = point[0] ** 2 + 25 * point[1] ** 2
        optimizers[name].zero_grad()
        loss.backward()
        optimizers[name].step()
        losses[name] = loss.item()
    scheduler.step()
    return losses


for _ in range(40):
    losses = one_step()
print(
    {name: f"{loss:.1e}" for name, loss in losses.items()}, f"lr {scheduler.get_last_lr()[0]:.3f}"
)

cockpit = gradviz.Cockpit(one_step)
cockpit.run(10)
cockpit

# %% [markdown] lang="en"
# ## A model that learns
#
# A line through noisy points, with modules, an optimizer and a graph that is drawn. `loss` of the last round
# is all that is left of
# 100 graphs; a log every ten epochs takes numbers (`item()`), never the tensor. The noise has a standard deviation of 0.1.
# Predict whether the squared error can fall below 0.005 (`True` or `False`).

# %% [markdown] lang="zh"
# ## 一个会学习的模型
#
# 用模块和优化器，给带噪声的点拟合一条直线，并把图画出来。100 张图里，只剩下最后一轮的 `loss`；每十轮打印一行日志，
# 记下的是数（`item()`），绝不是张量。噪声的标准差是 0.1。请预测平方误差能否降到 0.005 以下（`True` 或 `False`）。

# %%
guess_end = ...

# %%
torch.manual_seed(0)
x = torch.linspace(-1, 1, 50).reshape(-1, 1)
y = 2 * x + 1 + 0.1 * torch.randn(50, 1)
model = nn.Linear(1, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=0.3)

for epoch in range(1, 101):
    loss = nn.functional.mse_loss(model(x), y)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if epoch % 10 == 0:
        slope, offset = model.weight.item(), model.bias.item()
        print(f"epoch {epoch:3}  loss {loss.item():.4f}  slope {slope:.3f}  offset {offset:.3f}")
lesson.compare(guess_end, loss.item() < 0.005)
gradviz.show(loss)

# %% [markdown] lang="en"
# ## The same word, another step
#
# `weight_decay` means two things. `Adam` adds it to the gradient, which is then divided by its own size; `AdamW` shrinks
# the weight directly. `RMSprop` divides by a running root mean square that starts at zero. Predict the weight after
# one step from 1.0 with a rate of 0.1: for `Adam` and `AdamW` with a gradient of **0** and `weight_decay=0.1`, and for
# `RMSprop` with a gradient of 5 and `alpha=0.99`.

# %% [markdown] lang="zh"
# ## 同一个词，不同的一步
#
# `weight_decay` 有两种含义：`Adam` 把它加到梯度上，随后再除以梯度自身的大小；`AdamW` 则直接缩小权重。`RMSprop` 除以从零开始的
# 滑动均方根。权重从 1.0 出发，学习率 0.1，请预测走一步之后的值：`Adam` 与 `AdamW` 的梯度为 **0**、`weight_decay=0.1`；
# `RMSprop` 的梯度为 5、`alpha=0.99`。

# %%
guess_adam = ...
guess_adamw = ...
guess_rmsprop = ...


# %%
def stepped(make, *slopes):
    w = nn.Parameter(torch.tensor(1.0))
    optimizer = make([w])
    for slope in slopes:
        w.grad = torch.tensor(slope)
        optimizer.step()
    return round(w.item(), 4)


optim = torch.optim
adam = stepped(lambda p: optim.Adam(p, lr=0.1, weight_decay=0.1), 0.0)
adamw = stepped(lambda p: optim.AdamW(p, lr=0.1, weight_decay=0.1), 0.0)
rmsprop = stepped(lambda p: optim.RMSprop(p, lr=0.1, alpha=0.99), 5.0)
lesson.compare(guess_adam, adam)
lesson.compare(guess_adamw, adamw)
lesson.compare(guess_rmsprop, rmsprop)

# %% [markdown] lang="en"
# A pull of 0.1 becomes a full step of 0.1 in `Adam`, as any gradient does at first; `AdamW` takes 1 % off. The first step
# of `RMSprop` is ten times the rate, whatever the gradient: $g / \sqrt{0.01\,g^2}$. Nesterov looks ahead by one more
# push of the momentum; and schedulers only change `lr` between steps:

# %% [markdown] lang="zh"
# 在 `Adam` 里，0.1 的拉力变成了整整 0.1 的一步，起初任何梯度都是如此；`AdamW` 只减去 1 %。`RMSprop` 的第一步总是学习率的十倍，
# 与梯度无关：$g / \sqrt{0.01\,g^2}$。Nesterov 会借助动量再多看一步；调度器则只在各步之间改变 `lr`：

# %%
print("momentum", stepped(lambda p: optim.SGD(p, lr=0.1, momentum=0.9), 1.0, 1.0))
print("nesterov", stepped(lambda p: optim.SGD(p, lr=0.1, momentum=0.9, nesterov=True), 1.0, 1.0))
schedules = {
    "StepLR": lambda o: optim.lr_scheduler.StepLR(o, step_size=2, gamma=0.1),
    "ExponentialLR": lambda o: optim.lr_scheduler.ExponentialLR(o, gamma=0.5),
    "LambdaLR": lambda o: optim.lr_scheduler.LambdaLR(o, lambda n: 1 / (n + 1)),
    "CosineAnnealingLR": lambda o: optim.lr_scheduler.CosineAnnealingLR(o, T_max=4),
}
for name, make in schedules.items():
    optimizer = optim.SGD([nn.Parameter(torch.zeros(1))], lr=1.0)
    scheduler = make(optimizer)
    rates = []
    for _ in range(5):
        rates.append(round(optimizer.param_groups[0]["lr"], 4))
        optimizer.step()
        scheduler.step()
    print(f"{name:18}", rates)

try:
    optim.SGD([nn.Parameter(torch.ones(1)) * 2], lr=0.1)
except ValueError as error:
    print(error)

# %% [markdown] lang="en"
# ## Exercise 1
#
# Write SGD with momentum yourself: `step(parameters, velocities, lr, momentum)`. For each parameter
# $v \leftarrow \mu v + g$ and $p \leftarrow p - \eta v$, in place, not recorded. `velocities` is a list of
# tensors, one a parameter,
# zero at first. A parameter without a gradient is left alone.

# %% [markdown] lang="zh"
# ## 练习 1
#
# 自己写带动量的 SGD：`step(parameters, velocities, lr, momentum)`。对每个参数执行 $v \leftarrow \mu v + g$ 和
# $p \leftarrow p - \eta v$，就地修改，不被记录。`velocities` 是张量列表，每个参数对应一个，初值为零。没有梯度的参数不动。


# %% exercise=1
def step(parameters, velocities, lr, momentum):
    return ...


# %%
@lesson.check(1)
def check_sgd(want):
    torch.manual_seed(1)
    mine, theirs = nn.Linear(3, 1), nn.Linear(3, 1)
    theirs.load_state_dict(mine.state_dict())
    idle = nn.Parameter(torch.ones(2))
    parameters = [*mine.parameters(), idle]
    velocities = [torch.zeros_like(p) for p in parameters]
    optimizer = torch.optim.SGD(theirs.parameters(), lr=0.1, momentum=0.9)
    data = torch.randn(8, 3)
    for _ in range(5):
        for model in (mine, theirs):
            model.zero_grad()
            (model(data) ** 2).mean().backward()
        want.done(step(parameters, velocities, 0.1, 0.9))
        optimizer.step()
    want.value(mine.weight, theirs.weight.tolist())
    want.value(mine.bias, theirs.bias.tolist())
    want.value(idle, [1.0, 1.0])
    want.leaf(mine.weight)


# %% solution=1
def step(parameters, velocities, lr, momentum):
    with torch.no_grad():
        for p, v in zip(parameters, velocities, strict=True):
            if p.grad is not None:
                v.mul_(momentum).add_(p.grad)
                p -= lr * v


# %% wrong=1
def step(parameters, velocities, lr, momentum):
    with torch.no_grad():
        for p, v in zip(parameters, velocities, strict=True):
            if p.grad is not None:
                v = momentum * v + p.grad
                p -= lr * v


# %% wrong=1
def step(parameters, velocities, lr, momentum):
    with torch.no_grad():
        for p, v in zip(parameters, velocities, strict=True):
            v.mul_(momentum).add_(p.grad)
            p -= lr * v


# %% wrong=1
def step(parameters, velocities, lr, momentum):
    for p, v in zip(parameters, velocities, strict=True):
        if p.grad is not None:
            v.mul_(momentum).add_(p.grad)
            p -= lr * v


# %% [markdown] lang="en"
# ## Exercise 2
#
# Accumulate: `train_epoch(model, optimizer, batches, every)` makes one step for every `every` micro-batches,
# with the gradient of the **mean
# over all their samples**. Micro-batches may have different sizes, and the last group may be incomplete; it
# makes a step too. Each
# micro-batch is a pair `(x, y)`; the loss is the squared error.

# %% [markdown] lang="zh"
# ## 练习 2
#
# 梯度累积：`train_epoch(model, optimizer, batches, every)` 每 `every` 个小批量走一步，所用梯度对应**这些小批量全部样
# 本的平均**误差。
# 小批量的大小可以不同，最后一组可能凑不满，也要走一步。每个小批量是一对 `(x, y)`，损失是平方误差。


# %% exercise=2
def train_epoch(model, optimizer, batches, every):
    return ...


# %%
@lesson.check(2)
def check_epoch(want):
    data = torch.tensor([[1.0], [2.0], [3.0], [4.0], [5.0], [6.0], [7.0]])
    batches = [(part, 2 * part) for part in (data[:3], data[3:4], data[4:6], data[6:])]
    groups = [batches[:3], batches[3:]]
    mine, whole = nn.Linear(1, 1, bias=False), nn.Linear(1, 1, bias=False)
    for model in (mine, whole):
        nn.init.ones_(model.weight)
    optimizer = torch.optim.SGD(mine.parameters(), lr=0.01)
    steps = []
    optimizer.register_step_post_hook(lambda *_: steps.append(mine.weight.item()))
    want.done(train_epoch(mine, optimizer, batches, 3))
    reference = torch.optim.SGD(whole.parameters(), lr=0.01)
    for group in groups:
        x, y = (torch.cat([pair[i] for pair in group]) for i in (0, 1))
        reference.zero_grad()
        ((whole(x) - y) ** 2).mean().backward()
        reference.step()
    want.value(len(steps), 2)
    want.value(mine.weight, whole.weight.tolist())


# %% solution=2
def train_epoch(model, optimizer, batches, every):
    for start in range(0, len(batches), every):
        group = batches[start : start + every]
        count = sum(len(x) for x, _ in group)
        optimizer.zero_grad()
        for x, y in group:
            (((model(x) - y) ** 2).sum() / count).backward()
        optimizer.step()


# %% wrong=2
def train_epoch(model, optimizer, batches, every):
    for start in range(0, len(batches), every):
        group = batches[start : start + every]
        optimizer.zero_grad()
        for x, y in group:
            (((model(x) - y) ** 2).mean() / len(group)).backward()
        optimizer.step()


# %% wrong=2
def train_epoch(model, optimizer, batches, every):
    for number, (x, y) in enumerate(batches, start=1):
        (((model(x) - y) ** 2).mean() / every).backward()
        if number % every == 0:
            optimizer.step()
            optimizer.zero_grad()


# %% [markdown] lang="en"
# ## Exercise 3
#
# Write `groups(model)`: parameter groups for an optimizer, so that weight decay 0.1 applies to weight
# **matrices** only and not to biases or
# norms' scales (everything with fewer than two dimensions).

# %% [markdown] lang="zh"
# ## 练习 3
#
# 写出 `groups(model)`：为优化器准备参数组，使权重衰减 0.1 只作用于权重**矩阵**，不作用于偏置和归一化层的缩放（即维数
# 小于二的参数）。


# %% exercise=3
def groups(model):
    return ...


# %%
@lesson.check(3)
def check_groups(want):
    model = nn.Sequential(nn.Linear(2, 3), nn.LayerNorm(3), nn.Linear(3, 1))
    optimizer = torch.optim.SGD(groups(model), lr=1.0)
    for p in model.parameters():
        nn.init.ones_(p)
        p.grad = torch.zeros_like(p)
    optimizer.step()
    want.value(model[0].weight[0], [0.9, 0.9])
    want.value(model[2].weight[0], [0.9, 0.9, 0.9])
    want.value(model[0].bias, [1.0, 1.0, 1.0])
    want.value(model[1].weight, [1.0, 1.0, 1.0])
    want.value(sum(len(group["params"]) for group in optimizer.param_groups), 6)


# %% solution=3
def groups(model):
    matrices = [p for p in model.parameters() if p.dim() >= 2]
    others = [p for p in model.parameters() if p.dim() < 2]
    return [{"params": matrices, "weight_decay": 0.1}, {"params": others}]


# %% wrong=3
def groups(model):
    return [{"params": list(model.parameters()), "weight_decay": 0.1}]


# %% wrong=3
def groups(model):
    matrices = [p for p in model.parameters() if p.dim() >= 2]
    return [{"params": matrices, "weight_decay": 0.1}]


# %% [markdown] lang="en"
# ## Exercise 4: repair
#
# Training was interrupted and goes on from a checkpoint. The model is restored, yet the path is not the one
# it would have taken. Repair
# `save` and `resume`.

# %% [markdown] lang="zh"
# ## 练习 4：修复
#
# 训练中断后从检查点继续。模型恢复了，走的路却与不中断时不同。请修复 `save` 和 `resume`。


# %% exercise=4
import copy


def save(model, optimizer):
    return {"model": copy.deepcopy(model.state_dict())}


def resume(checkpoint, model, optimizer):
    model.load_state_dict(checkpoint["model"])


# %%
@lesson.check(4)
def check_resume(want):
    def fresh():
        torch.manual_seed(2)
        model = nn.Linear(2, 1)
        return model, torch.optim.Adam(model.parameters(), lr=0.1)

    def go(model, optimizer, rounds):
        for _ in range(rounds):
            optimizer.zero_grad()
            (model(torch.ones(1, 2)) ** 2).sum().backward()
            optimizer.step()

    straight = fresh()
    go(*straight, 10)
    first = fresh()
    go(*first, 5)
    checkpoint = save(*first)
    go(*first, 3)
    second = fresh()
    resume(checkpoint, *second)
    go(*second, 5)
    want.value(second[0].weight, straight[0].weight.tolist())
    want.value(second[0].bias, straight[0].bias.tolist())


# %% solution=4
import copy


def save(model, optimizer):
    states = {"model": model.state_dict(), "optimizer": optimizer.state_dict()}
    return copy.deepcopy(states)


def resume(checkpoint, model, optimizer):
    model.load_state_dict(checkpoint["model"])
    optimizer.load_state_dict(checkpoint["optimizer"])


# %% wrong=4
def save(model, optimizer):
    return {"model": model.state_dict(), "optimizer": optimizer.state_dict()}


def resume(checkpoint, model, optimizer):
    model.load_state_dict(checkpoint["model"])
    optimizer.load_state_dict(checkpoint["optimizer"])


# %% [markdown] lang="en"
# ## What stays
#
# - Clear anywhere but between `backward` and `step`.
# - Accumulating means adding. Divide by the number of all samples of the step.
# - An optimizer has a state. Save it with the model, and copy it: `state_dict()` shares the tensors.

# %% [markdown] lang="zh"
# ## 小结
#
# - 清零放哪里都行，唯独不能在 `backward` 与 `step` 之间。
# - 累积就是相加，要除以这一步的全部样本数。
# - 优化器有状态。要和模型一起保存，并且要复制：`state_dict()` 与模型共享张量。

# %%
lesson
