#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""compdb.py OBJS COMMAND SOURCE...: prints compile_commands.json, for clangd and other tools.

COMMAND is the compiler with its flags; -c, the source and -o are added.
"""
import json
import shlex
import sys
from pathlib import Path

objs, command, *sources = sys.argv[1:]
here = str(Path.cwd())
print(json.dumps([{
    "directory": here,
    "file": source,
    "output": f"{objs}/o/{source[:-2]}.o",
    "arguments": [*shlex.split(command), "-c", source, "-o", f"{objs}/o/{source[:-2]}.o"],
} for source in sources], indent=1))
