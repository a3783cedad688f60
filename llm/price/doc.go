// Package price says what calls to models cost, exactly, in decimals of USD.
//
// It comes with a table of list prices, each dated and with its source. What
// the table does not know has no price: an unknown cost is never 0, and a
// provider that itself says what a call cost is always believed. It is no
// invoice: discounts, taxes, and what is billed otherwise than by the token
// (searches, images, storage of caches) are not in it.
//
// To use it:
//
//  1. A run of package evaltest has the table of itself; another is given with
//     evaltest.Price(table.Response).
//  2. Override prices where yours differ: in code with [Table.With], or from a
//     file with [Load]. For a server of your own, [PerMillion] makes rates of
//     which Response serves as well.
//  3. Where the provider matters to the price (an id that many hosts serve), say
//     so: price.Default().On("groq").Response.
//  4. For sums, use [Total]: it says "at least" where something is unknown.
//
// A request whose prompt is longer than a tier's threshold costs that tier's
// rates as a whole, output included. Rates that depend on the hour, as
// DeepSeek's do, are taken at the time of the call.
package price
