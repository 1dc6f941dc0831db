// Index the hubs of a run by the version that added them: hubs that a dead writer left are beyond every version.
// No index holds `until`: hubs would move in it behind a reader.
CREATE INDEX pcneo_cohesion_from IF NOT EXISTS
FOR (cohesion:PCohesion)
ON (cohesion.run, cohesion.from)
