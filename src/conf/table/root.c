/* SPDX-License-Identifier: MIT */
/* root.c - directives outside of any block, and the top-level blocks. */
#include "conf/table.h"

static const char *const tank_words[] = { "file", "console", NULL };
/* In the order of enum conf_log_level. */
static const char *const level_words[] = { "verbose", "info", "trace", "warn", "error", NULL };
/* The new scale; the first word means "not set". */
static const char *const level2_words[] = { "", "trace", "debug", "info", "warn", "error", NULL };

#define XX(ID, id) \
    { #id "_server", CONF_KIND_BLOCK, CONF_AT(conf, id##_server), \
      .block = &conf_table_##id##_server },

static const struct conf_row rows[] = {
    { "is_full", CONF_KIND_OFF, CONF_AT(conf, is_full), "off", CONF_NEVER, CONF_NO_ENV,
      .sample = "on",
      .help = "Marks a file that shows every directive. The server refuses to run with it." },
    { "max_connections", CONF_KIND_INT, CONF_AT(conf, max_connections), "1000", CONF_HANDLER,
      .min = 1, .max = 10e6,
      .help = "Maximum number of TCP connections. Further ones are closed at once. The process "
              "needs 128 more file descriptors than this (ulimit -n)." },
    { "workers", CONF_KIND_INT_AUTO, CONF_AT(conf, workers), "1", CONF_NEVER,
      .min = 1, .max = CONF_WORKERS_MAX,
      .help = "Number of worker threads, each with its own connections and streams. auto: one "
              "per core that the process may use. Raise it when one core is full: "
              "doc/workers.md." },
    { "worker_cpu_affinity", CONF_KIND_LIST, CONF_AT(conf, worker_cpu_affinity),
      .reload = CONF_NEVER, .sample = "auto",
      .help = "Cores of each worker: masks such as 0001 0010, lowest core last; the last mask "
              "is for all further workers. auto: one core per worker, optionally followed by a "
              "mask of allowed cores. Not set: the system chooses." },
    { "workers_spread", CONF_KIND_INT, CONF_AT(conf, workers_spread), "64", CONF_AT_ONCE,
      .max = 10e6,
      .help = "Players of a stream up to this number move to the worker of its publisher; "
              "further ones stay on the worker that accepted them. Raise it for less work per "
              "player, lower it to spread popular streams earlier. 0: players never move." },
    { "daemon", CONF_KIND_ON, CONF_AT(conf, daemon), "on", CONF_NEVER,
      .help = "Runs in the background." },
    { "disable_daemon_for_docker", CONF_KIND_ON, CONF_AT(conf, disable_daemon_for_docker), "on",
      CONF_NEVER, .help = "Stays in the foreground in a container, regardless of daemon." },
    { "in_docker", CONF_KIND_OFF, CONF_AT(conf, in_docker), "off", CONF_NEVER,
      .help = "Assumes a container even if the server does not detect one." },
    { "work_dir", CONF_KIND_STRING, CONF_AT(conf, work_dir), "./", CONF_NEVER,
      .help = "Working directory. Relative paths in this file are relative to it." },
    { "pid", CONF_KIND_STRING, CONF_AT(conf, pid), "./objs/srs.pid", CONF_NEVER,
      .help = "File with the process id. It is locked: a second server with the same file does "
              "not start." },
    { "server_id", CONF_KIND_STRING, CONF_AT(conf, server_id), NULL, CONF_NEVER,
      .def_note = "random, stored next to the pid file", .sample = "vid-0a1b2c3",
      .help = "Name of this server in the API and callbacks." },
    { "asprocess", CONF_KIND_OFF, CONF_AT(conf, asprocess), "off", CONF_NEVER,
      .help = "Quits when the parent process ends. Not with daemon." },
    { "srs_log_tank", CONF_KIND_ENUM, CONF_AT(conf, srs_log_tank), "file", CONF_NEVER,
      .words = tank_words, .env = "SRS_LOG_TANK SRS_SRS_LOG_TANK",
      .help = "Target of the log: file or console." },
    { "srs_log_level", CONF_KIND_ENUM, CONF_AT(conf, srs_log_level), "trace", CONF_NEVER,
      .words = level_words, .env = "SRS_LOG_LEVEL SRS_SRS_LOG_LEVEL",
      .help = "Minimum level of log lines, on the old scale: verbose, info, trace, warn, error." },
    { "srs_log_level_v2", CONF_KIND_ENUM, CONF_AT(conf, srs_log_level_v2), NULL, CONF_NEVER,
      .words = level2_words, .env = "SRS_LOG_LEVEL_V2 SRS_SRS_LOG_LEVEL_V2",
      .def_note = "empty: srs_log_level applies", .sample = "info",
      .help = "Minimum level of log lines, on the usual scale: trace, debug, info, warn, error. "
              "Overrides srs_log_level." },
    { "srs_log_file", CONF_KIND_STRING, CONF_AT(conf, srs_log_file), "./objs/srs.log", CONF_NEVER,
      .env = "SRS_LOG_FILE SRS_SRS_LOG_FILE", .help = "Log file, for srs_log_tank file." },
    { "log_secrets", CONF_KIND_OFF, CONF_AT(conf, log_secrets), "off", CONF_HANDLER,
      .help = "Shows passwords, tokens and parameters of addresses in the log, and to all "
              "clients in the API. off: ?*** in the log; in the API visible only with its "
              "password. Turn it on only to find a fault." },
    { "core_dump", CONF_KIND_OFF, CONF_AT(conf, core_dump), "off", CONF_NEVER,
      .help = "Writes a core dump after a crash, as far as ulimit -c allows. It contains keys "
              "and passwords." },
    { "utc_time", CONF_KIND_OFF, CONF_AT(conf, utc_time), "off", CONF_NEVER,
      .help = "Uses UTC in log lines and file names. off: local time." },
    { "pithy_print_ms", CONF_KIND_MSEC, CONF_AT(conf, sampled_print), "10000", CONF_HANDLER,
      .min = 100, .max = 1e9,
      .help = "Milliseconds between statistics lines in the log, for each kind of client." },
    { "watchdog_ms", CONF_KIND_MSEC, CONF_AT(conf, watchdog), "100", CONF_HANDLER, .max = 1e9,
      .help = "Logs the name of a coroutine that uses the thread for longer than this many "
              "milliseconds. 0: off." },
    { "trusted_proxies", CONF_KIND_NETWORKS, CONF_AT(conf, trusted_proxies), "127.0.0.0/8 ::1",
      CONF_AT_ONCE,
      .help = "Addresses and networks of proxies that may state a client's address: "
              "X-Forwarded-For, X-Real-IP, and PROXY protocol headers. none: no proxy. Set it "
              "behind a proxy on another machine." },
    { "empty_ip_ok", CONF_KIND_ON, CONF_AT(conf, empty_ip_ok), "on", CONF_AT_ONCE,
      .help = "Closes connections without a peer address silently; load balancers probe this "
              "way." },
    { "grace_start_wait", CONF_KIND_MSEC, CONF_AT(conf, grace_start_wait), "2300", CONF_AT_ONCE,
      .max = 1e9,
      .help = "Graceful quit: milliseconds until the server stops listening." },
    { "grace_final_wait", CONF_KIND_MSEC, CONF_AT(conf, grace_final_wait), "3200", CONF_AT_ONCE,
      .max = 1e9,
      .help = "Graceful quit: milliseconds to wait after the last client has left." },
    { "force_grace_quit", CONF_KIND_OFF, CONF_AT(conf, force_grace_quit), "off", CONF_AT_ONCE,
      .help = "Treats SIGTERM as SIGQUIT, a graceful quit." },
    { "inotify_auto_reload", CONF_KIND_OFF, CONF_AT(conf, inotify_auto_reload), "off", CONF_NEVER,
      .help = "Reloads when the configuration file changes, at most every 3 s." },
    { "auto_reload_for_docker", CONF_KIND_ON, CONF_AT(conf, auto_reload_for_docker), "on",
      CONF_NEVER, .help = "Turns inotify_auto_reload on in a container." },
    { "tcmalloc_release_rate", CONF_KIND_FLOAT, CONF_AT(conf, tcmalloc_release_rate), "0.8",
      CONF_NEVER, CONF_CLAMP, .max = 10,
      .help = "How fast free memory returns to the system, 0 (never) to 10. Only in builds with "
              "gperftools." },
    { "ff_log_dir", CONF_KIND_STRING, CONF_AT(conf, ff_log_dir), "./objs", CONF_AT_ONCE,
      .help = "Folder for the output of programs (ingest, transcode, exec), one file each. "
              "/dev/null: none. Running programs keep their file." },
    { "ff_env", CONF_KIND_LIST, CONF_AT(conf, ff_env), NULL, CONF_AT_ONCE,
      .sample = "LD_LIBRARY_PATH CUDA_VISIBLE_DEVICES",
      .help = "Environment variables that programs (ingest, transcode, exec) get from the "
              "server, in addition to PATH, HOME, LANG and TZ. Names that begin with SRS_ are "
              "not possible." },
    { "ff_log_level", CONF_KIND_STRING, CONF_AT(conf, ff_log_level), "info", CONF_AT_ONCE,
      .help = "The -loglevel of ffmpeg in ingest and transcode." },
    { "query_latest_version", CONF_KIND_OFF, CONF_AT(conf, query_latest_version), "off", CONF_NEVER,
      CONF_NOT_APPLIED | CONF_QUIET, .help = "Checks for a newer version." },
    { "first_wait_for_qlv", CONF_KIND_SECONDS, CONF_AT(conf, first_wait_for_qlv), "300", CONF_NEVER,
      CONF_NOT_APPLIED | CONF_QUIET, .max = 1e9,
      .help = "Seconds until the first check." },
    { "threads", CONF_KIND_OBSOLETE, .flags = CONF_QUIET,
      .help = "Thread manager of older servers." },
    { "tencentcloud_cls", CONF_KIND_OBSOLETE, .help = "Cloud log service of older servers." },
    { "tencentcloud_apm", CONF_KIND_OBSOLETE, .help = "Cloud tracing service of older servers." },

    { "rtmp", CONF_KIND_BLOCK, CONF_AT(conf, rtmp), .block = &conf_table_rtmp },
    { "rtmps", CONF_KIND_BLOCK, CONF_AT(conf, rtmps), .block = &conf_table_rtmps },
    { "limits", CONF_KIND_BLOCK, CONF_AT(conf, limits), .block = &conf_table_limits },
    { "http_api", CONF_KIND_BLOCK, CONF_AT(conf, http_api),
      .block = &conf_table_http_api },
    { "http_server", CONF_KIND_BLOCK, CONF_AT(conf, http_server),
      .block = &conf_table_http_server },
    PROTOCOL_SERVER_LIST(XX)
    { "stream_caster", CONF_KIND_BLOCKS, CONF_AT(conf, stream_caster), NULL, CONF_NEVER,
      CONF_NOT_APPLIED | CONF_NO_ENV, .block = &conf_table_stream_caster },
    { "circuit_breaker", CONF_KIND_BLOCK, CONF_AT(conf, circuit_breaker), .flags = CONF_NOT_APPLIED,
      .block = &conf_table_circuit_breaker },
    { "heartbeat", CONF_KIND_BLOCK, CONF_AT(conf, heartbeat),
      .block = &conf_table_heartbeat },
    { "stats", CONF_KIND_BLOCK, CONF_AT(conf, stats), .flags = CONF_NO_ENV,
      .block = &conf_table_stats },
    { "exporter", CONF_KIND_BLOCK, CONF_AT(conf, exporter),
      .block = &conf_table_exporter },
    { "vhost", CONF_KIND_BLOCKS, CONF_AT(conf, vhost), NULL, CONF_HANDLER, CONF_NAMED,
      .sample = "__defaultVhost__", .block = &conf_table_vhost },
};

const struct conf_block conf_table_root = CONF_BLOCK_OF(conf, rows, NULL);
