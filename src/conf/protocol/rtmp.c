/* SPDX-License-Identifier: MIT */
/* rtmp.c - endpoints of RTMP. Its directives have other names than those of newer protocols. */
#include "conf/protocol.h"

static const struct conf_served served[] = {
    { "rtmp", "RTMP", "rtmp.listen", "rtmp", "rtmp", PROTOCOL_RTMP, 0, CONF_NOWHERE, CONF_NOWHERE,
      CONF_OF(rtmp.listen), CONF_NOWHERE,
      { { "publish, play", "rtmp://[host]/live/livestream[query]" } }, 1935 },
    { "rtmps", "RTMPS", "rtmps.listen", "rtmps", "rtmps", PROTOCOL_RTMP, 0, CONF_OF(rtmps.enabled),
      CONF_NOWHERE, CONF_OF(rtmps.listen), CONF_OF(rtmps),
      { { "publish, play", "rtmps://[host]/live/livestream[query]" } }, 443 },
};

const struct conf_protocol conf_protocol_rtmp = {
    .name = "rtmp", .served = served, .n_served = 2, .vhost = CONF_NOWHERE, .max = CONF_NOWHERE,
};
