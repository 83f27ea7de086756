/* SPDX-License-Identifier: MIT */
/* test_conf_tables.c - rules for every row of the tables. */
#include "conf/table.h"
#include "conf/value.h"
#include "conf_mem.h"

static const size_t sizes[CONF_KINDS] = {
    [CONF_KIND_ON] = sizeof(bool),
    [CONF_KIND_OFF] = sizeof(bool),
    [CONF_KIND_TRI] = sizeof(enum conf_tri),
    [CONF_KIND_INT] = sizeof(int),
    [CONF_KIND_INT_AUTO] = sizeof(int),
    [CONF_KIND_SIZE] = sizeof(int64_t),
    [CONF_KIND_FLOAT] = sizeof(double),
    [CONF_KIND_SECONDS] = sizeof(int64_t),
    [CONF_KIND_MSEC] = sizeof(int64_t),
    [CONF_KIND_MSEC_AUTO] = sizeof(int64_t),
    [CONF_KIND_STRING] = sizeof(const char *),
    [CONF_KIND_ENUM] = sizeof(int),
    [CONF_KIND_LIST] = sizeof(struct conf_list),
    [CONF_KIND_CANDIDATE] = sizeof(struct conf_list),
    [CONF_KIND_LISTEN] = sizeof(struct conf_endpoints),
    [CONF_KIND_HOSTS] = sizeof(struct conf_endpoints),
    [CONF_KIND_NETWORKS] = sizeof(struct conf_networks),
    [CONF_KIND_RULES] = sizeof(struct conf_rules),
    [CONF_KIND_COMMANDS] = sizeof(struct conf_commands),
    [CONF_KIND_PAIRS] = sizeof(struct conf_pairs),
    [CONF_KIND_BLOCKS] = sizeof(struct conf_vhosts),
};

static struct conf_arena *arena;
static size_t seen;

static void names_are_audio(const struct conf_block *b, size_t i, const char *path)
{
    const struct conf_row *row = &b->rows[i];

    assert_true(strlen(row->name) > 0);
    assert_int_equal(strspn(row->name, "abcdefghijklmnopqrstuvwxyz0123456789_"),
                     strlen(row->name));
    for (size_t k = 0; k < i; k++) {
        if (strcmp(b->rows[k].name, row->name) == 0)
            fail_msg("%s.%s is there twice", path, row->name);
    }
}

static void field_is_audio(const struct conf_block *b, const struct conf_row *row)
{
    size_t size = row->kind == CONF_KIND_BLOCK ? row->block->size : sizes[row->kind];

    if (row->kind == CONF_KIND_OBSOLETE)
        return;
    if (row->size != size || row->offset + row->size > b->size)
        fail_msg("%s: the field does not fit its kind", row->name);
    for (const struct conf_row *other = b->rows; other < row; other++) {
        bool before = row->offset + row->size <= other->offset;
        bool behind = other->offset + other->size <= row->offset;

        if (other->kind != CONF_KIND_OBSOLETE && !before && !behind)
            fail_msg("%s and %s share a field", row->name, other->name);
    }
}

static void text_is_audio(const struct conf_row *row)
{
    const char *help = row->help ? row->help : row->block ? row->block->help : "";

    if (strlen(help) < 4 || help[strlen(help) - 1] != '.' || strchr(help, '|'))
        fail_msg("%s: help is no sentence: %s", row->name, help);
    if (row->kind == CONF_KIND_ENUM)
        assert_non_null(row->words);
    if (row->kind != CONF_KIND_OBSOLETE && !row->block && !row->def && !row->sample)
        fail_msg("%s has neither a default nor a sample", row->name);
    assert_true((row->kind == CONF_KIND_BLOCK || row->kind == CONF_KIND_BLOCKS) == !!row->block);
    assert_true(row->kind != CONF_KIND_HOSTS || row->port > 0);
}

/* The default parses, is within the limits, and prints as it was parsed. */
static void default_is_valid(const struct conf_row *row)
{
    const struct conf_source src = { .path = NULL };
    struct mem m = { .main = NULL };
    const struct conf_report report = { .warn = mem_warn, .arg = &m };
    const struct conf_ctx ctx = { .arena = arena, .src = &src, .report = &report, .where = "test" };
    void *field = conf_arena_get(arena, row->size), *copy = conf_arena_get(arena, row->size);
    struct wr w;

    if (row->kind == CONF_KIND_OBSOLETE || row->block)
        return;
    assert_ok(conf_value_default(&ctx, row, field));
    assert_int_equal(m.n_warnings, 0);
    if (row->def && row->kind != CONF_KIND_FLOAT && row->kind != CONF_KIND_SECONDS &&
        row->kind != CONF_KIND_STRING) {
        wr_init(&w, 1024);
        conf_value_text(&w, row, field);
        assert_string_equal(conf_text_end(&w), row->def);
        wr_free(&w);
    }
    /* empty lists and strings may be copied too */
    conf_value_copy(arena, row, copy, field);
    if (row->sample && row->kind != CONF_KIND_PAIRS) {
        struct conf_list words = conf_split(arena, row->sample);

        assert_ok(conf_value_set(&ctx, row, &words, 1, field));
        conf_value_copy(arena, row, copy, field);
        wr_init(&w, 1024);
        conf_value_text(&w, row, copy);
        if (row->kind != CONF_KIND_STRING)
            assert_string_equal(conf_text_end(&w), row->sample);
        wr_free(&w);
    }
}

static void walk(const struct conf_block *b, const char *path)
{
    for (size_t i = 0; i < b->n; i++) {
        char inner[128];

        names_are_audio(b, i, path);
        field_is_audio(b, &b->rows[i]);
        text_is_audio(&b->rows[i]);
        default_is_valid(&b->rows[i]);
        seen++;
        (void)snprintf(inner, sizeof(inner), "%s.%s", path, b->rows[i].name);
        if (b->rows[i].block)
            walk(b->rows[i].block, inner);
    }
}

static void every_row(void **state)
{
    (void)state;
    arena = conf_arena_new();
    walk(&conf_table_root, "");
    conf_arena_free(arena);
    assert_true(seen > 300);
}

/* Names in files of users, one from each block of the reference. */
static const char *const known[] = {
    "listen 1935; max_connections 1; daemon off; utc_time on; pithy_print_ms 100; work_dir ./;"
    "asprocess off; empty_ip_ok on; in_docker off; grace_start_wait 1; grace_final_wait 1;"
    "force_grace_quit off; disable_daemon_for_docker on; inotify_auto_reload off;"
    "auto_reload_for_docker on; tcmalloc_release_rate 0.8; query_latest_version off;"
    "first_wait_for_qlv 1; is_full off; threads { interval 5; } server_id x; pid x; ff_log_dir x;"
    "ff_log_level x; srs_log_tank file; srs_log_level trace; srs_log_level_v2 info;"
    " srs_log_file x;",
    "listen 1; circuit_breaker { enabled on; high_threshold 90; high_pulse 2;"
    " critical_threshold 95;"
    "critical_pulse 1; dying_threshold 99; dying_pulse 5; } heartbeat { enabled off; interval 9.9;"
    "url x; device_id x; summaries off; ports off; } stats { network 0; disk a b; }"
    "exporter { enabled off; listen 9972; label a; tag b; }",
    "listen 1; http_api { enabled on; listen 1985; crossdomain on; raw_api { enabled on;"
    "allow_reload on; allow_query on; allow_update on; } auth { enabled on; username a;"
    " password b; }"
    "https { enabled on; listen 1990; key a; cert b; } } http_server { enabled on; listen 8080;"
    "dir x; crossdomain on; https { enabled on; listen 8088; key a; cert b; } }",
    "listen 1; srt_server { enabled on; listen 10080; maxbw 1000000000; mss 1500;"
    " connect_timeout 4000;"
    "peer_idle_timeout 8000; latency 1; recvlatency 1; peerlatency 1; tsbpdmode on; tlpktdrop on;"
    "sendbuf 2000000; recvbuf 2000000; payloadsize 1316; passphrase xxxxxxxxxxxx; pbkeylen 16;"
    "default_app live; default_streamid '#!::r=live/livestream,m=request'; default_mode request;"
    "sei_filter on; mix_correct on; } rtsp_server { enabled on; listen 8554; }"
    "rtmps { enabled on; listen 1443; key a; cert b; }",
    "listen 1; rtc_server { enabled on; listen 8000; tcp { enabled off; listen 8000; }"
    " protocol udp;"
    "candidate *; use_auto_detect_network_ip on; ip_family ipv4; api_as_candidates on;"
    "resolve_api_domain on; keep_api_domain off; ecdsa on; encrypt on; reuseport 1;"
    " merge_nalus off;"
    "perf_stat on; queue_length 1; dir x; black_hole { enabled off; addr 127.0.0.1:10000; } }",
    "listen 1; vhost a { srt { enabled on; srt_to_rtmp on; } rtc { enabled on; nack on;"
    "nack_no_copy on; twcc on; stun_timeout 30; stun_strict_check on; dtls_role passive;"
    "dtls_version auto; drop_for_pt 0; rtmp_to_rtc off; keep_bframe off; keep_avc_nalu_sei on;"
    "opus_bitrate 48000; aac_bitrate 48000; rtc_to_rtmp off; pli_for_rtmp 6.0;"
    "init_rate_from_sdp off; keep_original_ssrc off; } rtsp { enabled on; rtmp_to_rtsp on; } }",
    "listen 1; vhost a { hds { enabled on; hds_fragment 10; hds_window 60; hds_path x; } dash {"
    "enabled on; dash_fragment 10; dash_update_period 10; dash_timeshift 60; dash_path x;"
    "dash_mpd_file x; dash_window_size 10; dash_cleanup on; dash_dispose 120; } dvr { enabled on;"
    "dvr_apply all; dvr_plan session; dvr_path x; dvr_duration 30; dvr_wait_keyframe on;"
    "time_jitter full; } }",
    "listen 1; vhost a { hls { enabled on; hls_fragment 10; hls_td_ratio 1.0; hls_aof_ratio 2.1;"
    "hls_window 60; hls_on_error continue; hls_path x; hls_m3u8_file x; hls_ts_file x;"
    "hls_entry_prefix x; hls_acodec aac; hls_vcodec h264; hls_cleanup on; hls_dispose 120;"
    "hls_wait_keyframe on; hls_ts_floor off; hls_nb_notify 64; hls_ctx on; hls_ts_ctx on;"
    "hls_keys on; hls_fragments_per_key 5; hls_key_file x; hls_key_file_path x; hls_key_url x;"
    "hls_dts_directly on; hls_use_fmp4 off; hls_fmp4_file x; hls_init_file x; hls_recover on;"
    "hls_master_m3u8_path_relative off; hls_storage x; hls_mount x; } }",
};

static void users_files(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT(known); i++)
        conf_unref(mem_conf(known[i]));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(every_row),
        TEST(users_files),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
