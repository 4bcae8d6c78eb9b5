// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0
/*
 * TCP by process: what was sent again, how long connecting took, writes that waited for a delayed acknowledgement, full listen queues.
 *
 * Most of it happens in interrupts, where nobody is known. So a socket remembers the process that connected it, listens on it or
 * wrote to it last, in its own storage.
 *
 * Nagle's algorithm (RFC 896) keeps a small segment back while an earlier one is not acknowledged; the other side may delay its
 * acknowledgement (RFC 1122, 4.2.3.2), on Linux by 40 ms or more. After a write it shows as: less than a segment is left to send, something is in
 * flight, and the socket does not forbid it (TCP_NODELAY). The stall ends with the next packet that acknowledges all that was in flight.
 *
 * The two hooks that see stalls run for each write and each packet. Where that is too often they are attached in a part of the time (thin.h), in
 * stretches that are much longer than a stall; one that lies across the edge of a stretch is not seen.
 */
#include "counted.h"
#include "thin.h"

char LICENSE[] SEC("license") = "Dual BSD/GPL";

/* include/net/tcp_states.h */
enum { TCP_ESTABLISHED = 1, TCP_SYN_SENT = 2, TCP_CLOSE = 7, TCP_LISTEN = 10 };
enum { IPPROTO_TCP = 6 };
/* TCP_NAGLE_OFF | TCP_NAGLE_CORK, include/net/tcp.h: with either, Nagle's algorithm is not what keeps data back. */
enum { NO_NAGLE = 3 };
#define STALL 35000000ull

#pragma clang attribute push(__attribute__((preserve_access_index)), apply_to = record)

struct sock_common {
	unsigned short skc_family;
	unsigned char skc_state;
};

struct sock {
	struct sock_common __sk_common;
	__u16 sk_protocol;
};

struct tcp_sock {
	__u32 mss_cache;
	__u32 write_seq;
	__u32 snd_nxt;
	__u32 snd_una;
	__u32 packets_out;
	__u8 nonagle : 4;
};

struct sk_buff {
	unsigned char *head;
	__u16 transport_header;
};

#pragma clang attribute pop

/* include/uapi/linux/tcp.h: this is what lies in packets. */
struct tcp_header {
	__be16 source;
	__be16 dest;
	__be32 seq;
	__be32 ack_seq;
};

/* Runs of the two hooks that see stalls. */
enum { COUNT_PACKETS = COUNT_LOST_STACKS + 1 };

/* Read by bpf.rs; so are the structures below. */
struct key {
	__u32 epoch;
	__u32 kernel_thread;
	char comm[TASK_COMM_LEN];
};

struct sums {
	__u64 retransmits;
	__u64 connects;
	__u64 connect_time;
	__u64 listen_overflows;
	__u64 stalls;
	__u64 stall_time;
};

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 8192);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, struct key);
	__type(value, struct sums);
} sums SEC(".maps");

struct owner {
	__u64 connecting;
	/* Since when data is kept back, and up to where it was sent then. */
	__u64 held;
	__u32 sent;
	__u32 kernel_thread;
	char comm[TASK_COMM_LEN];
};

struct {
	__uint(type, BPF_MAP_TYPE_SK_STORAGE);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, int);
	__type(value, struct owner);
} owners SEC(".maps");

/* include/net/dropreason-core.h; the value is that of the running kernel. */
enum skb_drop_reason { SKB_DROP_REASON_TCP_LISTEN_OVERFLOW = 40 };

static const struct sums NOTHING;

static __always_inline void own(struct owner *owner)
{
	struct task_struct *task = bpf_get_current_task_btf();

	owner->kernel_thread = !!(task->flags & PF_KTHREAD);
	name_process(owner->comm, task);
}

/* The sums of the process that a socket belongs to; of no name where it is not known. */
static __always_inline struct sums *sums_of_owner(struct owner *owner)
{
	struct key key = {.epoch = epoch_now()};

	count(COUNT_EVENTS);
	if (owner) {
		key.kernel_thread = owner->kernel_thread;
		__builtin_memcpy(key.comm, owner->comm, sizeof(key.comm));
	}
	return sums_of(&sums, &key, &NOTHING);
}

SEC("tp_btf/inet_sock_set_state")
int BPF_PROG(state_changes, struct sock *sk, int before, int after)
{
	struct owner *owner;
	struct sums *to;
	__u64 start;

	if (sk->sk_protocol != IPPROTO_TCP)
		return 0;
	if (before == TCP_CLOSE && (after == TCP_SYN_SENT || after == TCP_LISTEN)) {
		owner = bpf_sk_storage_get(&owners, sk, 0, BPF_SK_STORAGE_GET_F_CREATE);
		if (!owner) {
			count(COUNT_LOST);
			return 0;
		}
		own(owner);
		owner->connecting = after == TCP_SYN_SENT ? bpf_ktime_get_ns() : 0;
		return 0;
	}
	if (before != TCP_SYN_SENT)
		return 0;
	owner = bpf_sk_storage_get(&owners, sk, 0, 0);
	if (!owner || !owner->connecting)
		return 0;
	start = owner->connecting;
	owner->connecting = 0;
	if (after != TCP_ESTABLISHED)
		return 0;
	to = sums_of_owner(owner);
	if (to) {
		__sync_fetch_and_add(&to->connects, 1);
		__sync_fetch_and_add(&to->connect_time, bpf_ktime_get_ns() - start);
	}
	return 0;
}

SEC("tp_btf/tcp_retransmit_skb")
int BPF_PROG(segment_is_sent_again, struct sock *sk)
{
	struct sums *to = sums_of_owner(bpf_sk_storage_get(&owners, sk, 0, 0));

	if (to)
		__sync_fetch_and_add(&to->retransmits, 1);
	return 0;
}

/*
 * Whether Nagle's algorithm does not keep data of this socket back. Servers and clients that care forbid it: so this is asked before anything that
 * costs more, for both hooks run for each packet.
 */
static __always_inline bool may_not_wait(struct tcp_sock *tcp)
{
	return BPF_CORE_READ_BITFIELD(tcp, nonagle) & NO_NAGLE;
}

/* After each write to a socket. */
SEC("tp_btf/sock_send_length")
int BPF_PROG(socket_is_written, struct sock *sk, int result)
{
	struct tcp_sock *tcp;
	struct owner *owner;
	__u32 left;

	if (!attached_since())
		return 0;
	count(COUNT_PACKETS);
	if (sk->sk_protocol != IPPROTO_TCP || result <= 0)
		return 0;
	tcp = bpf_skc_to_tcp_sock(sk);
	if (!tcp)
		return 0;
	owner = bpf_sk_storage_get(&owners, sk, 0, BPF_SK_STORAGE_GET_F_CREATE);
	if (!owner) {
		count(COUNT_LOST);
		return 0;
	}
	if (!owner->comm[0])
		own(owner);
	/* Whatever was kept back goes out. */
	if (may_not_wait(tcp)) {
		owner->held = 0;
		return 0;
	}
	if (owner->held)
		return 0;
	left = tcp->write_seq - tcp->snd_nxt;
	if (!left || left >= tcp->mss_cache || !tcp->packets_out)
		return 0;
	owner->sent = tcp->snd_nxt;
	owner->held = bpf_ktime_get_ns();
	return 0;
}

/* A packet has come for an established connection; it is not yet looked at. */
SEC("tp_btf/tcp_probe")
int BPF_PROG(packet_comes, struct sock *sk, struct sk_buff *skb)
{
	struct tcp_sock *tcp = bpf_skc_to_tcp_sock(sk);
	__u64 since = attached_since(), time;
	struct tcp_header *header;
	struct owner *owner;
	struct sums *to;
	__be32 ack;

	if (!since)
		return 0;
	count(COUNT_PACKETS);
	if (!tcp || may_not_wait(tcp))
		return 0;
	owner = bpf_sk_storage_get(&owners, sk, 0, 0);
	if (!owner || !owner->held)
		return 0;
	/* What acknowledged it may have come when nobody looked. */
	if (owner->held < since) {
		owner->held = 0;
		return 0;
	}
	header = (void *)(BPF_CORE_READ(skb, head) + BPF_CORE_READ(skb, transport_header));
	if (bpf_probe_read_kernel(&ack, sizeof(ack), &header->ack_seq))
		return 0;
	if ((__s32)(__builtin_bswap32(ack) - owner->sent) < 0)
		return 0;
	time = bpf_ktime_get_ns() - owner->held;
	owner->held = 0;
	if (time < STALL)
		return 0;
	to = sums_of_owner(owner);
	if (to) {
		__sync_fetch_and_add(&to->stalls, 1);
		__sync_fetch_and_add(&to->stall_time, time);
	}
	return 0;
}

/* A packet is thrown away. `sk` since Linux 6.11, the reason since 6.15. */
SEC("tp_btf/kfree_skb")
int BPF_PROG(packet_is_dropped, struct sk_buff *skb, void *site, __u32 reason, struct sock *sk)
{
	struct sums *to;

	if (!bpf_core_enum_value_exists(enum skb_drop_reason, SKB_DROP_REASON_TCP_LISTEN_OVERFLOW) ||
	    reason != bpf_core_enum_value(enum skb_drop_reason, SKB_DROP_REASON_TCP_LISTEN_OVERFLOW))
		return 0;
	to = sums_of_owner(sk ? bpf_sk_storage_get(&owners, sk, 0, 0) : 0);
	if (to)
		__sync_fetch_and_add(&to->listen_overflows, 1);
	return 0;
}
