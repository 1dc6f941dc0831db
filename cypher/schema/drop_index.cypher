// Drop an index.
//
// parameters:
//   $name  string  its name
DROP INDEX $name IF EXISTS
