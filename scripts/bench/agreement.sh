#!/usr/bin/env bash
# How well the figures agree with those of the kernel and of the tools people know, each of one and the same run where two can look at once: waits
# for a CPU with /proc/PID/schedstat, shares of functions with perf, counts of system calls with strace -c. What is not installed is left out.
#
# usage: scripts/bench/agreement.sh     TWINSCOPE=path of the program, SECONDS_EACH=number, ROUNDS=number
#
# Prints lines "what<TAB>metric<TAB>unit<TAB>value".
set -uo pipefail
# shellcheck source=scripts/lib/usage.sh
source "$(dirname "$0")/../lib/usage.sh"
cd "$(dirname "$0")/../.."
twinscope=$(realpath "${TWINSCOPE:-target/release/twinscope}")
each=${SECONDS_EACH:-5} rounds=${ROUNDS:-3}
work=$(mktemp -d "${TMPDIR:-/tmp}/twinscope-agreement.XXXXXX")
trap 'rm -rf "$work"' EXIT
ask() { "$twinscope" sql "$work/run.twin" --format csv "$1" | tail -n +2; }
line() { printf '%s\t%s\t%s\t%s\n' "$@"; }

cat >"$work/crowd.c" <<'C'
#define _GNU_SOURCE
#include <dirent.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

/* Six threads that compute and sleep in turn on fewer CPUs. Before they end: the kernel's own account of how long they ran and waited. */
static pthread_barrier_t over;

static double now(void)
{
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec + t.tv_nsec / 1e9;
}

static void *work(void *seconds)
{
	unsigned seed = (unsigned)pthread_self();
	double end = now() + *(double *)seconds;
	volatile unsigned long sum = 0;

	while (now() < end) {
		for (int i = rand_r(&seed) % 400000; i; i--)
			sum += i;
		usleep(rand_r(&seed) % 400);
	}
	pthread_barrier_wait(&over);
	pthread_barrier_wait(&over);
	return NULL;
}

int main(int count, char **words)
{
	double seconds = count > 1 ? atof(words[1]) : 5;
	unsigned long long ran = 0, waited = 0, r, w;
	pthread_t threads[6];

	pthread_barrier_init(&over, NULL, 7);
	for (int i = 0; i < 6; i++)
		pthread_create(&threads[i], NULL, work, &seconds);
	pthread_barrier_wait(&over);
	DIR *tasks = opendir("/proc/self/task");
	for (struct dirent *task; (task = readdir(tasks));) {
		char path[64];
		snprintf(path, sizeof path, "/proc/self/task/%.20s/schedstat", task->d_name);
		FILE *file = fopen(path, "r");
		if (file && fscanf(file, "%llu %llu", &r, &w) == 2)
			ran += r, waited += w;
		if (file)
			fclose(file);
	}
	fprintf(stderr, "kernel %llu %llu\n", ran, waited);
	pthread_barrier_wait(&over);
	for (int i = 0; i < 6; i++)
		pthread_join(threads[i], NULL);
	return 0;
}
C
cc -O2 -pthread -o "$work/crowd" "$work/crowd.c" || exit 1
if [[ -r /proc/self/schedstat ]]; then
    for ((round = 0; round < rounds; round++)); do
        "$twinscope" record -q -f -o "$work/run.twin" --only threads -- "$work/crowd" "$each" 2>"$work/kernel"
        ask "with last as (select max(user + kernel) as ran, max(runnable) as waited from thread_time where comm = 'crowd' group by pid, tid, start)
            select sum(ran), sum(waited) from last" >"$work/own"
        awk -F'[ ,]' 'FNR == NR { if ($1 == "kernel") { ran = $2; waited = $3 } next }
            ran && waited { printf "time on a CPU\tof that in schedstat\t%%\t%.2f\nwaits for a CPU\tof those in schedstat\t%%\t%.2f\n", 100 * $1 / ran, 100 * $2 / waited }' \
            "$work/kernel" "$work/own"
    done
else
    echo "SKIPPED: waits for a CPU: no /proc/self/schedstat" >&2
fi

cat >"$work/mixed.c" <<'C'
#include <stdlib.h>
#include <time.h>

static volatile unsigned long sink;
#define PART(name, weight) __attribute__((noinline)) static void name(void) { for (int i = 0; i < weight * 300; i++) sink += i; sink++; }
PART(one, 1) PART(two, 2) PART(four, 4) PART(eight, 8) PART(sixteen, 16)
/* Only functions of its own: of the aliases that a library has for one function each tool shows another. */
__attribute__((noinline)) static int less(int a, int b)
{
	return a < b;
}
__attribute__((noinline)) static void sorts(void)
{
	int numbers[300];
	for (int i = 0; i < 300; i++)
		numbers[i] = sink * (i + 7) % 1009;
	for (int i = 1; i < 300; i++)
		for (int j = i, t; j && less(numbers[j], numbers[j - 1]); j--)
			t = numbers[j], numbers[j] = numbers[j - 1], numbers[j - 1] = t;
	sink += numbers[17];
}
int main(int count, char **words)
{
	time_t end = time(NULL) + atoi(words[count - 1]);
	while (time(NULL) < end) {
		one(), two(), four(), eight(), sixteen();
		if (sink % 3 == 0)
			sorts();
	}
	return 0;
}
C
if command -v perf >/dev/null; then
    cc -O2 -fno-omit-frame-pointer -o "$work/mixed" "$work/mixed.c" || exit 1
    for ((round = 0; round < rounds; round++)); do
        perf record -q -e cpu-clock -F 997 -o "$work/perf.data" -- "$twinscope" record -q -f -o "$work/run.twin" --only stacks --stacks=997 -- "$work/mixed" "$each" >/dev/null 2>&1 ||
            { echo "SKIPPED: shares of functions: perf may not record" >&2; break; }
        perf script -i "$work/perf.data" --comm mixed -F ip,sym 2>/dev/null | awk 'NF > 1 { n[$2]++ } END { for (f in n) print n[f], f }' >"$work/theirs"
        ask "select count(*), coalesce(f.function, '[unknown]') from sample s join stack k on k.number = s.stack join frame f on f.number = k.frame where s.comm = 'mixed' group by 2" |
            tr ',' ' ' >"$work/own"
        # Two shares differ by chance by about one standard error; by three of them hardly ever.
        awk 'FNR == NR { a[$2] = $1; na += $1; next } { b[$2] = $1; nb += $1 }
            END {
                if (!na || !nb) exit
                for (f in a) {
                    p = a[f] / na; q = b[f] / nb; all = (a[f] + b[f]) / (na + nb)
                    if (all < 0.01) continue
                    functions++
                    z = (p - q) / sqrt(all * (1 - all) * (1 / na + 1 / nb)); if (z < 0) z = -z
                    if (z > most) most = z
                    if (z <= 3) near++
                }
                printf "shares of functions\tof 1 %% or more\t\t%d\nshares of functions\twithin 3 standard errors of perf\t\t%d\nshares of functions\tgreatest difference, in standard errors\t\t%.1f\n", functions, near, most
            }' "$work/theirs" "$work/own"
    done
else
    echo "SKIPPED: shares of functions: no perf" >&2
fi

if command -v strace >/dev/null; then
    command=(dd if=/dev/zero of=/dev/null bs=1 count=20000)
    strace -c -o "$work/strace" "${command[@]}" 2>/dev/null
    "$twinscope" record -q -f -o "$work/run.twin" --only syscalls --exact -- "${command[@]}" 2>/dev/null
    # It becomes dd by execve, and exit_group never returns: strace counts neither alike.
    awk '$1 ~ /^[0-9]/ && $NF != "total" && $NF != "execve" { print $4, $NF }' "$work/strace" | sort >"$work/theirs"
    ask "select max(count), call from syscall where comm = 'dd' and call not in ('execve', 'exit_group') group by call" | tr ',' ' ' | sort >"$work/own"
    line "system calls of dd" "kinds that strace -c counts" "" "$(wc -l <"$work/theirs")"
    line "system calls of dd" "kinds with exactly its count" "" "$(comm -12 "$work/theirs" "$work/own" | wc -l)"
    comm -3 "$work/theirs" "$work/own" | sed 's/^/agreement.sh: differs (strace, Twinscope indented): /' >&2
else
    echo "SKIPPED: counts of system calls: no strace" >&2
fi
