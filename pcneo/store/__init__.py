"""Everything that talks to Neo4j: the statements, and the database that runs them.

Only this room imports the driver, and only `statements` makes query text, from the files under `cypher/`.
"""
