/*
 * A machine that has nothing left for further connections (LD_PRELOAD): the file of SHORTAGE_FILE says at which call, and with
 * which error, for as long as it is there. Sockets of other kinds than TCP are had as ever.
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
    int error = type == SOCK_STREAM && to->sa_family != AF_UNIX ? planned("connect") : 0;
    if (error == 0) return real(descriptor, to, length);
    errno = error;
    return -1;
}
