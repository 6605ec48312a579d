/*
 * Ends the process at a named moment of a commit (LD_PRELOAD), as a crash there would.
 *
 * While the file ABORT_ORDER is there, it says what is not survived, by a word and a number:
 *   write N        the process ends before the N-th write to a database
 *   before-sync N  before the N-th sync of one
 *   after-sync N   after it
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <limits.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>
#include <unistd.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static char ordered[32];
static int seen;

static int is_database(int fd) {
    char link[64], path[PATH_MAX];
    snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    ssize_t length = readlink(link, path, sizeof path - 1);
    if (length < 0) return 0;
    path[length] = 0;
    return strstr(path, ".db") != NULL;
}

/* Ends the process if this is the moment that was ordered. */
static void reach(const char *moment, int fd) {
    const char *order = getenv("ABORT_ORDER");
    if (order == NULL || access(order, F_OK) != 0 || !is_database(fd)) return;
    char word[32] = "";
    int number = 0;
    FILE *file = fopen(order, "r");
    if (file == NULL) return;
    int read = fscanf(file, "%31s %d", word, &number);
    fclose(file);
    if (read != 2 || strcmp(word, moment) != 0) return;
    pthread_mutex_lock(&lock);
    if (strcmp(ordered, word) != 0) {
        snprintf(ordered, sizeof ordered, "%s", word);
        seen = 0;
    }
    seen += 1;
    if (seen == number) {
        unlink(order);
        kill(getpid(), SIGKILL);
        for (;;) pause();
    }
    pthread_mutex_unlock(&lock);
}

#define REAL(name) __typeof__(&name) real = (__typeof__(&name))dlsym(RTLD_NEXT, #name)

ssize_t write(int fd, const void *bytes, size_t count) {
    REAL(write);
    reach("write", fd);
    return real(fd, bytes, count);
}

ssize_t pwrite(int fd, const void *bytes, size_t count, off_t offset) {
    REAL(pwrite);
    reach("write", fd);
    return real(fd, bytes, count, offset);
}

ssize_t pwrite64(int fd, const void *bytes, size_t count, off64_t offset) {
    REAL(pwrite64);
    reach("write", fd);
    return real(fd, bytes, count, offset);
}

int fsync(int fd) {
    REAL(fsync);
    reach("before-sync", fd);
    int result = real(fd);
    reach("after-sync", fd);
    return result;
}

int fdatasync(int fd) {
    REAL(fdatasync);
    reach("before-sync", fd);
    int result = real(fd);
    reach("after-sync", fd);
    return result;
}
