/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/*
 * Where `by_calls`: what goes through sockets, as the end of system calls tells it. Part of turns.bpf.c.
 */
#ifndef TWINSCOPE_CALLS_H
#define TWINSCOPE_CALLS_H

#include "files.h"
#include "registers.h"
#include "thin.h"
#include "turns.h"

/*
 * What a call does with its descriptors, by number; filled in by user space, for numbers differ by machine. Those that receive may have flags as their fourth
 * argument or, recvmsg(2), as the third; the result of recvmmsg(2) and sendmmsg(2) is a number of messages.
 */
enum call {
	CALL_NONE,
	CALL_RECEIVES,
	CALL_RECEIVES_FLAGS,
	CALL_RECEIVES_MESSAGE,
	CALL_RECEIVES_MESSAGES,
	CALL_SENDS,
	CALL_SENDS_MESSAGES,
	CALL_SPLICES,
};
const volatile __u8 call_class[CALLS] = {};

/* Most messages of one call whose lengths are read; the others are taken to be as long. */
enum { MOST_MESSAGES = 64 };

/* How long the messages of a call are together: `vector` of struct mmsghdr, include/linux/socket.h. */
static __always_inline __u64 length_of(__u64 vector, __u32 messages)
{
	__u64 sum = 0;
	__u32 length;

	for (int i = 0; i < MOST_MESSAGES; i++) {
		if (i >= messages || bpf_probe_read_user(&length, sizeof(length), (void *)(vector + i * 64 + 56)))
			break;
		sum += length;
	}
	return messages > MOST_MESSAGES ? sum * messages / MOST_MESSAGES : sum;
}

/* The file of a descriptor of the current process, where that is a socket; else 0. */
static __always_inline struct file *socket_file(struct task_struct *task, __u32 descriptor)
{
	struct file *file = file_behind(task, descriptor);

	return file && (BPF_CORE_READ(file, f_inode, i_mode) & S_IFMT) == S_IFSOCK ? file : 0;
}

/* Begins anew with a connection that was not looked at in a while, because nobody looked at any. */
static __always_inline void begin_anew(struct connection *connection, __u64 since)
{
	if (connection->touched < since) {
		connection->phase = IDLE_CONNECTION;
		connection->timed = 0;
	}
	connection->touched = bpf_ktime_get_ns();
}

/* What the current thread did with a descriptor: `more` messages beyond one, of `length` bytes in all. */
static __always_inline int descriptor_moves(struct task_struct *task, __u32 descriptor, __u64 length, __u32 more, __u32 way, __u64 since)
{
	struct connection *connection;
	struct file *file = socket_file(task, descriptor);
	struct socket *socket;
	struct sock *sk;
	__u64 address, inode;
	__u16 family;

	if (!file)
		return 0;
	socket = BPF_CORE_READ(file, private_data);
	sk = socket ? BPF_CORE_READ(socket, sk) : 0;
	if (!sk)
		return 0;
	address = (__u64)sk;
	inode = BPF_CORE_READ(file, f_inode, i_ino);
	connection = bpf_map_lookup_elem(&connections_by_address, &address);
	if (!connection || (connection->inode && connection->inode != inode)) {
		family = BPF_CORE_READ(sk, __sk_common.skc_family);
		if (family != AF_INET && family != AF_INET6 && family != AF_UNIX)
			return 0;
		connection = new_by_address(address);
		if (!connection) {
			count(LOST_CONNECTIONS);
			return 0;
		}
		if (way == RECEIVED && family != AF_UNIX && BPF_CORE_READ(sk, sk_protocol) == IPPROTO_UDP)
			connection->side = SERVER;
	}
	connection->socket = address;
	connection->inode = inode;
	begin_anew(connection, since);
	return moves(connection, task->tgid, length, more, way, 1);
}

SEC("tp_btf/sys_exit")
int BPF_PROG(call_ends, struct pt_regs *regs, long result)
{
	__u64 since = open_since(), length = result;
	struct task_struct *task;
	struct registers at;
	__u32 class, flags = 0, way, more = 0;

	if (result <= 0 || !since)
		return 0;
	task = bpf_get_current_task_btf();
	if (!in_scope(task) || is_compat(task) || !registers_of(&at, task) || at.call < 0 || at.call >= CALLS)
		return 0;
	class = call_class[masked(at.call, CALLS)];
	if (class == CALL_NONE)
		return 0;
	if (class == CALL_RECEIVES_FLAGS || class == CALL_RECEIVES_MESSAGES)
		flags = at.arguments[3];
	if (class == CALL_RECEIVES_MESSAGE)
		flags = at.arguments[2];
	/* Who looks ahead reads later. */
	if (flags & (MSG_PEEK | MSG_ERRQUEUE))
		return 0;
	if (class == CALL_RECEIVES_MESSAGES || class == CALL_SENDS_MESSAGES) {
		length = length_of(at.arguments[1], result);
		more = result - 1;
	}
	way = class == CALL_SENDS || class == CALL_SENDS_MESSAGES ? SENT : RECEIVED;
	descriptor_moves(task, at.arguments[0], length, more, way, since);
	if (class == CALL_SPLICES)
		descriptor_moves(task, at.arguments[2], length, 0, SENT, since);
	return 0;
}

#endif
