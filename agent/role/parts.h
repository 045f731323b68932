/*
 * parts.h - the processes as programs of their own.
 */
#ifndef WD_ROLE_PARTS_H
#define WD_ROLE_PARTS_H

/* weightd --role=front|reader UID GID hide|show, with the observer's line as
 * descriptor 3: for the observer to start, of no use to anybody else. Returns
 * the exit code. */
int wd_part_main(int count, char **arguments);

/* Their work, confined already. */
int wd_front_run(int socket);
int wd_reader_run(int socket);

#endif
