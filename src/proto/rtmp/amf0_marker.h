/* SPDX-License-Identifier: MIT */
/* amf0_marker.h - type markers on the wire, [AMF0] 2.1; for amf0_read.c and amf0_write.c only. */
#ifndef RTMP_AMF0_MARKER_H
#define RTMP_AMF0_MARKER_H

enum amf0_marker {
    AMF0_NUMBER = 0x00, AMF0_BOOLEAN = 0x01, AMF0_STRING = 0x02, AMF0_OBJECT = 0x03,
    AMF0_NULL = 0x05, AMF0_UNDEFINED = 0x06, AMF0_REFERENCE = 0x07, AMF0_ECMA_ARRAY = 0x08,
    AMF0_OBJECT_END = 0x09, AMF0_STRICT_ARRAY = 0x0a, AMF0_DATE = 0x0b, AMF0_LONG_STRING = 0x0c,
    AMF0_UNSUPPORTED = 0x0d, AMF0_XML = 0x0f, AMF0_TYPED_OBJECT = 0x10, AMF0_AVMPLUS = 0x11,
};

#endif
