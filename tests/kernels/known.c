/*
 * A program whose ledger is known: it does a few things so many times, one after another, and prints what it did as lines `truth: NAME VALUE`, to hold a
 * recording against. Times are nanoseconds.
 *
 * usage: known [DEVICE]      DEVICE: a block device that may be written over
 */
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { READS = 5000, PAGES = 2048, TURNS = 60, HELD = 3000000, SLEPT = 400000000, CHILDREN = 8, ROUND_TRIPS = 400 };
enum { WRITES = 40, BLOCK = 4096, CONNECTIONS = 5, BURNT = 600000000 };
enum { REQUESTS = 120, REQUEST_CONNECTIONS = 4, QUESTION = 100, ANSWER = 10 };

static void truth(const char *name, uint64_t value)
{
	printf("truth: %s %llu\n", name, (unsigned long long)value);
}

static void fail(const char *what)
{
	fprintf(stderr, "known: %s: %s\n", what, strerror(errno));
	exit(1);
}

static uint64_t now(clockid_t clock)
{
	struct timespec time;

	clock_gettime(clock, &time);
	return time.tv_sec * 1000000000ull + time.tv_nsec;
}

static void reads(void)
{
	int zeros = open("/dev/zero", O_RDONLY);
	char byte;

	if (zeros < 0)
		fail("/dev/zero");
	for (int i = 0; i < READS; i++)
		if (read(zeros, &byte, 1) != 1)
			fail("read");
	close(zeros);
	truth("reads", READS);
}

static void faults(void)
{
	size_t size = (size_t)PAGES * 4096;
	struct rusage before, after;
	char *memory = mmap(0, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (memory == MAP_FAILED)
		fail("mmap");
	madvise(memory, size, MADV_NOHUGEPAGE);
	getrusage(RUSAGE_SELF, &before);
	for (int i = 0; i < PAGES; i++)
		((volatile char *)memory)[(size_t)i * 4096] = 1;
	getrusage(RUSAGE_SELF, &after);
	munmap(memory, size);
	truth("faults", after.ru_minflt - before.ru_minflt);
}

static pthread_mutex_t turn = PTHREAD_MUTEX_INITIALIZER;
static uint64_t waited;

static __attribute__((noinline)) void hold(void)
{
	struct timespec held = {.tv_nsec = HELD};

	nanosleep(&held, 0);
}

/* Both threads sleep with the mutex held, so that the other surely waits for it, on one CPU too. */
static __attribute__((noinline)) void *take_turns(void *unused)
{
	(void)unused;
	for (int i = 0; i < TURNS; i++) {
		uint64_t begin = now(CLOCK_MONOTONIC);

		pthread_mutex_lock(&turn);
		waited += now(CLOCK_MONOTONIC) - begin;
		hold();
		pthread_mutex_unlock(&turn);
		sched_yield();
	}
	return 0;
}

static void lock(void)
{
	pthread_t other;

	if (pthread_create(&other, 0, take_turns, 0))
		fail("pthread_create");
	take_turns(0);
	pthread_join(other, 0);
	truth("lock_wait", waited);
}

static void sleeps(void)
{
	struct timespec length = {.tv_nsec = SLEPT};
	uint64_t begin = now(CLOCK_MONOTONIC);

	nanosleep(&length, 0);
	truth("slept", now(CLOCK_MONOTONIC) - begin);
}

static void forks(void)
{
	fflush(stdout);
	for (int i = 0; i < CHILDREN; i++) {
		pid_t child = fork();

		if (child < 0)
			fail("fork");
		if (!child)
			_exit(0);
		waitpid(child, 0, 0);
	}
	truth("children", CHILDREN);
}

static int there[2], back[2];

static void *answers(void *unused)
{
	char byte;

	(void)unused;
	while (read(there[0], &byte, 1) == 1)
		if (write(back[1], &byte, 1) != 1)
			fail("write");
	return 0;
}

static void switches(void)
{
	pthread_t other;
	char byte = 0;

	if (pipe(there) || pipe(back) || pthread_create(&other, 0, answers, 0))
		fail("pipe");
	for (int i = 0; i < ROUND_TRIPS; i++)
		if (write(there[1], &byte, 1) != 1 || read(back[0], &byte, 1) != 1)
			fail("round trip");
	close(there[1]);
	pthread_join(other, 0);
	truth("round_trips", ROUND_TRIPS);
}

static void writes(const char *device)
{
	int file = open(device, O_WRONLY | O_DIRECT);
	void *block = aligned_alloc(BLOCK, BLOCK);

	if (file < 0 || !block)
		fail(device);
	memset(block, 1, BLOCK);
	for (int i = 0; i < WRITES; i++)
		if (pwrite(file, block, BLOCK, (off_t)i * 2 * BLOCK) != BLOCK)
			fail(device);
	close(file);
	free(block);
	truth("writes", WRITES);
	truth("written", (uint64_t)WRITES * BLOCK);
}

static void connections(void)
{
	struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	socklen_t length = sizeof(address);
	int server = socket(AF_INET, SOCK_STREAM, 0);

	if (server < 0 || bind(server, (void *)&address, length) || listen(server, 8) || getsockname(server, (void *)&address, &length))
		fail("listen");
	for (int i = 0; i < CONNECTIONS; i++) {
		int client = socket(AF_INET, SOCK_STREAM, 0);

		if (client < 0 || connect(client, (void *)&address, length))
			fail("connect");
		close(client);
	}
	close(server);
}

static uint64_t served;

/* Looks ahead, reads the question, and answers it, until the other side hangs up. */
static void *serves(void *listener)
{
	char question[QUESTION], answer[ANSWER] = {0};

	for (int i = 0; i < REQUEST_CONNECTIONS; i++) {
		int stream = accept(*(int *)listener, 0, 0);

		if (stream < 0)
			fail("accept");
		while (recv(stream, question, QUESTION, MSG_PEEK | MSG_WAITALL) == QUESTION) {
			uint64_t begin;

			if (read(stream, question, QUESTION) != QUESTION)
				fail("question");
			begin = now(CLOCK_MONOTONIC);
			for (volatile int thought = 0; thought < 20000; thought++)
				;
			served += now(CLOCK_MONOTONIC) - begin;
			if (write(stream, answer, ANSWER) != ANSWER)
				fail("answer");
		}
		close(stream);
	}
	return 0;
}

/* The kind of calls that asks changes with the connection. */
static void asks(int stream, bool by_messages)
{
	char question[QUESTION] = {0}, answer[ANSWER];
	struct iovec there = {question, QUESTION}, back = {answer, ANSWER};
	struct msghdr asked = {.msg_iov = &there, .msg_iovlen = 1}, answered = {.msg_iov = &back, .msg_iovlen = 1};

	for (int i = 0; i < REQUESTS / REQUEST_CONNECTIONS; i++) {
		ssize_t sent = by_messages ? sendmsg(stream, &asked, 0) : send(stream, question, QUESTION, 0);
		ssize_t received = by_messages ? recvmsg(stream, &answered, MSG_WAITALL) : recv(stream, answer, ANSWER, MSG_WAITALL);

		if (sent != QUESTION || received != ANSWER)
			fail("request");
	}
}

static void requests(struct sockaddr *address, socklen_t length)
{
	int listener = socket(address->sa_family, SOCK_STREAM, 0);
	uint64_t begin;
	pthread_t server;

	served = 0;
	if (listener < 0 || bind(listener, address, length) || listen(listener, 8) || getsockname(listener, address, &length))
		fail("listen");
	if (pthread_create(&server, 0, serves, &listener))
		fail("pthread_create");
	begin = now(CLOCK_MONOTONIC);
	for (int i = 0; i < REQUEST_CONNECTIONS; i++) {
		int stream = socket(address->sa_family, SOCK_STREAM, 0);

		if (stream < 0 || connect(stream, address, length))
			fail("connect");
		asks(stream, i % 2);
		close(stream);
	}
	pthread_join(server, 0);
	truth(address->sa_family == AF_UNIX ? "unix_asked" : "tcp_asked", now(CLOCK_MONOTONIC) - begin);
	truth(address->sa_family == AF_UNIX ? "unix_served" : "tcp_served", served);
	close(listener);
}

static void all_requests(void)
{
	struct sockaddr_in tcp = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	struct sockaddr_un local = {.sun_family = AF_UNIX, .sun_path = "\0known"};

	requests((void *)&tcp, sizeof(tcp));
	requests((void *)&local, sizeof(sa_family_t) + 6);
	truth("requests", REQUESTS);
	truth("request_reads", 2 * REQUESTS);
	truth("connections", CONNECTIONS + REQUEST_CONNECTIONS);
}

static volatile uint64_t sum;

#define STEP(name, next) \
	static __attribute__((noinline)) void name(void) \
	{ \
		next(); \
		sum++; \
	}

static __attribute__((noinline)) void burn_inside(void)
{
	for (int i = 0; i < 20000; i++)
		sum += i;
}

STEP(burn_deeper, burn_inside)
STEP(burn_deep, burn_deeper)

static __attribute__((noinline)) void burn(void)
{
	uint64_t begin = now(CLOCK_THREAD_CPUTIME_ID);

	while (now(CLOCK_THREAD_CPUTIME_ID) - begin < BURNT)
		burn_deep();
	truth("burnt", now(CLOCK_THREAD_CPUTIME_ID) - begin);
}

int main(int count, char **arguments)
{
	struct rusage usage;
	uint64_t begin = now(CLOCK_MONOTONIC);

	reads();
	faults();
	lock();
	sleeps();
	forks();
	switches();
	connections();
	all_requests();
	if (count > 1)
		writes(arguments[1]);
	burn();
	getrusage(RUSAGE_SELF, &usage);
	truth("voluntary", usage.ru_nvcsw);
	truth("cpu", (usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) * 1000000000ull +
			     (usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) * 1000ull);
	truth("elapsed", now(CLOCK_MONOTONIC) - begin);
	printf("done 1\n");
	return 0;
}
