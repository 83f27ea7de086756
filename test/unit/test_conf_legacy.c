/* SPDX-License-Identifier: MIT */
/* test_conf_legacy.c - old spellings mean the same as the new ones. */
#include "conf/legacy.h"
#include "conf/table.h"
#include "conf_mem.h"

static const struct {
    const char *old, *new;
} rows[] = {
    { "http_stream { enabled on; listen 81; }", "http_server { enabled on; listen 81; }" },
    { "chunk_size 4000;", "rtmp { chunk_size 4000; }" },
    { "max_connections 7; listen 1936;", "rtmp { listen 1936; } max_connections 7;" },
    { "rtmp { chunk_size 500; } chunk_size 4000;", "rtmp { chunk_size 500; }" },
    { "srt_server { tlpkdrop off; }", "srt_server { tlpktdrop off; }" },
    { "stream_caster { caster gb28181; host 1.2.3.4; }",
      "stream_caster { caster gb28181; sip { candidate 1.2.3.4; } }" },
    { "vhost v { http { enabled on; mount /x; } }",
      "vhost v { http_static { enabled on; mount /x; } }" },
    { "vhost v { http_remux { enabled on; hstrs on; } }",
      "vhost v { http_remux { enabled on; } }" },
    { "vhost v { refer a b; refer_play c; refer_publish d; }",
      "vhost v { refer { enabled on; all a b; play c; publish d; } }" },
    { "vhost v { refer_play c; }", "vhost v { refer { enabled on; play c; } }" },
    { "vhost v { refer_play c; refer { enabled off; } }",
      "vhost v { refer { enabled off; play c; } }" },
    { "vhost v { mr { enabled on; latency 500; } }",
      "vhost v { publish { mr on; mr_latency 500; } }" },
    { "vhost v { publish_1stpkt_timeout 1000; publish_normal_timeout 2000; }",
      "vhost v { publish { firstpkt_timeout 1000; normal_timeout 2000; } }" },
    { "vhost v { time_jitter off; mix_correct on; atc on; atc_auto on; mw_latency 100; }",
      "vhost v { play { time_jitter off; mix_correct on; atc on; atc_auto on;"
      " mw_latency 100; } }" },
    { "vhost v { gop_cache off; gop_cache_max_frames 1; queue_length 3; send_min_interval 4.5;"
      " reduce_sequence_header on; }",
      "vhost v { play { gop_cache off; gop_cache_max_frames 1; queue_length 3;"
      " send_min_interval 4.5; reduce_sequence_header on; } }" },
    { "vhost v { gop_cache off; play { queue_length 3; } }",
      "vhost v { play { gop_cache off; queue_length 3; } }" },
    { "vhost v { gop_cache off; play { gop_cache on; } }", "vhost v { play { gop_cache on; } }" },
    { "vhost v { forward 1.2.3.4:5 h; }",
      "vhost v { forward { enabled on; destination 1.2.3.4:5 h; } }" },
    { "vhost v { mode remote; origin a:1 b; token_traverse on; vhost o; debug_srs_upnode off; }",
      "vhost v { cluster { mode remote; origin a:1 b; token_traverse on; vhost o;"
      " debug_srs_upnode off; } }" },
    { "vhost v { nack { enabled off; no_copy off; } twcc { enabled off; } }",
      "vhost v { rtc { nack off; nack_no_copy off; twcc off; } }" },
    { "vhost v { rtc { aac transcode; bframe keep; } }",
      "vhost v { rtc { rtmp_to_rtc on; keep_bframe on; } }" },
    { "vhost v { rtc { aac discard; bframe discard; } }",
      "vhost v { rtc { rtmp_to_rtc off; keep_bframe off; } }" },
    { "vhost a { gop_cache off; } vhost b { forward h; }",
      "vhost a { play { gop_cache off; } } vhost b { forward { enabled on; destination h; } }" },
};

static void on_change(void *arg, const struct conf_change *change)
{
    (void)arg;
    print_error("%s: \"%s\" and \"%s\"\n", change->path, change->old_text, change->new_text);
}

static struct conf *load(const char *text)
{
    char whole[1024];

    (void)snprintf(whole, sizeof(whole), "%s listen 1935;", text);
    return mem_conf(whole);
}

static void old_means_new(void **state)
{
    const struct conf_changes changes = { .change = on_change };

    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct conf *old = load(rows[i].old), *new = load(rows[i].new), *none = load("");

        if (conf_diff(old, new, &changes))
            fail_msg("not the same: %s", rows[i].old);
        assert_true(conf_diff(none, new, NULL) > 0);
        conf_unref(old);
        conf_unref(new);
        conf_unref(none);
    }
}

/* Old spellings are not names of directives, and their replacements are. */
static void rows_are_valid(void **state)
{
    (void)state;
    for (size_t i = 0; i < conf_legacy_count; i++) {
        const struct conf_legacy *row = &conf_legacy_rows[i];
        const struct conf_block *in = &conf_table_root;
        const struct conf_row *to = NULL;

        if (*row->in)
            in = conf_table_find(in, row->in, strlen(row->in))->block;
        if (!row->leaf)
            assert_null(conf_table_find(in, row->from, strlen(row->from)));
        for (const char *p = row->to; *p; p += strspn(p, ".")) {
            size_t n = strcspn(p, ".");

            to = conf_table_find(in, p, n);
            if (!to)
                fail_msg("%s is in no table", row->to);
            in = to->block ? to->block : in;
            p += n;
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(old_means_new),
        TEST(rows_are_valid),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
