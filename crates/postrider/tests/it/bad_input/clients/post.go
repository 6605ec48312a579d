// Posts a body again and again with net/http, and prints the status of each answer.
package main

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"os"
	"strconv"
)

func main() {
	size, _ := strconv.Atoi(os.Args[2])
	count, _ := strconv.Atoi(os.Args[3])
	body := bytes.Repeat([]byte("x"), size)
	for range count {
		answer, err := http.Post(os.Args[1], "text/plain", bytes.NewReader(body))
		if err != nil {
			fmt.Println(err)
			continue
		}
		io.Copy(io.Discard, answer.Body)
		answer.Body.Close()
		fmt.Println(answer.StatusCode)
	}
}
