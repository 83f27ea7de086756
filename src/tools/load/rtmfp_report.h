/* SPDX-License-Identifier: MIT */
/* rtmfp_report.h - what clients of RTMFP measured, as text and as JSON. */
#ifndef TOOLS_LOAD_RTMFP_REPORT_H
#define TOOLS_LOAD_RTMFP_REPORT_H

#include "tools/load/stat.h"

void load_rtmfp_text(FILE *f, const struct load_stat *s, const struct load_report *r);
/* Members of an object, each with a comma in front. */
void load_rtmfp_json(FILE *f, const struct load_stat *s, const struct load_report *r);

#endif
