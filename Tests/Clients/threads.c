// A system that gives no further thread: preloaded into a program. A limit of the kernel does not hold for root.
//
// The file that TIFFIN_NO_THREADS names has one number of 64 bits: while it is not 0, no thread can be made.

#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

typedef int create(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *);

static volatile int64_t *refusal;
static create *make;

__attribute__((constructor)) static void begin(void) {
    make = (create *)dlsym(RTLD_NEXT, "pthread_create");
    const char *path = getenv("TIFFIN_NO_THREADS");
    int file = path ? open(path, O_RDONLY | O_CLOEXEC) : -1;
    if (file < 0) return;
    void *memory = mmap(NULL, sizeof *refusal, PROT_READ, MAP_SHARED, file, 0);
    if (memory != MAP_FAILED) refusal = memory;
    close(file);
}

int pthread_create(pthread_t *thread, const pthread_attr_t *attributes, void *(*body)(void *), void *argument) {
    if (refusal && *refusal) return EAGAIN;
    return make(thread, attributes, body, argument);
}
