/*
 * The grades of design section 2, row by row, as the pure function that
 * decides them.
 */
#include <check.h>
#include <string.h>

#include "evidence/grade.h"
#include "support/suite.h"

#define GRADE(name) WEIGHTD__V1__GRADE__GRADE_##name

#define WHOLE                                                                  \
	{                                                                      \
		.tensors = 4, .tensors_covered = 4, .tensor_bytes = 400,       \
		.bytes_covered = 400, .all_sized = true                        \
	}
#define NOTHING                                                                \
	{                                                                      \
		.tensors = 4, .tensor_bytes = 400, .all_sized = true           \
	}

static const struct row {
	const char *what;
	struct wd_grade_facts facts;
	Weightd__V1__Grade grade;
	const char *reason; /* a part of it */
} rows[] = {
	{ "every tensor in a mapping of a whole file",
	    { .mapped = true, .whole = true, .coverage = WHOLE },
	    GRADE(RESIDENT), "" },
	{ "neither a name nor age matter then",
	    { .mapped = true,
		.whole = true,
		.open = true,
		.named = true,
		.older = true,
		.coverage = WHOLE },
	    GRADE(RESIDENT), "" },
	{ "one tensor is not covered",
	    { .mapped = true,
		.whole = true,
		.coverage = { .tensors = 4,
		    .tensors_covered = 3,
		    .tensor_bytes = 400,
		    .bytes_covered = 399,
		    .all_sized = true } },
	    GRADE(INFERRED), "only a part" },
	{ "nothing is covered, the header is mapped",
	    { .mapped = true, .whole = true, .coverage = NOTHING },
	    GRADE(INFERRED), "only a part" },
	{ "the file is cut", { .mapped = true, .coverage = WHOLE },
	    GRADE(INFERRED), "shorter than its header" },
	{ "a tensor whose size nobody knows",
	    { .mapped = true,
		.whole = true,
		.coverage = { .tensors = 4,
		    .tensors_covered = 4,
		    .tensor_bytes = 400,
		    .bytes_covered = 400 } },
	    GRADE(INFERRED), "size of some tensors" },
	{ "a file without tensors",
	    { .mapped = true,
		.whole = true,
		.coverage = { .all_sized = true } },
	    GRADE(INFERRED), "no tensors" },
	{ "held by a descendant that listens for itself",
	    { .mapped = true,
		.whole = true,
		.capped = true,
		.coverage = WHOLE },
	    GRADE(INFERRED), "on a port of its own" },
	{ "named and open",
	    { .named = true,
		.open = true,
		.older = true,
		.whole = true,
		.coverage = NOTHING },
	    GRADE(INFERRED), "named and open" },
	{ "named and as many bytes read",
	    { .named = true,
		.older = true,
		.io_known = true,
		.read_bytes = 400,
		.needed_bytes = 400,
		.coverage = NOTHING },
	    GRADE(INFERRED), "at least as many bytes" },
	{ "one byte too few",
	    { .named = true,
		.older = true,
		.io_known = true,
		.read_bytes = 399,
		.needed_bytes = 400,
		.coverage = NOTHING },
	    GRADE(CLAIMED), "only named" },
	{ "enough for this file, not for the others of its model",
	    { .named = true,
		.older = true,
		.io_known = true,
		.read_bytes = 400,
		.needed_bytes = 800,
		.coverage = NOTHING },
	    GRADE(CLAIMED), "only named" },
	{ "the counter could not be read",
	    { .named = true,
		.older = true,
		.read_bytes = 400,
		.needed_bytes = 400,
		.coverage = NOTHING },
	    GRADE(CLAIMED), "only named" },
	{ "named and as much memory held",
	    { .named = true,
		.older = true,
		.memory_bytes = 400,
		.needed_bytes = 400,
		.coverage = NOTHING },
	    GRADE(INFERRED), "at least as many bytes" },
	{ "memory one byte short",
	    { .named = true,
		.older = true,
		.memory_bytes = 399,
		.needed_bytes = 400,
		.coverage = NOTHING },
	    GRADE(CLAIMED), "only named" },
	{ "nothing needed is no proof",
	    { .named = true,
		.older = true,
		.io_known = true,
		.read_bytes = 1,
		.coverage = { .all_sized = true } },
	    GRADE(CLAIMED), "only named" },
	{ "named, open, and younger than the process",
	    { .named = true,
		.open = true,
		.io_known = true,
		.read_bytes = 800,
		.needed_bytes = 400,
		.coverage = NOTHING },
	    GRADE(CLAIMED), "younger" },
	{ "open alone is not loaded",
	    { .open = true,
		.older = true,
		.io_known = true,
		.read_bytes = 800,
		.needed_bytes = 400,
		.coverage = NOTHING },
	    GRADE(CLAIMED), "open is not load" },
	{ "neither held nor named, whatever was read",
	    { .older = true,
		.io_known = true,
		.read_bytes = 800,
		.memory_bytes = 800,
		.needed_bytes = 400,
		.coverage = NOTHING },
	    GRADE(NONE), "holds or names" },
	{ "it could not be opened", { .blind = true, .coverage = NOTHING },
	    GRADE(BLIND), "could not be opened" },
	{ "then nothing else counts",
	    { .blind = true,
		.mapped = true,
		.whole = true,
		.named = true,
		.open = true,
		.older = true,
		.coverage = WHOLE },
	    GRADE(BLIND), "could not be opened" },
};

START_TEST(each_row_of_the_table)
{
	const struct row *row = &rows[_i];
	const char *reason = NULL;
	Weightd__V1__Grade grade = wd_grade_file(&row->facts, &reason);

	ck_assert_msg(grade == row->grade, "%s: grade %d, not %d", row->what,
	    (int)grade, (int)row->grade);
	ck_assert_ptr_nonnull(reason);
	ck_assert_msg(strstr(reason, row->reason) != NULL, "%s: \"%s\"",
	    row->what, reason);
	ck_assert_int_eq(reason[0] == '\0', row->reason[0] == '\0');
}
END_TEST

/* Whatever the facts, nobody watched: WITNESSED is never said; and RESIDENT
 * only of a whole file that is mapped. */
START_TEST(never_more_than_was_seen)
{
	unsigned bits;

	for (bits = 0; bits < 1U << 9; bits++) {
		struct wd_grade_facts facts = { .blind = bits & 1,
			.mapped = bits & 2,
			.open = bits & 4,
			.named = bits & 8,
			.capped = bits & 16,
			.whole = bits & 32,
			.older = bits & 64,
			.io_known = bits & 128,
			.read_bytes = 400,
			.needed_bytes = 400,
			.coverage = WHOLE };
		const char *reason;
		Weightd__V1__Grade grade;

		if (bits & 256)
			facts.coverage.tensors_covered = 3;
		grade = wd_grade_file(&facts, &reason);
		ck_assert_int_ne(grade, GRADE(WITNESSED));
		ck_assert_int_ne(grade, GRADE(UNSPECIFIED));
		if (grade == GRADE(RESIDENT))
			ck_assert(!facts.blind && facts.mapped && facts.whole &&
			    !facts.capped && !(bits & 256));
		if (grade == GRADE(NONE))
			ck_assert(!facts.blind && !facts.mapped &&
			    !facts.open && !facts.named);
	}
}
END_TEST

WD_SUITE_BEGIN("evidence grade")
WD_LOOP(each_row_of_the_table, rows);
WD_TEST(never_more_than_was_seen);
WD_SUITE_END
