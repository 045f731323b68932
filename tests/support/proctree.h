/*
 * proctree.h - a small builder of folders laid out like /proc, for tests that
 * run the Linux backend on a captured tree.
 */
#ifndef WD_TESTS_SUPPORT_PROCTREE_H
#define WD_TESTS_SUPPORT_PROCTREE_H

#include <stddef.h>

/* Makes DIR/NAME with all folders above it. Each ends the test when it
 * cannot. */
void wd_tree_file(const char *dir, const char *name, const char *text);
void wd_tree_bytes(
    const char *dir, const char *name, const void *bytes, size_t len);
void wd_tree_link(const char *dir, const char *name, const char *target);
void wd_tree_folder(const char *dir, const char *name);

/* A process as far as every look needs it: stat, status, fd/, task/PID/,
 * cgroup, cmdline, ns/net of namespace 4000. */
void wd_tree_process(const char *dir, int pid, int parent, const char *comm);

/* The head of net/tcp or net/tcp6 followed by `rows`. */
void wd_tree_net(const char *dir, const char *name, const char *rows);

#endif
