/*
 * A machine that has nothing left for further connections (LD_PRELOAD): the file of SHORTAGE_FILE says at which call, and with
 * which error, for as long as it is there. Sockets of other kinds than TCP are had as ever, and those that it accepts.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

/* The error of this call; 0 for none. */
static int planned(const char *call) {
    const char *path = getenv("SHORTAGE_FILE");
    FILE *file = path == NULL ? NULL : fopen(path, "re");
    if (file == NULL) return 0;
    char at[16];
    int error = 0;
    if (fscanf(file, "%15s %d", at, &error) != 2 || strcmp(at, call) != 0) error = 0;
    fclose(file);
    return error;
}

/* Whether a descriptor is a connection that this process has made. */
static char outgoing[65536];

int socket(int domain, int type, int protocol) {
    int (*real)(int, int, int) = (int (*)(int, int, int))dlsym(RTLD_NEXT, "socket");
    int error = (type & 0xf) == SOCK_STREAM && domain != AF_UNIX ? planned("socket") : 0;
    if (error == 0) return real(domain, type, protocol);
    errno = error;
    return -1;
}

int connect(int descriptor, const struct sockaddr *to, socklen_t length) {
    int (*real)(int, const struct sockaddr *, socklen_t) =
        (int (*)(int, const struct sockaddr *, socklen_t))dlsym(RTLD_NEXT, "connect");
    int type = 0;
    socklen_t size = sizeof type;
    getsockopt(descriptor, SOL_SOCKET, SO_TYPE, &type, &size);
    int tcp = type == SOCK_STREAM && to->sa_family != AF_UNIX;
    int error = tcp ? planned("connect") : 0;
    if (tcp && descriptor < (int)sizeof outgoing) outgoing[descriptor] = 1;
    if (error == 0) return real(descriptor, to, length);
    errno = error;
    return -1;
}

ssize_t send(int descriptor, const void *bytes, size_t length, int flags) {
    ssize_t (*real)(int, const void *, size_t, int) =
        (ssize_t (*)(int, const void *, size_t, int))dlsym(RTLD_NEXT, "send");
    int error = descriptor < (int)sizeof outgoing && outgoing[descriptor] ? planned("send") : 0;
    if (error == 0) return real(descriptor, bytes, length, flags);
    errno = error;
    return -1;
}

int close(int descriptor) {
    int (*real)(int) = (int (*)(int))dlsym(RTLD_NEXT, "close");
    if (descriptor >= 0 && descriptor < (int)sizeof outgoing) outgoing[descriptor] = 0;
    return real(descriptor);
}
