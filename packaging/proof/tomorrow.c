/* A clock that stands a day later, for what is started with this library in LD_PRELOAD: the second build of packaging/twice.
 * faketime does the same for most programs; the compiler's allocator asks for the time before faketime is ready, and waits
 * for ever. File times stay as they are. */
#define _GNU_SOURCE
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

#define DAY 86400

int clock_gettime(clockid_t clock, struct timespec *now)
{
    long failed = syscall(SYS_clock_gettime, clock, now);
    if (!failed && (clock == CLOCK_REALTIME || clock == CLOCK_REALTIME_COARSE))
        now->tv_sec += DAY;
    return (int)failed;
}

int gettimeofday(struct timeval *now, void *zone)
{
    struct timespec found;
    (void)zone;
    if (clock_gettime(CLOCK_REALTIME, &found))
        return -1;
    now->tv_sec = found.tv_sec;
    now->tv_usec = found.tv_nsec / 1000;
    return 0;
}

time_t time(time_t *now)
{
    struct timespec found;
    time_t seconds = clock_gettime(CLOCK_REALTIME, &found) ? (time_t)-1 : found.tv_sec;
    if (now)
        *now = seconds;
    return seconds;
}
