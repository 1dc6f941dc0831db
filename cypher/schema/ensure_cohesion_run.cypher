// Index hubs by the run that wrote them; every query of a whole run starts here.
CREATE INDEX IF NOT EXISTS
FOR (cohesion:PCohesion)
ON (cohesion.run)
