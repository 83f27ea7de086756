/* SPDX-License-Identifier: MIT */
/* ffmpeg.c - directives of ingest, transcode and their engines. */
#include "conf/table.h"

#define MANY 1e9

static const char *const type_words[] = { "file", "stream", NULL };

static const struct conf_row engine[] = {
    { "enabled", CONF_KIND_OFF, CONF_AT(conf_engine, enabled), "off", CONF_HANDLER,
      .help = "Uses this engine. For an ingest, off copies audio and video." },
    { "perfile", CONF_KIND_PAIRS, CONF_AT(conf_engine, perfile), NULL, CONF_HANDLER,
      .sample = "re '';", .help = "FFmpeg options before -i." },
    { "iformat", CONF_KIND_STRING, CONF_AT(conf_engine, iformat), "flv", CONF_HANDLER,
      .help = "Input format (-f). off: FFmpeg detects it." },
    { "vfilter", CONF_KIND_PAIRS, CONF_AT(conf_engine, vfilter), NULL, CONF_HANDLER,
      .sample = "vf 'drawtext=text=hello';", .help = "FFmpeg options after -i, such as filters." },
    { "vcodec", CONF_KIND_STRING, CONF_AT(conf_engine, vcodec), NULL, CONF_HANDLER,
      .sample = "libx264",
      .help = "Video encoder. copy: no transcoding; vn: no video; png: images." },
    { "vbitrate", CONF_KIND_INT, CONF_AT(conf_engine, vbitrate), "0", CONF_HANDLER, .max = MANY,
      .help = "Video bit rate in kbit/s. 0: the encoder's default." },
    { "vfps", CONF_KIND_FLOAT, CONF_AT(conf_engine, vfps), "0", CONF_HANDLER, .max = 1000,
      .help = "Video frames per second. 0: unchanged." },
    { "vwidth", CONF_KIND_INT, CONF_AT(conf_engine, vwidth), "0", CONF_HANDLER, .max = 65535,
      .help = "Video width in pixels. 0: unchanged." },
    { "vheight", CONF_KIND_INT, CONF_AT(conf_engine, vheight), "0", CONF_HANDLER, .max = 65535,
      .help = "Video height in pixels. 0: unchanged." },
    { "vthreads", CONF_KIND_INT, CONF_AT(conf_engine, vthreads), "1", CONF_HANDLER, .max = 1024,
      .help = "Number of threads of the video encoder." },
    { "vprofile", CONF_KIND_STRING, CONF_AT(conf_engine, vprofile), NULL, CONF_HANDLER,
      .sample = "main", .help = "Profile of the video encoder." },
    { "vpreset", CONF_KIND_STRING, CONF_AT(conf_engine, vpreset), NULL, CONF_HANDLER,
      .sample = "medium",
      .help = "Preset of the video encoder. Faster presets use less CPU and more bit rate." },
    { "vparams", CONF_KIND_PAIRS, CONF_AT(conf_engine, vparams), NULL, CONF_HANDLER,
      .sample = "t 100;", .help = "Further options of the video encoder." },
    { "acodec", CONF_KIND_STRING, CONF_AT(conf_engine, acodec), NULL, CONF_HANDLER,
      .sample = "aac", .help = "Audio encoder. copy: no transcoding; an: no audio." },
    { "abitrate", CONF_KIND_INT, CONF_AT(conf_engine, abitrate), "0", CONF_HANDLER, .max = MANY,
      .help = "Audio bit rate in kbit/s. 0: the encoder's default." },
    { "asample_rate", CONF_KIND_INT, CONF_AT(conf_engine, asample_rate), "0", CONF_HANDLER,
      .max = MANY, .help = "Audio sample rate in Hz. 0: unchanged." },
    { "achannels", CONF_KIND_INT, CONF_AT(conf_engine, achannels), "0", CONF_HANDLER, .max = 64,
      .help = "Number of audio channels. 0: unchanged." },
    { "aparams", CONF_KIND_PAIRS, CONF_AT(conf_engine, aparams), NULL, CONF_HANDLER,
      .sample = "profile:a aac_low;", .help = "Further options of the audio encoder." },
    { "oformat", CONF_KIND_STRING, CONF_AT(conf_engine, oformat), "flv", CONF_HANDLER,
      .help = "Output format (-f). off: FFmpeg guesses it from the name." },
    { "output", CONF_KIND_STRING, CONF_AT(conf_engine, output), NULL, CONF_HANDLER,
      .sample = "rtmp://127.0.0.1:[port]/[app]?vhost=[vhost]/[stream]_[engine]",
      .help = "Output address or file. Variables in a transcode: [vhost] [port] [app] [stream] "
              "[param] [engine] and times. In an ingest: [vhost] [port] [engine] and times." },
};
static const struct conf_block engine_block =
    CONF_BLOCK_OF(conf_engine, engine, "One output of FFmpeg, with its encoders.");

static const struct conf_row input[] = {
    { "type", CONF_KIND_ENUM, CONF_AT(conf_ingest_input, type), "file", CONF_HANDLER,
      .words = type_words,
      .help = "file: read at its own pace. stream: an address such as srt://host:port." },
    { "url", CONF_KIND_STRING, CONF_AT(conf_ingest_input, url), NULL, CONF_HANDLER,
      .sample = "./doc/source.flv",
      .help = "File or address to read. The server reads MP4 and FLV files and SRT addresses "
              "itself if the engine is off and its output is this server. FFmpeg reads "
              "everything else." },
};
static const struct conf_block input_block =
    CONF_BLOCK_OF(conf_ingest_input, input, "Source of an ingest.");

static const struct conf_row ingest[] = {
    { "enabled", CONF_KIND_OFF, CONF_AT(conf_ingest, enabled), "off", CONF_HANDLER,
      .help = "Runs this ingest." },
    { "input", CONF_KIND_BLOCK, CONF_AT(conf_ingest, input), .block = &input_block },
    { "ffmpeg", CONF_KIND_STRING, CONF_AT(conf_ingest, ffmpeg), NULL, CONF_HANDLER,
      .sample = "./objs/ffmpeg/bin/ffmpeg",
      .help = "Path of the program. If it does not exist, the server searches its name in PATH." },
    { "engine", CONF_KIND_BLOCKS, CONF_AT(conf_ingest, engine), NULL, CONF_HANDLER,
      .block = &engine_block },
};

static const struct conf_row transcode[] = {
    { "enabled", CONF_KIND_OFF, CONF_AT(conf_transcode, enabled), "off", CONF_HANDLER,
      .help = "Runs this transcode." },
    { "ffmpeg", CONF_KIND_STRING, CONF_AT(conf_transcode, ffmpeg), NULL, CONF_HANDLER,
      .sample = "./objs/ffmpeg/bin/ffmpeg",
      .help = "Path of the program. If it does not exist, the server searches its name in PATH." },
    { "engine", CONF_KIND_BLOCKS, CONF_AT(conf_transcode, engine), NULL, CONF_HANDLER,
      .sample = "ff", .block = &engine_block },
};

const struct conf_block conf_table_ingest = CONF_BLOCK_OF(conf_ingest, ingest,
    "Pulls a file or another server's stream into this server. The name is free.");
const struct conf_block conf_table_transcode = CONF_BLOCK_OF(conf_transcode, transcode,
    "Transcodes streams with FFmpeg. The name selects them: app/stream, app, or none for all.");
