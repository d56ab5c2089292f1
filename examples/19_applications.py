# %% [markdown] lang="en"
# # Applications: where gradients may go
#
# **Question.** GANs, adversarial examples, target networks, experts, moving averages: the formulas differ,
# yet each is one decision about which tensors a gradient may reach. Which one?

# %% [markdown] lang="zh"
# # 应用：梯度可以去哪里
#
# **问题**：GAN、对抗样本、目标网络、混合专家、滑动平均，公式各不相同，但每一个都归结为一个决定：梯度可以到达哪些张
# 量。是哪个决定？

# %%
# %load_ext gradviz
import gradviz
import gradviz as torch
from gradviz import nn, teach

lesson = teach.Lesson("19", exercises=5)

# %% [markdown] lang="en"
# ## Two players
#
# A GAN has a generator that makes samples and a discriminator that tells them from real ones. They take
# turns. In the discriminator's turn the samples are detached. In the generator's turn the gradient has
# to pass **through** the discriminator. Predict for each turn which of the two has gradients afterwards
# (`True` or `False`).

# %% [markdown] lang="zh"
# ## 两位选手
#
# GAN 里有一个造样本的生成器，和一个分辨真假的判别器，二者轮流行动。轮到判别器时，样本先脱离图；轮到生成器时，梯度必
# 须**穿过**判别器。请预测每一轮之后两者各自有没有梯度（`True` 或 `False`）。

# %%
guess_d_turn_generator = ...
guess_d_turn_discriminator = ...
guess_g_turn_generator = ...
guess_g_turn_discriminator = ...

# %%
import copy

torch.manual_seed(0)
generator = nn.Sequential(nn.Linear(2, 8), nn.Tanh(), nn.Linear(8, 2))
discriminator = nn.Sequential(nn.Linear(2, 8), nn.Tanh(), nn.Linear(8, 1))
noise, real = torch.randn(16, 2), torch.randn(16, 2) + 3.0
judge = nn.functional.binary_cross_entropy_with_logits


def has_gradients(model):
    return any(p.grad is not None for p in model.parameters())


def turn(loss):
    generator.zero_grad()
    discriminator.zero_grad()
    loss.backward()
    return has_gradients(generator), has_gradients(discriminator)


fake = generator(noise)
d_loss = judge(discriminator(real), torch.ones(16, 1)) + judge(
    discriminator(fake.detach()), torch.zeros(16, 1)
)
d_turn_generator, d_turn_discriminator = turn(d_loss)

g_loss = judge(discriminator(fake), torch.ones(16, 1))
gradviz.show(g_loss)
g_turn_generator, g_turn_discriminator = turn(g_loss)

lesson.compare(guess_d_turn_generator, d_turn_generator)
lesson.compare(guess_d_turn_discriminator, d_turn_discriminator)
lesson.compare(guess_g_turn_generator, g_turn_generator)
lesson.compare(guess_g_turn_discriminator, g_turn_discriminator)

# %% [markdown] lang="en"
# The generator's turn fills the discriminator's gradients as well: they are on the way. They have to be
# cleared before its next turn, or not be computed at all.
#
# Note that `fake` was computed **once**: `detach()` cut only the discriminator's use of it, and its own graph
# served the generator's turn.
#
# ## The input as the unknown
#
# An *adversarial example* asks how to change the **input** so that the loss grows. The gradient goes to `x`;
# the model is a constant. `torch.autograd.grad` asks for exactly that. Predict whether the model has gradients
# afterwards.

# %% [markdown] lang="zh"
# 生成器的那一轮也填上了判别器的梯度：它就在路上。判别器下一轮之前必须把它们清空，或者干脆不计算。
#
# 注意 `fake` 只算了**一次**：`detach()` 切断的只是判别器对它的使用，它自己的图还能用于生成器的那一轮。
#
# ## 把输入当作未知数
#
# **对抗样本**问的是：怎样改动**输入**才能让损失变大。梯度流向 `x`，模型是常量。`torch.autograd.grad` 正好只求这个。请
# 预测之后模型有没有梯度。

# %%
guess_model_has = ...

# %%
torch.manual_seed(1)
points = torch.cat([torch.randn(50, 2) - 1.5, torch.randn(50, 2) + 1.5])
labels = torch.cat([torch.zeros(50), torch.ones(50)]).long()
classifier = nn.Linear(2, 2)
optimizer = torch.optim.Adam(classifier.parameters(), lr=0.1)
for _ in range(60):
    optimizer.zero_grad()
    nn.functional.cross_entropy(classifier(points), labels).backward()
    optimizer.step()
optimizer.zero_grad()

x = torch.tensor([[0.6, 0.6]], requires_grad=True)
label = torch.tensor([1])
loss = nn.functional.cross_entropy(classifier(x), label)
(toward,) = torch.autograd.grad(loss, x)
moved = x + 1.2 * toward.sign()
print("class before", classifier(x).argmax().item(), " after", classifier(moved).argmax().item())
lesson.compare(guess_model_has, has_gradients(classifier))

# %% [markdown] lang="en"
# ## The branch not taken
#
# A router sends each sample to one expert. An `if` in Python: only the chosen expert is in the graph. With
# weights that multiply all outputs: all are. Predict for the second expert, not chosen by either (its weight is 0):
# `None` or `0`?

# %% [markdown] lang="zh"
# ## 没走的那条路
#
# 路由器把每个样本交给一个专家。用 Python 的 `if`，图里只有被选中的专家；用权重去乘所有输出，则全都在图里。第二个专家
# 两种方式都没选中（权重为 0），它的梯度是 `None` 还是 `0`？

# %%
guess_if = ...
guess_weights = ...

# %%
experts = nn.ModuleList([nn.Linear(1, 1, bias=False), nn.Linear(1, 1, bias=False)])
sample = torch.ones(1, 1)

choice = 0
experts[choice](sample).sum().backward()
with_if = experts[1].weight.grad

experts.zero_grad()
weights = torch.tensor([1.0, 0.0])
mixed = sum(weight * expert(sample) for weight, expert in zip(weights, experts, strict=True))
mixed.sum().backward()
with_weights = experts[1].weight.grad

lesson.compare(guess_if, with_if)
lesson.compare(guess_weights, with_weights if with_weights is None else with_weights.item())

# %% [markdown] lang="en"
# The difference is not cosmetic: with `None` Adam skips the expert; with zero its momentum goes on moving it.

# %% [markdown] lang="zh"
# 这个差别并非表面文章：梯度为 `None` 时，Adam 会跳过这个专家；为零时，动量会继续推着它走。

# %% [markdown] lang="en"
# ## One trunk, several losses
#
# Contrastive training pulls two views of a sample together and pushes other samples away; a network with several tasks
# has one loss a task. They share a trunk. Merged into one loss it is walked once; one after the other it is walked
# twice, and the first walk must keep the graph. Predict: are the gradients of the trunk the same (`True` or `False`)?
# And how often does a hook on the trunk's result fire in each case?

# %% [markdown] lang="zh"
# ## 一个主干，几个损失
#
# 对比学习把同一样本的两个视图拉近，把其他样本推远；多任务网络的每个任务各有一个损失。它们共用一个主干。
# 合成一个损失，主干只走一遍；一个接一个地反向，主干要走两遍，而且第一遍必须保留计算图。
# 请预测：主干的梯度是否相同（`True` 或 `False`）？主干输出上的钩子在两种做法中各触发几次？

# %%
guess_same_trunk = ...
guess_merged_calls = ...
guess_separate_calls = ...

# %%
torch.manual_seed(0)
trunk = nn.Linear(4, 3)
views = torch.randn(2, 5, 4)


def contrast(calls):
    first, second = (nn.functional.normalize(trunk(view), dim=1) for view in views)
    first.register_hook(lambda grad: calls.append(1))
    similar = first @ second.t() / 0.5
    mates = torch.arange(len(similar))
    return [nn.functional.cross_entropy(one, mates) for one in (similar, similar.t())]


def trunk_gradient(separate):
    trunk.zero_grad()
    calls = []
    there, back = contrast(calls)
    if separate:
        there.backward(retain_graph=True)
        back.backward()
    else:
        (there + back).backward()
    return trunk.weight.grad, len(calls)


merged, merged_calls = trunk_gradient(False)
separate, separate_calls = trunk_gradient(True)
lesson.compare(guess_same_trunk, torch.allclose(merged, separate, atol=1e-6))
lesson.compare(guess_merged_calls, merged_calls)
lesson.compare(guess_separate_calls, separate_calls)
both = sum(contrast([]))
gradviz.show(both)

# %% [markdown] lang="en"
# *Pseudo labels* are the opposite decision: the network's own answers become targets, and targets are constants.
# `argmax` has no derivative, so the labels are cut by themselves; soft labels have to be detached. Measured below is the
# gradient through each, beside what a forgotten `detach()` gives. (Agreeing with oneself asks for no change; the
# forgotten one makes a change up.)

# %% [markdown] lang="zh"
# **伪标签**是相反的决定：网络自己的回答成了目标，而目标是常数。`argmax` 没有导数，所以硬标签天然是断开的；软标签则必须脱离。
# 下面量出两者的梯度，并与忘写 `detach()` 的结果对照。（赞同自己，就不需要任何改变；忘写时却会凭空生出一个改变。）

# %%
scores = torch.tensor([[2.0, 0.5, 0.1]], requires_grad=True)
soft = scores.softmax(1)
targets = {"hard": scores.argmax(1), "soft": soft.detach(), "forgotten": soft}
for name, target in targets.items():
    loss = nn.functional.cross_entropy(scores, target)
    (slope,) = torch.autograd.grad(loss, scores, retain_graph=True)
    print(f"{name:10}", target.requires_grad, [round(v, 4) + 0.0 for v in slope[0].tolist()])

# %% [markdown] lang="en"
# ## Exercise 1: attack
#
# Write `attack(model, x, label, step)`: the input moved by `step` in the direction of the sign of the
# gradient that **increases** the cross entropy. The result is an ordinary untracked tensor; neither `x` nor the model
# may be changed or given gradients.

# %% [markdown] lang="zh"
# ## 练习 1：攻击
#
# 写出 `attack(model, x, label, step)`：沿着使交叉熵**增大**的梯度符号方向，把输入移动 `step`。结果是普通的、未被跟踪
# 的张量；`x` 和模型都不能被改动，也不能留下梯度。


# %% exercise=1
def attack(model, x, label, step):
    return ...


# %%
@lesson.check(1)
def check_attack(want):
    classifier.zero_grad()
    x = torch.tensor([[0.6, 0.6]])
    moved = attack(classifier, x, torch.tensor([1]), 0.5)
    want.value(moved, [[0.1, 0.1]])
    want.untracked(moved)
    want.untracked(x)
    want.value(x, [[0.6, 0.6]])
    want.grad(classifier.weight, None)
    want.tracked(classifier.weight)


# %% solution=1
def attack(model, x, label, step):
    x = x.detach().requires_grad_()
    loss = nn.functional.cross_entropy(model(x), label)
    (toward,) = torch.autograd.grad(loss, x)
    return x.detach() + step * toward.sign()


# %% wrong=1
def attack(model, x, label, step):
    x = x.detach().requires_grad_()
    nn.functional.cross_entropy(model(x), label).backward()
    return x.detach() + step * x.grad.sign()


# %% wrong=1
def attack(model, x, label, step):
    x = x.detach().requires_grad_()
    loss = nn.functional.cross_entropy(model(x), label)
    (toward,) = torch.autograd.grad(loss, x)
    return x.detach() - step * toward.sign()


# %% wrong=1
def attack(model, x, label, step):
    x.requires_grad_()
    loss = nn.functional.cross_entropy(model(x), label)
    (toward,) = torch.autograd.grad(loss, x)
    return (x + step * toward.sign()).detach()


# %% [markdown] lang="en"
# ## Exercise 2: the generator's turn
#
# Write `generator_turn(generator, discriminator, noise)`: run the backward of the generator's loss (the
# discriminator shall say "real", label 1) so that the generator gets gradients and the discriminator gets
# **none**, and
# can be trained afterwards as before.

# %% [markdown] lang="zh"
# ## 练习 2：轮到生成器
#
# 写出 `generator_turn(generator, discriminator, noise)`：对生成器的损失（要让判别器说“真”，标签为 1）做反向传播，使生
# 成器得到梯度，而判别器**没有**；之后判别器照常可以训练。


# %% exercise=2
def generator_turn(generator, discriminator, noise):
    return ...


# %%
@lesson.check(2)
def check_turn(want):
    maker, judged = copy.deepcopy(generator), copy.deepcopy(discriminator)
    maker.zero_grad()
    judged.zero_grad()
    want.done(generator_turn(maker, judged, noise))
    want.that(not has_gradients(judged))
    want.that(all(p.requires_grad for p in judged.parameters()))
    loss = judge(judged(maker(noise)), torch.ones(16, 1))
    (expected,) = torch.autograd.grad(loss, maker[0].weight)
    want.grad(maker[0].weight, expected.tolist())


# %% solution=2
def generator_turn(generator, discriminator, noise):
    discriminator.requires_grad_(False)
    loss = judge(discriminator(generator(noise)), torch.ones(len(noise), 1))
    loss.backward()
    discriminator.requires_grad_(True)


# %% wrong=2
def generator_turn(generator, discriminator, noise):
    loss = judge(discriminator(generator(noise)), torch.ones(len(noise), 1))
    loss.backward()


# %% wrong=2
def generator_turn(generator, discriminator, noise):
    with torch.no_grad():
        verdict = discriminator(generator(noise))
    loss = judge(verdict.requires_grad_(), torch.ones(len(noise), 1))
    loss.backward()


# %% wrong=2
def generator_turn(generator, discriminator, noise):
    discriminator.requires_grad_(False)
    loss = judge(discriminator(generator(noise)), torch.ones(len(noise), 1))
    loss.backward()


# %% [markdown] lang="en"
# ## Exercise 3: a moving average
#
# Write `follow(shadow, model, decay)`: every parameter of `shadow` becomes `decay * itself + (1 - decay) *
# model's`, in place; every **buffer** (running statistics) is copied. Nothing is recorded; `shadow` shares no
# memory with `model`.

# %% [markdown] lang="zh"
# ## 练习 3：滑动平均
#
# 写出 `follow(shadow, model, decay)`：`shadow` 的每个参数就地变为 `decay * 自身 + (1 - decay) * 模型的参数`；每个**缓
# 冲区**（滑动统计量）直接复制。不记录任何东西；`shadow` 与 `model` 不共享内存。


# %% exercise=3
def follow(shadow, model, decay):
    return ...


# %%
@lesson.check(3)
def check_follow(want):
    shadow, model = (nn.Sequential(nn.Linear(1, 1), nn.BatchNorm1d(1)) for _ in range(2))
    nn.init.ones_(shadow[0].weight)
    nn.init.constant_(model[0].weight, 3.0)
    model[1].running_mean.fill_(5.0)
    for _ in range(2):
        want.done(follow(shadow, model, 0.5))
    want.value(shadow[0].weight, [[2.5]])
    want.leaf(shadow[0].weight)
    want.value(shadow[1].running_mean, [5.0])
    model[1].running_mean.fill_(6.0)
    want.value(shadow[1].running_mean, [5.0])


# %% solution=3
def follow(shadow, model, decay):
    with torch.no_grad():
        for old, new in zip(shadow.parameters(), model.parameters(), strict=True):
            old.mul_(decay).add_(new, alpha=1 - decay)
        for old, new in zip(shadow.buffers(), model.buffers(), strict=True):
            old.copy_(new)


# %% wrong=3
def follow(shadow, model, decay):
    with torch.no_grad():
        for old, new in zip(shadow.parameters(), model.parameters(), strict=True):
            old.mul_(decay).add_(new, alpha=1 - decay)


# %% wrong=3
def follow(shadow, model, decay):
    for old, new in zip(shadow.parameters(), model.parameters(), strict=True):
        old.mul_(decay).add_(new, alpha=1 - decay)
    for old, new in zip(shadow.buffers(), model.buffers(), strict=True):
        old.copy_(new)


# %% wrong=3
def follow(shadow, model, decay):
    shadow.load_state_dict(model.state_dict())


# %% [markdown] lang="en"
# ## Exercise 4: a target network
#
# Value learning pulls $Q(s, a)$ towards $r + \gamma \max_{a'} Q'(s', a')$. The right side is a *target*: no
# gradient may go there, even if $Q'$ is the same network. Write `td_loss(q, target_q, s, a, r, after,
# gamma)`: the mean squared difference;
# `a` holds the index of the action of each row.

# %% [markdown] lang="zh"
# ## 练习 4：目标网络
#
# 值学习把 $Q(s, a)$ 拉向 $r + \gamma \max_{a'} Q'(s', a')$。右边是**目标**：梯度不能流向那里，哪怕 $Q'$ 就是同一个网
# 络。写出 `td_loss(q, target_q, s, a, r, after, gamma)`：差的平方的平均值；`a` 是每一行所选动作的编号。


# %% exercise=4
def td_loss(q, target_q, s, a, r, after, gamma):
    return ...


# %%
@lesson.check(4)
def check_td(want):
    torch.manual_seed(0)
    q, other = nn.Linear(2, 3), nn.Linear(2, 3)
    s, after, r = torch.randn(4, 2), torch.randn(4, 2), torch.ones(4)
    a = torch.tensor([0, 2, 1, 2])
    loss = td_loss(q, other, s, a, r, after, 0.9)
    aim = (r + 0.9 * other(after).max(1).values).tolist()
    chosen = [q(s)[i, a[i]].item() for i in range(4)]
    want.value(loss, sum((c - t) ** 2 for c, t in zip(chosen, aim, strict=True)) / 4)
    want.flows(q.weight, loss)
    want.cut(other.weight, loss)
    loss = td_loss(q, q, s, a, r, after, 0.9)
    fixed = torch.tensor((r + 0.9 * q(after).max(1).values).tolist())
    (expected,) = torch.autograd.grad(((q(s)[range(4), a] - fixed) ** 2).mean(), q.weight)
    loss.backward()
    want.grad(q.weight, expected.tolist())


# %% solution=4
def td_loss(q, target_q, s, a, r, after, gamma):
    with torch.no_grad():
        target = r + gamma * target_q(after).max(1).values
    chosen = q(s).gather(1, a[:, None])[:, 0]
    return ((chosen - target) ** 2).mean()


# %% wrong=4
def td_loss(q, target_q, s, a, r, after, gamma):
    target = r + gamma * target_q(after).max(1).values
    chosen = q(s).gather(1, a[:, None])[:, 0]
    return ((chosen - target) ** 2).mean()


# %% wrong=4
def td_loss(q, target_q, s, a, r, after, gamma):
    with torch.no_grad():
        target = r + gamma * target_q(after).max(1).values
        chosen = q(s).gather(1, a[:, None])[:, 0]
    return ((chosen - target) ** 2).mean().requires_grad_()


# %% [markdown] lang="en"
# ## Exercise 5: repair
#
# A policy gradient weighs the log probability of each action by its *advantage*: the return minus a baseline
# that a second network estimates. The advantage is a number that was observed, not a way to make the loss
# smaller. This program lets the policy's loss train the
# baseline. Repair it: the policy's part must reach the policy only, the baseline's part the baseline only.

# %% [markdown] lang="zh"
# ## 练习 5：修复
#
# 策略梯度用**优势**给每个动作的对数概率加权：优势是回报减去由另一个网络估计的基线。优势是观察到的数值，而不是用来减小
# 损失的途径。下面的程序让策略的损失去训练了基线。请修复它：策略那部分只能到达策略，基线那部分只能到达基线。


# %% exercise=5
def losses(log_probability, returns, baseline):
    advantage = returns - baseline
    policy_part = -(log_probability * advantage).mean()
    baseline_part = (advantage**2).mean()
    return policy_part, baseline_part


# %%
@lesson.check(5)
def check_policy(want):
    log_probability = torch.tensor([-1.0, -2.0], requires_grad=True)
    baseline = torch.tensor([1.0, 1.0], requires_grad=True)
    policy_part, baseline_part = losses(log_probability, torch.tensor([3.0, 0.0]), baseline)
    want.value(policy_part, 0.0)
    want.flows(log_probability, policy_part)
    want.cut(baseline, policy_part)
    want.flows(baseline, baseline_part)
    want.cut(log_probability, baseline_part)
    (policy_part + baseline_part).backward()
    want.grad(log_probability, [-1.0, 0.5])
    want.grad(baseline, [-2.0, 1.0])


# %% solution=5
def losses(log_probability, returns, baseline):
    advantage = returns - baseline
    policy_part = -(log_probability * advantage.detach()).mean()
    baseline_part = (advantage**2).mean()
    return policy_part, baseline_part


# %% wrong=5
def losses(log_probability, returns, baseline):
    advantage = (returns - baseline).detach()
    policy_part = -(log_probability * advantage).mean()
    baseline_part = (advantage**2).mean()
    return policy_part, baseline_part


# %% wrong=5
def losses(log_probability, returns, baseline):
    advantage = returns - baseline
    policy_part = -(log_probability.detach() * advantage).mean()
    baseline_part = (advantage**2).mean()
    return policy_part, baseline_part


# %% [markdown] lang="en"
# ## What stays
#
# - Ask of every term: which tensors is it allowed to train? Cut the others with `detach()` or `no_grad`, or
#   freeze them.
# - Freezing lets the gradient through, cutting does not: a GAN's generator needs the first, a target the second.
# - Averages and target networks are updated in place, unrecorded, buffers included.

# %% [markdown] lang="zh"
# ## 小结
#
# - 对损失的每一项都要问：它可以训练哪些张量？其余的用 `detach()` 或 `no_grad` 切断，或者冻结。
# - 冻结会让梯度穿过去，切断则不会：GAN 的生成器需要前者，目标值需要后者。
# - 滑动平均和目标网络要就地更新、不被记录，缓冲区也别忘了。

# %%
lesson
