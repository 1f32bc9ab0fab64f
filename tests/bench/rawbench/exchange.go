package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
)

// An exchange is what one connection says over and over, in turn, and what it is to hear each time:
// whole frames, and all of an answer that follows its correlation id. In JSON both are base64.
type exchange struct {
	Requests [][]byte `json:"requests"`
	Answer   []byte   `json:"answer"`
}

func readExchanges(path string) (found []exchange) {
	text, err := os.ReadFile(path)
	if err == nil {
		err = json.Unmarshal(text, &found)
	}
	if err != nil || len(found) == 0 {
		fmt.Println("no exchanges in", path, err)
		os.Exit(1)
	}
	return found
}

func (e exchange) answeredBy(answer []byte) bool {
	return len(answer) >= 4 && bytes.Equal(answer[4:], e.Answer)
}
