// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0
/*
 * A hook that does nothing, to see what hooks take on this machine (dearness.rs). Not tp_btf, which would need the types of the kernel.
 */
#include "core.h"

char LICENSE[] SEC("license") = "Dual BSD/GPL";

SEC("raw_tp/sys_enter")
int nothing(void *context)
{
	return 0;
}
