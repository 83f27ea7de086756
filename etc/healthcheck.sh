#!/bin/bash
# SPDX-License-Identifier: MIT
# healthcheck.sh [PORT] - exits with 0 if the HTTP API of the server on this machine responds.
#
# For containers (HEALTHCHECK of the Dockerfile) and monitoring. Needs only bash. An API that requires
# a password counts as healthy.
port=${1:-${SRS_HTTP_API_LISTEN:-1985}}
port=${port##*[: ]}

{ exec 3<> "/dev/tcp/127.0.0.1/$port"; } 2> /dev/null || {
    echo "port $port does not accept connections"
    exit 1
}
printf 'GET /api/v1/versions HTTP/1.0\r\nHost: 127.0.0.1\r\n\r\n' >&3
read -r -t 4 _ status _ <&3
echo "status of the API: ${status:-no response}"
[ "$status" = 200 ] || [ "$status" = 401 ]
