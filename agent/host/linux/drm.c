#include "host/linux/drm.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "base/checked.h"
#include "base/escape.h"
#include "base/limits.h"
#include "base/mem.h"
#include "host/ties.h"

/* Documented fields alone need a few hundred bytes. */
#define INFO_BYTES 65536

void
wd_drm_handles_release(struct wd_drm_handles *handles)
{
	wd_free(handles->items);
	memset(handles, 0, sizeof(*handles));
}

/* ---- one descriptor ------------------------------------------------------ */

static struct wd_slice
last_part(struct wd_slice path)
{
	const uint8_t *slash =
	    path.len == 0 ? NULL : memrchr(path.data, '/', path.len);

	if (slash == NULL)
		return path;
	path.len -= (size_t)(slash + 1 - path.data);
	path.data = slash + 1;
	return path;
}

static bool
is_pci_address(struct wd_slice text)
{
	static const char form[] = "hhhh:hh:hh.h";
	size_t i;
	uint64_t digit;

	if (text.len != sizeof(form) - 1)
		return false;
	for (i = 0; i < text.len; i++)
		if (form[i] == 'h' ?
			!wd_slice_number(
			    (struct wd_slice){ text.data + i, 1 }, 16, &digit) :
			text.data[i] != (uint8_t)form[i])
			return false;
	return true;
}

/* The PCI address from sysfs, for a driver whose fdinfo does not tell: by the
 * device's number, which a path in a container cannot belie; captured trees
 * have no numbers, so there by name. */
static void
find_pdev(const struct wd_linux *lx, const struct wd_descriptor *d,
    char pdev[static 32])
{
	struct wd_slice name = last_part(wd_bytes_slice(&d->path));
	char path[128], link[WD_LINK_BYTES];
	struct wd_slice target;
	ssize_t len;

	if (lx->sys < 0)
		return;
	if (d->rdev != 0)
		(void)snprintf(path, sizeof(path), "dev/char/%u:%u/device",
		    major(d->rdev), minor(d->rdev));
	else
		(void)snprintf(path, sizeof(path), "class/drm/%.*s/device",
		    (int)(name.len > 64 ? 64 : name.len),
		    (const char *)name.data);
	len = readlinkat(lx->sys, path, link, sizeof(link));
	if (len <= 0)
		return;
	target = last_part((struct wd_slice){ (uint8_t *)link, (size_t)len });
	if (is_pci_address(target))
		(void)snprintf(pdev, 32, "%.*s", (int)target.len,
		    (const char *)target.data);
}

static void
name_device(const struct wd_linux *lx, const struct wd_descriptor *d,
    struct wd_drm_handle *handle)
{
	struct wd_slice path = wd_bytes_slice(&d->path);
	char shown[96];

	if (handle->info.pdev[0] == '\0')
		find_pdev(lx, d, handle->info.pdev);
	if (handle->info.pdev[0] != '\0') {
		(void)snprintf(handle->device, sizeof(handle->device), "drm %s",
		    handle->info.pdev);
		return;
	}
	if (wd_slice_starts(path, "/dev/dri/"))
		path = last_part(path);
	(void)wd_escape_short(shown, sizeof(shown), path);
	(void)snprintf(handle->device, sizeof(handle->device), "%s%s",
	    path.len < d->path.len ? "drm " : "", shown);
}

/* Why what was read does not account for the memory; NULL when it does. */
static const char *
shortcoming(const struct wd_linux *lx, enum wd_status st,
    const struct wd_drm_info *info)
{
	if (st == WD_NOTFOUND)
		return "its driver does not tell how much memory a process "
		       "has; a newer kernel may";
	if (st == WD_GONE)
		return "it was closed while it was looked at";
	if (st == WD_DENIED)
		return wd_linux_refusal(lx).reason;
	if (st != WD_OK)
		return "its fdinfo is not as the kernel documents it";
	if (!info->bytes_known)
		return "its driver lists no memory; a newer kernel may";
	if (!info->client_known)
		return "its driver does not tell which descriptors are one; a "
		       "newer kernel does";
	return NULL;
}

static enum wd_status
read_info(const struct wd_linux *lx, const struct wd_descriptor *d,
    struct wd_drm_info *info)
{
	WD_CLEANUP(wd_buf_release) struct wd_buf text = { 0 };
	enum wd_status st;

	wd_buf_init(&text, INFO_BYTES);
	st = wd_proc_read(lx, &text, "%d/fdinfo/%d", (int)d->tid, d->fd);
	return st == WD_OK ? wd_parse_drm_info(wd_buf_slice(&text), info) : st;
}

static bool
same_client(const struct wd_drm_handle *a, const struct wd_drm_handle *b)
{
	return a->reason == NULL && b->reason == NULL &&
	    a->info.client == b->info.client &&
	    strcmp(a->device, b->device) == 0;
}

enum wd_status
wd_drm_add(const struct wd_linux *lx, const struct wd_descriptor *d,
    struct wd_drm_handles *handles)
{
	struct wd_drm_handle handle = { 0 };
	void *items = handles->items;
	enum wd_status st = read_info(lx, d, &handle.info);
	size_t i;

	if (st == WD_NOMEM)
		return st;
	handle.reason = shortcoming(lx, st, &handle.info);
	name_device(lx, d, &handle);
	for (i = 0; i < handles->count; i++)
		if (same_client(&handles->items[i], &handle))
			return WD_OK;
	st = wd_grow(&items, handles->count, &handles->capacity, sizeof(handle),
	    WD_MAX_DEVICE_USES);
	handles->items = items;
	if (st == WD_OK)
		handles->items[handles->count++] = handle;
	return st;
}

/* ---- all of them --------------------------------------------------------- */

static int
compare_handles(const void *left, const void *right)
{
	const struct wd_drm_handle *a = left, *b = right;

	return strcmp(a->device, b->device);
}

/* The device of `items`, whose handles these all are. One that cannot be
 * accounted for makes the device's sum unknown. */
static enum wd_status
add_device(const struct wd_drm_handle *items, size_t count,
    struct wd_device_uses *uses)
{
	uint64_t bytes = 0;
	size_t i;

	for (i = 0; i < count; i++) {
		if (items[i].reason != NULL)
			return wd_device_uses_add(
			    uses, items[i].device, 0, items[i].reason);
		if (!wd_add_u64(bytes, items[i].info.bytes, &bytes))
			return wd_device_uses_add(uses, items[i].device, 0,
			    "its memory adds up to more than there can be");
	}
	return wd_device_uses_add(uses, items[0].device, bytes, NULL);
}

enum wd_status
wd_drm_sum(struct wd_drm_handles *handles, struct wd_device_uses *uses)
{
	struct wd_drm_handle *items = handles->items;
	enum wd_status st = WD_OK;
	size_t first, next;

	if (handles->count > 1)
		qsort(items, handles->count, sizeof(*items), compare_handles);
	for (first = 0; first < handles->count && st == WD_OK; first = next) {
		for (next = first + 1; next < handles->count &&
		     strcmp(items[next].device, items[first].device) == 0;
		     next++)
			;
		st = add_device(items + first, next - first, uses);
	}
	return st;
}
