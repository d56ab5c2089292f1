"""Training steps beside PyTorch: ``python tests/bench/training.py`` (needs torch; a minute)."""

from __future__ import annotations

from beside import main


def steps(t, model, x, y, optimizer, n, loss_function=None):
    """``n`` training steps."""
    opt = getattr(t.optim, optimizer)(model.parameters(), lr=1e-3)
    loss_function = loss_function or t.nn.CrossEntropyLoss()

    def run():
        for _ in range(n):
            opt.zero_grad()
            loss_function(model(x), y).backward()
            opt.step()

    return run, n


def mlp(t, optimizer):
    """784-256-256-10 at batch 64."""
    t.manual_seed(0)
    model = t.nn.Sequential(
        t.nn.Linear(784, 256),
        t.nn.ReLU(),
        t.nn.Linear(256, 256),
        t.nn.ReLU(),
        t.nn.Linear(256, 10),
    )
    return steps(t, model, t.randn(64, 784), t.randint(0, 10, (64,)), optimizer, 40)


def lenet(t):
    """Two convolutions with pooling and three linear layers at batch 64."""
    t.manual_seed(0)
    model = t.nn.Sequential(
        t.nn.Conv2d(1, 6, 5, padding=2),
        t.nn.ReLU(),
        t.nn.MaxPool2d(2),
        t.nn.Conv2d(6, 16, 5),
        t.nn.ReLU(),
        t.nn.MaxPool2d(2),
        t.nn.Flatten(),
        t.nn.Linear(400, 120),
        t.nn.ReLU(),
        t.nn.Linear(120, 84),
        t.nn.ReLU(),
        t.nn.Linear(84, 10),
    )
    return steps(t, model, t.randn(64, 1, 28, 28), t.randint(0, 10, (64,)), "SGD", 8)


def block(t):
    """A transformer block: width 128, 64 tokens, batch 8."""
    t.manual_seed(0)
    model = t.nn.TransformerEncoderLayer(
        128, 4, 512, dropout=0.0, activation="gelu", batch_first=True, norm_first=True
    )
    x, y = t.randn(8, 64, 128), t.randn(8, 64, 128)
    return steps(t, model, x, y, "SGD", 8, t.nn.MSELoss())


def layers(t):
    """Forward and backward of 50 layers of a million activations each."""
    x = t.ones(1000, 1000)
    weights = [t.ones(1000, requires_grad=True) for _ in range(50)]

    def run():
        h = x
        for w in weights:
            h = (h * w).tanh()
        h.sum().backward()

    return run


ROWS = {
    "MLP, SGD step": lambda t: mlp(t, "SGD"),
    "MLP, Adam step": lambda t: mlp(t, "Adam"),
    "LeNet, SGD step": lenet,
    "transformer block, SGD step": block,
}
PEAKS = {"peak of 50 layers x 1e6 activations": layers}

if __name__ == "__main__":
    main(ROWS, __file__, peaks=PEAKS, repeats=21)
