/* SPDX-License-Identifier: MIT */
/* doctor.c - /api/v1/doctor: checks whether the machine fits the configuration. */
#include "app/api/api.h"
#include "app/doctor/doctor.h"

static void put_configuration(struct doctor_report *r, const struct reload_report *reload)
{
    bool failed = reload->count > 0 && reload->code;

    doctor_add(r, failed ? DOCTOR_FAIL : DOCTOR_OK, "configuration", "", "%s",
               !failed ? "is in force" : reload->text ? reload->text : "the reload failed");
    doctor_advise(r, "the previous configuration is in force; correct the file, then reload");
    if (!failed && reload->later > 0)
        doctor_hint(r, "%zu changes wait for a restart: /api/v1/raw?rpc=reload-fetch",
                    reload->later);
}

static err_t doctor(struct api_call *c)
{
    struct doctor_report r = { 0 };
    err_t err;

    put_configuration(&r, c->of->reload);
    err = doctor_run(&r, c->of->env->conf, &(struct doctor_how){ .serving = true });
    if (!err) {
        jput_open(&c->j, "data", '{');
        doctor_put(&r, &c->j);
        jput_close(&c->j, '}');
    }
    doctor_report_free(&r);
    return err;
}

const struct api_row api_rows_doctor[] = {
    { "doctor", "checks whether the machine fits the configuration", API_READ, doctor,
      NULL },
    { .path = NULL },
};
