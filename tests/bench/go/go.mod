module evencore.io/bench/yardstick

go 1.26
