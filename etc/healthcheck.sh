#!/bin/bash
# SPDX-License-Identifier: MIT
# healthcheck.sh [PORT] - exit status 0 if the server on this machine answers on the port of its HTTP API.
#
# For containers (HEALTHCHECK of the Dockerfile) and monitors; it needs bash and nothing else. An API
# that asks for a password answers too.
port=${1:-${SRS_HTTP_API_LISTEN:-1985}}
port=${port##*[: ]}

{ exec 3<> "/dev/tcp/127.0.0.1/$port"; } 2> /dev/null || {
    echo "nobody listens on port $port"
    exit 1
}
printf 'GET /api/v1/versions HTTP/1.0\r\nHost: 127.0.0.1\r\n\r\n' >&3
read -r -t 4 _ status _ <&3
echo "the API says ${status:-nothing}"
[ "$status" = 200 ] || [ "$status" = 401 ]
