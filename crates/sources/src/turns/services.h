/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/*
 * Which service a connection belongs to: a process with a port that it listens on, or with the other side of connections that it made. Part of turns.bpf.c.
 */
#ifndef TWINSCOPE_SERVICES_H
#define TWINSCOPE_SERVICES_H

#include "scope.h"
#include "turns.h"

enum { MOST_SERVICES = 8192 };

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, MOST_SERVICES);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, struct service_key);
	__type(value, __u32);
} services SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_HASH);
	__uint(max_entries, MOST_SERVICES);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, __u32);
	__type(value, struct sums);
} sums SEC(".maps");

/* Apart from the sums, for it is much larger: kernels have little memory for each CPU at hand, and turns must be counted at once. */
struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_HASH);
	__uint(max_entries, MOST_SERVICES);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, __u32);
	__type(value, struct distributions);
} distributions SEC(".maps");

/* The number of the newest service. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, __u32);
} newest SEC(".maps");

struct listener {
	__u32 net;
	__u32 port;
};

/* Local ports that somebody listens on, so that the side of a connection is known whose beginning nobody saw; and the number of the service that does. */
struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, 4096);
	__type(key, struct listener);
	__type(value, __u32);
} listeners SEC(".maps");

static const struct sums NOTHING;

static __always_inline struct listener local_of(struct sock *sk)
{
	return (struct listener){
		.net = BPF_CORE_READ(sk, __sk_common.skc_net.net, ns.inum),
		.port = BPF_CORE_READ(sk, __sk_common.skc_num),
	};
}

/* Fills in who is on which side of a Unix socket. An accepted one has the address of its listener; who connects has none as a rule, but its peer has. */
static __always_inline bool unix_sides(struct sock *sk, struct service_key *key)
{
	struct unix_sock *own = (void *)sk;
	struct unix_address *address = BPF_CORE_READ(own, addr);
	struct sock *peer;
	__u32 length, skipped, at;

	key->side = SERVER;
	if (!address) {
		peer = BPF_CORE_READ(own, peer);
		if (!peer)
			return 0;
		own = (void *)peer;
		address = BPF_CORE_READ(own, addr);
		key->side = CLIENT;
	}
	/* A pair without names: both ends are of one program as a rule. */
	if (!address)
		return 0;
	/* The end of the path tells more than its beginning. */
	length = BPF_CORE_READ(address, len);
	at = bpf_core_field_offset(struct unix_address, name) + bpf_core_field_offset(struct sockaddr_un, sun_path);
	if (length <= 2 || length > sizeof(struct sockaddr_un))
		return 0;
	length -= 2;
	skipped = length > sizeof(key->path) ? length - sizeof(key->path) : 0;
	length -= skipped;
	/* The compiler knows that, and would leave it out; old verifiers want to see it. */
	asm volatile("" : "+r"(length));
	if (length > sizeof(key->path))
		return 0;
	bpf_probe_read_kernel(key->path, length, (void *)address + at + skipped);
	return 1;
}

static __always_inline void far_side(struct sock *sk, struct service_key *key)
{
	__u32 v4;

	if (BPF_CORE_READ(sk, __sk_common.skc_family) == AF_INET6) {
		BPF_CORE_READ_INTO(&key->address, sk, __sk_common.skc_v6_daddr);
	} else {
		v4 = BPF_CORE_READ(sk, __sk_common.skc_daddr);
		key->address[10] = key->address[11] = 0xff;
		__builtin_memcpy(key->address + 12, &v4, sizeof(v4));
	}
	key->port = __builtin_bswap16(BPF_CORE_READ(sk, __sk_common.skc_dport));
}

/* Finds out which service a socket belongs to: 0 where it is of a kind that is not looked at. */
static __always_inline bool identify(struct sock *sk, __u32 side, struct service_key *key)
{
	__u16 family = BPF_CORE_READ(sk, __sk_common.skc_family);
	__u16 type = BPF_CORE_READ(sk, sk_type), protocol = BPF_CORE_READ(sk, sk_protocol);
	struct listener local;

	if (family == AF_UNIX) {
		key->protocol = UNIX;
		return type == SOCK_STREAM && unix_sides(sk, key);
	}
	if (family != AF_INET && family != AF_INET6)
		return 0;
	local = local_of(sk);
	if (protocol == IPPROTO_TCP) {
		key->protocol = TCP;
		if (side == SIDE_UNKNOWN)
			side = bpf_map_lookup_elem(&listeners, &local) ? SERVER : CLIENT;
	} else if (protocol == IPPROTO_UDP) {
		key->protocol = UDP;
		/* Who answers takes what comes from anyone: it is asked before it sends, or has a port that others know. */
		if (BPF_CORE_READ(sk, __sk_common.skc_dport))
			side = CLIENT;
		else if (side == SIDE_UNKNOWN)
			side = BPF_CORE_READ_BITFIELD_PROBED(sk, sk_userlocks) & SOCK_BINDPORT_LOCK ? SERVER : CLIENT;
	} else {
		return 0;
	}
	key->side = side;
	if (side == SERVER)
		key->port = local.port;
	else
		far_side(sk, key);
	return 1;
}

/* Not static, so that the kernel verifies them once and not for each call. */
int number_of(struct service_key *wanted);
int find_service(struct connection *connection);

/* The number of a service, which is new perhaps; 0 where there is no room. */
__noinline int number_of(struct service_key *wanted)
{
	__u32 *known, zero = 0, *last, number;
	struct service_key key;

	if (!wanted)
		return 0;
	/* Old verifiers take keys only from the stack of who asks, or from maps. */
	key = *wanted;
	known = bpf_map_lookup_elem(&services, &key);
	if (known)
		return *known;
	last = bpf_map_lookup_elem(&newest, &zero);
	if (!last)
		return 0;
	number = __sync_fetch_and_add(last, 1) + 1;
	/* Of all CPUs: the others begin at zero. Kernels keep little memory at hand for this and get more when that is used up: a service without is asked for again. */
	if (!bpf_map_lookup_elem(&sums, &number) && bpf_map_update_elem(&sums, &number, &NOTHING, BPF_NOEXIST))
		return 0;
	bpf_map_update_elem(&services, &key, &number, BPF_NOEXIST);
	known = bpf_map_lookup_elem(&services, &key);
	if (!known) {
		count(LOST_SERVICES);
		bpf_map_delete_elem(&sums, &number);
		return 0;
	}
	/* Another CPU was faster. */
	if (*known != number)
		bpf_map_delete_elem(&sums, &number);
	return *known;
}

/* Sets the service of a connection, whose socket is known, for the current process. */
__noinline int find_service(struct connection *connection)
{
	struct task_struct *task = bpf_get_current_task_btf();
	struct service_key key = {.tgid = task->tgid};

	if (!connection)
		return 0;
	connection->service = 0;
	connection->tgid = task->tgid;
	if (!identify((struct sock *)connection->socket, connection->side, &key))
		return 0;
	connection->side = key.side;
	BPF_CORE_READ_STR_INTO(&key.comm, task, group_leader, comm);
	connection->service = number_of(&key);
	/* There was no memory, or no room: it is asked for again. */
	if (!connection->service)
		connection->tgid = 0;
	return 0;
}

/* The sums of a service; 0 where there is none, or its process is gone. */
static __always_inline struct sums *sums_of(__u32 service)
{
	return service ? bpf_map_lookup_elem(&sums, &service) : 0;
}

#endif
