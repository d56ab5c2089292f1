# %% [markdown] lang="en"
# # Checkpointing and the memory ledger
#
# **Question.** Most of the memory of a training step is what the graph has saved. What if it saved less and
# computed some things twice?

# %% [markdown] lang="zh"
# # 激活检查点与内存账本
#
# **问题**：训练一步所用的内存，大头是计算图保存的东西。如果少存一些、有些东西算两遍，会怎样？

# %%
# %load_ext gradviz
import gradviz
import gradviz as torch
from gradviz import nn, teach
from gradviz.utils.checkpoint import checkpoint

lesson = teach.Lesson("17", exercises=3)

# %% [markdown] lang="en"
# ## Where the bytes are
#
# Six blocks, each with two linear layers and two `tanh`. The ledger measures one training step: parameters,
# gradients, optimizer state, and what
# is saved for backward, over time. It also tells what checkpointing each part would have saved.

# %% [markdown] lang="zh"
# ## 字节都在哪里
#
# 六个块，每块有两个线性层和两个 `tanh`。账本测量训练的一步：参数、梯度、优化器状态，以及为反向传播保存的东西，随时间如何变化。
# 它还会告诉你，对每一部分使用检查点本可以省下多少。

# %%
torch.manual_seed(0)


def block():
    return nn.Sequential(nn.Linear(32, 32), nn.Tanh(), nn.Linear(32, 32), nn.Tanh())


blocks = nn.ModuleList([block() for _ in range(6)])
optimizer = torch.optim.Adam(blocks.parameters())
x = torch.randn(128, 32)


def plain(x):
    for one in blocks:
        x = one(x)
    return x.sum()


ledger = gradviz.MemoryLedger()
with ledger.measure(blocks, optimizer):
    plain(x).backward()
    optimizer.step()
ledger

# %% [markdown] lang="en"
# The hill is highest when forward ends and backward begins, and it melts as backward frees node by node.
#
# ## Save the input only
#
# `checkpoint(one, x, use_reentrant=False)` runs a block **without keeping** what its nodes save. It keeps the
# block's input. When backward arrives, it
# runs the block again, takes what it needs, and goes on. `plain` saves 35 tensors. Predict for the
# checkpointed version: how many tensors are
# saved, how often each block has run after backward, and whether the gradients are equal (`True` or `False`).

# %% [markdown] lang="zh"
# 前向结束、反向开始时，山最高；随着反向逐个节点地释放，它慢慢融化。
#
# ## 只存输入
#
# `checkpoint(one, x, use_reentrant=False)` 运行一个块，但**不留下**其中各节点要保存的东西，只留下这个块的输入。等反向
# 传播到来时，它把这个块
# 再运行一遍，取出所需，再继续。`plain` 保存了 35 个张量。请预测使用检查点的版本：保存多少个张量？反向之后每个块运行了
# 几次？梯度是否相等（`True` 或 `False`）？

# %%
guess_saved = ...
guess_runs = ...
guess_equal = ...


# %%
def thrifty(x):
    for one in blocks:
        x = checkpoint(one, x, use_reentrant=False)
    return x.sum()


def saved_by(function):
    sizes = []

    def pack(tensor):
        sizes.append(tensor.numel() * tensor.element_size())
        return tensor

    with torch.autograd.graph.saved_tensors_hooks(pack, lambda tensor: tensor):
        function()
    return len(sizes), sum(sizes)


print("plain", saved_by(lambda: plain(x)), " checkpointed", saved_by(lambda: thrifty(x)))

runs = []
handle = blocks[0].register_forward_pre_hook(lambda *_: runs.append(1))
gradients = []
for function in (plain, thrifty):
    blocks.zero_grad()
    runs.clear()
    function(x).backward()
    gradients.append([p.grad.clone() for p in blocks.parameters()])
handle.remove()

lesson.compare(guess_saved, saved_by(lambda: thrifty(x))[0])
lesson.compare(guess_runs, len(runs))
lesson.compare(guess_equal, all(torch.equal(a, b) for a, b in zip(*gradients, strict=True)))

# %% [markdown] lang="en"
# One tensor a block is saved, its input; the price is one more forward. Now the picture: with checkpointing
# every node is still there, but the
# orange squares are place-holders that hold nothing before backward.

# %% [markdown] lang="zh"
# 每块只保存一个张量，即它的输入；代价是多做一次前向。看图：使用检查点之后，节点一个不少，但橙色方块只是占位符，反向之
# 前里面什么都没有。

# %%
shown = checkpoint(blocks[0], x, use_reentrant=False).sum()
gradviz.show(shown)

# %% [markdown] lang="en"
# ## What happens twice
#
# "Running again" means running your Python again. Predict: how many lines will the list have when the block
# notes each of its runs? And is the dropout
# mask of the second run the same as that of the first (otherwise the gradient would be wrong)?

# %% [markdown] lang="zh"
# ## 什么会发生两次
#
# “再运行一遍”指的是再运行一遍你的 Python 代码。请预测：如果块每运行一次就记一笔，列表里会有几条？第二次运行
# 的 dropout 掩码与第一次相同吗
# （不同的话梯度就错了）？

# %%
guess_lines = ...
guess_same_mask = ...

# %%
lines, masks = [], []


def noisy(h):
    lines.append("ran")
    dropped = nn.functional.dropout(h, 0.5)
    masks.append((dropped != 0).detach())
    return dropped * 2


h = torch.ones(10, requires_grad=True)
checkpoint(noisy, h, use_reentrant=False).sum().backward()
lesson.compare(guess_lines, len(lines))
same_mask = torch.equal(masks[0], h.grad != 0)
lesson.compare(guess_same_mask, same_mask)

# %% [markdown] lang="en"
# The state of torch's random generators is kept and put back for the second run. Other sources of chance are
# not: `random`, NumPy, the clock. And counters,
# logs and running statistics count twice. (The second run stops as soon as it has everything that backward
# needs, so lines at the end of a block may run
# only once. Do not build on it.)

# %% [markdown] lang="zh"
# torch 随机数发生器的状态会被保存，并在第二次运行时还原。其他随机来源则不会：`random`、NumPy、时钟。计数器、日志和滑
# 动统计量也会被算两次。
# （第二次运行一旦凑齐反向所需的东西就会停下，所以块末尾的几行可能只运行一次。不要依赖这一点。）

# %% [markdown] lang="en"
# ## Paid for without need
#
# Before computing anything twice, look for what nobody asked for. A `Linear` saves what its two derivatives need: the
# input for the weight's, the weight for the **input's**. Predict how many tensors it saves when the input is plain data,
# and when somebody has written `requires_grad=True` on it. And a `retain_grad()` on a result: how many gradients
# are kept after backward that would otherwise be gone?

# %% [markdown] lang="zh"
# ## 白白付出的内存
#
# 在重复计算之前，先找找没有人需要的东西。`Linear` 会保存它的两个导数所需的东西：求权重的梯度要用输入，求**输入**的梯度要用权重。
# 请预测：输入是普通数据时它保存几个张量？有人给输入写了 `requires_grad=True` 时又是几个？
# 另外，对结果调用 `retain_grad()`，反向之后会多留下几个本来会消失的梯度？

# %%
guess_plain_input = ...
guess_tracked_input = ...
guess_kept_gradients = ...

# %%
layer = nn.Linear(8, 8)
data = torch.ones(4, 8)
wanted = torch.ones(4, 8, requires_grad=True)
lesson.compare(guess_plain_input, saved_by(lambda: layer(data))[0])
lesson.compare(guess_tracked_input, saved_by(lambda: layer(wanted))[0])

hidden, other = layer(data), layer(data)
hidden.retain_grad()
(hidden * other).sum().backward()
kept = [one for one in (hidden, other) if one.retains_grad and one.grad is not None]
lesson.compare(guess_kept_gradients, len(kept))
print(saved_by(lambda: layer(data.clone())), data.clone().data_ptr() == data.data_ptr())

# %% [markdown] lang="en"
# ## The older way
#
# `use_reentrant=True` runs the block under `no_grad` and starts a backward inside the backward. It needs a tracked
# **input**: parameters alone do not make its result tracked.

# %% [markdown] lang="zh"
# ## 旧的做法
#
# `use_reentrant=True` 在 `no_grad` 下运行这个块，并在反向传播里再启动一次反向传播。它需要一个被跟踪的**输入**：
# 只有参数被跟踪，结果不会被跟踪。

# %%
import warnings

for tracked in (False, True):
    given = torch.ones(2, 8, requires_grad=tracked)
    for reentrant in (True, False):
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            found = checkpoint(layer, given, use_reentrant=reentrant)
        print("input tracked", tracked, "| reentrant", reentrant, "| result", found.requires_grad)
        for warning in caught:
            print("  ", str(warning.message).split(".")[0])

# %% [markdown] lang="en"
# ## Exercise 1
#
# Checkpoint longer pieces: `segments(blocks, x, size)` runs the blocks in order, with one checkpoint for
# every `size` blocks. Fewer inputs are saved; more
# is alive while one piece is computed again. (With $n$ blocks, pieces of about $\sqrt n$ balance the two.)

# %% [markdown] lang="zh"
# ## 练习 1
#
# 给更长的片段加检查点：`segments(blocks, x, size)` 依次运行各块，每 `size` 个块使用一个检查点。这样保存的输入更少，而
# 重算一段时同时活着的东西更多。
# （有 $n$ 个块时，每段约 $\sqrt n$ 个块能使两者平衡。）


# %% exercise=1
def segments(blocks, x, size):
    return ...


# %%
@lesson.check(1)
def check_segments(want):
    made = []
    count, _ = saved_by(lambda: made.append(segments(blocks, x, 3)))
    want.value(count, 2)
    want.value(made[0], blocks_applied(x).tolist())
    blocks.zero_grad()
    segments(blocks, x, 4).sum().backward()
    want.that(torch.allclose(blocks[0][0].weight.grad, gradients[0][0], atol=1e-5))
    want.value(saved_by(lambda: segments(blocks, x, 4))[0], 2)


def blocks_applied(x):
    with torch.no_grad():
        for one in blocks:
            x = one(x)
    return x


# %% solution=1
def segments(blocks, x, size):
    blocks = list(blocks)
    for start in range(0, len(blocks), size):
        piece = nn.Sequential(*blocks[start : start + size])
        x = checkpoint(piece, x, use_reentrant=False)
    return x


# %% wrong=1
def segments(blocks, x, size):
    for one in blocks:
        x = checkpoint(one, x, use_reentrant=False)
    return x


# %% wrong=1
def segments(blocks, x, size):
    for start in range(0, len(blocks) - size, size):
        piece = nn.Sequential(*list(blocks)[start : start + size])
        x = checkpoint(piece, x, use_reentrant=False)
    return x


# %% [markdown] lang="en"
# ## Exercise 2
#
# Another way to pay less: save in half the bits. Write `thrifty_hooks()`: a context in which `float32`
# tensors of more than 1000 entries are saved as
# `bfloat16` and come back as `float32`; smaller ones stay exact.
#
# <details><summary>Hint</summary>
#
# Return `torch.autograd.graph.saved_tensors_hooks(pack, unpack)`. What `pack` returns is what `unpack` gets.
#
# </details>

# %% [markdown] lang="zh"
# ## 练习 2
#
# 另一种省法：用一半的位数来保存。写出 `thrifty_hooks()`：在它的上下文里，元素多于 1000 个的 `float32` 张量
# 以 `bfloat16` 保存，取出时变回 `float32`；
# 较小的保持原样。
#
# <details><summary>提示</summary>
#
# 返回 `torch.autograd.graph.saved_tensors_hooks(pack, unpack)`。`pack` 返回什么，`unpack` 就收到什么。
#
# </details>


# %% exercise=2
def thrifty_hooks():
    return ...


# %%
@lesson.check(2)
def check_hooks(want):
    want.done(thrifty_hooks())
    big = torch.full((2000,), 1.001, requires_grad=True)
    small = torch.full((10,), 1.001, requires_grad=True)
    with thrifty_hooks():
        result = (big**2).sum() + (small**2).sum()
    result.backward()
    want.value(big.grad[0], 2.0)
    want.value(small.grad[0], 2.002, within=1e-6)
    want.that(big.grad.dtype == torch.float32)


# %% solution=2
def thrifty_hooks():
    def pack(tensor):
        large = tensor.dtype == torch.float32 and tensor.numel() > 1000
        return tensor.bfloat16() if large else tensor

    def unpack(kept):
        return kept.float() if kept.dtype == torch.bfloat16 else kept

    return torch.autograd.graph.saved_tensors_hooks(pack, unpack)


# %% wrong=2
def thrifty_hooks():
    return torch.autograd.graph.saved_tensors_hooks(lambda t: t.bfloat16(), lambda t: t.float())


# %% wrong=2
def thrifty_hooks():
    return torch.autograd.graph.saved_tensors_hooks(lambda t: t, lambda t: t)


# %% [markdown] lang="en"
# ## Exercise 3: repair
#
# `train_step` checkpoints a block that scales by a number drawn with Python's `random`. The second run draws
# another number: the gradient belongs to a different
# function, and nothing raises. The step is also counted twice. Repair both; the block must still be checkpointed.

# %% [markdown] lang="zh"
# ## 练习 3：修复
#
# `train_step` 给一个块加了检查点，而这个块要乘以一个由 Python 的 `random` 抽出的数。第二次运行抽到的是另一个数：梯度
# 属于另一个函数，却没有任何报错。
# 此外步数也被算了两次。请修复这两处；块仍须使用检查点。


# %% exercise=3
import random


def train_step(w, counter):
    def noisy_block(h):
        counter.append(1)
        return torch.exp(h) * random.random()

    result = checkpoint(noisy_block, w, use_reentrant=False)
    result.sum().backward()
    return result


# %%
@lesson.check(3)
def check_noise(want):
    random.seed(0)
    w = torch.tensor([0.5, 1.0], requires_grad=True)
    counter, factors = [], set()
    for _ in range(3):
        w.grad = None
        result = train_step(w, counter)
        want.grad(w, result.tolist())
        factors.add(round(result[0].item(), 4))
    want.value(len(counter), 3)
    want.value(len(factors), 3)
    want.value(saved_by(lambda: train_step(w, []))[1], 8)


# %% solution=3
import random


def train_step(w, counter):
    factor = random.random()
    counter.append(1)

    def noisy_block(h):
        return torch.exp(h) * factor

    result = checkpoint(noisy_block, w, use_reentrant=False)
    result.sum().backward()
    return result


# %% wrong=3
def train_step(w, counter):
    counter.append(1)

    def noisy_block(h):
        return torch.exp(h) * random.random()

    result = checkpoint(noisy_block, w, use_reentrant=False)
    result.sum().backward()
    return result


# %% wrong=3
def train_step(w, counter):
    def noisy_block(h):
        counter.append(1)
        random.seed(0)
        return torch.exp(h) * random.random()

    result = checkpoint(noisy_block, w, use_reentrant=False)
    result.sum().backward()
    return result


# %% wrong=3
def train_step(w, counter):
    counter.append(1)
    result = torch.exp(w) * random.random() * 1.0
    result.sum().backward()
    return result


# %% [markdown] lang="en"
# ## What stays
#
# - Saved tensors peak when backward begins. Checkpointing trades them for one more forward.
# - A checkpointed piece must compute the same thing twice: draw chance outside or with torch, and keep side
#   effects out.
# - `saved_tensors_hooks` sees everything that is saved: count it, shrink it, or move it elsewhere.

# %% [markdown] lang="zh"
# ## 小结
#
# - 保存的张量在反向开始时达到峰值。检查点用多一次前向来换取它们。
# - 使用检查点的片段两次计算必须相同：随机数在外面抽，或用 torch 抽；也不要有副作用。
# - `saved_tensors_hooks` 能看到保存的一切：可以数，可以压缩，也可以搬到别处。

# %%
lesson
