/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/*
 * What is kept of each connection, and what is added up of each service; read by bpf.rs in the order of the fields.
 *
 * A turn of a connection is: something was received, then something is sent. Of a client's connection it is the other way round.
 */
#ifndef TWINSCOPE_TURNS_H
#define TWINSCOPE_TURNS_H

#include "core.h"

/* include/linux/socket.h, include/linux/net.h, include/uapi/linux/in.h, include/net/tcp_states.h */
enum { AF_UNIX = 1, AF_INET = 2, AF_INET6 = 10 };
enum { SOCK_STREAM = 1, SOCK_DGRAM = 2 };
enum { IPPROTO_TCP = 6, IPPROTO_UDP = 17, IPPROTO_MPTCP = 262 };
enum { TCP_ESTABLISHED = 1, TCP_SYN_SENT = 2, TCP_SYN_RECV = 3, TCP_CLOSE = 7, TCP_LISTEN = 10 };
enum { MSG_PEEK = 2, MSG_ERRQUEUE = 0x2000 };
/* Somebody asked for this local port: include/net/sock.h. */
enum { SOCK_BINDPORT_LOCK = 8 };
/* For maps of sockets: an accepted socket begins with what its listener has. */
enum { BPF_F_CLONE = 1 << 9 };

#pragma clang attribute push(__attribute__((preserve_access_index)), apply_to = record)

struct in6_addr {
	__u32 words[4];
};

struct sk_buff;

struct tcp_sock {
	__u32 write_seq;
	__u32 snd_nxt;
};

struct ns_common {
	unsigned int inum;
};

struct net {
	struct ns_common ns;
};

struct possible_net {
	struct net *net;
};

struct sock_common {
	__be32 skc_daddr;
	__be16 skc_dport;
	__u16 skc_num;
	unsigned short skc_family;
	unsigned char skc_state;
	struct possible_net skc_net;
	struct in6_addr skc_v6_daddr;
};

struct bpf_local_storage;
struct socket;

struct sock {
	struct sock_common __sk_common;
	__u16 sk_type;
	__u16 sk_protocol;
	__u8 sk_userlocks : 4;
	struct socket *sk_socket;
	struct bpf_local_storage *sk_bpf_storage;
};

struct socket {
	struct sock *sk;
};

struct sockaddr_un {
	unsigned short sun_family;
	char sun_path[108];
};

struct unix_address {
	int len;
	struct sockaddr_un name[];
};

struct unix_sock {
	struct unix_address *addr;
	struct sock *peer;
};

struct bpf_iter__task_file {
	struct bpf_iter_meta *meta;
	struct task_struct *task;
	__u32 fd;
	struct file *file;
};

#pragma clang attribute pop

enum side { SIDE_UNKNOWN, SERVER, CLIENT };
enum protocol { TCP = 1, UDP, UNIX };
/* Of a server's connection: nothing is asked; a question was read, and nothing sent since; an answer has begun. Of a client's the same the other way round. */
enum phase { IDLE_CONNECTION, ASKED, ANSWERING };

struct connection {
	/* Its address: one that went through memory is a number to the verifier, which a function can be given. */
	__u64 socket;
	/* Where `by_calls`: when it was looked at last. */
	__u64 touched;
	/* Since when data lies there to be read; 0: none does, or nobody saw it come. */
	__u64 ready;
	/* When the first byte of the question went through, 0 where the clock was not asked; and how long it had lain there, 0 where that is not known. */
	__u64 asked;
	__u64 queued;
	/* When something went the other way last; of TCP, what a server writes has gone when it is sent. */
	__u64 answered;
	/* When it was established; 0: before anybody looked. */
	__u64 established;
	/* Not added up yet. */
	__u64 received;
	__u64 sent;
	__u32 receives;
	__u32 sends;
	/* Number of the service that it belongs to, 0 for none yet, and the process that this was found for. */
	__u32 service;
	__u32 tgid;
	/* Where `by_calls`: number of its file, for another socket may have had its address; 0: not known yet. */
	__u64 inode;
	__u8 side;
	__u8 phase;
	/* Data came before the connection was accepted. */
	__u8 unaccepted;
	/* Data came while an earlier question was not answered; and whether that which is being answered did. */
	__u8 held_up;
	__u8 was_held_up;
	/* Something went through it. */
	__u8 used;
	/* The times of this turn are added up. */
	__u8 timed;
	/* Of the answer something is written and not yet sent. */
	__u8 unsent;
	/* Turns that could not be added up yet. */
	__u32 missed;
	__u32 zero;
};

/* Whose connections are added up. `Key` of bpf.rs. */
struct service_key {
	__u32 tgid;
	__u16 port;
	__u8 side;
	__u8 protocol;
	/* Of a client's: the other side, as an IPv6 address. Of a Unix socket: the end of its path. */
	__u8 address[16];
	char path[40];
	char comm[TASK_COMM_LEN];
};

/*
 * Buckets of a time: the first holds what is below 2^LOWEST ns, then each power of two has 16 of the same width, up to 2^(LOWEST + OCTAVES), where the last is
 * open. `Scale` of scale.rs.
 */
enum { LOWEST = 10, OCTAVES = 26, PARTS_BITS = 4, PARTS = 1 << PARTS_BITS, TIMES = OCTAVES * PARTS + 2 };

enum time { SERVICE_TIME, QUEUE_TIME, ANSWER_TIME, KINDS_OF_TIME };

/* `Sums` of bpf.rs. */
struct sums {
	__u64 turns;
	__u64 receives;
	__u64 sends;
	__u64 received;
	__u64 sent;
	/* What follows is known of those turns of which times are taken. */
	__u64 timed;
	__u64 service_time;
	__u64 queued;
	__u64 queue_time;
	__u64 answers;
	__u64 answer_time;
	__u64 accept_waits;
	__u64 accept_wait_time;
	__u64 held_up;
	__u64 held_up_time;
	/* All are counted, whatever else is thinned out. */
	__u64 opened;
	__u64 closed;
	__u64 used;
};

/* `Distributions` of service.rs. */
struct distributions {
	__u32 times[KINDS_OF_TIME][TIMES];
};

#endif
