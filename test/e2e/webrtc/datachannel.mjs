// SPDX-License-Identifier: MIT
// libdatachannel, the library of OBS, by its package for node: datachannel.mjs publish URL FILE.h264 SECONDS TOKEN,
// datachannel.mjs play URL SECONDS TOKEN DUMP. Beside JSON of what was sent or got, DUMP has the packets of RTP.
import { createRequire } from 'module';
import fs from 'fs';

const ndc = createRequire(process.env.NODE_MODULES_OF + '/')('node-datachannel');
const [what, url, ...rest] = process.argv.slice(2);
const token = what === 'publish' ? rest[2] : rest[1];
const pc = new ndc.PeerConnection('test', { iceServers: [], disableAutoNegotiation: true });
const until = (set, want) => new Promise(done => set(state => state === want && done()));
const sleep = ms => new Promise(done => setTimeout(done, ms));

async function exchange() {
    const gathered = until(f => pc.onGatheringStateChange(f), 'complete');
    const up = until(f => pc.onStateChange(f), 'connected');
    pc.setLocalDescription('offer');
    await gathered;
    const offer = pc.localDescription().sdp;
    const r = await fetch(url, { method: 'POST', body: offer,
                                 headers: { 'Content-Type': 'application/sdp', Authorization: 'Bearer ' + token } });
    const text = await r.text();
    if (r.status !== 201)
        throw new Error(r.status + ' ' + text);
    pc.setRemoteDescription(text, 'answer');
    const late = setTimeout(() => { console.error('not connected'); process.exit(1); }, 15000);
    await up;
    clearTimeout(late);
    return { offer, where: new URL(r.headers.get('Location'), url) };
}

async function leave(session, more) {
    const r = await fetch(session.where, { method: 'DELETE', headers: { Authorization: 'Bearer ' + token } });
    console.log(JSON.stringify({ deleted: r.status, offer: session.offer, ...more }));
    pc.close();
    process.exit(0);
}

// Each frame with its parameter sets, start codes of 4 bytes; a frame is one slice.
function accessUnits(bytes) {
    const at = [], out = [];
    for (let i = 0; i + 3 < bytes.length; i++)
        if (!bytes[i] && !bytes[i + 1] && bytes[i + 2] === 1)
            at.push(i + 3);
    let now = [];
    at.forEach((from, n) => {
        let to = n + 1 < at.length ? at[n + 1] - 3 : bytes.length;
        while (to > from && !bytes[to - 1])
            to--;
        now.push(Buffer.from([0, 0, 0, 1]), bytes.subarray(from, to));
        if ((bytes[from] & 31) === 1 || (bytes[from] & 31) === 5) {
            out.push(Buffer.concat(now));
            now = [];
        }
    });
    return out;
}

function silence(n) { // 20 ms of Opus, in a packet of our own
    const b = Buffer.alloc(15);
    b[0] = 0x80;
    b[1] = 111;
    b.writeUInt16BE(n & 65535, 2);
    b.writeUInt32BE(n * 960, 4);
    b.writeUInt32BE(43, 8);
    b.set([0xf8, 0xff, 0xfe], 12);
    return b;
}

async function publish(path, seconds) {
    const v = new ndc.Video('1', 'SendOnly'), a = new ndc.Audio('0', 'SendOnly');
    v.addH264Codec(96);
    v.addSSRC(42, 'test', 'test', 'v');
    a.addOpusCodec(111);
    a.addSSRC(43, 'test', 'test', 'a');
    const sound = pc.addTrack(a), video = pc.addTrack(v);
    const config = new ndc.RtpPacketizationConfig(42, 'test', 96, 90000);
    const packetizer = new ndc.H264RtpPacketizer('StartSequence', config, 1188);
    packetizer.addToChain(new ndc.RtcpSrReporter(config));
    packetizer.addToChain(new ndc.RtcpNackResponder());
    video.setMediaHandler(packetizer);
    const session = await exchange();
    const units = accessUnits(fs.readFileSync(path)), began = Date.now();
    let n = 0;
    for (let heard = 0; Date.now() - began < seconds * 1000; n++) {
        config.timestamp = (n * 3600 + 1000) >>> 0;
        video.sendMessageBinary(units[n % units.length]);
        for (; heard * 20 < n * 40; heard++)
            sound.sendMessageBinary(silence(heard));
        await sleep(Math.max(0, began + (n + 1) * 40 - Date.now()));
    }
    await leave(session, { sent: n });
}

async function play(seconds, dump) {
    const got = { lost: 0, packets: 0 }, out = fs.openSync(dump, 'w');
    const take = track => {
        let last = -1;
        track.setMediaHandler(new ndc.RtcpReceivingSession());
        track.onMessage(b => {
            if (b[1] >= 192 && b[1] < 224)
                return;
            const sequence = b.readUInt16BE(2);
            if (last >= 0)
                got.lost += ((sequence - last - 1) << 16) >> 16;
            last = sequence;
            got.packets++;
            fs.writeSync(out, Buffer.concat([Buffer.from([b.length >> 8, b.length & 255]), b]));
        });
        return track;
    };
    const v = new ndc.Video('1', 'RecvOnly'), a = new ndc.Audio('0', 'RecvOnly');
    v.addH264Codec(96);
    a.addOpusCodec(111);
    const keep = [take(pc.addTrack(a)), take(pc.addTrack(v))];
    const session = await exchange();
    await sleep(seconds * 1000);
    await leave(session, { ...got, tracks: keep.length });
}

if (what === 'publish')
    await publish(rest[0], rest[1]);
else
    await play(rest[0], rest[2]);
