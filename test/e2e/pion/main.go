// SPDX-License-Identifier: MIT
// A client of WHIP and WHEP made of pion: pion publish URL FILE.h264 FILE.ogg SECONDS, pion play URL SECONDS DUMP.
// In front of these, -dtls active or passive is what it offers to be, -tcp has it come by TCP alone. What was received is
// written as JSON, and its packets of RTP to DUMP, each behind its length in two bytes.
package main

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/pion/interceptor"
	"github.com/pion/rtcp"
	"github.com/pion/rtp"
	"github.com/pion/rtp/codecs"
	"github.com/pion/webrtc/v4"
	"github.com/pion/webrtc/v4/pkg/media"
	"github.com/pion/webrtc/v4/pkg/media/h264reader"
	"github.com/pion/webrtc/v4/pkg/media/oggreader"
)

var (
	role = flag.String("dtls", "actpass", "what is offered")
	tcp  = flag.Bool("tcp", false, "no UDP")
)

func must(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func seconds(s string) time.Duration {
	n, err := strconv.ParseFloat(s, 64)
	must(err)
	return time.Duration(n * float64(time.Second))
}

func connection() *webrtc.PeerConnection {
	media, around, settings := &webrtc.MediaEngine{}, &interceptor.Registry{}, webrtc.SettingEngine{}
	must(media.RegisterDefaultCodecs())
	must(webrtc.RegisterDefaultInterceptors(media, around))
	if *tcp {
		settings.SetNetworkTypes([]webrtc.NetworkType{webrtc.NetworkTypeTCP4})
	}
	api := webrtc.NewAPI(webrtc.WithMediaEngine(media), webrtc.WithInterceptorRegistry(around), webrtc.WithSettingEngine(settings))
	pc, err := api.NewPeerConnection(webrtc.Configuration{})
	must(err)
	return pc
}

// exchange posts the offer and takes the answer; it gives the address to delete.
func exchange(pc *webrtc.PeerConnection, where string) string {
	offer, err := pc.CreateOffer(nil)
	must(err)
	gathered := webrtc.GatheringCompletePromise(pc)
	must(pc.SetLocalDescription(offer))
	<-gathered
	text := strings.ReplaceAll(pc.LocalDescription().SDP, "a=setup:actpass", "a=setup:"+*role)
	r, err := http.Post(where, "application/sdp", strings.NewReader(text))
	must(err)
	defer r.Body.Close()
	body, err := io.ReadAll(r.Body)
	must(err)
	if r.StatusCode != 201 {
		must(fmt.Errorf("%d %s", r.StatusCode, body))
	}
	must(pc.SetRemoteDescription(webrtc.SessionDescription{Type: webrtc.SDPTypeAnswer, SDP: string(body)}))
	base, err := url.Parse(where)
	must(err)
	at, err := base.Parse(r.Header.Get("Location"))
	must(err)
	return at.String()
}

func remove(where string) int {
	q, err := http.NewRequest("DELETE", where, nil)
	must(err)
	r, err := http.DefaultClient.Do(q)
	must(err)
	r.Body.Close()
	return r.StatusCode
}

func connected(pc *webrtc.PeerConnection) chan struct{} {
	up, once := make(chan struct{}), sync.Once{}
	pc.OnConnectionStateChange(func(s webrtc.PeerConnectionState) {
		fmt.Fprintln(os.Stderr, "state", s)
		if s == webrtc.PeerConnectionStateConnected {
			once.Do(func() { close(up) })
		}
	})
	return up
}

func within(up chan struct{}) {
	select {
	case <-up:
	case <-time.After(15 * time.Second):
		must(fmt.Errorf("not connected after 15 s"))
	}
}

type heard struct {
	sync.Mutex
	Plis, Nacks, Reports, Twccs int
}

func (h *heard) listen(s *webrtc.RTPSender) {
	for {
		all, _, err := s.ReadRTCP()
		if err != nil {
			return
		}
		h.Lock()
		for _, p := range all {
			switch p.(type) {
			case *rtcp.PictureLossIndication, *rtcp.FullIntraRequest:
				h.Plis++
			case *rtcp.TransportLayerNack:
				h.Nacks++
			case *rtcp.ReceiverReport:
				h.Reports++
			case *rtcp.TransportLayerCC:
				h.Twccs++
			}
		}
		h.Unlock()
	}
}

func video(t *webrtc.TrackLocalStaticSample, path string, end time.Time) {
	for {
		f, err := os.Open(path)
		must(err)
		r, err := h264reader.NewReader(f)
		must(err)
		tick, began := 0, time.Now()
		for {
			n, err := r.NextNAL()
			if err != nil {
				break
			}
			took := time.Duration(0)
			if n.UnitType == h264reader.NalUnitTypeCodedSliceNonIdr || n.UnitType == h264reader.NalUnitTypeCodedSliceIdr {
				took = 40 * time.Millisecond
			}
			must(t.WriteSample(media.Sample{Data: n.Data, Duration: took}))
			if took > 0 {
				tick++
				time.Sleep(time.Until(began.Add(time.Duration(tick) * took)))
			}
			if time.Now().After(end) {
				f.Close()
				return
			}
		}
		f.Close()
	}
}

func audio(t *webrtc.TrackLocalStaticSample, path string, end time.Time) {
	f, err := os.Open(path)
	must(err)
	r, _, err := oggreader.NewWith(f)
	must(err)
	began := time.Now()
	for n := 1; time.Now().Before(end); n++ {
		page, _, err := r.ParseNextPage()
		if err != nil {
			return
		}
		if bytes.HasPrefix(page, []byte("OpusTags")) {
			n--
			continue
		}
		must(t.WriteSample(media.Sample{Data: page, Duration: 20 * time.Millisecond}))
		time.Sleep(time.Until(began.Add(time.Duration(n) * 20 * time.Millisecond)))
	}
}

func publish(where, h264, ogg string, long time.Duration) {
	pc := connection()
	v, err := webrtc.NewTrackLocalStaticSample(webrtc.RTPCodecCapability{MimeType: webrtc.MimeTypeH264}, "video", "pion")
	must(err)
	a, err := webrtc.NewTrackLocalStaticSample(webrtc.RTPCodecCapability{MimeType: webrtc.MimeTypeOpus}, "audio", "pion")
	must(err)
	h := &heard{}
	for _, t := range []*webrtc.TrackLocalStaticSample{v, a} {
		s, err := pc.AddTrack(t)
		must(err)
		go h.listen(s)
	}
	up := connected(pc)
	at := exchange(pc, where)
	within(up)
	end := time.Now().Add(long)
	go audio(a, ogg, end)
	video(v, h264, end)
	h.Lock()
	defer h.Unlock()
	json.NewEncoder(os.Stdout).Encode(map[string]int{"plis": h.Plis, "nacks": h.Nacks, "reports": h.Reports,
		"twccs": h.Twccs, "deleted": remove(at)})
	pc.Close()
}

type track struct {
	Codec                              string
	Packets, Frames, Lost, Keys, Bytes int
	At                                 []float64 // when frames began to come
	last                               uint16
	at                                 uint32
}

func (t *track) take(p *rtp.Packet) {
	if t.Packets > 0 {
		t.Lost += int(int16(p.SequenceNumber - t.last - 1))
	}
	if t.Packets == 0 || p.Timestamp != t.at {
		t.Frames++
		t.At = append(t.At, float64(time.Now().UnixMicro())/1e6)
	}
	t.Packets, t.last, t.at, t.Bytes = t.Packets+1, p.SequenceNumber, p.Timestamp, t.Bytes+len(p.Payload)
	if t.Codec == webrtc.MimeTypeH264 {
		var h codecs.H264Packet
		if nals, err := h.Unmarshal(p.Payload); err == nil {
			for i := 0; i+4 < len(nals); i++ {
				if nals[i] == 0 && nals[i+1] == 0 && nals[i+2] == 0 && nals[i+3] == 1 && nals[i+4]&31 == 7 {
					t.Keys++
				}
			}
		}
	}
}

func play(where string, long time.Duration, dump string) {
	pc := connection()
	out, err := os.Create(dump)
	must(err)
	for _, kind := range []webrtc.RTPCodecType{webrtc.RTPCodecTypeVideo, webrtc.RTPCodecTypeAudio} {
		_, err := pc.AddTransceiverFromKind(kind, webrtc.RTPTransceiverInit{Direction: webrtc.RTPTransceiverDirectionRecvonly})
		must(err)
	}
	var lock sync.Mutex
	got, reports := map[string]*track{}, 0
	pc.OnTrack(func(r *webrtc.TrackRemote, from *webrtc.RTPReceiver) {
		t := &track{Codec: r.Codec().MimeType}
		lock.Lock()
		got[r.Kind().String()] = t
		lock.Unlock()
		go func() {
			for {
				all, _, err := from.ReadRTCP()
				if err != nil {
					return
				}
				for _, p := range all {
					if _, ok := p.(*rtcp.SenderReport); ok {
						lock.Lock()
						reports++
						lock.Unlock()
					}
				}
			}
		}()
		for {
			p, _, err := r.ReadRTP()
			if err != nil {
				return
			}
			raw, err := p.Marshal()
			must(err)
			lock.Lock()
			t.take(p)
			_, err = out.Write(append(binary.BigEndian.AppendUint16(nil, uint16(len(raw))), raw...))
			lock.Unlock()
			must(err)
		}
	})
	up := connected(pc)
	at := exchange(pc, where)
	within(up)
	time.Sleep(long)
	lock.Lock()
	defer lock.Unlock()
	json.NewEncoder(os.Stdout).Encode(map[string]any{"tracks": got, "reports": reports, "deleted": remove(at)})
	pc.Close()
}

func main() {
	flag.Parse()
	args := flag.Args()
	if len(args) == 5 && args[0] == "publish" {
		publish(args[1], args[2], args[3], seconds(args[4]))
	} else if len(args) == 4 && args[0] == "play" {
		play(args[1], seconds(args[2]), args[3])
	} else {
		must(fmt.Errorf("publish URL H264 OGG SECONDS, or play URL SECONDS DUMP"))
	}
}
