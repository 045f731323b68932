/* client/pki: names, requests, certificates and revocation lists. What other
 * programs make of them is tests/integration/weightctl/test_pki.py's. */
#include "pki/pki.h"

#include <stdio.h>
#include <string.h>

#include "support/suite.h"

/* ---- a clock that stands ------------------------------------------------- */

static int64_t now_ns = INT64_C(1800000000) * WD_NS_PER_SECOND;

static int64_t
read_clock(void *ctx)
{
	(void)ctx;
	return now_ns;
}

static const struct wd_clock clock_stands = { read_clock, read_clock, NULL };

#define DAY_NS (INT64_C(86400) * WD_NS_PER_SECOND)

/* ---- names --------------------------------------------------------------- */

static const struct {
	const char *text;
	const char *shown; /* NULL: refused */
} name_cases[] = {
	{ "mac-3.lab", "DNS:mac-3.lab" },
	{ "MAC.Lab", "DNS:mac.lab" },
	{ "a", "DNS:a" },
	{ "3com.example", "DNS:3com.example" },
	{ "10.0.0.3", "IP:10.0.0.3" },
	{ "::1", "IP:::1" },
	{ "FE80:0::1", "IP:fe80::1" },
	{ "", NULL },
	{ ".", NULL },
	{ "lab.", NULL },
	{ "-a.lab", NULL },
	{ "a-.lab", NULL },
	{ "*.lab", NULL },
	{ "a..b", NULL },
	{ "a_b", NULL },
	{ "a b", NULL },
	{ "a/../b", NULL },
	{ "a,DNS:b", NULL },
	{ "caf\xc3\xa9", NULL },
	{ "10.0.0.256", NULL },
	{ "1234", NULL },
	{ "fe80::1%eth0", NULL },
	{ "a23456789012345678901234567890123456789012345678901234567890123.lab",
	    "DNS:a234567890123456789012345678901234567890123456789012345678"
	    "90123.lab" },
	{ "a234567890123456789012345678901234567890123456789012345678901234"
	  ".lab",
	    NULL },
};

START_TEST(names_are_held_to_the_grammar)
{
	struct wd_pki_names names = { .count = 0 };
	struct wd_buf text;
	enum wd_status st = wd_pki_names_add(&names, name_cases[_i].text, NULL);

	wd_buf_init(&text, 4096);
	ck_assert_int_eq(wd_pki_names_text(&names, ",", &text), WD_OK);
	if (name_cases[_i].shown == NULL) {
		ck_assert_int_eq(st, WD_INVALID);
		ck_assert_uint_eq(names.count, 0);
	} else {
		ck_assert_str_eq(wd_buf_string(&text), name_cases[_i].shown);
	}
	wd_buf_release(&text);
}
END_TEST

START_TEST(a_name_stands_once)
{
	struct wd_pki_names a = { .count = 0 }, b = { .count = 0 };
	static const uint8_t loopback[4] = { 127, 0, 0, 1 };
	char text[16];
	int i;

	ck_assert_int_eq(wd_pki_names_add(&a, "h.lab", NULL), WD_OK);
	ck_assert_int_eq(wd_pki_names_add(&a, "H.LAB", NULL), WD_OK);
	ck_assert_int_eq(wd_pki_names_add(&a, "127.0.0.1", NULL), WD_OK);
	ck_assert_uint_eq(a.count, 2);
	ck_assert_int_eq(wd_pki_names_add_ip(&b, loopback, 4, NULL), WD_OK);
	ck_assert(!wd_pki_names_equal(&a, &b));
	ck_assert_int_eq(wd_pki_names_add(&b, "h.lab", NULL), WD_OK);
	ck_assert(wd_pki_names_equal(&a, &b));
	ck_assert(wd_pki_names_hold(&b, "H.lab"));
	ck_assert(!wd_pki_names_hold(&b, "lab"));
	ck_assert_int_eq(
	    wd_pki_names_add_ip(&b, loopback, 3, NULL), WD_INVALID);
	b.count = 0;
	for (i = 0; i < WD_PKI_MAX_NAMES; i++) {
		(void)snprintf(text, sizeof(text), "h%d", i);
		ck_assert_int_eq(wd_pki_names_add(&b, text, NULL), WD_OK);
	}
	ck_assert_int_eq(wd_pki_names_add(&b, "more", NULL), WD_LIMIT);
	ck_assert_int_eq(wd_pki_names_add(&b, "h0", NULL), WD_OK);
}
END_TEST

/* ---- certificates -------------------------------------------------------- */

/* A CA and a request, made anew for each test. */
struct lab {
	struct wd_buf ca_key, ca_certificate, key, request, made;
	struct wd_pki_ca ca;
	struct wd_pki_pem asked;
	struct wd_pki_grant grant;
	struct wd_pki_facts facts;
	struct wd_error err;
};

static struct wd_pki_pem
pem_of(const char *name, const struct wd_buf *buf)
{
	return (struct wd_pki_pem){ name, wd_buf_slice(buf) };
}

static void
make_request(struct lab *lab, const char *const *names, enum wd_pki_role role)
{
	struct wd_pki_names list = { .count = 0 };
	struct wd_pki_pem key;

	for (; *names != NULL; names++)
		ck_assert_int_eq(wd_pki_names_add(&list, *names, NULL), WD_OK);
	wd_buf_init(&lab->key, WD_PKI_PEM_BYTES);
	wd_buf_init(&lab->request, WD_PKI_PEM_BYTES);
	ck_assert_int_eq(wd_pki_make_key(&lab->key, NULL), WD_OK);
	key = pem_of("key", &lab->key);
	ck_assert_int_eq(
	    wd_pki_make_request(&key, &list, role, &lab->request, NULL), WD_OK);
	lab->asked = pem_of("h.csr", &lab->request);
	lab->grant =
	    (struct wd_pki_grant){ .names = list, .role = role, .days = 10 };
}

static void
make_ca(struct lab *lab, unsigned days)
{
	struct wd_pki_pem key;

	wd_buf_init(&lab->ca_key, WD_PKI_PEM_BYTES);
	wd_buf_init(&lab->ca_certificate, WD_PKI_PEM_BYTES);
	ck_assert_int_eq(wd_pki_make_key(&lab->ca_key, NULL), WD_OK);
	key = pem_of("ca.key", &lab->ca_key);
	ck_assert_int_eq(wd_pki_make_ca(&key, "lab", days, &clock_stands,
			     &lab->ca_certificate, NULL),
	    WD_OK);
	lab->ca.certificate = pem_of("ca.crt", &lab->ca_certificate);
	lab->ca.key = key;
}

static void
begin(struct lab *lab)
{
	static const char *const names[] = { "h.lab", "10.0.0.3", NULL };

	memset(lab, 0, sizeof(*lab));
	wd_error_init(&lab->err);
	wd_buf_init(&lab->made, WD_PKI_PEM_BYTES);
	make_ca(lab, 100);
	make_request(lab, names, WD_PKI_HOST);
}

static void
end(struct lab *lab)
{
	wd_pki_forget(&lab->ca_key);
	wd_buf_release(&lab->ca_certificate);
	wd_pki_forget(&lab->key);
	wd_buf_release(&lab->request);
	wd_buf_release(&lab->made);
	wd_pki_facts_release(&lab->facts);
}

static enum wd_status
sign(struct lab *lab)
{
	wd_buf_reset(&lab->made);
	return wd_pki_sign(&lab->ca, &lab->asked, &lab->grant, &clock_stands,
	    &lab->made, &lab->err);
}

static void
read_made(struct lab *lab)
{
	struct wd_pki_pem made = pem_of("h.crt", &lab->made);

	wd_pki_facts_release(&lab->facts);
	ck_assert_int_eq(
	    wd_pki_read_certificate(&made, &lab->facts, NULL), WD_OK);
}

START_TEST(a_certificate_says_what_was_granted)
{
	struct wd_pki_pem made, key;
	struct lab lab;
	bool is_pair = false;

	begin(&lab);
	ck_assert_int_eq(sign(&lab), WD_OK);
	read_made(&lab);
	ck_assert_str_eq(
	    wd_buf_string(&lab.facts.names), "DNS:h.lab, IP Address:10.0.0.3");
	ck_assert_str_eq(lab.facts.subject, "CN=h.lab");
	ck_assert_str_eq(lab.facts.issuer, "CN=lab");
	ck_assert(lab.facts.for_hosts && !lab.facts.for_clients);
	ck_assert(!lab.facts.is_ca);
	ck_assert_str_eq(lab.facts.serial, lab.grant.serial);
	ck_assert_uint_eq(strlen(lab.facts.serial), 32);
	/* Another machine's clock may be a little behind. */
	ck_assert_int_eq(now_ns - lab.facts.from_ns, 300 * WD_NS_PER_SECOND);
	ck_assert_int_eq(lab.facts.to_ns - now_ns, 10 * DAY_NS);
	ck_assert(!lab.grant.is_cut);
	made = pem_of("h.crt", &lab.made);
	key = pem_of("h.key", &lab.key);
	ck_assert_int_eq(wd_pki_is_pair(&made, &key, &is_pair, NULL), WD_OK);
	ck_assert(is_pair);
	ck_assert_int_eq(
	    wd_pki_is_pair(&made, &lab.ca.key, &is_pair, NULL), WD_OK);
	ck_assert(!is_pair);
	end(&lab);
}
END_TEST

START_TEST(a_client_is_no_host)
{
	struct lab lab;

	begin(&lab);
	lab.grant.role = WD_PKI_CLIENT;
	ck_assert_int_eq(sign(&lab), WD_OK);
	read_made(&lab);
	ck_assert(lab.facts.for_clients && !lab.facts.for_hosts);
	end(&lab);
}
END_TEST

START_TEST(no_serial_number_comes_twice)
{
	char first[WD_PKI_SERIAL_BYTES];
	struct lab lab;

	begin(&lab);
	ck_assert_int_eq(sign(&lab), WD_OK);
	memcpy(first, lab.grant.serial, sizeof(first));
	ck_assert_int_eq(sign(&lab), WD_OK);
	ck_assert_str_ne(first, lab.grant.serial);
	end(&lab);
}
END_TEST

START_TEST(nothing_outlives_the_ca)
{
	struct lab lab;

	begin(&lab);
	lab.grant.days = 101;
	ck_assert_int_eq(sign(&lab), WD_OK);
	ck_assert(lab.grant.is_cut);
	read_made(&lab);
	ck_assert_int_eq(lab.facts.to_ns - now_ns, 100 * DAY_NS);
	now_ns += 101 * DAY_NS;
	ck_assert_int_eq(sign(&lab), WD_INVALID);
	ck_assert_ptr_nonnull(strstr(lab.err.message, "expired on"));
	now_ns -= 102 * DAY_NS;
	ck_assert_int_eq(sign(&lab), WD_INVALID);
	ck_assert_ptr_nonnull(strstr(lab.err.message, "not valid before"));
	now_ns += DAY_NS;
	ck_assert_uint_eq(lab.made.len, 0);
	end(&lab);
}
END_TEST

START_TEST(only_a_ca_with_its_key_signs)
{
	struct wd_buf leaf;
	struct lab lab;

	begin(&lab);
	lab.ca.key = pem_of("other.key", &lab.key);
	ck_assert_int_eq(sign(&lab), WD_INVALID);
	ck_assert_ptr_nonnull(strstr(lab.err.message,
	    "other.key: is not the key of the certificate in ca.crt"));
	lab.ca.key = pem_of("ca.key", &lab.ca_key);
	ck_assert_int_eq(sign(&lab), WD_OK);
	leaf = lab.made;
	wd_buf_init(&lab.made, WD_PKI_PEM_BYTES);
	lab.ca.certificate = pem_of("leaf.crt", &leaf);
	lab.ca.key = pem_of("leaf.key", &lab.key);
	ck_assert_int_eq(sign(&lab), WD_INVALID);
	ck_assert_ptr_nonnull(
	    strstr(lab.err.message, "leaf.crt: is no certificate of a CA"));
	lab.ca.certificate.text.len = 0;
	ck_assert_int_eq(sign(&lab), WD_MALFORMED);
	wd_buf_release(&leaf);
	end(&lab);
}
END_TEST

START_TEST(a_long_name_stands_in_the_list_alone)
{
	static const char *const names[] = {
		("a234567890123456789012345678901234567890123456.of.a.very.long"
		 ".name.lab"),
		NULL
	};
	struct lab lab;

	begin(&lab);
	wd_pki_forget(&lab.key);
	wd_buf_release(&lab.request);
	make_request(&lab, names, WD_PKI_HOST);
	ck_assert_int_eq(sign(&lab), WD_OK);
	read_made(&lab);
	ck_assert_str_eq(lab.facts.subject, "");
	ck_assert(wd_pki_names_hold(&lab.facts.plain, names[0]));
	end(&lab);
}
END_TEST

START_TEST(days_and_names_of_a_ca_are_checked)
{
	static const char *const bad[] = { "", "a\nb", "\xff",
		("a23456789012345678901234567890123456789012345678901234567890"
		 "12345") };
	struct lab lab;
	size_t i;

	begin(&lab);
	for (i = 0; i < WD_COUNT(bad); i++)
		ck_assert_int_eq(wd_pki_make_ca(&lab.ca.key, bad[i], 1,
				     &clock_stands, &lab.made, NULL),
		    WD_INVALID);
	lab.grant.days = 0;
	ck_assert_int_eq(sign(&lab), WD_INVALID);
	lab.grant.days = WD_PKI_MAX_DAYS + 1;
	ck_assert_int_eq(sign(&lab), WD_INVALID);
	lab.grant.days = 1;
	lab.grant.names.count = 0;
	ck_assert_int_eq(sign(&lab), WD_INVALID);
	end(&lab);
}
END_TEST

/* ---- requests ------------------------------------------------------------ */

START_TEST(a_request_is_read_back)
{
	struct wd_pki_request asked;
	struct lab lab;

	begin(&lab);
	ck_assert_int_eq(wd_pki_read_request(&lab.asked, &asked, NULL), WD_OK);
	ck_assert(wd_pki_names_equal(&asked.names, &lab.grant.names));
	ck_assert_uint_eq(asked.roles, WD_PKI_HOST);
	ck_assert_uint_eq(asked.ignored, 0);
	end(&lab);
}
END_TEST

/* One digit of its base64 body is another one: whichever byte it is, the
 * request is no request any more or is not signed by its key. */
START_TEST(a_changed_request_is_refused)
{
	struct wd_pki_request asked;
	struct lab lab;
	size_t at, body;

	begin(&lab);
	body = (size_t)(strstr(wd_buf_string(&lab.request), "--\n") + 3 -
	    wd_buf_string(&lab.request));
	for (at = body; at < lab.request.len && lab.request.data[at] != '=' &&
	     lab.request.data[at] != '-';
	     at += 7) {
		uint8_t was = lab.request.data[at];

		if (was == '\n')
			continue;
		lab.request.data[at] = was == 'B' ? 'C' : 'B';
		ck_assert_int_ne(
		    wd_pki_read_request(&lab.asked, &asked, &lab.err), WD_OK);
		lab.request.data[at] = was;
	}
	ck_assert_uint_gt(at, body + 100);
	ck_assert_int_eq(wd_pki_read_request(&lab.asked, &asked, NULL), WD_OK);
	end(&lab);
}
END_TEST

/* ---- revocation ---------------------------------------------------------- */

START_TEST(a_list_grows)
{
	static const char *const serials[] = { "0a", "7f01" };
	struct wd_pki_pem old = { "ca.crl", { NULL, 0 } };
	struct wd_buf first, second;
	unsigned added = 0;
	struct lab lab;

	begin(&lab);
	wd_buf_init(&first, WD_PKI_PEM_BYTES);
	wd_buf_init(&second, WD_PKI_PEM_BYTES);
	ck_assert_int_eq(wd_pki_revoke(&lab.ca, &old, serials, 1, &clock_stands,
			     &added, &first, NULL),
	    WD_OK);
	ck_assert_uint_eq(added, 1);
	old = pem_of("ca.crl", &first);
	ck_assert_int_eq(wd_pki_revoke(&lab.ca, &old, serials, 2, &clock_stands,
			     &added, &second, NULL),
	    WD_OK);
	ck_assert_uint_eq(added, 1);
	ck_assert_uint_gt(second.len, first.len);
	wd_buf_reset(&second);
	wd_pki_forget(&lab.ca_key);
	wd_buf_release(&lab.ca_certificate);
	make_ca(&lab, 100);
	ck_assert_int_eq(wd_pki_revoke(&lab.ca, &old, serials, 2, &clock_stands,
			     &added, &second, &lab.err),
	    WD_INVALID);
	ck_assert_ptr_nonnull(
	    strstr(lab.err.message, "is not signed by this CA"));
	wd_buf_release(&first);
	wd_buf_release(&second);
	end(&lab);
}
END_TEST

START_TEST(what_is_no_serial_number_is_refused)
{
	static const char *const bad[] = { "xyz" };
	struct wd_pki_pem old = { "ca.crl", { NULL, 0 } };
	unsigned added;
	struct lab lab;

	begin(&lab);
	ck_assert_int_eq(wd_pki_revoke(&lab.ca, &old, bad, 1, &clock_stands,
			     &added, &lab.made, NULL),
	    WD_INVALID);
	end(&lab);
}
END_TEST

START_TEST(roles_are_two)
{
	enum wd_pki_role role = WD_PKI_NO_ROLE;

	ck_assert_int_eq(wd_pki_role_parse("host", &role, NULL), WD_OK);
	ck_assert_str_eq(wd_pki_role_name(role), "host");
	ck_assert_int_eq(wd_pki_role_parse("client", &role, NULL), WD_OK);
	ck_assert_str_eq(wd_pki_role_name(role), "client");
	ck_assert_int_eq(wd_pki_role_parse("both", &role, NULL), WD_INVALID);
}
END_TEST

WD_SUITE_BEGIN("client pki")
WD_LOOP(names_are_held_to_the_grammar, name_cases);
WD_TEST(a_name_stands_once);
WD_TEST(a_certificate_says_what_was_granted);
WD_TEST(a_client_is_no_host);
WD_TEST(no_serial_number_comes_twice);
WD_TEST(nothing_outlives_the_ca);
WD_TEST(only_a_ca_with_its_key_signs);
WD_TEST(a_long_name_stands_in_the_list_alone);
WD_TEST(days_and_names_of_a_ca_are_checked);
WD_TEST(a_request_is_read_back);
WD_TEST(a_changed_request_is_refused);
WD_TEST(a_list_grows);
WD_TEST(what_is_no_serial_number_is_refused);
WD_TEST(roles_are_two);
WD_SUITE_END
