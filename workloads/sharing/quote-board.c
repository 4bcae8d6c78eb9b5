// True sharing with plain loads and stores: one thread writes a price for each trade, the other reads it for each of its own. Mended,
// the price is written once in 256 trades.
#include "share.h"

static LINE struct board {
    volatile uint64_t price;
} board;
#ifdef MENDED
enum { EACH = 256 };
#else
enum { EACH = 1 };
#endif

NAMED uint64_t publish(uint64_t trade, unsigned number) {
    trade = share_work(trade, 8);
    if (number % EACH == 0)
        board.price = trade & 1023;
    return trade;
}

NAMED uint64_t value(uint64_t position) { return share_work(position + board.price, 8); }

static void work(struct share_thread *self) {
    uint64_t trade = self->index + 1;
    while (!share_over()) {
        for (unsigned i = 0; i < 1024; i++)
            trade = self->index ? value(trade) : publish(trade, i);
        share_did(self, 1024);
    }
    __asm__ volatile("" : : "r"(trade));
}

int main(int argc, char **argv) {
    share_begin(argc, argv, 2);
#ifndef MENDED
    share_writes(0, &board.price, "board.price");
    for (unsigned i = 1; i < share_count; i++)
        share_reads(i, &board.price, "board.price");
#endif
    return share_run(work);
}
