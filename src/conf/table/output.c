/* SPDX-License-Identifier: MIT */
/* output.c - directives for the outputs of a vhost: HTTP, HLS, DASH, recordings, callbacks. */
#include "conf/table.h"

#define YEARS 1e9
#define HTML "./objs/nginx/html"

static const char *const error_words[] = { "ignore", "disconnect", "continue", NULL };
static const char *const plan_words[] = { "session", "segment", NULL };

static const struct conf_row http_static[] = {
    { "enabled", CONF_KIND_OFF, CONF_AT(conf_http_static, enabled), "off", CONF_NEVER,
      .help = "Serves files of this vhost." },
    { "mount", CONF_KIND_STRING, CONF_AT(conf_http_static, mount), "[vhost]/", CONF_NEVER,
      .help = "Path in URLs." },
    { "dir", CONF_KIND_STRING, CONF_AT(conf_http_static, dir), HTML, CONF_NEVER,
      .help = "Folder on disk." },
};

static const struct conf_row http_remux[] = {
    { "enabled", CONF_KIND_OFF, CONF_AT(conf_http_remux, enabled), "off", CONF_NEVER,
      .help = "Serves live streams over HTTP." },
    { "mount", CONF_KIND_STRING, CONF_AT(conf_http_remux, mount), "[vhost]/[app]/[stream].flv",
      CONF_NEVER,
      .help = "Path in URLs, with variables. The ending selects the format: .flv, .mp4, .ts, "
              ".mp3 or .aac." },
    { "fmp4", CONF_KIND_ON, CONF_AT(conf_http_remux, fmp4), "on", CONF_NEVER,
      .help = "Serves fragmented MP4 under .mp4 too, if mount ends in .flv." },
    { "fast_cache", CONF_KIND_SECONDS, CONF_AT(conf_http_remux, fast_cache), "0", CONF_NEVER,
      .max = YEARS,
      .help = "Sends players of audio-only streams this many seconds at once, so that they "
              "start faster." },
    { "drop_if_not_match", CONF_KIND_ON, CONF_AT(conf_http_remux, drop_if_not_match), "on",
      CONF_NEVER, .help = "Drops audio or video that the FLV header does not announce." },
    { "has_audio", CONF_KIND_ON, CONF_AT(conf_http_remux, has_audio), "on", CONF_NEVER,
      .help = "Announces audio in the FLV header." },
    { "has_video", CONF_KIND_ON, CONF_AT(conf_http_remux, has_video), "on", CONF_NEVER,
      .help = "Announces video in the FLV header." },
    { "guess_has_av", CONF_KIND_ON, CONF_AT(conf_http_remux, guess_has_av), "on", CONF_NEVER,
      .help = "Waits until the tracks of the stream are known, and announces those." },
    { "hstrs", CONF_KIND_OBSOLETE, .flags = CONF_QUIET, .help = "Always on." },
};

#define HOOK(event, when) \
    { #event, CONF_KIND_LIST, CONF_AT(conf_http_hooks, event), NULL, CONF_AT_ONCE, \
      .sample = "http://127.0.0.1:8085/api/v1/hooks", .help = "URLs called " when "." }

static const struct conf_row http_hooks[] = {
    { "enabled", CONF_KIND_OFF, CONF_AT(conf_http_hooks, enabled), "off", CONF_AT_ONCE,
      .help = "Sends HTTP callbacks to your backend." },
    HOOK(on_connect, "when a client connects. They may reject it"),
    HOOK(on_close, "after a client has left"),
    HOOK(on_publish, "before a stream starts. They may reject the publisher"),
    HOOK(on_unpublish, "after a stream has ended"),
    HOOK(on_play, "before a player starts. They may reject it"),
    HOOK(on_stop, "after a player has left"),
    HOOK(on_dvr, "after a recording is complete"),
    HOOK(on_hls, "after an HLS segment is complete"),
    HOOK(on_hls_notify, "with GET after an HLS segment is complete"),
    { "timeout", CONF_KIND_SECONDS, CONF_AT(conf_http_hooks, timeout), "30", CONF_AT_ONCE,
      .min = 0.1, .max = 3600,
      .help = "Seconds for one response. Only the client that the callback is about waits for "
              "it." },
    { "retries", CONF_KIND_INT, CONF_AT(conf_http_hooks, retries), "2", CONF_AT_ONCE, .max = 100,
      .help = "Retries of a failed callback that only informs, after 1, 2, 4 and so on seconds. "
              "Callbacks about one client stay in order." },
    { "secret", CONF_KIND_STRING, CONF_AT(conf_http_hooks, secret), NULL, CONF_AT_ONCE,
      CONF_SECRET,
      .sample = "xxxxxxxxxxxxxxxx",
      .help = "Signs each callback: X-Hook-Signature: sha256=HEX, the HMAC-SHA256 of the body "
              "with this key." },
    { "tls_verify", CONF_KIND_OFF, CONF_AT(conf_http_hooks, tls_verify), "off", CONF_AT_ONCE,
      .help = "Verifies the certificate of an https:// backend." },
    { "tls_ca", CONF_KIND_STRING, CONF_AT(conf_http_hooks, tls_ca), NULL, CONF_AT_ONCE,
      .sample = "./conf/ca.crt",
      .help = "PEM file of trusted certificate authorities for tls_verify. Not set: those of "
              "the system." },
};

static const struct conf_row exec[] = {
    { "enabled", CONF_KIND_OFF, CONF_AT(conf_exec, enabled), "off", CONF_HANDLER,
      .help = "Runs programs for streams." },
    { "publish", CONF_KIND_COMMANDS, CONF_AT(conf_exec, publish), NULL, CONF_HANDLER,
      .sample = "./objs/ffmpeg -f flv -i [url] -c copy -y ./[stream].flv",
      .help = "Program with arguments, which runs while a stream is published and is restarted "
              "when it ends. Variables: [vhost] [app] [stream] [param] [url] [tcUrl] [pageUrl] "
              "[port] and times; >file and 2>file redirect its output. A name with special "
              "characters must be a word of its own: doc/security-programs.md. Repeatable." },
};

static const struct conf_row hls[] = {
    { "enabled", CONF_KIND_OFF, CONF_AT(conf_hls, enabled), "off", CONF_HANDLER,
      .help = "Writes HLS for the streams of this vhost." },
    { "hls_fragment", CONF_KIND_SECONDS, CONF_AT(conf_hls, fragment), "10", CONF_HANDLER,
      .min = 0.1, .max = 3600,
      .help = "Target duration of a segment in seconds. It ends at the next key frame. Lower it "
              "for less latency." },
    { "hls_td_ratio", CONF_KIND_FLOAT, CONF_AT(conf_hls, td_ratio), "1.0", CONF_HANDLER,
      .max = 100, .help = "EXT-X-TARGETDURATION divided by hls_fragment." },
    { "hls_aof_ratio", CONF_KIND_FLOAT, CONF_AT(conf_hls, aof_ratio), "2.1", CONF_HANDLER,
      .max = 100, .help = "A segment without video ends at hls_fragment times this." },
    { "hls_window", CONF_KIND_SECONDS, CONF_AT(conf_hls, window), "60", CONF_HANDLER,
      .max = YEARS, .help = "Seconds of media in the playlist." },
    { "hls_on_error", CONF_KIND_ENUM, CONF_AT(conf_hls, on_error), "continue", CONF_AT_ONCE,
      .words = error_words,
      .help = "Action after an error of HLS. ignore: HLS stops for this stream; disconnect: the "
              "publisher is closed; continue: HLS tries again." },
    { "hls_path", CONF_KIND_STRING, CONF_AT(conf_hls, path), HTML, CONF_HANDLER,
      .help = "Folder of all files." },
    { "hls_m3u8_file", CONF_KIND_STRING, CONF_AT(conf_hls, m3u8_file), "[app]/[stream].m3u8",
      CONF_HANDLER, .help = "Name of the playlist, with variables." },
    { "hls_ts_file", CONF_KIND_STRING, CONF_AT(conf_hls, ts_file), "[app]/[stream]-[seq].ts",
      CONF_HANDLER, .help = "Name of a segment, with variables." },
    { "hls_use_fmp4", CONF_KIND_OFF, CONF_AT(conf_hls, use_fmp4), "off", CONF_HANDLER,
      .help = "Segments are fragmented MP4. off: MPEG-TS. Needed for AV1, and by some players "
              "for HEVC." },
    { "hls_fmp4_file", CONF_KIND_STRING, CONF_AT(conf_hls, fmp4_file), "[app]/[stream]-[seq].m4s",
      CONF_HANDLER, .help = "Name of a fragmented MP4 segment, with variables." },
    { "hls_init_file", CONF_KIND_STRING, CONF_AT(conf_hls, init_file), "[app]/[stream]/init.mp4",
      CONF_HANDLER, .help = "Name of the init segment for fragmented MP4." },
    { "hls_entry_prefix", CONF_KIND_STRING, CONF_AT(conf_hls, entry_prefix), NULL, CONF_HANDLER,
      .sample = "http://your-server",
      .help = "Text before each URL in the playlist, for example the address of a CDN." },
    { "hls_acodec", CONF_KIND_OBSOLETE, .help = "Detected from the stream." },
    { "hls_vcodec", CONF_KIND_OBSOLETE, .help = "Detected from the stream." },
    { "hls_cleanup", CONF_KIND_ON, CONF_AT(conf_hls, cleanup), "on", CONF_HANDLER,
      .help = "Removes segments that have left the playlist." },
    { "hls_dispose", CONF_KIND_SECONDS, CONF_AT(conf_hls, dispose), "120", CONF_HANDLER,
      .max = YEARS,
      .help = "Removes all files of a stream this many seconds after its last media, including "
              "those of an earlier run. 0: never." },
    { "hls_quota", CONF_KIND_SIZE, CONF_AT(conf_hls, quota), "0", CONF_HANDLER,
      .max = 1e18, .sample = "10g",
      .help = "Maximum bytes of segments below hls_path. Over it, new segments stay in memory "
              "and players get them from there, until old files are removed. 0: no limit." },
    { "hls_recover", CONF_KIND_ON, CONF_AT(conf_hls, recover), "on", CONF_HANDLER,
      .help = "Continues the previous playlist when a stream starts again." },
    { "hls_wait_keyframe", CONF_KIND_ON, CONF_AT(conf_hls, wait_keyframe), "on", CONF_HANDLER,
      .help = "Starts segments at key frames only." },
    { "hls_ts_floor", CONF_KIND_OFF, CONF_AT(conf_hls, ts_floor), "off", CONF_HANDLER,
      .help = "Aligns segments with the wall clock." },
    { "hls_nb_notify", CONF_KIND_INT, CONF_AT(conf_hls, nb_notify), "64", CONF_HANDLER,
      .max = 1 << 20, .help = "Maximum bytes read from the response to on_hls_notify." },
    { "hls_ctx", CONF_KIND_ON, CONF_AT(conf_hls, ctx), "on", CONF_HANDLER,
      .help = "Identifies sessions by an id in the URL of the playlist. off: there are no "
              "sessions, and on_play is not called." },
    { "hls_ts_ctx", CONF_KIND_ON, CONF_AT(conf_hls, ts_ctx), "on", CONF_HANDLER,
      .help = "Puts the session id into URLs of segments too. With security or on_play, "
              "segments then need a session. Turn it off for caches that remove queries: then "
              "security alone protects segments, while playlists and keys still need a session." },
    { "hls_keys", CONF_KIND_OFF, CONF_AT(conf_hls, keys), "off", CONF_HANDLER,
      .help = "Encrypts segments with AES-128. Not possible with hls_ll." },
    { "hls_fragments_per_key", CONF_KIND_INT, CONF_AT(conf_hls, fragments_per_key), "5",
      CONF_HANDLER, .min = 1, .max = YEARS, .help = "Segments that share one key." },
    { "hls_key_file", CONF_KIND_STRING, CONF_AT(conf_hls, key_file), "[app]/[stream]-[seq].key",
      CONF_HANDLER, .help = "Name of a key file, with variables." },
    { "hls_key_file_path", CONF_KIND_STRING, CONF_AT(conf_hls, key_file_path), NULL, CONF_HANDLER,
      .sample = HTML, .def_note = "that of hls_path", .help = "Folder of the key files." },
    { "hls_key_url", CONF_KIND_STRING, CONF_AT(conf_hls, key_url), NULL, CONF_HANDLER,
      .sample = "https://localhost:8080", .def_note = "that of hls_path",
      .help = "Text before the URL of a key." },
    { "hls_dts_directly", CONF_KIND_ON, CONF_AT(conf_hls, dts_directly), "on", CONF_HANDLER,
      .help = "Keeps audio in MPEG-TS within one frame of the publisher's timestamps, as in "
              "fragmented MP4. off: within 100 ms; timestamps follow the count of samples." },
    { "hls_master_m3u8_path_relative", CONF_KIND_OFF,
      CONF_AT(conf_hls, master_m3u8_path_relative), "off", CONF_HANDLER,
      .help = "Writes relative URLs into the master playlist." },
    { "hls_ll", CONF_KIND_OFF, CONF_AT(conf_hls, ll), "off", CONF_HANDLER,
      .help = "Low-latency HLS: parts, served from memory, in fragmented MP4." },
    { "hls_part", CONF_KIND_SECONDS, CONF_AT(conf_hls, part), "0.2", CONF_HANDLER,
      .min = 0.05, .max = 5, .help = "Duration of a part in seconds, for hls_ll." },
    { "hls_storage", CONF_KIND_OBSOLETE, .help = "From older servers." },
    { "hls_mount", CONF_KIND_OBSOLETE, .help = "From older servers." },
};

static const struct conf_row dash[] = {
    { "enabled", CONF_KIND_OFF, CONF_AT(conf_dash, enabled), "off", CONF_HANDLER,
      .help = "Writes MPEG-DASH for the streams of this vhost." },
    { "dash_fragment", CONF_KIND_SECONDS, CONF_AT(conf_dash, fragment), "10", CONF_HANDLER,
      .min = 0.1, .max = 3600,
      .help = "Target duration of a segment in seconds. It ends at the next key frame." },
    { "dash_update_period", CONF_KIND_SECONDS, CONF_AT(conf_dash, update_period), "5",
      CONF_HANDLER, .min = 0.1, .max = YEARS,
      .help = "Seconds between two requests of a player for the MPD. Latency grows by as much." },
    { "dash_timeshift", CONF_KIND_SECONDS, CONF_AT(conf_dash, timeshift), "300", CONF_HANDLER,
      .max = YEARS,
      .help = "Seconds that a player can seek back, if dash_window_size keeps enough segments." },
    { "dash_path", CONF_KIND_STRING, CONF_AT(conf_dash, path), HTML, CONF_HANDLER,
      .help = "Folder of all files." },
    { "dash_mpd_file", CONF_KIND_STRING, CONF_AT(conf_dash, mpd_file), "[app]/[stream].mpd",
      CONF_HANDLER,
      .help = "Name of the MPD, with variables. Segments are in a folder with the same name "
              "without .mpd." },
    { "dash_window_size", CONF_KIND_INT, CONF_AT(conf_dash, window_size), "5", CONF_HANDLER,
      .max = YEARS,
      .help = "Minimum number of segments in the MPD. It has more if players that update slowly "
              "need them." },
    { "dash_cleanup", CONF_KIND_ON, CONF_AT(conf_dash, cleanup), "on", CONF_HANDLER,
      .help = "Removes segments that have left the MPD." },
    { "dash_quota", CONF_KIND_SIZE, CONF_AT(conf_dash, quota), "0", CONF_HANDLER,
      .max = 1e18, .sample = "10g",
      .help = "Maximum bytes of segments below dash_path, see hls_quota. 0: no limit." },
    { "dash_dispose", CONF_KIND_SECONDS, CONF_AT(conf_dash, dispose), "120", CONF_HANDLER,
      .max = YEARS,
      .help = "Removes all files of a stream this many seconds after its last media, including "
              "those of an earlier run. 0: never." },
    { "dash_ctx", CONF_KIND_ON, CONF_AT(conf_dash, ctx), "on", CONF_HANDLER,
      .help = "Gives each player that requests the MPD a session, if security or on_play checks "
              "players. off: there are no sessions, and on_play is not called." },
    { "dash_ts_ctx", CONF_KIND_ON, CONF_AT(conf_dash, ts_ctx), "on", CONF_HANDLER,
      .help = "Puts the session id into URLs of segments, which then need a session. Turn it "
              "off for caches that remove queries." },
};

static const struct conf_row hds[] = {
    { "enabled", CONF_KIND_OFF, CONF_AT(conf_hds, enabled), "off", CONF_HANDLER,
      .help = "Writes HDS for the streams of this vhost." },
    { "hds_fragment", CONF_KIND_SECONDS, CONF_AT(conf_hds, fragment), "10", CONF_HANDLER,
      .min = 0.1, .max = 3600, .help = "Duration of a segment in seconds." },
    { "hds_window", CONF_KIND_SECONDS, CONF_AT(conf_hds, window), "60", CONF_HANDLER,
      .max = YEARS, .help = "Seconds of media in the playlist." },
    { "hds_path", CONF_KIND_STRING, CONF_AT(conf_hds, path), HTML, CONF_HANDLER,
      .help = "Folder of all files." },
};

static const struct conf_row dvr[] = {
    { "enabled", CONF_KIND_OFF, CONF_AT(conf_dvr, enabled), "off", CONF_HANDLER,
      .help = "Records the streams of this vhost." },
    { "dvr_apply", CONF_KIND_LIST, CONF_AT(conf_dvr, apply), "all", CONF_HANDLER, CONF_NO_ENV,
      .help = "Streams to record: all, or app/stream names." },
    { "dvr_plan", CONF_KIND_ENUM, CONF_AT(conf_dvr, plan), "session", CONF_HANDLER,
      .words = plan_words,
      .help = "session: one file per publisher session. segment: a new file every dvr_duration." },
    { "dvr_path", CONF_KIND_STRING, CONF_AT(conf_dvr, path),
      HTML "/[app]/[stream].[timestamp].flv", CONF_HANDLER,
      .help = "Name of the file, with variables. The ending selects the format: .flv or .mp4." },
    { "dvr_duration", CONF_KIND_SECONDS, CONF_AT(conf_dvr, duration), "30", CONF_HANDLER,
      .min = 0.1, .max = YEARS, .help = "Duration of a file in seconds, for dvr_plan segment." },
    { "dvr_wait_keyframe", CONF_KIND_ON, CONF_AT(conf_dvr, wait_keyframe), "on", CONF_HANDLER,
      .help = "Starts files at key frames only." },
    { "time_jitter", CONF_KIND_ENUM, CONF_AT(conf_dvr, time_jitter), "full", CONF_HANDLER,
      .words = conf_words_jitter,
      .help = "Timestamps in files. full: from 0 without jumps; zero: from 0; off: FLV keeps "
              "the timestamps of the stream." },
    { "dvr_quota", CONF_KIND_SIZE, CONF_AT(conf_dvr, quota), "0", CONF_HANDLER,
      .max = 1e18, .sample = "100g",
      .help = "Maximum bytes of recordings below the fixed part of dvr_path. Over it, "
              "recordings end; they continue when a twentieth is free. 0: no limit." },
};

const struct conf_block conf_table_http_static =
    CONF_BLOCK_OF(conf_http_static, http_static, "Static files over HTTP.");
const struct conf_block conf_table_http_remux =
    CONF_BLOCK_OF(conf_http_remux, http_remux, "Live streams over HTTP.");
const struct conf_block conf_table_http_hooks =
    CONF_BLOCK_OF(conf_http_hooks, http_hooks, "HTTP callbacks to your backend.");
const struct conf_block conf_table_exec = CONF_BLOCK_OF(conf_exec, exec,
    "Programs run for streams.");
const struct conf_block conf_table_hls = CONF_BLOCK_OF(conf_hls, hls, "HLS output.");
const struct conf_block conf_table_dash = CONF_BLOCK_OF(conf_dash, dash, "MPEG-DASH output.");
const struct conf_block conf_table_hds = CONF_BLOCK_OF(conf_hds, hds, "HDS output.");
const struct conf_block conf_table_dvr = CONF_BLOCK_OF(conf_dvr, dvr, "Recording.");
