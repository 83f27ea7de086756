# SPDX-License-Identifier: MIT
# files.sh - files of "make install" and "make deb", except the server itself.
# shellcheck shell=sh disable=SC2034

tools="sb_rtmp_load sb_rtmp_load_fast sb_http_load sb_hls_load sb_rtsp_load sb_srt_load sb_rtc_load
    sb_rtmfp_load sb_rtmp_publish sb_rtsp_publish"
top_pages="README.md CHANGELOG.md CONTRIBUTING.md LICENSE SECURITY.md"
pages="doc/*.md doc/*.png doc/*.svg"
# scripts/rtmfp.py uses the RTMFP client of the tests.
rtmfp="amf flv procs rtmfp rtmfp_client rtmfp_flow rtmfp_wire rtmpclient"

put_rtmfp() { # folder: installs rtmfp.py, and its modules in rtmfp/
    install -d "$1/rtmfp"
    install -m 755 scripts/rtmfp.py "$1/"
    for module in $rtmfp; do
        install -m 644 "test/e2e/$module.py" "$1/rtmfp/"
    done
}
