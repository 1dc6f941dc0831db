"""Critical connections of a graph: minimal p-cohesions, which in Neo4j are stored and queried beside the data.

The public names are those of `__init__.pyi`. Each is loaded when it is first used, so that `import pcneo` and
`pcneo --help` are quick.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
