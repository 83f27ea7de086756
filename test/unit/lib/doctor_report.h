/* SPDX-License-Identifier: MIT */
/* doctor_report.h - shared by tests of the doctor: a fake /proc, its report. */
#ifndef DOCTOR_REPORT_H
#define DOCTOR_REPORT_H

#include "app/doctor/doctor.h"
#include "app/doctor/plan.h"
#include "co/co.h"
#include "co/thread.h"
#include "conf_mem.h"
#include "temp_dir.h"

#include <jansson.h>
#include <netinet/in.h>
#include <openssl/pem.h>
#include <openssl/x509.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

/* A file below the folder of the test, with its folders. */
void dir_put(const char *path, const char *text);
const struct doctor_row *report_find(const struct doctor_report *r, const char *check,
                                     const char *subject);
void assert_report_row(const struct doctor_report *r, const char *check, const char *subject,
                       int state, const char *words);
struct doctor_plan *plan_new(void);

#define DOCTOR_TEST(f) cmocka_unit_test_setup_teardown(f, dir_make, dir_remove)

#endif
