"""``gradviz launch``: four processes, over MPI and through files."""

import importlib.util
import json
import subprocess
import sys
from pathlib import Path

import pytest

from gradviz.cli import launch
from gradviz.cli.main import main

JOB = Path(__file__).with_name("job.py")
SIZE = 4
HAVE_MPI = importlib.util.find_spec("mpi4py") is not None
TRANSPORTS = [
    pytest.param(
        "mpi", marks=pytest.mark.skipif(not HAVE_MPI, reason="needs the extra `distributed`")
    ),
    "files",
]
pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="needs POSIX processes")


@pytest.fixture(scope="module", params=TRANSPORTS)
def seen(request, tmp_path_factory):
    """What each rank saw."""
    folder = tmp_path_factory.mktemp("job")
    with pytest.MonkeyPatch.context() as patch:
        if request.param == "files":
            patch.setattr(launch, "_mpiexec", lambda: None)
        assert main(["launch", "-n", str(SIZE), "--timeout", "60", str(JOB), str(folder)]) == 0
    return [json.loads((folder / f"{r}.json").read_text("utf-8")) for r in range(SIZE)]


def test_reductions(seen):
    expected = {
        "SUM": [10, 14],
        "AVG": [2, 3],
        "PRODUCT": [24, 120],
        "MIN": [1, 2],
        "MAX": [4, 5],
        "BAND": [1 & 2 & 3 & 4, 2 & 3 & 4 & 5],
        "BOR": [1 | 2 | 3 | 4, 2 | 3 | 4 | 5],
        "BXOR": [1 ^ 2 ^ 3 ^ 4, 2 ^ 3 ^ 4 ^ 5],
        "torch.bfloat16": "[6.0]",
        "torch.float16": "[6.0]",
        "torch.bool": "[True]",
        "torch.complex64": "[(6+0j)]",
        "torch.float64": "[6.0]",
    }
    for rank in range(SIZE):
        found = seen[rank]["collectives"]
        assert {name: found[name] for name in expected} == expected


def test_what_the_version_counters_hear_of(seen):
    """As in PyTorch: of what is copied to where it belongs, not of what is received there."""
    assert [seen[rank]["collectives"]["versions"] for rank in range(SIZE)] == [
        [0, 0, 0, 1, 1, 1, 0]
    ] * SIZE


def test_gathering_and_scattering(seen):
    rows = [[float(r), -float(r)] for r in range(SIZE)]
    for rank in range(SIZE):
        found = seen[rank]["collectives"]
        reduced = 6.0 if rank == 1 else float(rank)
        assert found["one to all"] == [1.0, reduced, 10.0 * rank, rows]
        assert found["gathered"] == ([0.0, 1.0, 2.0, 3.0] if rank == 2 else [])
        offset = sum(range(rank + 1))
        piece = [float(offset + k) for k in range(rank + 1)]
        swapped = [10.0 * r + rank for r in range(SIZE)]
        assert found["parts"] == [[4.0 * rank] * 2, swapped, piece * SIZE]


def test_handles_messages_and_objects(seen):
    for rank in range(SIZE):
        found = seen[rank]["handles"]
        assert found["async"] == [[4.0] * 3, 12.0, 6.0, True]
        assert found["ring"] == float((rank - 1) % SIZE)
        assert found["objects"] == [
            [[r, r] for r in range(SIZE)],
            [["from", 3, None]],
            [f"for {rank}"],
        ]
    assert seen[0]["handles"]["senders"] == [1, 2]


def test_groups(seen):
    for rank in range(SIZE):
        total, ranks, said = seen[rank]["handles"]["group"]
        if rank in (1, 3):
            assert (total, ranks, said) == (4.0, [[1, 3].index(rank), 2], [])
        else:
            assert (total, ranks) == (float(rank), [-1, -1])
            assert said == [
                f"Running all_reduce on global rank {rank} which does not belong to the given "
                f"group."
            ]
        first = rank - rank % 2
        assert seen[rank]["handles"]["subgroups"] == [4.0, [first, first + 1], 2, rank % 2]


def test_gradients_are_those_of_the_full_batch(seen):
    for rank in range(SIZE):
        found = seen[rank]["parallel"]
        assert found["full batch"] and found["overlaps"] and found["buffers from rank 0"]
        assert found["shared statistics"] < 1e-6
        assert found["buckets"] == [
            ["3.bias", "3.weight", "2.bias", "2.weight"],
            ["1.bias", "1.weight", "0.bias", "0.weight"],
        ]
        assert found["no_sync"] == [rank + 1.0, 2 * 2.5]
        assert found["grad bypasses"] == rank + 1.0
        assert found["hook"] == [[2.5, 2.5]]


def test_unused_parameters_are_found_or_named(seen):
    for rank in range(SIZE):
        found = seen[rank]["parallel"]
        assert found["unused"] == [4.0, 2.0, 1.0, 0.5, None, None]
        said, notes = found["strict"]
        used = "4 5" if rank == 0 else "2 3 4 5"
        assert said.startswith("Expected to have finished reduction in the prior iteration before")
        assert f"Parameter indices which did not receive grad for rank {rank}: {used}\n" in said
        assert "c.weight, c.bias" in notes[0]
        assert found["other model"].startswith("[1]: params[0] in this process with sizes [3, 2]")


DYING = """
import os, signal, sys, time
import gradviz as torch, gradviz.distributed as dist
dist.init_process_group()
if dist.get_rank() == 1:
    if sys.argv[1] == "raise":
        raise ValueError("rank one is unwell")
    if sys.argv[1] == "kill":
        os.kill(os.getpid(), signal.SIGKILL)
    time.sleep(60)
dist.all_reduce(torch.ones(1))
"""


@pytest.mark.parametrize("transport", TRANSPORTS)
@pytest.mark.parametrize(
    ("how", "said"),
    [
        ("raise", "rank 1 ended with ValueError: rank one is unwell"),
        ("kill", "rank 1"),
        ("sleep", "Timed out waiting 1000ms for all_reduce operation to complete"),
    ],
)
def test_a_rank_that_dies_or_sleeps_ends_the_job(transport, how, said, tmp_path):
    script = tmp_path / "dying.py"
    script.write_text(DYING, encoding="utf-8")
    code = "import sys\nfrom gradviz.cli import launch, main\n"
    if transport == "files":
        code += "launch._mpiexec = lambda: None\n"
    code += "sys.exit(main.main(sys.argv[1:]))"
    command = [sys.executable, "-c", code, "launch", "-n", "2", "--timeout", "1", str(script), how]
    done = subprocess.run(command, capture_output=True, text=True, timeout=50)
    assert done.returncode != 0 and said in done.stderr, done.stderr


def test_what_cannot_be_launched(capsys, tmp_path):
    assert main(["launch", "-n", "2", str(tmp_path / "none.py")]) == 2
    assert "no such file" in capsys.readouterr().err
    assert main(["launch", "-n", "0", str(JOB)]) == 2
    assert "must be 1 or more" in capsys.readouterr().err


def test_uneven_inputs(seen):
    for rank in range(SIZE):
        found = seen[rank]["uneven"]
        shares = [(SIZE - k) / SIZE for k in range(rank + 1)]
        assert found["True"] == [shares, float(SIZE)]
        assert found["False"] == [[1.0] * (rank + 1), float(SIZE)]
        assert found["buffers"] == seen[0]["uneven"]["buffers"]
        alone = "Rank 0 exhausted all inputs."
        others = "Detected at least one rank that exhausted inputs. Throwing across all ranks."
        assert found["early"] == (others if rank else alone)
        assert found["none"] == "The join context manager requires at least one joinable"
