// Package bakeoff makes the files that a comparison of several models leaves:
// who was how right, how dear and how fast, and every answer that says so.
//
// It measures nothing and calls nobody: evaltest.Race and evaltest.Benchmark
// do, and this package makes rows of what they return. It prints nothing.
//
// Words: a contestant is a model with its settings; a leg is one way to work
// through the items; a lap is one leg in one pass; a pass is all legs, once.
//
//  1. Race a contestant's strategy and keep each [Race]; [Race.Row] is what a
//     file says of it, [Race.Throughput] the same with rates.
//  2. Make a [Row] of a whole run with [NewRow].
//  3. Write a [Summary] with [WriteJSON] and a run's answers with [WriteItems].
package bakeoff
