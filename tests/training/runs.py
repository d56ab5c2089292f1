"""Real training, the same text for gradviz and PyTorch: each takes the engine and gives numbers."""

from __future__ import annotations

import importlib

POEM = """Shall I compare thee to a summer's day?
Thou art more lovely and more temperate:
Rough winds do shake the darling buds of May,
And summer's lease hath all too short a date;
Sometime too hot the eye of heaven shines,
And often is his gold complexion dimm'd;
And every fair from fair sometime declines,
By chance or nature's changing course untrimm'd;
But thy eternal summer shall not fade,
Nor lose possession of that fair thou ow'st;
Nor shall death brag thou wander'st in his shade,
When in eternal lines to time thou grow'st:
So long as men can breathe or eyes can see,
So long lives this, and this gives life to thee.
"""


def parts(engine):
    """(torch, nn, functional) of an engine."""
    return tuple(importlib.import_module(engine + tail) for tail in ("", ".nn", ".nn.functional"))


def digits(engine, epochs):
    """Accuracy of a LeNet-like network on handwritten digits it has not seen, after each epoch."""
    from sklearn.datasets import load_digits

    torch, nn, F = parts(engine)
    data = importlib.import_module(f"{engine}.utils.data")
    torch.manual_seed(0)
    images, labels = load_digits(return_X_y=True)
    x = torch.tensor(images / 16.0, dtype=torch.float32).view(-1, 1, 8, 8)
    y = torch.tensor(labels)
    rows = data.TensorDataset(x, y)
    seen, unseen = data.random_split(rows, [1437, 360])
    model = nn.Sequential(
        nn.Conv2d(1, 16, 3, padding=1),
        nn.ReLU(),
        nn.Conv2d(16, 32, 3, padding=1),
        nn.BatchNorm2d(32),
        nn.ReLU(),
        nn.MaxPool2d(2),
        nn.Flatten(),
        nn.Linear(32 * 16, 84),
        nn.ReLU(),
        nn.Dropout(0.2),
        nn.Linear(84, 10),
    )
    optimizer = torch.optim.AdamW(model.parameters(), lr=2e-3)
    loader = data.DataLoader(seen, 64, shuffle=True)
    schedule = torch.optim.lr_scheduler.OneCycleLR(
        optimizer, 5e-3, epochs=epochs, steps_per_epoch=len(loader)
    )
    found = []
    for _ in range(epochs):
        model.train()
        for image, label in loader:
            optimizer.zero_grad()
            F.cross_entropy(model(image), label).backward()
            optimizer.step()
            schedule.step()
        model.eval()
        with torch.no_grad():
            ((image, label),) = data.DataLoader(unseen, 360)
            right = model(image).argmax(1) == label
        found.append(right.float().mean().item())
    return found


class Characters:
    """A causal transformer over the characters of the poem."""

    context, width = 32, 32

    def __init__(self, engine):
        self.torch, nn, self.F = parts(engine)
        self.torch.manual_seed(1)
        letters = sorted(set(POEM))
        self.text = self.torch.tensor([letters.index(c) for c in POEM])
        self.embed = nn.Embedding(len(letters), self.width)
        self.place = nn.Embedding(self.context, self.width)
        layer = nn.TransformerEncoderLayer(
            self.width, 4, 64, dropout=0.0, batch_first=True, norm_first=True
        )
        self.encoder = nn.TransformerEncoder(layer, 2, enable_nested_tensor=False)
        self.head = nn.Linear(self.width, len(letters))
        self.model = nn.ModuleList([self.embed, self.place, self.encoder, self.head])

    def loss(self):
        """Cross entropy of the next characters at random places of the poem."""
        torch = self.torch
        starts = torch.randint(0, len(POEM) - self.context - 1, (16,))
        places = starts.unsqueeze(1) + torch.arange(self.context)
        mask = torch.triu(torch.full((self.context, self.context), float("-inf")), diagonal=1)
        x = self.embed(self.text[places]) + self.place(torch.arange(self.context))
        scores = self.head(self.encoder(x, mask=mask))
        return self.F.cross_entropy(scores.flatten(0, 1), self.text[places + 1].flatten())


def characters(engine, steps):
    """The loss of each step of a small character transformer.

    The gradient of a bias of keys is zero but for rounding; ``eps`` keeps Adam from making steps of
    it.
    """
    run = Characters(engine)
    optimizer = run.torch.optim.AdamW(run.model.parameters(), lr=1e-3, eps=1e-5)
    losses = []
    for _ in range(steps):
        loss = run.loss()
        optimizer.zero_grad()
        loss.backward()
        run.torch.nn.utils.clip_grad_norm_(run.model.parameters(), 1.0)
        optimizer.step()
        losses.append(loss.item())
    return losses


def memory(engine, steps):
    """The loss of each step of an LSTM that learns to say whether a sequence has more ones than
    zeros, read as packed sequences of different lengths."""
    torch, nn, F = parts(engine)
    rnn = importlib.import_module(f"{engine}.nn.utils.rnn")
    torch.manual_seed(2)
    lstm, head = nn.LSTM(1, 24, batch_first=True), nn.Linear(24, 1)
    both = [*lstm.parameters(), *head.parameters()]
    optimizer = torch.optim.Adam(both, lr=1e-2)
    losses = []
    for _ in range(steps):
        lengths = torch.randint(5, 12, (32,))
        bits = torch.randint(0, 2, (32, 12)).float()
        kept = bits * (torch.arange(12) < lengths.unsqueeze(1))
        target = (kept.sum(1) * 2 > lengths).float()
        packed = rnn.pack_padded_sequence(
            (kept * 2 - 1).unsqueeze(2), lengths, batch_first=True, enforce_sorted=False
        )
        _, (h, _) = lstm(packed)
        loss = F.binary_cross_entropy_with_logits(head(h[-1]).squeeze(1), target)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    return losses


def adversaries(engine, steps):
    """(losses of the critic, mean and deviation of what the generator makes): it learns the numbers
    of a normal distribution around 3 with deviation 0.5."""
    torch, nn, F = parts(engine)
    torch.manual_seed(3)

    def network(first, last):
        return nn.Sequential(
            nn.Linear(first, 32), nn.LeakyReLU(0.2), nn.Linear(32, 32), nn.LeakyReLU(0.2), last
        )

    maker, critic = network(4, nn.Linear(32, 1)), network(1, nn.Linear(32, 1))
    steps_of = [
        torch.optim.Adam(m.parameters(), lr=1e-3, betas=(0.5, 0.9)) for m in (maker, critic)
    ]
    losses = []
    for _ in range(steps):
        real, made = torch.randn(64, 1) * 0.5 + 3, maker(torch.randn(64, 4))
        loss = F.softplus(-critic(real)).mean() + F.softplus(critic(made.detach())).mean()
        steps_of[1].zero_grad()
        loss.backward()
        steps_of[1].step()
        losses.append(loss.item())
        steps_of[0].zero_grad()
        F.softplus(-critic(made)).mean().backward()
        steps_of[0].step()
    with torch.no_grad():
        made = maker(torch.randn(2000, 4))
    return losses, made.mean().item(), made.std().item()
