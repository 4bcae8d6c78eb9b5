// True sharing: a balance is changed under a spin lock by both threads. Mended, each has an account with a lock of its own.
#include "share.h"

static struct account {
    LINE int lock;
    volatile uint64_t balance;
} accounts[SHARE_MOST];

static struct account *account_of(unsigned thread) {
#ifdef MENDED
    return &accounts[thread];
#else
    (void)thread;
    return &accounts[0];
#endif
}

NAMED void deposit(struct account *account, uint64_t amount) {
    while (__atomic_exchange_n(&account->lock, 1, __ATOMIC_ACQUIRE)) {
#if defined(__x86_64__)
        __builtin_ia32_pause();
#endif
    }
    account->balance += amount;
    __atomic_store_n(&account->lock, 0, __ATOMIC_RELEASE);
}

static void work(struct share_thread *self) {
    uint64_t amount = self->index + 1;
    while (!share_over()) {
        for (unsigned i = 0; i < SHARE_ROUND; i++) {
            amount = share_work(amount, 10);
            deposit(account_of(self->index), amount & 7);
        }
        share_did(self, SHARE_ROUND);
    }
}

int main(int argc, char **argv) {
    share_begin(argc, argv, 2);
    for (unsigned i = 0; i < share_count; i++) {
        share_writes(i, &account_of(i)->lock, "account.lock");
        share_writes(i, (void *)&account_of(i)->balance, "account.balance");
    }
    return share_run(work);
}
