// True sharing in C++: each request copies a shared_ptr to the configuration, so all threads count its references up and down.
// Mended, a request gets a plain reference.
#include "share.h"

#include <memory>

struct Configuration {
    uint64_t limit = 10;
};
static std::shared_ptr<const Configuration> current __attribute__((aligned(256)));

#ifdef MENDED
using Handle = const std::shared_ptr<const Configuration> &;
#else
using Handle = std::shared_ptr<const Configuration>;
#endif

NAMED uint64_t serve(Handle configuration, uint64_t request) { return share_work(request, 4) + configuration->limit; }

NAMED uint64_t requests(uint64_t request, unsigned count) {
    for (unsigned i = 0; i < count; i++)
        request = serve(current, request);
    return request;
}

static void work(share_thread *self) {
    uint64_t request = self->index + 1;
    while (!share_over()) {
        request = requests(request, SHARE_ROUND);
        share_did(self, SHARE_ROUND);
    }
}

int main(int argc, char **argv) {
    share_begin(argc, argv, 4);
    current = std::make_shared<const Configuration>();
#ifndef MENDED
    // make_shared puts the counts (after a pointer to a virtual table) in front of the object.
    for (unsigned i = 0; i < share_count; i++)
        share_writes(i, (const char *)current.get() - 8, "use count");
#endif
    return share_run(work);
}
