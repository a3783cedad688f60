# Sourced by compare and live: how text of programs and models is shown, and how
# journals are found.

# quiet copies standard input to a CI's log so that nothing in it is taken for a
# command to the runner.
quiet() {
	if [ "${GITHUB_ACTIONS:-}" != true ]; then
		cat
		return
	fi
	local token
	token=$(od -An -N16 -tx1 /dev/urandom | tr -d ' \n')
	printf '::stop-commands::%s\n' "$token"
	cat
	printf '\n::%s::\n' "$token"
}

# pre makes of standard input a block that is shown as it is: no markdown, no
# HTML, no mention of anybody, whatever it holds. Control characters are dropped.
pre() {
	printf '<pre>\n'
	LC_ALL=C tr -d '\000-\010\013-\037\177' | sed -e 's/&/\&amp;/g' -e 's/</\&lt;/g' -e 's/>/\&gt;/g'
	printf '</pre>\n\n'
}

# A test's journals lie in a folder that its name decides: under two folders, the
# same path is the same test. What else lies there, such as a bake-off's results
# and the items that broke, has names of other forms.
digits=[0-9][0-9][0-9][0-9][0-9][0-9]
journal="$digits[0-9][0-9]T$digits.$digits-*.jsonl"

# find_journals FIND-ARG... is find, for journals.
find_journals() { find "$@" -type f '(' -name "$journal" -o -name "$journal.gz" ')' ! -name '*.broken.jsonl' -print; }

# folders DIR lists those that hold journals.
folders() {
	[ -d "$1" ] || return 0
	(cd "$1" && find_journals . | sed -e 's|^\./||' -e 's|/[^/]*$||' | LC_ALL=C sort -u)
}

# newest DIR is the last journal in it: their names begin with the time.
newest() { find_journals "$1" -maxdepth 1 | LC_ALL=C sort | tail -n 1; }

# called FOLDER is its name without the hashes that keep names apart.
called() { printf '%s' "$1" | sed -e 's/~[0-9a-z]*//g'; }
