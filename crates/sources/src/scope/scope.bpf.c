// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0
/*
 * Marks the threads that a recording looks at: a new process or thread is marked if the one that began it is; those that are there
 * already by an iterator. The mark is of a thread, not of a process, because exec by a thread that is not the first gives the process
 * another first thread.
 */
#include "scope.h"

char LICENSE[] SEC("license") = "Dual BSD/GPL";

/* `WAY_…` of scope/mod.rs. */
enum { WAY_CHILDREN, WAY_TREE, WAY_CGROUP };

const volatile __u32 scope_way = WAY_CHILDREN;
/* The recorder: never marked itself. */
const volatile __u32 scope_recorder = 0;
/* WAY_CGROUP: the group's id in its hierarchy, and the number of that. */
const volatile __u64 scope_cgroup = 0;
const volatile __s32 scope_hierarchy = 0;

/* How many generations up an ancestor is looked for, and how many levels of groups. */
enum { MOST_GENERATIONS = 64, MOST_LEVELS = 32 };

/*
 * The processes that the iterator marks: WAY_CGROUP those in the group, WAY_TREE those that were named, of which it marks the descendants too.
 */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 65536);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, __u32);
	__type(value, __u32);
} scope_chosen SEC(".maps");

/* How often a whole process moved between groups, of which only the first thread was told. Read by scope/mod.rs. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, __u64);
} scope_moves SEC(".maps");

static __always_inline void mark(struct task_struct *task, bool in)
{
	struct scope_mark *mark;

	mark = bpf_task_storage_get(&scope_marks, task, 0, in ? BPF_LOCAL_STORAGE_GET_F_CREATE : 0);
	if (mark)
		mark->in = in;
}

static __always_inline bool is_marked(struct task_struct *task)
{
	struct scope_mark *mark = bpf_task_storage_get(&scope_marks, task, 0, 0);

	return mark && mark->in;
}

SEC("tp_btf/sched_process_fork")
int BPF_PROG(scope_fork, struct task_struct *parent, struct task_struct *child)
{
	__u32 tgid = child->tgid;

	/* Threads of the recorder. */
	if (tgid == scope_recorder)
		return 0;
	if ((scope_way == WAY_CHILDREN && parent->tgid == scope_recorder) || is_marked(parent))
		mark(child, 1);
	return 0;
}

static __always_inline bool descends(struct task_struct *task)
{
	struct task_struct *at = task;

	for (int i = 0; i < MOST_GENERATIONS; i++) {
		__u32 tgid = BPF_CORE_READ(at, tgid);

		if (bpf_map_lookup_elem(&scope_chosen, &tgid))
			return 1;
		if (tgid <= 1)
			return 0;
		at = BPF_CORE_READ(at, real_parent);
	}
	return 0;
}

SEC("iter/task")
int scope_existing(struct bpf_iter__task *ctx)
{
	struct task_struct *task = ctx->task;
	__u32 tgid;
	bool in;

	if (!task)
		return 0;
	tgid = task->tgid;
	if (tgid == scope_recorder || (task->flags & PF_KTHREAD))
		return 0;
	if (scope_way == WAY_TREE)
		in = descends(task);
	else
		in = bpf_map_lookup_elem(&scope_chosen, &tgid) != 0;
	/* Of a tree, who was in it stays in it when its parent ends. */
	if (in || scope_way == WAY_CGROUP)
		mark(task, in);
	return 0;
}

/* The pid of each thread that is marked, for who asks what is in scope. */
SEC("iter/task")
int scope_members(struct bpf_iter__task *ctx)
{
	struct task_struct *task = ctx->task;
	__u32 pid;

	if (!task || !is_marked(task))
		return 0;
	pid = task->pid;
	bpf_seq_write(ctx->meta->seq, &pid, sizeof(pid));
	return 0;
}

/* Whether `group` is the one that was asked for, or lies below it. */
static __always_inline bool lies_in(struct cgroup *group)
{
	if (BPF_CORE_READ(group, root, hierarchy_id) != scope_hierarchy)
		return 0;
	for (int i = 0; i < MOST_LEVELS; i++) {
		struct cgroup_subsys_state *up;

		if (BPF_CORE_READ(group, kn, id) == scope_cgroup)
			return 1;
		up = BPF_CORE_READ(group, self.parent);
		if (!up)
			return 0;
		/* `self` is the first member, and has no subsystem: the kernel does the same in cgroup_parent(). */
		group = (struct cgroup *)up;
	}
	return 0;
}

SEC("tp_btf/cgroup_attach_task")
int BPF_PROG(scope_attach, struct cgroup *to, const char *path, struct task_struct *task, bool whole)
{
	__u32 first = 0;
	__u64 *moves;

	if (BPF_CORE_READ(to, root, hierarchy_id) != scope_hierarchy || (__u32)task->tgid == scope_recorder)
		return 0;
	mark(task, lies_in(to));
	if (whole) {
		moves = bpf_map_lookup_elem(&scope_moves, &first);
		if (moves)
			__sync_fetch_and_add(moves, 1);
	}
	return 0;
}
