# %% [markdown] lang="en"
# # Handwritten digits, and a leak
#
# **Question.** Does each step of a training loop drop its graph?
#
# A small network learns to read 8 × 8 images of digits. On the way it makes one of the most common
# mistakes in training loops, on purpose. See what gradviz says about it.

# %% [markdown] lang="zh"
# # 手写数字，以及一处泄漏
#
# **问题**：训练循环的每一步，真的丢掉了自己的计算图吗？
#
# 一个小网络学习识别 8 × 8 的数字图像。途中我们故意犯了训练循环里最常见的错误之一，看看 gradviz 怎么说。

# %%
# %load_ext gradviz
import gradviz
import gradviz as torch
from gradviz import nn

# %% [markdown] lang="en"
# `%gradviz` opens the live view. It grows while a cell is running.

# %% [markdown] lang="zh"
# `%gradviz` 打开实时视图。单元格运行时，图会随之生长。

# %%
# %gradviz

# %% [markdown] lang="en"
# ## The data
#
# 1797 images that come with scikit-learn. A quarter is kept aside for testing.

# %% [markdown] lang="zh"
# ## 数据
#
# scikit-learn 自带的 1797 张图像，留出四分之一用于测试。

# %%
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split

digits = load_digits()
split = train_test_split(
    digits.data / 16, digits.target, test_size=0.25, stratify=digits.target, random_state=0
)
train_x, test_x = (torch.tensor(part, dtype=torch.float32) for part in split[:2])
train_y, test_y = (torch.tensor(part, dtype=torch.int64) for part in split[2:])
print(tuple(train_x.shape), tuple(test_x.shape))

# %% [markdown] lang="en"
# ## The network

# %% [markdown] lang="zh"
# ## 网络

# %%
torch.manual_seed(0)
model = nn.Sequential(nn.Linear(64, 64), nn.ReLU(), nn.Linear(64, 10))
criterion = nn.CrossEntropyLoss()
optimizer = torch.optim.Adam(model.parameters(), lr=0.01)

# %% [markdown] lang="en"
# ## Training
#
# Each step builds a graph, walks it back and drops it. Or does it? Read the last line of the loop, run the
# cell, then read the line that gradviz puts under it.

# %% [markdown] lang="zh"
# ## 训练
#
# 每一步都建一张图，反向走一遍，再丢掉它。真的丢掉了吗？先看循环的最后一行，运行单元格，再看 gradviz 在下面写了什么。

# %%
losses = []

for epoch in range(10):
    order = torch.randperm(len(train_x))
    for start in range(0, len(order), 64):
        batch = order[start : start + 64]
        loss = criterion(model(train_x[batch]), train_y[batch])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss)

print(f"loss {losses[0].item():.3f} -> {losses[-1].item():.3f}")

# %% [markdown] lang="en"
# `losses` holds tensors. Each tensor holds its `grad_fn`, and through it the whole graph of its step, so
# no graph was dropped. A number would do: change the last line to
#
# ```python
# losses.append(loss.item())
# ```
#
# and the line after the loop to `print(f"loss {losses[0]:.3f} -> {losses[-1]:.3f}")`, then run the cell
# again. The flag goes.

# %% [markdown] lang="zh"
# `losses` 里存的是张量。每个张量都持有自己的 `grad_fn`，并由此持有那一步的整张图，所以没有一张图被丢掉。
# 其实存一个数就够了：把最后一行改成
#
# ```python
# losses.append(loss.item())
# ```
#
# 再把循环之后的那一行改成 `print(f"loss {losses[0]:.3f} -> {losses[-1]:.3f}")`，重新运行该单元格，标记就消失了。

# %% [markdown] lang="en"
# ## Testing
#
# Under `no_grad()` nothing is recorded, so evaluation leaves no graph.

# %% [markdown] lang="zh"
# ## 测试
#
# 在 `no_grad()` 里什么都不会被记录，所以评估不会留下计算图。

# %%
with torch.no_grad():
    predicted = model(test_x).argmax(dim=1)
    accuracy = (predicted == test_y).float().mean().item()

print(f"test accuracy {accuracy:.1%}")

# %% [markdown] lang="en"
# The graph of the last training step, with the gradients that flowed along it:

# %% [markdown] lang="zh"
# 最后一步训练的计算图，以及流过它的梯度：

# %%
gradviz.show(loss)
