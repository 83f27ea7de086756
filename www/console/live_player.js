// SPDX-License-Identifier: MIT
// live_player.js - plays a live stream of this server in a <video>: fragmented MP4 by Media Source Extensions.
//
//     <video id="v" controls muted playsinline></video>
//     <script src="http://server:8080/console/live_player.js"></script>
//     <script>
//         const player = new LivePlayer(document.getElementById("v"), "http://server:8080/live/livestream.mp4",
//             { onstate: (state, words) => console.log(state, words) });
//         player.stop();                            // closes the connection and empties the <video>
//     </script>
//
// One plain script without dependencies; a module imports it for its effect, which is window.LivePlayer.
//
// url       http(s): or ws(s): of the stream, with its parameters (token=...). Both transports are tried, WebSocket first:
//           browsers allow six HTTP connections to a server, and a page with six players would have none left.
// options   onstate(state, words): called when one of the two changes. `words` is a sentence for people.
//               "connecting"  no connection yet, or reconnecting
//               "waiting"     connected; no publisher, or no key frame yet
//               "missing"     HTTP 404: no publisher, or MP4 is off in the server; it retries
//               "playing"     words name a track that is left out, such as audio that the browser cannot decode
//               "stalled"     the network or the publisher is too slow
//               "blocked"     the browser blocks autoplay: call player.play() from a click
//               "error"       stopped for good
//           transport: "auto" (default), "ws" or "http"
//           delay: seconds kept between the displayed frame and the newest one, 0.3. It grows when the network needs it.
// fields    player.state, player.stats: { transport, codecs, width, height, behind, delay, received, stalls, connections },
//           behind: seconds from the displayed frame to the newest one received.
//
// It waits for a publisher, connects again after an error, follows codec changes, and goes on at the newest frames when it
// fell behind. While the page has it paused for more than 5 s there is no connection. Playing begins muted if video.muted.
"use strict";
(() => {

const RETRY = [500, 1000, 2000, 4000]; // milliseconds before it connects again
const OPEN_TIME = 4000, SILENCE = 30000, PAUSE = 5000;
const TICK = 200;
const KEEP = 10, MOST = 20;            // seconds of the past that are kept, and when the rest is removed
const FAR = 1.2, FAR_BEGIN = 0.35;     // seconds too late: seek, sooner in the first seconds; less is caught up by playing faster
const BEGIN = 3000;                    // milliseconds, in which what the server kept for us arrives
const FAR_FAST = 8, CATCH_UP = 30000;  // without seeks: seconds too late to connect again, after so many milliseconds of playing faster
const DELAY_MAX = 2;
const MISSING = "no publisher for this stream, or the server does not serve it as MP4";
const MP3 = /^(mp4a\.(40\.34|6b|69)|mp3)$/i;
const NAMES = { avc: "H.264", hvc: "HEVC", hev: "HEVC", av0: "AV1", vp0: "VP9", opu: "Opus", fla: "FLAC", mp3: "MP3" };

const Source = window.MediaSource ?? window.ManagedMediaSource; // iOS has only the second one

// In WebKit on GStreamer (WebKitGTK, WPE) a seek in a live buffer can block the whole page forever.
const SEEKS = !(/^Apple/.test(navigator.vendor) && /Linux/.test(navigator.platform));

function nameOf(codec) {
    if (/^mp4a/i.test(codec))
        return MP3.test(codec) ? "MP3" : "AAC";
    return NAMES[codec.slice(0, 3).toLowerCase()] ?? codec;
}

// A codec string and its spellings in other browsers.
const aliases = codec => [codec, codec.toLowerCase(), ...MP3.test(codec) ? ["mp4a.6B", "mp4a.69", "mp3"] : []];

const isAudio = codec => /^(mp4a|opus|flac|mp3)/i.test(codec);

// ---- boxes

const u32 = (b, at) => (b[at] << 24 | b[at + 1] << 16 | b[at + 2] << 8 | b[at + 3]) >>> 0;
const u64 = (b, at) => u32(b, at) * 4294967296 + u32(b, at + 4);
const typeAt = (b, at) => String.fromCharCode(b[at + 4], b[at + 5], b[at + 6], b[at + 7]);

// The boxes from `at` to `end`: type, start and end.
function* boxes(b, at = 0, end = b.length) {
    while (at + 8 <= end) {
        const size = u32(b, at);
        if (size < 8 || at + size > end)
            return;
        yield { type: typeAt(b, at), at, end: at + size };
        at += size;
    }
}

// All boxes below a path of types, such as ["moov", "trak"].
function* find(b, [type, ...rest], at = 0, end = b.length) {
    for (const box of boxes(b, at, end)) {
        if (box.type !== type)
            continue;
        if (rest.length)
            yield* find(b, rest, box.at + 8, box.end);
        else
            yield box;
    }
}

const first = (b, path, box) => find(b, path, box.at + 8, box.end).next().value;

function join(parts) {
    if (parts.length === 1)
        return parts[0];
    const all = new Uint8Array(parts.reduce((n, p) => n + p.length, 0));
    let at = 0;
    for (const p of parts) {
        all.set(p, at);
        at += p.length;
    }
    return all;
}

// Cuts a byte stream into whole boxes. A box over the limit is not from this server.
class Boxes {
    constructor() {
        this.rest = new Uint8Array(0);
    }

    feed(bytes) {
        const b = this.rest.length ? join([this.rest, bytes]) : bytes, found = [];
        let at = 0;
        while (b.length - at >= 8) {
            const size = u32(b, at);
            if (size < 8 || size > 64 << 20)
                throw new Error("the server sent data that is not MP4");
            if (b.length - at < size)
                break;
            found.push({ type: typeAt(b, at), bytes: b.subarray(at, at + size) });
            at += size;
        }
        this.rest = b.slice(at);
        return found;
    }
}

// The tracks of an initialization segment: id, kind, time scale and codec.
function describe(init, text) {
    const codecs = (/codecs=(.*)/.exec(text)?.[1] ?? "").split(",").filter(Boolean), tracks = [];
    for (const trak of find(init, ["moov", "trak"])) {
        const tkhd = first(init, ["tkhd"], trak), mdhd = first(init, ["mdia", "mdhd"], trak);
        const hdlr = first(init, ["mdia", "hdlr"], trak);
        tracks.push({ id: u32(init, tkhd.at + (init[tkhd.at + 8] ? 28 : 20)), scale: u32(init, mdhd.at + (init[mdhd.at + 8] ? 28 : 20)),
            audio: typeAt(init, hdlr.at + 12) === "soun" });
    }
    for (const t of tracks)
        t.codec = codecs.find(c => isAudio(c) === t.audio) ?? "";
    return tracks;
}

// Hides a track: readers skip boxes of type "free".
function hide(b, at) {
    b.set([0x66, 0x72, 0x65, 0x65], at + 4); // "free"
}

function hideInInit(init, ids) {
    for (const trak of find(init, ["moov", "trak"])) {
        const tkhd = first(init, ["tkhd"], trak);
        if (ids.has(u32(init, tkhd.at + (init[tkhd.at + 8] ? 28 : 20))))
            hide(init, trak.at);
    }
    for (const trex of find(init, ["moov", "mvex", "trex"]))
        if (ids.has(u32(init, trex.at + 12)))
            hide(init, trex.at);
}

function hideInFragment(moof, ids) {
    for (const traf of find(moof, ["moof", "traf"])) {
        const tfhd = first(moof, ["tfhd"], traf);
        if (ids.has(u32(moof, tfhd.at + 12)))
            hide(moof, traf.at);
    }
}

// The start of a fragment in seconds; undefined if it has none of these tracks.
function timeOf(moof, tracks) {
    let least;
    for (const traf of find(moof, ["moof", "traf"])) {
        const tfhd = first(moof, ["tfhd"], traf), tfdt = first(moof, ["tfdt"], traf);
        const track = tfhd && tracks.find(t => t.id === u32(moof, tfhd.at + 12));
        if (!track || !tfdt)
            continue;
        const time = (moof[tfdt.at + 8] ? u64(moof, tfdt.at + 12) : u32(moof, tfdt.at + 12)) / track.scale;
        if (least === undefined || time < least)
            least = time;
    }
    return least;
}

const same = (a, b) => a && b && a.length === b.length && a.every((x, i) => x === b[i]);

// ---- the connection: calls take(bytes) for data and over(words, fatal) at its end

function asHttp(url) {
    return url.replace(/^ws/, "http");
}

class Socket {
    static name = "ws";

    constructor(url, opened, take, over) {
        const end = (...why) => {
            clearTimeout(timer);
            this.close();
            over(...why);
        };
        const timer = setTimeout(() => end("no WebSocket"), OPEN_TIME);
        this.ws = new WebSocket(asHttp(url).replace(/^http/, "ws"));
        this.ws.binaryType = "arraybuffer";
        this.ws.onopen = () => {
            clearTimeout(timer);
            opened();
        };
        this.ws.onmessage = e => typeof e.data !== "string" && take(new Uint8Array(e.data));
        this.ws.onclose = () => end("the server closed the connection");
        this.stop = () => clearTimeout(timer);
    }

    close() {
        this.stop?.();
        this.ws.onopen = this.ws.onmessage = this.ws.onclose = null;
        this.ws.close();
    }
}

class Fetched {
    static name = "http";

    constructor(url, opened, take, over) {
        this.abort = new AbortController();
        this.read(asHttp(url), opened, take).then(() => over("the server closed the connection"), e => {
            if (e.name !== "AbortError")
                over(e.message, e.fatal);
        });
    }

    async read(url, opened, take) {
        const answer = await fetch(url, { signal: this.abort.signal, cache: "no-store", referrerPolicy: "no-referrer-when-downgrade" });
        if (!answer.ok)
            throw Object.assign(new Error(answer.status === 404 ? MISSING :
                answer.status === 401 || answer.status === 403 ? `the server refuses this player (HTTP ${answer.status})` :
                    `the server answered with HTTP ${answer.status}`), { fatal: answer.status === 401 || answer.status === 403 });
        opened();
        for (const reader = answer.body.getReader(); ;) {
            const { done, value } = await reader.read();
            if (done)
                return;
            take(value);
        }
    }

    close() {
        this.abort.abort();
    }
}

// ---- the player

class LivePlayer {
    constructor(video, url, options = {}) {
        Object.assign(this, { video, url: new URL(url, location.href).href, options, state: "", words: "", received: 0, stalls: 0, connections: 0 });
        this.delay = this.least = options.delay ?? 0.3;
        this.ways = { ws: [Socket], http: [Fetched] }[options.transport] ?? [Socket, Fetched];
        this.way = 0;
        this.tries = 0;
        this.heard = { pause: () => this.paused(), play: () => this.resumed(), error: () => this.broken() };
        if (!Source)
            return void this.end("this browser has no Media Source Extensions");
        for (const [event, heard] of Object.entries(this.heard))
            video.addEventListener(event, heard);
        this.timer = setInterval(() => this.tick(), TICK);
        this.connect();
    }

    stop() {
        if (this.over)
            return;
        this.quit();
        this.video.removeAttribute("src");
        this.video.load();
    }

    quit() {
        this.over = true;
        clearInterval(this.timer);
        clearTimeout(this.again);
        clearTimeout(this.pauses);
        for (const [event, heard] of Object.entries(this.heard))
            this.video.removeEventListener(event, heard);
        this.connection?.close();
        this.forget();
    }

    end(words) {
        if (this.over)
            return;
        this.tell("error", words);
        this.quit();
    }

    tell(state, words = "") {
        if (this.over || (state === this.state && words === this.words))
            return;
        Object.assign(this, { state, words });
        this.options.onstate?.(state, words);
    }

    get stats() {
        return { transport: this.ways[this.way].name, codecs: this.tracks?.map(t => t.codec).join(",") ?? "",
            width: this.video.videoWidth, height: this.video.videoHeight, behind: this.behind, delay: this.delay,
            received: this.received, stalls: this.stalls, connections: this.connections };
    }

    get behind() {
        const b = this.video.buffered;
        return b.length ? b.end(b.length - 1) - this.video.currentTime : 0;
    }

    play() {
        this.video.play().then(() => { this.blocked = false; }, e => {
            if (e.name !== "NotAllowedError" || this.over)
                return;
            this.blocked = true;
            this.tell("blocked", "press play: the browser blocks autoplay");
        });
    }

    // ---- connecting

    connect() {
        if (this.over)
            return;
        if (this.state !== "missing" || this.way > 0)
            this.tell("connecting", this.words);
        this.boxes = new Boxes();
        this.init = this.head = null;
        this.opened = false;
        this.last = performance.now();
        this.connections++;
        try {
            this.connection = new this.ways[this.way](this.url, () => {
                this.opened = true;
                this.last = performance.now();
                this.tell("waiting", "waiting for the stream");
            }, bytes => this.take(bytes), (words, fatal) => this.lost(words, fatal));
        } catch (e) { // an https: page may not connect to http:
            this.lost(e.message, this.way === this.ways.length - 1);
        }
    }

    lost(words, fatal) {
        if (this.over)
            return;
        this.connection = null;
        if (fatal)
            return this.end(words);
        if (!this.opened && this.way + 1 < this.ways.length) {
            this.way++;
            return this.connect();
        }
        if (!this.opened)
            this.way = 0;
        this.tell(words === MISSING ? "missing" : "connecting", words);
        this.again = setTimeout(() => this.connect(), RETRY[Math.min(this.tries++, RETRY.length - 1)]);
    }

    reconnect() {
        clearTimeout(this.again);
        this.connection?.close();
        this.connection = null;
        this.connect();
    }

    paused() {
        clearTimeout(this.pauses);
        this.pauses = setTimeout(() => {
            if (!this.video.paused || this.blocked || !this.video.currentTime)
                return;
            this.connection?.close();
            this.connection = null;
            clearTimeout(this.again);
            this.resting = true;
        }, PAUSE);
    }

    resumed() {
        clearTimeout(this.pauses);
        this.blocked = false;
        if (!this.resting)
            return;
        this.resting = false;
        this.connect();
    }

    // ---- bytes

    take(bytes) {
        this.received += bytes.length;
        this.last = performance.now();
        try {
            for (const box of this.boxes.feed(bytes))
                this.box(box);
        } catch (e) {
            return this.end(e.message);
        }
        this.pump();
    }

    box({ type, bytes }) {
        if (type === "ftyp")
            this.head = [bytes];
        else if (type === "moov")
            this.head?.push(bytes);
        else if (type === "free" && this.head?.length === 2)
            this.begin(join(this.head), new TextDecoder().decode(bytes.subarray(8)));
        else if (type === "moof")
            this.moof = bytes;
        else if (type === "mdat" && this.moof && this.tracks)
            this.fragment(this.moof, bytes);
    }

    // An initialization segment: the first one, or after a change of tracks.
    begin(init, text) {
        this.head = null;
        if (same(init, this.init))
            return;
        this.init = init.slice();
        const tracks = describe(init, text);
        const cannot = tracks.filter(t => {
            const name = aliases(t.codec).find(c => Source.isTypeSupported(`${t.audio ? "audio" : "video"}/mp4; codecs="${c}"`));
            t.codec = name ?? t.codec;
            return !name;
        });
        this.note = cannot.length ? `this browser cannot decode ${cannot.map(t => nameOf(t.codec)).join(" and ")}` : "";
        if (cannot.length === tracks.length || cannot.some(t => !t.audio))
            return this.end(this.note);
        this.hidden = new Set(cannot.map(t => t.id));
        if (cannot.length)
            hideInInit(init, this.hidden);
        const shown = tracks.filter(t => !this.hidden.has(t.id));
        const type = `${shown.every(t => t.audio) ? "audio" : "video"}/mp4; codecs="${shown.map(t => t.codec).join(",")}"`;
        const goesOn = this.buffer && this.media === this.connection && same(shown.map(t => t.id), this.tracks.map(t => t.id)) &&
            same(shown.map(t => t.scale), this.tracks.map(t => t.scale));
        this.tracks = shown;
        if (!goesOn || (type !== this.type && !this.buffer.changeType)) // WebKitGTK has no changeType()
            this.open(type);
        else if (type !== this.type)
            this.queue.push({ type });
        this.type = type;
        this.queue.push({ bytes: init });
    }

    fragment(moof, mdat) {
        if (this.hidden.size)
            hideInFragment(moof, this.hidden);
        if (this.base === undefined) {
            const time = timeOf(moof, this.tracks);
            if (time === undefined)
                return;
            this.base = time;
            this.queue.unshift({ offset: -time });
        }
        this.queue.push({ bytes: moof }, { bytes: mdat });
    }

    // ---- the browser's buffer

    forget() {
        if (this.place)
            URL.revokeObjectURL(this.place);
        this.place = this.source = this.buffer = null;
        this.queue = [];
        this.base = undefined;
    }

    open(type) {
        this.forget();
        const source = this.source = new Source();
        this.media = this.connection;
        this.shown = this.told = false;
        if (Source !== window.MediaSource)
            this.video.disableRemotePlayback = true; // or ManagedMediaSource does not open
        source.addEventListener("sourceopen", () => {
            if (source !== this.source || this.buffer)
                return;
            try {
                this.buffer = source.addSourceBuffer(type);
            } catch (e) {
                return void this.end(`this browser cannot play ${type}: ${e.message}`);
            }
            this.buffer.addEventListener("updateend", () => {
                this.pump();
                this.follow();
            });
            this.pump();
        });
        this.video.src = this.place = URL.createObjectURL(source);
        this.play();
    }

    pump() {
        const b = this.buffer, q = this.queue;
        if (!b || b.updating || !q?.length || this.source.readyState !== "open" || this.video.error)
            return;
        try {
            for (; q[0] && !q[0].bytes; q.shift()) {
                if (q[0].type)
                    b.changeType(q[0].type);
                else
                    b.timestampOffset = q[0].offset;
            }
            let n = 0;
            while (q[n]?.bytes)
                n++;
            if (n)
                b.appendBuffer(join(q.slice(0, n).map(x => x.bytes)));
            q.splice(0, n);
        } catch (e) {
            if (e.name === "QuotaExceededError" && !b.updating)
                this.trim(1);
            else
                this.restart(e.message);
        }
    }

    trim(keep) {
        const start = this.video.buffered.length ? this.video.buffered.start(0) : 0, to = this.video.currentTime - keep;
        if (to > start)
            this.buffer.remove(0, to);
        else
            this.restart("the browser's buffer is full");
    }

    // Starts over after an error of the browser.
    restart(words) {
        if (this.over || this.restarting)
            return;
        this.restarting = true;
        this.connection?.close();
        this.connection = null;
        this.forget();
        this.tell("connecting", words);
        this.again = setTimeout(() => {
            this.restarting = false;
            this.connect();
        }, RETRY[Math.min(this.tries++, RETRY.length - 1)]);
    }

    broken() {
        const { error } = this.video;
        if (!error || !this.source)
            return;
        if (this.tries > 5)
            return this.end(`the browser gave up: ${error.message || `error ${error.code}`}`);
        this.restart(error.message || "the browser could not decode the stream");
    }

    // ---- at the newest frames

    seek(to) {
        this.video.currentTime = to;
        this.moved = performance.now();
    }

    // The buffered range at the playback position, or the next one.
    range() {
        const b = this.video.buffered, at = this.video.currentTime;
        for (let i = 0; i < b.length; i++)
            if (b.end(i) > at + 0.05)
                return { start: b.start(i), end: b.end(i), last: i === b.length - 1 };
        return null;
    }

    follow() {
        const v = this.video, range = this.range();
        if (!range || v.seeking || !this.buffer)
            return;
        const b = v.buffered, end = b.end(b.length - 1), newest = Math.max(b.start(b.length - 1), end - this.delay);
        if (!this.shown && v.readyState < 2 && range.start <= v.currentTime)
            return; // WebKit fails when the first seek comes before the first frame
        if (!this.shown) {
            this.shown = performance.now();
            if (newest > v.currentTime && SEEKS)
                this.seek(newest);
            return;
        }
        if (v.paused)
            return;
        const late = end - v.currentTime - this.delay;
        const age = performance.now() - this.shown;
        const far = SEEKS ? age < BEGIN ? FAR_BEGIN : FAR : age < CATCH_UP ? Infinity : FAR_FAST;
        if (late > far && newest > v.currentTime)
            return this.skip(newest);
        const stands = SEEKS || performance.now() - this.moved > 1000; // WebKitGTK passes small gaps automatically
        if (range.start > v.currentTime + 0.02 && v.readyState < 3 && stands)
            return this.skip(range.start + 0.01);
        const fast = late > (v.playbackRate > 1 ? 0.05 : SEEKS ? 0.25 : 0.6); // without seeks, each change of speed costs a few frames
        const rate = !fast ? 1 : SEEKS ? 1.1 : 1.5;
        if (v.playbackRate !== rate)
            v.playbackRate = rate;
    }

    // Without seeks, a seek is worth the risk only if no frame was ever shown.
    skip(to) {
        if (SEEKS || !this.told)
            this.seek(to);
        else
            this.restart("playback fell behind");
    }

    tick() {
        const v = this.video, now = performance.now(), quiet = now - this.last;
        if (this.connection && quiet > SILENCE)
            return this.reconnect();
        if (this.buffer && !this.buffer.updating) {
            if (v.buffered.length && v.currentTime - v.buffered.start(0) > MOST)
                this.buffer.remove(0, v.currentTime - KEEP);
            this.pump();
        }
        this.follow();
        this.watch(now, quiet);
    }

    // Checks that playback moves, and reports the state.
    watch(now, quiet) {
        const v = this.video;
        if (!this.opened || this.resting || this.blocked || !this.connection)
            return;
        if (v.currentTime !== this.at) {
            this.at = v.currentTime;
            this.moved = now;
            if (this.shown && v.readyState >= 2 && !v.paused) {
                this.tries = 0;
                this.told = true;
                this.tell("playing", this.note);
            }
            return;
        }
        if (v.paused || now - this.moved < 1000)
            return;
        if (quiet > 2000)
            return this.tell("waiting", this.told ? "no publisher for this stream any more" : "no publisher for this stream yet");
        if (this.state === "playing") {
            this.stalls++;
            this.delay = Math.min(DELAY_MAX, this.delay * 1.5);
        }
        if (this.told)
            this.tell("stalled", "the stream arrives too slowly");
        if (now - this.moved > 8000 && (this.told || v.buffered.length)) {
            this.moved = now;
            this.restart("playback stopped moving");
        }
    }
}

window.LivePlayer = LivePlayer;
})();
