# What ./start and ./check share; sourced by both. Prints what it runs.

run() { echo "+ $*"; "$@"; }

# find_python: the first Python of 3.11 or later.
find_python() {
  local python
  for python in python3.11 python3.12 python3.13 python3; do
    if command -v "$python" >/dev/null && "$python" -c 'import sys; sys.exit(sys.version_info < (3, 11))'; then
      echo "$python"
      return
    fi
  done
  echo "Firstword needs Python 3.11 or later; install it and run this again." >&2
  return 1
}

# make_venv EXTRAS: .venv with the project and these extras. Does nothing where that is there already.
make_venv() {
  local extras="$1" python stamp
  stamp="$(cat pyproject.toml constraints.txt | cksum | tr -d ' \n') $extras"
  if [ -x .venv/bin/firstword ] && grep -qsxF "$stamp" .venv/installed; then
    return
  fi
  python="$(find_python)"
  [ -x .venv/bin/python ] || run "$python" -m venv .venv
  run .venv/bin/python -m pip install --quiet --disable-pip-version-check -c constraints.txt -e ".[$extras]"
  echo "$stamp" >> .venv/installed
}

# from_debian PACKAGE WITHOUT: installs it from Debian's packages where that can be done, else says WITHOUT.
from_debian() {
  if [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null; then
    run apt-get update -qq
    DEBIAN_FRONTEND=noninteractive run apt-get install -y -qq --no-install-recommends "$1" >/dev/null
  else
    echo "$2"
  fi
}

# find_chromium: the browser tests' browser.
find_chromium() {
  command -v chromium >/dev/null && return
  from_debian chromium "chromium is not installed: the browser tests will say that they are skipped."
}

# find_postgres: the server the tests keep conversations in.
find_postgres() {
  { command -v pg_ctl || ls /usr/lib/postgresql/*/bin/pg_ctl; } >/dev/null 2>&1 && return
  from_debian postgresql "PostgreSQL is not installed: its tests will say that they are skipped."
}

# check_page: the types in the page's scripts (JSDoc), with TypeScript from the npm index; says so where there is no npm.
check_page() {
  local typescript=5.9.3
  if ! command -v npm >/dev/null; then
    echo "npm is not installed: the types of the page's scripts are not checked."
    return
  fi
  if ! grep -qs "\"version\": \"$typescript\"" .venv/node/node_modules/typescript/package.json; then
    run npm install --prefix .venv/node --no-save --no-audit --no-fund --loglevel error "typescript@$typescript"
  fi
  run .venv/node/node_modules/.bin/tsc -p web/tsconfig.json
}

# find_livekit: the LiveKit server whose rooms the tests talk in, built once with Go and kept outside this folder.
find_livekit() {
  local version=1.13.5 kept
  command -v livekit-server >/dev/null && return
  kept="${XDG_CACHE_HOME:-$HOME/.cache}/firstword/livekit-server-$version"
  [ -x "$kept/server" ] && return
  if ! command -v go >/dev/null; then
    echo "Go is not installed, so no LiveKit server is built: its tests will say that they are skipped."
    return
  fi
  CGO_ENABLED=0 GOBIN="$kept" run go install -ldflags "-s -w" "github.com/livekit/livekit-server/cmd/server@v$version" ||
    echo "The LiveKit server could not be built: its tests will say that they are skipped."
}

# find_livekit_client: LiveKit's own client for the page, from the npm index; this server is who serves it.
find_livekit_client() {
  local version=2.23.0 kept
  kept="${XDG_CACHE_HOME:-$HOME/.cache}/firstword/livekit-client-$version"
  [ -s "$kept/livekit-client.umd.js" ] && return
  if ! command -v npm >/dev/null; then
    echo "npm is not installed, so LiveKit's client is not fetched: the page will take the direct path."
    return
  fi
  run npm install --prefix .venv/livekit --no-save --no-audit --no-fund --loglevel error "livekit-client@$version"
  mkdir -p "$kept"
  cp .venv/livekit/node_modules/livekit-client/dist/livekit-client.umd.js "$kept/livekit-client.part"
  mv "$kept/livekit-client.part" "$kept/livekit-client.umd.js"
}
