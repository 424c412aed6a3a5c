// The Go yardstick: the webhook's job as one would write it with the standard library alone.
//
// It decodes the fields it needs into structs, checks the QoS class, rounds the CPUs of every
// container of a Guaranteed pod up to a multiple of two and answers with a JSON Patch.
package main

import (
	"crypto/tls"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"log"
	"net/http"
	"strconv"
	"strings"
	"time"
)

const (
	width   = 2       // logical CPUs per physical core
	maxBody = 8 << 20 // bytes
)

type admissionReview struct {
	APIVersion string    `json:"apiVersion"`
	Kind       string    `json:"kind"`
	Request    *request  `json:"request,omitempty"`
	Response   *response `json:"response,omitempty"`
}

type request struct {
	UID       string `json:"uid"`
	Operation string `json:"operation"`
	Object    pod    `json:"object"`
}

type response struct {
	UID       string `json:"uid"`
	Allowed   bool   `json:"allowed"`
	PatchType string `json:"patchType,omitempty"`
	Patch     []byte `json:"patch,omitempty"` // encoding/json writes base64
}

type pod struct {
	Metadata struct {
		Annotations map[string]string `json:"annotations"`
	} `json:"metadata"`
	Spec struct {
		InitContainers []container `json:"initContainers"`
		Containers     []container `json:"containers"`
	} `json:"spec"`
}

type container struct {
	Name      string `json:"name"`
	Resources struct {
		Limits   map[string]string `json:"limits"`
		Requests map[string]string `json:"requests"`
	} `json:"resources"`
}

type operation struct {
	Op    string `json:"op"`
	Path  string `json:"path"`
	Value any    `json:"value"`
}

// guaranteed tells whether every container asks for CPU and memory, and for as much as its limit.
func guaranteed(containers []container) (bool, error) {
	for _, c := range containers {
		for _, name := range []string{"cpu", "memory"} {
			limit, err := parseQuantity(c.Resources.Limits[name])
			if err != nil {
				return false, err
			}
			request, err := parseQuantity(c.Resources.Requests[name])
			if err != nil {
				return false, err
			}
			if limit == 0 || limit != request {
				return false, nil
			}
		}
	}
	return len(containers) > 0, nil
}

// align returns the operations for one list of containers and notes what it did.
func align(list string, containers []container, original map[string]string, done *[]string) ([]operation, error) {
	var ops []operation
	for i, c := range containers {
		was := c.Resources.Limits["cpu"]
		milli, err := parseQuantity(was)
		if err != nil {
			return nil, err
		}
		cpus := (milli + width*1000 - 1) / (width * 1000) * width
		if cpus*1000 == milli {
			continue
		}
		value := strconv.FormatInt(cpus, 10)
		base := fmt.Sprintf("/spec/%s/%d/resources/", list, i)
		ops = append(ops,
			operation{"replace", base + "requests/cpu", value},
			operation{"replace", base + "limits/cpu", value})
		original[c.Name] = was
		*done = append(*done, fmt.Sprintf("%s: cpu %s to %s, whole cores of %d threads", c.Name, was, value, width))
	}
	return ops, nil
}

// patch returns the JSON Patch for a pod, nil if nothing is to be changed.
func patch(p *pod) ([]byte, error) {
	all := append(append([]container{}, p.Spec.InitContainers...), p.Spec.Containers...)
	if ok, err := guaranteed(all); err != nil || !ok {
		return nil, err
	}
	original := map[string]string{}
	var done []string
	ops, err := align("initContainers", p.Spec.InitContainers, original, &done)
	if err != nil {
		return nil, err
	}
	more, err := align("containers", p.Spec.Containers, original, &done)
	if err != nil {
		return nil, err
	}
	if ops = append(ops, more...); len(ops) == 0 {
		return nil, nil
	}
	wrote, err := json.Marshal(original)
	if err != nil {
		return nil, err
	}
	if p.Metadata.Annotations == nil {
		ops = append(ops, operation{"add", "/metadata/annotations", map[string]string{}})
	}
	ops = append(ops,
		operation{"add", "/metadata/annotations/evencore.io~1original-cpu", string(wrote)},
		operation{"add", "/metadata/annotations/evencore.io~1decision", strings.Join(done, "; ")})
	return json.Marshal(ops)
}

func mutate(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxBody))
	if err != nil {
		http.Error(w, err.Error(), http.StatusRequestEntityTooLarge)
		return
	}
	var review admissionReview
	if err := json.Unmarshal(body, &review); err != nil || review.Request == nil {
		http.Error(w, "not an AdmissionReview", http.StatusBadRequest)
		return
	}
	answer := &response{UID: review.Request.UID, Allowed: true}
	if review.Request.Operation == "CREATE" {
		ops, err := patch(&review.Request.Object)
		if err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		if ops != nil {
			answer.PatchType, answer.Patch = "JSONPatch", ops
		}
	}
	out, err := json.Marshal(admissionReview{APIVersion: review.APIVersion, Kind: review.Kind, Response: answer})
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	_, _ = w.Write(out)
}

func main() {
	address := flag.String("bind", "", "host:port to listen on")
	certFile := flag.String("tls-cert", "", "certificate, PEM")
	keyFile := flag.String("tls-key", "", "private key, PEM")
	flag.Parse()

	mux := http.NewServeMux()
	mux.HandleFunc("POST /mutate", mutate)
	mux.HandleFunc("GET /readyz", func(http.ResponseWriter, *http.Request) {})
	server := &http.Server{
		Addr:              *address,
		Handler:           mux,
		TLSConfig:         &tls.Config{MinVersion: tls.VersionTLS13},
		ReadHeaderTimeout: 10 * time.Second,
		IdleTimeout:       120 * time.Second,
	}
	log.Fatal(server.ListenAndServeTLS(*certFile, *keyFile))
}
