/*
 * Connections that tell who opened them (LD_PRELOAD): those to this machine come from the address in SENDS_FROM. Nothing
 * in a request says which node sent it, and a receiver elsewhere would see that by the address too.
 */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <dlfcn.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <sys/socket.h>

static int is_to_this_machine(int fd, const struct sockaddr *to, socklen_t length) {
    int type = 0;
    socklen_t size = sizeof type;
    if (length < sizeof(struct sockaddr_in) || to->sa_family != AF_INET) return 0;
    if (getsockopt(fd, SOL_SOCKET, SO_TYPE, &type, &size) != 0 || type != SOCK_STREAM) return 0;
    return ntohl(((const struct sockaddr_in *)to)->sin_addr.s_addr) >> 24 == IN_LOOPBACKNET;
}

/* The port is chosen with the connection and not before, so that no more of them are taken than without this. */
static void come_from(int fd, const char *address) {
    struct sockaddr_in from = {.sin_family = AF_INET};
    int yes = 1;
    if (inet_pton(AF_INET, address, &from.sin_addr) != 1) return;
    setsockopt(fd, IPPROTO_IP, IP_BIND_ADDRESS_NO_PORT, &yes, sizeof yes);
    bind(fd, (const struct sockaddr *)&from, sizeof from);
}

int connect(int fd, const struct sockaddr *to, socklen_t length) {
    int (*real)(int, const struct sockaddr *, socklen_t) =
        (int (*)(int, const struct sockaddr *, socklen_t))dlsym(RTLD_NEXT, "connect");
    const char *address = getenv("SENDS_FROM");
    if (address != NULL && is_to_this_machine(fd, to, length)) come_from(fd, address);
    return real(fd, to, length);
}
