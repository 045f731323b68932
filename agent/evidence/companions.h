/*
 * companions.h - adapters, drafts and projectors: are they in use? And models
 * that are asleep. wd_look_companions is declared in look.h.
 *
 * THE RULE. A file that is named, opened or read was not therefore used:
 * llama-server reads adapters and projectors and closes them, and scales an
 * adapter to nothing at run time. So a companion is in use
 *
 * - YES when a current readable mapping holds at least one whole tensor of it;
 *   an adapter only when, besides, its engine is known not to change adapters
 *   while it runs;
 * - NO when it is a draft that nobody holds, of an engine known by program that
 *   maps a draft exactly when it uses one, which has its model wholly mapped
 *   (so it was not told to read into memory), nothing on a device (from where
 *   a copy would compute), no sleep, and of which everything was seen;
 * - not known otherwise.
 *
 * A model is asleep when an engine that drops its weights while nobody asks
 * for them names it, and neither a mapping nor a descriptor nor enough memory
 * holds it: CLAIMED, with WD_ASLEEP as a note. What such a process has read
 * since it started does not count: it may have been dropped.
 */
#ifndef WD_EVIDENCE_COMPANIONS_H
#define WD_EVIDENCE_COMPANIONS_H

#include "evidence/look.h"

#define WD_ASLEEP                                                              \
	"asleep, or not loaded yet: its weights are not in memory now; the "   \
	"next request loads what the path leads to then"

#endif
