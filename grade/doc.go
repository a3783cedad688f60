// Package grade decides whether an answer is right, without a model.
package grade
