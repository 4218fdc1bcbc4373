#!/bin/sh
# Installs code-server (VS Code, served to a browser) from the npm registry into the folder $1, for tests. Needs node 20.
# Its own script fetches ripgrep from elsewhere, which only the search in files needs: it is left out.
set -eu
mkdir -p "$1"
cd "$1"
test -f package.json || echo '{ "private": true }' > package.json
npm install --ignore-scripts --no-audit --no-fund code-server@4.99.4
cd node_modules/code-server/lib/vscode
npm install --omit=dev --ignore-scripts --no-audit --no-fund
ln -sfn node_modules node_modules.asar
(cd extensions && npm install --omit=dev --ignore-scripts --no-audit --no-fund)
npm_config_yes=true npm rebuild @vscode/spdlog native-watchdog node-pty # node-pty calls npx, which would ask
cd "$1"
npm_config_build_from_source=true npm rebuild argon2
node node_modules/code-server/out/node/entry.js --version
