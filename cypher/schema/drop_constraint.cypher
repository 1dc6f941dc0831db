// Drop a constraint.
//
// parameters:
//   $name  string  its name
DROP CONSTRAINT $name IF EXISTS
