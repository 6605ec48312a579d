/*
 * A disk that fails as real ones do, between the gateway and the kernel (LD_PRELOAD).
 *
 * It looks only at files below DISK_UNDER, and keeps its notes in DISK_NOTES:
 *   undo       what every write since the last sync has overwritten, in order; what a loss of power may take back
 *   syncs      the path of each file of which a sync was asked for, a line each
 * A file with one of these names in DISK_NOTES makes it fail:
 *   eio-sync   a sync fails with EIO
 *   eio-sync-database  the same, of databases and not of their logs
 *   hold-sync  a sync does not return while the file is there
 *   lying-sync a sync says that it is done, and nothing is safe
 *   eio-write  a write fails with EIO
 *   short      a write takes half of what it is given
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

/* In front of each part of `undo`: the path and then the bytes that were there. */
struct part {
    uint32_t kind; /* WRITTEN, MADE or SYNCED */
    uint32_t path_bytes;
    uint64_t offset;
    uint64_t old_bytes; /* as many as there were of the bytes that were overwritten */
    uint64_t old_size;  /* of the whole file */
};
enum { WRITTEN = 1, MADE = 2, SYNCED = 3 };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static const char *under, *notes;
static int undo = -1, syncs = -1;

static ssize_t (*real_pwrite)(int, const void *, size_t, off_t);
static ssize_t (*real_write)(int, const void *, size_t);
static ssize_t (*real_writev)(int, const struct iovec *, int);
static int (*real_fsync)(int);
static int (*real_fdatasync)(int);
static int (*real_ftruncate)(int, off_t);
static int (*real_open)(const char *, int, ...);

static int note_file(const char *name, int flags) {
    char path[PATH_MAX];
    snprintf(path, sizeof path, "%s/%s", notes, name);
    return real_open(path, flags | O_CREAT | O_CLOEXEC, 0600);
}

/* Libraries of whoever starts the gateway may open files before our own turn comes. */
__attribute__((constructor)) static void begin(void) {
    if (real_open) return;
    real_open = dlsym(RTLD_NEXT, "open");
    real_pwrite = dlsym(RTLD_NEXT, "pwrite");
    real_write = dlsym(RTLD_NEXT, "write");
    real_writev = dlsym(RTLD_NEXT, "writev");
    real_fsync = dlsym(RTLD_NEXT, "fsync");
    real_fdatasync = dlsym(RTLD_NEXT, "fdatasync");
    real_ftruncate = dlsym(RTLD_NEXT, "ftruncate");
    under = getenv("DISK_UNDER");
    notes = getenv("DISK_NOTES");
    if (!under || !notes) abort();
    undo = note_file("undo", O_RDWR | O_APPEND);
    syncs = note_file("syncs", O_WRONLY | O_APPEND);
    if (undo < 0 || syncs < 0) abort();
}

static int asked(const char *name) {
    char path[PATH_MAX];
    snprintf(path, sizeof path, "%s/%s", notes, name);
    int before = errno;
    int found = access(path, F_OK) == 0;
    errno = before;
    return found;
}

/* The path of a file that is ours to disturb. */
static int ours(int fd, char *path) {
    char link[64];
    begin();
    if (!under) return 0;
    int before = errno;
    snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    ssize_t length = readlink(link, path, PATH_MAX - 1);
    errno = before;
    if (length <= 0) return 0;
    path[length] = 0;
    return strncmp(path, under, strlen(under)) == 0;
}

static void note(uint32_t kind, const char *path, uint64_t offset, const void *old, size_t old_bytes, uint64_t old_size) {
    struct part part = {kind, strlen(path), offset, old_bytes, old_size};
    struct iovec all[3] = {{&part, sizeof part}, {(void *)path, part.path_bytes}, {(void *)old, old_bytes}};
    if (real_writev(undo, all, 3) < 0) abort();
}

/* Keeps what a write to this place is about to overwrite. */
static void keep(int fd, const char *path, off_t offset, size_t bytes) {
    struct stat stat;
    if (fstat(fd, &stat) || !S_ISREG(stat.st_mode)) return;
    size_t there = offset >= stat.st_size ? 0 : (size_t)(stat.st_size - offset);
    if (there > bytes) there = bytes;
    char *old = malloc(there + 1);
    if (!old) abort();
    int again = real_open(path, O_RDONLY | O_CLOEXEC);
    ssize_t got = again < 0 || !there ? 0 : pread(again, old, there, offset);
    if (again >= 0) close(again);
    note(WRITTEN, path, offset, old, got < 0 ? 0 : (size_t)got, stat.st_size);
    free(old);
}

static ssize_t written(int fd, const void *bytes, size_t count, off_t offset, int is_at) {
    char path[PATH_MAX];
    if (!ours(fd, path)) return is_at ? real_pwrite(fd, bytes, count, offset) : real_write(fd, bytes, count);
    if (asked("eio-write")) {
        errno = EIO;
        return -1;
    }
    if (count > 1 && asked("short")) count /= 2;
    pthread_mutex_lock(&lock);
    off_t at = is_at ? offset : lseek(fd, 0, SEEK_CUR);
    keep(fd, path, at, count);
    ssize_t done = is_at ? real_pwrite(fd, bytes, count, offset) : real_write(fd, bytes, count);
    pthread_mutex_unlock(&lock);
    return done;
}

ssize_t pwrite(int fd, const void *bytes, size_t count, off_t offset) { return written(fd, bytes, count, offset, 1); }
ssize_t pwrite64(int fd, const void *bytes, size_t count, off_t offset) { return written(fd, bytes, count, offset, 1); }
ssize_t write(int fd, const void *bytes, size_t count) { return written(fd, bytes, count, 0, 0); }

static int shortened(int fd, off_t length) {
    char path[PATH_MAX];
    struct stat stat;
    if (!ours(fd, path)) return real_ftruncate(fd, length);
    pthread_mutex_lock(&lock);
    if (fstat(fd, &stat) == 0 && stat.st_size > length) keep(fd, path, length, stat.st_size - length);
    int done = real_ftruncate(fd, length);
    pthread_mutex_unlock(&lock);
    return done;
}

int ftruncate(int fd, off_t length) { return shortened(fd, length); }
int ftruncate64(int fd, off_t length) { return shortened(fd, length); }

static int ends_with(const char *path, const char *end) {
    size_t length = strlen(path), end_length = strlen(end);
    return length >= end_length && strcmp(path + length - end_length, end) == 0;
}

static int synced(int fd, int (*real)(int)) {
    char path[PATH_MAX];
    if (!ours(fd, path)) return real(fd);
    struct iovec line[2] = {{path, strlen(path)}, {"\n", 1}};
    if (real_writev(syncs, line, 2) < 0) abort();
    while (asked("hold-sync")) usleep(1000);
    if (asked("lying-sync")) return 0;
    if (asked("eio-sync") || (ends_with(path, ".db") && asked("eio-sync-database"))) {
        errno = EIO;
        return -1;
    }
    pthread_mutex_lock(&lock);
    int done = real(fd);
    if (done == 0) note(SYNCED, path, 0, NULL, 0, 0);
    pthread_mutex_unlock(&lock);
    return done;
}

int fsync(int fd) { return synced(fd, real_fsync); }
int fdatasync(int fd) { return synced(fd, real_fdatasync); }

static int opened(const char *path, int flags, mode_t mode) {
    begin();
    if (!under || !(flags & O_CREAT) || strncmp(path, under, strlen(under))) return real_open(path, flags, mode);
    pthread_mutex_lock(&lock);
    int is_new = access(path, F_OK) != 0;
    int fd = real_open(path, flags, mode);
    if (fd >= 0 && is_new) note(MADE, path, 0, NULL, 0, 0);
    pthread_mutex_unlock(&lock);
    return fd;
}

#define WITH_MODE(flags, mode)                                                                                         \
    mode_t mode = 0;                                                                                                   \
    if ((flags) & O_CREAT) {                                                                                           \
        va_list rest;                                                                                                  \
        va_start(rest, flags);                                                                                         \
        mode = va_arg(rest, mode_t);                                                                                   \
        va_end(rest);                                                                                                  \
    }

int open(const char *path, int flags, ...) {
    WITH_MODE(flags, mode)
    return opened(path, flags, mode);
}

int open64(const char *path, int flags, ...) {
    WITH_MODE(flags, mode)
    return opened(path, flags, mode);
}
