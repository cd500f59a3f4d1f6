// A stand-in for libuv: the functions of libuv that the event loop calls, on a simulated clock, with simulated sockets
// and descriptors.
//
// A program that links this uses it in place of the library, because the linker takes a program's own functions first.
// So everything above libuv, with its timers and connections, runs unchanged, and does what the program decides.

#ifndef SIMULATED_LOOP_H
#define SIMULATED_LOOP_H

#include <stddef.h>
#include <stdint.h>

/// Sets what is called where libuv would wait, to let one thing happen. It waits for nothing if `may_wait` is 0.
void simulated_set_poll(void (*poll)(int may_wait));
/// The clock, in nanoseconds.
uint64_t simulated_time(void);
void simulated_set_time(uint64_t time);
/// How far each look at the clock moves it, in nanoseconds: work takes time.
void simulated_set_work(uint64_t work);
/// The next job of Swift's that belongs to no executor of ours; NULL if there is none. Where threads of a pool would run
/// it at any time, the one thread of the simulation does.
void *simulated_next_job(void);

/// When the next timer is due, in nanoseconds; UINT64_MAX if there is none.
uint64_t simulated_next_timer(void);
/// Fires the timers that are due.
void simulated_fire_timers(void);

/// A client connects to a port. Returns the number of its connection; -1 if nobody listens.
int simulated_connect(int port, int client_port, size_t capacity);
/// Gives the server bytes from the client. Returns 0 if the server does not read now.
int simulated_deliver(int connection, const void *bytes, size_t count);
/// The client ends its side (`is_cut` = 0), or the connection is lost. Returns 0 if the server does not read now.
int simulated_end(int connection, int is_cut);
/// Takes what the server has written, at most `limit` bytes. Returns how many there were.
size_t simulated_take(int connection, void *bytes, size_t limit);
/// How many bytes that the server has written wait for the client.
size_t simulated_waiting(int connection);
/// Whether the server has ended its side or closed, and nothing is left to be taken.
int simulated_is_over(int connection);

/// A new descriptor, for somebody who has it watched. Nothing can be done with it yet.
int simulated_descriptor(void);
/// Whether there is something to read from a descriptor, and room to write.
void simulated_set_ready(int descriptor, int can_read, int can_write);

/// What Swift's generator of random numbers gives from now on.
void simulated_set_random(uint64_t seed);
/// Starts the program again, unless that was done, so that neither hashes nor addresses depend on chance.
void simulated_begin(char **arguments);
/// Starts runs, each in a process of its own that begins exactly as every other does, to the addresses of its memory.
/// Returns in these processes, each with a plan that was read from a descriptor. The end of each is written to another,
/// as `end` and its status.
void simulated_runs(int plans, int results, uint64_t plan[4]);
/// As `fork`, which Swift does not let through.
int simulated_fork(void);

#endif
