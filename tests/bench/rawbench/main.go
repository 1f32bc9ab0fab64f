// rawbench: produce or fetch requests over raw sockets against any Kafka-speaking broker.
//
//	rawbench -addr HOST:PORT -conns 10 -depth 1 -size 1000 -secs 5 [-pid BROKER[,...]]
//	rawbench -addr HOST:PORT -topic T -fetch -max-bytes 1000000 -secs 5
//	rawbench -addr HOST:PORT -exchanges FILE -secs 5
//	rawbench -addr HOST:PORT -tls -handshakes -secs 5
//	rawbench -addr HOST:PORT -login SCRAM-SHA-256:USER:PASSWORD -secs 5
//	rawbench -addr HOST:PORT -stream -depth 32 -size 100 -secs 5
//	rawbench -addr HOST:PORT -stream -stream-bytes 1000000000 -secs 5
//	rawbench -addr HOST:PORT -topic T -transactions -records 10 [-abort-every 5] -secs 5
//
// Prints one JSON object: requests/s, MB/s, p50/p99/max in microseconds, failed answers, and the
// broker's CPU per request when -pid is given, alone and with that of further processes (other nodes,
// a database) and all their children. acks=0 is not supported (it waits for answers). The
// topic is auto-created unless -topic names one. -requests ends a run early, by their number. Of
// transactions, the rate is that of whole ones, and the times are those of their ends; of handshakes
// and logins, both are those of whole connections; of a raw stream those of records, or of reads of
// its consumers (-stream-bytes). -tls is for all.
package main

import (
	"bufio"
	"encoding/binary"
	"encoding/json"
	"flag"
	"fmt"
	"hash/crc32"
	"io"
	"os"
	"path/filepath"
	"sort"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

// Each connection sends these many different batches in turn, of sizes around the one asked for, so
// that no request repeats the one before it byte by byte.
const variants = 16

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

func sizeOf(variant, size int) int { return size + (2*variant-variants+1)*size/(10*variants) }

func batch(n, size int, now int64) []byte {
	var recs []byte
	for i := 0; i < n; i++ {
		var r []byte
		r = append(r, 0)
		r = binary.AppendVarint(r, 0)
		r = binary.AppendVarint(r, int64(i))
		r = binary.AppendVarint(r, -1)
		r = binary.AppendVarint(r, int64(size))
		v := make([]byte, size)
		for j := range v {
			v[j] = byte(j*7 + i + size)
		}
		r = append(r, v...)
		r = binary.AppendVarint(r, 0)
		recs = binary.AppendVarint(recs, int64(len(r)))
		recs = append(recs, r...)
	}
	b := make([]byte, 61, 61+len(recs))
	b = append(b, recs...)
	binary.BigEndian.PutUint32(b[8:], uint32(len(b)-12))
	binary.BigEndian.PutUint32(b[12:], 0xffffffff)
	b[16] = 2
	binary.BigEndian.PutUint32(b[23:], uint32(n-1))
	binary.BigEndian.PutUint64(b[27:], uint64(now))
	binary.BigEndian.PutUint64(b[35:], uint64(now))
	for i := 43; i < 57; i++ {
		b[i] = 0xff
	}
	binary.BigEndian.PutUint32(b[57:], uint32(n))
	binary.BigEndian.PutUint32(b[17:], crc32.Checksum(b[21:], castagnoli))
	return b
}

// cpu is user and system time of a process; with that of its children, running and ended, if asked for.
func cpu(pid string, family bool) float64 {
	if pid == "" {
		return 0
	}
	raw, err := os.ReadFile("/proc/" + pid + "/stat")
	if err != nil {
		return 0
	}
	s := string(raw)
	f := strings.Fields(s[strings.LastIndex(s, ")")+2:])[11:]
	if !family {
		f = f[:2]
	}
	ticks := 0
	for _, field := range f[:min(4, len(f))] {
		n, _ := strconv.Atoi(field)
		ticks += n
	}
	used := float64(ticks) / 100
	if family {
		lists, _ := filepath.Glob("/proc/" + pid + "/task/*/children")
		for _, list := range lists {
			children, _ := os.ReadFile(list)
			for _, child := range strings.Fields(string(children)) {
				used += cpu(child, true)
			}
		}
	}
	return used
}

// cpus is the CPU of the first process, and that of all with their children.
func cpus(pids []string) (first, all float64) {
	for _, pid := range pids {
		all += cpu(pid, true)
	}
	return cpu(pids[0], false), all
}

// createTopic asks for the topic's metadata with auto-creation until it has a leader.
func createTopic(addr string) string {
	topic := fmt.Sprintf("raw-%d", time.Now().UnixNano())
	c := dial(addr)
	defer c.Close()
	var r []byte
	r = append(r, 0, 3, 0, 4, 0, 0, 0, 1, 0xff, 0xff) // Metadata v4, correlation 1, no client id
	r = binary.BigEndian.AppendUint32(r, 1)
	r = binary.BigEndian.AppendUint16(r, uint16(len(topic)))
	r = append(append(r, topic...), 1)
	frame := append(binary.BigEndian.AppendUint32(nil, uint32(len(r))), r...)
	for i := 0; i < 50; i++ {
		c.Write(frame)
		var h [4]byte
		if _, err := io.ReadFull(c, h[:]); err != nil {
			fmt.Println("metadata:", err)
			os.Exit(1)
		}
		body := make([]byte, binary.BigEndian.Uint32(h[:]))
		io.ReadFull(c, body)
		at := strings.Index(string(body), topic)
		if at > 4 && binary.BigEndian.Uint16(body[at-4:]) == 0 {
			return topic
		}
		time.Sleep(100 * time.Millisecond)
	}
	fmt.Println("topic was not created")
	os.Exit(1)
	return ""
}

// produceBody is a Produce request for one partition, of version 9 or 12; without a transactional
// id if that is empty.
func produceBody(version byte, txnID, topic string, partition, acks int, b []byte) []byte {
	r := header(produceKey, version)
	if txnID == "" {
		r = append(r, 0)
	} else {
		r = compact(r, txnID)
	}
	r = binary.BigEndian.AppendUint16(r, uint16(int16(acks)))
	r = binary.BigEndian.AppendUint32(r, 30000)
	r = compact(append(r, 2), topic)
	r = append(r, 2)
	r = binary.BigEndian.AppendUint32(r, uint32(partition))
	r = binary.AppendUvarint(r, uint64(len(b)+1))
	return append(append(r, b...), 0, 0, 0)
}

// producedCodeAt is the place of the error code in the response: after correlation id, tags;
// topics, name, partitions, index.
func producedCodeAt(topic string) int { return 4 + 1 + 1 + 1 + len(topic) + 1 + 4 }

// producedV9 tells whether the answer says that all is well.
func producedV9(answer []byte, topic string) bool {
	at := producedCodeAt(topic)
	return len(answer) >= at+2 && binary.BigEndian.Uint16(answer[at:]) == 0
}

func main() {
	addr := flag.String("addr", "127.0.0.1:9092", "")
	conns := flag.Int("conns", 10, "")
	depth := flag.Int("depth", 1, "")
	size := flag.Int("size", 1000, "")
	nrec := flag.Int("records", 1, "records in a batch")
	secs := flag.Float64("secs", 5, "")
	acks := flag.Int("acks", -1, "")
	pid := flag.String("pid", "", "of the broker, and of processes whose CPU counts besides")
	parts := flag.Int("partitions", 1, "")
	spread := flag.Bool("spread", false, "over all partitions from each connection")
	topicFlag := flag.String("topic", "", "existing topic: create nothing")
	warm := flag.Float64("warm", 1, "seconds before the count begins")
	requests := flag.Int64("requests", 1<<62, "no more than these, the warm-up included")
	fetch := flag.Bool("fetch", false, "fetch from -topic instead")
	maxBytes := flag.Int("max-bytes", 1<<20, "of one answer to a fetch")
	committed := flag.Bool("committed", false, "fetch with read_committed")
	transactions := flag.Bool("transactions", false, "of one batch each; connections are producers")
	abortEvery := flag.Int("abort-every", 0, "aborts every so many transactions")
	exchangesFile := flag.String("exchanges", "", "requests and their answers, instead of producing")
	flag.BoolVar(&overTLS, "tls", false, "without verifying the certificate")
	handshakes := flag.Bool("handshakes", false, "connections that do no more than a TLS handshake")
	login := flag.String("login", "", "MECHANISM:USER:PASSWORD of connections that do no more than that (SCRAM)")
	stream := flag.Bool("stream", false, "a raw listener: produce records")
	streamBytes := flag.Int64("stream-bytes", 0, "of a stream to consume instead")
	flag.Parse()
	topic := *topicFlag
	pids := strings.Split(*pid, ",")
	var exchanges []exchange
	if *exchangesFile != "" {
		exchanges = readExchanges(*exchangesFile)
	} else if topic == "" && !*handshakes && *login == "" && !*stream {
		topic = createTopic(*addr)
	}
	batches := make([][]byte, variants)
	for v := range batches {
		batches[v] = batch(*nrec, sizeOf(v, *size), time.Now().UnixMilli())
	}
	var mu sync.Mutex
	var lats []int64
	var failed, fetchedBytes, begun int64
	run := func(secs float64, keep bool) (int, float64, float64, float64) {
		stop := time.Now().Add(time.Duration(secs * float64(time.Second)))
		var wg sync.WaitGroup
		total := 0
		c0, all0 := cpus(pids)
		t0 := time.Now()
		for i := 0; i < *conns; i++ {
			wg.Add(1)
			go func(i int) {
				defer wg.Done()
				time.Sleep(time.Duration(i) * time.Millisecond)
				if *fetch {
					n, size, bad, my := consume(*addr, topic, *maxBytes, *committed, stop)
					mu.Lock()
					defer mu.Unlock()
					total += n
					failed += bad
					if keep {
						fetchedBytes += size
						lats = append(lats, my...)
					}
					return
				}
				goOn := func() bool {
					return time.Now().Before(stop) && atomic.AddInt64(&begun, 1) <= *requests
				}
				if *transactions {
					id := fmt.Sprintf("%s-%d", topic, i)
					n, my := transact(*addr, topic, id, i%*parts, *abortEvery, batches, goOn)
					mu.Lock()
					defer mu.Unlock()
					total += n
					if keep {
						lats = append(lats, my...)
					}
					return
				}
				if *stream {
					var n int
					var read int64
					var my []int64
					if *streamBytes > 0 {
						n, read, my = followed(*addr, *streamBytes, stop)
					} else {
						n, my = streamed(*addr, *size, *depth, goOn)
					}
					mu.Lock()
					defer mu.Unlock()
					total += n
					if keep {
						fetchedBytes += read
						lats = append(lats, my...)
					}
					return
				}
				if *handshakes || *login != "" {
					n, my := connections(*addr, *login, goOn)
					mu.Lock()
					defer mu.Unlock()
					total += n
					if keep {
						lats = append(lats, my...)
					}
					return
				}
				c := dial(*addr)
				defer c.Close()
				var frames [][]byte
				good := func(answer []byte) bool { return producedV9(answer, topic) }
				if len(exchanges) > 0 {
					mine := exchanges[i%len(exchanges)]
					frames, good = mine.Requests, mine.answeredBy
				} else {
					for v := 0; v < max(variants, *parts); v++ {
						partition := i % *parts
						if *spread {
							partition = v % *parts
						}
						frames = append(frames, framed(produceBody(9, "", topic, partition, *acks, batches[(i+v)%variants])))
					}
				}
				rd := bufio.NewReaderSize(c, 1<<16)
				sent := make(chan time.Time, *depth)
				slots := make(chan struct{}, *depth)
				go func() {
					for id := 0; goOn(); id++ {
						slots <- struct{}{}
						sent <- time.Now()
						frame := frames[id%len(frames)]
						binary.BigEndian.PutUint32(frame[8:], uint32(id))
						if _, err := c.Write(frame); err != nil {
							break
						}
					}
					close(sent)
				}()
				var my []int64
				n := 0
				buf := make([]byte, 1<<16)
				id := uint32(0)
				for s := range sent {
					var h [4]byte
					if _, err := io.ReadFull(rd, h[:]); err != nil {
						fmt.Println("read:", err)
						os.Exit(1)
					}
					m := int(binary.BigEndian.Uint32(h[:]))
					io.ReadFull(rd, buf[:m])
					if !good(buf[:m]) {
						mu.Lock()
						failed++
						mu.Unlock()
					}
					if binary.BigEndian.Uint32(buf) != id {
						fmt.Println("an answer out of order")
						os.Exit(1)
					}
					id++
					my = append(my, time.Since(s).Microseconds())
					<-slots
					n++
				}
				mu.Lock()
				total += n
				if keep {
					lats = append(lats, my...)
				}
				mu.Unlock()
			}(i)
		}
		wg.Wait()
		dt := time.Since(t0).Seconds()
		c1, all1 := cpus(pids)
		return total, dt, c1 - c0, all1 - all0
	}
	if *warm > 0 {
		run(*warm, false)
	}
	n, dt, cp, all := run(*secs, true)
	if n == 0 {
		fmt.Println("no request was answered")
		os.Exit(1)
	}
	sort.Slice(lats, func(i, j int) bool { return lats[i] < lats[j] })
	q := func(p float64) int64 { return lats[int(float64(len(lats)-1)*p)] }
	result := map[string]any{
		"requests_per_s": float64(n) / dt,
		"p50_us":         q(.5),
		"p99_us":         q(.99),
		"p999_us":        q(.999),
		"max_us":         q(1),
		"failed":         failed,
	}
	if *pid != "" {
		result["cpu_us_per_request"] = cp / float64(n) * 1e6
		result["whole_cpu_us_per_request"] = all / float64(n) * 1e6
		result["cores"] = cp / dt
	}
	if topic != "" || *stream {
		mb := float64(n**size**nrec) / 1e6
		if *fetch || *streamBytes > 0 {
			mb = float64(fetchedBytes) / 1e6
		}
		result["mb_per_s"] = mb / dt
		if *pid != "" {
			result["cpu_s_per_gb"] = cp / mb * 1e3
		}
	}
	json.NewEncoder(os.Stdout).Encode(result)
}
