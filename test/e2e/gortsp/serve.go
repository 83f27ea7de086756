// SPDX-License-Identifier: MIT
package main

import (
	"fmt"
	"strconv"
	"sync"

	"github.com/bluenviron/gortsplib/v4"
	"github.com/bluenviron/gortsplib/v4/pkg/auth"
	"github.com/bluenviron/gortsplib/v4/pkg/base"
	"github.com/bluenviron/gortsplib/v4/pkg/description"
	"github.com/bluenviron/gortsplib/v4/pkg/format"
	"github.com/pion/rtcp"
	"github.com/pion/rtp"
)

type handler struct {
	sync.Mutex
	server     *gortsplib.Server
	user, pass string
	nonce      string
	streams    map[string]*gortsplib.ServerStream
	publishers map[*gortsplib.ServerSession]string
}

func serve(port, udpPort, user, pass string) {
	nonce, err := auth.GenerateNonce()
	must(err)
	udp, err := strconv.Atoi(udpPort)
	must(err)
	h := &handler{user: user, pass: pass, nonce: nonce,
		streams:    map[string]*gortsplib.ServerStream{},
		publishers: map[*gortsplib.ServerSession]string{}}
	// Reports of clocks go on as they came.
	h.server = &gortsplib.Server{Handler: h, DisableRTCPSenderReports: true, RTSPAddress: "127.0.0.1:" + port,
		UDPRTPAddress:  fmt.Sprintf("127.0.0.1:%d", udp),
		UDPRTCPAddress: fmt.Sprintf("127.0.0.1:%d", udp+1)}
	must(h.server.StartAndWait())
}

func answer(status base.StatusCode) *base.Response {
	return &base.Response{StatusCode: status}
}

// refused asks for the password, of Basic and both kinds of Digest, or gives nil.
func (h *handler) refused(req *base.Request) *base.Response {
	if h.user == "" || auth.Validate(req, h.user, h.pass, nil, "gortsp", h.nonce) == nil {
		return nil
	}
	return &base.Response{StatusCode: base.StatusUnauthorized, Header: base.Header{
		"WWW-Authenticate": auth.GenerateWWWAuthenticate(nil, "gortsp", h.nonce)}}
}

func (h *handler) stream(path string) *gortsplib.ServerStream {
	h.Lock()
	defer h.Unlock()
	return h.streams[path]
}

func (h *handler) OnDescribe(ctx *gortsplib.ServerHandlerOnDescribeCtx) (
	*base.Response, *gortsplib.ServerStream, error) {
	if r := h.refused(ctx.Request); r != nil {
		return r, nil, nil
	}
	s := h.stream(ctx.Path)
	if s == nil {
		return answer(base.StatusNotFound), nil, nil
	}
	return answer(base.StatusOK), s, nil
}

func (h *handler) OnAnnounce(ctx *gortsplib.ServerHandlerOnAnnounceCtx) (*base.Response, error) {
	if r := h.refused(ctx.Request); r != nil {
		return r, nil
	}
	h.Lock()
	defer h.Unlock()
	if h.streams[ctx.Path] != nil {
		return answer(base.StatusForbidden), nil
	}
	h.streams[ctx.Path] = gortsplib.NewServerStream(h.server, ctx.Description)
	h.publishers[ctx.Session] = ctx.Path
	return answer(base.StatusOK), nil
}

func (h *handler) OnSetup(ctx *gortsplib.ServerHandlerOnSetupCtx) (
	*base.Response, *gortsplib.ServerStream, error) {
	if r := h.refused(ctx.Request); r != nil {
		return r, nil, nil
	}
	s := h.stream(ctx.Path)
	if s == nil {
		return answer(base.StatusNotFound), nil, nil
	}
	return answer(base.StatusOK), s, nil
}

func (h *handler) OnPlay(ctx *gortsplib.ServerHandlerOnPlayCtx) (*base.Response, error) {
	fmt.Println("play", ctx.Path, ctx.Session.SetuppedTransport())
	return answer(base.StatusOK), nil
}

func (h *handler) OnRecord(ctx *gortsplib.ServerHandlerOnRecordCtx) (*base.Response, error) {
	fmt.Println("record", ctx.Path, ctx.Session.SetuppedTransport())
	s := h.stream(ctx.Path)
	ctx.Session.OnPacketRTPAny(func(m *description.Media, _ format.Format, p *rtp.Packet) {
		_ = s.WritePacketRTP(m, p)
	})
	ctx.Session.OnPacketRTCPAny(func(m *description.Media, p rtcp.Packet) {
		if _, is := p.(*rtcp.SenderReport); is {
			_ = s.WritePacketRTCP(m, p)
		}
	})
	return answer(base.StatusOK), nil
}

func (h *handler) OnDecodeError(ctx *gortsplib.ServerHandlerOnDecodeErrorCtx) {
	fmt.Println("error", ctx.Error)
}

func (h *handler) OnSessionClose(ctx *gortsplib.ServerHandlerOnSessionCloseCtx) {
	h.Lock()
	defer h.Unlock()
	if path, known := h.publishers[ctx.Session]; known {
		fmt.Println("end", path, ctx.Error)
		delete(h.publishers, ctx.Session)
		h.streams[path].Close()
		delete(h.streams, path)
	}
}
