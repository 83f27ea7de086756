// SPDX-License-Identifier: MIT
// player.js - one stream in the page: HTTP-FLV by mpegts.js, HLS by hls.js or the browser itself.
//
// Both libraries are fetched when they are first needed; a server without them still lists.

import { $, text } from "./dom.js";

const LIBRARIES = { flv: ["player/mpegts.js", "mpegts"], hls: ["player/hls.js", "Hls"] };

function load([src, name]) {
    if (window[name])
        return Promise.resolve(window[name]);
    return new Promise((done, failed) => {
        const script = document.createElement("script");
        script.src = src;
        script.onload = () => window[name] ? done(window[name]) : failed(new Error(src));
        script.onerror = () => failed(new Error("this server was installed without its players " +
            "(3rdparty/install-player.sh); any FLV or HLS player plays the address"));
        document.head.append(script);
    });
}

export class Player {
    constructor() {
        this.video = $("video");
        this.stop = null;
        $("close").addEventListener("click", () => this.close());
        for (const event of ["playing", "resize", "timeupdate"])
            this.video.addEventListener(event, () => this.tell());
    }

    static plays(kind) {
        return kind in LIBRARIES;
    }

    close() {
        this.stop?.();
        this.stop = null;
        this.video.removeAttribute("src");
        this.video.load();
        $("screen").hidden = true;
    }

    fail(why) {
        text($("trouble"), why);
        $("trouble").hidden = false;
    }

    tell() {
        const v = this.video;
        const ahead = v.buffered.length ? v.buffered.end(v.buffered.length - 1) - v.currentTime : 0;
        const lost = v.getVideoPlaybackQuality?.().droppedVideoFrames ?? 0;
        text($("facts"), v.videoWidth ?
            `${v.videoWidth}×${v.videoHeight}, ${ahead.toFixed(1)} s ahead${lost ? `, ${lost} frames lost` : ""}` : "");
    }

    async play(kind, url, name) {
        this.close();
        text($("playing"), `${name} (${kind === "flv" ? "HTTP-FLV" : "HLS"})`);
        text($("facts"), "");
        $("trouble").hidden = true;
        $("screen").hidden = false;
        $("screen").scrollIntoView({ block: "nearest" });
        try {
            if (kind === "hls" && !window.MediaSource && this.video.canPlayType("application/vnd.apple.mpegurl"))
                this.video.src = url;
            else
                this.stop = await this[kind](await load(LIBRARIES[kind]), url);
            await this.video.play();
        } catch (e) {
            if (e.name !== "AbortError")
                this.fail(e.message);
        }
    }

    flv(mpegts, url) {
        if (!mpegts.isSupported())
            throw new Error("this browser cannot play FLV (it has no media source extensions): try HLS");
        const p = mpegts.createPlayer({ type: "flv", isLive: true, url },
            { enableStashBuffer: false, liveBufferLatencyChasing: true, autoCleanupSourceBuffer: true });
        p.on(mpegts.Events.ERROR, (type, detail, info) => this.fail(`${detail}: ${info?.msg ?? ""}`));
        p.on(mpegts.Events.LOADING_COMPLETE, () => this.fail("the stream has ended"));
        p.attachMediaElement(this.video);
        p.load();
        return () => p.destroy();
    }

    hls(Hls, url) {
        if (!Hls.isSupported())
            throw new Error("this browser cannot play HLS");
        const p = new Hls({ enableWorker: false, liveSyncDurationCount: 2 });
        p.on(Hls.Events.ERROR, (_, e) => e.fatal && this.fail(`${e.details}: ${e.reason ?? e.response?.code ?? ""}`));
        p.loadSource(url);
        p.attachMedia(this.video);
        return () => p.destroy();
    }
}
