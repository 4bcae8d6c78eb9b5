// As dispatch-random.c with a program of four steps that come again and again: each indirect call is foreseen.
#define PERIOD 4
#include "dispatch-random.c"
