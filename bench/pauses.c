/* Preloaded into QEMU by bench/exact and tests/guest/test_exact.py: its threads pause, at random, where another thread may
 * overtake them. An exact guest must not notice.
 *
 * PAUSES_HALT   pauses at one halt in this many: between the moment when the processor is marked as halted and the
 *               moment when its instructions are counted (QEMU 7.2, do_hlt and icount_process_data)
 * PAUSES_POLL   pauses at one in this many wake-ups of the main loop
 * PAUSES_WAIT   pauses at one in this many wake-ups of a thread
 * PAUSES_WAKE_US  the main loop wakes up by itself after that long
 * PAUSES_US     length of a pause
 * PAUSES_REPORT file for how many there were: halts, others
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <poll.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

typedef void jump_function(sigjmp_buf, int);
typedef int poll_function(struct pollfd *, nfds_t, const struct timespec *, const sigset_t *);
typedef int wait_function(pthread_cond_t *, pthread_mutex_t *);

static long halt, poll_, wait_, wake_us, pause_us = 200;
static atomic_long halts, others;
static bool (*idle)(void), (*in_processor)(void);
static jump_function *jump, *checked_jump;
static poll_function *real_poll;
static wait_function *real_wait;

static long setting(const char *name, long otherwise)
{
    const char *value = getenv(name);
    return value ? atol(value) : otherwise;
}

__attribute__((constructor)) static void begin(void)
{
    halt = setting("PAUSES_HALT", 0);
    poll_ = setting("PAUSES_POLL", 0);
    wait_ = setting("PAUSES_WAIT", 0);
    wake_us = setting("PAUSES_WAKE_US", 0);
    pause_us = setting("PAUSES_US", 200);
    idle = dlsym(RTLD_DEFAULT, "all_cpu_threads_idle");
    in_processor = dlsym(RTLD_DEFAULT, "qemu_in_vcpu_thread");
    jump = dlsym(RTLD_NEXT, "siglongjmp");
    checked_jump = dlsym(RTLD_NEXT, "__longjmp_chk");
    real_poll = dlsym(RTLD_NEXT, "ppoll");
    real_wait = dlvsym(RTLD_NEXT, "pthread_cond_wait", "GLIBC_2.3.2");
}

__attribute__((destructor)) static void end(void)
{
    const char *path = getenv("PAUSES_REPORT");
    FILE *out = path ? fopen(path, "w") : NULL;
    if (out) {
        fprintf(out, "%ld %ld\n", halts, others);
        fclose(out);
    }
}

static bool drawn(long one_of)
{
    static __thread unsigned long state;
    struct timespec now;
    if (!one_of)
        return false;
    if (!state) {
        clock_gettime(CLOCK_MONOTONIC, &now);
        state = (unsigned long)now.tv_nsec | 1;
    }
    state = state * 6364136223846793005ul + 1442695040888963407ul;
    return (state >> 33) % (unsigned long)one_of == 0;
}

static void rest(atomic_long *count)
{
    struct timespec length = {pause_us / 1000000, pause_us % 1000000 * 1000};
    ++*count;
    nanosleep(&length, NULL);
}

static void halted(void)
{
    if (halt && idle && in_processor && in_processor() && idle() && drawn(halt))
        rest(&halts);
}

void siglongjmp(sigjmp_buf where, int value)
{
    halted();
    jump(where, value);
    __builtin_unreachable();
}

void __longjmp_chk(sigjmp_buf where, int value)
{
    halted();
    checked_jump(where, value);
    __builtin_unreachable();
}

int ppoll(struct pollfd *files, nfds_t count, const struct timespec *timeout, const sigset_t *mask)
{
    struct timespec soon = {wake_us / 1000000, wake_us % 1000000 * 1000};
    int found;
    if (wake_us && (!timeout || timeout->tv_sec > 0 || timeout->tv_nsec > soon.tv_nsec))
        timeout = &soon;
    found = real_poll(files, count, timeout, mask);
    if (drawn(poll_))
        rest(&others);
    return found;
}

int pthread_cond_wait(pthread_cond_t *condition, pthread_mutex_t *mutex)
{
    int ended = real_wait(condition, mutex);
    if (drawn(wait_))
        rest(&others);
    return ended;
}
