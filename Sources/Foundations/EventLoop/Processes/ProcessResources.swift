internal import CLibUV

#if canImport(Darwin)
    internal import Darwin
#else
    internal import CLibJemalloc
    internal import Glibc
#endif

/// What this process has used so far.
public struct ProcessResources: Sendable {
    /// Bytes of memory that are resident now.
    public let residentBytes: Int
    /// The most bytes that were resident at any time.
    public let peakBytes: Int
    /// Microseconds of processor time in the process itself.
    public let userMicroseconds: Int64
    /// Microseconds of processor time in the kernel on its behalf.
    public let systemMicroseconds: Int64

    /// What has been used up to now.
    public static var current: ProcessResources {
        var resident = 0
        uv_resident_set_memory(&resident)
        var usage = uv_rusage_t()
        uv_getrusage(&usage)
        return ProcessResources(
            residentBytes: resident, peakBytes: Int(usage.ru_maxrss) * 1_024,
            userMicroseconds: Int64(usage.ru_utime.tv_sec) * 1_000_000 + Int64(usage.ru_utime.tv_usec),
            systemMicroseconds: Int64(usage.ru_stime.tv_sec) * 1_000_000 + Int64(usage.ru_stime.tv_usec))
    }

    /// Lets this process have that many files and connections open, if it may. Returns how many it can have open now.
    public static func allowOpenFiles(_ count: Int) -> Int {
        #if canImport(Darwin)
            let resource = RLIMIT_NOFILE
        #else
            let resource = __rlimit_resource_t(RLIMIT_NOFILE.rawValue)
        #endif
        var limit = rlimit()
        guard getrlimit(resource, &limit) == 0, limit.rlim_cur < rlim_t(count) else { return count }
        let allowed = limit.rlim_cur
        limit.rlim_cur = min(rlim_t(count), limit.rlim_max)
        return Int(setrlimit(resource, &limit) == 0 ? limit.rlim_cur : allowed)
    }

    /// The bytes of memory that this process and everything beside it can have: the machine's, or its container's.
    public static var availableMemory: Int {
        let (machine, container) = (uv_get_total_memory(), uv_get_constrained_memory())
        return Int(clamping: container > 0 ? min(machine, container) : machine)
    }

    /// Gives memory that is no longer used back to the system: a third of a large process after its start. It would
    /// be given back when it had not been used for ten seconds, by the next allocations.
    public static func giveBackMemory() {
        #if canImport(Glibc)
            // Of every arena; docs/decisions/0096 says why this allocator.
            mallctl("arena.\(MALLCTL_ARENAS_ALL).purge", nil, nil, nil, 0)
        #endif
    }
}
