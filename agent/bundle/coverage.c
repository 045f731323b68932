#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "bundle/bundle.h"

/* A half-open interval of the file. */
struct interval {
	uint64_t start;
	uint64_t end;
};

static int
compare_intervals(const void *a, const void *b)
{
	const struct interval *left = a, *right = b;

	if (left->start != right->start)
		return left->start < right->start ? -1 : 1;
	return left->end < right->end ? -1 : left->end > right->end;
}

static uint64_t
end_of(uint64_t start, uint64_t size)
{
	return size > UINT64_MAX - start ? UINT64_MAX : start + size;
}

/* Sorts, and joins what overlaps or touches; returns how many are left. */
static size_t
join(struct interval *all, size_t count)
{
	size_t i, kept = 0;

	if (count == 0)
		return 0;
	qsort(all, count, sizeof(*all), compare_intervals);
	for (i = 1; i < count; i++) {
		if (all[i].start > all[kept].end)
			all[++kept] = all[i];
		else if (all[i].end > all[kept].end)
			all[kept].end = all[i].end;
	}
	return kept + 1;
}

static size_t
tensors_of(const struct wd_bundle *bundle, size_t file, struct interval *spans,
    bool *all_sized)
{
	size_t i, count = 0;

	*all_sized = true;
	/* Whoever maps all of a file maps its tensors, wherever they lie. */
	if (bundle->tensors_unread &&
	    bundle->files[file].role == WD_ROLE_WEIGHTS &&
	    bundle->files[file].size_bytes > 0)
		spans[count++] =
		    (struct interval){ 0, bundle->files[file].size_bytes };
	for (i = 0; i < bundle->tensor_count; i++) {
		const struct wd_tensor *tensor = &bundle->tensors[i];

		if (tensor->file != file)
			continue;
		/* The end of one that is not sized comes below. */
		spans[count++] = (struct interval){ tensor->offset,
			tensor->sized ?
			    end_of(tensor->offset, tensor->size_bytes) :
			    UINT64_MAX };
		*all_sized &= tensor->sized;
	}
	return count;
}

static void
end_unsized(struct interval *spans, size_t count, uint64_t file_end)
{
	size_t i;

	for (i = 0; i < count; i++) {
		if (spans[i].end != UINT64_MAX)
			continue;
		spans[i].end = i + 1 < count ? spans[i + 1].start : file_end;
		if (spans[i].end < spans[i].start)
			spans[i].end = spans[i].start;
	}
}

/* Bytes of `span` in the ranges; `*from` is the first range that can matter
 * to it and to all spans behind it. */
static uint64_t
common(const struct interval *span, const struct interval *ranges, size_t count,
    size_t *from)
{
	uint64_t bytes = 0;
	size_t i;

	while (*from < count && ranges[*from].end <= span->start)
		(*from)++;
	for (i = *from; i < count && ranges[i].start < span->end; i++) {
		uint64_t start = ranges[i].start > span->start ?
		    ranges[i].start :
		    span->start;
		uint64_t end =
		    ranges[i].end < span->end ? ranges[i].end : span->end;

		bytes += end - start;
	}
	return bytes;
}

enum wd_status
wd_bundle_coverage(const struct wd_bundle *bundle, size_t file,
    const struct wd_range *ranges, size_t range_count,
    struct wd_coverage *coverage)
{
	WD_CLEANUP(wd_free_scoped) struct interval *spans = NULL;
	WD_CLEANUP(wd_free_scoped) struct interval *held = NULL;
	struct wd_coverage found = { .all_sized = true };
	size_t i, count, joined, from = 0;

	spans = wd_calloc(bundle->tensor_count + 1, sizeof(*spans));
	held = wd_calloc(range_count, sizeof(*held));
	if (spans == NULL || held == NULL)
		return WD_NOMEM;
	for (i = 0; i < range_count; i++)
		held[i] = (struct interval){ ranges[i].offset,
			end_of(ranges[i].offset, ranges[i].size_bytes) };
	joined = join(held, range_count);
	count = tensors_of(bundle, file, spans, &found.all_sized);
	if (count > 0)
		qsort(spans, count, sizeof(*spans), compare_intervals);
	end_unsized(spans, count, bundle->files[file].size_bytes);
	for (i = 0; i < count; i++) {
		uint64_t size = spans[i].end - spans[i].start;
		uint64_t have = common(&spans[i], held, joined, &from);

		found.tensors++;
		found.tensors_covered += have == size;
		found.tensor_bytes += size;
		found.bytes_covered += have;
	}
	*coverage = found;
	return WD_OK;
}
