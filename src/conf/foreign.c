/* SPDX-License-Identifier: MIT */
/* foreign.c - detects configurations of nginx, which look similar. */
#include "conf/foreign.h"

#include <string.h>

/* Top-level directives of nginx that this server does not have. */
static const char *const of_nginx[] = {
    "worker_processes", "worker_rlimit_nofile", "worker_cpu_affinity", "rtmp_auto_push", "events",
    "load_module", "error_log", "user", "http", "stream", "server", "upstream", "location",
};

static bool is_of_nginx(const struct conf_node *root)
{
    const struct conf_node *rtmp = conf_node_find(root, "rtmp");

    for (size_t i = 0; i < sizeof(of_nginx) / sizeof(of_nginx[0]); i++) {
        if (conf_node_find(root, of_nginx[i]))
            return true;
    }
    return rtmp && (conf_node_find(rtmp, "server") || conf_node_find(rtmp, "application"));
}

err_t conf_foreign(const struct conf_node *root, err_t err)
{
    if (!is_of_nginx(root))
        return err;
    return err_wrap(err, "this is a configuration of nginx; start with conf/srs.conf");
}
