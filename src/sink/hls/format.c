/* SPDX-License-Identifier: MIT */
/* format.c - the rows of HLS and DASH. */
#include "sink/hls/format.h"

#include "sink/hls/list/list.h"

/* ------------------------------------------------------------ HLS */

static void hls_settings(const struct conf_vhost *v, struct conf_hls *out)
{
    *out = v->hls;
}

static const struct hls_container *hls_container(const struct conf_hls *set)
{
    return set->use_fmp4 || set->ll ? &hls_container_mp4 : &hls_container_ts;
}

static int64_t hls_window(const struct hls_list *l)
{
    return av_from_us(l->info->set.window);
}

/* ------------------------------------------------------------ DASH */

static void dash_settings(const struct conf_vhost *v, struct conf_hls *out)
{
    const struct conf_dash *dash = &v->dash;

    *out = (struct conf_hls){
        .enabled = dash->enabled, .fragment = dash->fragment, .td_ratio = 1.0, .aof_ratio = 1.0,
        .on_error = CONF_HLS_CONTINUE, .path = dash->path, .m3u8_file = dash->mpd_file,
        .ts_file = "", .fmp4_file = "", .init_file = "", .entry_prefix = "", .key_file = "",
        .key_file_path = "", .key_url = "", .use_fmp4 = true, .cleanup = dash->cleanup,
        .dispose = dash->dispose, .wait_keyframe = true, .recover = true,
        .quota = dash->quota,
    };
}

static const struct hls_container *dash_container(const struct conf_hls *set)
{
    (void)set;
    return &hls_container_tracks;
}

const struct hls_format hls_formats[HLS_FORMATS] = {
    [HLS_FORMAT_HLS] = {
        .name = "HLS", .sampled = SAMPLED_HLS, .notifies = true,
        .settings = hls_settings, .container = hls_container,
        .type = "application/vnd.apple.mpegurl", .window = hls_window, .list = hls_m3u8_text,
    },
    [HLS_FORMAT_DASH] = {
        .name = "DASH", .sampled = SAMPLED_DASH, .is_dash = true, .periods = true,
        .settings = dash_settings, .container = dash_container,
        .type = "application/dash+xml", .window = hls_mpd_window, .list = hls_mpd_text,
    },
};
