// SPDX-License-Identifier: MIT
// media.js - a stream in a <video>: fragmented MP4 by our own player, WebRTC by the browser itself, FLV and MPEG-TS over HTTP by mpegts.js, HLS by hls.js or
// the browser, DASH by dash.js, files by the browser; and files that the server plays, which can be asked for from any place.
//
// The libraries are fetched when they are first needed; a server may be without them.

import "./live_player.js";
import { Rtc, receive } from "./rtc.js";
import { watch } from "./rtc_stats.js";
import { plainly } from "./words.js";

const LIBRARIES = { mpegts: "mpegts.js", Hls: "hls.js", dashjs: "dash.js" };
const HLS = "application/vnd.apple.mpegurl";
const FAILS = new Set(["error", "blocked", "missing"]); // states of our own player, the others pass by themselves
const SAYS = { connecting: "connecting …", playing: "" };
const AGAIN = 2000, PAUSE = 10000, LATE = 3000; // milliseconds

export class NoLibrary extends Error {}

function load(name) {
    if (window[name])
        return Promise.resolve(window[name]);
    const none = () => new NoLibrary(`this needs ${LIBRARIES[name]}, which is optional and not installed on the server ` +
        "(there, with npm: make player); MP4 and WebRTC play without it, ffplay and VLC play the address");
    return new Promise((done, failed) => {
        const script = document.createElement("script");
        script.src = new URL(`player/${LIBRARIES[name]}`, import.meta.url);
        script.onload = () => window[name] ? done(window[name]) : failed(none());
        script.onerror = () => failed(none());
        document.head.append(script);
    });
}

export class Media {
    // fail(why, waits): it does not play; `waits`: it will by itself, as soon as it is published.
    // explain(kind, url): why not, as { why, waits }, or null; it is asked before a library's words are shown.
    constructor(video, fail, explain = async () => null) {
        Object.assign(this, { video, fail, explain, end: null, turn: 0, at: 0, duration: 0, pausedAt: 0, told: null, box: null });
        video.addEventListener("pause", () => { this.pausedAt = performance.now(); });
        video.addEventListener("ended", () => { this.over = true; });
        video.addEventListener("play", () => this.goOn());
    }

    // What can be played so, and how people call it.
    static get kinds() {
        return { fmp4: "fragmented MP4", mp4: "MP4", rtc: "WebRTC", flv: "HTTP-FLV", ts: "HTTP-TS", hls: "HLS", dash: "MPEG-DASH", file: "a file", vod: "a file by HTTP-FLV" };
    }

    missing(kind) {
        if (kind === "vod")
            return "the server has no such file, or does not play files: see vod in the configuration";
        return `the server does not have it by ${Media.kinds[kind]}: it has no publisher, or that is off in the configuration`;
    }

    async reason() {
        const { turn } = this;
        const found = await this.explain(...this.asked).catch(() => null);
        return turn === this.turn ? found : undefined; // undefined: something else is played by now
    }

    // Libraries complain more than once: while the reason is looked up the first words count.
    async failed(said) {
        if (this.failing === this.turn)
            return;
        this.failing = this.turn;
        const found = await this.reason();
        if (found === undefined)
            return;
        this.failing = null;
        if (found?.waits && !/mp4$/.test(this.asked[0])) // our own player connects again by itself
            this.timer = setTimeout(() => void this.play(...this.asked).catch(() => { }), AGAIN);
        this.fail(found?.why ?? plainly(said), Boolean(found?.waits));
    }

    get hasPicture() {
        return this.video.readyState >= 2 && (this.asked[0] !== "rtc" || this.video.videoWidth > 0);
    }

    // Servers let players of a name that has no publisher wait, without a word.
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
        this.turn++; // a library that still loads comes too late
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

    // Throws NoLibrary; anything else that goes wrong is told to `fail`.
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
            if (kind !== "fmp4") // it does so itself when it has something
                await this.video.play();
        } catch (e) {
            if (turn !== this.turn || e.name === "AbortError" || this.video.error) // the player tells of that itself
                return;
            if (e instanceof NoLibrary)
                throw e;
            if (e.name === "NotAllowedError")
                this.fail("press play: the browser blocks autoplay");
            else
                void this.failed(e.message);
        }
    }

    // What it carries is told each second to `told`, and shown in `box`.
    rtc(url) {
        return () => {
            const rtc = new Rtc(url, why => {
                this.stop();
                void this.failed(why);
            });
            receive(rtc, this.video);
            rtc.open().catch(e => { // a player that has gone on hears nothing of it
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

    // By our own player: no library. It connects again by itself; what it tells is shown until the picture moves.
    fmp4(url) {
        return () => {
            const player = new window.LivePlayer(this.video, url, {
                onstate: (state, words) => this.changed(state, words),
            });
            return () => player.stop();
        };
    }

    // It connects again by itself, unless it failed.
    changed(state, words) {
        if (state === "blocked")
            this.fail(words);
        else if (FAILS.has(state))
            void this.failed(words);
        else
            this.say?.(words || SAYS[state]);
    }

    // A file has a length, a live stream has none, and one that is not there may be published later.
    async mp4(url) {
        const head = await fetch(url.replace(/^ws/, "http"), { method: "HEAD" }).catch(() => null);
        return head?.ok && head.headers.has("Content-Length") ? this.file(url) : this.fmp4(url);
    }

    // By the browser itself. A list that is too young for it is asked for again, so many times.
    file(url, again = 0) {
        return () => {
            let timer = null;
            const failed = () => {
                if (again-- > 0)
                    timer = setTimeout(start, AGAIN);
                else
                    void this.failed(`the browser does not play ${url}: ${this.video.error?.message || "not there, or a format it does not know"}`);
            };
            const start = () => {
                this.video.src = url;
                this.video.play().catch(() => { }); // failed() hears of it
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

    // A file, from the key frame before `start`, which is 0 to the element.
    vod(url) {
        this.url = url;
        this.at = Number(new URL(url, location.href).searchParams.get("start")) || 0;
        return this.flv(url, "vod");
    }

    // Seconds of the file.
    get position() {
        return this.at + this.video.currentTime;
    }

    async seek(seconds) {
        const url = new URL(this.url, location.href), { duration } = this;
        url.searchParams.set("start", Math.max(0, Math.min(seconds, duration - 0.5)).toFixed(1));
        const playing = this.play("vod", url.href);
        this.duration = duration; // until it is told again
        await playing.catch(e => void this.failed(e.message));
    }

    // What came while it stood still is thrown away rather than kept; behind the end comes the begin.
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
