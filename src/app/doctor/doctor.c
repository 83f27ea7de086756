/* SPDX-License-Identifier: MIT */
/* doctor.c - look at everything: on a helper thread what blocks, here what waits for programs. */
#include "app/doctor/doctor.h"

#include "app/doctor/plan.h"
#include "co/thread.h"

enum { LOOK_SECONDS = 20 };

static void look(void *arg)
{
    static void (*const all[])(struct doctor_plan *p) = {
        doctor_look_limits, doctor_look_ports,   doctor_look_datagrams, doctor_look_certs,
        doctor_look_paths,  doctor_look_clock,   doctor_look_network,   doctor_look_cards,
        doctor_look_cpu,    doctor_look_programs, doctor_look_candidates,
    };

    for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++)
        all[i](arg);
}

/* Rows change hands. */
static void hand_over(struct doctor_report *to, struct doctor_report *from)
{
    for (size_t i = 0; i < from->n; i++) {
        const struct doctor_row *row = &from->v[i];

        doctor_add(to, row->state, row->check, row->subject, "%s", row->text);
        doctor_advise(to, "%s", row->advice);
    }
}

err_t doctor_run(struct doctor_report *r, const struct conf *c, const struct doctor_how *how)
{
    struct doctor_plan *p = doctor_plan_new(c, how);
    err_t err;

    err = co_thread_run(CO_POOL_FILE, look, p, doctor_plan_free, CO_SECONDS(LOOK_SECONDS));
    if (err_code(err) == ERR_IO_TIMEOUT) {
        err_free(&err); /* the plan is not ours any more */
        doctor_add(r, DOCTOR_FAIL, "files", "", "a file or folder of the configuration did not "
                   "answer in %d s", LOOK_SECONDS);
        doctor_advise(r, "look for a network drive that hangs: df, mount");
        return NULL;
    }
    if (err)
        return err_wrap(err, "doctor");
    err = doctor_ask_ffmpeg(p);
    hand_over(r, &p->report);
    doctor_plan_free(p);
    return err;
}
