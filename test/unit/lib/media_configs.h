/* SPDX-License-Identifier: MIT */
/* media_configs.h - decoder configurations of real encoders, for tests of muxers. */
#ifndef MEDIA_CONFIGS_H
#define MEDIA_CONFIGS_H

#include "format/frame.h"

#define MEDIA_BYTES(s) (const uint8_t *)(s), sizeof(s) - 1

/* x264: High, level 1.2, 320x180 */
#define CONFIG_H264                                                                            \
    "\x01\x64\x00\x0c\xff\xe1\x00\x19\x67\x64\x00\x0c\xac\xd9\x41\x41\x9f\x9f\x01\x6c\x80\x00" \
    "\x00\x03\x00\x80\x00\x00\x19\x07\x8a\x14\xcb\x01\x00\x06\x68\xeb\xe3\xcb\x22\xc0"
/* a record of one array of each kind, Main, level 3 */
#define CONFIG_H265                                                                            \
    "\x01\x01\x60\x00\x00\x00\x90\x00\x00\x00\x00\x00\x5a\xf0\x00\xfc\xfd\xf8\xf8\x00\x00\x0f" \
    "\x02\xa0\x00\x01\x00\x04\x40\x01\x0c\x01\xa2\x00\x01\x00\x03\x44\x01\xc1"
#define CONFIG_AV1 "\x81\x00\x0c\x00"
#define CONFIG_VP9 "\x01\x00\x00\x00\x00\x0a\x82\x02\x02\x02\x00\x00"
#define CONFIG_AAC "\x11\x90" /* LC, 48 kHz, stereo */
#define CONFIG_OPUS "OpusHead\x01\x02\x38\x01\x80\xbb\x00\x00\x00\x00\x00"
#define CONFIG_FLAC                                                                      \
    "fLaC\x80\x00\x00\x22\x12\x00\x12\x00\x00\x00\x0e\x00\x10\x00\x0b\xb8\x02\xf0\x00\x00" \
    "\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00"
/* MPEG-1 layer 3, 64 kbit/s, 48 kHz, mono: a header, and 192 bytes in all */
#define MP3_FRAME "\xff\xfb\x54\xc4"
/* the uncompressed header of a VP9 key frame of 320x180 */
#define VP9_KEY "\x82\x49\x83\x42\x20\x13\xf0\x0b\x30"

struct frame media_config(enum av_codec codec, const uint8_t *data, size_t size);
struct frame media_frame(enum av_codec codec, bool key, int64_t dts, const uint8_t *data,
                         size_t size);

#endif
