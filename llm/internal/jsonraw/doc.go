// Package jsonraw reads the fields of JSON objects and the elements of lists
// without decoding or copying them. A client looks at each event of a stream at
// several levels; encoding/json checks and copies all that is inside at each of
// them.
//
// It checks nothing: what it is given must be valid JSON. Of anything else it
// reads something, and no more than is there. It is not for writing JSON.
//
// To use it:
//
//  1. Have json.Valid look at what came, once.
//  2. Read an object's fields with [Names.Read] or [Fields], a list's elements
//     with [Elements], a string with [Text], at any level inside.
//  3. Clone what is kept: all that is returned is a part of what was given.
package jsonraw
