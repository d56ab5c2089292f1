# %% [markdown] lang="en"
# # detach, no_grad, inference_mode
#
# **Question.** Three switches turn recording off. What does each of them leave out, and what can you still do
# with the
# result afterwards?

# %% [markdown] lang="zh"
# # detach、no_grad、inference_mode
#
# **问题**：有三个开关可以关掉记录。它们各自省去了什么？得到的结果之后还能拿来做什么？

# %%
# %load_ext gradviz
import gradviz
import gradviz as torch
from gradviz import nn, teach

lesson = teach.Lesson("08", exercises=3)

# %% [markdown] lang="en"
# ## Predict
#
# The same layer is applied three times. A table in a well-known tutorial says that none of the three results can be
# differentiated again, whatever you do. For each: will `requires_grad_()` on the result work? `True` or `False`.

# %% [markdown] lang="zh"
# ## 先预测
#
# 同一个层应用三次。某篇流传很广的教程用一张表说：这三种结果无论如何都不能再求导。请预测：对每个结果调用 `requires_grad_()`
# 能不能成功？填 `True` 或 `False`。

# %%
guess_detached = ...
guess_no_grad = ...
guess_inference = ...

# %%
torch.manual_seed(0)
layer = nn.Linear(3, 2)
x = torch.randn(4, 3)

detached = layer(x).detach()
with torch.no_grad():
    unrecorded = layer(x)
with torch.inference_mode():
    inferred = layer(x)


def can_be_tracked(tensor):
    try:
        tensor.requires_grad_()
    except RuntimeError as error:
        print(error)
        return False
    return True


lesson.compare(guess_detached, can_be_tracked(detached))
lesson.compare(guess_no_grad, can_be_tracked(unrecorded))
lesson.compare(guess_inference, can_be_tracked(inferred))

# %% [markdown] lang="en"
# Only inference tensors refuse. The way out is a copy made *outside*: `inferred.clone()` is an ordinary tensor.
#
# ## What is left out
#
# The three look alike from outside, yet they do different things:
#
# - `detach()` lets the whole graph be built and then steps out of it: a second name for the same memory,
#   without history.
# - `no_grad` builds no graph: nothing is saved.
# - `inference_mode` builds no graph and leaves out the version counter as well, which guards saved values
#   (lesson 09).
#
# A hook on saved tensors counts them:

# %% [markdown] lang="zh"
# 只有推理张量会拒绝。出路是在**外面**做一份拷贝：`inferred.clone()` 就是普通张量了。
#
# ## 各自省去了什么
#
# 三者从外面看很像，做的事却不同：
#
# - `detach()` 先让整张图建好，再从中脱身：它是同一块内存的另一个名字，没有来历。
# - `no_grad` 不建图，什么都不保存。
# - `inference_mode` 不建图，连版本计数也省了，而版本计数是用来保护保存值的（见第 09 课）。
#
# 用保存张量的钩子来数一数：


# %%
def saved_by(function):
    sizes = []

    def pack(tensor):
        sizes.append(tensor.numel() * tensor.element_size())
        return tensor

    with torch.autograd.graph.saved_tensors_hooks(pack, lambda tensor: tensor):
        result = function()
    return result, len(sizes), sum(sizes)


net = nn.Sequential(nn.Linear(3, 8), nn.Tanh(), nn.Linear(8, 2), nn.Tanh())


def with_no_grad():
    with torch.no_grad():
        return net(x)


def with_inference_mode():
    with torch.inference_mode():
        return net(x)


for name, run in {
    "recorded": lambda: net(x),
    "detach": lambda: net(x).detach(),
    "no_grad": with_no_grad,
    "inference_mode": with_inference_mode,
}.items():
    result, count, size = saved_by(run)
    print(f"{name:15} saved tensors {count}  bytes {size:4}  is_inference {result.is_inference()}")

# %% [markdown] lang="en"
# What `detach` saved dies at once with the graph, unless something else holds it. So `detach()` cuts **a
# path**; the other
# two switch recording off for **a stretch of code**. How fast each is depends on the machine: run the next cell a few
# times. (The network is tiny, so what you see is mostly the cost of recording. A GPU works on while Python goes ahead:
# where there is one, the clock is read only when it has finished.)

# %% [markdown] lang="zh"
# `detach` 那一行保存的东西会随着图立即消失，除非还有别的东西持有它。也就是说，`detach()` 切断的是**一条路径**；另外两个关掉的是
# **一段代码**里的记录。各自有多快取决于机器，下面这个单元格可以多运行几次。（网络很小，所以看到的主要是记录的开销。
# GPU 会在 Python 继续往下走的同时工作：有 GPU 时，要等它做完才看表。）

# %%
import time

device = "cuda" if torch.cuda.is_available() else "cpu"
finish = torch.cuda.synchronize if device == "cuda" else lambda: None
net, x = net.to(device), x.to(device)
times = {}
for name, run in {
    "recorded": lambda: net(x),
    "no_grad": with_no_grad,
    "inference_mode": with_inference_mode,
}.items():
    rounds = []
    for _ in range(5):
        started = time.perf_counter()
        for _ in range(100):
            run()
        finish()
        rounds.append(time.perf_counter() - started)
    times[name] = min(rounds) * 1e4
net, x = net.cpu(), x.cpu()
{name: f"{value:.0f} µs" for name, value in times.items()}

# %% [markdown] lang="en"
# ## One memory, two names
#
# `detach()` copies nothing. Predict `h[0]` after the shared memory is written through the detached name.

# %% [markdown] lang="zh"
# ## 一块内存，两个名字
#
# `detach()` 不复制任何东西。通过脱离后的名字写入共享内存之后，`h[0]` 会是多少？

# %%
guess_h0 = ...

# %%
w = torch.tensor([1.0, 2.0], requires_grad=True)
h = w * 10
view = h.detach()
copy = h.detach().clone()
view[0] = -1.0

lesson.compare(guess_h0, h[0].item())
gradviz.StorageMap(h=h, view=view, copy=copy)

# %% [markdown] lang="en"
# If you want numbers of your own, write `h.detach().clone()`.
#
# `cpu()` answers another question: **where** the numbers lie, not whether they are tracked. Predict whether the result
# requires grad, for `h.cpu()`, `h.cpu().detach()` and `h.detach().cpu()`.

# %% [markdown] lang="zh"
# 想要一份自己的数值，请写 `h.detach().clone()`。
#
# `cpu()` 回答的是另一个问题：数值放在**哪里**，而不是是否被跟踪。请预测 `h.cpu()`、`h.cpu().detach()`、`h.detach().cpu()`
# 的结果是否需要梯度。

# %%
guess_cpu = [..., ..., ...]

# %%
moved = [h.cpu(), h.cpu().detach(), h.detach().cpu()]
lesson.compare(guess_cpu, [one.requires_grad for one in moved])
print([one.data_ptr() == h.data_ptr() for one in moved])

# %% [markdown] lang="en"
# Both orders give the same on a GPU. `h.detach().cpu()` is the one to write: cut first, and the copy between the devices is
# not recorded. On the CPU `cpu()` gives the tensor itself.
#
# ## Not a switch: eval()
#
# `model.eval()` changes what dropout and batch norm compute. It does **not** stop recording. Predict
# `requires_grad` of a
# result in eval mode.

# %% [markdown] lang="zh"
# 在 GPU 上，两种顺序的结果相同。应当写 `h.detach().cpu()`：先切断，设备之间的复制就不会被记录。在 CPU 上，`cpu()` 返回的就是张量本身。
#
# ## 它不是开关：eval()
#
# `model.eval()` 改变的是 dropout 和 batch norm 的计算方式，**不会**停止记录。请预测 eval 模式下结果的 `requires_grad`。

# %%
guess_eval = ...

# %%
net.eval()
result = net(x)
net.train()
lesson.compare(guess_eval, result.requires_grad)

# %% [markdown] lang="en"
# ## Switches inside switches
#
# `set_grad_enabled(flag)` is `no_grad` or `enable_grad`, whichever the flag says: one evaluation function can serve
# training too. Blocks nest, and each restores what it found, also after an error. Predict: does `w * 2` in `enable_grad`
# inside `no_grad` require grad? Does `torch.ones(1, requires_grad=True)` that is made in `no_grad`? Is recording on
# after an error in `set_grad_enabled(False)`?

# %% [markdown] lang="zh"
# ## 开关里的开关
#
# `set_grad_enabled(flag)` 按参数相当于 `no_grad` 或 `enable_grad`，因此同一个函数既可用于评估，也可用于训练。这些代码块可以嵌套，
# 离开时各自恢复进入前的状态，出错时也一样。请预测：在 `no_grad` 内的 `enable_grad` 里，`w * 2` 需要梯度吗？
# 在 `no_grad` 里创建的 `torch.ones(1, requires_grad=True)` 呢？在 `set_grad_enabled(False)` 里出错之后，记录是开着的吗？

# %%
guess_inner = ...
guess_made = ...
guess_after_error = ...

# %%
w = torch.tensor(1.0, requires_grad=True)
with torch.no_grad():
    with torch.enable_grad():
        inner = (w * 2).requires_grad
    made = torch.ones(1, requires_grad=True).requires_grad
try:
    with torch.set_grad_enabled(False):
        raise KeyError
except KeyError:
    after_error = torch.is_grad_enabled()
lesson.compare(guess_inner, inner)
lesson.compare(guess_made, made)
lesson.compare(guess_after_error, after_error)

# %% [markdown] lang="en"
# `detach_()` takes the tensor **itself** out of the graph: it becomes a leaf. A view cannot be cut from its base like that.

# %% [markdown] lang="zh"
# `detach_()` 把张量**本身**移出计算图：它变成叶子。视图不能这样与它的基张量切断。

# %%
h = w * 2
print(h.is_leaf, h.requires_grad, "->", h.detach_().is_leaf, h.requires_grad, h.grad_fn)
try:
    (w * torch.ones(2))[0].detach_()
except RuntimeError as error:
    print(error)

# %% [markdown] lang="en"
# ## Three doors of one model
#
# A service trains, validates and serves. The switches fit as decorators too. What came out of `inference_mode` carries
# a mark: a graph may not save it, until `clone()` makes an ordinary tensor of it. `inference_mode(False)` opens
# a tracked stretch inside.

# %% [markdown] lang="zh"
# ## 一个模型的三扇门
#
# 一个服务要训练、验证和推理。这些开关也能当装饰器用。`inference_mode` 里产生的张量带有标记：计算图不能保存它，
# 直到 `clone()` 把它变成普通张量。`inference_mode(False)` 则在里面打开一段被跟踪的区域。

# %%
door = nn.Linear(2, 1)
request = torch.ones(1, 2)


def train_door():
    return door(request)


@torch.no_grad()
def validate_door():
    return door(request)


@torch.inference_mode()
def serve_door():
    return door(request)


for one in (train_door, validate_door, serve_door):
    print(f"{one.__name__:14}", one().requires_grad, one().is_inference())
served = serve_door()
factor = torch.ones(1, requires_grad=True)
try:
    factor * served
except RuntimeError as error:
    print(error)
print((factor * served.clone()).requires_grad)
with torch.inference_mode():
    with torch.inference_mode(False):
        print((factor * 2).requires_grad)

# %% [markdown] lang="en"
# ## Exercise 1
#
# In a teacher–student setting the teacher gives the target. Write `distill(teacher, student, x)`: the mean
# squared difference
# of their outputs. Gradients must reach the student only, and the teacher's parameters must stay trackable.

# %% [markdown] lang="zh"
# ## 练习 1
#
# 在教师–学生训练中，教师给出目标。写出 `distill(teacher, student, x)`：两者输出之差的均方值。梯度只能到达学生，
# 而且教师的参数本身仍应保持可跟踪。


# %% exercise=1
def distill(teacher, student, x):
    return ...


# %%
@lesson.check(1)
def check_distill(want):
    teacher, student = nn.Linear(3, 2), nn.Linear(3, 2)
    loss = distill(teacher, student, x)
    want.value(loss, ((teacher(x) - student(x)) ** 2).mean().item())
    want.flows(student.weight, loss)
    want.cut(teacher.weight, loss)
    want.tracked(teacher.weight)
    want.nodes(loss, AddmmBackward0=1)


# %% solution=1
def distill(teacher, student, x):
    with torch.no_grad():
        target = teacher(x)
    return ((target - student(x)) ** 2).mean()


# %% wrong=1
def distill(teacher, student, x):
    return ((teacher(x) - student(x)) ** 2).mean()


# %% wrong=1
def distill(teacher, student, x):
    with torch.no_grad():
        return ((teacher(x) - student(x)) ** 2).mean()


# %% wrong=1
def distill(teacher, student, x):
    teacher.requires_grad_(False)
    return ((teacher(x) - student(x)) ** 2).mean()


# %% [markdown] lang="en"
# ## Exercise 2
#
# Features were computed in inference mode and shall now feed a layer that learns. Write `learn_on(features,
# head)`: the sum
# of `head(features)`, through which `head` gets its gradient. Inference tensors may take part in a tracked operation
# only where they need not be saved; `head` has to save its input.

# %% [markdown] lang="zh"
# ## 练习 2
#
# 特征是在推理模式下算出来的，现在要交给一个需要学习的层。写出 `learn_on(features, head)`：返回 `head(features)` 的和，
# 并让 `head` 能得到梯度。推理张量只能参与不需要保存它的被跟踪运算，而 `head` 必须保存自己的输入。


# %% exercise=2
def learn_on(features, head):
    return ...


# %%
@lesson.check(2)
def check_learn(want):
    with torch.inference_mode():
        features = torch.ones(2, 3) * 2
    head = nn.Linear(3, 1)
    want.raises(
        lambda: head(features), RuntimeError, "Inference tensors cannot be saved for backward"
    )
    result = learn_on(features, head)
    result.backward()
    want.grad(head.weight, [[4.0, 4.0, 4.0]])
    want.that(features.is_inference())


# %% solution=2
def learn_on(features, head):
    return head(features.clone()).sum()


# %% wrong=2
def learn_on(features, head):
    return head(features).sum()


# %% wrong=2
def learn_on(features, head):
    with torch.inference_mode():
        return head(features.clone()).sum()


# %% wrong=2
def learn_on(features, head):
    return head(features.detach()).sum()


# %% [markdown] lang="en"
# ## Exercise 3: repair
#
# `evaluate` is meant to return the mean loss over all samples, record nothing and leave the model as it found
# it. It fails
# in three ways: the mean of batch means is not the mean when the last batch is smaller; it records; and the
# model stays
# in eval mode.

# %% [markdown] lang="zh"
# ## 练习 3：修复
#
# `evaluate` 本应返回全部样本的平均损失，不记录任何东西，并让模型保持原样。它有三个毛病：最后一批较小时，“各批平均值的
# 平均”并不是总平均；
# 它在记录；模型还留在了 eval 模式。


# %% exercise=3
def evaluate(model, batches):
    model.eval()
    losses = []
    for x, y in batches:
        losses.append(((model(x) - y) ** 2).mean())
    return sum(losses) / len(losses)


# %%
@lesson.check(3)
def check_evaluate(want):
    model = nn.Sequential(nn.Linear(1, 1), nn.Dropout(0.5))
    nn.init.zeros_(model[0].weight)
    nn.init.zeros_(model[0].bias)
    x = torch.zeros(5, 1)
    y = torch.tensor([[1.0], [1.0], [1.0], [1.0], [4.0]])
    loss = evaluate(model, [(x[:4], y[:4]), (x[4:], y[4:])])
    want.value(loss, 4.0)
    want.that(not getattr(loss, "requires_grad", False))
    want.that(model.training)
    model.eval()
    evaluate(model, [(x, y)])
    want.that(not model.training)


# %% solution=3
def evaluate(model, batches):
    before = model.training
    model.eval()
    total, count = 0.0, 0
    with torch.no_grad():
        for x, y in batches:
            total += ((model(x) - y) ** 2).sum().item()
            count += len(x)
    model.train(before)
    return total / count


# %% wrong=3
def evaluate(model, batches):
    before = model.training
    model.eval()
    with torch.no_grad():
        losses = [((model(x) - y) ** 2).mean().item() for x, y in batches]
    model.train(before)
    return sum(losses) / len(losses)


# %% wrong=3
def evaluate(model, batches):
    model.eval()
    with torch.no_grad():
        total = sum(((model(x) - y) ** 2).sum().item() for x, y in batches)
    model.train()
    return total / sum(len(x) for x, _ in batches)


# %% wrong=3
def evaluate(model, batches):
    before = model.training
    model.eval()
    total = sum(((model(x) - y) ** 2).sum() for x, y in batches)
    model.train(before)
    return total / sum(len(x) for x, _ in batches)


# %% [markdown] lang="en"
# ## What stays
#
# - `detach()` cuts one path and shares memory; `no_grad` records nothing in a stretch of code;
#   `inference_mode` leaves out even
#   the version counter, and its results cannot be tracked later without a copy.
# - Use `no_grad` when the result may meet autograd again, `inference_mode` when it never will.
# - `eval()` is about layers, not about recording. Evaluation needs both.

# %% [markdown] lang="zh"
# ## 小结
#
# - `detach()` 切断一条路径，并共享内存；`no_grad` 让一段代码不做记录；`inference_mode` 连版本计数也省掉，其结果不经拷
#   贝就不能再被跟踪。
# - 结果之后还可能参与自动微分，用 `no_grad`；确定不会，用 `inference_mode`。
# - `eval()` 管的是层的行为，不管记录。评估时两者都需要。

# %%
lesson
