/* SPDX-License-Identifier: MIT */
/* output.c - directives of what a vhost makes of its streams: HTTP, files, hooks, WebRTC. */
#include "conf/table.h"

#define YEARS 1e9
#define HTML "./objs/nginx/html"

static const char *const error_words[] = { "ignore", "disconnect", "continue", NULL };
static const char *const plan_words[] = { "session", "segment", NULL };

static const struct conf_row http_static[] = {
    { "enabled", CONF_KIND_OFF, CONF_AT(conf_http_static, enabled), "off", CONF_NEVER,
      .help = "Serve files of this vhost." },
    { "mount", CONF_KIND_STRING, CONF_AT(conf_http_static, mount), "[vhost]/", CONF_NEVER,
      .help = "Where they are in urls." },
    { "dir", CONF_KIND_STRING, CONF_AT(conf_http_static, dir), HTML, CONF_NEVER,
      .help = "Where they are on disk." },
};

static const struct conf_row http_remux[] = {
    { "enabled", CONF_KIND_OFF, CONF_AT(conf_http_remux, enabled), "off", CONF_NEVER,
      .help = "Serve live streams over HTTP." },
    { "mount", CONF_KIND_STRING, CONF_AT(conf_http_remux, mount), "[vhost]/[app]/[stream].flv",
      CONF_NEVER,
      .help = "Where they are in urls; .flv, .mp4, .ts, .mp3 or .aac says as what." },
    { "fmp4", CONF_KIND_ON, CONF_AT(conf_http_remux, fmp4), "on", CONF_NEVER,
      .help = "Where the mount ends in .flv, serve fragmented MP4 with .mp4 as well." },
    { "fast_cache", CONF_KIND_SECONDS, CONF_AT(conf_http_remux, fast_cache), "0", CONF_NEVER,
      .max = YEARS,
      .help = "Players of a stream without video get up to so many seconds at once." },
    { "drop_if_not_match", CONF_KIND_ON, CONF_AT(conf_http_remux, drop_if_not_match), "on",
      CONF_NEVER, .help = "Drop audio or video that the header did not promise." },
    { "has_audio", CONF_KIND_ON, CONF_AT(conf_http_remux, has_audio), "on", CONF_NEVER,
      .help = "Promise audio." },
    { "has_video", CONF_KIND_ON, CONF_AT(conf_http_remux, has_video), "on", CONF_NEVER,
      .help = "Promise video." },
    { "guess_has_av", CONF_KIND_ON, CONF_AT(conf_http_remux, guess_has_av), "on", CONF_NEVER,
      .help = "Find out what there is before promising." },
    { "hstrs", CONF_KIND_RELIC, .flags = CONF_QUIET, .help = "Always on." },
};

#define HOOK(event, when) \
    { #event, CONF_KIND_LIST, CONF_AT(conf_http_hooks, event), NULL, CONF_AT_ONCE, \
      .sample = "http://127.0.0.1:8085/api/v1/hooks", .help = "Urls that are called " when "." }

static const struct conf_row http_hooks[] = {
    { "enabled", CONF_KIND_OFF, CONF_AT(conf_http_hooks, enabled), "off", CONF_AT_ONCE,
      .help = "Call urls when something happens." },
    HOOK(on_connect, "when a client connects; they decide"),
    HOOK(on_close, "when a client has gone"),
    HOOK(on_publish, "when a stream is to begin; they decide"),
    HOOK(on_unpublish, "when a stream has ended"),
    HOOK(on_play, "when a player is to begin; they decide"),
    HOOK(on_stop, "when a player has gone"),
    HOOK(on_dvr, "when a recording is closed"),
    HOOK(on_hls, "when a segment is closed"),
    HOOK(on_hls_notify, "when a segment is closed, with GET"),
    { "timeout", CONF_KIND_SECONDS, CONF_AT(conf_http_hooks, timeout), "30", CONF_AT_ONCE,
      .min = 0.1, .max = 3600,
      .help = "Seconds for one answer. A client whose callback decides waits so long, and nobody "
              "else." },
    { "retries", CONF_KIND_INT, CONF_AT(conf_http_hooks, retries), "2", CONF_AT_ONCE, .max = 100,
      .help = "How often a callback that only informs is sent again when it fails, after 1, 2, 4 "
              "and so on seconds; those of one client stay in order." },
    { "secret", CONF_KIND_STRING, CONF_AT(conf_http_hooks, secret), NULL, CONF_AT_ONCE,
      CONF_SECRET,
      .sample = "xxxxxxxxxxxxxxxx",
      .help = "Sign each callback: X-Hook-Signature: sha256=HEX, the HMAC-SHA256 of the body by "
              "this key." },
    { "tls_verify", CONF_KIND_OFF, CONF_AT(conf_http_hooks, tls_verify), "off", CONF_AT_ONCE,
      .help = "A backend of https:// must prove that it is that host." },
    { "tls_ca", CONF_KIND_STRING, CONF_AT(conf_http_hooks, tls_ca), NULL, CONF_AT_ONCE,
      .sample = "./conf/ca.crt",
      .help = "PEM file of the authorities to trust then; else those of the system." },
};

static const struct conf_row exec[] = {
    { "enabled", CONF_KIND_OFF, CONF_AT(conf_exec, enabled), "off", CONF_HANDLER,
      .help = "Run programs for streams." },
    { "publish", CONF_KIND_COMMANDS, CONF_AT(conf_exec, publish), NULL, CONF_HANDLER,
      .sample = "./objs/ffmpeg -f flv -i [url] -c copy -y ./[stream].flv",
      .help = "A program, with its arguments, that runs while a stream is published, and is "
              "started again when it ends. [vhost] [app] [stream] [param] [url] [tcUrl] [pageUrl] "
              "[port] and times are replaced; >file, 2>file as in a shell. A name that is not "
              "plain is taken only as a word of its own: doc/security-programs.md. Repeatable." },
};

static const struct conf_row hls[] = {
    { "enabled", CONF_KIND_OFF, CONF_AT(conf_hls, enabled), "off", CONF_HANDLER,
      .help = "Write HLS for the streams of this vhost." },
    { "hls_fragment", CONF_KIND_SECONDS, CONF_AT(conf_hls, fragment), "10", CONF_HANDLER,
      .min = 0.1, .max = 3600, .help = "Seconds of one segment; it ends at the next key frame." },
    { "hls_td_ratio", CONF_KIND_FLOAT, CONF_AT(conf_hls, td_ratio), "1.0", CONF_HANDLER,
      .max = 100, .help = "What the target duration is times hls_fragment." },
    { "hls_aof_ratio", CONF_KIND_FLOAT, CONF_AT(conf_hls, aof_ratio), "2.1", CONF_HANDLER,
      .max = 100, .help = "A segment of audio alone ends at hls_fragment times this." },
    { "hls_window", CONF_KIND_SECONDS, CONF_AT(conf_hls, window), "60", CONF_HANDLER,
      .max = YEARS, .help = "Seconds that stay in the list." },
    { "hls_on_error", CONF_KIND_ENUM, CONF_AT(conf_hls, on_error), "continue", CONF_AT_ONCE,
      .words = error_words,
      .help = "On an error ignore HLS from then on, disconnect the publisher, or continue." },
    { "hls_path", CONF_KIND_STRING, CONF_AT(conf_hls, path), HTML, CONF_HANDLER,
      .help = "The folder of all files." },
    { "hls_m3u8_file", CONF_KIND_STRING, CONF_AT(conf_hls, m3u8_file), "[app]/[stream].m3u8",
      CONF_HANDLER, .help = "The list, with variables." },
    { "hls_ts_file", CONF_KIND_STRING, CONF_AT(conf_hls, ts_file), "[app]/[stream]-[seq].ts",
      CONF_HANDLER, .help = "The segments, with variables." },
    { "hls_use_fmp4", CONF_KIND_OFF, CONF_AT(conf_hls, use_fmp4), "off", CONF_HANDLER,
      .help = "Segments are fragmented MP4, not TS." },
    { "hls_fmp4_file", CONF_KIND_STRING, CONF_AT(conf_hls, fmp4_file), "[app]/[stream]-[seq].m4s",
      CONF_HANDLER, .help = "The segments then." },
    { "hls_init_file", CONF_KIND_STRING, CONF_AT(conf_hls, init_file), "[app]/[stream]/init.mp4",
      CONF_HANDLER, .help = "What comes before them." },
    { "hls_entry_prefix", CONF_KIND_STRING, CONF_AT(conf_hls, entry_prefix), NULL, CONF_HANDLER,
      .sample = "http://your-server", .help = "Put before each url in the list." },
    { "hls_acodec", CONF_KIND_RELIC, .help = "Found out from the stream." },
    { "hls_vcodec", CONF_KIND_RELIC, .help = "Found out from the stream." },
    { "hls_cleanup", CONF_KIND_ON, CONF_AT(conf_hls, cleanup), "on", CONF_HANDLER,
      .help = "Remove segments that have left the list." },
    { "hls_dispose", CONF_KIND_SECONDS, CONF_AT(conf_hls, dispose), "120", CONF_HANDLER,
      .max = YEARS, .help = "Seconds of silence after which all files go, those that an earlier "
                            "server left as well; 0: never." },
    { "hls_quota", CONF_KIND_SIZE, CONF_AT(conf_hls, quota), "0", CONF_HANDLER,
      .max = 1e18, .sample = "10g",
      .help = "Bytes of segments below hls_path; over it new ones stay in memory, and are served "
              "from there, until old ones are removed. 0: no limit." },
    { "hls_recover", CONF_KIND_ON, CONF_AT(conf_hls, recover), "on", CONF_HANDLER,
      .help = "Go on with the list of before when a stream comes back." },
    { "hls_wait_keyframe", CONF_KIND_ON, CONF_AT(conf_hls, wait_keyframe), "on", CONF_HANDLER,
      .help = "A segment begins with a key frame only." },
    { "hls_ts_floor", CONF_KIND_OFF, CONF_AT(conf_hls, ts_floor), "off", CONF_HANDLER,
      .help = "Segments follow the wall clock." },
    { "hls_nb_notify", CONF_KIND_INT, CONF_AT(conf_hls, nb_notify), "64", CONF_HANDLER,
      .max = 1 << 20, .help = "Bytes that on_hls_notify reads of an answer." },
    { "hls_ctx", CONF_KIND_ON, CONF_AT(conf_hls, ctx), "on", CONF_HANDLER,
      .help = "Tell sessions apart by an id in the url of the list. Off: on_play is not asked." },
    { "hls_ts_ctx", CONF_KIND_ON, CONF_AT(conf_hls, ts_ctx), "on", CONF_HANDLER,
      .help = "The same in the urls of segments; where security or on_play is asked, they are for "
              "sessions only. Off for caches that strip queries: segments are for everybody whom "
              "security lets in, lists and keys stay for sessions." },
    { "hls_keys", CONF_KIND_OFF, CONF_AT(conf_hls, keys), "off", CONF_HANDLER,
      .help = "Encrypt with AES-128; not with hls_ll." },
    { "hls_fragments_per_key", CONF_KIND_INT, CONF_AT(conf_hls, fragments_per_key), "5",
      CONF_HANDLER, .min = 1, .max = YEARS, .help = "Segments until the next key." },
    { "hls_key_file", CONF_KIND_STRING, CONF_AT(conf_hls, key_file), "[app]/[stream]-[seq].key",
      CONF_HANDLER, .help = "The file of a key, with variables." },
    { "hls_key_file_path", CONF_KIND_STRING, CONF_AT(conf_hls, key_file_path), NULL, CONF_HANDLER,
      .sample = HTML, .def_note = "that of hls_path", .help = "The folder of the keys." },
    { "hls_key_url", CONF_KIND_STRING, CONF_AT(conf_hls, key_url), NULL, CONF_HANDLER,
      .sample = "https://localhost:8080", .def_note = "that of hls_path",
      .help = "Put before the url of a key." },
    { "hls_dts_directly", CONF_KIND_ON, CONF_AT(conf_hls, dts_directly), "on", CONF_HANDLER,
      .help = "Audio in MPEG-TS, whose time is the count of its samples, stays within a frame of "
              "its packets' time, as in fragmented MP4; off: within 100 ms." },
    { "hls_master_m3u8_path_relative", CONF_KIND_OFF,
      CONF_AT(conf_hls, master_m3u8_path_relative), "off", CONF_HANDLER,
      .help = "Relative urls in the list of lists." },
    { "hls_ll", CONF_KIND_OFF, CONF_AT(conf_hls, ll), "off", CONF_HANDLER,
      .help = "Low-latency HLS: parts, from memory, in fragmented MP4." },
    { "hls_part", CONF_KIND_SECONDS, CONF_AT(conf_hls, part), "0.2", CONF_HANDLER,
      .min = 0.05, .max = 5, .help = "Seconds of one part then." },
    { "hls_storage", CONF_KIND_RELIC, .help = "Of older servers." },
    { "hls_mount", CONF_KIND_RELIC, .help = "Of older servers." },
};

static const struct conf_row dash[] = {
    { "enabled", CONF_KIND_OFF, CONF_AT(conf_dash, enabled), "off", CONF_HANDLER,
      .help = "Write MPEG-DASH for the streams of this vhost." },
    { "dash_fragment", CONF_KIND_SECONDS, CONF_AT(conf_dash, fragment), "10", CONF_HANDLER,
      .min = 0.1, .max = 3600, .help = "Seconds of one segment; it ends at the next key frame." },
    { "dash_update_period", CONF_KIND_SECONDS, CONF_AT(conf_dash, update_period), "5",
      CONF_HANDLER, .min = 0.1, .max = YEARS,
      .help = "Seconds between two looks of a player at the list; it plays so much later." },
    { "dash_timeshift", CONF_KIND_SECONDS, CONF_AT(conf_dash, timeshift), "300", CONF_HANDLER,
      .max = YEARS,
      .help = "Seconds that a player can go back, as far as dash_window_size has them." },
    { "dash_path", CONF_KIND_STRING, CONF_AT(conf_dash, path), HTML, CONF_HANDLER,
      .help = "The folder of all files." },
    { "dash_mpd_file", CONF_KIND_STRING, CONF_AT(conf_dash, mpd_file), "[app]/[stream].mpd",
      CONF_HANDLER, .help = "The list, with variables; segments are in a folder beside it that is "
      "called as it is, without .mpd." },
    { "dash_window_size", CONF_KIND_INT, CONF_AT(conf_dash, window_size), "5", CONF_HANDLER,
      .max = YEARS, .help = "Segments that stay in the list; more where players need them who look "
      "at it as seldom as they may." },
    { "dash_cleanup", CONF_KIND_ON, CONF_AT(conf_dash, cleanup), "on", CONF_HANDLER,
      .help = "Remove segments that have left the list." },
    { "dash_quota", CONF_KIND_SIZE, CONF_AT(conf_dash, quota), "0", CONF_HANDLER,
      .max = 1e18, .sample = "10g", .help = "The same as hls_quota, below dash_path." },
    { "dash_dispose", CONF_KIND_SECONDS, CONF_AT(conf_dash, dispose), "120", CONF_HANDLER,
      .max = YEARS, .help = "Seconds of silence after which all files go, those that an earlier "
                            "server left as well; 0: never." },
    { "dash_ctx", CONF_KIND_ON, CONF_AT(conf_dash, ctx), "on", CONF_HANDLER,
      .help = "Where security or on_play is asked, who asks for the list has a session. Off: "
              "on_play is not asked." },
    { "dash_ts_ctx", CONF_KIND_ON, CONF_AT(conf_dash, ts_ctx), "on", CONF_HANDLER,
      .help = "Segments are for sessions only then, by an id in their urls. Off for caches that "
              "strip queries." },
};

static const struct conf_row hds[] = {
    { "enabled", CONF_KIND_OFF, CONF_AT(conf_hds, enabled), "off", CONF_HANDLER,
      .help = "Write HDS for the streams of this vhost." },
    { "hds_fragment", CONF_KIND_SECONDS, CONF_AT(conf_hds, fragment), "10", CONF_HANDLER,
      .min = 0.1, .max = 3600, .help = "Seconds of one segment." },
    { "hds_window", CONF_KIND_SECONDS, CONF_AT(conf_hds, window), "60", CONF_HANDLER,
      .max = YEARS, .help = "Seconds that stay in the list." },
    { "hds_path", CONF_KIND_STRING, CONF_AT(conf_hds, path), HTML, CONF_HANDLER,
      .help = "The folder of all files." },
};

static const struct conf_row dvr[] = {
    { "enabled", CONF_KIND_OFF, CONF_AT(conf_dvr, enabled), "off", CONF_HANDLER,
      .help = "Record the streams of this vhost." },
    { "dvr_apply", CONF_KIND_LIST, CONF_AT(conf_dvr, apply), "all", CONF_HANDLER, CONF_NO_ENV,
      .help = "Which of them: all, or app/stream names." },
    { "dvr_plan", CONF_KIND_ENUM, CONF_AT(conf_dvr, plan), "session", CONF_HANDLER,
      .words = plan_words, .help = "One file per session, or one per segment of time." },
    { "dvr_path", CONF_KIND_STRING, CONF_AT(conf_dvr, path),
      HTML "/[app]/[stream].[timestamp].flv", CONF_HANDLER,
      .help = "The file, with variables; .flv or .mp4." },
    { "dvr_duration", CONF_KIND_SECONDS, CONF_AT(conf_dvr, duration), "30", CONF_HANDLER,
      .min = 0.1, .max = YEARS, .help = "Seconds of one segment." },
    { "dvr_wait_keyframe", CONF_KIND_ON, CONF_AT(conf_dvr, wait_keyframe), "on", CONF_HANDLER,
      .help = "A segment begins with a key frame only." },
    { "time_jitter", CONF_KIND_ENUM, CONF_AT(conf_dvr, time_jitter), "full", CONF_HANDLER,
      .words = conf_words_jitter,
      .help = "full: files begin at 0 and go on without jumps, whatever play says; "
              "zero: they begin at 0; off: FLV keeps the times of the stream." },
    { "dvr_quota", CONF_KIND_SIZE, CONF_AT(conf_dvr, quota), "0", CONF_HANDLER,
      .max = 1e18, .sample = "100g",
      .help = "Bytes of recordings below the fixed part of dvr_path; over it recordings end, and "
              "go on when a twentieth was removed. 0: no limit." },
};

const struct conf_block conf_table_http_static =
    CONF_BLOCK_OF(conf_http_static, http_static, "Files over HTTP.");
const struct conf_block conf_table_http_remux =
    CONF_BLOCK_OF(conf_http_remux, http_remux, "Live streams over HTTP.");
const struct conf_block conf_table_http_hooks =
    CONF_BLOCK_OF(conf_http_hooks, http_hooks, "Callbacks.");
const struct conf_block conf_table_exec = CONF_BLOCK_OF(conf_exec, exec, "Programs for streams.");
const struct conf_block conf_table_hls = CONF_BLOCK_OF(conf_hls, hls, "HLS.");
const struct conf_block conf_table_dash = CONF_BLOCK_OF(conf_dash, dash, "MPEG-DASH.");
const struct conf_block conf_table_hds = CONF_BLOCK_OF(conf_hds, hds, "HDS.");
const struct conf_block conf_table_dvr = CONF_BLOCK_OF(conf_dvr, dvr, "Recording.");
