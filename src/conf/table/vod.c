/* SPDX-License-Identifier: MIT */
/* vod.c - directives of files on demand, in a vhost. */
#include "conf/table.h"

static const struct conf_row vod[] = {
    { "enabled", CONF_KIND_OFF, CONF_AT(conf_vod, enabled), "off", CONF_AT_ONCE,
      .help = "Play files of MP4 and FLV by RTSP, RTMP and HTTP-FLV, each player at its own "
              "place." },
    { "app", CONF_KIND_STRING, CONF_AT(conf_vod, app), "vod", CONF_AT_ONCE,
      .help = "The app they are played by: rtsp://HOST/vod/dir/a.mp4, rtmp://HOST/vod/a.mp4, "
              "http://HOST/vod/a.mp4.flv. Streams of it whose names end in .mp4, .m4v, .mov, "
              ".fmp4 or .flv are files." },
    { "dir", CONF_KIND_STRING, CONF_AT(conf_vod, dir), "./objs/nginx/html/vod", CONF_AT_ONCE,
      .help = "The folder they are in. Nothing outside of it can be played. That of dvr_path may "
              "be it." },
    { "loop", CONF_KIND_OFF, CONF_AT(conf_vod, loop), "off", CONF_AT_ONCE,
      .help = "Begin again at the end of a file, with times that go on." },
    { "cache", CONF_KIND_SIZE, CONF_AT(conf_vod, cache), "128m", CONF_AT_ONCE, .min = 1 << 20,
      .max = 1e15,
      .help = "Bytes of what was read of files that are kept, for all who play the same. This and "
              "the two below are of the whole server: the largest of all vhosts counts." },
    { "index_max", CONF_KIND_SIZE, CONF_AT(conf_vod, index_max), "64m", CONF_AT_ONCE,
      .min = 1 << 20, .max = 1e15,
      .help = "Bytes of the indexes of all files that are played, a few megabytes for two hours; "
              "who wants another file is refused." },
    { "readers", CONF_KIND_INT, CONF_AT(conf_vod, readers), "4", CONF_AT_ONCE, .min = 1, .max = 32,
      .help = "Threads that wait for disks, half of them at most for one disk." },
};

const struct conf_block conf_table_vod = CONF_BLOCK_OF(conf_vod, vod, "Files on demand.");
