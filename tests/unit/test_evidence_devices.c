/*
 * Memory on devices as evidence: evidence/devices.h, rule by rule. Field cases
 * U6 (weights copied to a device and the file unmapped) and D5, D7 (another
 * quantisation runs than the one that is shown).
 */
#include <check.h>
#include <stdio.h>
#include <string.h>

#include "evidence/devices.h"
#include "support/scene.h"
#include "support/suite.h"

#define GPU "NVIDIA 0000:01:00.0"

static struct scene s;

static void
set_up(void)
{
	scene_begin(&s);
}

static void
tear_down(void)
{
	scene_end(&s);
}

static void
open_device(int pid, const char *path)
{
	char pointer[64], json[160];

	(void)snprintf(
	    pointer, sizeof(pointer), "/processes/%d/descriptors/items/-", pid);
	(void)snprintf(json, sizeof(json),
	    "{'fd': 19, 'type': 'device', 'path': '%s'}", path);
	scene_put(&s, pointer, json);
}

static void
map_device(const char *path)
{
	char json[160];

	(void)snprintf(json, sizeof(json),
	    "{'start': 4096, 'end': 8192, 'type': 'device', 'path': '%s'}",
	    path);
	scene_put(&s, "/processes/100/mappings/items/-", json);
}

static void
account(int pid, const char *json)
{
	char pointer[64];

	(void)snprintf(pointer, sizeof(pointer), "/processes/%d/devices", pid);
	scene_put(&s, pointer, json);
}

/* One device with that many bytes. */
static void
put_on_device(int pid, uint64_t bytes)
{
	char json[160];

	(void)snprintf(json, sizeof(json), "[{'device': '%s', 'bytes': %llu}]",
	    GPU, (unsigned long long)bytes);
	account(pid, json);
}

static void
use_device(int pid, uint64_t bytes)
{
	open_device(pid, "/dev/nvidia0");
	put_on_device(pid, bytes);
}

static void
hold_nothing(void)
{
	scene_unmap_all(&s, 100);
	scene_put(&s, "/processes/100/argv", "['server']");
}

static bool
has_weight_blind_spot(void)
{
	return scene_blind(&s, SCOPE(WEIGHTS), "");
}

/* ---- rules 1 to 3: nothing, a context, a model --------------------------- */

/* A desktop on a virtual machine has /dev/dri open everywhere. */
START_TEST(nothing_on_the_device_is_no_gap)
{
	hold_nothing();
	open_device(100, "/dev/dri/card0");
	account(100, "[{'device': 'drm card0', 'bytes': 0}]");
	scene_ask(&s);
	ck_assert_int_eq(s.all->grade, GRADE(NONE));
	ck_assert(!has_weight_blind_spot());
	ck_assert(HAS_CHECK(scene_group(&s, 0), ACCELERATORS));
	ck_assert_uint_eq(scene_process_in(&s, 100)->n_accelerators, 1);
	ck_assert_uint_eq(scene_process_in(&s, 100)->n_device_uses, 1);
}
END_TEST

static const struct {
	const char *devices;
	bool is_gap;
	const char *text; /* in the blind spot */
} amounts[] = {
	{ "[{'device': 'a', 'bytes': 33554431}]", false, NULL },
	{ "[{'device': 'a', 'bytes': 33554432}]", true,
	    "32.0 MiB of process 100 on device a" },
	{ "[{'device': 'a', 'bytes': 16777216},"
	  " {'device': 'b', 'bytes': 16777215}]",
	    false, NULL },
	{ "[{'device': 'a', 'bytes': 16777216}, {'device': 'b', 'bytes': 0},"
	  " {'device': 'c', 'bytes': 16777216}]",
	    true, "32.0 MiB of process 100 on device a, c" },
	/* More than a number holds is not little. */
	{ "[{'device': 'a', 'bytes': 9223372036854775807},"
	  " {'device': 'b', 'bytes': 9223372036854775807},"
	  " {'device': 'c', 'bytes': 2}]",
	    true, "15.9 EiB" },
	{ "[{'device': 'a', 'bytes': 0}, {'device': 'b', 'reason': 'why'}]",
	    true, "/dev/nvidia0" },
	{ "[]", true, "/dev/nvidia0" },
	{ "{'complete': false, 'items': [{'device': 'a', 'bytes': 0}]}", true,
	    "/dev/nvidia0" },
	{ "{'status': 'denied'}", true, "/dev/nvidia0" },
	{ "{'status': 'unsupported'}", true, "/dev/nvidia0" },
};

START_TEST(a_model_is_where_there_is_room_for_one)
{
	hold_nothing();
	open_device(100, "/dev/nvidia0");
	account(100, amounts[_i].devices);
	scene_ask(&s);
	ck_assert_msg(
	    s.all->grade == (amounts[_i].is_gap ? GRADE(BLIND) : GRADE(NONE)),
	    "%s: grade %d", amounts[_i].devices, (int)s.all->grade);
	ck_assert_int_eq(has_weight_blind_spot(), amounts[_i].is_gap);
	if (amounts[_i].is_gap)
		ck_assert_msg(scene_blind(&s, SCOPE(WEIGHTS), amounts[_i].text),
		    "%s", amounts[_i].devices);
}
END_TEST

/* What is known is said, and the check is made only when all of it is. */
START_TEST(what_is_not_known_is_said)
{
	const Weightd__V1__DeviceUse *use;
	const Weightd__V1__BlindSpot *spot;

	open_device(100, "/dev/nvidia0");
	account(100,
	    "[{'device': 'drm 0000:02:00.0', 'bytes': 4096},"
	    " {'device': 'NVIDIA 0000:01:00.0', 'reason': 'runs under MPS'}]");
	scene_ask(&s);
	ck_assert(!HAS_CHECK(scene_group(&s, 0), ACCELERATORS));
	ck_assert_int_eq(scene_model(&s, 0)->device_memory, SEEN(UNSPECIFIED));
	ck_assert_uint_eq(scene_process_in(&s, 100)->n_device_uses, 2);
	use = scene_process_in(&s, 100)->device_uses[0];
	ck_assert_str_eq(use->device, "NVIDIA 0000:01:00.0");
	ck_assert_str_eq(use->reason, "runs under MPS");
	ck_assert_int_eq(use->bytes_presence_case,
	    WEIGHTD__V1__DEVICE_USE__BYTES_PRESENCE__NOT_SET);
	use = scene_process_in(&s, 100)->device_uses[1];
	ck_assert_int_eq(use->bytes_presence_case,
	    WEIGHTD__V1__DEVICE_USE__BYTES_PRESENCE_BYTES);
	ck_assert_uint_eq(use->bytes, 4096);
	ck_assert_uint_eq(s.all->n_blind_spots, 1);
	spot = s.all->blind_spots[0];
	ck_assert_str_eq(spot->reason, GPU ": runs under MPS");
}
END_TEST

/* A mapping outlives its descriptor, and accounts go by descriptors. */
START_TEST(a_mapping_is_accounted_for_by_its_own_device)
{
	hold_nothing();
	open_device(100, "/dev/dri/card0");
	account(100, "[{'device': 'drm card0', 'bytes': 0}]");
	map_device("/dev/dri/card0");
	scene_ask(&s);
	ck_assert_int_eq(s.all->grade, GRADE(NONE));
	map_device("/dev/dri/card1");
	scene_ask(&s);
	ck_assert_int_eq(s.all->grade, GRADE(BLIND));
	ck_assert(scene_blind(&s, SCOPE(WEIGHTS), "/dev/dri/card1"));
	ck_assert(!HAS_CHECK(scene_group(&s, 0), ACCELERATORS));
	ck_assert_uint_eq(scene_process_in(&s, 100)->n_accelerators, 2);
}
END_TEST

START_TEST(what_was_not_seen_may_be_a_device)
{
	scene_put(&s, "/processes/100/descriptors/complete", "false");
	scene_ask(&s);
	ck_assert(!HAS_CHECK(scene_group(&s, 0), ACCELERATORS));
	ck_assert_int_eq(scene_model(&s, 0)->device_memory, SEEN(UNSPECIFIED));
}
END_TEST

/* Workers of which only one has something on a device. */
START_TEST(every_member_counts)
{
	scene_process(&s, 101, 100);
	scene_ask(&s);
	ck_assert_int_eq(scene_model(&s, 0)->device_memory, SEEN(NO));
	ck_assert(HAS_CHECK(scene_group(&s, 0), ACCELERATORS));
	use_device(101, 1);
	scene_ask(&s);
	ck_assert_int_eq(scene_model(&s, 0)->device_memory, SEEN(NO));
	put_on_device(101, 33554432);
	scene_ask(&s);
	ck_assert_int_eq(scene_model(&s, 0)->device_memory, SEEN(YES));
	account(101, "[]");
	scene_ask(&s);
	ck_assert_int_eq(scene_model(&s, 0)->device_memory, SEEN(UNSPECIFIED));
	ck_assert(!HAS_CHECK(scene_group(&s, 0), ACCELERATORS));
}
END_TEST

/* A pipe that somebody gave the name of a device. */
START_TEST(only_a_device_is_a_device)
{
	hold_nothing();
	scene_put(&s, "/processes/100/descriptors/items/-",
	    "{'fd': 19, 'type': 'pipe', 'path': '/dev/nvidia0'}");
	scene_ask(&s);
	ck_assert_int_eq(s.all->grade, GRADE(NONE));
	ck_assert(!has_weight_blind_spot());
}
END_TEST

/* The engine's own log says how much of it are caches. */
START_TEST(more_than_the_model_is_shown_and_does_not_decide)
{
	use_device(100, 33554432);
	scene_ask(&s);
	ck_assert_int_eq(s.all->grade, GRADE(RESIDENT));
	ck_assert(scene_blind(
	    &s, SCOPE(WEIGHTS), "32.0 MiB of process 100 on device " GPU));
	ck_assert_int_eq(scene_verdict(&s, "m.gguf", NULL), VERDICT(MATCH));
}
END_TEST

/* No larger than the model that is held: a copy of it, most likely. */
START_TEST(no_more_than_the_model_is_explained)
{
	const uint64_t tensor_bytes = 2 * 8 * 4 * 600000;

	scene_gguf(&s, "large.gguf", "Large", NULL, 600000, 5);
	scene_unmap_all(&s, 100);
	scene_map(&s, 100, "large.gguf", "/m/large.gguf");
	scene_put(&s, "/processes/100/argv", "['server']");
	s.digests = WD_DIGEST_CACHED_ONLY;
	use_device(100, tensor_bytes);
	scene_ask(&s);
	ck_assert_int_eq(s.all->grade, GRADE(RESIDENT));
	ck_assert(!has_weight_blind_spot());
	put_on_device(100, tensor_bytes + 1);
	scene_ask(&s);
	ck_assert(has_weight_blind_spot());
	/* A file that is only named explains nothing. */
	put_on_device(100, tensor_bytes - 1);
	scene_unmap_all(&s, 100);
	scene_put(
	    &s, "/processes/100/argv", "['server', '-m', '/m/large.gguf']");
	scene_ask(&s);
	ck_assert_int_eq(s.all->grade, GRADE(CLAIMED));
	ck_assert(scene_blind(&s, SCOPE(WEIGHTS), "36.6 MiB of process 100"));
}
END_TEST

/* ---- rule 4: memory held ------------------------------------------------- */

/* U6: copied to the device, and unmapped. */
START_TEST(bytes_on_the_device_are_held)
{
	uint64_t needed;

	scene_ask(&s);
	needed = scene_file(&s, 0)->tensor_bytes;
	scene_unmap_all(&s, 100);
	use_device(100, needed - 1);
	scene_ask(&s);
	ck_assert_int_eq(s.all->grade, GRADE(CLAIMED));
	put_on_device(100, needed);
	scene_ask(&s);
	ck_assert_int_eq(s.all->grade, GRADE(INFERRED));
	scene_put(&s, "/files/m.gguf/mtime_ns", "1800000000000000000");
	scene_ask(&s);
	ck_assert_int_eq(s.all->grade, GRADE(CLAIMED));
}
END_TEST

static void
put_halves_on_two_devices(uint64_t needed)
{
	char json[192];

	(void)snprintf(json, sizeof(json),
	    "[{'device': 'a', 'bytes': %llu}, {'device': 'b', 'bytes': %llu}]",
	    (unsigned long long)(needed / 2),
	    (unsigned long long)(needed - needed / 2));
	account(100, json);
}

START_TEST(one_process_must_hold_them)
{
	uint64_t needed;

	scene_ask(&s);
	needed = scene_file(&s, 0)->tensor_bytes;
	scene_unmap_all(&s, 100);
	scene_process(&s, 101, 100);
	use_device(100, needed - 1);
	use_device(101, needed - 1);
	scene_put_int(&s, "/processes/100/rss_anon_bytes", (int64_t)needed - 1);
	scene_ask(&s);
	ck_assert_int_eq(s.all->grade, GRADE(CLAIMED));
	/* Layers that are split over its devices. */
	put_halves_on_two_devices(needed);
	scene_ask(&s);
	ck_assert_int_eq(s.all->grade, GRADE(INFERRED));
}
END_TEST

/* llama.cpp unmaps what it has offloaded and keeps the rest. */
START_TEST(a_partial_mapping_says_where_the_rest_may_be)
{
	uint64_t size = scene_size(&s, "m.gguf");

	scene_unmap_all(&s, 100);
	scene_map_part(&s, 100, "m.gguf", "/m/m.gguf", 0, size - 1);
	use_device(100, 33554432);
	scene_ask(&s);
	ck_assert_int_eq(s.all->grade, GRADE(INFERRED));
	ck_assert_ptr_nonnull(
	    strstr(scene_file(&s, 0)->reason, "may be on the device"));
	put_on_device(100, 0);
	scene_ask(&s);
	ck_assert_ptr_null(
	    strstr(scene_file(&s, 0)->reason, "may be on the device"));
}
END_TEST

/* ---- rule 5: what computes ----------------------------------------------- */

static void
change_file(void)
{
	scene_put_int(
	    &s, "/files/m.gguf/mtime_ns", SCENE_START + 60 * WD_NS_PER_SECOND);
	scene_put_int(
	    &s, "/files/m.gguf/ctime_ns", SCENE_START + 60 * WD_NS_PER_SECOND);
}

/* D5, D7: the file was overwritten in place after the load. Pages show the new
 * bytes, which are what was pinned, and the device computes from the old. */
START_TEST(a_changed_file_and_a_copy_on_a_device)
{
	uint32_t line = 0;

	s.digests = WD_DIGEST_FRESH;
	scene_put(&s, "/processes/100/exe/path", "'/usr/bin/llama-server'");
	scene_put(&s, "/processes/100/argv",
	    "['llama-server', '-m', '/m/m.gguf', '--no-repack']");
	change_file();
	scene_ask(&s);
	ck_assert(HAS_FLAG(scene_model(&s, 0), CHANGED_SINCE_LOAD));
	ck_assert_int_eq(scene_verdict(&s, "m.gguf", NULL), VERDICT(MATCH));
	use_device(100, 33554432);
	scene_ask(&s);
	ck_assert_int_eq(s.all->grade, GRADE(RESIDENT));
	ck_assert_int_eq(
	    scene_verdict(&s, "m.gguf", &line), VERDICT(UNVERIFIABLE));
	ck_assert_uint_eq(line, 8);
	/* Nor when nobody knows. */
	account(100, "[]");
	scene_ask(&s);
	ck_assert_int_eq(
	    scene_verdict(&s, "m.gguf", NULL), VERDICT(UNVERIFIABLE));
	put_on_device(100, 0);
	scene_ask(&s);
	ck_assert_int_eq(scene_verdict(&s, "m.gguf", NULL), VERDICT(MATCH));
}
END_TEST

/* ---- who it is, and who moved -------------------------------------------- */

/* Weights on a device make a server of who handed the socket over. */
START_TEST(no_activator_has_a_model_on_a_device)
{
	scene_process(&s, 101, 100);
	scene_owner(&s, 101, 3, 77);
	scene_put(&s, "/processes/101/env",
	    "[{'name': 'LISTEN_PID', 'value': '101'},"
	    " {'name': 'LISTEN_FDS', 'value': '1'}]");
	hold_nothing();
	use_device(100, 0);
	scene_ask(&s);
	ck_assert_int_eq(scene_process_in(&s, 100)->role, ROLE(ACTIVATOR));
	put_on_device(100, 33554432);
	scene_ask(&s);
	ck_assert_int_eq(scene_process_in(&s, 100)->role, ROLE(OWNER));
	ck_assert_int_eq(s.all->grade, GRADE(BLIND));
}
END_TEST

static void
connect_elsewhere(void)
{
	scene_socket(&s, 100, 12, 500);
	scene_put(&s, "/connections",
	    "[{'inode': 500, 'local': '10.0.0.1', 'local_port': 40000,"
	    " 'remote': '10.0.0.2', 'remote_port': 443}]");
}

/* An engine that talks to a model hub is no forwarder. */
START_TEST(no_forwarder_has_a_model_on_a_device)
{
	hold_nothing();
	connect_elsewhere();
	use_device(100, 0);
	scene_ask(&s);
	ck_assert(HAS_FLAG(scene_group(&s, 0), FORWARDER));
	put_on_device(100, 33554432);
	scene_ask(&s);
	ck_assert(!HAS_FLAG(scene_group(&s, 0), FORWARDER));
	ck_assert_int_eq(s.all->grade, GRADE(BLIND));
}
END_TEST

START_TEST(memory_that_comes_onto_a_device_meanwhile)
{
	use_device(100, 0);
	scene_after(
	    &s, "device_uses", 1, "/processes/100/devices/0/bytes", "33554432");
	scene_ask(&s);
	ck_assert(s.all->retries > 0);
	ck_assert_int_eq(scene_model(&s, 0)->device_memory, SEEN(YES));
}
END_TEST

START_TEST(a_device_that_is_opened_meanwhile)
{
	scene_after(&s, "descriptors", 1, "/processes/100/descriptors/items/-",
	    "{'fd': 19, 'type': 'device', 'path': '/dev/nvidia0'}");
	scene_ask(&s);
	ck_assert(s.all->retries > 0);
	ck_assert_int_eq(scene_model(&s, 0)->device_memory, SEEN(UNSPECIFIED));
}
END_TEST

WD_SUITE_BEGIN("evidence devices")
tcase_add_checked_fixture(tcase, set_up, tear_down);
WD_TEST(nothing_on_the_device_is_no_gap);
WD_LOOP(a_model_is_where_there_is_room_for_one, amounts);
WD_TEST(what_is_not_known_is_said);
WD_TEST(a_mapping_is_accounted_for_by_its_own_device);
WD_TEST(what_was_not_seen_may_be_a_device);
WD_TEST(every_member_counts);
WD_TEST(only_a_device_is_a_device);
WD_TEST(more_than_the_model_is_shown_and_does_not_decide);
WD_TEST(no_more_than_the_model_is_explained);
WD_TEST(bytes_on_the_device_are_held);
WD_TEST(one_process_must_hold_them);
WD_TEST(a_partial_mapping_says_where_the_rest_may_be);
WD_TEST(a_changed_file_and_a_copy_on_a_device);
WD_TEST(no_activator_has_a_model_on_a_device);
WD_TEST(no_forwarder_has_a_model_on_a_device);
WD_TEST(memory_that_comes_onto_a_device_meanwhile);
WD_TEST(a_device_that_is_opened_meanwhile);
WD_SUITE_END
