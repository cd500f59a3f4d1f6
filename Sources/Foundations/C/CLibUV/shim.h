#include <uv.h>

// malloc_trim, which glibc's own module for Swift leaves out.
#ifdef __GLIBC__
#include <malloc.h>
#endif

// Timers to the nanosecond, which glibc's module leaves out as well.
#ifdef __linux__
#include <sys/timerfd.h>
#endif
