package main

// Bytes between what two goroutines use: none.
const mended = false
const gap = 0
