// A wall clock that a test sets: preloaded into a program. libfaketime does not get along with jemalloc, which asks for
// the time while the program is being loaded.
//
// The file that TIFFIN_WALLCLOCK names has two numbers of 64 bits: nanoseconds that are added to the time, and, if it is
// not 0, the time at which the clock stands still, to which they are added as well. Only the time of day is changed:
// what measures how long something takes goes on, as it does on a machine whose clock is set.

#define _GNU_SOURCE
#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

static volatile int64_t *setting;

__attribute__((constructor)) static void find_setting(void) {
    const char *path = getenv("TIFFIN_WALLCLOCK");
    int file = path ? open(path, O_RDONLY | O_CLOEXEC) : -1;
    if (file < 0) return;
    void *memory = mmap(NULL, 2 * sizeof *setting, PROT_READ, MAP_SHARED, file, 0);
    if (memory != MAP_FAILED) setting = memory;
    close(file);
}

int clock_gettime(clockid_t clock, struct timespec *time) {
    int failed = syscall(SYS_clock_gettime, clock, time) != 0;
    if (failed || !setting || (clock != CLOCK_REALTIME && clock != CLOCK_REALTIME_COARSE)) return failed ? -1 : 0;
    int64_t stopped = setting[1], now = stopped ? stopped : time->tv_sec * 1000000000LL + time->tv_nsec;
    now += setting[0];
    time->tv_sec = now / 1000000000LL;
    time->tv_nsec = now % 1000000000LL;
    return 0;
}

int gettimeofday(struct timeval *restrict time, void *restrict zone) {
    (void)zone;
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    time->tv_sec = now.tv_sec;
    time->tv_usec = now.tv_nsec / 1000;
    return 0;
}

time_t time(time_t *place) {
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    if (place) *place = now.tv_sec;
    return now.tv_sec;
}
