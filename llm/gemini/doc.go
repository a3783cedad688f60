// Package gemini is a llm.Model for Google's Gemini, through the Gemini API or
// Vertex AI.
package gemini
