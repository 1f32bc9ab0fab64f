package main

import (
	"crypto/hmac"
	"crypto/pbkdf2"
	"crypto/sha256"
	"crypto/sha512"
	"crypto/tls"
	"encoding/base64"
	"encoding/binary"
	"fmt"
	"hash"
	"io"
	"net"
	"os"
	"strconv"
	"strings"
	"time"
)

const saslHandshakeKey, saslAuthenticateKey = 17, 36

// overTLS makes all connections encrypted ones.
var overTLS bool

func fail(what ...any) {
	fmt.Println(what...)
	os.Exit(1)
}

func dial(addr string) net.Conn {
	c, err := net.Dial("tcp", addr)
	if err != nil {
		fail(err)
	}
	if !overTLS {
		return c
	}
	// No tickets: each connection does the whole handshake.
	secured := tls.Client(c, &tls.Config{InsecureSkipVerify: true, SessionTicketsDisabled: true})
	if err := secured.Handshake(); err != nil {
		fail("handshake:", err)
	}
	return secured
}

// connections opens one after the other, logs in if that is asked for, and closes them.
func connections(addr, login string, goOn func() bool) (n int, lats []int64) {
	var user *scram
	if login != "" {
		user = newScram(login)
	}
	for goOn() {
		begun := time.Now()
		c := dial(addr)
		if user != nil {
			user.login(c)
		}
		lats = append(lats, time.Since(begun).Microseconds())
		c.Close()
		n++
	}
	return
}

// A scram is a user who logs in over and over. The salted password is derived once, so that the
// client does little.
type scram struct {
	mechanism, name, password string
	digest                    func() hash.Hash
	salted                    []byte
}

func newScram(login string) *scram {
	words := strings.SplitN(login, ":", 3)
	if len(words) != 3 {
		fail("not MECHANISM:USER:PASSWORD:", login)
	}
	digest := sha256.New
	if words[0] == "SCRAM-SHA-512" {
		digest = sha512.New
	}
	return &scram{mechanism: words[0], name: words[1], password: words[2], digest: digest}
}

func (s *scram) mac(key []byte, text string) []byte {
	m := hmac.New(s.digest, key)
	m.Write([]byte(text))
	return m.Sum(nil)
}

func (s *scram) login(c net.Conn) {
	r := []byte{0, saslHandshakeKey, 0, 1, 0, 0, 0, 7, 0, 0}
	r = append(binary.BigEndian.AppendUint16(r, uint16(len(s.mechanism))), s.mechanism...)
	if code := binary.BigEndian.Uint16(exchanged(c, r)); code != 0 {
		fail("SaslHandshake:", code)
	}
	first := fmt.Sprintf("n=%s,r=%x", s.name, time.Now().UnixNano())
	serverFirst := authenticated(c, "n,,"+first)
	fields := strings.SplitN(serverFirst, ",", 3) // r=, s=, i=
	if len(fields) != 3 {
		fail("not a first message of SCRAM:", serverFirst)
	}
	if s.salted == nil {
		salt, _ := base64.StdEncoding.DecodeString(fields[1][2:])
		rounds, _ := strconv.Atoi(fields[2][2:])
		salted, err := pbkdf2.Key(s.digest, s.password, salt, rounds, s.digest().Size())
		if err != nil {
			fail(err)
		}
		s.salted = salted
	}
	final := "c=biws," + fields[0]
	text := first + "," + serverFirst + "," + final
	proof := s.mac(s.salted, "Client Key")
	stored := s.digest()
	stored.Write(proof)
	for i, b := range s.mac(stored.Sum(nil), text) {
		proof[i] ^= b
	}
	answer := authenticated(c, final+",p="+base64.StdEncoding.EncodeToString(proof))
	signature := s.mac(s.mac(s.salted, "Server Key"), text)
	if answer != "v="+base64.StdEncoding.EncodeToString(signature) {
		fail("not a final message of SCRAM:", answer)
	}
}

// authenticated sends one token by SaslAuthenticate v1 and returns that of the answer.
func authenticated(c net.Conn, token string) string {
	r := []byte{0, saslAuthenticateKey, 0, 1, 0, 0, 0, 7, 0, 0}
	r = append(binary.BigEndian.AppendUint32(r, uint32(len(token))), token...)
	answer := exchanged(c, r)
	if code := binary.BigEndian.Uint16(answer); code != 0 {
		fail("SaslAuthenticate:", code)
	}
	answer = answer[4:] // error code, no message
	return string(answer[4 : 4+binary.BigEndian.Uint32(answer)])
}

// exchanged returns what follows the correlation id of the answer.
func exchanged(c net.Conn, request []byte) []byte {
	c.Write(framed(request))
	var h [4]byte
	if _, err := io.ReadFull(c, h[:]); err != nil {
		fail("read:", err)
	}
	answer := make([]byte, binary.BigEndian.Uint32(h[:]))
	if _, err := io.ReadFull(c, answer); err != nil {
		fail("read:", err)
	}
	return answer[4:]
}
