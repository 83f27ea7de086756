// SPDX-License-Identifier: MIT
// media.js - plays a stream in a <video>. Fragmented MP4 uses our own player, WebRTC and files the browser, FLV and MPEG-TS over HTTP mpegts.js,
// HLS hls.js or the browser, DASH dash.js. Files that the server plays (VOD) can start at any position.
//
// The libraries are loaded on first use; a server may not have them.

import "./live_player.js";
import { Rtc, receive } from "./rtc.js";
import { watch } from "./rtc_stats.js";
import { plainly } from "./words.js";

const LIBRARIES = { mpegts: "mpegts.js", Hls: "hls.js", dashjs: "dash.js" };
const HLS = "application/vnd.apple.mpegurl";
const FAILS = new Set(["error", "blocked", "missing"]); // final states of our own player; all others are temporary
const SAYS = { connecting: "connecting …", playing: "" };
const AGAIN = 2000, PAUSE = 10000, LATE = 3000; // milliseconds

export class NoLibrary extends Error {}

function load(name) {
    if (window[name])
        return Promise.resolve(window[name]);
    const none = () => new NoLibrary(`this requires ${LIBRARIES[name]}, which is optional and not installed on the server ` +
        "(to install it: make player, which needs npm); MP4 and WebRTC play without it, ffplay and VLC play the address");
    return new Promise((done, failed) => {
        const script = document.createElement("script");
        script.src = new URL(`player/${LIBRARIES[name]}`, import.meta.url);
        script.onload = () => window[name] ? done(window[name]) : failed(none());
        script.onerror = () => failed(none());
        document.head.append(script);
    });
}

export class Media {
    // fail(why, waits): called if playback fails. `waits`: it starts automatically once the stream is published.
    // explain(kind, url): returns the reason as { why, waits }, or null. It takes precedence over a library's message.
    constructor(video, fail, explain = async () => null) {
        Object.assign(this, { video, fail, explain, end: null, turn: 0, at: 0, duration: 0, pausedAt: 0, told: null, box: null });
        video.addEventListener("pause", () => { this.pausedAt = performance.now(); });
        video.addEventListener("ended", () => { this.over = true; });
        video.addEventListener("play", () => this.goOn());
    }

    // Kinds of playback and their names.
    static get kinds() {
        return { fmp4: "fragmented MP4", mp4: "MP4", rtc: "WebRTC", flv: "HTTP-FLV", ts: "HTTP-TS", hls: "HLS", dash: "MPEG-DASH", file: "a file", vod: "a file over HTTP-FLV" };
    }

    missing(kind) {
        if (kind === "vod")
            return "the server has no such file, or does not play files: see vod in the configuration";
        return `the server does not offer it over ${Media.kinds[kind]}: it has no publisher, or the protocol is off in the configuration`;
    }

    async reason() {
        const { turn } = this;
        const found = await this.explain(...this.asked).catch(() => null);
        return turn === this.turn ? found : undefined; // undefined: another stream is playing by now
    }

    // Libraries report several errors: the first one counts while the reason is looked up.
    async failed(said) {
        if (this.failing === this.turn)
            return;
        this.failing = this.turn;
        const found = await this.reason();
        if (found === undefined)
            return;
        this.failing = null;
        if (found?.waits && !/mp4$/.test(this.asked[0])) // our own player reconnects automatically
            this.timer = setTimeout(() => void this.play(...this.asked).catch(() => { }), AGAIN);
        this.fail(found?.why ?? plainly(said), Boolean(found?.waits));
    }

    get hasPicture() {
        return this.video.readyState >= 2 && (this.asked[0] !== "rtc" || this.video.videoWidth > 0);
    }

    // Servers keep players of an unpublished stream waiting without a response.
    expect() {
        clearTimeout(this.patience);
        this.patience = setTimeout(async () => {
            const found = this.hasPicture ? undefined : await this.reason();
            if (found === undefined)
                return;
            if (found && !this.hasPicture)
                this.fail(found.why, found.waits);
            this.expect();
        }, LATE);
    }

    stop() {
        this.turn++; // invalidates a library that is still loading
        clearTimeout(this.timer);
        clearTimeout(this.patience);
        this.duration = 0;
        this.over = false;
        this.url = null;
        this.end?.();
        this.end = null;
        this.video.removeAttribute("src");
        this.video.load();
    }

    // Throws NoLibrary; reports every other failure to `fail`.
    async play(kind, url) {
        this.stop();
        this.asked = [kind, url];
        this.expect();
        const turn = this.turn;
        try {
            const start = await this[kind](url);
            if (turn !== this.turn)
                return;
            this.end = start();
            if (kind !== "fmp4") // our own player does this when it has data
                await this.video.play();
        } catch (e) {
            if (turn !== this.turn || e.name === "AbortError" || this.video.error) // the player reports this itself
                return;
            if (e instanceof NoLibrary)
                throw e;
            if (e.name === "NotAllowedError")
                this.fail("press play: the browser blocks autoplay");
            else
                void this.failed(e.message);
        }
    }

    // Passes statistics to `told` each second and shows them in `box`.
    rtc(url) {
        return () => {
            const rtc = new Rtc(url, why => {
                this.stop();
                void this.failed(why);
            });
            receive(rtc, this.video);
            rtc.open().catch(e => { // ignored if another stream is playing by now
                if (!rtc.over)
                    rtc.end(e.message);
            });
            const stop = watch(rtc, found => this.told?.(found), this.box);
            return () => {
                stop();
                rtc.close();
                this.video.srcObject = null;
                this.told?.(null);
            };
        };
    }

    // Uses our own player, which needs no library and reconnects automatically. Shows its messages until video plays.
    fmp4(url) {
        return () => {
            const player = new window.LivePlayer(this.video, url, {
                onstate: (state, words) => this.changed(state, words),
            });
            return () => player.stop();
        };
    }

    // Reconnects automatically, unless it failed.
    changed(state, words) {
        if (state === "blocked")
            this.fail(words);
        else if (FAILS.has(state))
            void this.failed(words);
        else
            this.say?.(words || SAYS[state]);
    }

    // A file has a length, a live stream does not. A missing stream may be published later.
    async mp4(url) {
        const head = await fetch(url.replace(/^ws/, "http"), { method: "HEAD" }).catch(() => null);
        return head?.ok && head.headers.has("Content-Length") ? this.file(url) : this.fmp4(url);
    }

    // Uses the browser itself. Retries a playlist that is too short yet, a limited number of times.
    file(url, again = 0) {
        return () => {
            let timer = null;
            const failed = () => {
                if (again-- > 0)
                    timer = setTimeout(start, AGAIN);
                else
                    void this.failed(`the browser does not play ${url}: ${this.video.error?.message || "missing, or an unknown format"}`);
            };
            const start = () => {
                this.video.src = url;
                this.video.play().catch(() => { }); // failed() is called
            };
            this.video.addEventListener("error", failed);
            this.video.src = url;
            return () => {
                clearTimeout(timer);
                this.video.removeEventListener("error", failed);
            };
        };
    }

    async flv(url, kind = "flv") {
        const mpegts = await load("mpegts"), file = kind === "vod";
        if (!mpegts.isSupported())
            throw new Error("this browser cannot play FLV (it has no media source extensions): try HLS");
        return () => {
            const p = mpegts.createPlayer({ type: kind === "ts" ? "mpegts" : "flv", isLive: true, url },
                { enableStashBuffer: false, liveBufferLatencyChasing: !file, autoCleanupSourceBuffer: true });
            p.on(mpegts.Events.ERROR, (_, detail, info) => void this.failed(info?.code === 404 ? this.missing(kind) : `${detail}: ${info?.msg ?? ""}`));
            p.on(mpegts.Events.LOADING_COMPLETE, () => file || void this.failed("the stream has ended"));
            p.on(mpegts.Events.METADATA_ARRIVED, about => { this.duration = file && about?.duration || 0; });
            p.attachMediaElement(this.video);
            p.load();
            return () => p.destroy();
        };
    }

    ts(url) {
        return this.flv(url, "ts");
    }

    // Plays a file from the key frame before `start`; the element's time starts at 0 there.
    vod(url) {
        this.url = url;
        this.at = Number(new URL(url, location.href).searchParams.get("start")) || 0;
        return this.flv(url, "vod");
    }

    // Position in the file in seconds.
    get position() {
        return this.at + this.video.currentTime;
    }

    async seek(seconds) {
        const url = new URL(this.url, location.href), { duration } = this;
        url.searchParams.set("start", Math.max(0, Math.min(seconds, duration - 0.5)).toFixed(1));
        const playing = this.play("vod", url.href);
        this.duration = duration; // until the next report
        await playing.catch(e => void this.failed(e.message));
    }

    // Discards data that arrived during a pause. Restarts at the beginning after the end.
    goOn() {
        if (this.url && this.over)
            void this.seek(0);
        else if (this.url && this.pausedAt && this.video.currentTime > 0 && performance.now() - this.pausedAt > PAUSE)
            void this.seek(this.position);
        this.pausedAt = 0;
    }

    async hls(url) {
        const itself = this.video.canPlayType(HLS) !== "";
        if (itself && !window.MediaSource)
            return this.file(url, 5);
        const Hls = await load("Hls").catch(e => {
            if (!itself)
                throw e;
        });
        if (!Hls)
            return this.file(url, 5);
        if (!Hls.isSupported())
            throw new Error("this browser cannot play HLS");
        return () => {
            const p = new Hls({ enableWorker: false, liveSyncDurationCount: 2 });
            p.on(Hls.Events.ERROR, (_, e) => e.fatal && void this.failed(e.response?.code === 404 ? this.missing("hls") :
                `${e.details}: ${e.reason ?? e.response?.code ?? ""}`));
            p.loadSource(url);
            p.attachMedia(this.video);
            return () => p.destroy();
        };
    }

    async dash(url) {
        const dashjs = await load("dashjs");
        return () => {
            const p = dashjs.MediaPlayer().create();
            p.updateSettings({ debug: { logLevel: dashjs.Debug.LOG_LEVEL_NONE } });
            p.on(dashjs.MediaPlayer.events.ERROR, ({ error }) => void this.failed(error.data?.response?.status === 404 ?
                this.missing("dash") : error.message ?? String(error)));
            p.initialize(this.video, url, true);
            return () => p.destroy();
        };
    }
}
