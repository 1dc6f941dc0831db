"""Critical connections of a Neo4j graph: minimal p-cohesions, stored and queried beside the data they describe.

The public names are those of `__init__.pyi`. Each is loaded when it is first used, so that `import pcneo` and
`pcneo --help` are quick.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
