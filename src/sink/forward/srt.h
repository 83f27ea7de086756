/* SPDX-License-Identifier: MIT */
/* srt.h - what the configuration says about SRT connections that we open. */
#ifndef SINK_FORWARD_SRT_H
#define SINK_FORWARD_SRT_H

#include "conf/conf.h"
#include "proto/srt/caller.h"

struct srt_caller_opts forward_srt_opts(const struct conf_srt_server *set);

#endif
