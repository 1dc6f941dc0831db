// The runs that hubs name but that are not on record.
//
// returns:
//   run        string   the run
//   cohesions  integer  its hubs
// scan: every hub is looked at; only `pcneo check` runs this.
MATCH (cohesion:PCohesion)
WHERE NOT EXISTS { MATCH (:PCohesionRun {id: cohesion.run}) }
RETURN coalesce(toStringOrNull(cohesion.run), '') AS run, count(cohesion) AS cohesions
ORDER BY run
