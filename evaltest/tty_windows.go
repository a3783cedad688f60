package evaltest

// ttyPath is the console's output, whatever standard output is.
const ttyPath = "CONOUT$"
