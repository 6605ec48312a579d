/*
 * A wall clock that is wrong (LD_PRELOAD): CLOCK_FILE holds 8 bytes, by how many nanoseconds. They may change at any
 * time. The clocks that only go forward are left alone, as they are by whoever sets a wall clock.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

static volatile int64_t *wrong_by;
static int (*real)(clockid_t, struct timespec *);

__attribute__((constructor)) static void begin(void) {
    real = (int (*)(clockid_t, struct timespec *))dlsym(RTLD_NEXT, "clock_gettime");
    const char *path = getenv("CLOCK_FILE");
    int fd = path == NULL ? -1 : open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0) return;
    void *mapped = mmap(NULL, sizeof *wrong_by, PROT_READ, MAP_SHARED, fd, 0);
    close(fd);
    if (mapped != MAP_FAILED) wrong_by = mapped;
}

int clock_gettime(clockid_t clock, struct timespec *now) {
    if (real == NULL) begin();
    int result = real(clock, now);
    if (result != 0 || wrong_by == NULL || (clock != CLOCK_REALTIME && clock != CLOCK_REALTIME_COARSE)) return result;
    const int64_t second = 1000000000;
    int64_t wrong = *wrong_by;
    now->tv_sec += wrong / second;
    now->tv_nsec += wrong % second;
    if (now->tv_nsec < 0) {
        now->tv_nsec += second;
        now->tv_sec -= 1;
    } else if (now->tv_nsec >= second) {
        now->tv_nsec -= second;
        now->tv_sec += 1;
    }
    return result;
}

int gettimeofday(struct timeval *now, void *zone) {
    (void)zone;
    struct timespec precise;
    int result = clock_gettime(CLOCK_REALTIME, &precise);
    now->tv_sec = precise.tv_sec;
    now->tv_usec = precise.tv_nsec / 1000;
    return result;
}

time_t time(time_t *out) {
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    if (out != NULL) *out = now.tv_sec;
    return now.tv_sec;
}
