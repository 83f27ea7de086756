/* SPDX-License-Identifier: MIT */
/* profile.c - starts and stops the profilers enabled by ./configure: gperftools and gprof. */
#include "app/dev/profile.h"

#include "app/dev/profile_timer.h"
#include "base/log.h"
#include "config.h"

/* ---- gprof: the C library does the work, but in the process in which main() started */

#if BUILD_GPROF
void moncontrol(int mode); /* in the C library, but not in its headers */

enum { GPROF_HZ = 100 }; /* the rate recorded in gmon.out */

static void gprof_start(void)
{
    moncontrol(1);
    if (!profile_timer_start(GPROF_HZ))
        log_warn("profile: cannot start the sampling thread, the times will be coarse");
    log_trace("profile: gprof, gmon.out is written at the end");
}
#else
static void gprof_start(void)
{
}
#endif

/* ---- gperftools: CPU profiler */

#if BUILD_GCP
#include <gperftools/profiler.h>

enum { CPU_HZ = 199 }; /* prime, so that it is not in step with other timers */

static void cpu_start(void)
{
    if (!ProfilerStart("gperf.srs.gcp"))
        log_warn("profile: gperf.srs.gcp cannot be written, or CPUPROFILE is set");
    else if (!profile_timer_start(CPU_HZ))
        log_warn("profile: cannot start the sampling thread, the profile will be coarse");
    else
        log_trace("profile: CPU, gperf.srs.gcp is written at the end");
}

static void cpu_stop(void)
{
    profile_timer_stop();
    ProfilerStop();
}
#else
static void cpu_start(void)
{
}

static void cpu_stop(void)
{
}
#endif

/* ---- gperftools: heap profiler */

#if BUILD_GMP
#include <gperftools/heap-profiler.h>

static void heap_start(void)
{
    HeapProfilerStart("gperf.srs.gmp");
    log_trace("profile: heap, gperf.srs.gmp.* are written while it grows and at the end");
}

static void heap_stop(void)
{
    HeapProfilerDump("the end");
    HeapProfilerStop();
}
#else
static void heap_start(void)
{
}

static void heap_stop(void)
{
}
#endif

void profile_thread_begin(void)
{
    profile_timer_join();
}

void profile_thread_end(void)
{
    profile_timer_leave();
}

void profile_start(void)
{
    gprof_start();
    cpu_start();
    heap_start();
}

void profile_stop(void)
{
    cpu_stop();
    heap_stop();
}
