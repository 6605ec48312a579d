/*
 * A disk on which every read takes a while (LD_PRELOAD): 5 ms, so that what a small store holds takes as long to walk as
 * a large one.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <unistd.h>

static void wait_if_file(int fd) {
    struct stat found;
    if (fstat(fd, &found) == 0 && S_ISREG(found.st_mode)) usleep(5000);
}

ssize_t read(int fd, void *bytes, size_t count) {
    static ssize_t (*real)(int, void *, size_t);
    if (real == NULL) real = (ssize_t (*)(int, void *, size_t))dlsym(RTLD_NEXT, "read");
    wait_if_file(fd);
    return real(fd, bytes, count);
}

ssize_t pread64(int fd, void *bytes, size_t count, off64_t offset) {
    static ssize_t (*real)(int, void *, size_t, off64_t);
    if (real == NULL) real = (ssize_t (*)(int, void *, size_t, off64_t))dlsym(RTLD_NEXT, "pread64");
    wait_if_file(fd);
    return real(fd, bytes, count, offset);
}
