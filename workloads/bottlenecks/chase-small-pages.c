// As chase.c on 4-KiB pages: to the wait for the memory comes the walk through the page tables.
#define HUGE_PAGES false
#include "chase.c"
