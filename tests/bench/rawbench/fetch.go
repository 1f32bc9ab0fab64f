package main

import (
	"bufio"
	"encoding/binary"
	"fmt"
	"io"
	"os"
	"time"
)

// fetchV11 frames one Fetch v11 request for partition 0, outside of any session, and says where its
// offset stands.
func fetchV11(topic string, maxBytes int, committed bool) (frame []byte, offsetAt int) {
	var r []byte
	r = append(r, 0, 1, 0, 11, 0, 0, 0, 7, 0, 8) // key 1, version 11, correlation 7
	r = append(r, "rawbench"...)
	r = binary.BigEndian.AppendUint32(r, 0xffffffff) // replica
	r = binary.BigEndian.AppendUint32(r, 500)        // max wait
	r = binary.BigEndian.AppendUint32(r, 1)          // min bytes
	r = binary.BigEndian.AppendUint32(r, uint32(maxBytes))
	isolation := byte(0)
	if committed {
		isolation = 1
	}
	r = append(r, isolation)
	r = binary.BigEndian.AppendUint32(r, 0)          // session id
	r = binary.BigEndian.AppendUint32(r, 0xffffffff) // session epoch
	r = binary.BigEndian.AppendUint32(r, 1)
	r = binary.BigEndian.AppendUint16(r, uint16(len(topic)))
	r = append(r, topic...)
	r = binary.BigEndian.AppendUint32(r, 1)
	r = binary.BigEndian.AppendUint32(r, 0)          // partition
	r = binary.BigEndian.AppendUint32(r, 0xffffffff) // leader epoch
	offsetAt = 4 + len(r)
	r = binary.BigEndian.AppendUint64(r, 0)
	r = binary.BigEndian.AppendUint64(r, 0xffffffffffffffff) // log start
	r = binary.BigEndian.AppendUint32(r, uint32(maxBytes))
	r = append(r, 0, 0, 0, 0, 0, 0) // forgotten topics, rack
	return framed(r), offsetAt
}

// fetched reads one answer into buf: the records' bytes, the offset after them (0 at the end of the
// partition: no fetch shall wait there), and its error code.
func fetched(rd io.Reader, topic string, buf []byte) (size int, next uint64, code int) {
	var h [4]byte
	if _, err := io.ReadFull(rd, h[:]); err != nil {
		fmt.Println("read:", err)
		os.Exit(1)
	}
	n := int(binary.BigEndian.Uint32(h[:]))
	if n > len(buf) {
		fmt.Println("an answer of", n, "bytes")
		os.Exit(1)
	}
	if _, err := io.ReadFull(rd, buf[:n]); err != nil {
		fmt.Println("read:", err)
		os.Exit(1)
	}
	// correlation, throttle, error, session, topics, name, partitions, index
	at := 4 + 4 + 2 + 4 + 4 + 2 + len(topic) + 4 + 4
	if n < at+2 {
		return 0, 0, -1
	}
	code = int(int16(binary.BigEndian.Uint16(buf[at:])))
	end := binary.BigEndian.Uint64(buf[at+2:])
	at += 2 + 8 + 8 + 8
	if aborted := int32(binary.BigEndian.Uint32(buf[at:])); aborted > 0 {
		at += int(aborted) * 16
	}
	at += 4 + 4
	size = max(0, int(int32(binary.BigEndian.Uint32(buf[at:]))))
	records := buf[at+4 : at+4+size]
	for len(records) >= 61 {
		length := 12 + int(binary.BigEndian.Uint32(records[8:]))
		if length > len(records) {
			break // cut off, as Kafka's may be
		}
		next = binary.BigEndian.Uint64(records) + uint64(binary.BigEndian.Uint32(records[23:])) + 1
		records = records[length:]
	}
	if size > 0 && next == 0 {
		fmt.Println("no whole batch in", size, "bytes")
		os.Exit(1)
	}
	if next >= end {
		next = 0
	}
	return size, next, code
}

// consume reads a topic from its beginning, over and over, one request in flight.
func consume(addr, topic string, maxBytes int, committed bool, stop time.Time) (n int, size, failed int64, lats []int64) {
	c := dial(addr)
	defer c.Close()
	frame, offsetAt := fetchV11(topic, maxBytes, committed)
	rd := bufio.NewReaderSize(c, 1<<16)
	buf := make([]byte, maxBytes+(2<<20))
	for time.Now().Before(stop) {
		sent := time.Now()
		if _, err := c.Write(frame); err != nil {
			fmt.Println("write:", err)
			os.Exit(1)
		}
		got, next, code := fetched(rd, topic, buf)
		if code != 0 {
			failed++
		}
		if got == 0 {
			fmt.Println("nothing to read, error", code)
			os.Exit(1)
		}
		lats = append(lats, time.Since(sent).Microseconds())
		size += int64(got)
		n++
		binary.BigEndian.PutUint64(frame[offsetAt:], next)
	}
	return
}
