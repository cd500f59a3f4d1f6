#include <uv.h>

// malloc_trim, which glibc's own module for Swift leaves out.
#ifdef __GLIBC__
#include <malloc.h>
#endif
