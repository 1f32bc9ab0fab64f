package main

import (
	"bufio"
	"encoding/binary"
	"io"
	"time"
)

const rawProducer, rawConsumer = 1, 2

// streamed sends records to a raw listener, depth of them without a position at a time, until goOn
// ends; of each position the time since its record was written counts.
func streamed(addr string, size, depth int, goOn func() bool) (n int, lats []int64) {
	c := dial(addr)
	defer c.Close()
	frame := make([]byte, 4+size)
	binary.BigEndian.PutUint32(frame, uint32(size))
	sent := make(chan time.Time, depth)
	slots := make(chan struct{}, depth)
	go func() {
		w := bufio.NewWriterSize(c, 1<<17)
		w.WriteByte(rawProducer)
		for id := 0; goOn(); id++ {
			select {
			case slots <- struct{}{}:
			default: // as many as may be under way: what is buffered has to go out
				w.Flush()
				slots <- struct{}{}
			}
			for j := 4; j < len(frame) && j < 12; j++ {
				frame[j] = byte(id >> (j * 3))
			}
			w.Write(frame)
			sent <- time.Now()
		}
		w.Flush()
		close(sent)
	}()
	rd := bufio.NewReaderSize(c, 1<<16)
	var position [8]byte
	last := int64(-1)
	for s := range sent {
		if _, err := io.ReadFull(rd, position[:]); err != nil {
			fail("read:", err)
		}
		at := int64(binary.BigEndian.Uint64(position[:]))
		if at <= last {
			fail("position", at, "after", last)
		}
		last = at
		if n%16 == 0 {
			lats = append(lats, time.Since(s).Microseconds())
		}
		<-slots
		n++
	}
	return
}

// followed reads a stream of so many bytes from its beginning, over and over.
func followed(addr string, streamBytes int64, stop time.Time) (n int, size int64, lats []int64) {
	buf := make([]byte, 1<<20)
	for time.Now().Before(stop) {
		c := dial(addr)
		start := make([]byte, 9)
		start[0] = rawConsumer
		c.Write(start)
		for left := streamBytes; left > 0 && time.Now().Before(stop); {
			began := time.Now()
			got, err := c.Read(buf)
			if err != nil {
				fail("read:", err)
			}
			left -= int64(got)
			size += int64(got)
			lats = append(lats, time.Since(began).Microseconds())
			n++
		}
		c.Close()
	}
	return
}
