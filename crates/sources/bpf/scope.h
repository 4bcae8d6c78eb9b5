/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/*
 * Which threads a recording looks at. Programs that include this must be loaded by `scope::Marks::load`, which shares the map
 * `scope_marks` of scope.bpf.c and sets `scope_everything`.
 */
#ifndef TWINSCOPE_SCOPE_H
#define TWINSCOPE_SCOPE_H

#include "core.h"

/* Every thread is in scope, those of the kernel too; nothing is marked then. */
const volatile bool scope_everything = 0;
/* The recorder's processes are no part of everything: itself, and the one that holds what it attached. No process has this number. */
const volatile __u32 scope_own = ~0U;
const volatile __u32 scope_holder = ~0U;

struct scope_mark {
	__u32 in;
};

struct {
	__uint(type, BPF_MAP_TYPE_TASK_STORAGE);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, int);
	__type(value, struct scope_mark);
} scope_marks SEC(".maps");

/*
 * Whether any eBPF program keeps something with `task`. With most that are not in scope nobody does, and then each hook that they come by is spared its
 * look-ups.
 */
static __always_inline bool has_storage(struct task_struct *task)
{
	return !bpf_core_field_exists(task->bpf_storage) || task->bpf_storage;
}

/* What `map` keeps with `task`; 0 for nothing. */
#define stored_with(map, task) (has_storage(task) ? bpf_task_storage_get(&map, task, 0, 0) : 0)

/* Whether `task` is looked at. `task` comes from a tp_btf or iterator context, or from bpf_get_current_task_btf(). */
static __always_inline bool in_scope(struct task_struct *task)
{
	struct scope_mark *mark;

	if (scope_everything)
		return (__u32)task->tgid != scope_own && (__u32)task->tgid != scope_holder;
	mark = stored_with(scope_marks, task);
	return mark && mark->in;
}

#endif
