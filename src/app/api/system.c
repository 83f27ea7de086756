/* SPDX-License-Identifier: MIT */
/* system.c - the process and the machine in the API. */
#include "app/api/api.h"
#include "app/version.h"
#include "conf/table.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

static double part(uint64_t of, uint64_t all)
{
    return all ? (double)of / (double)all : 0;
}

static err_t versions(struct api_call *c)
{
    int v[3] = { 0 };
    const char *p = VERSION_OF_API;

    for (int i = 0; i < 3; i++) {
        v[i] = (int)strtol(p, NULL, 10);
        p += strcspn(p, ".");
        p += *p == '.';
    }
    jput_open(&c->j, "data", '{');
    jput_int(&c->j, "major", v[0]);
    jput_int(&c->j, "minor", v[1]);
    jput_int(&c->j, "revision", v[2]);
    jput_text(&c->j, "version", VERSION_OF_API);
    jput_text(&c->j, "release", VERSION_NUMBER);
    jput_close(&c->j, '}');
    return NULL;
}

/* ---- summaries */

static void put_argv(struct jput *j)
{
    char text[2048];
    size_t n = machine_file("/proc/self/cmdline", text, sizeof(text));

    for (size_t i = 0; i + 1 < n; i++) { /* arguments end with '\0' */
        if (!text[i])
            text[i] = ' ';
    }
    jput_text(j, "argv", text);
}

/* Writes the scheduler stalls: coroutines that ran for over 5 ms of CPU time. */
static void put_stalls(struct jput *j, const struct worker_counters *f)
{
    const char *name;

    jput_uint(j, "holds", f->holds);
    jput_open(j, "held_by", '[');
    for (size_t i = 0; (name = worker_counters_held_by(f, i)); i++) {
        jput_open(j, NULL, '{');
        jput_text(j, "coroutine", name);
        jput_uint(j, "holds", f->held_by[i].count);
        jput_real(j, "longest_ms", (double)f->held_by[i].longest / 1000, 1);
        jput_close(j, '}');
    }
    jput_close(j, ']');
}

static void put_self(struct jput *j, const struct machine *m, const struct worker_counters *f)
{
    char cwd[1024];

    jput_open(j, "self", '{');
    jput_text(j, "version", VERSION_NUMBER);
    jput_int(j, "pid", getpid());
    jput_int(j, "ppid", getppid());
    put_argv(j);
    jput_text(j, "cwd", getcwd(cwd, sizeof(cwd)) ? cwd : "");
    jput_uint(j, "mem_kbyte", m->rss_kbyte);
    jput_real(j, "mem_percent", part(m->rss_kbyte, m->memory.total), 4);
    jput_real(j, "cpu_percent", m->cpu, 4);
    jput_int(j, "srs_uptime", us_to_s(co_clock() - m->began_at));
    put_stalls(j, f);
    jput_close(j, '}');
}

static uint64_t used_memory(const struct machine_memory *m)
{
    return m->total - m->free - m->buffers - m->cached;
}

static void put_load(struct jput *j, const struct machine *m)
{
    const struct machine_memory *mem = &m->memory;

    jput_real(j, "cpu_percent", m->system_cpu, 4);
    jput_real(j, "disk_read_KBps", m->disk_read_kbps, 1);
    jput_real(j, "disk_write_KBps", m->disk_write_kbps, 1);
    jput_real(j, "disk_busy_percent", m->disk_busy, 4);
    jput_uint(j, "mem_ram_kbyte", mem->total);
    jput_real(j, "mem_ram_percent", part(used_memory(mem), mem->total), 4);
    jput_uint(j, "mem_swap_kbyte", mem->swap_total);
    jput_real(j, "mem_swap_percent", part(mem->swap_total - mem->swap_free, mem->swap_total), 4);
    jput_int(j, "cpus", sysconf(_SC_NPROCESSORS_CONF));
    jput_int(j, "cpus_online", sysconf(_SC_NPROCESSORS_ONLN));
    jput_real(j, "uptime", m->uptime, 2);
    jput_real(j, "ilde_time", m->idle, 2); /* this spelling is SRS's */
    jput_real(j, "idle_time", m->idle, 2);
    jput_real(j, "load_1m", m->load[0], 2);
    jput_real(j, "load_5m", m->load[1], 2);
    jput_real(j, "load_15m", m->load[2], 2);
}

static void put_traffic(struct jput *j, const struct machine *m, const struct worker_counters *f)
{
    uint64_t in = 0, out = 0;

    for (int i = 0; i < CLIENTS_TYPES; i++) {
        in += f->types[i].in;
        out += f->types[i].out;
    }
    jput_int(j, "net_sample_time", m->sampled_wall);
    jput_uint(j, "net_recv_bytes", m->net.recv);
    jput_uint(j, "net_send_bytes", m->net.send);
    jput_uint(j, "net_recvi_bytes", m->net.recvi);
    jput_uint(j, "net_sendi_bytes", m->net.sendi);
    jput_int(j, "srs_sample_time", co_wall_ms());
    jput_uint(j, "srs_recv_bytes", in);
    jput_uint(j, "srs_send_bytes", out);
    jput_uint(j, "conn_sys", m->sockets);
    jput_uint(j, "conn_sys_et", m->tcp_established);
    jput_uint(j, "conn_sys_tw", m->tcp_waiting);
    jput_uint(j, "conn_sys_udp", m->udp);
    jput_uint(j, "conn_srs", f->connections);
}

/* Writes what the limits have refused since the start. */
static void put_refused(struct jput *j, const struct worker_counters *f)
{
    jput_open(j, "refused", '{');
    for (int k = 0; k < REJECT_KINDS; k++)
        jput_uint(j, reject_reason_name(k), f->refused[k]);
    jput_close(j, '}');
}

void api_put_summaries(struct jput *j, const struct api_parts *of)
{
    struct worker_counters_of whose = api_counters_of(of);
    struct worker_counters f;

    worker_counters_refresh(&whose);
    worker_counters_sum(&whose, &f);
    jput_open(j, "data", '{');
    jput_bool(j, "ok", of->machine->sampled_at != 0);
    jput_int(j, "now_ms", co_wall_ms());
    put_self(j, of->machine, &f);
    jput_open(j, "system", '{');
    put_load(j, of->machine);
    put_traffic(j, of->machine, &f);
    jput_close(j, '}');
    put_refused(j, &f);
    jput_close(j, '}');
}

static err_t summaries(struct api_call *c)
{
    api_put_summaries(&c->j, c->of);
    return NULL;
}

/* ---- statistics of the kernel */

static int64_t micros(struct timeval t)
{
    return (int64_t)t.tv_sec * 1000000 + t.tv_usec;
}

#define AT(field) .at = offsetof(struct rusage, field)

static const struct jput_field usage_fields[] = {
    { "ru_maxrss", AT(ru_maxrss) }, { "ru_ixrss", AT(ru_ixrss) }, { "ru_idrss", AT(ru_idrss) },
    { "ru_isrss", AT(ru_isrss) }, { "ru_minflt", AT(ru_minflt) }, { "ru_majflt", AT(ru_majflt) },
    { "ru_nswap", AT(ru_nswap) }, { "ru_inblock", AT(ru_inblock) },
    { "ru_oublock", AT(ru_oublock) }, { "ru_msgsnd", AT(ru_msgsnd) },
    { "ru_msgrcv", AT(ru_msgrcv) }, { "ru_nsignals", AT(ru_nsignals) },
    { "ru_nvcsw", AT(ru_nvcsw) }, { "ru_nivcsw", AT(ru_nivcsw) },
};
#undef AT

static err_t rusages(struct api_call *c)
{
    struct rusage u;

    (void)getrusage(RUSAGE_SELF, &u);
    jput_open(&c->j, "data", '{');
    jput_bool(&c->j, "ok", true);
    jput_int(&c->j, "sample_time", co_wall_ms());
    jput_int(&c->j, "ru_utime", u.ru_utime.tv_sec);
    jput_int(&c->j, "ru_stime", u.ru_stime.tv_sec);
    jput_int(&c->j, "ru_utime_us", micros(u.ru_utime)); /* the fields above are in whole seconds */
    jput_int(&c->j, "ru_stime_us", micros(u.ru_stime));
    jput_fields(&c->j, usage_fields, sizeof(usage_fields) / sizeof(usage_fields[0]), &u);
    jput_close(&c->j, '}');
    return NULL;
}

/* The fields of /proc/self/stat in their order, proc(5); comm and state are text. Addresses ("-")
 * are shown as 0, because they would help an attacker to locate code and stack. */
static const char *const proc_fields[] = {
    "pid", "comm", "state", "ppid", "pgrp", "session", "tty_nr", "tpgid", "flags", "minflt",
    "cminflt", "majflt", "cmajflt", "utime", "stime", "cutime", "cstime", "priority", "nice",
    "num_threads", "itrealvalue", "starttime", "vsize", "rss", "rsslim", "-startcode", "-endcode",
    "-startstack", "-kstkesp", "-kstkeip", "signal", "blocked", "sigignore", "sigcatch", "-wchan",
    "nswap", "cnswap", "exit_signal", "processor", "rt_priority", "policy",
    "delayacct_blkio_ticks", "guest_time", "cguest_time",
};

static err_t self_proc_stats(struct api_call *c)
{
    char text[1024], *p, *end;

    (void)machine_file("/proc/self/stat", text, sizeof(text));
    jput_open(&c->j, "data", '{');
    jput_bool(&c->j, "ok", text[0] != '\0');
    jput_int(&c->j, "sample_time", co_wall_ms());
    jput_real(&c->j, "percent", c->of->machine->cpu, 4);
    jput_int(&c->j, "pid", getpid());
    p = strchr(text, '(');
    end = strrchr(text, ')'); /* the name may contain any character */
    if (p && end) {
        jput_bytes(&c->j, "comm", p, (size_t)(end + 1 - p));
        jput_bytes(&c->j, "state", end + 2, 1);
        p = end + 3;
        for (size_t i = 3; i < sizeof(proc_fields) / sizeof(proc_fields[0]); i++) {
            /* "no limit" is the highest uint64, which many parsers cannot read: shown as -1 */
            int64_t v = (int64_t)strtoull(p, &end, 10);
            bool address = proc_fields[i][0] == '-';

            jput_int(&c->j, proc_fields[i] + address, address ? 0 : v);
            p = end;
        }
    }
    jput_close(&c->j, '}');
    return NULL;
}

#define AT(field) .at = offsetof(struct machine_cpu, field)

static const struct jput_field tick_fields[] = {
    { "user", AT(user) }, { "nice", AT(nice) }, { "sys", AT(sys) }, { "idle", AT(idle) },
    { "iowait", AT(iowait) }, { "irq", AT(irq) }, { "softirq", AT(softirq) },
    { "steal", AT(steal) }, { "guest", AT(guest) },
};
#undef AT

static err_t system_proc_stats(struct api_call *c)
{
    const struct machine *m = c->of->machine;

    jput_open(&c->j, "data", '{');
    jput_bool(&c->j, "ok", m->sampled_at != 0);
    jput_int(&c->j, "sample_time", m->sampled_wall);
    jput_real(&c->j, "percent", m->system_cpu, 4);
    jput_fields(&c->j, tick_fields, sizeof(tick_fields) / sizeof(tick_fields[0]), &m->cpu_ticks);
    jput_close(&c->j, '}');
    return NULL;
}

static err_t meminfos(struct api_call *c)
{
    const struct machine *m = c->of->machine;
    const struct machine_memory *mem = &m->memory;

    jput_open(&c->j, "data", '{');
    jput_bool(&c->j, "ok", m->sampled_at != 0);
    jput_int(&c->j, "sample_time", m->sampled_wall);
    jput_real(&c->j, "percent_ram", part(used_memory(mem), mem->total), 4);
    jput_real(&c->j, "percent_swap", part(mem->swap_total - mem->swap_free, mem->swap_total), 4);
    jput_uint(&c->j, "MemActive", mem->active);
    jput_uint(&c->j, "RealInUse", used_memory(mem));
    jput_uint(&c->j, "NotInUse", mem->free + mem->buffers + mem->cached);
    jput_uint(&c->j, "MemTotal", mem->total);
    jput_uint(&c->j, "MemFree", mem->free);
    jput_uint(&c->j, "MemAvailable", mem->available);
    jput_uint(&c->j, "Buffers", mem->buffers);
    jput_uint(&c->j, "Cached", mem->cached);
    jput_uint(&c->j, "SwapTotal", mem->swap_total);
    jput_uint(&c->j, "SwapFree", mem->swap_free);
    jput_close(&c->j, '}');
    return NULL;
}

/* ---- authors and features */

static err_t authors(struct api_call *c)
{
    jput_open(&c->j, "data", '{');
    jput_text(&c->j, "license", "MIT");
    jput_text(&c->j, "contributors", "see LICENSE");
    jput_close(&c->j, '}');
    return NULL;
}

/* Returns true if this build supports the block of a vhost. */
static bool is_there(const struct conf_block *block, const char *name)
{
    const struct conf_row *row = conf_table_find(block, name, strlen(name));

    return row && !(row->flags & CONF_NOT_APPLIED);
}

static err_t features(struct api_call *c)
{
    static const char *const of_vhost[] = { "hls", "hds", "dvr", "transcode", "ingest", "rtsp",
                                          "vod" };
    static const char *const always[] = { "ssl", "callback", "api", "httpd", "stat",
                                          "complex_send", "tcp_nodelay", "so_sendbuf", "mr" };

    jput_open(&c->j, "data", '{');
    jput_text(&c->j, "options", version_configured());
    jput_text(&c->j, "options2", "");
    jput_text(&c->j, "build", version_built());
    jput_text(&c->j, "build2", "");
    jput_open(&c->j, "features", '{');
    for (size_t i = 0; i < sizeof(always) / sizeof(always[0]); i++)
        jput_bool(&c->j, always[i], true);
    for (size_t i = 0; i < sizeof(of_vhost) / sizeof(of_vhost[0]); i++)
        jput_bool(&c->j, of_vhost[i], is_there(&conf_table_vhost, of_vhost[i]));
    jput_bool(&c->j, "caster", is_there(&conf_table_root, "stream_caster"));
    jput_close(&c->j, '}');
    jput_close(&c->j, '}');
    return NULL;
}

const struct api_row api_rows_system[] = {
    { "versions", "the version of SRS", API_ANY | API_TOLD, versions, NULL },
    { "summaries", "the summary(pid, argv, pwd, cpu, mem) of SRS", API_ANY, summaries, NULL },
    { "rusages", "the rusage of SRS", API_ANY, rusages, NULL },
    { "self_proc_stats", "the self process stats", API_ANY, self_proc_stats, NULL },
    { "system_proc_stats", "the system process stats", API_ANY, system_proc_stats, NULL },
    { "meminfos", "the meminfo of system", API_ANY, meminfos, NULL },
    { "authors", "the license, copyright, authors and contributors", API_ANY, authors, NULL },
    { "features", "the supported features of SRS", API_ANY, features, NULL },
    { .path = NULL },
};
