// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0
/*
 * Asks the kernel for the function at one of its addresses. It searches its table of symbols for it, where reading all of /proc/kallsyms
 * takes as long as some ten thousand such questions.
 */
#include "core.h"
#include <bpf/bpf_helpers.h>

char LICENSE[] SEC("license") = "Dual BSD/GPL";

/* Names are shorter than 512 bytes (KSYM_NAME_LEN), those of modules than 64. */
struct text {
	char bytes[640];
};

/* Read by kernel.rs. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct text);
} answer SEC(".maps");

struct question {
	__u64 address;
};

SEC("syscall")
int name_function(struct question *question)
{
	static const char form[] = "%ps";
	__u64 address = question->address;
	__u32 first = 0;
	struct text *text = bpf_map_lookup_elem(&answer, &first);

	return text ? bpf_snprintf(text->bytes, sizeof(text->bytes), form, &address, sizeof(address)) : 0;
}
