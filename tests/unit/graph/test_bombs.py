"""Files made to exhaust memory or time: each is refused by name, within 500 MB and five seconds."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import zlib
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pyarrow
import pyarrow.parquet
import pytest

from pcneo.basics.searches import Search
from pcneo.basics.selection import Selection
from pcneo.graph.files.cohesion_file_head import FileHead

MOST_BYTES, MOST_SECONDS = 500_000_000, 20.0  # of the processor: a slow one took 6 for the slowest, 5 a faster one
HEAD = b"# mechanism: respond\n# epsilon: 1\n"
FILE_HEAD = FileHead(Search("1/3"), "0.0", 1, Selection(("A",), ("B",), "id"), "g", "", "", 9, 1, (1, 1))


def packed(path: Path, filling: bytes, head: bytes = b"", gibibytes: float = 0.25) -> None:
    """Some kilobytes that unpack to a thousand times as much.

    What follows a full flush depends on nothing before it, so that a block is packed once and written many times.
    """
    block, blocks = filling * (2**20 // len(filling)), int(gibibytes * 1024)
    compressor = zlib.compressobj(9, wbits=-15)
    start, once, end = (
        compressor.compress(part) + compressor.flush(mode)
        for part, mode in ((head, zlib.Z_FULL_FLUSH), (block, zlib.Z_FULL_FLUSH), (b"", zlib.Z_FINISH))
    )
    check = zlib.crc32(head)
    for _ in range(blocks):
        check = zlib.crc32(block, check)
    length = len(head) + blocks * len(block)
    tail = check.to_bytes(4, "little") + (length % 2**32).to_bytes(4, "little")
    path.write_bytes(b"\x1f\x8b\x08" + bytes(7) + start + once * blocks + end + tail)


def sparse(path: Path, head: bytes = b"", size: int = 2**37) -> None:
    """A file of any size that takes no place."""
    with path.open("wb") as file:
        file.write(head)
        file.truncate(size)


def equal_values(path: Path, rows: int, members: int, text: str | None, head: FileHead = FILE_HEAD) -> None:
    """Cohesions whose values are all equal, so that Parquet and zstd leave little of them."""
    key = pyarrow.int64() if text is None else pyarrow.string()

    def keys(count: int) -> pyarrow.Array:
        if text is None:
            return pyarrow.array(np.zeros(count, np.int64))
        return pyarrow.DictionaryArray.from_arrays(pyarrow.array(np.zeros(count, np.int32)), [text]).cast(key)

    lists = pyarrow.ListArray.from_arrays(
        pyarrow.array(np.arange(rows + 1, dtype=np.int32) * members),
        keys(rows * members),
        type=pyarrow.list_(pyarrow.field("element", key, nullable=False)),
    )
    ones, true = pyarrow.array(np.ones(rows, np.int64)), pyarrow.array(np.ones(rows, np.bool_))
    names = {"vertex": keys(rows), "size": ones, "edges": ones, "density": ones.cast("float64")}
    names |= {"proven": true, "best": true, "members": lists}
    schema = pyarrow.schema([pyarrow.field(name, column.type, nullable=False) for name, column in names.items()])
    table = pyarrow.Table.from_arrays(list(names.values()), schema=schema.with_metadata(head.metadata()))
    pyarrow.parquet.write_table(table, path, compression="zstd", row_group_size=rows)
    assert path.stat().st_size < 300_000


def other_pages(path: Path) -> None:
    """Pages of more values than the end of the file says, which that does not keep a reader from unpacking."""
    large, small, rows = path.with_suffix(".large"), path.with_suffix(".small"), 50_000
    zeros = pyarrow.table({"vertex": np.zeros(10**7, np.int64)})
    pyarrow.parquet.write_table(zeros, large, compression="zstd", use_dictionary=False, row_group_size=10**7)
    equal_values(small, rows, 1, None)
    keys = pyarrow.array(np.random.default_rng(1).integers(0, 2**62, rows))  # which zstd leaves as large as they are
    table = pyarrow.parquet.read_table(small)
    table = table.set_column(0, table.schema.field(0), keys)
    pyarrow.parquet.write_table(table, small, compression="zstd", use_dictionary=False, row_group_size=rows)
    (of_large, of_small) = (pyarrow.parquet.ParquetFile(p).metadata.row_group(0).column(0) for p in (large, small))
    start, whole = of_large.data_page_offset, bytearray(small.read_bytes())
    pages = large.read_bytes()[start : start + of_large.total_compressed_size]
    assert len(pages) < of_small.total_compressed_size
    whole[of_small.data_page_offset : of_small.data_page_offset + len(pages)] = pages
    path.write_bytes(whole)


def public(epsilon: str) -> str:
    return f"# mechanism: edge\n# promise: all\n# k: 3\n# epsilon: {epsilon}\n# delta: 0\n# total: 1\nkey,count\n1,1\n"


def parties(folder: Path, **call: object) -> Path:
    """A collector's folder with a call, in which a message is still to be made."""
    said = {"release": "r", "epsilon": "1", "threshold": 4_512_089, "vertices": 2, "keys": [1, 2], **call}
    (folder / "call.json").write_text(json.dumps(said))
    return folder / "x.message.json"


def link(path: Path) -> None:
    path.symlink_to("/dev/zero")


READ = "from pcneo import read_release as f; f(path)"
LOAD = "from pcneo.graph.files import read_graph_file as f; f(path)"
ANSWERS = (
    "import numpy as np; from pcneo.release.answers_file import AnswersFile as F; "
    "F.open(path).answers(np.array([1, 2, 3]) if 'integers' in path else np.array(['a', 'b'], object))"
)
COHESIONS = (
    "import numpy as np; from pathlib import Path; from pcneo.graph.files.cohesion_file import CohesionFile as F\n"
    "f = F(Path(path)); keys = np.array(['a' * 20, 'b'], object) if 'text' in path else np.array([0, 1])\n"
    "for g in f.row_groups(keys): f.read(g.number, keys)"
)
COLLECT = (
    "from pathlib import Path; from pcneo.party.collecting import collect as f; f(Path(path).parent, 'counts.csv')"
)
BATCH = "from pcneo.release.request import read_batch as f; f(path)"
CONFIG = (
    "from pathlib import Path; from pcneo.service.service_settings import read_configuration as f; f(Path(path), [])"
)
LEDGER = "from pathlib import Path; from pcneo.party.own_ledger import read_ledger as f; f(Path(path))"

Make = Callable[[Path], object]
BOMBS: dict[str, tuple[str, Make, str]] = {
    "integers.answers.gz": (
        ANSWERS,
        lambda p: packed(p, b"1 2\n", HEAD),
        "are not in ascending order|unpacked, the most",
    ),
    "integers-blank.answers.gz": (ANSWERS, lambda p: packed(p, b"\n", HEAD), "more than 1 MiB unpacked"),
    "integers-one-line.answers.gz": (ANSWERS, lambda p: packed(p, b"7", HEAD), "100 times|more than"),
    "texts.answers.gz": (ANSWERS, lambda p: packed(p, b'"a","b"\n', HEAD), "are not in ascending order|100 times"),
    "texts-one-line.answers.gz": (ANSWERS, lambda p: packed(p, b"a", HEAD), "100 times|more than|field larger"),
    "head.answers.gz": (ANSWERS, lambda p: packed(p, b"x", b"# "), "first lines have no end"),
    "heads.answers.gz": (ANSWERS, lambda p: packed(p, b"# mechanism: respond\n", HEAD), "first lines have no end"),
    "epsilon.answers.gz": (
        ANSWERS,
        lambda p: packed(p, b"1 2\n", HEAD[:-2] + b"1e999999999\n", 0),
        "more than 300 digits",
    ),
    "edges.gz": (LOAD, lambda p: packed(p, b"1 2\n"), "100 times its size"),
    "texts.edges.gz": (LOAD, lambda p: packed(p, b"ann bob\n"), "100 times its size"),
    "x.graphml.gz": (LOAD, lambda p: packed(p, b"<node/>", b"<graphml>"), "100 times its size"),
    "padded.answers.gz": (ANSWERS, lambda p: (packed(p, b"1 2\n", HEAD, 0), os.truncate(p, 2**36)), "followed by more"),
    "edges": (LOAD, sparse, "more than 2 GiB"),
    "pipe.edges": (LOAD, os.mkfifo, "not a regular file"),
    "members.parquet": (COHESIONS, lambda p: equal_values(p, 1, 2 * 10**7, None), "more than this graph's cohesions"),
    "vertices.parquet": (COHESIONS, lambda p: equal_values(p, 10**7, 1, None), "more than this graph's cohesions"),
    "text.parquet": (COHESIONS, lambda p: equal_values(p, 10, 10**6, "a" * 20), "more than this graph's cohesions"),
    "other-pages.parquet": (COHESIONS, other_pages, "more than this graph's cohesions"),
    "repeated-text.parquet": (COHESIONS, lambda p: equal_values(p, 6_000, 1, "a" * 10**5), "the graph does not have"),
    "long-text.parquet": (COHESIONS, lambda p: equal_values(p, 1, 1, "a" * 10**8), "more than this graph's cohesions"),
    "pipe.parquet": (COHESIONS, os.mkfifo, "not a regular file"),
    "zeros.parquet": (COHESIONS, link, "not a regular file"),
    "epsilon.csv": (READ, lambda p: p.write_text(public("1e999999999")), "more than 1,000 digits"),
    "epsilon.json": (READ, lambda p: p.write_text(json.dumps(PUBLIC)), "more than 1,000 digits"),
    "sparse.csv": (READ, sparse, "more than 256 MiB"),
    "zeros.csv": (READ, lambda p: sparse(p, size=2**26), "not a public file"),
    "deep.json": (READ, lambda p: p.write_text("[" * 10**7), "not a public file"),
    "pipe.csv": (READ, os.mkfifo, "not a regular file"),
    "fifo/x.message.json": (COLLECT, lambda p: os.mkfifo(parties(p.parent)), "not a regular file"),
    "zero/x.message.json": (COLLECT, lambda p: link(parties(p.parent)), "not a regular file"),
    "large/x.message.json": (COLLECT, lambda p: sparse(parties(p.parent), b"{"), "x.message.json: it holds more than"),
    "call.json": (COLLECT, lambda p: parties(p.parent, epsilon="1e999999999"), "more than 300 digits"),
    "long/call.json": (COLLECT, lambda p: parties(p.parent, keys="9" * 2**25), "call.json: it holds more than 16 MiB"),
    "ledger.json": (LEDGER, link, "not a regular file"),
    "limit.json": (LEDGER, lambda p: p.write_text('{"key":1,"limit":"1e999999999","total":"1"}'), "300 digits"),
    "batch.csv": (BATCH, os.mkfifo, "not a regular file"),
    "sparse-batch.csv": (BATCH, sparse, "more than 16 MiB"),
    "pcneo.toml": (CONFIG, os.mkfifo, "not a regular file"),
}
PUBLIC = {
    **{"mechanism": "edge", "promise": "all", "k": 3, "epsilon": "1e999999999", "delta": "0", "total": 1},
    "counts": [{"key": 1, "count": 1}],
}


@pytest.fixture(scope="module")
def outcomes(tmp_path_factory: pytest.TempPathFactory) -> dict[str, tuple[str, float, int]]:
    """What reading each bomb came to: the error, processor time, and the most memory so far of a process for all."""
    cases = []
    for name, (code, make, _) in BOMBS.items():
        path = tmp_path_factory.mktemp("bomb") / Path(name).name
        make(path)
        cases.append((code, str(path)))
    program = """
import json, sys, time
from pathlib import Path
from pcneo.errors import PcneoError
for code, path in json.load(sys.stdin):
    begun, error = time.process_time(), None
    try:
        exec(code)
    except PcneoError as raised:
        error = str(raised)
    except Exception as raised:
        error = f"a traceback: {raised!r}"
    peak = Path("/proc/self/status").read_text().split("VmHWM:")[1].split()[0]  # `getrusage` has it from its parent
    print(json.dumps([error, time.process_time() - begun, int(peak) * 1024]), flush=True)
"""
    ended = subprocess.run(
        [sys.executable, "-c", program],
        input=json.dumps(cases),
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert ended.returncode == 0, ended.stderr[-2000:]
    return dict(zip(BOMBS, map(json.loads, ended.stdout.splitlines()), strict=True))


@pytest.mark.long
@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="reads the peak of memory from /proc")
@pytest.mark.parametrize("name", BOMBS)
def test_a_bomb_is_refused_by_name_within_little_memory_and_time(
    outcomes: dict[str, tuple[str, float, int]], name: str
) -> None:
    error, seconds, peak = outcomes[name]
    says = BOMBS[name][2]
    assert re.search(says, error or "it was accepted")
    assert Path(name).name in error or "digits" in says
    assert seconds < MOST_SECONDS
    assert peak < MOST_BYTES
