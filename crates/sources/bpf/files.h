/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/*
 * What stands behind the descriptors of a process.
 */
#ifndef TWINSCOPE_FILES_H
#define TWINSCOPE_FILES_H

#include "core.h"

/* Kinds of files in i_mode, include/uapi/linux/stat.h. */
enum { S_IFMT = 0170000, S_IFIFO = 0010000, S_IFREG = 0100000, S_IFSOCK = 0140000 };

/* The file behind a descriptor of `task`; 0 where there is none. */
static __always_inline struct file *file_behind(struct task_struct *task, __u32 descriptor)
{
	struct fdtable *table = BPF_CORE_READ(task, files, fdt);
	struct file **all, *file = 0;

	if (!table || descriptor >= BPF_CORE_READ(table, max_fds))
		return 0;
	all = BPF_CORE_READ(table, fd);
	bpf_probe_read_kernel(&file, sizeof(file), all + descriptor);
	return file;
}

#endif
