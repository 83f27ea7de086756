/* SPDX-License-Identifier: MIT */
/* test_app_doctor.c - the doctor's findings in the kernel, in groups and in limits. */
#include "doctor_report.h"

enum { NONE = -1 }; /* no such row */

/* ---- one file of the kernel, one row of the report */

static const struct {
    const char *name;
    long connections, udp;
    const char *file, *text;
    const char *check, *subject;
    int state;
    const char *words;
} rows[] = {
    { "no map count", 1000, 0, "/proc/x", "", "mappings", "", NONE, "" },
    { "maps enough", 30000, 0, "/proc/sys/vm/max_map_count", "65530\n",
      "mappings", "", DOCTOR_OK, "62000" },
    { "maps too few", 40000, 0, "/proc/sys/vm/max_map_count", "65530\n",
      "mappings", "", DOCTOR_FAIL, "82000, the limit is 65530" },
    { "maps no number", 40000, 0, "/proc/sys/vm/max_map_count", "many\n",
      "mappings", "", NONE, "" },
    { "file-max enough", 1000, 0, "/proc/sys/fs/file-max",
      "9223372036854775807\n", "descriptors", "all processes", NONE, "" },
    { "file-max near", 1000, 0, "/proc/sys/fs/file-max", "2000\n",
      "descriptors", "all processes", DOCTOR_WARN, "2000" },
    { "file-max low", 1000, 0, "/proc/sys/fs/file-max", "1000\n",
      "descriptors", "all processes", DOCTOR_FAIL, "1000" },
    { "memory enough", 1000, 0, "/proc/meminfo",
      "MemTotal: 2000000 kB\nMemAvailable:  1000000 kB\n", "memory", "", DOCTOR_OK, "977 MB" },
    { "memory short", 100000, 0, "/proc/meminfo",
      "MemTotal: 2000000 kB\nMemAvailable:  1000000 kB\n", "memory", "", DOCTOR_WARN, "3.1 GB" },
    { "memory cut", 100000, 0, "/proc/meminfo", "MemTotal: 20", "memory", "",
      NONE, "" },
    { "cores by name", 1, 0, "/proc/sys/kernel/core_pattern", "core.%p\n",
      "core dumps", "", DOCTOR_WARN, "off" },
    { "cores to a program", 1, 0, "/proc/sys/kernel/core_pattern",
      "|/lib/systemd/systemd-coredump %P\n", "core dumps", "", DOCTOR_OK, "systemd-coredump" },

    { "tsc", 1, 0,
      "/sys/devices/system/clocksource/clocksource0/current_clocksource", "tsc\n", "clock",
      "source", DOCTOR_OK, "tsc" },
    { "hpet", 1, 0,
      "/sys/devices/system/clocksource/clocksource0/current_clocksource", "hpet\n", "clock",
      "source", DOCTOR_WARN, "hpet" },
    { "a long one", 1, 0,
      "/sys/devices/system/clocksource/clocksource0/current_clocksource",
      "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx", "clock", "source",
      DOCTOR_WARN, "xxxxx: reading" },

    { "somaxconn", 1, 0, "/proc/sys/net/core/somaxconn", "4096\n", "kernel",
      "net.core.somaxconn", DOCTOR_OK, "4096" },
    { "somaxconn low", 1, 0, "/proc/sys/net/core/somaxconn", "128\n",
      "kernel", "net.core.somaxconn", DOCTOR_WARN, "128: connections" },
    { "somaxconn hidden", 1, 0, "/proc/x", "", "kernel",
      "net.core.somaxconn", NONE, "" },
    { "rmem for TCP", 1, 0, "/proc/sys/net/core/rmem_max", "212992\n",
      "kernel", "net.core.rmem_max", DOCTOR_OK, "fine for TCP" },
    { "rmem for UDP", 1, 1, "/proc/sys/net/core/rmem_max", "212992\n",
      "kernel", "net.core.rmem_max", DOCTOR_WARN, "all sessions" },
    { "wmem for UDP", 1, 1, "/proc/sys/net/core/wmem_max", "33554432\n",
      "kernel", "net.core.wmem_max", DOCTOR_OK, "33554432" },
    { "tcp_mem", 1000, 0, "/proc/sys/net/ipv4/tcp_mem", "100 200 300000\n",
      "kernel", "net.ipv4.tcp_mem", DOCTOR_OK, "1.1 GB" },
    { "tcp_mem short", 100000, 0, "/proc/sys/net/ipv4/tcp_mem",
      "100 200 300000\n", "kernel", "net.ipv4.tcp_mem", DOCTOR_WARN, "6.1 GB" },
    { "tcp_mem cut", 1, 0, "/proc/sys/net/ipv4/tcp_mem", "100", "kernel",
      "net.ipv4.tcp_mem", DOCTOR_WARN, "0 bytes" },
    { "conntrack", 1000, 0, "/proc/sys/net/netfilter/nf_conntrack_max",
      "262144\n", "kernel", "nf_conntrack_max", DOCTOR_OK, "262144" },
    { "conntrack of sessions", 1000, 1,
      "/proc/sys/net/netfilter/nf_conntrack_max", "262144\n", "kernel", "nf_conntrack_max",
      DOCTOR_WARN, "the server may need 301000" },
    { "conntrack low", 1000, 0, "/proc/sys/net/netfilter/nf_conntrack_max",
      "1000\n", "kernel", "nf_conntrack_max", DOCTOR_WARN, "1000" },
    { "overflows", 1, 0, "/proc/net/netstat",
      "TcpExt: A ListenOverflows ListenDrops\nTcpExt: 1 23 45\nIpExt: A\nIpExt: 1\n", "kernel",
      "accept queues", DOCTOR_WARN, "23 connections" },
    { "no overflows", 1, 0, "/proc/net/netstat",
      "TcpExt: A ListenOverflows\nTcpExt: 1 0\n", "kernel", "accept queues", NONE, "" },
    { "netstat cut", 1, 0, "/proc/net/netstat", "TcpExt: A ListenOverflows\n",
      "kernel", "accept queues", NONE, "" },
    { "datagrams lost", 1, 1, "/proc/net/snmp",
      "Udp: InDatagrams RcvbufErrors\nUdp: 9 7\n", "kernel", "datagrams", DOCTOR_WARN, "7 were" },
    { "datagrams of others", 1, 0, "/proc/net/snmp",
      "Udp: InDatagrams RcvbufErrors\nUdp: 9 7\n", "kernel", "datagrams", NONE, "" },

    { "performance", 1, 0,
      "/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor", "performance\n", "cpu", "governor",
      DOCTOR_OK, "performance" },
    { "powersave", 1, 0, "/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor",
      "powersave\n", "cpu", "governor", DOCTOR_WARN, "powersave" },
    { "half a core", 1, 0, "/sys/fs/cgroup/cpu.max", "50000 100000\n", "cpu",
      "quota", DOCTOR_WARN, "0.50 CPUs" },
    { "four cores", 1, 0, "/sys/fs/cgroup/cpu.max", "400000 100000\n", "cpu",
      "quota", NONE, "" },
    { "no quota", 1, 0, "/sys/fs/cgroup/cpu.max", "max 100000\n", "cpu", "quota",
      NONE, "" },
    { "version 1", 1, 0, "/sys/fs/cgroup/cpu/cpu.cfs_quota_us", "25000\n", "cpu",
      "quota", DOCTOR_WARN, "0.25" },
    { "steal", 1, 0, "/proc/stat", "cpu  10 0 10 60 0 0 0 20 0 0\n", "cpu",
      "steal", DOCTOR_WARN, "20 %" },
    { "no steal", 1, 0, "/proc/stat", "cpu  10 0 10 60 0 0 0 1 0 0\n", "cpu",
      "steal", NONE, "" },
    { "stat cut", 1, 0, "/proc/stat", "cpu  10", "cpu", "steal", NONE, "" },
};

static void test_kernel(void **state)
{
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct doctor_plan *p;

        print_message("  %s\n", rows[i].name);
        if (i > 0) {
            assert_int_equal(dir_remove(state), 0);
            assert_int_equal(dir_make(state), 0);
        }
        dir_put(rows[i].file, rows[i].text);
        p = plan_new();
        p->connections = rows[i].connections;
        p->udp = rows[i].udp;
        p->sessions = rows[i].udp ? 300000 : 0;
        doctor_check_machine(p);
        if (rows[i].state == NONE)
            assert_null(report_find(&p->report, rows[i].check, rows[i].subject));
        else
            assert_report_row(&p->report, rows[i].check, rows[i].subject, rows[i].state, rows[i].words);
        doctor_plan_free(p);
    }
}

/* A control group may allow less than the machine has. */
static void test_memory_of_a_group(void **state)
{
    struct doctor_plan *p = plan_new();

    (void)state;
    p->connections = 10000;
    dir_put("/proc/meminfo", "MemAvailable:  1000000 kB\n");
    dir_put("/sys/fs/cgroup/memory.max", "200000000\n");
    dir_put("/sys/fs/cgroup/memory.current", "150000000\n");
    doctor_check_machine(p);
    assert_report_row(&p->report, "memory", "", DOCTOR_WARN, "48 MB are free");
    doctor_plan_free(p);
    p = plan_new();
    dir_put("/sys/fs/cgroup/memory.max", "max\n");
    doctor_check_machine(p);
    assert_report_row(&p->report, "memory", "", DOCTOR_OK, "977 MB are free");
    doctor_plan_free(p);
}

/* So may a parent group, of either version. */
static void test_groups_above(void **state)
{
    static const struct {
        const char *groups, *file, *max, *current, *words;
    } memory[] = {
        { "0::/a.slice/srs.service\n", "a.slice/srs.service/memory", "max", "current", "48 MB are free" },
        { "0::/a.slice/srs.service\n", "a.slice/memory", "max", "current", "48 MB are free" },
        { "7:memory:/a/b\n0::/\n", "memory/a/memory", "limit_in_bytes", "usage_in_bytes",
          "48 MB are free" },
        { "0::/b\n", "a/memory", "max", "current", "977 MB are free" },
    };
    static const struct {
        const char *groups, *file, *text, *words;
    } cpu[] = {
        { "0::/a.slice/srs.service\n", "a.slice/srs.service/cpu.max", "50000 100000\n", "0.50" },
        { "0::/a.slice/srs.service\n", "a.slice/cpu.max", "25000 50000\n", "0.50" },
        { "0::/a.slice/srs.service\n", "a.slice/cpu.max", "max 50000\n", NULL },
        { "3:cpu,cpuacct:/a/b\n", "cpu/a/b/cpu.cfs_quota_us", "20000\n", "0.20" },
        { "0::/b\n", "a/cpu.max", "50000 100000\n", NULL },
    };
    char path[128];

    for (size_t i = 0; i < COUNT(memory); i++) {
        struct doctor_plan *p = plan_new();

        p->connections = 10000;
        dir_put("/proc/meminfo", "MemAvailable:  1000000 kB\n");
        dir_put("/proc/self/cgroup", memory[i].groups);
        (void)snprintf(path, sizeof(path), "/sys/fs/cgroup/%s.%s", memory[i].file, memory[i].max);
        dir_put(path, "200000000\n");
        (void)snprintf(path, sizeof(path), "/sys/fs/cgroup/%s.%s", memory[i].file,
                       memory[i].current);
        dir_put(path, "150000000\n");
        doctor_check_machine(p);
        assert_report_row(&p->report, "memory", "", i < 3 ? DOCTOR_WARN : DOCTOR_OK, memory[i].words);
        doctor_plan_free(p);
        assert_int_equal(dir_remove(state) || dir_make(state), 0);
    }
    for (size_t i = 0; i < COUNT(cpu); i++) {
        struct doctor_plan *p = plan_new();

        dir_put("/proc/self/cgroup", cpu[i].groups);
        (void)snprintf(path, sizeof(path), "/sys/fs/cgroup/%s", cpu[i].file);
        dir_put(path, cpu[i].text);
        doctor_check_machine(p);
        if (cpu[i].words)
            assert_report_row(&p->report, "cpu", "quota", DOCTOR_WARN, cpu[i].words);
        else
            assert_null(report_find(&p->report, "cpu", "quota"));
        doctor_plan_free(p);
        assert_int_equal(dir_remove(state) || dir_make(state), 0);
    }
}

static void test_descriptors(void **state)
{
    static const struct {
        long connections;
        rlim_t limit;
        int state;
        const char *words;
    } want[] = {
        { 1000, 1024, DOCTOR_FAIL, "needs 1144, the limit is 1024" },
        { 1000, 1144, DOCTOR_FAIL, "1144" },
        { 1000, 1145, DOCTOR_OK, "1145" },
        { 10000, RLIM_INFINITY, DOCTOR_OK, "1073741824" },
        { 1, 0, DOCTOR_FAIL, "the limit is 0" },
    };

    (void)state;
    for (size_t i = 0; i < COUNT(want); i++) {
        struct doctor_plan *p = plan_new();

        p->connections = want[i].connections;
        p->reserve = 16;
        p->files = (struct rlimit){ want[i].limit, want[i].limit };
        doctor_check_machine(p);
        assert_report_row(&p->report, "descriptors", "", want[i].state, want[i].words);
        doctor_plan_free(p);
    }
}

/* ---- workers */

static void test_descriptors_of_workers(void **state)
{
    struct doctor_plan *p = plan_new();

    (void)state;
    p->workers = 4;
    p->reserve = 16;
    p->port_n = 0;
    p->files = (struct rlimit){ 1168, 1168 };
    doctor_check_machine(p);
    assert_report_row(&p->report, "descriptors", "", DOCTOR_FAIL, "needs 1168, the limit is 1168");
    doctor_plan_free(p);
}

static const struct {
    unsigned workers;
    const char *quota; /* cpu.max */
    int state;
    const char *words;
} quotas[] = {
    { 1, "150000 100000\n", NONE, "" },
    { 2, "150000 100000\n", DOCTOR_WARN, "1.50 cores for 2 workers" },
    { 2, "200000 100000\n", NONE, "" },
    { 4, "300000 100000\n", DOCTOR_WARN, "3.00 cores for 4 workers" },
    { 4, "max 100000\n", NONE, "" },
};

static void test_cores_of_workers(void **state)
{
    unsigned mine = (unsigned)CPU_COUNT(co_pin_allowed());
    struct doctor_plan *p;

    (void)state;
    for (size_t i = 0; i < COUNT(quotas); i++) {
        p = plan_new();
        dir_put("/sys/fs/cgroup/cpu.max", quotas[i].quota);
        p->workers = quotas[i].workers;
        doctor_check_machine(p);
        if (quotas[i].state == NONE)
            assert_null(report_find(&p->report, "cpu", "quota"));
        else
            assert_report_row(&p->report, "cpu", "quota", quotas[i].state, quotas[i].words);
        doctor_plan_free(p);
    }
    for (unsigned n = mine > 1 ? mine : 2; n < mine + 3; n++) {
        p = plan_new();
        p->workers = n;
        doctor_check_machine(p);
        assert_report_row(&p->report, "cpu", "cores", n > mine ? DOCTOR_WARN : DOCTOR_OK, "workers");
        doctor_plan_free(p);
    }
}

static const struct {
    const char *name;
    unsigned workers;
    int queues;
    bool device;     /* it is a network card */
    const char *rps; /* for its first queue */
    int state;
    const char *words;
} cards[] = {
    { "one worker", 1, 1, true, "0", NONE, "" },
    { "one queue for two", 2, 1, true, "0", DOCTOR_OK, "1 queue for 2 workers" },
    { "one queue for four", 4, 1, true, "00000000,00000000", DOCTOR_WARN,
      "1 queue for 4 workers: only as many cores" },
    { "spread", 4, 1, true, "00000000,0000000c", DOCTOR_OK, "RPS" },
    { "queues for all", 4, 4, true, "0", DOCTOR_OK, "4 queues for 4 workers" },
    { "half of them", 4, 2, true, NULL, DOCTOR_OK, "2 queues for 4 workers" },
    { "too few", 8, 3, true, "0", DOCTOR_WARN, "3 queues for 8 workers" },
    { "a bridge", 8, 1, false, "0", NONE, "" },
    { "without queues", 8, 0, true, NULL, NONE, "" },
};

static void test_cards(void **state)
{
    char path[128];

    for (size_t i = 0; i < COUNT(cards); i++) {
        struct doctor_plan *p = plan_new();

        print_message("  %s\n", cards[i].name);
        dir_put("/sys/class/net/lo/queues/rx-0/rps_cpus", "0\n");
        if (cards[i].device)
            dir_put("/sys/class/net/eth0/device/vendor", "0x8086\n");
        dir_put("/sys/class/net/eth0/queues/tx-0/xps_cpus", "f\n");
        for (int q = 0; q < cards[i].queues; q++) {
            (void)snprintf(path, sizeof(path), "/sys/class/net/eth0/queues/rx-%d/rps_cpus", q);
            dir_put(path, q == 0 && cards[i].rps ? cards[i].rps : "0\n");
        }
        p->workers = cards[i].workers;
        doctor_check_machine(p);
        if (cards[i].state == NONE)
            assert_null(report_find(&p->report, "network card", "eth0"));
        else
            assert_report_row(&p->report, "network card", "eth0", cards[i].state, cards[i].words);
        assert_null(report_find(&p->report, "network card", "lo"));
        doctor_plan_free(p);
        assert_int_equal(dir_remove(state) || dir_make(state), 0);
    }
}

/* ---- presentation */

static void test_shown(void **state)
{
    struct doctor_report r = { 0 };
    char text[2048] = { 0 };
    FILE *f = fmemopen(text, sizeof(text) - 1, "w");
    struct wr w;
    struct jput j = { .w = &w };
    json_t *root, *row;

    (void)state;
    doctor_add(&r, DOCTOR_OK, "clock", "", "%s", "fine");
    doctor_add(&r, DOCTOR_FAIL, "port", "1935", "taken by %d", 7);
    doctor_advise(&r, "end %d", 7);
    doctor_advise(&r, "kill %d", 7);
    doctor_print(&r, f, false);
    (void)fclose(f);
    assert_non_null(strstr(text, "ok    clock "));
    assert_non_null(strstr(text, "fail  port 1935 "));
    assert_non_null(strstr(text, "-> kill 7\n"));
    assert_null(strstr(text, "end 7"));
    assert_non_null(strstr(text, "ok: 1, warnings: 0, failures: 1\n"));
    wr_init(&w, 65536);
    jput_open(&j, NULL, '{');
    doctor_put(&r, &j);
    jput_close(&j, '}');
    root = json_loadb((const char *)w.buf, w.len, 0, NULL);
    assert_non_null(root);
    assert_int_equal(json_integer_value(json_object_get(root, "failures")), 1);
    row = json_array_get(json_object_get(root, "checks"), 1);
    assert_string_equal(json_string_value(json_object_get(row, "state")), "fail");
    assert_string_equal(json_string_value(json_object_get(row, "advice")), "kill 7");
    assert_string_equal(json_string_value(json_object_get(row, "subject")), "1935");
    json_decref(root);
    wr_free(&w);
    doctor_report_free(&r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        DOCTOR_TEST(test_kernel), DOCTOR_TEST(test_memory_of_a_group),
        DOCTOR_TEST(test_groups_above), DOCTOR_TEST(test_descriptors),
        DOCTOR_TEST(test_descriptors_of_workers), DOCTOR_TEST(test_cores_of_workers),
        DOCTOR_TEST(test_cards), DOCTOR_TEST(test_shown),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
