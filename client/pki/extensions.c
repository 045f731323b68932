#include "pki/extensions.h"

#include <string.h>

#include "base/mem.h"

enum wd_status
wd_pki_extend(X509_EXTENSIONS **list, X509V3_CTX *ctx, int nid,
    const char *value, struct wd_error *err)
{
	X509_EXTENSION *made = X509V3_EXT_nconf_nid(NULL, ctx, nid, value);
	X509_EXTENSIONS *grown = NULL;

	if (made != NULL)
		grown = X509v3_add_ext(list, made, -1);
	X509_EXTENSION_free(made);
	return grown != NULL ? WD_OK : wd_pki_trouble(err, OBJ_nid2sn(nid));
}

/* The names were checked: no comma and no colon but an address's own. */
enum wd_status
wd_pki_names_value(const struct wd_pki_names *names, struct wd_buf *value)
{
	if (strlen(names->items[0].text) > WD_PKI_MOST_IN_SUBJECT)
		(void)wd_buf_text(value, "critical,");
	return wd_pki_names_text(names, ",", value);
}

const char *
wd_pki_usage_of(enum wd_pki_role role)
{
	return role == WD_PKI_CLIENT ? "clientAuth" : "serverAuth";
}

bool
wd_pki_name_subject(X509_NAME *subject, const char *name)
{
	if (strlen(name) > WD_PKI_MOST_IN_SUBJECT)
		return true;
	return X509_NAME_add_entry_by_txt(subject, "CN", MBSTRING_UTF8,
		   (const unsigned char *)name, -1, -1, 0) == 1;
}
