/* SPDX-License-Identifier: MIT */
/* vod.c - directives of vod in a vhost. */
#include "conf/table.h"

static const struct conf_row vod[] = {
    { "enabled", CONF_KIND_OFF, CONF_AT(conf_vod, enabled), "off", CONF_AT_ONCE,
      .help = "Plays MP4 and FLV files over RTSP, RTMP and HTTP-FLV, with seeking." },
    { "app", CONF_KIND_STRING, CONF_AT(conf_vod, app), "vod", CONF_AT_ONCE,
      .help = "Application of the files: rtsp://HOST/vod/dir/a.mp4, rtmp://HOST/vod/a.mp4, "
              "http://HOST/vod/a.mp4.flv. Its streams whose names end in .mp4, .m4v, .mov, "
              ".fmp4 or .flv are files." },
    { "dir", CONF_KIND_STRING, CONF_AT(conf_vod, dir), "./objs/nginx/html/vod", CONF_AT_ONCE,
      .help = "Folder of the files. Files outside it cannot be played. It may be the folder of "
              "dvr_path." },
    { "loop", CONF_KIND_OFF, CONF_AT(conf_vod, loop), "off", CONF_AT_ONCE,
      .help = "Repeats a file at its end, with continuous timestamps." },
    { "cache", CONF_KIND_SIZE, CONF_AT(conf_vod, cache), "128m", CONF_AT_ONCE, .min = 1 << 20,
      .max = 1e15,
      .help = "Maximum bytes of the cache for file data, shared by all players of the server. "
              "The largest value of all vhosts counts; the same applies to index_max and "
              "readers." },
    { "index_max", CONF_KIND_SIZE, CONF_AT(conf_vod, index_max), "64m", CONF_AT_ONCE,
      .min = 1 << 20, .max = 1e15,
      .help = "Maximum bytes of indexes of all files in use; a file of two hours needs a few "
              "megabytes. Over it, players of other files are rejected." },
    { "readers", CONF_KIND_INT, CONF_AT(conf_vod, readers), "4", CONF_AT_ONCE, .min = 1, .max = 32,
      .help = "Number of threads that read from disks, at most half of them from one disk." },
};

const struct conf_block conf_table_vod = CONF_BLOCK_OF(conf_vod, vod, "Files on demand (VOD).");
