/* SPDX-License-Identifier: MIT */
/* clock.c - the time of day, whether somebody keeps it right, and how dear it is to ask. */
#include "app/doctor/plan.h"

#include <string.h>
#include <sys/timex.h>
#include <time.h>

#define YEAR_2024 1704067200 /* seconds since 1970 */

static void day(struct doctor_plan *p)
{
    struct timex t = { .modes = 0 };
    time_t now = time(NULL);
    int state = adjtimex(&t);

    if (now < YEAR_2024) {
        doctor_add(&p->report, DOCTOR_FAIL, "clock", "", "it is before 2024: certificates and "
                   "names of records will be wrong");
        doctor_advise(&p->report, "timedatectl set-ntp true");
    } else if (state < 0) {
        return; /* we may not ask */
    } else if (state == TIME_ERROR || (t.status & STA_UNSYNC)) {
        doctor_add(&p->report, DOCTOR_WARN, "clock", "", "the kernel knows of nobody who keeps it "
                   "right");
        doctor_advise(&p->report, "timedatectl set-ntp true, or apt install chrony; in a container "
                      "look at its host");
    } else {
        doctor_add(&p->report, DOCTOR_OK, "clock", "", "synchronized, off by at most %ld ms",
                   t.maxerror / 1000);
    }
}

/* Every packet asks for the time: with these the answer comes from the processor, without a call
 * into the kernel. */
static bool is_cheap(const char *source)
{
    static const char *const cheap[] = {
        "tsc", "kvm-clock", "arch_sys_counter", "hyperv_clocksource_tsc_page", "timebase",
        "riscv_clocksource",
    };

    for (size_t i = 0; i < sizeof(cheap) / sizeof(cheap[0]); i++) {
        if (strcmp(source, cheap[i]) == 0)
            return true;
    }
    return false;
}

static void source(struct doctor_plan *p)
{
    static const char file[] = "/sys/devices/system/clocksource/clocksource0/current_clocksource";
    struct timespec t = { 0 };
    bool cheap;

    if (clock_getres(CLOCK_MONOTONIC, &t) == 0 && (t.tv_sec || t.tv_nsec > 1000000)) {
        doctor_add(&p->report, DOCTOR_FAIL, "clock", "steps", "the monotonic clock goes in steps "
                   "of %ld ms", (long)t.tv_sec * 1000 + t.tv_nsec / 1000000);
        doctor_advise(&p->report, "boot without highres=off and nohz=off");
    }
    if (!doctor_file(p, file))
        return;
    p->text[strcspn(p->text, "\n")] = '\0';
    p->text[40] = '\0';
    cheap = is_cheap(p->text);
    doctor_add(&p->report, cheap ? DOCTOR_OK : DOCTOR_WARN, "clock", "source", "%s%s", p->text,
               cheap ? "" : ": each look at the time is a call into the kernel");
    if (!cheap)
        doctor_advise(&p->report, "echo tsc > %s, if available_clocksource beside it has it; dmesg "
                      "says why not", file);
}

void doctor_look_clock(struct doctor_plan *p)
{
    day(p);
    source(p);
}
