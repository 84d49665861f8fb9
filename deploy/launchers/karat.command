#!/bin/sh
# Opens the karat studio on macOS: double-click this file.
exec "${SHELL:-/bin/sh}" -lc karat
