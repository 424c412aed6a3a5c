package main

import (
	"fmt"
	"strconv"
	"strings"
)

// Suffixes of Kubernetes quantities, in thousandths of one.
var milliPerUnit = map[string]int64{
	"m": 1, "": 1e3, "k": 1e6, "M": 1e9, "G": 1e12, "T": 1e15,
	"Ki": 1000 << 10, "Mi": 1000 << 20, "Gi": 1000 << 30, "Ti": 1000 << 40,
}

// parseQuantity returns a Kubernetes quantity in thousandths, rounded up.
func parseQuantity(text string) (int64, error) {
	end := strings.LastIndexAny(text, "0123456789.") + 1
	factor, known := milliPerUnit[text[end:]]
	if !known {
		return 0, fmt.Errorf("quantity %q: unknown suffix %q", text, text[end:])
	}
	whole, fraction, _ := strings.Cut(text[:end], ".")
	milli, err := strconv.ParseInt(whole, 10, 64)
	if err != nil {
		return 0, fmt.Errorf("quantity %q: %w", text, err)
	}
	milli *= factor
	for _, digit := range fraction {
		factor /= 10
		milli += int64(digit-'0') * factor
	}
	return milli, nil
}
