# SPDX-License-Identifier: MIT
"""OBS Studio, configured by files instead of its windows, and controlled over its WebSocket."""
import base64
import json
import os
import socket
import struct

from procs import Proc, free_port, patience, wait_for

GLOBAL = """[General]
FirstRun=true
EnableAutoUpdates=false
LastVersion=486539266
[Basic]
Profile=Test
ProfileDir=Test
SceneCollection=Test
SceneCollectionFile=Test
[OBSWebSocket]
FirstLoad=false
ServerEnabled=true
ServerPort={port}
AlertsEnabled=false
AuthRequired=false
"""
PROFILE = """[General]
Name=Test
[Output]
Mode=Simple
Reconnect=true
RetryDelay=2
MaxRetries=20
[SimpleOutput]
VBitrate=800
ABitrate=96
StreamEncoder=x264
StreamAudioEncoder={sound}
UseAdvanced=true
Preset=ultrafast
x264Settings=keyint=50
[Video]
BaseCX={width}
BaseCY={height}
OutputCX={width}
OutputCY={height}
FPSType=1
FPSInt={rate}
[Audio]
SampleRate=48000
"""


def scene(film):
    item = {"name": "film", "id": 1, "visible": True, "align": 5, "pos": {"x": 0.0, "y": 0.0}, "scale": {"x": 1.0, "y": 1.0}}
    return {"name": "Test", "current_scene": "Scene", "current_program_scene": "Scene", "scene_order": [{"name": "Scene"}], "sources": [
        {"id": "ffmpeg_source", "name": "film", "mixers": 255, "settings": {"local_file": str(film), "is_local_file": True, "looping": True}},
        {"id": "scene", "name": "Scene", "settings": {"id_counter": 1, "items": [item]}}]}


class Obs:
    """Obs(screen, film, server, key): the fields of Settings, Stream, Service Custom. With `whip` the key is the Bearer Token of
    Service WHIP. program: command that runs it."""

    def __init__(self, screen, film, server, key, width=640, height=360, rate=25, whip=False, program=("obs",)):
        env, self.port, self.sock, self.buf = screen.environment(), free_port(), None, b""
        home = os.path.join(env["HOME"], ".config", "obs-studio")
        service = {"type": "rtmp_custom", "settings": {"server": server, "key": key, "use_auth": False}} if not whip else \
            {"type": "whip_custom", "settings": {"server": server, "bearer_token": key}}
        sound = "opus" if whip else "aac"
        for path, text in (("global.ini", GLOBAL.format(port=self.port)),
                           ("basic/profiles/Test/basic.ini", PROFILE.format(width=width, height=height, rate=rate, sound=sound)),
                           ("basic/profiles/Test/service.json", json.dumps(service)),
                           ("basic/scenes/Test.json", json.dumps(scene(film)))):
            path = os.path.join(home, path)
            os.makedirs(os.path.dirname(path), exist_ok=True)
            with open(path, "w") as f:
                f.write(text)
        self.proc = Proc([*program, "--startstreaming", "--minimize-to-tray", "--multi"], os.path.join(screen.tmp, "obs.log"), env=env)

    def text(self):
        return self.proc.text()

    # -- obs-websocket, version 5

    def _take(self, n):
        while len(self.buf) < n:
            got = self.sock.recv(65536)
            assert got, "OBS is gone:\n" + self.text()[-2000:]
            self.buf += got
        got, self.buf = self.buf[:n], self.buf[n:]
        return got

    def _message(self):
        while True:
            first, size = self._take(2)
            if size >= 126:
                size = struct.unpack(">H" if size == 126 else ">Q", self._take(2 if size == 126 else 8))[0]
            data = self._take(size)
            if first & 15 == 1:
                return json.loads(data)

    def _say(self, op, data):
        text = json.dumps({"op": op, "d": data}).encode()
        head = struct.pack(">BB", 0x81, 0x80 | len(text)) if len(text) < 126 else struct.pack(">BBH", 0x81, 0xfe, len(text))
        self.sock.sendall(head + bytes(4) + text)

    def _connect(self):
        def there():
            try:
                self.sock = socket.create_connection(("127.0.0.1", self.port), patience(10))
            except OSError:
                return False
            return True
        assert wait_for(there, 20, 0.2), self.text()[-2000:]
        self.sock.sendall(f"GET / HTTP/1.1\r\nHost: 127.0.0.1:{self.port}\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
                          f"Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: {base64.b64encode(os.urandom(16)).decode()}\r\n\r\n".encode())
        head = b""
        while not head.endswith(b"\r\n\r\n"):
            head += self._take(1)

    def ask(self, what):
        """Returns the response to a request without fields."""
        if not self.sock:
            self._connect()
            self._message()
            self._say(1, {"rpcVersion": 1, "eventSubscriptions": 0})
            self._message()
        self._say(6, {"requestType": what, "requestId": what})
        got = self._message()["d"]
        assert got["requestStatus"]["result"], got
        return got.get("responseData", {})
