"""The table "Where we differ from PyTorch" says what is so."""

import re

import pytest

import gradviz

READMES = ("README.md", "README.zh.md")


def row(root, name, words):
    """The row of a README's table that holds ``words``."""
    lines = (root / name).read_text(encoding="utf-8").splitlines()
    (found,) = (line for line in lines if line.startswith("|") and words in line)
    return found


@pytest.mark.parametrize("name", READMES)
def test_what_is_said_not_to_be_there_is_not(root, name):
    said = row(root, name, "`torch.jit`")
    names = re.findall(r"`torch\.(\w+)`", said.partition("NotImplementedError")[0])
    assert len(names) >= 5
    for missing in names:
        with pytest.raises(NotImplementedError, match=missing):
            getattr(gradviz, missing)()


def test_a_gpu_is_refused_with_the_words_of_the_table():
    for ask in (lambda: gradviz.ones(2, device="cuda"), lambda: gradviz.ones(2).to("cuda")):
        if gradviz.cuda.is_available():
            pytest.skip("there is a GPU here")
        with pytest.raises(
            (AssertionError, RuntimeError),
            match="Torch not compiled with CUDA enabled|Found no NVIDIA driver on your system",
        ):
            ask()


def test_files_are_safetensors_and_are_read_again(tmp_path):
    gradviz.save({"w": gradviz.ones(2)}, tmp_path / "w.pt")
    raw = (tmp_path / "w.pt").read_bytes()
    assert raw[8:9] == b"{" and int.from_bytes(raw[:8], "little") < len(raw)
    assert gradviz.load(tmp_path / "w.pt")["w"].tolist() == [1.0, 1.0]


def test_both_tables_have_the_same_rows(root):
    first, second = (
        [line.count("|") for line in (root / name).read_text(encoding="utf-8").splitlines()]
        for name in READMES
    )
    assert [count for count in first if count] == [count for count in second if count]
