# %% [markdown] lang="en"
# # Clinic: twelve leaks
#
# **Question.** A graph lives as long as somebody holds its result. Who holds it here, and how do you let go without
# losing what you wanted to keep?

# %% [markdown] lang="zh"
# # 门诊：十二处泄漏
#
# **问题**：只要有人持有结果，计算图就活着。这里是谁在持有它？怎样放手，又不丢掉真正想留下的东西？

# %%
# %load_ext gradviz
import gradviz
import gradviz as torch
from gradviz import nn, teach

lesson = teach.Lesson("11", exercises=12)


def start():
    return torch.tensor([1.0, 2.0], requires_grad=True)


def step(w):
    loss = (w**2).sum()
    loss.backward()
    with torch.no_grad():
        w -= 0.1 * w.grad
    w.grad = None
    return loss


# %% [markdown] lang="en"
# ## Predict
#
# Each `step` records two operations (`pow` and `sum`). Three loops make 100 steps each. How many recorded
# operations are
# still alive when each has ended, with what it returned kept?
#
# Many texts warn that evaluating *without* `no_grad` fills the memory until it bursts. The third loop does just that.

# %% [markdown] lang="zh"
# ## 先预测
#
# 每次 `step` 记录两个运算（`pow` 和 `sum`）。下面三个循环各走 100 步。循环结束、返回值仍被持有时，各有多少个记录下来
# 的运算还活着？
#
# 许多文章警告说：评估时**不用** `no_grad`，内存会一直涨到撑爆。第三个循环正是这样做的。

# %%
guess_list = ...
guess_last = ...
guess_evaluation = ...


# %%
def keeps_a_list():
    w = start()
    return [step(w) for _ in range(100)]


def keeps_the_last():
    w = start()
    for _ in range(100):
        loss = step(w)
    return loss


def evaluates_without_no_grad():
    w, total = start(), 0.0
    for _ in range(100):
        total += (w**2).sum().item()
    return total


list_keeps = teach.operations_left(keeps_a_list)
last_keeps = teach.operations_left(keeps_the_last)
evaluation_keeps = teach.operations_left(evaluates_without_no_grad)
lesson.compare(guess_list, list_keeps)
lesson.compare(guess_last, last_keeps)
lesson.compare(guess_evaluation, evaluation_keeps)

# %% [markdown] lang="en"
# A graph dies with its last holder. In the evaluation loop each result was gone before the next was made: without
# `no_grad` it is slower and its peak is higher, but it does not climb. What climbs is what **keeps**.
#
# This is how gradviz sees such a keeper: read the line under the cell, and the report.

# %% [markdown] lang="zh"
# 最后一个持有者消失，图就随之消失。评估循环里，每个结果在下一个产生之前就没了：不用 `no_grad` 会更慢，峰值更高，但不会一直涨。
# 一直涨的，是被**留着**的东西。
#
# gradviz 看到的持有者是这样的：请读单元格下方那一行，再看报告。

# %%
history = keeps_a_list()
gradviz.show(history[-1])

# %%
gradviz.leaks()

# %%
gradviz.why_alive(history[0])

# %%
del history

# %% [markdown] lang="en"
# ## Twelve programs to repair
#
# Each program below does what it should and keeps what it should not. Repair them one after the other: what
# the program returns
# must stay as useful as it was, and no recorded operation may be left alive by it. Each kind has a rule of
# its own among
# [what gradviz can find](../docs/findings.md).

# %% [markdown] lang="zh"
# ## 十二个等待修复的程序
#
# 下面每个程序都完成了该做的事，却留住了不该留的东西。请逐个修复：返回的东西要和原来一样有用，但不能让任何记录下来的运
# 算继续活着。
# 每一种在 [gradviz 能发现的问题](../docs/findings.zh.md)里都有对应的规则。

# %% [markdown] lang="en"
# ### Exercise 1: a list of losses
#
# The curve of the losses is to be drawn later.

# %% [markdown] lang="zh"
# ### 练习 1：存损失的列表
#
# 之后要画损失曲线。


# %% exercise=1
def curve():
    w, losses = start(), []
    for _ in range(20):
        loss = step(w)
        losses.append(loss)
    return losses


# %%
@lesson.check(1)
def check_1(want):
    want.leaves_no_graph(curve)
    want.value(len(curve()), 20)
    want.value(curve()[0], 5.0)


# %% solution=1
def curve():
    w, losses = start(), []
    for _ in range(20):
        loss = step(w)
        losses.append(loss.item())
    return losses


# %% wrong=1
def curve():
    w, losses = start(), []
    for _ in range(20):
        loss = step(w)
        losses.append(loss.clone())
    return losses


# %% [markdown] lang="en"
# ### Exercise 2: a running sum
#
# The mean loss of an epoch is wanted. Careful: `total += loss` is legal, it is only never forgotten.

# %% [markdown] lang="zh"
# ### 练习 2：累加的总和
#
# 想要一个轮次的平均损失。注意：`total += loss` 是合法的，只是从此忘不掉了。


# %% exercise=2
def mean_loss():
    w, total = start(), 0.0
    for _ in range(20):
        total += step(w)
    return total / 20


# %%
@lesson.check(2)
def check_2(want):
    want.leaves_no_graph(mean_loss)
    want.that(0.2 < mean_loss() < 5.0)


# %% solution=2
def mean_loss():
    w, total = start(), 0.0
    for _ in range(20):
        total += step(w).item()
    return total / 20


# %% wrong=2
def mean_loss():
    w, total = start(), torch.zeros(())
    for _ in range(20):
        total += step(w)
    return total / 20


# %% [markdown] lang="en"
# ### Exercise 3: a state that is carried on
#
# A recurrent state goes from one chunk of a long sequence to the next. Learning is to stop at the border of a chunk,
# the state is not.

# %% [markdown] lang="zh"
# ### 练习 3：一路传下去的状态
#
# 循环网络的状态从长序列的一段传到下一段。学习应当止于段的边界，状态则要继续传。


# %% exercise=3
def long_sequence():
    w, state = start(), torch.zeros(2)
    for _ in range(20):
        state = torch.tanh(w * (state + 1))
        state.sum().backward(retain_graph=True)
        w.grad = None
    return state


# %%
@lesson.check(3)
def check_3(want):
    def reference_state():
        w, state = start(), torch.zeros(2)
        for _ in range(20):
            state = torch.tanh(w * (state + 1))
        return state.tolist()

    want.leaves_no_graph(long_sequence)
    want.value(long_sequence(), reference_state())


# %% solution=3
def long_sequence():
    w, state = start(), torch.zeros(2)
    for _ in range(20):
        state = torch.tanh(w * (state + 1))
        state.sum().backward()
        w.grad = None
        state = state.detach()
    return state


# %% wrong=3
def long_sequence():
    w, state = start(), torch.zeros(2)
    for _ in range(20):
        state = torch.tanh(w * (torch.zeros(2) + 1))
        state.sum().backward()
        w.grad = None
    return state.detach()


# %% [markdown] lang="en"
# ### Exercise 4: an attribute
#
# The layer remembers its last output, to be looked at later.

# %% [markdown] lang="zh"
# ### 练习 4：一个属性
#
# 这个层记住最近一次的输出，供以后查看。


# %% exercise=4
class Remembering(nn.Module):
    def __init__(self):
        super().__init__()
        self.inner = nn.Linear(2, 2)

    def forward(self, x):
        self.last = self.inner(x)
        return self.last.sum()


# %%
@lesson.check(4)
def check_4(want):
    def program():
        layer = Remembering()
        layer(torch.ones(1, 2)).backward()
        return layer

    want.leaves_no_graph(program)
    layer = program()
    want.value(layer.last, layer.inner(torch.ones(1, 2)).tolist())
    want.that(layer.inner.weight.grad is not None)


# %% solution=4
class Remembering(nn.Module):
    def __init__(self):
        super().__init__()
        self.inner = nn.Linear(2, 2)

    def forward(self, x):
        h = self.inner(x)
        self.last = h.detach()
        return h.sum()


# %% wrong=4
class Remembering(nn.Module):
    def __init__(self):
        super().__init__()
        self.inner = nn.Linear(2, 2)

    def forward(self, x):
        self.last = self.inner(x).detach()
        return self.last.sum()


# %% [markdown] lang="en"
# ### Exercise 5: a closure
#
# Messages are put together only when somebody reads them.

# %% [markdown] lang="zh"
# ### 练习 5：一个闭包
#
# 消息只有在有人读的时候才拼出来。


# %% exercise=5
def messages():
    w, waiting = start(), []
    for number in range(20):
        loss = step(w)
        waiting.append(lambda number=number, loss=loss: f"{number}: {loss.item():.1f}")
    return waiting


# %%
@lesson.check(5)
def check_5(want):
    want.leaves_no_graph(messages)
    want.value(messages()[0](), "0: 5.0")
    want.that(messages()[1]() != messages()[2]())


# %% solution=5
def messages():
    w, waiting = start(), []
    for number in range(20):
        value = step(w).item()
        waiting.append(lambda number=number, value=value: f"{number}: {value:.1f}")
    return waiting


# %% wrong=5
def messages():
    w, waiting = start(), []
    for number in range(20):
        loss = step(w)
        waiting.append(lambda: f"{number}: {loss.item():.1f}")
    return waiting


# %% [markdown] lang="en"
# ### Exercise 6: a default argument
#
# `best` remembers the smallest loss so far. Its default value is made once, when the function is defined.

# %% [markdown] lang="zh"
# ### 练习 6：默认参数
#
# `best` 记住到目前为止最小的损失。默认值只在定义函数时创建一次。


# %% exercise=6
def make_best():
    def best(loss, seen=[]):
        seen.append(loss)
        return min(one.item() for one in seen)

    return best


# %%
@lesson.check(6)
def check_6(want):
    def program():
        w, best = start(), make_best()
        return best, [best(step(w)) for _ in range(20)]

    want.leaves_no_graph(program)
    lowest = program()[1]
    want.that(lowest == sorted(lowest, reverse=True) and lowest[-1] < lowest[0])


# %% solution=6
def make_best():
    def best(loss, seen=[]):
        seen.append(loss.item())
        return min(seen)

    return best


# %% wrong=6
def make_best():
    def best(loss, seen=[]):
        seen.append(loss.clone())
        return min(one.item() for one in seen)

    return best


# %% [markdown] lang="en"
# ### Exercise 7: a cache
#
# Features are expensive and asked for again and again. They are only read, never trained through.

# %% [markdown] lang="zh"
# ### 练习 7：缓存
#
# 特征计算昂贵，又会反复用到。它们只供读取，不需要经过它们训练。

# %% exercise=7
import functools


def make_features():
    w = start()

    @functools.lru_cache
    def features(number):
        return torch.exp(w * number)

    return features


# %%
@lesson.check(7)
def check_7(want):
    def program():
        features = make_features()
        for number in (1, 2, 3, 1):
            features(number)
        return features

    want.leaves_no_graph(program)
    want.value(program()(2), [torch.tensor(2.0).exp().item(), torch.tensor(4.0).exp().item()])
    want.that(program()(1) is not None and program().cache_info().hits == 1)


# %% solution=7
import functools


def make_features():
    w = start()

    @functools.lru_cache
    def features(number):
        with torch.no_grad():
            return torch.exp(w * number)

    return features


# %% wrong=7
import functools


def make_features():
    w = start()

    @functools.lru_cache
    def features(number):
        result = torch.exp(w * number)
        return result.view_as(result)

    return features


# %% [markdown] lang="en"
# ### Exercise 8: a generator that waits
#
# The loop is driven from outside, one step at a time. Between two steps it is suspended at `yield`, with all its
# local variables.

# %% [markdown] lang="zh"
# ### 练习 8：等待中的生成器
#
# 循环由外面一步一步驱动。两步之间，它停在 `yield` 处，所有局部变量都还在。


# %% exercise=8
def steps():
    w = start()
    while True:
        loss = step(w)
        yield loss.item()


# %%
@lesson.check(8)
def check_8(want):
    def program():
        running = steps()
        return running, next(running), next(running)

    want.leaves_no_graph(program)
    running, first, second = program()
    want.that(first == 5.0 and next(running) < second < first)


# %% solution=8
def steps():
    w = start()
    while True:
        yield step(w).item()


# %% wrong=8
def steps():
    w = start()
    while True:
        loss = step(w)
        yield loss.detach()


# %% [markdown] lang="en"
# ### Exercise 9: hooks that pile up
#
# A hook on the parameter compares its gradient with the activation of the step.

# %% [markdown] lang="zh"
# ### 练习 9：堆积的钩子
#
# 参数上的钩子把梯度与这一步的激活值作比较。


# %% exercise=9
def watched(report):
    w = start()
    for _ in range(20):
        activation = torch.tanh(w)
        w.register_hook(lambda grad, a=activation: report((grad * a).sum().item()))
        activation.sum().backward()
        w.grad = None
    return w


# %%
@lesson.check(9)
def check_9(want):
    want.leaves_no_graph(lambda: watched(lambda number: None))
    reports = []
    watched(reports.append)
    want.value(len(reports), 20)
    tanh = [torch.tensor(v).tanh().item() for v in (1.0, 2.0)]
    want.value(reports[-1], sum((1 - t * t) * t for t in tanh))


# %% solution=9
def watched(report):
    w = start()
    for _ in range(20):
        activation = torch.tanh(w)
        values = activation.detach()
        hook = w.register_hook(lambda grad, a=values: report((grad * a).sum().item()))
        activation.sum().backward()
        hook.remove()
        w.grad = None
    return w


# %% wrong=9
def watched(report):
    w = start()
    for _ in range(20):
        activation = torch.tanh(w)
        w.register_hook(lambda grad, a=activation.detach(): report((grad * a).sum().item()))
        activation.sum().backward()
        w.grad = None
    return w


# %% [markdown] lang="en"
# ### Exercise 10: a gradient with a history
#
# `create_graph=True` was once needed for an experiment and stayed. The gradient itself now carries a graph, and `w`
# carries the gradient.

# %% [markdown] lang="zh"
# ### 练习 10：带着来历的梯度
#
# 某次实验需要 `create_graph=True`，之后就留了下来。现在梯度本身带着图，而 `w` 又带着梯度。

# %% exercise=10
import warnings


def learn():
    w = start()
    warnings.simplefilter("ignore")
    (w**3).sum().backward(create_graph=True)
    return w


# %%
@lesson.check(10)
def check_10(want):
    want.leaves_no_graph(learn)
    want.grad(learn(), [3.0, 12.0])


# %% solution=10
def learn():
    w = start()
    (w**3).sum().backward()
    return w


# %% wrong=10
import warnings


def learn():
    w = start()
    warnings.simplefilter("ignore")
    (w**3).sum().backward(create_graph=True)
    w.grad = w.grad.clone()
    return w


# %% [markdown] lang="en"
# ### Exercise 11: a stored exception
#
# Failed batches are to be reported at the end. An exception holds its traceback, and that holds every local variable
# of the frames it went through.

# %% [markdown] lang="zh"
# ### 练习 11：保存下来的异常
#
# 失败的批次要在最后统一报告。异常持有它的回溯，而回溯持有沿途各帧的全部局部变量。


# %% exercise=11
def run_all():
    w, failures = start(), []

    def batch(size):
        h = torch.tanh(w).repeat(size)
        return h.view(2, 3).sum()

    for size in (2, 3, 4):
        try:
            batch(size).backward()
        except RuntimeError as error:
            failures.append(error)
    return failures


# %%
@lesson.check(11)
def check_11(want):
    want.leaves_no_graph(run_all)
    want.value(len(run_all()), 2)
    want.that(all("is invalid for input of size" in str(failure) for failure in run_all()))


# %% solution=11
def run_all():
    w, failures = start(), []

    def batch(size):
        h = torch.tanh(w).repeat(size)
        return h.view(2, 3).sum()

    for size in (2, 3, 4):
        try:
            batch(size).backward()
        except RuntimeError as error:
            failures.append(str(error))
    return failures


# %% wrong=11
def run_all():
    w, failures = start(), []

    def batch(size):
        h = torch.tanh(w).repeat(size)
        return h.view(2, 3).sum()

    for size in (2, 3, 4):
        try:
            batch(size).backward()
        except RuntimeError as error:
            failures.append((str(error), error.__traceback__))
    return failures


# %% [markdown] lang="en"
# ### Exercise 12: a log record
#
# The handler keeps records until there are many, then writes them at once. A record keeps its arguments.

# %% [markdown] lang="zh"
# ### 练习 12：日志记录
#
# 处理器会攒下许多记录再一起写出。每条记录都持有它的参数。

# %% exercise=12
import logging.handlers


def logged():
    log, w = logging.Logger("training"), start()
    log.addHandler(logging.handlers.MemoryHandler(1000))
    for _ in range(20):
        loss = step(w)
        log.info("loss %.3f", loss)
    return log


# %%
@lesson.check(12)
def check_12(want):
    want.leaves_no_graph(logged)
    records = logged().handlers[0].buffer
    want.value(len(records), 20)
    want.value(records[0].getMessage(), "loss 5.000")


# %% solution=12
import logging.handlers


def logged():
    log, w = logging.Logger("training"), start()
    log.addHandler(logging.handlers.MemoryHandler(1000))
    for _ in range(20):
        loss = step(w)
        log.info("loss %.3f", loss.item())
    return log


# %% wrong=12
import logging.handlers


def logged():
    log, w = logging.Logger("training"), start()
    log.addHandler(logging.handlers.MemoryHandler(1000))
    for _ in range(20):
        loss = step(w)
        log.info("loss %s", loss)
    return log


# %% [markdown] lang="en"
# ## What stays
#
# - Keep numbers (`item()`) or detached tensors, wherever something outlives the step: lists, sums,
#   attributes, closures,
#   defaults, caches, generators, hooks, exceptions, logs.
# - At the border of a chunk of time, `detach()` the state.
# - `del` and `gc.collect()` help only when nobody else holds on. Ask `gradviz.why_alive`.

# %% [markdown] lang="zh"
# ## 小结
#
# - 凡是比一步训练活得更久的地方，列表、总和、属性、闭包、默认参数、缓存、生成器、钩子、异常、日志，都只存数值
#   （`item()`）或脱离图的张量。
# - 在时间段的边界上，对状态调用 `detach()`。
# - 只有当别处不再持有时，`del` 和 `gc.collect()` 才有用。不妨问问 `gradviz.why_alive`。

# %%
lesson
