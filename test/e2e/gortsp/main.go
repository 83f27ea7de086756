// SPDX-License-Identifier: MIT

// Programs made of gortsplib, the library of MediaMTX, in one:
//
//	gortsp play URL tcp|udp|auto SECONDS    what came, as JSON
//	gortsp publish URL tcp|udp MEDIA        a JSON file again and again, in real time, until it is ended
//	gortsp serve PORT UDP_PORT [USER PASS]  what is announced is there for players
package main

import (
	"crypto/tls"
	"fmt"
	"os"

	"github.com/bluenviron/gortsplib/v4"
)

// anybody may be the server: its certificate is one of a test.
var anybody = &tls.Config{InsecureSkipVerify: true}

func transport(word string) *gortsplib.Transport {
	t, known := map[string]gortsplib.Transport{
		"tcp": gortsplib.TransportTCP, "udp": gortsplib.TransportUDP}[word]
	if known {
		return &t
	}
	return nil // UDP, and TCP when that does not do
}

func must(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func main() {
	a := os.Args
	switch {
	case len(a) == 5 && a[1] == "play":
		play(a[2], a[3], a[4])
	case len(a) == 5 && a[1] == "publish":
		publish(a[2], a[3], a[4])
	case len(a) == 4 && a[1] == "serve":
		serve(a[2], a[3], "", "")
	case len(a) == 6 && a[1] == "serve":
		serve(a[2], a[3], a[4], a[5])
	default:
		fmt.Fprintln(os.Stderr, "gortsp play|publish|serve ...")
		os.Exit(2)
	}
}
