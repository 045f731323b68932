#include "role/confine.h"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <linux/capability.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/slice.h"
#include "role/linux/caps.h"

/* Where an address sanitizer is built in, it maps terabytes. */
#if defined(__SANITIZE_ADDRESS__)
#define IS_SANITIZED 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define IS_SANITIZED 1
#endif
#endif
#ifndef IS_SANITIZED
#define IS_SANITIZED 0
#endif

/* Facts of a million tensors take 1 GiB at most, of several at once a few;
 * the address space of threads comes on top. */
#define READER_SPACE (UINT64_C(16) << 30)
/* Threads of the reader: two for each line of the observer, whose threads are
 * at most 32. */
#define READER_THREADS 256

/* What the observer keeps, of what it was given; role/README.md says what each
 * is for. */
static const uint64_t observer_caps = WD_CAP(CAP_SYS_PTRACE) |
    WD_CAP(CAP_DAC_READ_SEARCH) | WD_CAP(CAP_CHECKPOINT_RESTORE) |
    WD_CAP(CAP_SYS_ADMIN) | WD_CAP(CAP_LEASE) | WD_CAP(CAP_SETUID) |
    WD_CAP(CAP_SETGID) | WD_CAP(CAP_SETPCAP) | WD_CAP(CAP_KILL);

static bool
has_caps(uint64_t wanted)
{
	struct wd_caps caps;

	return wd_caps_get(&caps, NULL) == WD_OK &&
	    (caps.effective & wanted) == wanted;
}

bool
wd_can_change_user(void)
{
	return has_caps(WD_CAP(CAP_SETUID) | WD_CAP(CAP_SETGID));
}

bool
wd_can_see_hidden(void)
{
	return has_caps(WD_CAP(CAP_SYS_PTRACE));
}

/* "0 0 4294967295": every user is there as itself (user_namespaces(7)). */
bool
wd_root_is_nobody(void)
{
	char text[256];
	int fd = open("/proc/self/uid_map", O_RDONLY | O_CLOEXEC);
	ssize_t len = fd < 0 ? -1 : read(fd, text, sizeof(text));
	struct wd_slice rest = { (const uint8_t *)text, 0 }, word;
	uint64_t numbers[3] = { 0, 0, UINT32_MAX };
	unsigned count = 0;

	if (fd >= 0)
		(void)close(fd);
	if (len <= 0)
		return false;
	rest.len = (size_t)len;
	while (count < 3 && wd_slice_cut(&rest, ' ', &word)) {
		if (word.len > 0 && word.data[word.len - 1] == '\n')
			word.len--;
		if (word.len > 0 &&
		    !wd_slice_number(word, 10, &numbers[count++]))
			return false;
	}
	return count == 3 &&
	    (numbers[0] != 0 || numbers[1] != 0 || numbers[2] != UINT32_MAX);
}

/* ---- limits -------------------------------------------------------------- */

static enum wd_status
limit(int which, uint64_t most, struct wd_error *err)
{
	struct rlimit now;

	if (getrlimit((__rlimit_resource_t)which, &now) != 0)
		return wd_fail_errno(err, errno, "getrlimit");
	if (now.rlim_max == RLIM_INFINITY || now.rlim_max > most)
		now.rlim_max = (rlim_t)most;
	now.rlim_cur = now.rlim_max;
	if (setrlimit((__rlimit_resource_t)which, &now) != 0)
		return wd_fail_errno(err, errno, "setrlimit");
	return WD_OK;
}

/* The front writes its log, the reader nothing at all. */
static enum wd_status
set_limits(
    enum wd_part part, const struct wd_confinement *how, struct wd_error *err)
{
	bool reads = part == WD_PART_READER;
	enum wd_status st = limit(RLIMIT_CORE, 0, err);

	if (st == WD_OK)
		st = limit(RLIMIT_NOFILE, reads ? 65536 : 8192, err);
	if (st == WD_OK && reads)
		st = limit(RLIMIT_FSIZE, 0, err);
	if (st == WD_OK && reads && !IS_SANITIZED)
		st = limit(RLIMIT_AS, READER_SPACE, err);
	/* It counts all processes of the user, so it needs a user of its
	 * own. */
	if (st == WD_OK && how->user.change)
		st = limit(RLIMIT_NPROC, reads ? READER_THREADS : 1, err);
	return st;
}

/* ---- a child ------------------------------------------------------------- */

static enum wd_status
become(const struct wd_user *user, struct wd_error *err)
{
	if (!user->change)
		return WD_OK;
	if (setgroups(0, NULL) != 0 ||
	    setresgid(user->gid, user->gid, user->gid) != 0 ||
	    setresuid(user->uid, user->uid, user->uid) != 0)
		return wd_fail_errno(err, errno, "cannot become user %lu",
		    (unsigned long)user->uid);
	return WD_OK;
}

static bool
is_now(const struct wd_user *user)
{
	uid_t uids[3];
	gid_t gids[3];

	if (!user->change)
		return true;
	return getresuid(&uids[0], &uids[1], &uids[2]) == 0 &&
	    getresgid(&gids[0], &gids[1], &gids[2]) == 0 &&
	    uids[0] == user->uid && uids[1] == user->uid &&
	    uids[2] == user->uid && gids[0] == user->gid &&
	    gids[1] == user->gid && gids[2] == user->gid &&
	    getgroups(0, NULL) == 0 && setuid(0) != 0 && setgid(0) != 0;
}

static enum wd_status
check(const struct wd_confinement *how, struct wd_error *err)
{
	struct wd_caps caps;
	enum wd_status st = wd_caps_get(&caps, err);

	if (st != WD_OK)
		return st;
	if ((caps.effective | caps.permitted | caps.inheritable) != 0)
		return wd_fail(
		    err, WD_DENIED, "capabilities are left that were given up");
	if (!is_now(&how->user))
		return wd_fail(err, WD_DENIED,
		    "the process is not the user that it was to become");
	return WD_OK;
}

static enum wd_status
lock_down(enum wd_part part, bool hide, struct wd_error *err)
{
	static const struct wd_caps none;
	enum wd_status st = wd_caps_set(&none, err);

	if (st != WD_OK)
		return st;
	/* It was started through a link whose name is "exe". */
	(void)prctl(PR_SET_NAME,
	    part == WD_PART_FRONT ? "weightd-front" : "weightd-reader");
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 ||
	    prctl(PR_SET_DUMPABLE, hide ? 0 : 1, 0, 0, 0) != 0 ||
	    prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0) != 0)
		return wd_fail_errno(err, errno, "prctl");
	return WD_OK;
}

enum wd_status
wd_confine_child(
    enum wd_part part, const struct wd_confinement *how, struct wd_error *err)
{
	enum wd_status st = WD_OK;

	if (has_caps(WD_CAP(CAP_SETPCAP)))
		st = wd_caps_bound(0, err);
	if (st == WD_OK)
		st = become(&how->user, err);
	/* Behind the change of user, which undoes the parent's signal. */
	if (st == WD_OK)
		st = lock_down(part, how->hide, err);
	if (st == WD_OK)
		st = set_limits(part, how, err);
	return st == WD_OK ? check(how, err) : st;
}

/* ---- the observer -------------------------------------------------------- */

enum wd_status
wd_confine_observer(struct wd_error *err)
{
	struct wd_caps caps;
	enum wd_status st = wd_caps_get(&caps, err);

	if (st != WD_OK)
		return st;
	caps.permitted &= observer_caps;
	caps.effective = caps.permitted;
	caps.inheritable = 0;
	if (has_caps(WD_CAP(CAP_SETPCAP)))
		st = wd_caps_bound(observer_caps, err);
	if (st == WD_OK)
		st = wd_caps_set(&caps, err);
	if (st == WD_OK)
		st = limit(RLIMIT_CORE, 0, err);
	if (st != WD_OK)
		return st;
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 ||
	    (wd_can_see_hidden() && prctl(PR_SET_DUMPABLE, 0, 0, 0, 0) != 0))
		return wd_fail_errno(err, errno, "prctl");
	return WD_OK;
}
