"""Files that appear whole or not at all."""

import os
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from pcneo.basics.whole_file import check_place, whole_file
from pcneo.errors import ParameterError, PcneoError


def write(path: Path, text: bytes, **options) -> None:
    with whole_file(path, **options) as file:
        file.write(text)


@pytest.fixture
def set_umask() -> Iterator[Callable[[int], int]]:
    """`os.umask`, with the former one restored after the test."""
    before = os.umask(0o022)
    yield os.umask
    os.umask(before)


@pytest.mark.parametrize(("umask", "mode"), [(0o022, 0o644), (0o077, 0o600), (0o002, 0o664), (0o027, 0o640)])
@pytest.mark.parametrize("replace", [True, False])
def test_the_umask_decides_who_reads_a_file(tmp_path, set_umask, umask, mode, replace):
    set_umask(umask)
    write(tmp_path / "a.txt", b"text", replace=replace)
    assert (tmp_path / "a.txt").stat().st_mode & 0o777 == mode
    assert os.umask(0o022) == umask
    assert [path.name for path in tmp_path.iterdir()] == ["a.txt"]


def test_a_picture_obeys_the_umask_as_well(tmp_path, set_umask):
    from pcneo.plots.style import new_figure, save_figure

    set_umask(0o077)
    with new_figure() as (figure, _):
        save_figure(figure, tmp_path / "a.svg")
    assert (tmp_path / "a.svg").stat().st_mode & 0o777 == 0o600


def test_a_file_has_its_content_its_permissions_and_no_companions(tmp_path, set_umask):
    set_umask(0o022)
    write(tmp_path / "a.txt", b"text", replace=False)
    write(tmp_path / "b.txt", b"text", replace=False, mode=0o600)
    assert (tmp_path / "a.txt").read_bytes() == b"text"
    assert [path.stat().st_mode & 0o777 for path in sorted(tmp_path.iterdir())] == [0o644, 0o600]


@pytest.mark.parametrize("replace", [True, False])
def test_a_block_that_fails_leaves_what_was_there(tmp_path, replace):
    def interrupted() -> None:
        with whole_file(tmp_path / "new.txt", replace=replace) as file:
            file.write(b"half")
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        interrupted()
    assert list(tmp_path.iterdir()) == []


def test_an_older_file_goes_only_where_it_may(tmp_path):
    path = tmp_path / "a.txt"
    path.write_text("old")
    with pytest.raises(PcneoError, match="File exists"):
        write(path, b"new", replace=False)
    assert path.read_text() == "old"
    write(path, b"new", replace=True)
    assert path.read_text() == "new"
    assert len(list(tmp_path.iterdir())) == 1


def test_a_place_is_checked_before_the_work(tmp_path):
    (tmp_path / "there.svg").write_text("old")
    check_place(tmp_path / "there.svg", "plot", replace=True)
    with pytest.raises(ParameterError, match="exists and is not overwritten"):
        check_place(tmp_path / "there.svg", "path", replace=False)
    with pytest.raises(ParameterError, match="it is a folder"):
        check_place(tmp_path, "plot", replace=True)
    with pytest.raises(ParameterError, match=r"there is no folder .*no folder"):
        check_place(tmp_path / "no folder" / "a.svg", "plot", replace=True)
    assert [path.name for path in tmp_path.iterdir()] == ["there.svg"]
