# %% [markdown] lang="en"
# # Batches, and where a step spends its time
#
# **Question.** What does a loader make of a data set, what does that do to the average of a loss, and which parts of a step
# does a profiler see?

# %% [markdown] lang="zh"
# # 批次，以及一步的时间花在哪里
#
# **问题**：加载器怎样处理一个数据集？这对损失的平均值有什么影响？性能分析器能看到一步中的哪些部分？

# %%
# %load_ext gradviz
import gradviz
import gradviz as torch
from gradviz import nn, teach
from gradviz.profiler import profile
from gradviz.utils.data import DataLoader, TensorDataset

lesson = teach.Lesson("22", exercises=3)

# %% [markdown] lang="en"
# ## The last batch is short
#
# Ten samples in batches of four. Predict how many batches there are, how many samples the last one has, and whether the
# mean of the batches' mean losses is the mean over all samples (`True` or `False`).

# %% [markdown] lang="zh"
# ## 最后一批不满
#
# 十个样本，每批四个。请预测一共有几批、最后一批有几个样本，以及各批平均损失的平均值是否等于全部样本的平均损失（`True` 或 `False`）。

# %%
guess_batches = ...
guess_last = ...
guess_same = ...

# %%
torch.manual_seed(0)
x = torch.arange(10.0).reshape(10, 1) / 10
y = x.squeeze(1) ** 2
data = TensorDataset(x, y)
model = nn.Linear(1, 1)


def loss_of(x, y):
    return ((model(x).squeeze(1) - y) ** 2).mean()


with torch.no_grad():
    losses = [loss_of(*batch).item() for batch in DataLoader(data, batch_size=4)]
    whole = loss_of(x, y).item()
sizes = [len(y) for _, y in DataLoader(data, batch_size=4)]
lesson.compare(guess_batches, len(sizes))
lesson.compare(guess_last, sizes[-1])
lesson.compare(guess_same, abs(sum(losses) / len(losses) - whole) < 1e-6)
print(f"mean of means {sum(losses) / len(losses):.4f}, mean of all {whole:.4f}")

# %% [markdown] lang="en"
# The two samples of the last batch count double. `drop_last=True` leaves it out, `shuffle=True` puts other samples into it each
# time; an evaluation weighs each batch by its size (exercise 1).
#
# ## What a profiler sees
#
# `profile` notes every operation of the forward pass and every node of the backward pass. The model below has two linear
# layers, so four parameters. How many times does `AddmmBackward0` run in one backward, how many times `AccumulateGrad`? And
# how many times if the first layer is frozen?

# %% [markdown] lang="zh"
# 最后一批的两个样本被算了双份。`drop_last=True` 会丢掉这一批，`shuffle=True` 每次让不同的样本落入其中；评估时，每一批应按它的大小加权（练习 1）。
#
# ## 性能分析器看到什么
#
# `profile` 记下前向的每个运算和反向的每个节点。下面的模型有两个线性层，也就是四个参数。一次反向传播中，`AddmmBackward0`
# 运行几次？`AccumulateGrad` 运行几次？如果冻结第一层，后者又是几次？

# %%
guess_addmm = ...
guess_leaves = ...
guess_frozen = ...

# %%
NODE = "autograd::engine::evaluate_function: "


def step():
    loss = (net(inputs) ** 2).mean()
    loss.backward()
    return loss


def nodes_of(prof):
    """How often each node of the backward pass ran."""
    found = {e.key: e.count for e in prof.key_averages() if e.key.startswith(NODE)}
    return {key.removeprefix(NODE).split("::")[-1]: found[key] for key in sorted(found)}


net, inputs = nn.Sequential(nn.Linear(3, 4), nn.ReLU(), nn.Linear(4, 1)), torch.randn(8, 3)
with profile() as prof:
    loss = step()
trained = nodes_of(prof)
net[0].requires_grad_(False)
with profile() as prof:
    step()
frozen = nodes_of(prof)
net[0].requires_grad_(True)
lesson.compare(guess_addmm, trained["AddmmBackward0"])
lesson.compare(guess_leaves, trained["AccumulateGrad"])
lesson.compare(guess_frozen, frozen["AccumulateGrad"])
print(trained)
print(frozen)

# %% [markdown] lang="en"
# Every node of the picture is a row of the profile. With the first layer frozen the sweep ends at the second: nothing below it
# needs a gradient.

# %% [markdown] lang="zh"
# 图里的每个节点都是性能表中的一行。冻结第一层后，反向传播到第二层为止：再往下没有谁需要梯度。

# %%
gradviz.show(loss)

# %% [markdown] lang="en"
# The times stand in the same table. They depend on the machine; the first run of a step is slower than the later ones, and on a
# GPU a time means something only after `torch.cuda.synchronize()`.

# %% [markdown] lang="zh"
# 时间也在同一张表里。它们取决于机器；一步的第一次运行比以后慢；在 GPU 上，只有在 `torch.cuda.synchronize()` 之后，时间才有意义。

# %%
longest = sorted(prof.key_averages(), key=lambda e: -e.cpu_time_total)[:4]
{e.key.removeprefix(NODE): f"{e.cpu_time_total:.0f} µs" for e in longest}

# %% [markdown] lang="en"
# ## Fewer readings, and the long tail
#
# `.item()` each step waits for the number each step. Detached losses can be stacked and read once. And one mean time
# hides the slow steps: look at the slowest too.

# %% [markdown] lang="zh"
# ## 少读几次，并看看长尾
#
# 每一步都 `.item()`，每一步就要等一次结果。可以把 detach 后的损失堆叠起来，一次读出。另外，平均时间会掩盖慢的步骤，也要看最慢的那一步。

# %%
import time

probe = nn.Linear(1, 1)
kept_losses, times = [], []
watched = gradviz.Cockpit()
for _ in range(20):
    began = time.perf_counter()
    step_loss = (probe(torch.ones(10, 1)) ** 2).mean()
    probe.zero_grad()
    step_loss.backward()
    kept_losses.append(step_loss.detach())
    times.append(time.perf_counter() - began)
    watched.log(samples_per_second=10 / times[-1], slowest_ms=max(times) * 1000)
read_once = torch.stack(kept_losses).tolist()
print(
    len(read_once), "losses in one reading; slowest above the mean:", max(times) > sum(times) / 20
)
watched

# %% [markdown] lang="en"
# ## Exercise 1
#
# Write `evaluate(loss_of, loader)`: the mean loss over all samples, whatever the batches' sizes, and with no graph
# kept. `loss_of(x, y)` is the mean of one batch.

# %% [markdown] lang="zh"
# ## 练习 1
#
# 写出 `evaluate(loss_of, loader)`：全部样本的平均损失，与各批大小无关，并且不留下计算图。`loss_of(x, y)` 是一批的平均损失。


# %% exercise=1
def evaluate(loss_of, loader):
    return ...


# %%
@lesson.check(1)
def check_evaluate(want):
    for size in (3, 4, 10):
        want.value(evaluate(loss_of, DataLoader(data, batch_size=size)), whole)
    found = evaluate(loss_of, DataLoader(data, batch_size=4))
    want.that(not getattr(found, "requires_grad", False))


# %% solution=1
def evaluate(loss_of, loader):
    total = count = 0
    with torch.no_grad():
        for x, y in loader:
            total += loss_of(x, y).item() * len(y)
            count += len(y)
    return total / count


# %% wrong=1
def evaluate(loss_of, loader):
    losses = [loss_of(x, y).item() for x, y in loader]
    return sum(losses) / len(losses)


# %% wrong=1
def evaluate(loss_of, loader):
    total = sum(loss_of(x, y) * len(y) for x, y in loader)
    return total / 10


# %% [markdown] lang="en"
# ## Exercise 2
#
# Write `leaves_that_learn(step)`: run `step()` under a profiler and return how many leaves received a gradient, a number.

# %% [markdown] lang="zh"
# ## 练习 2
#
# 写出 `leaves_that_learn(step)`：在性能分析器下运行 `step()`，返回有多少个叶子收到了梯度（一个数）。


# %% exercise=2
def leaves_that_learn(step):
    return ...


# %%
@lesson.check(2)
def check_leaves(want):
    want.value(leaves_that_learn(step), 4)
    net[2].requires_grad_(False)
    want.value(leaves_that_learn(step), 2)
    net[2].requires_grad_(True)
    want.value(leaves_that_learn(lambda: inputs.sum()), 0)


# %% solution=2
def leaves_that_learn(step):
    with profile() as prof:
        step()
    return nodes_of(prof).get("AccumulateGrad", 0)


# %% wrong=2
def leaves_that_learn(step):
    step()
    return sum(p.grad is not None for p in net.parameters())


# %% wrong=2
def leaves_that_learn(step):
    with profile() as prof:
        step()
    return nodes_of(prof).get("AddmmBackward0", 0) * 2


# %% [markdown] lang="en"
# ## Exercise 3: repair
#
# `Squares` is a data set of one's own: `n` pairs, a number and its square. This one has two faults: its samples ask for
# gradients, so every batch drags a graph along that nobody needs, and its last pair never comes. Repair it; a sample
# is two plain tensors.

# %% [markdown] lang="zh"
# ## 练习 3：修复
#
# `Squares` 是自己写的数据集：`n` 对数，每对是一个数和它的平方。它有两处毛病：样本要求梯度，于是每一批都拖着一张没人需要的
# 图；而且最后一对永远取不到。请修复它；一个样本是两个普通的张量。


# %% exercise=3
class Squares(torch.utils.data.Dataset):
    def __init__(self, n):
        self.numbers = torch.arange(float(n), requires_grad=True)

    def __len__(self):
        return len(self.numbers) - 1

    def __getitem__(self, k):
        return self.numbers[k], self.numbers[k] ** 2


# %%
@lesson.check(3)
def check_squares(want):
    numbers, squares = next(iter(DataLoader(Squares(5), batch_size=5)))
    want.value(numbers, [0.0, 1.0, 2.0, 3.0, 4.0])
    want.value(squares, [0.0, 1.0, 4.0, 9.0, 16.0])
    want.untracked(numbers)
    want.untracked(squares)


# %% solution=3
class Squares(torch.utils.data.Dataset):
    def __init__(self, n):
        self.numbers = torch.arange(float(n))

    def __len__(self):
        return len(self.numbers)

    def __getitem__(self, k):
        return self.numbers[k], self.numbers[k] ** 2


# %% wrong=3
class Squares(torch.utils.data.Dataset):
    def __init__(self, n):
        self.numbers = torch.arange(float(n), requires_grad=True)

    def __len__(self):
        return len(self.numbers)

    def __getitem__(self, k):
        return self.numbers[k].detach(), self.numbers[k] ** 2


# %% wrong=3
class Squares(torch.utils.data.Dataset):
    def __init__(self, n):
        self.numbers = torch.arange(float(n))

    def __len__(self):
        return len(self.numbers) - 1

    def __getitem__(self, k):
        return self.numbers[k], self.numbers[k] ** 2


# %% [markdown] lang="en"
# ## What stays
#
# - A mean of batch means is the mean of all samples only when the batches are equal.
# - A profile has one row for each kind of node; what is frozen is missing from it.
# - Data needs no gradient: keep it out of the graph where it is made.

# %% [markdown] lang="zh"
# ## 小结
#
# - 只有各批一样大时，各批平均值的平均才等于全部样本的平均。
# - 性能表中每种节点一行；被冻结的部分不在其中。
# - 数据不需要梯度：在产生它的地方就不要让它进入计算图。

# %%
lesson
