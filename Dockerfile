# SPDX-License-Identifier: MIT
# Image of the server, with the same paths as images of SRS.
#
#   docker build -t srs .
#   docker run --rm -it -p 1935:1935 -p 1935:1935/udp -p 1985:1985 -p 8080:8080 -p 8554:8554 \
#       -p 10080:10080/udp -p 8000:8000 -p 8000:8000/udp --env CANDIDATE=ADDRESS-OF-THIS-HOST srs
#
# Or: CANDIDATE=ADDRESS-OF-THIS-HOST docker compose up
#
# Other configuration:  ... srs ./objs/srs -c conf/realtime.conf; or -v $PWD/my.conf:/usr/local/srs/conf/docker.conf
# One directive:         docker run --env SRS_MAX_CONNECTIONS=5000 ...
# All cores:             docker run --env SRS_WORKERS=auto ... (no more than --cpus allows)
# Console:               http://localhost:1985/console/
# For ingest, transcode: docker build --build-arg EXTRA=ffmpeg -t srs .

FROM node:20-bookworm-slim AS player
WORKDIR /src
COPY 3rdparty/install-player.sh 3rdparty/
COPY 3rdparty/player 3rdparty/player
RUN 3rdparty/install-player.sh /player

FROM debian:bookworm-slim AS build
WORKDIR /src
COPY 3rdparty 3rdparty
RUN apt-get update && 3rdparty/install.sh build
COPY . .
COPY --from=player /player objs/player
RUN ./configure && make && make install

FROM debian:bookworm-slim
ARG EXTRA
# hadolint ignore=DL3008
RUN apt-get update \
    && apt-get install -y --no-install-recommends ca-certificates libhttp-parser2.9 libjansson4 libssl3 zlib1g \
       libavcodec59 libswresample4 libopus0 $EXTRA \
    && rm -rf /var/lib/apt/lists/* \
    && useradd --system --uid 990 --home-dir /usr/local/srs --shell /usr/sbin/nologin srs
COPY --from=build /usr/local/srs /usr/local/srs
WORKDIR /usr/local/srs
# HLS and recordings are in objs/nginx. Mount a volume there to keep them, not on objs, which has the program.
RUN mkdir -p objs/nginx/html && chown -R srs: objs
# A number, so that Kubernetes can verify that it is not root.
USER 990
# RTMP, RTMFP; API, console, WHIP, WHEP; HTTP-FLV, MP4, HLS, DASH; RTSP; SRT; WebRTC
EXPOSE 1935 1935/udp 1985 8080 8554 10080/udp 8000 8000/udp
HEALTHCHECK --interval=10s --timeout=5s --start-period=5s CMD ["bash", "etc/healthcheck.sh"]
CMD ["./objs/srs", "-c", "conf/docker.conf"]
