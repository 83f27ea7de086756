/* SPDX-License-Identifier: MIT */
/* test_app_doctor_plan.c - the doctor's findings about paths, ports, certificates and programs. */
#include "doctor_report.h"

/* ---- paths */

static void check_at(enum doctor_path_kind kind, const char *path, int want, const char *words)
{
    char whole[200];
    struct doctor_path one = { .kind = kind, .directive = "x_path", .path = whole };
    struct doctor_plan *p = plan_new();

    print_message("  %s\n", path);
    (void)snprintf(whole, sizeof(whole), "%s%s", *path == '/' ? dir : "", path);
    p->path = &one;
    p->path_n = 1;
    doctor_check_paths(p);
    assert_report_row(&p->report, "path", "x_path", want, words);
    assert_int_equal(p->report.n, 1);
    p->path = NULL;
    p->path_n = 0;
    doctor_plan_free(p);
}

static void test_paths(void **state)
{
    (void)state;
    dir_put("/logs/srs.log", "x");
    check_at(DOCTOR_FILE, "/logs/srs.log", DOCTOR_OK, "writable, ");
    check_at(DOCTOR_FILE, "/logs/new.log", DOCTOR_OK, "writable, ");
    check_at(DOCTOR_FILE, "/none/new.log", DOCTOR_FAIL, "does not exist");
    check_at(DOCTOR_FILE, "/logs/srs.log/new.log", DOCTOR_FAIL, "is not a folder");
    check_at(DOCTOR_FOLDER, "/logs", DOCTOR_OK, "writable, ");
    check_at(DOCTOR_FOLDER, "/logs/a/b/c", DOCTOR_OK, "writable when created");
    check_at(DOCTOR_FOLDER, "/logs/srs.log/a", DOCTOR_FAIL, "is not a folder");
    check_at(DOCTOR_READ, "/logs", DOCTOR_OK, "readable");
    check_at(DOCTOR_READ, "/logs/srs.log", DOCTOR_OK, "readable");
    check_at(DOCTOR_READ, "/nothing", DOCTOR_FAIL, "does not exist");
    check_at(DOCTOR_FOLDER, "a/b", DOCTOR_OK, "when created");
    if (geteuid() != 0) { /* root is always allowed */
        assert_int_equal(system("true"), 0);
        check_at(DOCTOR_FOLDER, "/", DOCTOR_OK, "writable");
    }
}

/* ---- the plan */

static const char planned[] =
    "listen 1935 127.0.0.1:1936; max_connections 500; srs_log_file ./log/srs.log;\n"
    "http_api { enabled on; listen 8080; }\n"
    "http_server { enabled on; listen 8080; dir ./www; https { enabled on; listen 1935; key k; "
    "cert c; } }\n"
    "rtmps { enabled on; listen 443; key k; cert c; certificate a.b { key k2; cert c2; } }\n"
    "vhost __defaultVhost__ {\n"
    "  hls { enabled on; hls_path ./hls; }\n"
    "  dash { enabled on; dash_path ./dash/[app]; }\n"
    "  dvr { enabled on; dvr_path ./rec/[app]/[stream].[timestamp].mp4; }\n"
    "  ingest i { enabled on; input { type file; url in.flv; } ffmpeg ./ff;\n"
    "    engine { enabled off; vcodec nothing; output rtmp://127.0.0.1/live/i; } }\n"
    "  transcode { enabled on; ffmpeg ./ff; engine e { enabled on; vcodec libx264; acodec copy;\n"
    "    output rtmp://127.0.0.1/live/e; } }\n"
    "  exec { enabled on; publish /bin/echo [stream]; }\n"
    "  vod { enabled on; dir ./films; }\n"
    "}\n"
    "vhost off { enabled off; dvr { enabled on; dvr_path ./never; } }\n";

static bool has_path(const struct doctor_plan *p, enum doctor_path_kind kind, const char *path)
{
    for (size_t i = 0; i < p->path_n; i++) {
        if (p->path[i].kind == kind && strcmp(p->path[i].path, path) == 0)
            return true;
    }
    return false;
}

static void test_plan(void **state)
{
    struct conf *c = mem_conf(planned);
    struct doctor_plan *p = doctor_plan_new(c, &(struct doctor_how){ .serving = false });

    (void)state;
    assert_int_equal(p->connections, 500);
    assert_int_equal(p->port_n, 4); /* 1935, 1936, 443, 8080 */
    assert_string_equal(p->port[0].names, "rtmp, https");
    assert_true(p->port[0].clash);
    assert_string_equal(p->port[3].names, "http, api");
    assert_false(p->port[3].clash);
    assert_int_equal(p->tls_n, 2);
    assert_string_equal(p->tls[0].where, "rtmps, https");
    assert_string_equal(p->tls[1].where, "a.b");
    assert_true(has_path(p, DOCTOR_FILE, "./log/srs.log"));
    assert_true(has_path(p, DOCTOR_FOLDER, "./hls"));
    assert_true(has_path(p, DOCTOR_FOLDER, "./dash"));
    assert_true(has_path(p, DOCTOR_FOLDER, "./rec"));
    assert_true(has_path(p, DOCTOR_READ, "./www"));
    assert_true(has_path(p, DOCTOR_READ, "in.flv"));
    assert_true(has_path(p, DOCTOR_READ, "./films"));
    assert_false(has_path(p, DOCTOR_FOLDER, "./never"));
    assert_int_equal(p->program_n, 2);
    assert_string_equal(p->program[0].path, "./ff");
    assert_string_equal(p->program[1].path, "/bin/echo");
    doctor_plan_free(p);
    conf_unref(c);
}

/* ---- real ports */

static int listen_somewhere(int *port)
{
    struct sockaddr_in a = { .sin_family = AF_INET, .sin_addr = { htonl(INADDR_LOOPBACK) } };
    socklen_t size = sizeof(a);
    int fd = socket(AF_INET, SOCK_STREAM, 0);

    assert_true(fd >= 0);
    assert_int_equal(bind(fd, (struct sockaddr *)&a, size), 0);
    assert_int_equal(listen(fd, 5), 0);
    assert_int_equal(getsockname(fd, (struct sockaddr *)&a, &size), 0);
    *port = ntohs(a.sin_port);
    return fd;
}

static void check_port(const char *host, int port, bool serving, int want, const char *words)
{
    struct doctor_port one = { .host = host, .port = port, .names = "rtmp", .n = 1 };
    struct doctor_plan *p = plan_new();
    char subject[80];

    p->root = "";
    p->serving = serving;
    p->port = &one;
    p->port_n = 1;
    doctor_check_ports(p);
    (void)snprintf(subject, sizeof(subject), "%s%s%d", host, *host ? ":" : "", port);
    assert_report_row(&p->report, "port", subject, want, words);
    p->port = NULL;
    p->port_n = 0;
    doctor_plan_free(p);
}

static void test_ports(void **state)
{
    char mine[64];
    int port, fd = listen_somewhere(&port);

    (void)state;
    (void)snprintf(mine, sizeof(mine), "pid %d", (int)getpid());
    check_port("127.0.0.1", port, false, DOCTOR_FAIL, mine);
    check_port("", port, false, DOCTOR_FAIL, mine);
    check_port("127.0.0.1", port, true, DOCTOR_OK, "listening");
    check_port("192.0.2.1", port, false, DOCTOR_FAIL, "rtmp: ");
    check_port("no address", port, false, DOCTOR_FAIL, "rtmp: ");
    (void)close(fd);
    check_port("127.0.0.1", port, false, DOCTOR_OK, "free");
    check_port("127.0.0.1", port, true, DOCTOR_FAIL, "not listening");
}

/* ---- real datagrams */

static int bind_somewhere(int *port)
{
    struct sockaddr_in a = { .sin_family = AF_INET };
    socklen_t size = sizeof(a);
    int fd = socket(AF_INET, SOCK_DGRAM, 0);

    assert_true(fd >= 0);
    assert_int_equal(bind(fd, (struct sockaddr *)&a, size), 0);
    assert_int_equal(getsockname(fd, (struct sockaddr *)&a, &size), 0);
    *port = ntohs(a.sin_port);
    return fd;
}

/* These have no other user. */
static int bind_in_free_space(int *port)
{
    for (;;) {
        int fd = bind_somewhere(port), busy = 0;

        for (int i = -4; i <= 4; i++)
            busy += i != 0 && doctor_try_port("", *port + i, SOCK_DGRAM) != 0;
        if (!busy)
            return fd;
        (void)close(fd);
    }
}

static void check_datagrams(int port, unsigned ports, const char *subject, int want,
                           const char *words)
{
    struct doctor_port one = { .host = "", .port = port, .n = ports, .names = "rtsp",
                               .remedy = "write another udp_port" };
    struct doctor_plan *p = plan_new();

    p->root = "";
    p->udp = true;
    p->port = &one;
    p->port_n = 1;
    doctor_check_ports(p);
    assert_report_row(&p->report, "port", subject, want, words);
    assert_non_null(report_find(&p->report, "kernel", "UDP GSO"));
    p->port = NULL;
    doctor_plan_free(p);
}

static void test_datagrams(void **state)
{
    struct doctor_plan *p = plan_new();
    char subject[64], mine[64];
    int port, fd = bind_in_free_space(&port);

    (void)state;
    doctor_check_ports(p); /* no service needs them */
    assert_int_equal(p->report.n, 0);
    doctor_plan_free(p);
    (void)snprintf(subject, sizeof(subject), "%d/udp", port);
    (void)snprintf(mine, sizeof(mine), "pid %d", (int)getpid());
    check_datagrams(port, 1, subject, DOCTOR_FAIL, mine);
    check_datagrams(port - 1, 2, subject, DOCTOR_FAIL, mine);
    check_datagrams(port - 4, 6, subject, DOCTOR_FAIL, mine);
    (void)close(fd);
    (void)snprintf(subject, sizeof(subject), "%d-%d/udp", port, port + 1);
    check_datagrams(port, 2, subject, DOCTOR_OK, "free");
    (void)snprintf(subject, sizeof(subject), "%d/udp", port);
    check_datagrams(port, 1, subject, DOCTOR_OK, "free");
    check_datagrams(65534, 4, "65536/udp", DOCTOR_FAIL, "Invalid");
}

/* RTSP's needs are checked if it is served over UDP, and SRT's. */
static void test_plan_of_datagrams(void **state)
{
    static const struct {
        const char *text;
        int port;
        unsigned ports;
        long sessions;
    } texts[] = {
        { "", 0, 0, 0 },
        { "rtsp_server { enabled on; }", 8560, 2, 0 },
        { "workers 3; rtsp_server { enabled on; }", 8560, 6, 0 },
        { "rtsp_server { enabled on; udp_port 9000; }", 9000, 2, 0 },
        { "rtsp_server { enabled on; transports tcp; }", 0, 0, 0 },
        { "rtsp_server { enabled off; }", 0, 0, 0 },
        { "srt_server { enabled on; }", 10080, 1, 10000 },
        { "workers 3; srt_server { enabled on; listen 127.0.0.1:9001 9002; }", 9001, 1, 10000 },
        { "srt_server { enabled off; }", 0, 0, 0 },
        { "workers 2; rtmfp_server { enabled on; max_sessions 700; }", 1935, 1, 700 },
        { "rtmfp_server { enabled off; }", 0, 0, 0 },
        { "rtc_server { enabled on; listen 8001; }", 8001, 1, 0 },
    };

    (void)state;
    for (size_t i = 0; i < COUNT(texts); i++) {
        char whole[200];
        const struct doctor_port *udp;
        struct conf *c;
        struct doctor_plan *p;

        (void)snprintf(whole, sizeof(whole), "listen 1935; vhost v { } %s", texts[i].text);
        c = mem_conf(whole);
        p = doctor_plan_new(c, &(struct doctor_how){ .serving = false });
        for (udp = p->port; udp < p->port + p->port_n && !udp->remedy;)
            udp++;
        assert_int_equal(udp < p->port + p->port_n ? udp->port : 0, texts[i].port);
        assert_int_equal(udp < p->port + p->port_n ? udp->n : 0, texts[i].ports);
        assert_int_equal(p->udp, texts[i].port > 0);
        assert_int_equal(p->sessions, texts[i].sessions);
        doctor_plan_free(p);
        conf_unref(c);
    }
}

static void check_candidates(const char *written, const char *own, const char *subject, int want,
                            const char *words)
{
    struct doctor_plan *p = plan_new();

    p->rtc_port = 8000;
    p->candidates = (struct conf_list){ &written, *written ? 1 : 0 };
    p->own_n = *own ? 1 : 0;
    (void)snprintf(p->own[0], DOCTOR_ADDRESS, "%s", own);
    doctor_check_candidates(p);
    assert_int_equal(p->report.n, 1);
    assert_report_row(&p->report, "webrtc", subject, want, words);
    doctor_plan_free(p);
}

/* Addresses that WebRTC clients are sent to. */
static void test_candidates(void **state)
{
    struct doctor_plan *p = plan_new();

    (void)state;
    doctor_check_candidates(p); /* it is off */
    assert_int_equal(p->report.n, 0);
    doctor_plan_free(p);
    check_candidates("", "", "candidate", DOCTOR_WARN, "only loopback addresses");
    check_candidates("", "192.168.1.2", "candidate", DOCTOR_WARN, "private");
    check_candidates("", "100.127.255.255", "candidate", DOCTOR_WARN, "private");
    check_candidates("", "fd00::1", "candidate", DOCTOR_WARN, "private");
    check_candidates("", "100.128.0.0", "candidate", DOCTOR_OK, "all interfaces");
    check_candidates("", "2001:db8::1", "candidate", DOCTOR_OK, "all interfaces");
    check_candidates("8.8.8.8", "192.168.1.2", "8.8.8.8", DOCTOR_WARN, "no interface");
    check_candidates("192.168.1.2", "192.168.1.2", "192.168.1.2", DOCTOR_OK, "only reachable from this network");
    check_candidates("8.8.8.8", "8.8.8.8", "8.8.8.8", DOCTOR_OK, "sent to clients");
    check_candidates("live.example.com", "8.8.8.8", "live.example.com", DOCTOR_OK, "a host name");
}

static void test_two_of_one_port(void **state)
{
    struct doctor_port one = { "", 1935, "rtmp, http", .clash = true, .n = 1 };
    struct doctor_plan *p = plan_new();

    (void)state;
    p->port = &one;
    p->port_n = 1;
    doctor_check_ports(p);
    assert_report_row(&p->report, "port", "1935", DOCTOR_FAIL, "cannot share");
    p->port = NULL;
    p->port_n = 0;
    doctor_plan_free(p);
}

/* ---- certificates */

static void openssl(const char *words)
{
    char cmd[1024];

    (void)snprintf(cmd, sizeof(cmd), "cd %s && openssl %s > out 2>&1", dir, words);
    assert_int_equal(system(cmd), 0);
}

static void check_cert(const char *cert, const char *key, int want, const char *words)
{
    char cert_path[200], key_path[200];
    struct doctor_tls one = { "rtmps", cert_path, key_path };
    struct doctor_plan *p = plan_new();

    print_message("  %s %s\n", cert, key);
    (void)snprintf(cert_path, sizeof(cert_path), "%s/%s", dir, cert);
    (void)snprintf(key_path, sizeof(key_path), "%s/%s", dir, key);
    p->tls = &one;
    p->tls_n = 1;
    doctor_check_certs(p);
    assert_report_row(&p->report, "certificate", "rtmps", want, words);
    p->tls = NULL;
    p->tls_n = 0;
    doctor_plan_free(p);
}

/* The certificate "c" again, with other dates. */
static void make_dates(const char *name, int from, int to)
{
    char path[160];
    X509 *x;
    EVP_PKEY *key;
    FILE *f;

    (void)snprintf(path, sizeof(path), "%s/c", dir);
    assert_non_null(f = fopen(path, "r"));
    assert_non_null(x = PEM_read_X509(f, NULL, NULL, NULL));
    (void)fclose(f);
    (void)snprintf(path, sizeof(path), "%s/k", dir);
    assert_non_null(f = fopen(path, "r"));
    assert_non_null(key = PEM_read_PrivateKey(f, NULL, NULL, NULL));
    (void)fclose(f);
    assert_non_null(X509_time_adj_ex(X509_getm_notBefore(x), from, 60, NULL));
    assert_non_null(X509_time_adj_ex(X509_getm_notAfter(x), to, -60, NULL));
    assert_true(X509_sign(x, key, EVP_sha256()) > 0);
    (void)snprintf(path, sizeof(path), "%s/%s", dir, name);
    assert_non_null(f = fopen(path, "w"));
    assert_int_equal(PEM_write_X509(f, x), 1);
    (void)fclose(f);
    X509_free(x);
    EVP_PKEY_free(key);
}

#define NEW "req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -subj /CN=x "

static void test_certificates(void **state)
{
    (void)state;
    openssl(NEW "-days 100 -keyout k -out c");
    openssl(NEW "-days 5 -keyout k5 -out c5");
    make_dates("past", -10, -3);
    make_dates("soon", 2, 30);
    openssl("pkey -in k -aes128 -passout pass:x -out locked.k");
    dir_put("/text", "no certificate");
    check_cert("c", "k", DOCTOR_WARN, " days, self-signed");
    check_cert("c5", "k5", DOCTOR_WARN, "(x) expires in ");
    check_cert("past", "k", DOCTOR_FAIL, "expired 3 days ago");
    check_cert("soon", "k", DOCTOR_FAIL, "becomes valid in 2 days");
    check_cert("c", "k5", DOCTOR_FAIL, "is not the key of");
    check_cert("c", "text", DOCTOR_FAIL, "contains no key");
    check_cert("c", "locked.k", DOCTOR_FAIL, "passphrase");
    check_cert("text", "k", DOCTOR_FAIL, "contains no certificate");
    check_cert("none", "k", DOCTOR_FAIL, "No such file");
    check_cert("c", "none", DOCTOR_FAIL, "No such file");
}

/* ---- ffmpeg */

/* The whole doctor on a configuration with this program. */
static void check_program(const char *name, int mode, int want, const char *words)
{
    char path[160], text[600];
    struct doctor_report r = { 0 };
    struct conf *c;

    (void)snprintf(path, sizeof(path), "%s/%s", dir, name);
    dir_put("/ff", "#!/bin/sh\n");
    dir_put("/cat", "#!/bin/sh\n");
    assert_int_equal(chmod(path, (mode_t)mode), 0);
    (void)snprintf(text, sizeof(text), "listen 127.0.0.1:1; pid %s/srs.pid; srs_log_tank console; "
                   "ff_log_dir %s; vhost a { transcode { enabled on; ffmpeg %s; engine e { "
                   "enabled on; vcodec libx264; acodec aac; output rtmp://a/b/c; } } }",
                   dir, dir, path);
    c = mem_conf(text);
    assert_ok(doctor_run(&r, c, &(struct doctor_how){ .serving = true }));
    assert_report_row(&r, "program", "transcode", want, words);
    assert_report_row(&r, "port", "127.0.0.1:1", DOCTOR_FAIL, "not listening");
    doctor_report_free(&r);
    conf_unref(c);
}

static void test_programs(void **state)
{
    (void)state;
    assert_ok(co_init());
    check_program("ff", 0755, DOCTOR_OK, "/ff");
    check_program("ff", 0644, DOCTOR_FAIL, "/ff does not exist or is not executable");
    check_program("cat", 0644, DOCTOR_OK, "bin/cat"); /* a warning of the configuration covers it */
    co_threads_end(CO_SECONDS(2));
}

/* Recordings, and files on demand, in a folder that can be downloaded, although playing requires authorization. */
static void test_recordings(void **state)
{
    static const struct {
        const char *vhost, *path;
        bool warned, files;
    } want[] = {
        { "security { enabled on; token { play on; secret x; } }", "html/rec/[app]/[stream].flv", true, false },
        { "security { enabled on; allow play 10.0.0.0/8; }", "html", true, false },
        { "http_hooks { enabled on; on_play http://127.0.0.1:1/; }", "link/[stream].mp4", true, false },
        { "http_hooks { enabled on; on_publish http://127.0.0.1:1/; }", "html", false, false },
        { "security { enabled off; token { play on; secret x; } }", "html", false, false },
        { "security { enabled on; token { play on; secret x; } }", "html2/[stream].flv", false, false },
        { "security { enabled on; token { play on; secret x; } }", "rec", false, false },
        { "security { enabled on; token { play on; secret x; } }", "html/vod", true, true },
        { "rtsp { enabled on; auth { enabled on; user a b; } }", "html", true, true },
        { "security { enabled on; token { play on; secret x; } }", "vod", false, true },
        { "", "html/vod", false, true },
        { "security { enabled on; token { play on; secret x; } } vod { enabled on; dir films; }",
          "films/[stream].flv", false, false },
    };
    char text[600], path[128];

    (void)state;
    assert_ok(co_init());
    dir_put("/html/index.html", "");
    (void)snprintf(path, sizeof(path), "%s/link", dir);
    assert_int_equal(symlink("html", path), 0);
    for (size_t i = 0; i < COUNT(want); i++) {
        struct doctor_report r = { 0 };
        const struct doctor_row *row;
        struct conf *c;

        (void)snprintf(text, sizeof(text), "listen 127.0.0.1:1; pid %s/srs.pid; srs_log_tank console; "
                       "http_server { enabled on; listen 127.0.0.1:2; dir %s/html; } vhost a { %s "
                       "%s %s/%s; } }", dir, dir, want[i].vhost, want[i].files ?
                       "vod { enabled on; dir" : "dvr { enabled on; dvr_path", dir, want[i].path);
        c = mem_conf(text);
        assert_ok(doctor_run(&r, c, &(struct doctor_how){ .serving = true }));
        row = report_find(&r, "path", want[i].files ? "files" : "recordings");
        if (!row == want[i].warned)
            fail_msg("row %zu: %s", i, row ? row->text : "no warning");
        doctor_report_free(&r);
        conf_unref(c);
    }
    co_threads_end(CO_SECONDS(2));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        DOCTOR_TEST(test_paths), DOCTOR_TEST(test_plan), DOCTOR_TEST(test_ports),
        DOCTOR_TEST(test_datagrams), DOCTOR_TEST(test_plan_of_datagrams),
        DOCTOR_TEST(test_candidates), DOCTOR_TEST(test_two_of_one_port),
        DOCTOR_TEST(test_certificates), DOCTOR_TEST(test_programs), DOCTOR_TEST(test_recordings),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
