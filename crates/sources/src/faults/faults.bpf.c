// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0
/* Page faults that the kernel handles, by process, mode and access; stacks of one in N. */
#define COUNTED_STACKS
#include "counted.h"
#include "scope.h"
#include "thin.h"

char LICENSE[] SEC("license") = "Dual BSD/GPL";

/* Read by bpf.rs; so are the structures below. */
enum { KIND_USER, KIND_KERNEL };
enum { ACCESS_READ, ACCESS_WRITE, ACCESS_EXEC };

struct key {
	__u32 epoch;
	__u32 pid;
	__u32 kind;
	__u32 access;
	char comm[TASK_COMM_LEN];
};

struct sums {
	__u64 count;
};

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 32768);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, struct key);
	__type(value, struct sums);
} sums SEC(".maps");

struct record {
	struct key key;
	struct counted_stack stack;
};

static const struct sums NOTHING;

/* The error code of the processor: X86_PF_WRITE and X86_PF_INSTR, arch/x86/include/asm/trap_pf.h. */
static __always_inline __u32 x86_access(unsigned long code)
{
	if (code & 1 << 4)
		return ACCESS_EXEC;
	return code & 1 << 1 ? ACCESS_WRITE : ACCESS_READ;
}

/* The syndrome register: class of the exception and the bits WnR and CM of a data abort, arch/arm64/include/asm/esr.h. */
static __always_inline __u32 arm64_access(unsigned long code)
{
	__u32 class = code >> 26 & 0x3f;

	/* Instruction abort, from the program or the kernel. */
	if (class == 0x20 || class == 0x21)
		return ACCESS_EXEC;
	return (code & 1 << 6) && !(code & 1 << 8) ? ACCESS_WRITE : ACCESS_READ;
}

static __always_inline int fault(void *ctx, __u32 kind, unsigned long code)
{
	struct task_struct *task = bpf_get_current_task_btf();
	bool interrupt = on_other_stack(ctx, task);
	struct pt_regs___x86 *x86 = 0;
	struct key key = {};
	struct record *record;
	struct sums *to;

	if (!open_since() || !in_scope(task))
		return 0;
	/* Somebody only looked whether there is a page, as those do who copy its stack: the kernel does not count that as a fault either. */
	if (kind == KIND_KERNEL && task->pagefault_disabled > 0)
		return 0;
	count(COUNT_EVENTS);
	key.epoch = epoch_now();
	key.pid = task->tgid;
	key.kind = kind;
	key.access = bpf_core_field_exists(x86->orig_ax) ? x86_access(code) : arm64_access(code);
	name_process(key.comm, task);
	to = sums_of(&sums, &key, &NOTHING);
	if (!to)
		return 0;
	__sync_fetch_and_add(&to->count, 1);
	if (!take_stack())
		return 0;
	record = bpf_ringbuf_reserve(&stacks, sizeof(*record), 0);
	if (!record) {
		count(COUNT_LOST_STACKS);
		return 0;
	}
	record->key = key;
	fill_stack(ctx, &record->stack, task, interrupt);
	bpf_ringbuf_submit(record, BPF_RB_NO_WAKEUP);
	return 0;
}

SEC("tp_btf/page_fault_user")
int BPF_PROG(user_faults, unsigned long address, struct pt_regs *regs, unsigned long code)
{
	return fault(ctx, KIND_USER, code);
}

SEC("tp_btf/page_fault_kernel")
int BPF_PROG(kernel_faults, unsigned long address, struct pt_regs *regs, unsigned long code)
{
	return fault(ctx, KIND_KERNEL, code);
}
