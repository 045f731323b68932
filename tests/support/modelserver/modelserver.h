/*
 * modelserver.h - a server that holds model files as inference engines do.
 *
 * For tests and for the demonstration of packaging/try.sh. It infers nothing:
 * it answers every HTTP request with 200 and the name it was told to claim,
 * and otherwise does on command, and only on command, what real servers do by
 * themselves (engines load, swap, fork and leave files behind in all the ways
 * that the commands of control.c name). One loop, no hidden timing: when a
 * command has been answered, its effect is there.
 *
 * libc only; it shares no code with what it is there to test.
 */
#ifndef WD_MODELSERVER_H
#define WD_MODELSERVER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#define MS_MAX_MODELS 64
#define MS_MAX_LISTENERS 256
#define MS_MAX_CONNECTIONS 256
#define MS_MAX_CHILDREN 256
#define MS_LINE_BYTES 8192

/* Children and orphans end by themselves after this long, so that a test that
 * was killed leaves nothing for ever. */
#define MS_CHILD_SECONDS 900

enum ms_load {
	MS_NONE,
	MS_MMAP,         /* shared, read-only, whole file, descriptor closed */
	MS_MMAP_PRIVATE, /* private and writable, whole file */
	MS_READ_CLOSE,   /* read to the end into memory, then closed */
	MS_READ_KEEP_FD,
	MS_OPEN_ONLY,
	MS_PARTIAL_MAP, /* `bytes` from `offset` */
	MS_TENSOR_DATA, /* from `offset`, or the tensor data, to the end */
};

struct ms_manner {
	enum ms_load load;
	uint64_t bytes;
	uint64_t offset;
};

/* One loaded file. */
struct ms_weight {
	char *path;
	struct ms_manner manner;
	int fd; /* -1: closed */
	void *mapped;
	size_t mapped_bytes;
	void *memory; /* what was read */
};

struct ms_listener {
	int fd;
	uint16_t port;
};

struct ms_server {
	int argc;
	char **argv;       /* the memory that /proc/PID/cmdline shows */
	char **saved_argv; /* a copy; survives ms_title */
	char alias[256];   /* "*": the name that was asked for */
	char asked[256];
	struct ms_manner manner; /* of the command line */
	const char *models[MS_MAX_MODELS];
	size_t model_count;
	struct ms_weight weights[MS_MAX_MODELS];
	size_t weight_count;
	struct ms_listener listeners[MS_MAX_LISTENERS];
	size_t listener_count;
	int connections[MS_MAX_CONNECTIONS];
	size_t connection_count;
	pid_t children[MS_MAX_CHILDREN]; /* ended with the server */
	size_t child_count;
	bool control; /* read commands from standard input */
	bool accepting;
	bool holding; /* requests wait */
	bool stopping;
};

extern struct ms_server ms;

/* Every function that can fail returns false and leaves a line of text here
 * for the answer "error TEXT". */
extern char ms_problem[512];
bool ms_fail(const char *format, ...) __attribute__((format(printf, 1, 2)));
bool ms_fail_errno(const char *what);

/* The answer to the command at work; the part behind "ok". */
void ms_answer(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* weights.c */
bool ms_manner_parse(const char *text, struct ms_manner *manner);
bool ms_weight_load(const char *path, const struct ms_manner *manner);
void ms_weights_drop(void);
bool ms_weight_write_private(void);
bool ms_weight_memfd(const char *path);
bool ms_weight_shared_writable(const char *path);

/* files.c: what happens to the first model's file on disk */
bool ms_file_replace(const char *path, const char *with);
bool ms_file_overwrite(const char *path, const char *with);
bool ms_file_truncate(const char *path, uint64_t bytes);
/* Where a GGUF file's tensor data begins. */
bool ms_gguf_data_offset(int fd, uint64_t *offset);

/* sockets.c */
enum ms_listen_flag {
	MS_V6 = 1,
	MS_DUAL = 2,
	MS_MPTCP = 4,
	MS_REUSEPORT = 8,
	MS_LOOPBACK = 16,
};
bool ms_listen(
    uint16_t port, unsigned flags, const char *address, uint16_t *got);
bool ms_listen_adopt(int fd);
bool ms_listen_unix(const char *path);
bool ms_close_port(uint16_t port);
void ms_close_listeners(void);
bool ms_connect(uint16_t port);
bool ms_http_take(int fd);
void ms_http_answer(int fd);
void ms_loop(void);

/* children.c */
bool ms_fork_worker(void);
bool ms_fork_holders(unsigned long count);
bool ms_fork_reuseport(const char *model);
bool ms_orphan(void);
bool ms_activate(void);
bool ms_exec_self(const char *more);
bool ms_spawn(char *words);
bool ms_fork_reader(const char *title);
bool ms_leader_exit(void);
bool ms_thread_files(void);
void ms_end_children(void);
void ms_title(const char *text, size_t len);

/* control.c */
void ms_control_line(char *line);

#endif
