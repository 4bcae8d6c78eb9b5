// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0
/*
 * What servers did, counted from outside: the turns of connections, how long each took, and how long its question had lain there before it was read.
 *
 * Each connection keeps where it is in its turn, in the storage of its socket; an accepted one begins with what its listener has. Sums of a service, which
 * are a process and a port or the other side of its own connections, are kept for each CPU, and are added to once a turn.
 *
 * All that goes through sockets is counted. Clocks and histograms are dearer than that: times are taken of turns that begin while a gate is open, and
 * only then it is seen when data comes. Such a turn is timed to its end, however long it takes.
 *
 * Where the kernel does not tell of what goes through sockets (before Linux 6.3), it is seen at the end of system calls that read and write, by what
 * their descriptors are (calls.h); there connections are found by the address of their socket, and the gate is for all.
 */
#include "scope.h"
#include "thin.h"
#include "turns.h"

char LICENSE[] SEC("license") = "Dual BSD/GPL";

/*
 * Connections without memory to keep them in; services that there was no room for; turns of services without, whose connections ended; events of which the
 * clock was asked; moments, and those that found no room. Read by bpf.rs.
 */
enum { LOST_CONNECTIONS, LOST_SERVICES, LOST_TURNS, COUNT_EVENTS, COUNT_MOMENTS, LOST_MOMENTS, COUNTS };
#include "counts.h"
#include "follow.h"
#include "services.h"

/* Whether what goes through sockets is seen at the end of system calls. */
const volatile bool by_calls = 0;

struct {
	__uint(type, BPF_MAP_TYPE_SK_STORAGE);
	__uint(map_flags, BPF_F_NO_PREALLOC | BPF_F_CLONE);
	__type(key, int);
	__type(value, struct connection);
} connections SEC(".maps");

/* Where `by_calls`: by the address of the socket. */
struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, 16384);
	__type(key, __u64);
	__type(value, struct connection);
} connections_by_address SEC(".maps");

static const struct connection NEW;
static const struct distributions NO_TIMES;

static __always_inline __u32 time_bucket(__u64 time)
{
	__u64 rest = time >> LOWEST;
	__u32 octave, part;

	if (!rest)
		return 0;
	if (rest >> OCTAVES)
		return TIMES - 1;
	octave = 0;
	for (int bits = 16; bits; bits >>= 1) {
		__u64 over = rest >> (octave + bits);

		if (over)
			octave += bits;
	}
	part = (time >> (octave + LOWEST - PARTS_BITS)) & (PARTS - 1);
	return 1 + octave * PARTS + part;
}

int add_time(__u32 service, __u32 kind, __u64 time);

/* Whether there was memory for it. */
__noinline int add_time(__u32 service, __u32 kind, __u64 time)
{
	struct distributions *to = bpf_map_lookup_elem(&distributions, &service);
	__u32 bucket = time_bucket(time);

	if (!to) {
		bpf_map_update_elem(&distributions, &service, &NO_TIMES, BPF_NOEXIST);
		to = bpf_map_lookup_elem(&distributions, &service);
	}
	if (!to || bucket >= TIMES || kind >= KINDS_OF_TIME)
		return 0;
	to->times[kind][bucket]++;
	return 1;
}

/* Adds what went through a connection since that was last done. */
static __always_inline void add_traffic(struct sums *to, struct connection *connection)
{
	to->receives += connection->receives;
	to->sends += connection->sends;
	to->received += connection->received;
	to->sent += connection->sent;
	connection->receives = connection->sends = 0;
	connection->received = connection->sent = 0;
}

/* Whether times are taken of what begins now: to be added up, or to be followed. */
static __always_inline bool takes_times(void)
{
	return open_since() || follows_since();
}

/* The answer is over: the next question comes, or the connection ends. */
static __always_inline void ends_answer(struct connection *connection)
{
	struct sums *to;
	__u64 time;

	if (!connection->timed)
		return;
	connection->timed = 0;
	to = sums_of(connection->service);
	time = connection->answered - connection->asked;
	if (!to || !add_time(connection->service, ANSWER_TIME, time))
		return;
	to->answers++;
	to->answer_time += time;
}

/* The time that a question lay there before it was read is known. */
static __always_inline void add_queue_time(struct sums *to, struct connection *connection)
{
	__u64 time = connection->queued;

	if (!add_time(connection->service, QUEUE_TIME, time))
		return;
	to->queued++;
	to->queue_time += time;
	if (connection->unaccepted && connection->asked > connection->established) {
		to->accept_waits++;
		to->accept_wait_time += connection->asked - connection->established;
	}
	if (connection->was_held_up) {
		to->held_up++;
		to->held_up_time += time;
	}
}

enum way { RECEIVED, SENT };

/* Not static, so that they are verified once. */
int begins_answer(struct connection *connection);
int begins_question(struct connection *connection, __u32 way, __u32 timed);

/* The first of the answer goes through: this is a turn. */
__noinline int begins_answer(struct connection *connection)
{
	struct sums *to;
	__u64 time, now;

	if (!connection)
		return 0;
	if (connection->timed) {
		count(COUNT_EVENTS);
		now = connection->answered = bpf_ktime_get_ns();
		if (connection->side == SERVER)
			tell_connection(connection, MOMENT_ANSWERED, now, connection->queued);
		else
			tell_connection(connection, MOMENT_GOT, now, connection->ready ? now - connection->ready : 0);
	}
	to = sums_of(connection->service);
	if (to) {
		to->turns += 1 + connection->missed;
		connection->missed = 0;
		add_traffic(to, connection);
		if (connection->queued)
			add_queue_time(to, connection);
		time = connection->answered - connection->asked;
		if (connection->timed && add_time(connection->service, SERVICE_TIME, time)) {
			to->timed++;
			to->service_time += time;
		}
	} else {
		connection->missed++;
	}
	connection->unaccepted = 0;
	return 0;
}

/* The first of a question goes through. */
__noinline int begins_question(struct connection *connection, __u32 way, __u32 timed)
{
	__u64 ready;

	if (!connection)
		return 0;
	ready = way == RECEIVED ? connection->ready : 0;
	connection->was_held_up = ready && connection->held_up;
	connection->held_up = 0;
	connection->timed = timed;
	connection->asked = connection->queued = 0;
	/* A question that came while times were taken may be read later. */
	if (!timed && !ready)
		return 0;
	count(COUNT_EVENTS);
	connection->asked = bpf_ktime_get_ns();
	if (ready)
		connection->queued = connection->asked - ready;
	tell_connection(connection, way == RECEIVED ? MOMENT_ASKED : MOMENT_ASKS, connection->asked, connection->queued);
	return 0;
}

/* So many bytes went through, this way. `timed`: a turn that begins with this is. */
static __always_inline void goes_through(struct connection *connection, __u64 length, __u32 way, bool timed)
{
	bool is_question = (way == RECEIVED) == (connection->side == SERVER);
	struct sums *to;

	if (way == RECEIVED) {
		connection->receives++;
		connection->received += length;
	} else {
		connection->sends++;
		connection->sent += length;
	}
	if (!connection->used) {
		to = sums_of(connection->service);
		if (to) {
			connection->used = 1;
			to->used++;
		}
	}
	if (is_question && connection->phase != ASKED) {
		if (connection->phase == ANSWERING)
			ends_answer(connection);
		connection->phase = ASKED;
		begins_question(connection, way, timed);
	} else if (!is_question && connection->phase == ASKED) {
		connection->phase = ANSWERING;
		begins_answer(connection);
	} else {
		/* More of the same: streams may have nothing else. */
		if (is_question)
			connection->held_up = 0;
		else if (connection->timed)
			connection->answered = bpf_ktime_get_ns();
		to = sums_of(connection->service);
		if (to)
			add_traffic(to, connection);
	}
	if (way == RECEIVED)
		connection->ready = 0;
}

/* What the current thread did with a socket of which `connection` is kept; `more`: messages beyond one. */
static __always_inline int moves(struct connection *connection, __u32 tgid, long length, __u32 more, __u32 way, bool timed)
{
	if (connection->tgid != tgid)
		find_service(connection);
	/* Of a kind that is not looked at. */
	if (!connection->service && connection->tgid)
		return 0;
	if (way == RECEIVED)
		connection->receives += more;
	else
		connection->sends += more;
	goes_through(connection, length, way, timed);
	return 0;
}

/*
 * Whether something lies in a socket that was written and not sent: Nagle's algorithm keeps small segments back until what is in flight is acknowledged, and
 * large answers wait for the other side's window.
 */
static __always_inline bool has_unsent(struct sock *sk)
{
	struct tcp_sock *tcp = sk->sk_protocol == IPPROTO_TCP ? bpf_skc_to_tcp_sock(sk) : 0;

	return tcp && tcp->write_seq != tcp->snd_nxt;
}

static __always_inline int socket_moves(struct sock *sk, int result, int flags, __u32 way)
{
	struct connection *connection;
	struct task_struct *task;
	__u32 tgid;

	if (result <= 0 || (flags & (MSG_PEEK | MSG_ERRQUEUE)))
		return 0;
	task = bpf_get_current_task_btf();
	tgid = task->tgid;
	connection = bpf_sk_storage_get(&connections, sk, 0, 0);
	if (!connection || connection->tgid != tgid) {
		if ((task->flags & PF_KTHREAD) || !in_scope(task))
			return 0;
		if (!connection) {
			__u16 family = sk->__sk_common.skc_family;

			if (family != AF_INET && family != AF_INET6 && family != AF_UNIX)
				return 0;
			connection = bpf_sk_storage_get(&connections, sk, 0, BPF_SK_STORAGE_GET_F_CREATE);
			if (!connection) {
				count(LOST_CONNECTIONS);
				return 0;
			}
			if (sk->sk_protocol == IPPROTO_UDP && way == RECEIVED)
				connection->side = SERVER;
		}
		connection->socket = (__u64)sk;
	}
	moves(connection, tgid, result, 0, way, takes_times());
	if (way == SENT && connection->timed && connection->side == SERVER)
		connection->unsent = has_unsent(sk);
	return 0;
}

SEC("tp_btf/sock_recv_length")
int BPF_PROG(socket_receives, struct sock *sk, int result, int flags)
{
	return socket_moves(sk, result, flags, RECEIVED);
}

SEC("tp_btf/sock_send_length")
int BPF_PROG(socket_sends, struct sock *sk, int result, int flags)
{
	return socket_moves(sk, result, 0, SENT);
}

/*
 * A packet has come for an established connection; it is not yet looked at, and what it allows to be sent goes out from here on. Not gated: a turn is timed
 * to its end.
 */
SEC("tp_btf/tcp_probe")
int BPF_PROG(packet_comes, struct sock *sk, struct sk_buff *skb)
{
	struct connection *connection;

	if (!sk->sk_bpf_storage)
		return 0;
	connection = bpf_sk_storage_get(&connections, sk, 0, 0);
	if (!connection || !connection->unsent)
		return 0;
	connection->unsent = connection->timed && connection->phase == ANSWERING && has_unsent(sk);
	if (!connection->unsent)
		return 0;
	count(COUNT_EVENTS);
	connection->answered = bpf_ktime_get_ns();
	return 0;
}

static __always_inline int data_is_there(struct sock *sk)
{
	struct connection *connection;

	/* What is kept of a listener is what accepted sockets begin with: no data has come for those. */
	if (!sk->sk_bpf_storage || sk->__sk_common.skc_state == TCP_LISTEN)
		return 0;
	connection = bpf_sk_storage_get(&connections, sk, 0, 0);
	if (!connection || connection->ready)
		return 0;
	count(COUNT_EVENTS);
	connection->ready = bpf_ktime_get_ns();
	if (connection->side != SERVER)
		return 0;
	connection->held_up = connection->phase == ASKED;
	connection->unaccepted = connection->established && !connection->phase && !sk->sk_socket;
	return 0;
}

/* Data has come for a socket: on whatever CPU that was, for whoever will read it. */
SEC("tp_btf/sk_data_ready")
int BPF_PROG(data_comes, struct sock *sk)
{
	return open_since() ? data_is_there(sk) : 0;
}

/* The same while turns are followed. */
SEC("tp_btf/sk_data_ready")
int BPF_PROG(follow_data, struct sock *sk)
{
	return follows_since() ? data_is_there(sk) : 0;
}

static __always_inline void begins_client(struct connection *connection, struct sock *sk)
{
	connection->side = CLIENT;
	connection->established = 0;
	connection->socket = (__u64)sk;
	find_service(connection);
}

/* Somebody listens: sockets that are accepted begin with what is kept of this one. */
static __always_inline void begins_to_listen(struct connection *connection, struct sock *sk)
{
	struct listener local = local_of(sk);
	__u32 service;

	connection->side = SERVER;
	connection->socket = (__u64)sk;
	find_service(connection);
	service = connection->service;
	bpf_map_update_elem(&listeners, &local, &service, BPF_ANY);
}

static __always_inline void closes(struct connection *connection)
{
	struct sums *to = sums_of(connection->service);

	if (!to) {
		count_more(LOST_TURNS, connection->missed);
		return;
	}
	to->turns += connection->missed;
	connection->missed = 0;
	/* One that is asked may be reset while it answers: the answer counts when that call ends. */
	if (connection->phase == ANSWERING) {
		ends_answer(connection);
		connection->phase = IDLE_CONNECTION;
	}
	add_traffic(to, connection);
	to->closed++;
	connection->established = 0;
}

static __always_inline void opens(struct connection *connection)
{
	struct sums *to = sums_of(connection->service);

	connection->established = bpf_ktime_get_ns();
	if (to)
		to->opened++;
}

/* Where `by_calls`: what is kept of a socket from here on, whatever was kept of one that had its address before. */
static __always_inline struct connection *new_by_address(__u64 address)
{
	bpf_map_update_elem(&connections_by_address, &address, &NEW, BPF_ANY);
	return bpf_map_lookup_elem(&connections_by_address, &address);
}

/* What is kept of a socket, made where there is nothing yet and `make` says so. */
static __always_inline struct connection *kept_of(struct sock *sk, bool make)
{
	__u64 address = (__u64)sk;

	if (!by_calls)
		return bpf_sk_storage_get(&connections, sk, 0, make ? BPF_SK_STORAGE_GET_F_CREATE : 0);
	return make ? new_by_address(address) : bpf_map_lookup_elem(&connections_by_address, &address);
}

/* Where `by_calls`: a connection that nobody has accepted yet begins with what is known of its listener. */
static __always_inline struct connection *begins_server(struct sock *sk)
{
	struct listener local = local_of(sk);
	__u32 *service = bpf_map_lookup_elem(&listeners, &local);
	struct connection *connection;

	if (!service)
		return 0;
	connection = new_by_address((__u64)sk);
	if (!connection)
		return 0;
	connection->side = SERVER;
	connection->socket = (__u64)sk;
	connection->service = *service;
	return connection;
}

SEC("tp_btf/inet_sock_set_state")
int BPF_PROG(state_changes, struct sock *sk, int before, int after)
{
	struct connection *connection;
	struct task_struct *task;
	__u64 address = (__u64)sk;

	if (sk->sk_protocol != IPPROTO_TCP)
		return 0;
	if (after == TCP_LISTEN || after == TCP_SYN_SENT) {
		task = bpf_get_current_task_btf();
		if ((task->flags & PF_KTHREAD) || !in_scope(task))
			return 0;
		connection = kept_of(sk, 1);
		if (!connection) {
			count(LOST_CONNECTIONS);
			return 0;
		}
		if (after == TCP_LISTEN)
			begins_to_listen(connection, sk);
		else
			begins_client(connection, sk);
		return 0;
	}
	if (after == TCP_ESTABLISHED) {
		connection = by_calls && before == TCP_SYN_RECV ? begins_server(sk) : kept_of(sk, 0);
		if (connection && connection->side)
			opens(connection);
	} else if (after == TCP_CLOSE) {
		connection = kept_of(sk, 0);
		/* A listener that ends, and an attempt to connect, were no connections. */
		if (connection && before != TCP_LISTEN && before != TCP_SYN_SENT && (connection->service || connection->missed))
			closes(connection);
		if (by_calls)
			bpf_map_delete_elem(&connections_by_address, &address);
	}
	return 0;
}

/* Looks for sockets that listened before anybody looked. */
SEC("iter/task_file")
int read_listeners(struct bpf_iter__task_file *ctx)
{
	struct task_struct *task = ctx->task;
	struct file *file = ctx->file;
	struct connection *connection;
	struct service_key key = {};
	struct socket *socket;
	struct listener local;
	__u32 service;
	__u16 protocol;

	if (!task || !file || task->pid != task->tgid || !in_scope(task))
		return 0;
	socket = bpf_sock_from_file(file);
	if (!socket || !socket->sk || socket->sk->__sk_common.skc_state != TCP_LISTEN)
		return 0;
	protocol = socket->sk->sk_protocol;
	if (protocol != IPPROTO_TCP && protocol != IPPROTO_MPTCP)
		return 0;
	local = local_of(socket->sk);
	key.tgid = task->tgid;
	key.side = SERVER;
	key.protocol = TCP;
	key.port = local.port;
	BPF_CORE_READ_STR_INTO(&key.comm, task, group_leader, comm);
	service = number_of(&key);
	bpf_map_update_elem(&listeners, &local, &service, BPF_ANY);
	/*
	 * Who listens for MPTCP, as Go's programs do by default, is handed TCP sockets by clients who do not ask for it. They begin with what a socket
	 * behind this one has: nothing, so their port says whose they are.
	 */
	if (by_calls || protocol != IPPROTO_TCP)
		return 0;
	connection = bpf_sk_storage_get(&connections, socket->sk, 0, BPF_SK_STORAGE_GET_F_CREATE);
	if (!connection || connection->side)
		return 0;
	connection->side = SERVER;
	connection->tgid = task->tgid;
	connection->service = service;
	return 0;
}

#include "calls.h"
