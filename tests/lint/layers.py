#!/usr/bin/env python3
"""Holds every #include against the tables of agent/README.md.

Also: no #if that asks for an operating system and no header of one system
outside host/<os>/, and JSON text parsed nowhere but in base/json.c.
"""

import os
import re
import sys

import tree

INCLUDE = re.compile(r'^\s*#\s*include\s*([<"])([^>"]+)[>"]')
CONDITION = re.compile(r"^\s*#\s*(?:if|ifdef|ifndef|elif)\b(.*)")
SYSTEM = re.compile(
    r"\b(?:__linux__|__linux|linux|__gnu_linux__|__APPLE__|__MACH__|__darwin__|"
    r"TARGET_OS_\w+|_WIN32|_WIN64|__CYGWIN__|__unix__|__FreeBSD__|"
    r"__NetBSD__|__OpenBSD__|__DragonFly__|__ANDROID__|__sun)\b")
SYSTEM_HEADERS = ("linux/", "asm/", "mach/", "mach-o/", "libproc.h",
                  "sys/syscall.h", "sys/prctl.h", "sys/sysctl.h",
                  "sys/proc_info.h", "sys/epoll.h", "sys/event.h")
OWN_FOLDER = re.compile(r"^agent/host/(?!fixture/)[^/]+/|^agent/role/")
PARSERS = re.compile(r"\bjson_(?:load|loads|loadb|loadf|loadfd|load_file|"
                     r"load_callback|unpack|unpack_ex)\s*\(")
PARSER_FILE = "agent/base/json.c"


def cells(line):
    return [cell.strip() for cell in line.strip().strip("|").split("|")]


def words(cell):
    return {word.strip() for word in cell.split(",") if word.strip()}


def read_tables(root):
    """(room -> folder, room -> rooms it may use, library -> rooms)."""
    folders, arrows, libraries, kind = {}, {}, {}, None
    for _, line in tree.lines(root, "agent/README.md"):
        if not line.startswith("|"):
            kind = None
            continue
        row = cells(line)
        if row[0] in ("room", "header"):
            kind = row[0]
        elif set(row[0]) <= set("-:") or kind is None:
            continue
        elif kind == "room":
            folders[row[0]] = row[1].rstrip("/") + "/"
            arrows[row[0]] = words(row[-1])
        else:
            libraries[row[0]] = words(row[-1])
    return folders, arrows, libraries


def check_tables(folders, arrows, libraries):
    """Unknown names, and circles."""
    found = []
    for room, used in list(arrows.items()) + list(libraries.items()):
        for name in sorted(used - set(folders)):
            found.append(f"agent/README.md: {room} names the unknown room "
                         f"{name}")
    left = {room: set(used) & set(folders) for room, used in arrows.items()}
    while left:
        free = [room for room, used in left.items() if not used & set(left)]
        if not free:
            found.append("agent/README.md: the arrows go in a circle: " +
                         ", ".join(sorted(left)))
            break
        for room in free:
            del left[room]
    return found


def room_of(path, folders):
    """The room whose folder holds `path`; the longest one."""
    best = None
    for room, folder in folders.items():
        if path.startswith(folder) and (
                best is None or len(folder) > len(folders[best])):
            best = room
    return best


# Where the build looks for our headers (packaging/cmake/Flags.cmake).
SEARCHED = ("agent/", "proto/", "client/", "include/")


def target_room(header, root, folders):
    if header.endswith(".pb-c.h"):
        return "schema"
    for folder in SEARCHED:
        if os.path.isfile(os.path.join(root, folder, header)):
            return room_of(folder + header, folders)
    return None


def check_own(room, header, root, folders, arrows):
    target = target_room(header, root, folders)
    if target is None:
        return f'"{header}" is not found from any room\'s root'
    if target != room and target not in arrows[room]:
        return f"{room} may not use {target} ({header})"
    return None


def library_of(header, libraries):
    for library in libraries:
        if header == library or (library.endswith("/") and
                                 header.startswith(library)):
            return library
    return None


def check_foreign(path, room, header, libraries):
    library = library_of(header, libraries)
    if library is not None and room not in libraries[library]:
        return f"{room} may not use {header}; {library} belongs to " + (
            ", ".join(sorted(libraries[library])) or "nobody yet")
    if header.startswith(SYSTEM_HEADERS) and not OWN_FOLDER.match(path):
        return f"{header} is of one system; it belongs into host/<os>/"
    return None


def check_line(path, room, line, root, tables):
    folders, arrows, libraries = tables
    include = INCLUDE.match(line)
    if include and include.group(1) == '"':
        return check_own(room, include.group(2), root, folders, arrows)
    if include:
        return check_foreign(path, room, include.group(2), libraries)
    condition = CONDITION.match(line)
    if condition and SYSTEM.search(condition.group(1)) and \
            not OWN_FOLDER.match(path):
        return "asks for an operating system outside host/<os>/"
    if PARSERS.search(line) and path != PARSER_FILE:
        return f"parses JSON by itself; {PARSER_FILE} does that"
    return None


def main():
    root = tree.root_of(sys.argv)
    tables = read_tables(root)
    found = check_tables(*tables)
    looked = 0
    for path in tree.files(root, (".c", ".h")):
        if not path.startswith(("agent/", "proto/", "client/", "include/")):
            continue
        room = room_of(path, tables[0])
        if room is None:
            found.append(f"{path}: lies in no room of agent/README.md")
            continue
        looked += 1
        for number, line in tree.lines(root, path):
            wrong = check_line(path, room, line, root, tables)
            if wrong:
                found.append(f"{path}:{number}: {wrong}")
    tree.finish(found, looked)


main()
