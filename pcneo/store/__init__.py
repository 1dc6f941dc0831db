"""All that knows Neo4j: the statements, the gateway that runs them and, in `local`, a server to try things on.

Query text is made in `statements` alone, from the files under `cypher/`; only this package imports the driver.
"""
