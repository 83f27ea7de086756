/* SPDX-License-Identifier: MIT */
/* sdp_offers.h - offers of WebRTC clients, also used for seeds of the fuzz target
 * (test/fuzz/seeds_sdp_offer.py). */
#ifndef SDP_OFFERS_H
#define SDP_OFFERS_H

/* A browser's offer exceeds the string length that every compiler accepts. */
#pragma GCC diagnostic ignored "-Woverlength-strings"

#define SHA256 "5D:2C:9E:11:6A:70:33:87:F2:0B:6C:44:9F:21:5A:D3:" \
               "5D:2C:9E:11:6A:70:33:87:F2:0B:6C:44:9F:21:5A:D3"

/* ---- Chromium 120, a page that plays: two transceivers that receive, no candidates */

#define CHROME_HEAD \
    "v=0\r\no=- 4611731400430051336 2 IN IP4 127.0.0.1\r\ns=-\r\nt=0 0\r\n" \
    "a=group:BUNDLE 0 1\r\na=extmap-allow-mixed\r\na=msid-semantic: WMS\r\n"
#define CHROME_ICE \
    "c=IN IP4 0.0.0.0\r\na=rtcp:9 IN IP4 0.0.0.0\r\na=ice-ufrag:3Jx+\r\n" \
    "a=ice-pwd:yI6KxM0Rgk2qUXQmS3m3n8Jk\r\na=ice-options:trickle\r\n" \
    "a=fingerprint:sha-256 " SHA256 "\r\na=setup:actpass\r\n"
#define CHROME_AUDIO_EXT \
    "a=extmap:1 urn:ietf:params:rtp-hdrext:ssrc-audio-level\r\n" \
    "a=extmap:2 http://www.webrtc.org/experiments/rtp-hdrext/abs-send-time\r\n" \
    "a=extmap:3 http://www.ietf.org/id/draft-holmer-rmcat-transport-wide-cc-extensions-01\r\n" \
    "a=extmap:4 urn:ietf:params:rtp-hdrext:sdes:mid\r\n"
#define CHROME_AUDIO_CODECS \
    "a=rtpmap:111 opus/48000/2\r\na=rtcp-fb:111 transport-cc\r\n" \
    "a=fmtp:111 minptime=10;useinbandfec=1\r\na=rtpmap:63 red/48000/2\r\na=fmtp:63 111/111\r\n" \
    "a=rtpmap:9 G722/8000\r\na=rtpmap:0 PCMU/8000\r\na=rtpmap:8 PCMA/8000\r\n" \
    "a=rtpmap:13 CN/8000\r\na=rtpmap:110 telephone-event/48000\r\n" \
    "a=rtpmap:126 telephone-event/8000\r\n"
#define CHROME_VIDEO_EXT \
    "a=extmap:14 urn:ietf:params:rtp-hdrext:toffset\r\n" \
    "a=extmap:2 http://www.webrtc.org/experiments/rtp-hdrext/abs-send-time\r\n" \
    "a=extmap:13 urn:3gpp:video-orientation\r\n" \
    "a=extmap:3 http://www.ietf.org/id/draft-holmer-rmcat-transport-wide-cc-extensions-01\r\n" \
    "a=extmap:5 http://www.webrtc.org/experiments/rtp-hdrext/playout-delay\r\n" \
    "a=extmap:6 http://www.webrtc.org/experiments/rtp-hdrext/video-content-type\r\n" \
    "a=extmap:7 http://www.webrtc.org/experiments/rtp-hdrext/video-timing\r\n" \
    "a=extmap:8 http://www.webrtc.org/experiments/rtp-hdrext/color-space\r\n" \
    "a=extmap:4 urn:ietf:params:rtp-hdrext:sdes:mid\r\n" \
    "a=extmap:10 urn:ietf:params:rtp-hdrext:sdes:rtp-stream-id\r\n" \
    "a=extmap:11 urn:ietf:params:rtp-hdrext:sdes:repaired-rtp-stream-id\r\n"
#define FB(t) \
    "a=rtcp-fb:" t " goog-remb\r\na=rtcp-fb:" t " transport-cc\r\na=rtcp-fb:" t " ccm fir\r\n" \
    "a=rtcp-fb:" t " nack\r\na=rtcp-fb:" t " nack pli\r\n"
#define RTX(t, apt) "a=rtpmap:" t " rtx/90000\r\na=fmtp:" t " apt=" apt "\r\n"
#define H264(t, mode, id) \
    "a=rtpmap:" t " H264/90000\r\n" FB(t) \
    "a=fmtp:" t " level-asymmetry-allowed=1;packetization-mode=" mode ";profile-level-id=" id "\r\n"
#define CHROME_VIDEO_CODECS \
    "a=rtpmap:96 VP8/90000\r\n" FB("96") RTX("97", "96") \
    H264("102", "1", "42001f") RTX("103", "102") H264("104", "0", "42001f") RTX("105", "104") \
    H264("106", "1", "42e01f") RTX("107", "106") H264("108", "0", "42e01f") RTX("109", "108") \
    H264("127", "1", "4d001f") RTX("125", "127") H264("39", "0", "4d001f") RTX("40", "39") \
    "a=rtpmap:45 AV1/90000\r\n" FB("45") "a=fmtp:45 level-idx=5;profile=0;tier=0\r\n" \
    RTX("46", "45") \
    "a=rtpmap:98 VP9/90000\r\n" FB("98") "a=fmtp:98 profile-id=0\r\n" RTX("99", "98") \
    "a=rtpmap:100 VP9/90000\r\n" FB("100") "a=fmtp:100 profile-id=2\r\n" RTX("101", "100") \
    H264("112", "1", "64001f") RTX("113", "112") \
    "a=rtpmap:114 red/90000\r\na=rtpmap:115 rtx/90000\r\na=fmtp:115 apt=114\r\n" \
    "a=rtpmap:116 ulpfec/90000\r\na=rtpmap:117 flexfec-03/90000\r\n" \
    "a=fmtp:117 repair-window=10000000\r\n"
#define CHROME_AUDIO_M "m=audio 9 UDP/TLS/RTP/SAVPF 111 63 9 0 8 13 110 126\r\n"
#define CHROME_VIDEO_M \
    "m=video 9 UDP/TLS/RTP/SAVPF 96 97 102 103 104 105 106 107 108 109 127 125 39 40 45 46 98 99 " \
    "100 101 112 113 114 115 116 117\r\n"

static const char offer_chrome_play[] =
    CHROME_HEAD CHROME_AUDIO_M CHROME_ICE "a=mid:0\r\n" CHROME_AUDIO_EXT
    "a=recvonly\r\na=rtcp-mux\r\na=rtcp-rsize\r\n" CHROME_AUDIO_CODECS
    CHROME_VIDEO_M CHROME_ICE "a=mid:1\r\n" CHROME_VIDEO_EXT
    "a=recvonly\r\na=rtcp-mux\r\na=rtcp-rsize\r\n" CHROME_VIDEO_CODECS;

/* ---- the same that publishes a camera */
static const char offer_chrome_publish[] =
    CHROME_HEAD CHROME_AUDIO_M CHROME_ICE "a=mid:0\r\n" CHROME_AUDIO_EXT
    "a=sendonly\r\na=msid:- 0e1b6c5c-8c5f-4f2b-b0d0-63d1b9dcb8a1\r\na=rtcp-mux\r\n"
    "a=rtcp-rsize\r\n" CHROME_AUDIO_CODECS
    "a=ssrc:2883318254 cname:9W7mSQPzIYGkKbHU\r\n"
    "a=ssrc:2883318254 msid:- 0e1b6c5c-8c5f-4f2b-b0d0-63d1b9dcb8a1\r\n"
    CHROME_VIDEO_M CHROME_ICE "a=mid:1\r\n" CHROME_VIDEO_EXT
    "a=sendonly\r\na=msid:- 7c4a2f6d-51a7-4a4c-93e7-7d3d0c6e2b55\r\na=rtcp-mux\r\n"
    "a=rtcp-rsize\r\n" CHROME_VIDEO_CODECS
    "a=ssrc-group:FID 1355627471 3026581210\r\n"
    "a=ssrc:1355627471 cname:9W7mSQPzIYGkKbHU\r\n"
    "a=ssrc:1355627471 msid:- 7c4a2f6d-51a7-4a4c-93e7-7d3d0c6e2b55\r\n"
    "a=ssrc:3026581210 cname:9W7mSQPzIYGkKbHU\r\n"
    "a=ssrc:3026581210 msid:- 7c4a2f6d-51a7-4a4c-93e7-7d3d0c6e2b55\r\n";

/* ---- the same with three layers: sources are identified by their rid */
static const char offer_chrome_simulcast[] =
    "v=0\r\no=- 1 2 IN IP4 127.0.0.1\r\ns=-\r\nt=0 0\r\na=group:BUNDLE 0\r\n"
    "a=extmap-allow-mixed\r\na=msid-semantic: WMS\r\n"
    "m=video 9 UDP/TLS/RTP/SAVPF 106 107\r\n" CHROME_ICE "a=mid:0\r\n" CHROME_VIDEO_EXT
    "a=sendonly\r\na=msid:- t\r\na=rtcp-mux\r\na=rtcp-rsize\r\n" H264("106", "1", "42e01f")
    RTX("107", "106")
    "a=rid:h send\r\na=rid:m send\r\na=rid:l send\r\na=simulcast:send h;m;~l\r\n";

/* ---- Firefox 115: its own extension numbers, directions of the session, candidates */
static const char offer_firefox[] =
    "v=0\r\no=mozilla...THIS_IS_SDPARTA-99.0 2744518543225011452 0 IN IP4 0.0.0.0\r\ns=-\r\n"
    "t=0 0\r\na=fingerprint:sha-256 " SHA256 "\r\na=group:BUNDLE 0 1\r\na=ice-options:trickle\r\n"
    "a=msid-semantic:WMS *\r\na=sendrecv\r\n"
    "m=audio 53127 UDP/TLS/RTP/SAVPF 109 9 0 8 101\r\nc=IN IP4 192.168.1.10\r\n"
    "a=candidate:0 1 UDP 2122252543 192.168.1.10 53127 typ host\r\n"
    "a=candidate:2 1 TCP 2105524479 192.168.1.10 9 typ host tcptype active\r\n"
    "a=sendonly\r\na=end-of-candidates\r\n"
    "a=extmap:1 urn:ietf:params:rtp-hdrext:ssrc-audio-level\r\n"
    "a=extmap:2/recvonly urn:ietf:params:rtp-hdrext:csrc-audio-level\r\n"
    "a=extmap:3 urn:ietf:params:rtp-hdrext:sdes:mid\r\n"
    "a=fmtp:109 maxplaybackrate=48000;stereo=1;useinbandfec=1\r\na=fmtp:101 0-15\r\n"
    "a=ice-pwd:b8e1bbd3a1d5a2f1c4ef5d2e2a4ce1b3\r\na=ice-ufrag:9a1f6b3c\r\na=mid:0\r\n"
    "a=msid:{af1} {bf2}\r\na=rtcp-mux\r\na=rtpmap:109 opus/48000/2\r\na=rtpmap:9 G722/8000/1\r\n"
    "a=rtpmap:0 PCMU/8000\r\na=rtpmap:8 PCMA/8000\r\na=rtpmap:101 telephone-event/8000/1\r\n"
    "a=setup:actpass\r\na=ssrc:1410135821 cname:{c1}\r\n"
    "m=video 53127 UDP/TLS/RTP/SAVPF 120 124 126 127 97 98\r\nc=IN IP4 192.168.1.10\r\n"
    "a=sendonly\r\na=extmap:3 urn:ietf:params:rtp-hdrext:sdes:mid\r\n"
    "a=extmap:4 http://www.webrtc.org/experiments/rtp-hdrext/abs-send-time\r\n"
    "a=extmap:5 urn:ietf:params:rtp-hdrext:toffset\r\n"
    "a=extmap:6/recvonly http://www.webrtc.org/experiments/rtp-hdrext/playout-delay\r\n"
    "a=extmap:7 http://www.ietf.org/id/draft-holmer-rmcat-transport-wide-cc-extensions-01\r\n"
    "a=fmtp:126 profile-level-id=42e01f;level-asymmetry-allowed=1;packetization-mode=1\r\n"
    "a=fmtp:97 profile-level-id=42e01f;level-asymmetry-allowed=1\r\n"
    "a=fmtp:120 max-fs=12288;max-fr=60\r\na=fmtp:124 apt=120\r\na=fmtp:127 apt=126\r\n"
    "a=fmtp:98 apt=97\r\n"
    "a=ice-pwd:b8e1bbd3a1d5a2f1c4ef5d2e2a4ce1b3\r\na=ice-ufrag:9a1f6b3c\r\na=mid:1\r\n"
    "a=msid:{af1} {bf3}\r\n"
    "a=rtcp-fb:120 nack\r\na=rtcp-fb:120 nack pli\r\na=rtcp-fb:120 ccm fir\r\n"
    "a=rtcp-fb:120 goog-remb\r\na=rtcp-fb:120 transport-cc\r\na=rtcp-fb:126 nack\r\n"
    "a=rtcp-fb:126 nack pli\r\na=rtcp-fb:126 ccm fir\r\na=rtcp-fb:126 goog-remb\r\n"
    "a=rtcp-fb:126 transport-cc\r\na=rtcp-fb:97 nack\r\na=rtcp-mux\r\na=rtcp-rsize\r\n"
    "a=rtpmap:120 VP8/90000\r\na=rtpmap:124 rtx/90000\r\na=rtpmap:126 H264/90000\r\n"
    "a=rtpmap:127 rtx/90000\r\na=rtpmap:97 H264/90000\r\na=rtpmap:98 rtx/90000\r\n"
    "a=setup:actpass\r\na=ssrc:2402158831 cname:{c1}\r\na=ssrc:3702451290 cname:{c1}\r\n"
    "a=ssrc-group:FID 2402158831 3702451290\r\n";

/* ---- Safari 17, a page that plays: High first, H.265, names for addresses */
static const char offer_safari[] =
    "v=0\r\no=- 4837421 2 IN IP4 127.0.0.1\r\ns=-\r\nt=0 0\r\na=group:BUNDLE 0 1\r\n"
    "a=extmap-allow-mixed\r\na=msid-semantic: WMS\r\n"
    "m=video 9 UDP/TLS/RTP/SAVPF 96 97 98 99 100 101 102 103\r\n" CHROME_ICE
    "a=candidate:1 1 udp 2113937151 5f6ab1f8-3f17-4bd1-a2ec-70a1e4ba5cb3.local 54321 typ host "
    "generation 0 network-cost 999\r\na=mid:0\r\n" CHROME_VIDEO_EXT
    "a=recvonly\r\na=rtcp-mux\r\na=rtcp-rsize\r\n"
    H264("96", "1", "640c1f") RTX("97", "96") H264("98", "1", "42e01f") RTX("99", "98")
    "a=rtpmap:100 H265/90000\r\n" FB("100")
    "a=fmtp:100 level-id=93;profile-id=1;tier-flag=0;tx-mode=SRST\r\n" RTX("101", "100")
    "a=rtpmap:102 VP8/90000\r\n" FB("102") RTX("103", "102")
    "m=audio 9 UDP/TLS/RTP/SAVPF 111 63 9 0 8\r\n" CHROME_ICE "a=mid:1\r\n" CHROME_AUDIO_EXT
    "a=recvonly\r\na=rtcp-mux\r\na=rtcp-rsize\r\na=rtpmap:111 opus/48000/2\r\n"
    "a=rtcp-fb:111 transport-cc\r\na=fmtp:111 minptime=10;useinbandfec=1\r\n"
    "a=rtpmap:63 red/48000/2\r\na=fmtp:63 111/111\r\na=rtpmap:9 G722/8000\r\n"
    "a=rtpmap:0 PCMU/8000\r\na=rtpmap:8 PCMA/8000\r\n";

/* ---- OBS 30, libdatachannel: the transport at the session, a second group */
static const char offer_obs[] =
    "v=0\r\no=rtc 3767197920 0 IN IP4 127.0.0.1\r\ns=-\r\nt=0 0\r\na=group:BUNDLE 0 1\r\n"
    "a=group:LS 0 1\r\na=msid-semantic:WMS *\r\na=setup:actpass\r\na=ice-ufrag:q2Pz\r\n"
    "a=ice-pwd:8pVqzIbnXdYrHXVfJ0VhZ1\r\na=ice-options:ice2,trickle\r\n"
    "a=fingerprint:sha-256 " SHA256 "\r\n"
    "m=audio 9 UDP/TLS/RTP/SAVPF 111\r\nc=IN IP4 0.0.0.0\r\na=mid:0\r\na=sendonly\r\n"
    "a=ssrc:1234567 cname:obsCname\r\na=ssrc:1234567 msid:obsStream obsStream-audio\r\n"
    "a=rtcp-mux\r\na=rtpmap:111 opus/48000/2\r\n"
    "a=fmtp:111 minptime=10;maxaveragebitrate=96000;stereo=1;sprop-stereo=1;useinbandfec=1\r\n"
    "m=video 9 UDP/TLS/RTP/SAVPF 96\r\nc=IN IP4 0.0.0.0\r\na=mid:1\r\na=sendonly\r\n"
    "a=ssrc:1234568 cname:obsCname\r\na=ssrc:1234568 msid:obsStream obsStream-video\r\n"
    "a=rtcp-mux\r\na=rtpmap:96 H264/90000\r\na=rtcp-fb:96 nack\r\na=rtcp-fb:96 nack pli\r\n"
    "a=rtcp-fb:96 goog-remb\r\n"
    "a=fmtp:96 profile-level-id=42e01f;packetization-mode=1;level-asymmetry-allowed=1\r\n";

/* ---- ffmpeg 8, -f whip with H.264 only: a group of two, we connect, no feedback */
static const char offer_ffmpeg[] =
    "v=0\r\no=FFmpeg 4489045141692799359 2 IN IP4 127.0.0.1\r\ns=FFmpegPublishSession\r\nt=0 0\r\n"
    "a=group:BUNDLE 0 1\r\na=extmap-allow-mixed\r\na=msid-semantic: WMS\r\n"
    "m=video 9 UDP/TLS/RTP/SAVPF 106\r\nc=IN IP4 0.0.0.0\r\na=ice-ufrag:1a2b3c4d\r\n"
    "a=ice-pwd:0f1e2d3c4b5a69788796a5b4c3d2e1f0\r\na=fingerprint:sha-256 " SHA256 "\r\n"
    "a=setup:passive\r\na=mid:1\r\na=sendonly\r\na=msid:FFmpeg video\r\na=rtcp-mux\r\n"
    "a=rtcp-rsize\r\na=rtpmap:106 H264/90000\r\n"
    "a=fmtp:106 level-asymmetry-allowed=1;packetization-mode=1;profile-level-id=42c01f\r\n"
    "a=ssrc:3735928559 cname:FFmpeg\r\na=ssrc:3735928559 msid:FFmpeg video\r\n";

/* ---- GStreamer, whipclientsink: no sources, RTX, RED and FEC */
static const char offer_gstreamer[] =
    "v=0\r\no=- 7226133812 0 IN IP4 0.0.0.0\r\ns=-\r\nt=0 0\r\na=ice-options:trickle\r\n"
    "a=group:BUNDLE video0 audio1\r\n"
    "m=video 9 UDP/TLS/RTP/SAVPF 96 97 98 99 100\r\nc=IN IP4 0.0.0.0\r\na=setup:actpass\r\n"
    "a=ice-ufrag:Ug0s9vPIbuyMRV0xqzkVqYXJcGIb5hv4\r\n"
    "a=ice-pwd:hQQ5Qm1nb6bRWyDHFAD1tTmC1iQjJjmU\r\na=rtcp-mux\r\na=rtcp-rsize\r\na=sendonly\r\n"
    "a=rtpmap:96 H264/90000\r\na=rtcp-fb:96 nack\r\na=rtcp-fb:96 nack pli\r\n"
    "a=rtcp-fb:96 ccm fir\r\na=rtcp-fb:96 transport-cc\r\n"
    "a=fmtp:96 packetization-mode=1;profile-level-id=42c01f;level-asymmetry-allowed=1\r\n"
    "a=extmap:1 http://www.ietf.org/id/draft-holmer-rmcat-transport-wide-cc-extensions-01\r\n"
    "a=rtpmap:97 rtx/90000\r\na=fmtp:97 apt=96\r\na=rtpmap:98 red/90000\r\n"
    "a=rtpmap:99 ulpfec/90000\r\na=rtpmap:100 rtx/90000\r\na=fmtp:100 apt=98\r\na=mid:video0\r\n"
    "a=fingerprint:sha-256 " SHA256 "\r\n"
    "a=candidate:1 1 UDP 2015363327 10.0.0.5 43210 typ host\r\n"
    "a=candidate:2 1 TCP 1015021823 10.0.0.5 9 typ host tcptype active\r\n"
    "a=candidate:3 1 TCP 1010827519 10.0.0.5 40001 typ host tcptype passive\r\n"
    "m=audio 0 UDP/TLS/RTP/SAVPF 101\r\nc=IN IP4 0.0.0.0\r\na=setup:actpass\r\n"
    "a=ice-ufrag:Ug0s9vPIbuyMRV0xqzkVqYXJcGIb5hv4\r\n"
    "a=ice-pwd:hQQ5Qm1nb6bRWyDHFAD1tTmC1iQjJjmU\r\na=bundle-only\r\na=rtcp-mux\r\n"
    "a=rtcp-rsize\r\na=sendonly\r\na=rtpmap:101 OPUS/48000/2\r\na=rtcp-fb:101 transport-cc\r\n"
    "a=fmtp:101 sprop-maxcapturerate=48000;sprop-stereo=0\r\na=mid:audio1\r\n"
    "a=fingerprint:sha-256 " SHA256 "\r\n";

/* ---- aiortc: VP8 before H.264, three digests, audio and video in both directions */
static const char offer_aiortc[] =
    "v=0\r\no=- 3935124182 3935124182 IN IP4 0.0.0.0\r\ns=-\r\nt=0 0\r\na=group:BUNDLE 0 1\r\n"
    "a=msid-semantic:WMS *\r\n"
    "m=audio 50001 UDP/TLS/RTP/SAVPF 96 0 8\r\nc=IN IP4 172.17.0.2\r\na=recvonly\r\n"
    "a=extmap:1 urn:ietf:params:rtp-hdrext:sdes:mid\r\n"
    "a=extmap:2 urn:ietf:params:rtp-hdrext:ssrc-audio-level\r\na=mid:0\r\n"
    "a=msid:s a\r\na=rtcp:9 IN IP4 0.0.0.0\r\na=rtcp-mux\r\na=ssrc:95842 cname:c\r\n"
    "a=rtpmap:96 opus/48000/2\r\na=rtpmap:0 PCMU/8000\r\na=rtpmap:8 PCMA/8000\r\n"
    "a=candidate:d1 1 udp 2130706431 172.17.0.2 50001 typ host\r\na=end-of-candidates\r\n"
    "a=ice-ufrag:Fb9U\r\na=ice-pwd:fYz2n0KkGq3nQ8r5kEJgtR\r\n"
    "a=fingerprint:sha-256 " SHA256 "\r\na=fingerprint:sha-384 " SHA256 ":"
    "5D:2C:9E:11:6A:70:33:87:F2:0B:6C:44:9F:21:5A:D3\r\n"
    "a=fingerprint:sha-512 " SHA256 ":" SHA256 "\r\na=setup:actpass\r\n"
    "m=video 50001 UDP/TLS/RTP/SAVPF 97 98 99 100 101 102\r\nc=IN IP4 172.17.0.2\r\na=recvonly\r\n"
    "a=extmap:1 urn:ietf:params:rtp-hdrext:sdes:mid\r\n"
    "a=extmap:3 http://www.webrtc.org/experiments/rtp-hdrext/abs-send-time\r\na=mid:1\r\n"
    "a=msid:s v\r\na=rtcp-mux\r\na=ssrc-group:FID 1 2\r\na=ssrc:1 cname:c\r\na=ssrc:2 cname:c\r\n"
    "a=rtpmap:97 VP8/90000\r\na=rtcp-fb:97 nack\r\na=rtcp-fb:97 nack pli\r\n"
    "a=rtcp-fb:97 goog-remb\r\na=rtpmap:98 rtx/90000\r\na=fmtp:98 apt=97\r\n"
    "a=rtpmap:99 H264/90000\r\na=rtcp-fb:99 nack\r\na=rtcp-fb:99 nack pli\r\n"
    "a=rtcp-fb:99 goog-remb\r\n"
    "a=fmtp:99 level-asymmetry-allowed=1;packetization-mode=1;profile-level-id=42001f\r\n"
    "a=rtpmap:100 rtx/90000\r\na=fmtp:100 apt=99\r\na=rtpmap:101 H264/90000\r\n"
    "a=rtcp-fb:101 nack\r\na=rtcp-fb:101 nack pli\r\na=rtcp-fb:101 goog-remb\r\n"
    "a=fmtp:101 level-asymmetry-allowed=1;packetization-mode=1;profile-level-id=42e01f\r\n"
    "a=rtpmap:102 rtx/90000\r\na=fmtp:102 apt=101\r\n"
    "a=ice-ufrag:Fb9U\r\na=ice-pwd:fYz2n0KkGq3nQ8r5kEJgtR\r\n"
    "a=fingerprint:sha-256 " SHA256 "\r\na=setup:actpass\r\n";

/* ---- with a data channel first, two cameras, and another section */
static const char offer_much[] =
    "v=0\no=- 1 1 IN IP4 127.0.0.1\ns=-\nt=0 0\na=group:BUNDLE d v w t\n"
    "m=application 9 UDP/DTLS/SCTP webrtc-datachannel\nc=IN IP4 0.0.0.0\na=ice-ufrag:data\n"
    "a=ice-pwd:datadatadatadatadatadata\na=fingerprint:sha-256 " SHA256 "\na=setup:active\n"
    "a=mid:d\na=sctp-port:5000\n"
    "m=video 0 UDP/TLS/RTP/SAVPF 96\na=bundle-only\na=mid:v\na=rtcp-mux\na=sendrecv  \n"
    "a=rtpmap:96 VP8/90000\na=rtcp-fb:* nack\na=setup:active\n"
    "m=video 9 UDP/TLS/RTP/SAVPF 97\na=mid:w\na=rtcp-mux\na=rtpmap:97 VP8/90000\n"
    "m=text 9 UDP/TLS/RTP/SAVPF 98\na=mid:t\na=rtcp-mux\na=rtpmap:98 red/1000\n";

#endif
