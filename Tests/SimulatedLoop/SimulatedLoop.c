#define _GNU_SOURCE
#include "SimulatedLoop.h"

#include <netinet/in.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
#include <uv.h>

#ifdef __linux__
#include <dlfcn.h>
#include <stdarg.h>
#include <sys/personality.h>
#include <sys/syscall.h>
#endif

static void (*poll_body)(int may_wait);
static uint64_t now, work;
static uint64_t order;
static bool is_stopped, is_woken;
static uv_async_t *async;
static uv_async_cb async_body;

/// What libuv's handles keep to themselves.
typedef struct state {
    struct state *next;
    uv_handle_t *handle;
    enum { TIMER, IDLE, PREPARE, CHECK, LISTENER, CONNECTION, POLL } kind;
    bool is_active, is_closing;
    void (*body)(void *);
    /// Of a timer, in nanoseconds.
    uint64_t due, repeat, order;
    /// Of a listener or a connection.
    int port, peer, number;
    uv_connection_cb on_connection;
    uv_alloc_cb allocate;
    uv_read_cb read;
    bool has_read_end;
    /// Of what watches a descriptor.
    int descriptor, events;
} state;

/// Both directions of a connection, as the system keeps them.
typedef struct {
    state *server;
    int port, peer;
    uint8_t *sent;
    size_t count, capacity;
    bool server_ended, is_cut;
    /// What the server waits to write.
    uv_write_t *request;
    const uint8_t *rest;
    size_t rest_count;
} connection;

static state *states;
static connection *connections;
static int connection_count, accepting = -1;

static state *state_of(const void *handle) { return ((const uv_handle_t *)handle)->u.reserved[1]; }

static state *add(void *handle, int kind) {
    state *new = calloc(1, sizeof(state));
    new->handle = handle;
    new->kind = kind;
    new->number = -1;
    ((uv_handle_t *)handle)->u.reserved[1] = new;
    // The newest first, as libuv calls those who prepare for waiting.
    new->next = states;
    states = new;
    return new;
}

// The clock, and timers.

void simulated_set_poll(void (*poll)(int may_wait)) { poll_body = poll; }
uint64_t simulated_time(void) { return now; }
void simulated_set_time(uint64_t time) { now = time; }
void simulated_set_work(uint64_t each) { work = each; }

uint64_t uv_hrtime(void) { return now += work; }
uint64_t uv_now(const uv_loop_t *loop) { return now / 1000000; }
void uv_update_time(uv_loop_t *loop) {}

int uv_timer_init(uv_loop_t *loop, uv_timer_t *handle) {
    add(handle, TIMER);
    return 0;
}

int uv_timer_start(uv_timer_t *handle, uv_timer_cb body, uint64_t timeout, uint64_t repeat) {
    state *timer = state_of(handle);
    timer->body = (void (*)(void *))body;
    timer->due = now + timeout * 1000000;
    timer->repeat = repeat * 1000000;
    timer->order = order++;
    timer->is_active = true;
    return 0;
}

static state *next_timer(void) {
    state *first = NULL;
    for (state *each = states; each; each = each->next) {
        if (each->kind != TIMER || !each->is_active) continue;
        if (!first || each->due < first->due || (each->due == first->due && each->order < first->order)) first = each;
    }
    return first;
}

uint64_t simulated_next_timer(void) {
    state *next = next_timer();
    return next ? next->due : UINT64_MAX;
}

void simulated_fire_timers(void) {
    uint64_t end = now;
    for (state *due = next_timer(); due && due->due <= end; due = next_timer()) {
        due->is_active = due->repeat > 0;
        due->due = end + (due->repeat ? due->repeat : 0);
        due->order = order++;
        due->body(due->handle);
    }
}

// The loop.

int uv_loop_init(uv_loop_t *loop) { return 0; }
void uv_stop(uv_loop_t *loop) { is_stopped = true; }

int uv_async_init(uv_loop_t *loop, uv_async_t *handle, uv_async_cb body) {
    async = handle;
    async_body = body;
    return 0;
}

int uv_async_send(uv_async_t *handle) {
    is_woken = true;
    return 0;
}

int uv_prepare_init(uv_loop_t *loop, uv_prepare_t *handle) { return add(handle, PREPARE), 0; }
int uv_check_init(uv_loop_t *loop, uv_check_t *handle) { return add(handle, CHECK), 0; }
int uv_idle_init(uv_loop_t *loop, uv_idle_t *handle) { return add(handle, IDLE), 0; }

static int start(void *handle, void *body) {
    state_of(handle)->body = (void (*)(void *))body;
    state_of(handle)->is_active = true;
    return 0;
}

int uv_prepare_start(uv_prepare_t *handle, uv_prepare_cb body) { return start(handle, body); }
int uv_check_start(uv_check_t *handle, uv_check_cb body) { return start(handle, body); }
int uv_idle_start(uv_idle_t *handle, uv_idle_cb body) { return start(handle, body); }

static bool call(int kind) {
    bool has_called = false;
    for (state *each = states; each; each = each->next) {
        if (each->kind != kind || !each->is_active || each->is_closing) continue;
        has_called = true;
        each->body(each->handle);
    }
    return has_called;
}

// Descriptors that somebody else has: no system knows them.

static int *ready;
static int descriptor_count;

int simulated_descriptor(void) {
    ready = realloc(ready, sizeof(int) * (descriptor_count + 1));
    ready[descriptor_count] = 0;
    return descriptor_count++;
}

void simulated_set_ready(int descriptor, int can_read, int can_write) {
    ready[descriptor] = (can_read ? UV_READABLE : 0) | (can_write ? UV_WRITABLE : 0);
}

int uv_poll_init(uv_loop_t *loop, uv_poll_t *handle, int descriptor) {
    add(handle, POLL)->descriptor = descriptor;
    return 0;
}

int uv_poll_start(uv_poll_t *handle, int events, uv_poll_cb body) {
    state_of(handle)->events = events;
    return start(handle, body);
}

int uv_poll_stop(uv_poll_t *handle) {
    state_of(handle)->is_active = false;
    return 0;
}

static state *next_ready(void) {
    for (state *each = states; each; each = each->next)
        if (each->kind == POLL && each->is_active && each->events & ready[each->descriptor]) return each;
    return NULL;
}

static bool has_closing(void) {
    for (state *each = states; each; each = each->next)
        if (each->is_closing) return true;
    return false;
}

static void finish_closing(void) {
    state *closed = NULL;
    for (state **link = &states; *link;) {
        state *each = *link;
        if (!each->is_closing) {
            link = &each->next;
            continue;
        }
        *link = each->next;
        each->next = closed;
        closed = each;
    }
    while (closed) {
        state *each = closed;
        closed = each->next;
        if (each->number >= 0) {
            connection *ended = &connections[each->number];
            ended->server = NULL;
            if (ended->request) {
                uv_write_t *request = ended->request;
                ended->request = NULL;
                request->cb(request, UV_ECANCELED);
            }
        }
        if (each->handle->close_cb) each->handle->close_cb(each->handle);
        free(each);
    }
}

int uv_run(uv_loop_t *loop, uv_run_mode mode) {
    is_stopped = false;
    while (!is_stopped) {
        bool is_idle = call(IDLE);
        call(PREPARE);
        state *readable = next_ready();
        bool may_wait = !is_idle && !is_woken && !readable && !has_closing();
        if (is_woken) {
            is_woken = false;
            async_body(async);
        }
        if (readable && readable->is_active)
            ((uv_poll_cb)readable->body)(
                (uv_poll_t *)readable->handle, 0, readable->events & ready[readable->descriptor]);
        poll_body(may_wait);
        call(CHECK);
        finish_closing();
    }
    return 0;
}

void uv_close(uv_handle_t *handle, uv_close_cb body) {
    state *closing = state_of(handle);
    closing->is_active = false;
    closing->is_closing = true;
    closing->read = NULL;
    handle->close_cb = body;
    if (closing->number >= 0) connections[closing->number].server_ended = true;
}

// Sockets.

int uv_tcp_init(uv_loop_t *loop, uv_tcp_t *handle) { return add(handle, CONNECTION), 0; }
int uv_tcp_init_ex(uv_loop_t *loop, uv_tcp_t *handle, unsigned int flags) { return uv_tcp_init(loop, handle); }
int uv_tcp_nodelay(uv_tcp_t *handle, int enable) { return 0; }
int uv_tcp_keepalive(uv_tcp_t *handle, int enable, unsigned int delay) { return 0; }

int uv_tcp_bind(uv_tcp_t *handle, const struct sockaddr *address, unsigned int flags) {
    state_of(handle)->port = ntohs(((const struct sockaddr_in *)address)->sin_port);
    return 0;
}

int uv_listen(uv_stream_t *stream, int backlog, uv_connection_cb body) {
    state_of(stream)->kind = LISTENER;
    state_of(stream)->is_active = true;
    state_of(stream)->on_connection = body;
    return 0;
}

static int name(int port, struct sockaddr *address, int *length) {
    struct sockaddr_in result = {.sin_family = AF_INET, .sin_port = htons(port)};
    result.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    memcpy(address, &result, sizeof result);
    *length = sizeof result;
    return 0;
}

int uv_tcp_getsockname(const uv_tcp_t *handle, struct sockaddr *address, int *length) {
    return name(state_of(handle)->port, address, length);
}

int uv_tcp_getpeername(const uv_tcp_t *handle, struct sockaddr *address, int *length) {
    return name(state_of(handle)->peer, address, length);
}

int simulated_connect(int port, int client_port, size_t capacity) {
    for (state *each = states; each; each = each->next) {
        if (each->kind != LISTENER || !each->is_active || each->port != port) continue;
        connections = realloc(connections, sizeof(connection) * (connection_count + 1));
        connections[connection_count] =
            (connection){.port = port, .peer = client_port, .capacity = capacity, .sent = malloc(capacity)};
        accepting = connection_count++;
        int number = accepting;
        each->on_connection((uv_stream_t *)each->handle, 0);
        return number;
    }
    return -1;
}

int uv_accept(uv_stream_t *server, uv_stream_t *client) {
    if (accepting < 0) return UV_EAGAIN;
    state *accepted = state_of(client);
    accepted->number = accepting;
    accepted->port = connections[accepting].port;
    accepted->peer = connections[accepting].peer;
    accepted->is_active = true;
    connections[accepting].server = accepted;
    accepting = -1;
    return 0;
}

int uv_read_start(uv_stream_t *stream, uv_alloc_cb allocate, uv_read_cb read) {
    state *reading = state_of(stream);
    if (reading->is_closing) return UV_EINVAL;
    if (reading->read) return UV_EALREADY;
    reading->allocate = allocate;
    reading->read = read;
    return 0;
}

int uv_read_stop(uv_stream_t *stream) {
    state_of(stream)->read = NULL;
    return 0;
}

static int give(int number, const void *bytes, size_t count, ssize_t status) {
    state *server = connections[number].server;
    if (!server || server->is_closing || server->has_read_end) return 1;
    if (!server->read) return 0;
    uv_buf_t buffer = uv_buf_init(NULL, 0);
    server->allocate(server->handle, 65536, &buffer);
    if (status == 0) memcpy(buffer.base, bytes, count);
    if (status == UV_EOF) server->has_read_end = true;
    server->read((uv_stream_t *)server->handle, status ? status : (ssize_t)count, &buffer);
    return 1;
}

int simulated_deliver(int number, const void *bytes, size_t count) { return give(number, bytes, count, 0); }

int simulated_end(int number, int is_cut) {
    if (is_cut) connections[number].is_cut = true;
    return give(number, NULL, 0, is_cut ? UV_ECONNRESET : UV_EOF);
}

static size_t pass(connection *to, const uint8_t *bytes, size_t count) {
    size_t room = to->capacity - to->count;
    if (count > room) count = room;
    memcpy(to->sent + to->count, bytes, count);
    to->count += count;
    return count;
}

int uv_try_write(uv_stream_t *stream, const uv_buf_t buffers[], unsigned int count) {
    connection *to = &connections[state_of(stream)->number];
    if (to->is_cut) return UV_EPIPE;
    size_t passed = pass(to, (const uint8_t *)buffers[0].base, buffers[0].len);
    return passed ? (int)passed : UV_EAGAIN;
}

int uv_write(
    uv_write_t *request, uv_stream_t *stream, const uv_buf_t buffers[], unsigned int count, uv_write_cb body) {
    connection *to = &connections[state_of(stream)->number];
    request->cb = body;
    to->request = request;
    to->rest = (const uint8_t *)buffers[0].base;
    to->rest_count = buffers[0].len;
    return 0;
}

size_t uv_stream_get_write_queue_size(const uv_stream_t *stream) {
    return connections[state_of(stream)->number].rest_count;
}

int uv_shutdown(uv_shutdown_t *request, uv_stream_t *stream, uv_shutdown_cb body) {
    connections[state_of(stream)->number].server_ended = true;
    body(request, 0);
    return 0;
}

size_t simulated_take(int number, void *bytes, size_t limit) {
    connection *from = &connections[number];
    size_t count = from->count < limit ? from->count : limit;
    memcpy(bytes, from->sent, count);
    memmove(from->sent, from->sent + count, from->count - count);
    from->count -= count;
    if (from->request && from->server && !from->server->is_closing) {
        size_t passed = pass(from, from->rest, from->rest_count);
        from->rest += passed;
        from->rest_count -= passed;
        if (from->rest_count == 0) {
            uv_write_t *request = from->request;
            from->request = NULL;
            request->cb(request, 0);
        }
    }
    return count;
}

size_t simulated_waiting(int number) { return connections[number].count; }

int simulated_is_over(int number) { return connections[number].server_ended && connections[number].count == 0; }

// Swift.

#define SWIFT_CC __attribute__((swiftcall))

typedef SWIFT_CC void (*enqueue)(void *job);
extern SWIFT_CC void (*swift_task_enqueueGlobal_hook)(void *job, enqueue original);

static void **jobs;
static size_t job_count, jobs_done, job_capacity;

static SWIFT_CC void take_job(void *job, enqueue original) {
    if (job_count == job_capacity) {
        job_capacity = job_capacity ? job_capacity * 2 : 64;
        jobs = realloc(jobs, job_capacity * sizeof(void *));
    }
    jobs[job_count++] = job;
}

void *simulated_next_job(void) {
    if (jobs_done < job_count) return jobs[jobs_done++];
    jobs_done = job_count = 0;
    return NULL;
}

static uint64_t randomness;

void simulated_set_random(uint64_t seed) { randomness = seed; }

#ifdef __linux__
/// In place of libc's: Swift's standard library asks the kernel for random numbers by it.
long syscall(long number, ...) {
    long values[6];
    va_list rest;
    va_start(rest, number);
    for (int each = 0; each < 6; each++) values[each] = va_arg(rest, long);
    va_end(rest);
    if (number != SYS_getrandom) {
        static long (*real)(long, ...);
        if (!real) real = (long (*)(long, ...))dlsym(RTLD_NEXT, "syscall");
        return real(number, values[0], values[1], values[2], values[3], values[4], values[5]);
    }
    for (long each = 0; each < values[1]; each++) {
        randomness = randomness * 6364136223846793005 + 1442695040888963407;
        ((uint8_t *)values[0])[each] = randomness >> 56;
    }
    return values[1];
}
#endif

void simulated_begin(char **arguments) {
    swift_task_enqueueGlobal_hook = take_job;
    if (getenv("SWIFT_DETERMINISTIC_HASHING")) return;
    setenv("SWIFT_DETERMINISTIC_HASHING", "1", 1);
    // A trap is told by the process that started the one that trapped.
    setenv("SWIFT_BACKTRACE", "enable=no", 1);
#ifdef __linux__
    personality(ADDR_NO_RANDOMIZE);
#endif
    execv(arguments[0], arguments);
}

void simulated_runs(int plans, int results, uint64_t plan[4]) {
    while (read(plans, plan, 4 * sizeof(uint64_t)) == 4 * sizeof(uint64_t)) {
        pid_t child = fork();
        if (child == 0) return;
        int status = -1;
        if (child > 0) waitpid(child, &status, 0);
        char line[32];
        int length = snprintf(line, sizeof line, "end %d\n", status);
        if (write(results, line, length) != length) _exit(1);
    }
    _exit(0);
}

int simulated_fork(void) { return fork(); }
