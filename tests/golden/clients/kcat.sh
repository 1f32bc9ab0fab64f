#!/bin/sh
# kcat.sh ADDRESS: what people do with kcat, once through.
address="$1"
kcat="timeout 10 kcat -X client.id=golden -b $address"
printf 'k1:v1\nk2:v2\n' | $kcat -P -t kcat-plain -K: -p 0 -H a=b
printf 'x\n' | $kcat -P -t kcat-plain -z gzip -p 0 -X acks=1
printf 'y\n' | $kcat -P -t kcat-plain -z lz4 -p 0 -X enable.idempotence=true
$kcat -L
$kcat -L -t kcat-plain -J
$kcat -C -t kcat-plain -p 0 -o beginning -e -q
$kcat -C -t kcat-plain -p 0 -o -1 -e -q
$kcat -C -t kcat-plain -p 0 -o 5000 -e -q -X auto.offset.reset=error
$kcat -C -t kcat-plain -p 0 -o s@1700000000000 -e -q
$kcat -Q -t kcat-plain:0:-1 -t kcat-plain:0:1700000000000
$kcat -G kcat-group -e -q -X auto.offset.reset=earliest kcat-plain
exit 0
