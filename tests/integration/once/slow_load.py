"""A server that listens first and reads its file for ever after.

Usage: slow_load.py --model FILE. Prints the port. Ends with standard input.
"""

import os
import select
import socket
import sys

listener = socket.socket()
listener.bind(("127.0.0.1", 0))
listener.listen()
print(listener.getsockname()[1], flush=True)
fd = os.open(sys.argv[2], os.O_RDONLY)
while not select.select([sys.stdin], [], [], 0.001)[0]:
    if len(os.read(fd, 64)) < 64:
        os.lseek(fd, 0, os.SEEK_SET)
