// Index hubs by the run that wrote them; every query of a whole run starts here.
CREATE INDEX pcneo_cohesion_run IF NOT EXISTS
FOR (cohesion:PCohesion)
ON (cohesion.run)
