/*
 * suite.h - what every Check program has in common.
 *
 * A test file ends with
 *
 *	WD_SUITE_BEGIN("base slice")
 *	WD_TEST(first_test);
 *	WD_LOOP(table_test, table_of_cases);
 *	WD_SUITE_END
 */
#ifndef WD_TESTS_SUPPORT_SUITE_H
#define WD_TESTS_SUPPORT_SUITE_H

#include <check.h>
#include <stdlib.h>

#define WD_COUNT(array) (sizeof(array) / sizeof((array)[0]))

#define WD_SUITE_BEGIN(name)                                                   \
	int main(void)                                                         \
	{                                                                      \
		Suite *suite = suite_create(name);                             \
		TCase *tcase = tcase_create(name);                             \
		SRunner *runner;                                               \
		int failed;                                                    \
                                                                               \
		tcase_set_timeout(tcase, 120);                                 \
		suite_add_tcase(suite, tcase);

#define WD_TEST(test) tcase_add_test(tcase, test)

/* Runs `test` once for each entry of `table`, with its index in `_i`. */
#define WD_LOOP(test, table)                                                   \
	tcase_add_loop_test(tcase, test, 0, (int)WD_COUNT(table))

#define WD_SUITE_END                                                           \
	runner = srunner_create(suite);                                        \
	srunner_run_all(runner, CK_ENV);                                       \
	failed = srunner_ntests_failed(runner);                                \
	srunner_free(runner);                                                  \
	return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;                      \
	}

#endif
