/* SPDX-License-Identifier: MIT */
/* ffmpeg.c - directives of ingest, transcode and their engines. */
#include "conf/table.h"

#define MANY 1e9

static const char *const type_words[] = { "file", "stream", NULL };

static const struct conf_row engine[] = {
    { "enabled", CONF_KIND_OFF, CONF_AT(conf_engine, enabled), "off", CONF_HANDLER,
      .help = "Use this engine; for an ingest off is copy." },
    { "perfile", CONF_KIND_PAIRS, CONF_AT(conf_engine, perfile), NULL, CONF_HANDLER,
      .sample = "re '';", .help = "Options before -i." },
    { "iformat", CONF_KIND_STRING, CONF_AT(conf_engine, iformat), "flv", CONF_HANDLER,
      .help = "-f of the input; off for none." },
    { "vfilter", CONF_KIND_PAIRS, CONF_AT(conf_engine, vfilter), NULL, CONF_HANDLER,
      .sample = "vf 'drawtext=text=hello';", .help = "Options behind -i." },
    { "vcodec", CONF_KIND_STRING, CONF_AT(conf_engine, vcodec), NULL, CONF_HANDLER,
      .sample = "libx264", .help = "Video encoder; copy, vn for none, png for pictures." },
    { "vbitrate", CONF_KIND_INT, CONF_AT(conf_engine, vbitrate), "0", CONF_HANDLER, .max = MANY,
      .help = "Video kbit/s; 0: as it comes." },
    { "vfps", CONF_KIND_FLOAT, CONF_AT(conf_engine, vfps), "0", CONF_HANDLER, .max = 1000,
      .help = "Frames a second; 0: as it comes." },
    { "vwidth", CONF_KIND_INT, CONF_AT(conf_engine, vwidth), "0", CONF_HANDLER, .max = 65535,
      .help = "Width; 0: as it comes." },
    { "vheight", CONF_KIND_INT, CONF_AT(conf_engine, vheight), "0", CONF_HANDLER, .max = 65535,
      .help = "Height; 0: as it comes." },
    { "vthreads", CONF_KIND_INT, CONF_AT(conf_engine, vthreads), "1", CONF_HANDLER, .max = 1024,
      .help = "Threads of the video encoder." },
    { "vprofile", CONF_KIND_STRING, CONF_AT(conf_engine, vprofile), NULL, CONF_HANDLER,
      .sample = "main", .help = "Its profile." },
    { "vpreset", CONF_KIND_STRING, CONF_AT(conf_engine, vpreset), NULL, CONF_HANDLER,
      .sample = "medium", .help = "Its preset." },
    { "vparams", CONF_KIND_PAIRS, CONF_AT(conf_engine, vparams), NULL, CONF_HANDLER,
      .sample = "t 100;", .help = "More options of the video encoder." },
    { "acodec", CONF_KIND_STRING, CONF_AT(conf_engine, acodec), NULL, CONF_HANDLER,
      .sample = "aac", .help = "Audio encoder; copy, an for none." },
    { "abitrate", CONF_KIND_INT, CONF_AT(conf_engine, abitrate), "0", CONF_HANDLER, .max = MANY,
      .help = "Audio kbit/s; 0: as it comes." },
    { "asample_rate", CONF_KIND_INT, CONF_AT(conf_engine, asample_rate), "0", CONF_HANDLER,
      .max = MANY, .help = "Samples a second; 0: as it comes." },
    { "achannels", CONF_KIND_INT, CONF_AT(conf_engine, achannels), "0", CONF_HANDLER, .max = 64,
      .help = "Channels; 0: as it comes." },
    { "aparams", CONF_KIND_PAIRS, CONF_AT(conf_engine, aparams), NULL, CONF_HANDLER,
      .sample = "profile:a aac_low;", .help = "More options of the audio encoder." },
    { "oformat", CONF_KIND_STRING, CONF_AT(conf_engine, oformat), "flv", CONF_HANDLER,
      .help = "-f of the output; off for none." },
    { "output", CONF_KIND_STRING, CONF_AT(conf_engine, output), NULL, CONF_HANDLER,
      .sample = "rtmp://127.0.0.1:[port]/[app]?vhost=[vhost]/[stream]_[engine]",
      .help = "Where it goes. [vhost] [port] [app] [stream] [param] [engine] and times are "
              "replaced; for an ingest [vhost] [port] [engine] and times." },
};
static const struct conf_block engine_block =
    CONF_BLOCK_OF(conf_engine, engine, "One output of ffmpeg.");

static const struct conf_row input[] = {
    { "type", CONF_KIND_ENUM, CONF_AT(conf_ingest_input, type), "file", CONF_HANDLER,
      .words = type_words,
      .help = "file, read at its own pace, or stream, such as srt://host:port of a listener." },
    { "url", CONF_KIND_STRING, CONF_AT(conf_ingest_input, url), NULL, CONF_HANDLER,
      .sample = "./doc/source.flv",
      .help = "What is read: by the server itself where it is a file of MP4 or FLV or a listener "
              "of SRT, the engine is off, and its output is this server; else by "
              "ffmpeg." },
};
static const struct conf_block input_block =
    CONF_BLOCK_OF(conf_ingest_input, input, "What an ingest reads.");

static const struct conf_row ingest[] = {
    { "enabled", CONF_KIND_OFF, CONF_AT(conf_ingest, enabled), "off", CONF_HANDLER,
      .help = "Run it." },
    { "input", CONF_KIND_BLOCK, CONF_AT(conf_ingest, input), .block = &input_block },
    { "ffmpeg", CONF_KIND_STRING, CONF_AT(conf_ingest, ffmpeg), NULL, CONF_HANDLER,
      .sample = "./objs/ffmpeg/bin/ffmpeg",
      .help = "The program. When it is not there, the one of its name that the system has." },
    { "engine", CONF_KIND_BLOCKS, CONF_AT(conf_ingest, engine), NULL, CONF_HANDLER,
      .block = &engine_block },
};

static const struct conf_row transcode[] = {
    { "enabled", CONF_KIND_OFF, CONF_AT(conf_transcode, enabled), "off", CONF_HANDLER,
      .help = "Run it." },
    { "ffmpeg", CONF_KIND_STRING, CONF_AT(conf_transcode, ffmpeg), NULL, CONF_HANDLER,
      .sample = "./objs/ffmpeg/bin/ffmpeg",
      .help = "The program. When it is not there, the one of its name that the system has." },
    { "engine", CONF_KIND_BLOCKS, CONF_AT(conf_transcode, engine), NULL, CONF_HANDLER,
      .sample = "ff", .block = &engine_block },
};

const struct conf_block conf_table_ingest = CONF_BLOCK_OF(conf_ingest, ingest,
    "A stream that ffmpeg brings in. The name is its id.");
const struct conf_block conf_table_transcode = CONF_BLOCK_OF(conf_transcode, transcode,
    "Streams that ffmpeg makes others of. The name says which: app/stream, app, or none for all.");
