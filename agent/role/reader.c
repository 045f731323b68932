/*
 * The reader process: takes lines over its control line and answers on each of
 * them in a thread of its own, so that one hung file delays no other question
 * until the observer ends the whole process.
 */
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <unistd.h>

#include "base/mem.h"
#include "host/manners/manners.h"
#include "role/parts.h"
#include "role/readers.h"
#include "seam/frame.h"

static void
answer_on(int socket)
{
	WD_CLEANUP(wd_reader_free) struct wd_reader *reader = NULL;

	if (wd_reader_in_process(wd_host_io_manners(), &reader, NULL) == WD_OK)
		(void)!wd_reader_serve(socket, reader, &wd_clock_system, NULL);
	(void)close(socket);
}

static void *
run_line(void *socket)
{
	answer_on((int)(intptr_t)socket);
	return NULL;
}

/* Without a thread the line closes, and who asks hears that. */
static void
start_line(int socket)
{
	pthread_attr_t attributes;
	pthread_t thread;

	if (socket < 0)
		return;
	(void)pthread_attr_init(&attributes);
	(void)pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
	if (pthread_create(
		&thread, &attributes, run_line, (void *)(intptr_t)socket) != 0)
		(void)close(socket);
	(void)pthread_attr_destroy(&attributes);
}

int
wd_reader_run(int socket)
{
	struct wd_frame frame;
	enum wd_status st = WD_OK;

	/* A write beyond RLIMIT_FSIZE is an error, not the end. */
	(void)signal(SIGXFSZ, SIG_IGN);
	while (st == WD_OK) {
		st = wd_frame_receive(socket, 0, NULL, &frame, NULL);
		if (st == WD_OK) {
			start_line(wd_frame_take_fd(&frame));
			wd_frame_release(&frame);
		}
	}
	/* Threads that read are not waited for. */
	_exit(st == WD_GONE ? 0 : 1);
}
