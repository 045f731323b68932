/*
 * look.h - one look at one port, while it is being put together. Private to
 * this room.
 *
 * A look is filled from top to bottom, each step in a file of its own:
 *
 *   listeners  attest.c   which sockets listen
 *   accepted   connection.c   the connection that the question names: then
 *                         its holders take the place of the listeners' owners
 *   members    group.c    who holds them, and who serves with those (who has
 *              glance.c   weights at all is a candidate), and what they have on
 *              devices.c  devices
 *              children.c
 *              ties.c     and who is tied to those, see ties.h
 *              tied.c
 *   held       held.c     the objects that members have mapped or open
 *   claims     claims.c   what command lines and environments name, by path
 *              claim_names.c  or by the name that a cache knows, and
 *              claim_lists.c  the files that name models
 *   models     models.c   bundles made of held (or only named) files, and of
 *              home.c     the files beside them
 *              snapshot.c
 *   names      names.c    what leads to them now in caches, and what has moved
 *   digests    digests.c  their bytes
 *   grades     grade.c    how strong the evidence is (pure), which adapters and
 *              companions.c  drafts are in use, and what is asleep
 *   message    message.c  the attestation
 *
 * Everything in a look belongs to it and goes with wd_look_release.
 */
#ifndef WD_EVIDENCE_LOOK_H
#define WD_EVIDENCE_LOOK_H

#include "evidence/attest.h"
#include "evidence/engines.h"

enum wd_member_role {
	WD_MEMBER_OWNER,
	WD_MEMBER_DESCENDANT,
	WD_MEMBER_ACTIVATOR,     /* shown, no candidate */
	WD_MEMBER_ORPHAN_HOLDER, /* shown, no candidate */
	WD_MEMBER_ORPHAN_WEIGHTS,
	WD_MEMBER_TIED, /* see ties.h */
};

enum wd_tie_kind { WD_TIE_PIPE, WD_TIE_UNIX_SOCKET, WD_TIE_SHARED_MEMORY };
struct wd_tie {
	enum wd_tie_kind kind;
	pid_t pid; /* the member at the other end */
};

/* A process that is part of the answer. */
struct wd_member {
	pid_t pid;
	enum wd_member_role role;
	struct wd_process process;
	enum wd_status mappings_status, descriptors_status;
	struct wd_mappings mappings;
	struct wd_descriptors descriptors;
	enum wd_tristate holds_device; /* that computes; devices.h */
	struct wd_device_uses devices; /* when it does */
	bool listens_elsewhere; /* or may, on a socket nobody asked about */
	bool listens_asked;     /* on one that the question is about */
	bool candidate;         /* its weights count */
	bool ended;             /* a zombie: it holds nothing any more */
	/* The earliest moment (real time) at which it can have loaded what it
	 * holds: its own start, or that of the oldest ancestor from which it
	 * was forked without an exec. */
	int64_t load_start_ns;
	struct wd_tie *ties; /* WD_MEMBER_TIED: by what */
	size_t tie_count, tie_capacity;
};

/* One way in which a member holds an object. */
struct wd_hold {
	size_t member;   /* index into members */
	bool is_mapping; /* else a descriptor */
	bool readable;
	struct wd_range range; /* of the file; mapping only */
	size_t row;            /* index into the member's mappings */
	bool shared_writable;
	bool written_known;
	uint64_t written_bytes;
};

/* An object that at least one member holds. */
struct wd_held {
	enum wd_status open_status; /* not WD_OK: it could not be opened */
	struct wd_file file;
	struct wd_file_state first_state; /* when it was first met */
	struct wd_bytes path;
	bool executable; /* mapped as code by somebody */
	enum wd_object_type type;
	enum wd_status sniff_status;
	enum wd_bundle_format format;
	struct wd_hold *holds;
	size_t hold_count, hold_capacity;
	bool used; /* already part of a model */
};

enum wd_claim_use {
	WD_CLAIM_MODEL,
	WD_CLAIM_DRAFT,
	WD_CLAIM_ADAPTER,
	WD_CLAIM_PROJECTOR,
	WD_CLAIM_NAME, /* a name only, no file */
};

/* What a command line or a variable names. */
struct wd_claim {
	Weightd__V1__Claim__Source source;
	size_t member;
	enum wd_claim_use use;
	char *key;
	struct wd_bytes value;
	/* When the value leads to a weight file or a directory of them: */
	bool leads_to_file;
	bool several;         /* a folder of several models: leads to none */
	struct wd_bytes path; /* as the process would open it */
	struct wd_file file;  /* of the file; -1 for a directory */
	enum wd_tristate agrees;
	bool names_list; /* the value is a file that names models */
	bool listed;     /* one of many in such a file: nobody says that it
			  * was loaded */
	/* claim_names.c: when the value is a name that a cache knows. */
	struct wd_bytes store;  /* the cache: caches.h, wd_cache_place.root */
	struct wd_bytes label;  /* the branch, or the tag */
	struct wd_bytes stored; /* what the cache says that it leads to now */
	/* The name, or the file in which it stands, was set after the process
	 * can have loaded what it led to before: the claim says nothing of what
	 * was loaded. */
	bool late;
	/* A link or folder on the path may have been exchanged since then, or
	 * a mount lies over its end: as `late` for what is only named, but it
	 * excuses no conflict. */
	bool led_anew;
};

enum wd_origin { WD_ORIGIN_MAPPED, WD_ORIGIN_OPEN, WD_ORIGIN_BESIDE };

/* One file of a model, as evidence. */
struct wd_model_file {
	size_t bundle_file; /* index into bundle->files */
	size_t held;        /* index into held, or SIZE_MAX */
	int fd;             /* the object that was described; borrowed
			     * from held, or owned when `owned` */
	bool owned;
	struct wd_file_state state; /* when it was described */
	enum wd_origin origin;
	/* digests.c */
	Weightd__V1__DigestState digest_state;
	int64_t digested_real_ns;
	uint64_t hashed_bytes; /* PENDING: so far */
	/* grade.c */
	struct wd_coverage coverage;
	Weightd__V1__Grade grade;
	bool deleted, replaced, changed, modified, incomplete;
	bool blind;      /* it is held, and the object could not be opened */
	bool removed;    /* `changed`, and that it was removed explains it */
	bool asleep;     /* nobody holds it, and its engine sleeps */
	bool path_known; /* what its path leads to was looked at */
	struct wd_file path_file; /* that, when replaced; else no file */
	bool has_path_sha256;
	struct wd_sha256 path_sha256;
	enum wd_tristate written;
	uint64_t written_bytes;
	const char *reason;
};

/* A name that a cache keeps. */
struct wd_kept_name {
	char *name;     /* escaped */
	char *leads_to; /* escaped; NULL: here. Else it has moved */
};

struct wd_model {
	struct wd_bundle *bundle;
	enum wd_bundle_kind kind;
	struct wd_bytes path;        /* of the file it was described from */
	struct wd_model_file *files; /* one for each bundle file */
	size_t file_count;
	bool named;       /* a claim leads to it */
	bool named_model; /* one says that it is the model itself */
	Weightd__V1__Grade grade;
	bool settings_stale, conflict, incomplete, mapped_wholly;
	bool folder_known;
	int64_t folder_ns;     /* when the folder, or the way to it or to what
				* was taken out of it, last changed */
	bool settings_checked; /* none can have been removed since the load */
	enum wd_tristate on_overlay;
	bool named_in_time; /* by a claim that is not late */
	/* Revisions of a hub cache that have the file (snapshot.c), sorted. */
	struct wd_bytes *commits;
	size_t commit_count, commit_capacity;
	/* Settings could come from several of them. */
	bool several_snapshots;
	struct wd_kept_name *names; /* names.c */
	size_t name_count, name_capacity;
	bool names_incomplete;   /* not all of the cache could be read */
	enum wd_tristate in_use; /* companions.c; of companions only */
	bool asleep;             /* named, not held, and its engine sleeps */
	pid_t *others; /* outside the group, that hold it too; by pid */
	size_t other_count, other_capacity;
};

enum wd_hop_kind {
	WD_HOP_CHILD,
	WD_HOP_CONNECTION,
	WD_HOP_REMOTE,
	WD_HOP_PUBLISHED,
	WD_HOP_UNIX,
};

/* Where a group without weights passes traffic on to. */
struct wd_hop {
	enum wd_hop_kind kind;
	pid_t pid; /* the member that makes it */
	uint64_t netns;
	enum wd_family family;
	uint8_t address[16];
	uint16_t port;
	pid_t peer; /* the process it leads to, where there is no port */
	unsigned samples;
	size_t group; /* index into groups, or WD_NONE */
};

struct wd_group {
	size_t *members; /* indexes, sorted by pid */
	size_t member_count, member_capacity;
	pid_t *owners; /* key of the group, sorted */
	size_t owner_count;
	bool lost_member; /* a process ended before it could be read */
	bool too_many; /* objects were left out, see WD_MAX_CANDIDATE_FILES */
	unsigned folders; /* that claims were followed into */
	bool members_complete;
	struct wd_held *held;
	size_t held_count, held_capacity;
	struct wd_claim *claims;
	size_t claim_count, claim_capacity;
	struct wd_model *models;
	size_t model_count, model_capacity;
	bool orphan_weights; /* behind no listener */
	bool behind;         /* found by a hop, not by the question */
	unsigned depth;      /* hops between the question and it */
	struct wd_hop *hops;
	size_t hop_count, hop_capacity;
	bool loading; /* loading.c */
	bool checked_routes;
	bool checked_written, checked_claims, checked_headers;
	bool unexplained; /* large memory, an unknown file or a device */
	/* engine_facts.c; not known until `engine_asked` */
	bool engine_asked;
	enum wd_tristate mutable, partial, updatable;
	enum wd_tristate sleeps; /* YES: it drops its weights when idle */
	/* Reasons and the engines that they are about; static. */
	const char *mutable_reason, *mutable_engine;
	const char *partial_reason, *partial_engine;
	const char *sleeps_engine;
	bool maps_drafts; /* every member that counts does */
	bool may_repack;  /* likewise */
	struct wd_run_settings run;
};

/* Digests that were computed for this question: a look that is repeated does
 * not hash anew what has not changed (design rule 5, where nothing may be
 * stored). */
struct wd_digest_memo {
	struct wd_digest_row *rows;
	size_t count, capacity;
	int64_t started_real_ns; /* when the question came */
};

/* A socket that listens, by its inode. */
struct wd_listening {
	uint64_t inode;
	const struct wd_listener *listener; /* of all, or of listeners */
	bool asked;                         /* the question is about it */
};

/* The service's end of the connection that the question names. */
struct wd_accepted {
	Weightd__V1__ConnectionState state;
	struct wd_connection socket; /* when one fits, else all zero */
	bool translated;             /* its port is not the asked one */
	size_t group;                /* of its holders, or WD_NONE */
	bool again; /* looked for twice, and every socket was seen */
};

struct wd_look {
	const struct wd_evidence *with;
	const Weightd__V1__Question *question;
	enum wd_digest_wish digests;
	const struct wd_deadline *deadline;
	/* Hashing ends earlier: the re-check needs time as well. */
	struct wd_deadline hash_deadline;
	struct wd_digest_memo *memo; /* of all tries of this question */

	struct wd_host_identity host;
	struct wd_listeners listeners;  /* those that were asked for */
	struct wd_listeners all;        /* every listener of every namespace */
	struct wd_listening *listening; /* of both, sorted by inode */
	size_t listening_count;
	struct wd_accepted accepted;
	struct wd_holders holders;
	struct wd_pids pids;
	struct wd_member *members;
	size_t member_count, member_capacity;
	bool too_many_members; /* some were left out, see WD_MAX_GROUP */
	struct wd_group *groups;
	size_t group_count, group_capacity;
	size_t *listener_group; /* for each listener, or SIZE_MAX */
	Weightd__V1__OwnersState *owners_state; /* for each listener */

	struct wd_blinds listener_blinds, owner_blinds, weight_blinds,
	    other_blinds;
	bool identity_again, owners_again, mappings_again, files_again;
	unsigned moved; /* bits, 1 << Weightd__V1__Moved */
	uint32_t retries;
};

#define WD_NONE SIZE_MAX

void wd_look_release(struct wd_look *look);
void wd_member_release(struct wd_member *member);

/* attest.c: the listeners that the question asks for; `*found` is whole, also
 * on failure. */
enum wd_status wd_look_listeners(struct wd_look *look,
    struct wd_listeners *found, struct wd_error *err) WD_MUST_CHECK;

/* attest.c: whoever holds those listeners, and one more socket (0: none). */
enum wd_status wd_look_holders(struct wd_look *look,
    const struct wd_listeners *listeners, uint64_t socket,
    struct wd_holders *found, struct wd_error *err) WD_MUST_CHECK;

/* connection.c: whether the question names a connection. */
bool wd_look_has_connection(const struct wd_look *look);

/* connection.c: the socket at its other end, into look->accepted; what keeps
 * it from being known becomes a blind spot. Errors: WD_NOMEM. */
enum wd_status wd_look_connection(
    struct wd_look *look, struct wd_error *err) WD_MUST_CHECK;

/* connection.c: takes the place of wd_look_groups: the one group of the
 * connection's holders. Errors: WD_NOMEM. */
enum wd_status wd_look_connection_group(
    struct wd_look *look, struct wd_error *err) WD_MUST_CHECK;

/* connection.c: socket and holders once more; sets moved and owners_again.
 * Errors: WD_NOMEM. */
enum wd_status wd_look_connection_again(
    struct wd_look *look, struct wd_error *err) WD_MUST_CHECK;

/* elsewhere.c: what an answer about a port says nothing of, since connections
 * to it can end elsewhere: blind spots that decide nothing. Not for a question
 * that is bound to a connection. Errors: WD_NOMEM. */
enum wd_status wd_look_elsewhere(
    struct wd_look *look, struct wd_error *err) WD_MUST_CHECK;

/* group.c: fills members, groups, listener_group and owners_state. Errors:
 * WD_NOMEM. A member that vanished sets moved. */
enum wd_status wd_look_groups(
    struct wd_look *look, struct wd_error *err) WD_MUST_CHECK;

/* listening.c: look->listening, once look->all is known. Errors: WD_NOMEM. */
enum wd_status wd_look_sort_listening(
    struct wd_look *look, struct wd_error *err) WD_MUST_CHECK;

/* listening.c: the listening socket that the descriptor is; NULL: none. */
const struct wd_listening *wd_look_listening(
    const struct wd_look *look, const struct wd_descriptor *descriptor);

/* listening.c: whether the process has a listening socket of its own. Errors:
 * WD_NOMEM; a process that cannot be looked into has none that is known. */
enum wd_status wd_look_process_listens(struct wd_look *look,
    const struct wd_process *process, bool *listens) WD_MUST_CHECK;
bool wd_look_has_listener(
    const struct wd_look *look, const struct wd_descriptors *descriptors);

/* listening.c: which members listen besides, by look->all. */
void wd_look_other_listeners(struct wd_look *look);

/* listening.c: whether the socket is one that no owner of the group holds, or
 * that nobody asked about; then whether the member listens, or may, on such
 * a socket. That the question fits it (the same port at another address or in
 * another namespace) does not make it the group's. */
bool wd_group_is_elsewhere(const struct wd_look *look,
    const struct wd_group *group, const struct wd_listening *row);
bool wd_group_listens_elsewhere(const struct wd_look *look,
    const struct wd_group *group, const struct wd_member *member);

/* group.c: room for what is known of each listener; then the distinct holders
 * of a socket, sorted (the caller frees), and what so many of them mean.
 * Errors: WD_NOMEM. */
enum wd_status wd_look_listener_rows(struct wd_look *look) WD_MUST_CHECK;
enum wd_status wd_look_owners_of(const struct wd_look *look, uint64_t inode,
    pid_t **owners, size_t *count) WD_MUST_CHECK;
Weightd__V1__OwnersState wd_look_owners_state(
    const struct wd_look *look, size_t owner_count);

/* group.c: the group that these processes own a listener of; made when it is
 * not there yet. Takes over `owners` (sorted, distinct). Errors: WD_NOMEM. */
enum wd_status wd_look_group_of(struct wd_look *look, pid_t *owners,
    size_t count, size_t *index, struct wd_error *err) WD_MUST_CHECK;

/* group.c: adds the facts of one process. `*index` is WD_NONE when it has gone,
 * or when there are too many. One that is a member already keeps its role.
 * Errors: WD_NOMEM. */
enum wd_status wd_look_add_member(struct wd_look *look, pid_t pid,
    enum wd_member_role role, size_t *index,
    struct wd_error *err) WD_MUST_CHECK;

/* group.c: into the group, once. Errors: WD_NOMEM. */
enum wd_status wd_group_add(
    struct wd_group *group, size_t member) WD_MUST_CHECK;

/* group.c: whether the member holds the socket that makes this group. Its role
 * tells only that it does so of some group: a child with an asked port of its
 * own is no owner of its parent's. Activators are none. */
bool wd_group_is_owner(
    const struct wd_group *group, const struct wd_member *member);

/* group.c: a descendant of this group's owners, whatever it owns besides. */
bool wd_group_is_below_owner(
    const struct wd_group *group, const struct wd_member *member);

/* group.c: by the process table; false for a process itself. */
bool wd_look_descends_from(
    const struct wd_look *look, pid_t pid, pid_t ancestor);

/* group.c: a service manager, by its program. */
bool wd_look_is_manager(const struct wd_process *process);

/* attest.c: an owner that looks as if it had only inherited its socket. */
bool wd_look_may_be_left_over(
    struct wd_look *look, const struct wd_member *member);

/* children.c: takes children that serve for themselves out of the group, with
 * all that descends from them, and makes each a hop. Errors: WD_NOMEM. */
enum wd_status wd_look_children(struct wd_look *look, struct wd_group *group,
    struct wd_error *err) WD_MUST_CHECK;

/* hops.c: where a group that holds no weights, or is known to pass requests on,
 * does so, each hop resolved to its own group, which is appended to groups; of
 * others the connections as they are at this moment. Errors: WD_NOMEM. */
enum wd_status wd_look_hops(
    struct wd_look *look, size_t group, struct wd_error *err) WD_MUST_CHECK;

/* hops.c: whether an owner is known to pass requests on, whatever else it
 * does. */
bool wd_look_passes_on(
    const struct wd_look *look, const struct wd_group *group);

/* hops.c: whether an owner is known to pass traffic on and do nothing else. */
bool wd_look_is_proxy(const struct wd_look *look, const struct wd_group *group);

/* hops.c: whether the group itself holds a model, at INFERRED or better or in
 * a way that could not be looked into. */
bool wd_group_may_hold_model(const struct wd_group *group);

/* group.c: whether the one was forked from the other, or both from a third,
 * without an exec since; false also when that is not known. */
bool wd_look_same_generation(
    const struct wd_identity *a, const struct wd_identity *b);

/* group.c: one group of a process that no listener leads to. */
enum wd_status wd_look_add_orphan(
    struct wd_look *look, pid_t pid, struct wd_error *err) WD_MUST_CHECK;

/* loading.c: whether a member is about to load weights; after the models were
 * graded. Errors: WD_NOMEM. */
enum wd_status wd_look_loading(struct wd_look *look, struct wd_group *group,
    struct wd_error *err) WD_MUST_CHECK;

/* duplicates.c: who else maps the weights that were found. Errors: WD_NOMEM. */
enum wd_status wd_look_duplicates(
    struct wd_look *look, struct wd_error *err) WD_MUST_CHECK;

/* orphans.c: processes that are in no group, hold weights, and whose parent
 * died. Needs look->listening. Errors: WD_NOMEM. */
enum wd_status wd_look_orphans(
    struct wd_look *look, struct wd_error *err) WD_MUST_CHECK;

/* orphans.c: whether the process that started this one is gone, as far as
 * session and process group tell. */
bool wd_look_parent_died(
    struct wd_look *look, const struct wd_process *process);

/* glance.c: whether the object that a process holds is weights, by its first
 * bytes; not known when it could not be looked into. */
enum wd_tristate wd_look_is_weights(struct wd_look *look,
    const struct wd_object_ref *ref, const struct wd_mapping *row);

/* glance.c: whether a mapping of the process is of a weight file. */
enum wd_tristate wd_look_maps_weights(struct wd_look *look,
    const struct wd_process *process, const struct wd_mappings *rows);

/* glance.c: the same of mappings, descriptors, large memory and memory on
 * devices together. */
enum wd_tristate wd_look_holds_weights(
    struct wd_look *look, const struct wd_member *member);

/* held.c: whether weights can be in an object of that type. */
bool wd_may_be_weights(enum wd_object_type type);

/* held.c: opens what the members hold and looks at its first bytes. */
enum wd_status wd_look_held(struct wd_look *look, struct wd_group *group,
    struct wd_error *err) WD_MUST_CHECK;

/* held.c: the object in `group` that is the same as `state`, or WD_NONE. */
size_t wd_group_find_held(
    const struct wd_group *group, const struct wd_file_state *state);

/* held.c: private pages of weight mappings that were written. Errors:
 * WD_NOMEM; a look that was refused leaves them not known. */
enum wd_status wd_look_written(struct wd_look *look, struct wd_group *group,
    struct wd_error *err) WD_MUST_CHECK;

/* held.c: whether private pages of weights were written since. */
bool wd_look_written_again(struct wd_look *look, struct wd_group *group);

/* claims.c */
enum wd_status wd_look_claims(struct wd_look *look, struct wd_group *group,
    struct wd_error *err) WD_MUST_CHECK;

void wd_claim_release(struct wd_claim *claim);

/* names.c: which names of caches lead to the held models, and which have
 * moved. Errors: WD_NOMEM. */
enum wd_status wd_look_names(struct wd_look *look, struct wd_group *group,
    struct wd_error *err) WD_MUST_CHECK;

/* models.c */
enum wd_status wd_look_models(struct wd_look *look, struct wd_group *group,
    struct wd_error *err) WD_MUST_CHECK;

/* engine_facts.c: whether what computes may be copies of tensors that the
 * engine made at load: WD_NO, or WD_NOT_KNOWN. */
enum wd_tristate wd_group_copies(const struct wd_group *group);

/* engine_facts.c: what the engine table says of the members that own the port
 * or hold weights. Errors: WD_NOMEM. */
enum wd_status wd_look_engines(struct wd_look *look, struct wd_group *group,
    struct wd_error *err) WD_MUST_CHECK;

/* digests.c: gives every file of the model its digest, as `look->digests`
 * wishes. Errors: WD_NOMEM; everything else is a state. */
enum wd_status wd_look_digests(struct wd_look *look, struct wd_model *model,
    struct wd_error *err) WD_MUST_CHECK;

/* grade.c: grades and flags of a model and its files. */
enum wd_status wd_look_grade(struct wd_look *look, struct wd_group *group,
    struct wd_model *model, struct wd_error *err) WD_MUST_CHECK;

/* companions.c: whether adapters, drafts and projectors are in use, and which
 * models are asleep; once all models are graded. Errors: WD_NOMEM. */
enum wd_status wd_look_companions(struct wd_look *look, struct wd_group *group,
    struct wd_error *err) WD_MUST_CHECK;

/* recheck.c: sockets, owners, identities, mappings and files once more; sets
 * the *_again and moved fields. Errors: WD_NOMEM. */
enum wd_status wd_look_again(
    struct wd_look *look, struct wd_error *err) WD_MUST_CHECK;

/* message.c */
enum wd_status wd_look_message(struct wd_look *look,
    Weightd__V1__Attestation **attestation, struct wd_error *err) WD_MUST_CHECK;

#endif
