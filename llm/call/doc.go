// Package call decides when a physical call is made.
package call
