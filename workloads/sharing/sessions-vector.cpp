// False sharing in C++: sessions of 40 bytes lie behind each other in a vector, and each thread serves one. What lies in a line
// differs from one to the next.
#include "share.h"

#include <string_view>
#include <vector>

class OWN_LINE Session {
  public:
    // Returns what the message counts for.
    NAMED uint64_t receive(uint64_t length) {
        length &= peer_.size() - 1;
        messages_++;
        bytes_ += length;
        if (length > longest_)
            longest_ = length;
        return length;
    }
    void say_words(unsigned thread) const {
        share_reads(thread, &peer_, "Session::peer_");
        share_writes(thread, &messages_, "Session::messages_");
        share_writes(thread, &bytes_, "Session::bytes_");
        share_writes(thread, &longest_, "Session::longest_");
    }

  private:
    std::string_view peer_ = "a-host-x"; // set once
    uint64_t messages_ = 0, bytes_ = 0, longest_ = 0;
};

static std::vector<Session> sessions __attribute__((aligned(256)));

static void work(share_thread *self) {
    Session &session = sessions[self->index];
    uint64_t message = self->index + 1;
    while (!share_over()) {
        for (unsigned i = 0; i < SHARE_ROUND; i++) {
            message = share_work(message, 4);
            message += session.receive(message);
        }
        share_did(self, SHARE_ROUND);
    }
}

int main(int argc, char **argv) {
    share_begin(argc, argv, 4);
    sessions.resize(share_count);
    for (unsigned i = 0; i < share_count; i++)
        sessions[i].say_words(i);
    return share_run(work);
}
