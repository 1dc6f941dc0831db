"""Critical connections of a graph: minimal p-cohesions, which in Neo4j are stored and queried beside the data.

The public names are those of `__init__.pyi`. Each is loaded when it is first used, so that `import pcneo` and
`pcneo --help` are quick.
"""

import lazy_loader

_load, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)


def __getattr__(name: str) -> object:
    """Load a public name; one that only a graph in a database has is said to be there."""
    if name in __all__:
        return _load(name)
    of_graph = name in ("annotate", "audit", "release", "stream", "estimate")
    there = f"; a graph in a database has it: pcneo.connect().graph(NAME).{name}(...)" if of_graph else ""
    raise AttributeError(f"module 'pcneo' has no attribute {name!r}{there}", name=name)
