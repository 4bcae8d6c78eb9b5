#!/usr/bin/env bash
# What following threads costs a program that does little but wait: four threads that contend for a mutex, and two that pass a byte to and fro on one
# CPU, about 100,000 switches a second. Each is run alone and recorded, in turn, with the ledger and stacks of waits (`--only threads`), and with all
# that is recorded with a command.
#
# usage: scripts/bench/ledger.sh [ROUNDS]
#     TWINSCOPE=path of the program; UNDER=words before the command: UNDER="chrt -f 1" keeps others of a busy machine out of it
#
# Prints lines "what<TAB>metric<TAB>unit<TAB>value": of the rounds' ratios the median and the quartiles, once of operations a second, once of CPU time an
# operation. Each run is measured after its first second, in which the recorder meets the files of the program: in parts of 50 ms, of which the tenth
# counts that others who use the machine disturbed least.
set -euo pipefail
# shellcheck source=scripts/lib/usage.sh
source "$(dirname "$0")/../lib/usage.sh"
cd "$(dirname "$0")/../.."
twinscope=${TWINSCOPE:-target/release/twinscope}
rounds=${1:-10}
read -ra under <<<"${UNDER:-}"
work=$(mktemp -d "${TMPDIR:-/tmp}/twinscope-ledger.XXXXXX")
trap 'rm -rf "$work"' EXIT
cat >"$work/work.c" <<'C'
#define _GNU_SOURCE
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

enum { THREADS = 4, HELD = 2000, PARTS = 1000 };
#define PART 0.05
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static volatile unsigned long sum;
static volatile int over;
static unsigned long done[THREADS * 64];
static int forth[2], back[2];
static long gap;

static double seconds(clockid_t of)
{
	struct timespec time;

	clock_gettime(of, &time);
	return time.tv_sec + time.tv_nsec / 1e9;
}

/* Holds the lock for some microseconds, and wants it again at once. */
static void *locks(void *number)
{
	while (!over) {
		pthread_mutex_lock(&mutex);
		for (int i = 0; i < HELD; i++)
			sum++;
		pthread_mutex_unlock(&mutex);
		done[(long)number * 64]++;
	}
	return 0;
}

static void spins(void)
{
	for (volatile long i = 0; i < gap; i++)
		;
}

static void to_first_cpu(void)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(0, &set);
	sched_setaffinity(0, sizeof(set), &set);
}

static void *answers(void *unused)
{
	char byte;

	to_first_cpu();
	while (read(forth[0], &byte, 1) == 1) {
		spins();
		if (write(back[1], &byte, 1) != 1)
			break;
	}
	return unused;
}

static void *asks(void *unused)
{
	char byte = 0;

	to_first_cpu();
	while (!over && write(forth[1], &byte, 1) == 1 && read(back[0], &byte, 1) == 1) {
		spins();
		/* Two switches. */
		done[0] += 2;
	}
	close(forth[1]);
	return unused;
}

static unsigned long all(void)
{
	unsigned long sum = 0;

	for (int i = 0; i < THREADS; i++)
		sum += *(volatile unsigned long *)&done[i * 64];
	return sum;
}

static int in_order(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

/* MODE WARM SECONDS GAP: operations a second, and nanoseconds of CPU time an operation, after a while that does not count. */
int main(int count, char **words)
{
	pthread_t threads[THREADS];
	static double rates[PARTS], costs[PARTS];
	int n = 0, mutexes, parts;

	if (count < 5)
		return 2;
	mutexes = !strcmp(words[1], "mutex");
	gap = atol(words[4]);
	if (pipe(forth) || pipe(back))
		return 1;
	if (mutexes)
		for (; n < THREADS; n++)
			pthread_create(&threads[n], 0, locks, (void *)(long)n);
	else {
		pthread_create(&threads[n++], 0, answers, 0);
		pthread_create(&threads[n++], 0, asks, 0);
	}
	usleep(atof(words[2]) * 1e6);
	for (parts = 0; parts < PARTS && parts * PART < atof(words[3]); parts++) {
		unsigned long before = all(), done;
		double wall = seconds(CLOCK_MONOTONIC), used = seconds(CLOCK_PROCESS_CPUTIME_ID);

		usleep(PART * 1e6);
		done = all() - before;
		rates[parts] = done / (seconds(CLOCK_MONOTONIC) - wall);
		costs[parts] = (seconds(CLOCK_PROCESS_CPUTIME_ID) - used) * 1e9 / (done ? done : 1);
	}
	qsort(rates, parts, sizeof(*rates), in_order);
	qsort(costs, parts, sizeof(*costs), in_order);
	over = 1;
	while (n--)
		pthread_join(threads[n], 0);
	fprintf(stderr, "%.0f %.1f\n", rates[parts - 1 - parts / 10], costs[parts / 10]);
	return 0;
}
C
"${CC:-cc}" -O2 -pthread -o "$work/work" "$work/work.c"

# Switches a second with a loop of so many turns between two: the most of three short runs, which others disturbed least.
most() {
    for ((n = 0; n < 3; n++)); do "${under[@]}" "$work/work" switches 0.1 0.3 "$1" 2>&1; done | sort -g | awk '{ most = $1 } END { print most }'
}

# The loop between two switches that makes 100,000 of them a second.
gap() {
    awk -v a="$(most 0)" -v b="$(most 4000)" 'BEGIN { g = 4000 * (1 / 1e5 - 1 / a) / (1 / b - 1 / a); printf "%.0f", (g > 0 ? g : 0) }'
}

# Operations a second and nanoseconds of CPU time of each, of one run; the recorder may say something too.
run() {
    local way=$1 mode=$2
    local words=("${under[@]}" "$work/work" "$mode" 1 2 "$between")
    case $way in
        alone) "${words[@]}" 2>&1 ;;
        threads) "$twinscope" record -q -f -o "$work/run.twin" --only threads -- "${words[@]}" 2>&1 ;;
        all) "$twinscope" record -q -f -o "$work/run.twin" -- "${words[@]}" 2>&1 ;;
    esac | grep -xE '[0-9.]+ [0-9.]+' || true
}

# Lines of `what`: the median and quartiles of the numbers read, less 1, in per cent.
spread() {
    sort -g | awk -v what="$1" -v metric="$2" '{ v[NR] = $1 } END {
        q = int((NR + 3) / 4); m = NR % 2 ? v[(NR + 1) / 2] : (v[NR / 2] + v[NR / 2 + 1]) / 2
        printf "%s\t%s\t%%\t%.1f\n", what, metric, 100 * m
        printf "%s\t%s, lower quartile\t%%\t%.1f\n%s\t%s, upper quartile\t%%\t%.1f\n", what, metric, 100 * v[q], what, metric, 100 * v[NR + 1 - q]
    }'
}

ways=(alone threads all)
for mode in mutex switches; do
    between=0 name="contended mutex"
    [[ $mode == mutex ]] || between=$(gap) name="100k switches/s"
    for ((round = 0; round < rounds; round++)); do
        # Another one is first each time: what warms up or slows down over time is on all sides.
        for ((n = 0; n < 3; n++)); do
            way=${ways[$(((n + round) % 3))]}
            run "$way" "$mode" >"$work/$way.now"
        done
        [[ -s $work/alone.now && -s $work/threads.now && -s $work/all.now ]] || continue
        cat "$work/alone.now" >>"$work/$mode.alone"
        for way in threads all; do paste -d ' ' "$work/alone.now" "$work/$way.now" >>"$work/$mode.$way"; done
    done
    [[ -s $work/$mode.alone ]] || { echo "ledger.sh: $name was never recorded" >&2; exit 1; }
    sort -g "$work/$mode.alone" | awk -v what="$name" '{ v[NR] = $1; c[NR] = $2 } END { m = int((NR + 1) / 2)
        printf "%s\toperations alone\t/s\t%.0f\n%s\talone, CPU time of each\tns\t%.0f\n", what, v[m], what, c[m] }'
    for way in threads all; do
        with="with the ledger"
        [[ $way == threads ]] || with="with all sources"
        awk '{ print 1 - $3 / $1 }' "$work/$mode.$way" | spread "$name" "loss $with"
        awk '{ print $4 / $2 - 1 }' "$work/$mode.$way" | spread "$name" "CPU time added $with"
    done
done
