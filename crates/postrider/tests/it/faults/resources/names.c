/*
 * Name servers that are hostile (LD_PRELOAD): the name that is asked for says how. As the system's resolver does, it has a
 * socket open for as long as it asks.
 */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <dlfcn.h>
#include <netdb.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

/* A search list of some length, at two servers. Tests are over long before. */
#define DEAD_SECONDS 300
/* Two tries of five seconds each, as resolv.conf has them when it says nothing. */
#define LATE_SECONDS 10
#define RECORDS 1000

/* One block a record, as the system's has it, so that its freeaddrinfo frees it. */
static struct addrinfo *record(unsigned address_of_record, struct addrinfo *next) {
    struct addrinfo *found = calloc(1, sizeof *found + sizeof(struct sockaddr_in));
    if (found == NULL) abort();
    struct sockaddr_in *address = (struct sockaddr_in *)(found + 1);
    address->sin_family = AF_INET;
    address->sin_addr.s_addr = htonl(address_of_record);
    found->ai_family = AF_INET;
    found->ai_socktype = SOCK_STREAM;
    found->ai_addrlen = sizeof *address;
    found->ai_addr = (struct sockaddr *)address;
    found->ai_next = next;
    return found;
}

static int is_below(const char *name, const char *zone) {
    size_t end = strlen(name), length = strlen(zone);
    return end > length && strcmp(name + end - length, zone) == 0;
}

static int answer(const char *name, struct addrinfo **found) {
    if (strcmp(name, "late.test") == 0) sleep(LATE_SECONDS);
    if (is_below(name, ".dead.test")) sleep(DEAD_SECONDS);
    *found = NULL;
    if (is_below(name, ".live.test")) {
        const char *address = getenv("NAMES_LIVE_ADDRESS");
        if (address == NULL) abort();
        *found = record(ntohl(inet_addr(address)), NULL);
        return 0;
    }
    if (strcmp(name, "many.test") != 0) return EAI_AGAIN;
    /* Nobody listens at any of them. */
    for (unsigned number = 1; number <= RECORDS; number++) *found = record(0x7f4d0000u + number, *found);
    return 0;
}

int getaddrinfo(const char *name, const char *service, const struct addrinfo *hints, struct addrinfo **found) {
    const char *end = name == NULL ? NULL : strrchr(name, '.');
    if (end == NULL || strcmp(end, ".test") != 0) {
        int (*real)(const char *, const char *, const struct addrinfo *, struct addrinfo **) =
            (int (*)(const char *, const char *, const struct addrinfo *, struct addrinfo **))dlsym(RTLD_NEXT, "getaddrinfo");
        return real(name, service, hints, found);
    }
    int asks = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    int result = answer(name, found);
    if (asks >= 0) close(asks);
    return result;
}
