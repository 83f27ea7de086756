// SPDX-License-Identifier: MIT
package main

import (
	"encoding/json"
	"math/rand"
	"os"
	"time"

	"github.com/bluenviron/gortsplib/v4"
	"github.com/bluenviron/gortsplib/v4/pkg/description"
	"github.com/bluenviron/gortsplib/v4/pkg/format"
	"github.com/bluenviron/mediacommon/pkg/codecs/mpeg4audio"
	"github.com/pion/rtp"
)

// sample is an access unit; []byte is base64 in JSON.
type sample struct {
	Video bool     `json:"video"`
	At    int64    `json:"at"` // when it is sent, milliseconds
	PTS   int64    `json:"pts"`
	Units [][]byte `json:"units"`
}

type file struct {
	SPS     []byte   `json:"sps"`
	PPS     []byte   `json:"pps"`
	Config  []byte   `json:"config"` // AudioSpecificConfig
	Length  int64    `json:"length"` // milliseconds, to begin again
	Samples []sample `json:"samples"`
}

type output struct {
	media  *description.Media
	base   uint32
	clock  int64
	encode func([][]byte) ([]*rtp.Packet, error)
}

func publish(address, how, path string) {
	text, err := os.ReadFile(path)
	must(err)
	var f file
	must(json.Unmarshal(text, &f))
	outputs := f.outputs()
	c := &gortsplib.Client{Transport: transport(how), TLSConfig: anybody}
	must(c.StartRecording(address, &description.Session{
		Medias: []*description.Media{outputs[0].media, outputs[1].media}}))
	go func() { must(c.Wait()) }()
	began := time.Now()
	for turn := int64(0); ; turn++ {
		for _, s := range f.Samples {
			at := turn * f.Length
			time.Sleep(time.Until(began.Add(time.Duration(at+s.At) * time.Millisecond)))
			o := outputs[1]
			if s.Video {
				o = outputs[0]
			}
			must(o.send(c, at+s.PTS, s.Units))
		}
	}
}

func (f *file) outputs() [2]*output {
	video := &format.H264{PayloadTyp: 96, PacketizationMode: 1, SPS: f.SPS, PPS: f.PPS}
	var config mpeg4audio.Config
	must(config.Unmarshal(f.Config))
	audio := &format.MPEG4Audio{PayloadTyp: 97, Config: &config,
		SizeLength: 13, IndexLength: 3, IndexDeltaLength: 3}
	v, err := video.CreateEncoder()
	must(err)
	a, err := audio.CreateEncoder()
	must(err)
	return [2]*output{made(description.MediaTypeVideo, video, v.Encode),
		made(description.MediaTypeAudio, audio, a.Encode)}
}

func made(kind description.MediaType, f format.Format,
	encode func([][]byte) ([]*rtp.Packet, error)) *output {
	m := &description.Media{Type: kind, Formats: []format.Format{f}}
	return &output{m, rand.Uint32(), int64(f.ClockRate()), encode}
}

func (o *output) send(c *gortsplib.Client, ms int64, units [][]byte) error {
	packets, err := o.encode(units)
	for _, p := range packets {
		p.Timestamp += o.base + uint32(ms*o.clock/1000)
		if err == nil {
			err = c.WritePacketRTP(o.media, p)
		}
	}
	return err
}
