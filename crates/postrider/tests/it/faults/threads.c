/*
 * What befalls one thread of a process (LD_PRELOAD). THREADS_FILE holds the struct below; it may change at any time.
 * A clock that cannot be read makes Rust panic, whichever thread reads it: so a panic can be planted in any build.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

struct order {
    _Atomic int32_t what;          /* PANIC: once, and then nothing; HANG: for as long as it stands here */
    char thread[28];               /* whom, as the system calls it */
    _Atomic int64_t ahead_seconds; /* of the clock that only goes forward */
    _Atomic int32_t hangs;         /* 1 while it does */
};
enum { NOTHING = 0, PANIC = 1, HANG = 2 };

static struct order *order;
static int (*real_clock)(clockid_t, struct timespec *);
static ssize_t (*real_pread)(int, void *, size_t, off_t);
static int (*real_epoll)(int, struct epoll_event *, int, int);

__attribute__((constructor)) static void begin(void) {
    real_clock = (int (*)(clockid_t, struct timespec *))dlsym(RTLD_NEXT, "clock_gettime");
    real_pread = (ssize_t(*)(int, void *, size_t, off_t))dlsym(RTLD_NEXT, "pread");
    real_epoll = (int (*)(int, struct epoll_event *, int, int))dlsym(RTLD_NEXT, "epoll_wait");
    const char *path = getenv("THREADS_FILE");
    int fd = path == NULL ? -1 : open(path, O_RDWR | O_CLOEXEC);
    if (fd < 0) return;
    void *mapped = mmap(NULL, sizeof *order, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    close(fd);
    if (mapped != MAP_FAILED) order = mapped;
}

static int is_for(int what) {
    char name[16];
    if (order == NULL || order->what != what) return 0;
    return pthread_getname_np(pthread_self(), name, sizeof name) == 0 && strcmp(name, order->thread) == 0;
}

static void hang(void) {
    if (!is_for(HANG)) return;
    order->hangs = 1;
    while (is_for(HANG)) usleep(1000);
    order->hangs = 0;
}

int clock_gettime(clockid_t clock, struct timespec *now) {
    if (real_clock == NULL) begin();
    int expected = PANIC;
    if (is_for(PANIC) && atomic_compare_exchange_strong(&order->what, &expected, NOTHING)) {
        errno = EFAULT;
        return -1;
    }
    int result = real_clock(clock, now);
    if (result == 0 && order != NULL && clock == CLOCK_MONOTONIC) now->tv_sec += order->ahead_seconds;
    return result;
}

int epoll_wait(int fd, struct epoll_event *events, int most, int timeout) {
    if (real_epoll == NULL) begin();
    hang();
    return real_epoll(fd, events, most, timeout);
}

ssize_t pread(int fd, void *bytes, size_t count, off_t offset) {
    if (real_pread == NULL) begin();
    hang();
    return real_pread(fd, bytes, count, offset);
}

ssize_t pread64(int fd, void *bytes, size_t count, off_t offset) { return pread(fd, bytes, count, offset); }
