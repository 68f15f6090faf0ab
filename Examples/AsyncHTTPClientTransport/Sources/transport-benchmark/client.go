// The same calls by Go's net/http: prints the seconds and the seconds of processor time they took.
package main

import (
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"strconv"
	"sync"
	"syscall"
	"time"
)

type note struct {
	Id       int
	Title    string
	Text     string
	IsPinned bool
	Tags     []string
}

func check(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func call(client *http.Client, url string) {
	request, err := http.NewRequest("GET", url, nil)
	check(err)
	request.Header.Set("Accept", "application/json")
	request.Header.Set("User-Agent", "Notes/1.0")
	request.Header.Set("Authorization", "Bearer 0123456789")
	response, err := client.Do(request)
	check(err)
	defer response.Body.Close()
	var decoded note
	check(json.NewDecoder(response.Body).Decode(&decoded))
}

func run(client *http.Client, url string, calls, width int) {
	var group sync.WaitGroup
	for task := 0; task < width; task++ {
		group.Add(1)
		go func() {
			defer group.Done()
			for index := 0; index < calls/width; index++ {
				call(client, url)
			}
		}()
	}
	group.Wait()
}

func processorTime() float64 {
	var usage syscall.Rusage
	check(syscall.Getrusage(syscall.RUSAGE_SELF, &usage))
	return time.Duration(usage.Utime.Nano() + usage.Stime.Nano()).Seconds()
}

func main() {
	calls, err := strconv.Atoi(os.Args[2])
	check(err)
	width, err := strconv.Atoi(os.Args[3])
	check(err)
	connections, err := strconv.Atoi(os.Args[4])
	check(err)
	transport := &http.Transport{MaxConnsPerHost: connections, MaxIdleConnsPerHost: connections}
	client := &http.Client{Transport: transport, Timeout: time.Minute}
	run(client, os.Args[1], calls/4, width)
	cpu, start := processorTime(), time.Now()
	run(client, os.Args[1], calls, width)
	fmt.Println(time.Since(start).Seconds(), processorTime()-cpu)
}
