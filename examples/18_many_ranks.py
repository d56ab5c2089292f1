# %% [markdown] lang="en"
# # Many ranks: buckets and overlap
#
# **Question.** Several processes train one model, each on its own part of the data. What do they have to
# exchange, when, and why does it cost so little?

# %% [markdown] lang="zh"
# # 多进程：分桶与重叠
#
# **问题**：几个进程一起训练同一个模型，各自处理一部分数据。它们需要交换什么、何时交换？为什么代价这么小？

# %%
# %load_ext gradviz
import gradviz
import gradviz as torch
import gradviz.distributed as dist
from gradviz import nn, teach
from gradviz.nn.parallel import DistributedDataParallel

lesson = teach.Lesson("18", exercises=4)

# %% [markdown] lang="en"
# ## The arithmetic
#
# Data-parallel training rests on one sentence: the gradient of a mean is the mean of the gradients. Here are
# four "ranks" in one process, copies of one model.
# The batch of 8 is split into 4 parts of 2; each rank computes the gradient of its own mean loss; the
# gradients are averaged. Is the result the gradient of
# the whole batch? And if the parts are 5, 1, 1 and 1 samples? Predict `True` or `False`.

# %% [markdown] lang="zh"
# ## 算术
#
# 数据并行训练的依据只有一句话：平均值的梯度，等于梯度的平均值。下面在一个进程里模拟四个“进程”，它们是同一个模型的副
# 本。8 个样本分成 4 份，每份 2 个；
# 每个副本求自己那份平均损失的梯度，再把梯度取平均。结果是整批的梯度吗？如果四份分别是 5、1、1、1 个样本呢？请
# 填 `True` 或 `False`。

# %%
guess_equal_parts = ...
guess_unequal_parts = ...

# %%
import copy

torch.manual_seed(0)
model = nn.Linear(3, 1)
x, y = torch.randn(8, 3), torch.randn(8, 1)


def loss_of(model, x, y):
    return ((model(x) - y) ** 2).mean()


def mean_of_ranks(sizes):
    found = []
    for part_x, part_y in zip(x.split(sizes), y.split(sizes), strict=True):
        rank = copy.deepcopy(model)
        loss_of(rank, part_x, part_y).backward()
        found.append(rank.weight.grad)
    return torch.stack(found).mean(0)


(whole,) = torch.autograd.grad(loss_of(model, x, y), model.weight)
equal_parts = torch.allclose(mean_of_ranks([2, 2, 2, 2]), whole)
unequal_parts = torch.allclose(mean_of_ranks([5, 1, 1, 1]), whole)
lesson.compare(guess_equal_parts, equal_parts)
lesson.compare(guess_unequal_parts, unequal_parts)

# %% [markdown] lang="en"
# A mean of means is the mean only if all parts have the same size. (That is why samplers pad the last batch.)
#
# ## Buckets
#
# Sending each gradient by itself would be slow, waiting for all would waste time. `DistributedDataParallel`
# collects gradients in **buckets** and sends a bucket as
# soon as it is full, while backward goes on with earlier layers. Backward produces the **last** layer's
# gradients first, so buckets are filled in that order.
#
# We look at one process that is a group of its own: it does everything but wait for others. The model has 4
# layers of 64 × 64 numbers (16 kB each, and a
# small bias). Predict the number of buckets for a limit of 25 MB, of 0.001 MB, and of almost nothing. In
# which layer do the gradients of the first bucket lie: 0, 1,
# 2 or 3?

# %% [markdown] lang="zh"
# 只有各份大小相同时，“平均的平均”才是总平均。（所以采样器会补齐最后一批。）
#
# ## 分桶
#
# 每个梯度单独发送太慢，等全部到齐又浪费时间。`DistributedDataParallel` 把梯度收集到**桶**里，桶一满就发送，与此同时反
# 向传播继续处理更靠前的层。
# 反向传播先得到**最后**一层的梯度，所以桶也按这个顺序装满。
#
# 我们看一个自成一组的进程：除了等待别人，该做的它都做。模型有 4 层，每层 64 × 64 个数（各 16 kB，外加一个小小的偏
# 置）。请预测桶的容量上限为 25 MB、0.001 MB、
# 几乎为零时各有几个桶。第一个桶里的梯度属于哪一层：0、1、2 还是 3？

# %%
guess_large = ...
guess_medium = ...
guess_none = ...
guess_first_layer = ...

# %%
import os
import tempfile

if not dist.is_initialized():
    meeting = os.path.join(tempfile.mkdtemp(), "meeting")
    dist.init_process_group("gloo", init_method=f"file://{meeting}", rank=0, world_size=1)


def counted(ddp, sent):
    names = {id(p): name for name, p in ddp.module.named_parameters()}

    def hook(state, bucket):
        sent.append([names[id(p)] for p in bucket.parameters()])
        done = torch.futures.Future()
        done.set_result(bucket.buffer())
        return done

    ddp.register_comm_hook(None, hook)
    return ddp


def buckets(limit):
    sent = []
    layers = nn.Sequential(*[nn.Linear(64, 64) for _ in range(4)])
    ddp = counted(DistributedDataParallel(layers, bucket_cap_mb=limit), sent)
    for _ in range(2):
        sent.clear()
        ddp(torch.ones(2, 64)).sum().backward()
    return sent


first_bucket = buckets(0.001)[0]
lesson.compare(guess_large, len(buckets(25)))
lesson.compare(guess_medium, len(buckets(0.001)))
lesson.compare(guess_none, len(buckets(0.00001)))
lesson.compare(guess_first_layer, int(first_bucket[0][0]))
print(first_bucket)

# %% [markdown] lang="en"
# The limit is looked at *after* a gradient was put in: with 0.001 MB a weight fills a bucket by itself, and
# the small bias before it rides along. In the very first
# backward the order is only being learnt, and all travel together; from the second on the buckets are final.
#
# The timeline shows when each gradient came and when its bucket travelled. What lies beside backward costs nothing.

# %% [markdown] lang="zh"
# 上限是在放进一个梯度**之后**才检查的：上限 0.001 MB 时，一个权重就足以装满一个桶，在它之前到达的小偏置搭了便车。第一
# 次反向传播时顺序还在摸索，
# 所有梯度一起走；从第二次起，分桶才确定下来。
#
# 时间线显示每个梯度何时到达、所在的桶何时发送。与反向传播重叠的部分不花时间。

# %%
layers = nn.Sequential(*[nn.Linear(512, 512) for _ in range(5)])
ddp = DistributedDataParallel(layers, bucket_cap_mb=0.5)
for _ in range(3):
    ddp(torch.ones(256, 512)).sum().backward()
gradviz.RankTimeline(ddp)

# %% [markdown] lang="en"
# `gradviz launch -n 4 script.py` runs a script in four processes that really exchange; `gradviz.rank_report`
# lets each of them tell its timeline.
#
# ## Clip before or after?
#
# Two ranks have the gradients $(6, 0)$ and $(0, 2)$. Clipping to norm 1 can be done by each rank first, then
# the mean is taken; or after the mean. Predict both results as lists.

# %% [markdown] lang="zh"
# `gradviz launch -n 4 script.py` 会在四个真正互相通信的进程中运行脚本；`gradviz.rank_report` 让每个进程报告自己的时间线。
#
# ## 先裁剪还是后裁剪？
#
# 两个进程的梯度是 $(6, 0)$ 和 $(0, 2)$。可以各自先裁剪到范数 1 再取平均，也可以先取平均再裁剪。请预测两种结果，写成列表。

# %%
guess_clip_first = [..., ...]
guess_clip_last = [..., ...]


# %%
def clip(g):
    return g * min(1.0, 1.0 / g.norm().item())


a, b = torch.tensor([6.0, 0.0]), torch.tensor([0.0, 2.0])
clip_first = (clip(a) + clip(b)) / 2
clip_last = clip((a + b) / 2)
print([round(v, 4) for v in clip_last.tolist()])
lesson.compare(guess_clip_first, clip_first)
lesson.compare(guess_clip_last, [round(v, 4) for v in clip_last.tolist()])

# %% [markdown] lang="en"
# Clipping first turns the direction: each rank loses its own scale before they are weighed against each
# other. `DistributedDataParallel` averages inside `backward`, so
# clipping between `backward()` and `step()` is the right kind by itself.

# %% [markdown] lang="zh"
# 先裁剪会改变方向：各个进程在相互权衡之前，先丢掉了自己的尺度。`DistributedDataParallel` 在 `backward` 内部取平均，所
# 以在 `backward()` 与 `step()` 之间裁剪，
# 自然就是正确的那一种。

# %% [markdown] lang="en"
# ## What processes say to each other
#
# Averaging is built from three calls: `broadcast` (all get one's tensor), `all_reduce` (all get the sum), `all_gather`
# (all get everybody's). With `async_op=True` a call returns at once and gives something to wait for, so that backward
# can go on meanwhile. None of them is an operation of the graph: they write into the numbers. In a group of one the sum
# is one's own. `h` was saved by `exp` for backward, and an ordinary change in place would raise its version counter from 0
# to 1: predict the counter after an `all_reduce` of `h.detach()`, which shares its memory. Does `t` require grad afterwards?
# And since sending hangs on `backward()`: how many buckets does `torch.autograd.grad` on a DDP model send?

# %% [markdown] lang="zh"
# ## 进程之间说了什么
#
# 取平均由三种调用组成：`broadcast`（大家都得到某一方的张量）、`all_reduce`（大家都得到总和）、`all_gather`（大家都得到所有人的）。
# 加上 `async_op=True`，调用会立刻返回一个可等待的对象，反向传播可以同时继续。它们都不是计算图里的运算，而是直接改写数值。
# 自成一组时，总和就是自己的值。`exp` 为反向传播保存了 `h`，普通的原地修改会让它的版本计数从 0 变成 1：
# 对与它共享内存的 `h.detach()` 做一次 `all_reduce` 之后，请预测这个计数。另外，之后的 `t` 需要梯度吗？
# 发送是挂在 `backward()` 上的：对 DDP 模型调用 `torch.autograd.grad` 会发送几个桶？

# %%
guess_version = ...
guess_tracked = ...
guess_asked = ...

# %%
h = torch.tensor([1.0, 2.0], requires_grad=True).exp()
t = h.detach()
work = dist.all_reduce(t, async_op=True)
work.wait()
version = h._version
dist.broadcast(t, src=0)
everybody = [torch.zeros(2) for _ in range(dist.get_world_size())]
dist.all_gather(everybody, t)
print(torch.equal(everybody[0], t), work.is_completed())
lesson.compare(guess_version, version)
lesson.compare(guess_tracked, t.requires_grad)

sent = []
ddp = counted(DistributedDataParallel(nn.Linear(3, 1)), sent)
torch.autograd.grad(ddp(torch.ones(1, 3)).sum(), list(ddp.parameters()))
lesson.compare(guess_asked, len(sent))

# %% [markdown] lang="en"
# The version check of lesson 09 does not see what a collective wrote: reduce gradients and
# parameters, not what a graph still needs. And ranks that ask with `autograd.grad` have to average for themselves.

# %% [markdown] lang="zh"
# 第 09 课的版本检查看不到集合通信写入的内容：应当归约梯度和参数，而不是计算图还要用的张量。
# 用 `autograd.grad` 求梯度的各进程，要自己取平均。

# %% [markdown] lang="en"
# ## Exercise 1
#
# Be the all-reduce: `average(models)` gives every model of the list the mean gradient of all, in each
# parameter. A parameter without a gradient on some rank counts as zero
# there; if no rank has one, it stays `None`. Each model must own its gradient: they may not share memory.

# %% [markdown] lang="zh"
# ## 练习 1
#
# 扮演 all-reduce：`average(models)` 让列表中每个模型的每个参数都得到全体梯度的平均值。某个进程上没有梯度的参数，在那
# 里按零计；如果所有进程都没有，则保持 `None`。
# 每个模型要拥有自己的梯度，不能共享内存。


# %% exercise=1
def average(models):
    return ...


# %%
@lesson.check(1)
def check_average(want):
    models = [nn.ModuleDict({"a": nn.Linear(1, 1), "b": nn.Linear(1, 1)}) for _ in range(2)]
    models[0]["a"](torch.tensor([[2.0]])).sum().backward()
    models[1]["a"](torch.tensor([[4.0]])).sum().backward()
    models[1]["b"](torch.tensor([[4.0]])).sum().backward()
    models[1]["b"].bias.grad = None
    want.done(average(models))
    for one in models:
        want.grad(one["a"].weight, [[3.0]])
        want.grad(one["b"].weight, [[2.0]])
        want.grad(one["b"].bias, None)
    models[0].zero_grad(set_to_none=False)
    want.grad(models[1]["a"].weight, [[3.0]])


# %% solution=1
def average(models):
    for same in zip(*(one.parameters() for one in models), strict=True):
        grads = [p.grad for p in same]
        if all(g is None for g in grads):
            continue
        total = sum(g for g in grads if g is not None) / len(models)
        for p in same:
            p.grad = total.clone()


# %% wrong=1
def average(models):
    for same in zip(*(one.parameters() for one in models), strict=True):
        grads = [p.grad for p in same if p.grad is not None]
        if grads:
            mean = torch.stack(grads).mean(0)
            for p in same:
                p.grad = mean.clone()


# %% wrong=1
def average(models):
    for same in zip(*(one.parameters() for one in models), strict=True):
        grads = [p.grad if p.grad is not None else torch.zeros_like(p) for p in same]
        mean = torch.stack(grads).mean(0)
        for p in same:
            p.grad = mean


# %% [markdown] lang="en"
# ## Exercise 2
#
# Accumulate over micro-batches and exchange **once**: `accumulate(ddp, parts)` leaves the gradient of the
# mean over all parts (of equal size) and lets only the last backward
# send. Under `with ddp.no_sync():` gradients are only added locally.

# %% [markdown] lang="zh"
# ## 练习 2
#
# 在多个小批量上累积，只通信**一次**：`accumulate(ddp, parts)` 最后留下全部小批量（大小相同）平均值的梯度，并且只有最
# 后一次反向传播才发送。
# 在 `with ddp.no_sync():` 里，梯度只在本地累加。


# %% exercise=2
def accumulate(ddp, parts):
    return ...


# %%
@lesson.check(2)
def check_accumulate(want):
    sent = []
    ddp = counted(DistributedDataParallel(nn.Linear(3, 1)), sent)
    parts = x.split(2)
    want.done(accumulate(ddp, parts))
    want.value(ddp.module.weight.grad, [(2 * ddp.module(x).detach() * x).mean(0).tolist()])
    want.value(len(sent), 1)


# %% solution=2
def accumulate(ddp, parts):
    with ddp.no_sync():
        for part in parts[:-1]:
            ((ddp(part) ** 2).mean() / len(parts)).backward()
    ((ddp(parts[-1]) ** 2).mean() / len(parts)).backward()


# %% wrong=2
def accumulate(ddp, parts):
    for part in parts:
        ((ddp(part) ** 2).mean() / len(parts)).backward()


# %% wrong=2
def accumulate(ddp, parts):
    with ddp.no_sync():
        for part in parts:
            ((ddp(part) ** 2).mean() / len(parts)).backward()


# %% wrong=2
def accumulate(ddp, parts):
    with ddp.no_sync():
        for part in parts[:-1]:
            (ddp(part) ** 2).mean().backward()
    (ddp(parts[-1]) ** 2).mean().backward()


# %% [markdown] lang="en"
# ## Exercise 3
#
# A communication hook may send fewer bits. Write `half_hook(state, bucket)`: it turns the bucket's `buffer()`
# into `bfloat16` (what would be sent), back into `float32`,
# and returns a `torch.futures.Future` with that result.

# %% [markdown] lang="zh"
# ## 练习 3
#
# 通信钩子可以让发送的位数更少。写出 `half_hook(state, bucket)`：把桶的 `buffer()` 转成 `bfloat16`（即要发送的内容），
# 再转回 `float32`，
# 返回一个装着该结果的 `torch.futures.Future`。


# %% exercise=3
def half_hook(state, bucket):
    return ...


# %%
@lesson.check(3)
def check_half(want):
    class Bucket:
        def buffer(self):
            return torch.tensor([1.001, 257.0])

    want.done(half_hook(None, Bucket()))
    ddp = DistributedDataParallel(nn.Linear(1, 1, bias=False))
    ddp.register_comm_hook(None, half_hook)
    ddp(torch.tensor([[257.0]])).sum().backward()
    want.grad(ddp.module.weight, [[256.0]])
    want.that(ddp.module.weight.grad.dtype == torch.float32)


# %% solution=3
def half_hook(state, bucket):
    done = torch.futures.Future()
    done.set_result(bucket.buffer().bfloat16().float())
    return done


# %% wrong=3
def half_hook(state, bucket):
    done = torch.futures.Future()
    done.set_result(bucket.buffer())
    return done


# %% wrong=3
def half_hook(state, bucket):
    return bucket.buffer().bfloat16().float()


# %% [markdown] lang="en"
# ## Exercise 4: repair
#
# A mixture of experts uses one branch in each round. The second round stops with "Expected to have finished
# reduction": the bucket waits for a gradient that never
# comes. Repair `wrap`.
#
# <details><summary>Hint</summary>
#
# There is an option that looks, after each forward, which parameters the result depends on.
#
# </details>

# %% [markdown] lang="zh"
# ## 练习 4：修复
#
# 混合专家模型每一轮只用一个分支。第二轮报错 “Expected to have finished reduction”：桶在等一个永远不会来的梯度。请修复 `wrap`。
#
# <details><summary>提示</summary>
#
# 有一个选项，会在每次前向之后查看结果依赖于哪些参数。
#
# </details>


# %% exercise=4
def wrap(model):
    return DistributedDataParallel(model)


# %%
class Experts(nn.Module):
    def __init__(self):
        super().__init__()
        self.experts = nn.ModuleList([nn.Linear(2, 1), nn.Linear(2, 1)])

    def forward(self, x, choice):
        return self.experts[choice](x)


@lesson.check(4)
def check_experts(want):
    model = Experts()
    ddp = wrap(model)
    for choice in (0, 1, 0):
        model.zero_grad()
        ddp(torch.ones(1, 2), choice).sum().backward()
        want.grad(model.experts[choice].weight, [[1.0, 1.0]])
        want.grad(model.experts[1 - choice].weight, None)


# %% solution=4
def wrap(model):
    return DistributedDataParallel(model, find_unused_parameters=True)


# %% wrong=4
def wrap(model):
    return DistributedDataParallel(model, bucket_cap_mb=0.00001)


# %% [markdown] lang="en"
# ## What stays
#
# - Ranks exchange gradients, bucket by bucket, in the order in which backward produces them, while it goes on.
# - Means of equal parts only; clip after the exchange; accumulate under `no_sync`.
# - A branch that is not taken needs `find_unused_parameters=True`.

# %% [markdown] lang="zh"
# ## 小结
#
# - 各进程交换的是梯度：一桶一桶地，按反向传播产生的顺序，与反向传播同时进行。
# - 只有各份大小相同才能直接取平均；交换之后再裁剪；在 `no_sync` 下累积。
# - 有分支不走时，需要 `find_unused_parameters=True`。

# %%
lesson
