package main

import (
	"bufio"
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"io"
	"net"
	"os"
	"time"
)

// A transactional producer of transaction version 2: Produce v12 adds the partition, EndTxn v5
// returns the next epoch.
type producer struct {
	conn  net.Conn
	rd    *bufio.Reader
	txnID string
	id    uint64
	epoch uint16
}

const (
	produceKey, initProducerIDKey, endTxnKey = 0, 22, 26
	transactional                            = 0x10
)

// Errors after which a client repeats its request: the coordinator is loading, or the transaction
// before this one is not completed in all partitions.
var retriable = map[uint16]bool{14: true, 15: true, 16: true, 51: true}

func header(key, version byte) []byte {
	r := []byte{0, key, 0, version, 0, 0, 0, 7, 0, 8}
	return append(append(r, "rawbench"...), 0)
}

func framed(r []byte) []byte {
	return append(binary.BigEndian.AppendUint32(nil, uint32(len(r))), r...)
}

func compact(r []byte, text string) []byte {
	return append(binary.AppendUvarint(r, uint64(len(text)+1)), text...)
}

// repeat sends a request until its error code, at this place of the response, is not retriable.
func (p *producer) repeat(request []byte, codeAt int) []byte {
	request = framed(request)
	for {
		p.conn.Write(request)
		var h [4]byte
		if _, err := io.ReadFull(p.rd, h[:]); err != nil {
			fmt.Println("read:", err)
			os.Exit(1)
		}
		response := make([]byte, binary.BigEndian.Uint32(h[:]))
		io.ReadFull(p.rd, response)
		code := binary.BigEndian.Uint16(response[codeAt:])
		if code == 0 {
			return response
		}
		if !retriable[code] {
			fmt.Println("error", code, "for a request with key", request[5])
			os.Exit(1)
		}
		time.Sleep(time.Millisecond)
	}
}

// takeProducer reads the producer id and epoch at the end of InitProducerId and EndTxn responses.
func (p *producer) takeProducer(response []byte) {
	p.id = binary.BigEndian.Uint64(response[11:])
	p.epoch = binary.BigEndian.Uint16(response[19:])
}

func (p *producer) init() {
	r := compact(header(initProducerIDKey, 4), p.txnID)
	r = binary.BigEndian.AppendUint32(r, 60000)
	r = binary.BigEndian.AppendUint64(r, 0xffffffffffffffff)
	p.takeProducer(p.repeat(append(r, 0xff, 0xff, 0), 9))
}

// produce sends the first batch of a transaction; b is changed.
func (p *producer) produce(topic string, partition int, b []byte) {
	b[22] |= transactional
	binary.BigEndian.PutUint64(b[43:], p.id)
	binary.BigEndian.PutUint16(b[51:], p.epoch)
	binary.BigEndian.PutUint32(b[53:], 0)
	binary.BigEndian.PutUint32(b[17:], crc32.Checksum(b[21:], castagnoli))
	p.repeat(produceBody(12, p.txnID, topic, partition, -1, b), producedCodeAt(topic))
}

func (p *producer) end(commit bool) {
	r := compact(header(endTxnKey, 5), p.txnID)
	r = binary.BigEndian.AppendUint64(r, p.id)
	r = binary.BigEndian.AppendUint16(r, p.epoch)
	committed := byte(0)
	if commit {
		committed = 1
	}
	p.takeProducer(p.repeat(append(r, committed, 0), 9))
}

// transact runs transactions of one batch each, of which every abortEvery-th is aborted, and
// returns the times of EndTxn.
func transact(
	addr, topic, txnID string, partition, abortEvery int, batches [][]byte, goOn func() bool,
) (n int, lats []int64) {
	c := dial(addr)
	defer c.Close()
	p := &producer{conn: c, rd: bufio.NewReaderSize(c, 1<<16), txnID: txnID}
	p.init()
	mine := make([][]byte, len(batches))
	for v := range batches {
		mine[v] = append([]byte(nil), batches[v]...)
	}
	for ; goOn(); n++ {
		p.produce(topic, partition, mine[n%len(mine)])
		sent := time.Now()
		p.end(abortEvery == 0 || n%abortEvery > 0)
		lats = append(lats, time.Since(sent).Microseconds())
	}
	return
}
