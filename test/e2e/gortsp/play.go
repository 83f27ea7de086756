// SPDX-License-Identifier: MIT
package main

import (
	"crypto/md5"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"strconv"
	"sync"
	"time"

	"github.com/bluenviron/gortsplib/v4"
	"github.com/bluenviron/gortsplib/v4/pkg/base"
	"github.com/bluenviron/gortsplib/v4/pkg/description"
	"github.com/bluenviron/gortsplib/v4/pkg/format"
	"github.com/bluenviron/gortsplib/v4/pkg/format/rtpav1"
	"github.com/bluenviron/gortsplib/v4/pkg/format/rtph264"
	"github.com/bluenviron/gortsplib/v4/pkg/format/rtph265"
	"github.com/bluenviron/gortsplib/v4/pkg/format/rtpmpeg1audio"
	"github.com/bluenviron/gortsplib/v4/pkg/format/rtpmpeg4audio"
	"github.com/bluenviron/gortsplib/v4/pkg/format/rtpvp9"
	"github.com/pion/rtcp"
	"github.com/pion/rtp"
)

// frame is a NAL unit or a frame of sound.
type frame struct {
	RTP  uint32 `json:"rtp"`
	NTP  *int64 `json:"ntp"` // microseconds, null before a sender report
	Size int    `json:"size"`
	Hash string `json:"md5"`
}

type track struct {
	Codec    string  `json:"codec"`
	Clock    int     `json:"clock"`
	Packets  uint64  `json:"packets"`
	Lost     uint64  `json:"lost"`
	Errors   int     `json:"errors"` // of the depacketizer
	FirstMs  int64   `json:"first_ms"`
	Frames   []frame `json:"frames"`
	media    *description.Media
	report   *rtcp.SenderReport // the newest
	forma    format.Format
	depacket func(*rtp.Packet) ([][]byte, error)
}

type report struct {
	Switched  string            `json:"switched"` // from UDP to TCP: why
	Errors    []string          `json:"errors"`   // of packets, of the library
	Tracks    map[string]*track `json:"tracks"`
	Transport string            `json:"transport"`
}

type player struct {
	sync.Mutex
	report
	c     *gortsplib.Client
	began time.Time
	first chan struct{}
	once  sync.Once
}

func play(address, how, seconds string) {
	wanted, err := strconv.ParseFloat(seconds, 64)
	must(err)
	p := &player{began: time.Now(), first: make(chan struct{})}
	p.Tracks, p.Errors, p.Transport = map[string]*track{}, []string{}, how
	p.c = &gortsplib.Client{Transport: transport(how), TLSConfig: anybody,
		OnTransportSwitch: func(err error) { p.note(func() { p.Switched = err.Error() }) },
		OnPacketLost:      func(error) {}, // counted by itself
		OnDecodeError:     func(err error) { p.note(func() { p.Errors = append(p.Errors, err.Error()) }) }}
	u, err := base.ParseURL(address)
	must(err)
	must(p.c.Start(u.Scheme, u.Host))
	d, _, err := p.c.Describe(u)
	must(err)
	must(p.c.SetupAll(d.BaseURL, d.Medias))
	for _, m := range d.Medias {
		p.listen(m)
	}
	_, err = p.c.Play(nil)
	must(err)
	p.wait(time.Duration(wanted * float64(time.Second)))
	p.counts()
	p.c.Close()
	p.Lock()
	defer p.Unlock()
	must(json.NewEncoder(os.Stdout).Encode(p.report))
}

func (p *player) note(what func()) {
	p.Lock()
	defer p.Unlock()
	what()
}

// wait for so long after the first packet; a connection that ends before is an error.
func (p *player) wait(d time.Duration) {
	over := make(chan error, 1)
	go func() { over <- p.c.Wait() }()
	select {
	case err := <-over:
		must(err)
	case <-p.first:
	case <-time.After(15 * time.Second):
		must(errors.New("no packet in 15 s"))
	}
	select {
	case err := <-over:
		must(err)
	case <-time.After(d):
	}
}

func (p *player) listen(m *description.Media) {
	t := &track{media: m, forma: m.Formats[0], Frames: []frame{}}
	t.Codec, t.Clock = t.forma.Codec(), t.forma.ClockRate()
	var err error
	t.depacket, err = depacketizer(t.forma)
	must(err)
	p.Tracks[string(m.Type)] = t
	p.c.OnPacketRTCP(m, func(pkt rtcp.Packet) {
		if sr, is := pkt.(*rtcp.SenderReport); is {
			p.note(func() { t.report = sr })
		}
	})
	p.c.OnPacketRTP(m, t.forma, func(pkt *rtp.Packet) { p.note(func() { p.packet(t, pkt) }) })
}

// single and several make one kind of function of both that the library has.
func single[D interface {
	Decode(*rtp.Packet) ([]byte, error)
}](d D, err error) (func(*rtp.Packet) ([][]byte, error), error) {
	return func(pkt *rtp.Packet) ([][]byte, error) {
		one, err := d.Decode(pkt)
		return [][]byte{one}, err
	}, err
}

func several[D interface {
	Decode(*rtp.Packet) ([][]byte, error)
}](d D, err error) (func(*rtp.Packet) ([][]byte, error), error) {
	return d.Decode, err
}

func depacketizer(f format.Format) (func(*rtp.Packet) ([][]byte, error), error) {
	switch f := f.(type) {
	case *format.H264:
		return several(f.CreateDecoder())
	case *format.H265:
		return several(f.CreateDecoder())
	case *format.AV1:
		return several(f.CreateDecoder())
	case *format.VP9:
		return single(f.CreateDecoder())
	case *format.MPEG4Audio:
		return several(f.CreateDecoder())
	case *format.MPEG1Audio:
		return several(f.CreateDecoder())
	case *format.Opus:
		return single(f.CreateDecoder())
	case *format.G711:
		return single(f.CreateDecoder())
	}
	return nil, fmt.Errorf("a track of %s", f.Codec())
}

// Each depacketizer has an error of its own for it.
func isIncomplete(err error) bool {
	for _, e := range []error{rtph264.ErrMorePacketsNeeded, rtph265.ErrMorePacketsNeeded,
		rtpav1.ErrMorePacketsNeeded, rtpvp9.ErrMorePacketsNeeded,
		rtpmpeg4audio.ErrMorePacketsNeeded, rtpmpeg1audio.ErrMorePacketsNeeded} {
		if errors.Is(err, e) {
			return true
		}
	}
	return false
}

func (p *player) packet(t *track, pkt *rtp.Packet) {
	if t.FirstMs == 0 {
		t.FirstMs = time.Since(p.began).Milliseconds() + 1
	}
	p.once.Do(func() { close(p.first) })
	units, err := t.depacket(pkt)
	if isIncomplete(err) {
		return
	}
	if err != nil {
		t.Errors++
		p.Errors = append(p.Errors, err.Error())
		return
	}
	ntp := t.clockTime(pkt.Timestamp)
	for _, u := range units {
		t.Frames = append(t.Frames, frame{pkt.Timestamp, ntp, len(u), fmt.Sprintf("%x", md5.Sum(u))})
	}
}

// clockTime is that of the publisher. The library has it wrong: it reads the fraction of a second,
// of which 2^32 are one (RFC 3550, 4), as nanoseconds.
func (t *track) clockTime(ticks uint32) *int64 {
	if t.report == nil {
		return nil
	}
	us := int64(t.report.NTPTime>>32)*1000000 + int64(t.report.NTPTime&0xffffffff)*1000000>>32
	us += int64(int32(ticks-t.report.RTPTime)) * 1000000 / int64(t.Clock)
	return &us
}

func (p *player) counts() {
	stats := p.c.Stats().Session
	p.Lock()
	defer p.Unlock()
	for _, t := range p.Tracks {
		s := stats.Medias[t.media].Formats[t.forma]
		t.Packets, t.Lost = s.RTPPacketsReceived, s.RTPPacketsLost
	}
}
