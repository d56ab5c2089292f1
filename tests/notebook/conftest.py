"""A shell without a front end, and a real kernel, for the tests of the notebook."""

import os
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture
def shell(tmp_path):
    """A plain IPython shell of its own that forgets everything afterwards."""
    from IPython.core.interactiveshell import InteractiveShell
    from traitlets.config import Config

    config = Config()
    config.HistoryManager.enabled = False
    config.InteractiveShell.colors = "nocolor"
    InteractiveShell.clear_instance()
    made = InteractiveShell.instance(config=config, ipython_dir=str(tmp_path))
    yield made
    made.run_cell("%unload_ext gradviz", silent=True)
    made.reset()
    InteractiveShell.clear_instance()


@pytest.fixture
def run(shell, capsys):
    """Run a cell in the shell; what it printed (standard output, then standard error)."""

    def run_cell(text):
        capsys.readouterr()
        shell.run_cell(text, store_history=True)
        out, err = capsys.readouterr()
        return out + err

    return run_cell


class Kernel:
    """A kernel that runs cells and tells what they sent."""

    def __init__(self):
        from jupyter_client.manager import KernelManager

        self.manager = KernelManager(kernel_name="python3")
        path = os.pathsep.join(filter(None, [str(ROOT), os.environ.get("PYTHONPATH")]))
        self.manager.start_kernel(env=os.environ | {"PYTHONPATH": path})
        self.client = self.manager.client()
        self.client.start_channels()
        self.client.wait_for_ready(timeout=60)

    def start(self, text, cell_id=None):
        """Send a cell; its message id."""
        content = {
            "code": text, "silent": False, "store_history": True, "user_expressions": {},
            "allow_stdin": False, "stop_on_error": True,
        }  # fmt: skip
        metadata = {"cellId": cell_id} if cell_id else {}
        message = self.client.session.msg("execute_request", content, metadata=metadata)
        self.client.shell_channel.send(message)
        return message["header"]["msg_id"]

    def until_idle(self, message_id, timeout=60, answered=True):
        """Every message until the cell is over; messages to widgets are not ``answered``."""
        found = []
        while True:
            message = self.client.get_iopub_msg(timeout=timeout)
            if message["parent_header"].get("msg_id") != message_id:
                found.append(message)
                continue
            if message["msg_type"] == "status" and message["content"]["execution_state"] == "idle":
                if answered:
                    self.client.get_shell_msg(timeout=timeout)
                return found
            found.append(message)

    def run(self, text, cell_id="cell"):
        """Run a cell as JupyterLab does (cells have names); every message it sent."""
        return self.until_idle(self.start(text, cell_id))

    def tell(self, comm_id, **content):
        """Send what a page would send to its widget; every message that came of it."""
        data = {"method": "custom", "content": content}
        message = self.client.session.msg("comm_msg", {"comm_id": comm_id, "data": data})
        self.client.shell_channel.send(message)
        return self.until_idle(message["header"]["msg_id"], answered=False)

    def close(self):
        """End it."""
        self.client.stop_channels()
        self.manager.shutdown_kernel(now=True)


@pytest.fixture
def kernel():
    """A fresh kernel."""
    pytest.importorskip("ipykernel", reason="ipykernel is not installed")
    made = Kernel()
    yield made
    made.close()


def printed(messages):
    """What went to standard output and standard error."""
    return "".join(m["content"]["text"] for m in messages if m["msg_type"] == "stream")


def displays(messages, kind="display_data"):
    """The contents of the displays of one kind."""
    return [m["content"] for m in messages if m["msg_type"] == kind]


def frames(messages):
    """(message, buffers) of every frame of a view."""
    return [
        (m["content"]["data"]["content"], m["buffers"])
        for m in messages
        if m["msg_type"] == "comm_msg"
        and m["content"]["data"].get("content", {}).get("t") == "frame"
    ]
