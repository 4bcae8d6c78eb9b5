/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/*
 * Histograms by powers of two. User space has them as the columns b0 to b31.
 */
#ifndef TWINSCOPE_HISTOGRAM_H
#define TWINSCOPE_HISTOGRAM_H

#include "core.h"

enum { BUCKETS = 32 };

/* floor(log2(value)) as a bucket, the last being open. It can be used as an index: masked(). */
static __always_inline __u32 bucket_of(__u64 value)
{
	__u32 low = value, bits, shift;

	if (value >> (BUCKETS - 1))
		return BUCKETS - 1;
	bits = (low > 0xffff) << 4;
	low >>= bits;
	shift = (low > 0xff) << 3;
	low >>= shift;
	bits |= shift;
	shift = (low > 0xf) << 2;
	low >>= shift;
	bits |= shift;
	shift = (low > 0x3) << 1;
	low >>= shift;
	bits |= shift;
	return masked(bits | (low >> 1), BUCKETS);
}

#endif
