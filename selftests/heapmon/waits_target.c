// SPDX-License-Identifier: GPL-2.0
/* waits_target SECONDS: waits that long in each system call that has a timeout, in
 * a thread each, and prints how it ended: "NAME MILLISECONDS ERRNO". */
#include <errno.h>
#include <linux/aio_abi.h>
#include <poll.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/select.h>
#include <sys/sem.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

static int seconds;
static struct timespec timeout;
static struct timeval timeout_us;

static struct timespec later(clockid_t clock)
{
	struct timespec time;

	clock_gettime(clock, &time);
	time.tv_sec += seconds;
	return time;
}

/* A socket whose calls end after the timeout. */
static int socket_timed(int family, int type, int option)
{
	int fd = socket(family, type, 0);

	setsockopt(fd, SOL_SOCKET, option, &timeout_us, sizeof(timeout_us));
	return fd;
}

static int in_nanosleep(void)
{
	return nanosleep(&timeout, NULL);
}

static int in_clock_nanosleep(void)
{
	errno = clock_nanosleep(CLOCK_MONOTONIC, 0, &timeout, NULL);
	return errno;
}

static int in_poll(void)
{
	return poll(NULL, 0, seconds * 1000);
}

static int in_ppoll(void)
{
	return ppoll(NULL, 0, &timeout, NULL);
}

static int in_select(void)
{
	struct timeval time = timeout_us;

	return select(0, NULL, NULL, NULL, &time);
}

static int in_pselect(void)
{
	return pselect(0, NULL, NULL, NULL, &timeout, NULL);
}

static int in_futex(void)
{
	pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
	pthread_cond_t condition = PTHREAD_COND_INITIALIZER;
	struct timespec time = later(CLOCK_REALTIME);

	pthread_mutex_lock(&mutex);
	errno = pthread_cond_timedwait(&condition, &mutex, &time);
	return errno;
}

static int in_sem_timedwait(void)
{
	struct timespec time = later(CLOCK_REALTIME);
	sem_t sem;

	sem_init(&sem, 0, 0);
	return sem_timedwait(&sem, &time);
}

static int in_epoll_wait(void)
{
	struct epoll_event event;

	return epoll_wait(epoll_create1(0), &event, 1, seconds * 1000);
}

static int in_semtimedop(void)
{
	int set = semget(IPC_PRIVATE, 1, 0600), ret, error;
	struct sembuf down = { .sem_op = -1 };

	ret = semtimedop(set, &down, 1, &timeout);
	error = errno;
	semctl(set, 0, IPC_RMID);
	errno = error;
	return ret;
}

static int in_sigtimedwait(void)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGUSR1);
	pthread_sigmask(SIG_BLOCK, &set, NULL);
	return sigtimedwait(&set, NULL, &timeout);
}

static int in_io_getevents(void)
{
	aio_context_t context = 0;
	struct io_event event;

	syscall(SYS_io_setup, 1, &context);
	return syscall(SYS_io_getevents, context, 1, 1, &event, &timeout);
}

static int in_recv(void)
{
	char byte;

	return recv(socket_timed(AF_INET, SOCK_DGRAM, SO_RCVTIMEO), &byte, 1,
		    0);
}

static int in_recvmsg(void)
{
	struct iovec vector = { .iov_base = &timeout_us, .iov_len = 1 };
	struct msghdr message = { .msg_iov = &vector, .msg_iovlen = 1 };

	return recvmsg(socket_timed(AF_INET, SOCK_DGRAM, SO_RCVTIMEO),
		       &message, 0);
}

static int in_recvmmsg(void)
{
	struct iovec vector = { .iov_base = &timeout_us, .iov_len = 1 };
	struct mmsghdr message = {
		.msg_hdr = { .msg_iov = &vector, .msg_iovlen = 1 },
	};

	return recvmmsg(socket_timed(AF_INET, SOCK_DGRAM, SO_RCVTIMEO),
			&message, 1, 0, NULL);
}

static int in_read(void)
{
	char byte;

	return read(socket_timed(AF_INET, SOCK_DGRAM, SO_RCVTIMEO), &byte, 1);
}

static int in_accept(void)
{
	int fd = socket_timed(AF_INET, SOCK_STREAM, SO_RCVTIMEO);

	listen(fd, 1);
	return accept(fd, NULL, NULL);
}

/* One that nothing reads. */
static int socket_full(int fds[2])
{
	static char bytes[65536];

	socketpair(AF_UNIX, SOCK_STREAM, 0, fds);
	while (send(fds[0], bytes, sizeof(bytes), MSG_DONTWAIT) > 0)
		;
	while (send(fds[0], bytes, 1, MSG_DONTWAIT) > 0)
		;
	setsockopt(fds[0], SOL_SOCKET, SO_SNDTIMEO, &timeout_us,
		   sizeof(timeout_us));
	return fds[0];
}

static int in_send(void)
{
	int fds[2];

	return send(socket_full(fds), "", 1, 0);
}

static int in_write(void)
{
	int fds[2];

	return write(socket_full(fds), "", 1);
}

static const struct {
	const char *name;
	int (*wait)(void);
} waits[] = {
	{ "nanosleep", in_nanosleep },
	{ "clock_nanosleep", in_clock_nanosleep },
	{ "poll", in_poll }, { "ppoll", in_ppoll }, { "select", in_select },
	{ "pselect", in_pselect }, { "futex", in_futex },
	{ "sem_timedwait", in_sem_timedwait },
	{ "epoll_wait", in_epoll_wait }, { "semtimedop", in_semtimedop },
	{ "sigtimedwait", in_sigtimedwait },
	{ "io_getevents", in_io_getevents }, { "recv", in_recv },
	{ "recvmsg", in_recvmsg }, { "recvmmsg", in_recvmmsg },
	{ "read", in_read }, { "accept", in_accept }, { "send", in_send },
	{ "write", in_write },
};

#define WAITS	(sizeof(waits) / sizeof(waits[0]))

static long long now_ms(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return time.tv_sec * 1000ll + time.tv_nsec / 1000000;
}

static void *run(void *context)
{
	size_t which = (size_t)context;
	long long begin = now_ms();
	int ret, error;

	errno = 0;
	ret = waits[which].wait();
	error = ret ? errno : 0;
	printf("%s %lld %d\n", waits[which].name, now_ms() - begin, error);
	fflush(stdout);
	return NULL;
}

int main(int argc, char **argv)
{
	pthread_t threads[WAITS];

	if (argc != 2)
		return 2;
	seconds = atoi(argv[1]);
	timeout.tv_sec = timeout_us.tv_sec = seconds;
	for (size_t i = 0; i < WAITS; i++)
		if (pthread_create(&threads[i], NULL, run, (void *)i))
			return 1;
	for (size_t i = 0; i < WAITS; i++)
		pthread_join(threads[i], NULL);
	return 0;
}
