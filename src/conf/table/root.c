/* SPDX-License-Identifier: MIT */
/* root.c - directives that stand outside of any block, and the blocks there. */
#include "conf/table.h"

static const char *const tank_words[] = { "file", "console", NULL };
/* In the order of enum conf_log_level. */
static const char *const level_words[] = { "verbose", "info", "trace", "warn", "error", NULL };
/* The same behind "not given". */
static const char *const level2_words[] = { "", "trace", "debug", "info", "warn", "error", NULL };

#define XX(ID, id) \
    { #id "_server", CONF_KIND_BLOCK, CONF_AT(conf, id##_server), \
      .block = &conf_table_##id##_server },

static const struct conf_row rows[] = {
    { "is_full", CONF_KIND_OFF, CONF_AT(conf, is_full), "off", CONF_NEVER, CONF_NO_ENV,
      .sample = "on",
      .help = "Marks a file that shows every directive: the server refuses to run with it." },
    { "max_connections", CONF_KIND_INT, CONF_AT(conf, max_connections), "1000", CONF_HANDLER,
      .min = 1, .max = 10e6,
      .help = "TCP connections at one time; more are closed at once. With 128 more for files and "
              "the like it must fit into the descriptor limit of the process (ulimit -n)." },
    { "workers", CONF_KIND_INT_AUTO, CONF_AT(conf, workers), "1", CONF_NEVER,
      .min = 1, .max = CONF_WORKERS_MAX,
      .help = "Threads that serve, each with connections and streams of its own; auto: one for "
              "each core that the process may use." },
    { "worker_cpu_affinity", CONF_KIND_LIST, CONF_AT(conf, worker_cpu_affinity),
      .reload = CONF_NEVER, .sample = "auto",
      .help = "The cores that each worker runs on: masks as 0001 0010, the lowest core last and "
              "the last mask for all further workers; or auto, one core for each, maybe with a "
              "mask of the cores to take. None: the system chooses." },
    { "workers_spread", CONF_KIND_INT, CONF_AT(conf, workers_spread), "64", CONF_AT_ONCE,
      .max = 10e6,
      .help = "Players of a stream that all go to the worker of its publisher; with more, those "
              "who come stay with the worker that accepted them. 0: they always do." },
    { "daemon", CONF_KIND_ON, CONF_AT(conf, daemon), "on", CONF_NEVER,
      .help = "Run in the background." },
    { "disable_daemon_for_docker", CONF_KIND_ON, CONF_AT(conf, disable_daemon_for_docker), "on",
      CONF_NEVER, .help = "Stay in the foreground in a container, whatever daemon says." },
    { "in_docker", CONF_KIND_OFF, CONF_AT(conf, in_docker), "off", CONF_NEVER,
      .help = "Take it that we are in a container, even if that cannot be seen." },
    { "work_dir", CONF_KIND_STRING, CONF_AT(conf, work_dir), "./", CONF_NEVER,
      .help = "The folder to change to at start; relative paths below begin there." },
    { "pid", CONF_KIND_STRING, CONF_AT(conf, pid), "./objs/srs.pid", CONF_NEVER,
      .help = "The pid file. It is locked: a second server with the same one does not start." },
    { "server_id", CONF_KIND_STRING, CONF_AT(conf, server_id), NULL, CONF_NEVER,
      .def_note = "made up, and kept in a file beside the pid file", .sample = "vid-0a1b2c3",
      .help = "The name of this server for the API and the callbacks." },
    { "asprocess", CONF_KIND_OFF, CONF_AT(conf, asprocess), "off", CONF_NEVER,
      .help = "Quit when the process that started us is gone. Not together with daemon." },
    { "srs_log_tank", CONF_KIND_ENUM, CONF_AT(conf, srs_log_tank), "file", CONF_NEVER,
      .words = tank_words, .env = "SRS_LOG_TANK SRS_SRS_LOG_TANK",
      .help = "Where log lines go: file or console." },
    { "srs_log_level", CONF_KIND_ENUM, CONF_AT(conf, srs_log_level), "trace", CONF_NEVER,
      .words = level_words, .env = "SRS_LOG_LEVEL SRS_SRS_LOG_LEVEL",
      .help = "Lines below it are not written; the old scale: verbose, info, trace, warn, error." },
    { "srs_log_level_v2", CONF_KIND_ENUM, CONF_AT(conf, srs_log_level_v2), NULL, CONF_NEVER,
      .words = level2_words, .env = "SRS_LOG_LEVEL_V2 SRS_SRS_LOG_LEVEL_V2",
      .def_note = "empty: srs_log_level counts", .sample = "info",
      .help = "The same on the usual scale, and it wins: trace, debug, info, warn, error." },
    { "srs_log_file", CONF_KIND_STRING, CONF_AT(conf, srs_log_file), "./objs/srs.log", CONF_NEVER,
      .env = "SRS_LOG_FILE SRS_SRS_LOG_FILE", .help = "The log file, for srs_log_tank file." },
    { "log_secrets", CONF_KIND_OFF, CONF_AT(conf, log_secrets), "off", CONF_HANDLER,
      .help = "Show parameters of addresses (tokens are there) and credentials in the log, and in "
              "the API to everybody; off: as ?***, and in the API to who has its password." },
    { "core_dump", CONF_KIND_OFF, CONF_AT(conf, core_dump), "off", CONF_NEVER,
      .help = "Leave a core dump when the process crashes, as ulimit -c allows. Keys and passwords "
              "are in it." },
    { "utc_time", CONF_KIND_OFF, CONF_AT(conf, utc_time), "off", CONF_NEVER,
      .help = "UTC instead of local time in log lines and in file names." },
    { "pithy_print_ms", CONF_KIND_MSEC, CONF_AT(conf, sampled_print), "10000", CONF_HANDLER,
      .min = 100, .max = 1e9,
      .help = "Milliseconds between two statistics lines of one kind of client in the log." },
    { "watchdog_ms", CONF_KIND_MSEC, CONF_AT(conf, watchdog), "100", CONF_HANDLER, .max = 1e9,
      .help = "A coroutine that keeps the thread for longer is named in the log; 0 turns it off." },
    { "trusted_proxies", CONF_KIND_NETWORKS, CONF_AT(conf, trusted_proxies), "127.0.0.0/8 ::1",
      CONF_AT_ONCE,
      .help = "Addresses and networks whose word counts on who is behind them: X-Forwarded-For, "
              "X-Real-IP, and the headers of endpoints with proxy_protocol; none: nobody's." },
    { "empty_ip_ok", CONF_KIND_ON, CONF_AT(conf, empty_ip_ok), "on", CONF_AT_ONCE,
      .help = "Close connections without a peer address in silence: probes of load balancers." },
    { "grace_start_wait", CONF_KIND_MSEC, CONF_AT(conf, grace_start_wait), "2300", CONF_AT_ONCE,
      .max = 1e9,
      .help = "Graceful quit: milliseconds before the listeners are closed." },
    { "grace_final_wait", CONF_KIND_MSEC, CONF_AT(conf, grace_final_wait), "3200", CONF_AT_ONCE,
      .max = 1e9,
      .help = "Graceful quit: milliseconds to wait after the last client has gone." },
    { "force_grace_quit", CONF_KIND_OFF, CONF_AT(conf, force_grace_quit), "off", CONF_AT_ONCE,
      .help = "Take SIGTERM as SIGQUIT: a graceful quit." },
    { "inotify_auto_reload", CONF_KIND_OFF, CONF_AT(conf, inotify_auto_reload), "off", CONF_NEVER,
      .help = "Reload when the configuration file changes, at most every 3 seconds." },
    { "auto_reload_for_docker", CONF_KIND_ON, CONF_AT(conf, auto_reload_for_docker), "on",
      CONF_NEVER, .help = "In a container, turn inotify_auto_reload on." },
    { "tcmalloc_release_rate", CONF_KIND_FLOAT, CONF_AT(conf, tcmalloc_release_rate), "0.8",
      CONF_NEVER, CONF_CLAMP, .max = 10,
      .help = "How eagerly free memory goes back to the system; builds with gperftools only." },
    { "ff_log_dir", CONF_KIND_STRING, CONF_AT(conf, ff_log_dir), "./objs", CONF_AT_ONCE,
      .help = "Where what each program of ingest, transcode and exec says goes, a file for each; "
              "/dev/null for none. Programs that run keep theirs." },
    { "ff_env", CONF_KIND_LIST, CONF_AT(conf, ff_env), NULL, CONF_AT_ONCE,
      .sample = "LD_LIBRARY_PATH CUDA_VISIBLE_DEVICES",
      .help = "Names of environment variables that programs of ingest, transcode and exec get of "
              "ours, beside PATH, HOME, LANG and TZ; none that begins with SRS_." },
    { "ff_log_level", CONF_KIND_STRING, CONF_AT(conf, ff_log_level), "info", CONF_AT_ONCE,
      .help = "The -loglevel of each ffmpeg of ingest and transcode." },
    { "query_latest_version", CONF_KIND_OFF, CONF_AT(conf, query_latest_version), "off", CONF_NEVER,
      CONF_NOT_APPLIED | CONF_QUIET, .help = "Ask for a newer version." },
    { "first_wait_for_qlv", CONF_KIND_SECONDS, CONF_AT(conf, first_wait_for_qlv), "300", CONF_NEVER,
      CONF_NOT_APPLIED | CONF_QUIET, .max = 1e9,
      .help = "Seconds before the first such question." },
    { "threads", CONF_KIND_RELIC, .flags = CONF_QUIET,
      .help = "The thread manager of older servers." },
    { "tencentcloud_cls", CONF_KIND_RELIC, .help = "A cloud's log service, of older servers." },
    { "tencentcloud_apm", CONF_KIND_RELIC, .help = "A cloud's tracing service, of older servers." },

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
