/* SPDX-License-Identifier: MIT */
/* doctor.c - runs all checks on a helper thread. */
#include "app/doctor/doctor.h"

#include "app/doctor/plan.h"
#include "co/thread.h"


enum { CHECK_SECONDS = 20 };

static void check(void *arg)
{
    static void (*const all[])(struct doctor_plan *p) = {
        doctor_check_machine, doctor_check_ports,    doctor_check_certs,
        doctor_check_paths,   doctor_check_programs, doctor_check_candidates,
    };

    for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++)
        all[i](arg);
}

err_t doctor_run(struct doctor_report *r, struct conf *c, const struct doctor_how *how)
{
    struct doctor_plan *p = doctor_plan_new(c, how);
    err_t err;

    err = co_thread_run(CO_POOL_FILE, check, p, doctor_plan_free, CO_SECONDS(CHECK_SECONDS));
    if (err_code(err) == ERR_IO_TIMEOUT) {
        err_free(&err); /* the helper thread owns the plan now */
        doctor_add(r, DOCTOR_FAIL, "files", "", "a configured file or folder did not "
                   "respond within %d s", CHECK_SECONDS);
        doctor_advise(r, "check for a hanging network drive: df, mount");
        return NULL;
    }
    if (err)
        return err_wrap(err, "doctor");
    doctor_report_move(r, &p->report);
    doctor_plan_free(p);
    return NULL;
}
