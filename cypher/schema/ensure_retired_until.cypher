// Index the hubs that a later version is without by the first such version, for the sweep.
CREATE INDEX pcneo_retired_until IF NOT EXISTS
FOR (cohesion:PCohesionRetired)
ON (cohesion.run, cohesion.until)
