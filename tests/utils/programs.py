"""Loaders with workers as programs that both engines run."""

# ruff: noqa: E501 (the programs are lists of text)

_START = """import os, random, signal, re
import numpy
class Rows(data.Dataset):
    def __init__(self, n=10, get=lambda i: (torch.tensor(float(i)), i)):
        self.n, self.get = n, get
    def __len__(self): return self.n
    def __getitem__(self, i): return self.get(i)
class Stream(data.IterableDataset):
    def __init__(self, n=7): self.n = n
    def __iter__(self):
        worker = data.get_worker_info()
        first, step = (worker.id, worker.num_workers) if worker else (0, 1)
        return iter(range(first, self.n, step))
    def __len__(self): return self.n
def shown(loader): return [str(batch) for batch in loader]
def failed(function):
    try:
        function()
    except Exception as error:
        lines = re.sub(r"pid(\\(s\\))? \\d+", "pid", str(error)).strip().splitlines()
        cause = re.sub(r"pid \\d+", "pid", str(error.__cause__))
        return [type(error).__name__, lines[0], lines[-1], cause]
def fails(i):
    if i == 3: raise ValueError("row three")
    return i
def killed(i):
    if i == 3: os.kill(os.getpid(), signal.SIGKILL)
    return i
def left(i):
    if i == 3: os._exit(7)
    return i
def waits(i):
    import time; time.sleep(1); return i
"""

PROGRAMS = {
    name: f"{_START}\n{code}"
    for name, code in {
        "order": "result = [shown(data.DataLoader(Rows(), 3, num_workers=2)), shown(data.DataLoader(Rows(), 3, num_workers=2, shuffle=True, drop_last=True)), sorted(shown(data.DataLoader(Rows(), 3, num_workers=2, in_order=False)))]",
        "seeds": "def numbers(i): return torch.rand(1).item(), random.random(), float(numpy.random.rand()), data.get_worker_info().seed\nresult = [[list(x) for x in data.DataLoader(Rows(4, numbers), None, num_workers=2)], [[x.item() for x in data.DataLoader(Rows(2, lambda i: random.random()), 1, num_workers=2, worker_init_fn=lambda k: random.seed(99 + k))]], torch.rand(1).item()]",
        "persistent": "g = torch.Generator(); g.manual_seed(5)\nloader = data.DataLoader(Rows(), 3, num_workers=2, shuffle=True, generator=g, persistent_workers=True, prefetch_factor=3)\nresult = [shown(loader), shown(loader)]; next(iter(loader)); result.append(shown(loader))",
        "streams": "result = [shown(data.DataLoader(Stream(), 2, num_workers=2)), shown(data.DataLoader(Stream(), None, num_workers=3)), shown(data.DataLoader(Stream(), 2, num_workers=2, drop_last=True)), shown(data.DataLoader(Stream(), 2))]\nloader = data.DataLoader(Stream(), 2, num_workers=2, persistent_workers=True); result += [shown(loader), shown(loader), len(loader)]",
        "an error in a worker": "result = [failed(lambda: list(data.DataLoader(Rows(6, fails), 2, num_workers=2))), failed(lambda: list(data.DataLoader(Rows(2), 1, num_workers=1, worker_init_fn=lambda k: 1 / 0))), failed(lambda: list(data.DataLoader(Rows(2, lambda i: {}['none']), 1, num_workers=1)))]",
        "a worker that dies": "result = [failed(lambda: list(data.DataLoader(Rows(6, killed), 2, num_workers=2))), failed(lambda: list(data.DataLoader(Rows(6, left), 2, num_workers=2)))]",
        "timeout": "result = failed(lambda: list(data.DataLoader(Rows(2, waits), 1, num_workers=1, timeout=0.3)))",
        "contexts": "result = [message(lambda: data.DataLoader(Rows(), num_workers=0, multiprocessing_context='fork')), message(lambda: data.DataLoader(Rows(), num_workers=1, multiprocessing_context=3)), message(lambda: data.DataLoader(Rows(), num_workers=1, multiprocessing_context='x'))]",
        "fixed attributes": "loader = data.DataLoader(Rows()); loader.num_workers = 0; result = [message(lambda: setattr(loader, n, 3)) for n in ('batch_size', 'sampler', 'dataset', 'drop_last')]",
        "collate": "result = [shown(data.DataLoader([('a', 1), ('b', 2)], 2)), shown(data.DataLoader([{'x': 'a', 'y': [1, 2.0]}, {'x': 'b', 'y': [3, 4.0]}], 2)), shown(data.DataLoader(numpy.arange(6).reshape(3, 2), 2)), shown(data.DataLoader([numpy.float32(3), numpy.float32(4)], 2)), shown(data.DataLoader([True, False], 2)), shown(data.DataLoader([range(3)], 1))] + [message(lambda: data.default_collate(x)) for x in ([[1], [1, 2]], [frozenset()], [torch.ones(2), torch.ones(3)], [numpy.array('a')])]",
        "own collate": "from importlib import import_module\nresult = str(import_module(data.__name__ + '._utils.collate' if 'torch' in data.__name__ else data.__name__).collate([3, 4], collate_fn_map={int: lambda b, collate_fn_map: sum(b)}))",
        "warnings": "import warnings\nclass Whole(Stream):\n    def __iter__(self): return iter(range(self.n))\nwith warnings.catch_warnings(record=True) as said:\n    warnings.simplefilter('always')\n    loader = data.DataLoader(Whole(3), 1, num_workers=2); len(loader); list(loader); list(data.DataLoader(Rows(2), pin_memory=True))\nresult = [str(w.message).replace(str(loader.dataset), 'it') for w in said if 'suggested max' not in str(w.message)]",
    }.items()
}
