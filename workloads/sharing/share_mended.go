package main

// Bytes between what two goroutines use: two cache lines, since processors fetch pairs.
const mended = true
const gap = 128
