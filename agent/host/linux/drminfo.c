#include "host/linux/drminfo.h"

#include <string.h>

#include "base/checked.h"

/* What a line says about a region; the better one wins. drm-memory is the
 * older name of drm-resident. */
enum measure { ALLOCATED, MEMORY, RESIDENT, MEASURES };

static const char *const measure_keys[MEASURES] = { "drm-total-", "drm-memory-",
	"drm-resident-" };

struct region {
	struct wd_slice name;
	bool told[MEASURES];
	uint64_t bytes[MEASURES];
};

struct parse {
	struct wd_drm_info info;
	struct region regions[WD_DRM_MAX_REGIONS];
	size_t count;
};

static struct wd_slice
trim(struct wd_slice text)
{
	while (text.len > 0 && (text.data[0] == ' ' || text.data[0] == '\t')) {
		text.data++;
		text.len--;
	}
	while (text.len > 0 &&
	    (text.data[text.len - 1] == ' ' || text.data[text.len - 1] == '\t'))
		text.len--;
	return text;
}

/* One word that can be shown. */
static enum wd_status
take_text(struct wd_slice value, char *text, size_t size)
{
	size_t i;

	if (value.len == 0 || value.len >= size || text[0] != '\0')
		return WD_MALFORMED;
	for (i = 0; i < value.len; i++)
		if (value.data[i] <= ' ' || value.data[i] > '~')
			return WD_MALFORMED;
	memcpy(text, value.data, value.len);
	text[value.len] = '\0';
	return WD_OK;
}

/* "<uint> [KiB|MiB]"; bytes without a unit. */
static bool
parse_size(struct wd_slice value, uint64_t *bytes)
{
	struct wd_slice number;
	uint64_t unit = 1;

	if (!wd_slice_cut(&value, ' ', &number))
		return false;
	value = trim(value);
	if (wd_slice_equal(value, wd_slice_text("KiB")))
		unit = 1024;
	else if (wd_slice_equal(value, wd_slice_text("MiB")))
		unit = 1024 * 1024;
	else if (value.len > 0)
		return false;
	return wd_slice_number(number, 10, bytes) &&
	    wd_mul_u64(*bytes, unit, bytes);
}

static struct region *
region_named(struct parse *parse, struct wd_slice name)
{
	size_t i;

	for (i = 0; i < parse->count; i++)
		if (wd_slice_equal(parse->regions[i].name, name))
			return &parse->regions[i];
	if (parse->count == WD_DRM_MAX_REGIONS)
		return NULL;
	parse->regions[parse->count].name = name;
	return &parse->regions[parse->count++];
}

static enum wd_status
take_size(struct parse *parse, enum measure measure, struct wd_slice name,
    struct wd_slice value)
{
	struct region *region;

	if (name.len == 0)
		return WD_MALFORMED;
	region = region_named(parse, name);
	if (region == NULL)
		return WD_LIMIT;
	if (region->told[measure] ||
	    !parse_size(value, &region->bytes[measure]))
		return WD_MALFORMED;
	region->told[measure] = true;
	return WD_OK;
}

/* "drm-total-cycles-ENGINE" counts time, not memory. */
static enum wd_status
take_measure(struct parse *parse, struct wd_slice key, struct wd_slice value)
{
	size_t i, len;

	if (wd_slice_starts(key, "drm-total-cycles-"))
		return WD_OK;
	for (i = 0; i < MEASURES; i++) {
		len = strlen(measure_keys[i]);
		if (wd_slice_starts(key, measure_keys[i]))
			return take_size(parse, (enum measure)i,
			    (struct wd_slice){ key.data + len, key.len - len },
			    value);
	}
	return WD_OK;
}

static enum wd_status
take_line(struct parse *parse, struct wd_slice line)
{
	struct wd_drm_info *info = &parse->info;
	struct wd_slice key, value = line;

	if (!wd_slice_cut(&value, ':', &key) || !wd_slice_starts(key, "drm-"))
		return WD_OK;
	value = trim(value);
	if (wd_slice_equal(key, wd_slice_text("drm-driver")))
		return take_text(value, info->driver, sizeof(info->driver));
	if (wd_slice_equal(key, wd_slice_text("drm-pdev")))
		return take_text(value, info->pdev, sizeof(info->pdev));
	if (!wd_slice_equal(key, wd_slice_text("drm-client-id")))
		return take_measure(parse, key, value);
	if (info->client_known || !wd_slice_number(value, 10, &info->client))
		return WD_MALFORMED;
	info->client_known = true;
	return WD_OK;
}

static bool
add_region(const struct region *region, struct wd_drm_info *info)
{
	int measure = RESIDENT;

	while (measure > ALLOCATED && !region->told[measure])
		measure--;
	info->bytes_known = true;
	return wd_add_u64(info->bytes, region->bytes[measure], &info->bytes);
}

enum wd_status
wd_parse_drm_info(struct wd_slice text, struct wd_drm_info *info)
{
	struct parse parse = { 0 };
	struct wd_slice line;
	enum wd_status st = WD_OK;
	size_t i;

	while (st == WD_OK && wd_slice_cut(&text, '\n', &line))
		st = take_line(&parse, line);
	if (st != WD_OK)
		return st;
	if (parse.info.driver[0] == '\0')
		return WD_NOTFOUND;
	for (i = 0; i < parse.count; i++)
		if (!add_region(&parse.regions[i], &parse.info))
			return WD_MALFORMED;
	*info = parse.info;
	return WD_OK;
}
