/* SPDX-License-Identifier: MIT
 *
 * The memory server of a cluster: see protocol.h. A region is memory of this process. Nothing is
 * kept that a client has not asked for, so what ends with a client is what the cluster gets back.
 */
#include <abi/errors.h>
#include <abi/limits.abi.h>
#include <abi/startup.h>
#include <atoll/kcalls.h>
#include <atoll/server.h>
#include <atoll/service.h>
#include <atoll/startup.h>
#include <base/str.h>
#include <servers/rmem/protocol.h>

#define CLIENTS 64			/* the least share of a cluster is one */
#define KEEP_PART 8			/* of the cluster's memory that is left to others */
#define CLIENT_PART 2			/* of the cluster's memory that one client has at most */
#define WORD_BITS 32
#define WORDS (CLIENTS / WORD_BITS)

static struct region {
	uint32_t pages;			/* 0: free */
	uint32_t owner;			/* the client that it counts for */
	uint32_t badge;			/* of who has asked for it */
	uint32_t users[WORDS];		/* a bit for each client */
	uint64_t addr;
} region[RMEM_REGIONS];

static struct {
	struct service service;
	struct service_client client[CLIENTS];
	uint32_t pages[CLIENTS];	/* of the regions that count for each */
	uint32_t regions[CLIENTS];	/* that each uses */
	uint32_t page_bytes;		/* of the machine */
} server;

/* --- regions --- */

static uint32_t
first_page(const struct region *r)
{
	return (uint32_t)(r - region + 1) * RMEM_REGION_PAGES;
}

static bool
is_user(const struct region *r, uint32_t client)
{
	return (r->users[client / WORD_BITS] >> client % WORD_BITS & 1) != 0;
}

/* Who uses it, the first one; CLIENTS: nobody. */
static uint32_t
first_user(const struct region *r)
{
	uint32_t client = 0;

	while (client < CLIENTS && !is_user(r, client))
		client++;
	return client;
}

/* The region of a page, or NULL. */
static struct region *
region_of(uint32_t page)
{
	uint32_t n = page / RMEM_REGION_PAGES;
	struct region *r = n > 0 && n <= RMEM_REGIONS ? &region[n - 1] : NULL;

	return r != NULL && page % RMEM_REGION_PAGES < r->pages ? r : NULL;
}

/* Where a page lies that this client may use, or NULL. */
static unsigned char *
page_place(uint32_t page, uint32_t client)
{
	const struct region *r = region_of(page);
	uint64_t offset = (uint64_t)(page % RMEM_REGION_PAGES) * RMEM_PAGE;

	return r == NULL || !is_user(r, client) ? NULL :
		(unsigned char *)(uintptr_t)(r->addr + offset);
}

/* Pages of the machine in a region. */
static uint32_t
frames_of(uint32_t pages)
{
	uint32_t whole = server.page_bytes / RMEM_PAGE;

	return whole <= 1 ? pages : (pages + whole - 1) / whole;
}

static bool
has_memory(uint32_t pages, uint32_t client)
{
	uint64_t free = 0, total = 0;
	uint32_t whole = server.page_bytes / RMEM_PAGE, all;

	kstats(STATS_FRAMES_FREE, &free);
	kstats(STATS_FRAMES_TOTAL, &total);
	all = (uint32_t)total;
	return (uint32_t)free >= all / KEEP_PART + frames_of(pages) &&
		server.pages[client] + pages <= all * whole / CLIENT_PART;
}

static void
begin_use(struct region *r, uint32_t client)
{
	r->users[client / WORD_BITS] |= 1u << client % WORD_BITS;
	server.regions[client]++;
}

/* The last one to use it ends it; what counts for one that goes counts for another one then. */
static void
end_use(struct region *r, uint32_t client)
{
	r->users[client / WORD_BITS] &= ~(1u << client % WORD_BITS);
	server.regions[client]--;
	if (r->owner == client) {
		server.pages[client] -= r->pages;
		r->owner = first_user(r);
		if (r->owner < CLIENTS)
			server.pages[r->owner] += r->pages;
	}
	if (r->owner < CLIENTS)
		return;
	kpage_unmap(SELF, (uintptr_t)r->addr, (int)frames_of(r->pages));
	r->pages = 0;
}

/* --- requests --- */

static int
serve_alloc(uint32_t pages, uint32_t client, uint32_t *first)
{
	struct region *r = region;
	long result;

	if (pages == 0 || pages > RMEM_REGION_PAGES)
		return -E_INVAL;
	while (r < region + RMEM_REGIONS && r->pages != 0)
		r++;
	if (r == region + RMEM_REGIONS || server.regions[client] == RMEM_REGIONS_OF_ONE)
		return -E_NOSPC;
	if (!has_memory(pages, client))
		return -E_NOMEM;
	result = kmem_alloc(SELF, (unsigned long)frames_of(pages) * server.page_bytes,
		PAGE_READ | PAGE_WRITE, &r->addr);
	if (result < 0)
		return (int)result;
	r->pages = pages;
	r->owner = client;
	r->badge = server.client[client].from.badge;
	server.pages[client] += pages;
	begin_use(r, client);
	*first = first_page(r);
	return 0;
}

static int
serve_free(uint32_t page, uint32_t client)
{
	struct region *r = region_of(page);

	if (r == NULL || page != first_page(r) || !is_user(r, client))
		return -E_INVAL;
	end_use(r, client);
	return 0;
}

static int
serve_attach(uint32_t page, uint32_t client, uint32_t *pages)
{
	struct region *r = region_of(page);

	if (r == NULL || page != first_page(r))
		return -E_INVAL;
	if (r->badge != server.client[client].from.badge)
		return -E_ACCES;
	if (is_user(r, client))
		return -E_EXIST;
	if (server.regions[client] == RMEM_REGIONS_OF_ONE)
		return -E_NOSPC;
	begin_use(r, client);
	*pages = r->pages;
	return 0;
}

/* Either both pages are there, or nothing is done. */
static int
serve_move(const struct rmem_request *q, uint32_t client, struct service_part body, void *to)
{
	unsigned char *put = q->put == RMEM_NO_PAGE ? NULL : page_place(q->put, client);
	const unsigned char *get = q->get == RMEM_NO_PAGE ? NULL : page_place(q->get, client);

	if ((q->put != RMEM_NO_PAGE && (put == NULL || body.bytes != RMEM_PAGE)) ||
		(q->get != RMEM_NO_PAGE && get == NULL))
		return -E_INVAL;
	if (put != NULL)
		memcpy(put, body.at, RMEM_PAGE);
	if (get != NULL)
		memcpy(to, get, RMEM_PAGE);
	return 0;
}

static uint32_t
rmem_serve(void *of, uint32_t client, struct service_part request, void *answer)
{
	struct rmem_request q = {0};
	struct rmem_reply r = {.result = -E_INVAL};
	struct service_part body = {(char *)request.at + sizeof(q), 0};
	bool has_page;

	(void)of;
	if (request.bytes >= sizeof(q)) {
		memcpy(&q, request.at, sizeof(q));
		body.bytes = request.bytes - (uint32_t)sizeof(q);
	}
	switch (q.op) {
	case RMEM_ALLOC:
		r.result = serve_alloc(q.pages, client, &r.page);
		break;
	case RMEM_FREE:
		r.result = serve_free(q.put, client);
		break;
	case RMEM_ATTACH:
		r.result = serve_attach(q.put, client, &r.page);
		break;
	case RMEM_MOVE:
		r.result = serve_move(&q, client, body, (char *)answer + sizeof(r));
		break;
	default:
		break;
	}
	has_page = q.op == RMEM_MOVE && q.get != RMEM_NO_PAGE && r.result == 0;
	memcpy(answer, &r, sizeof(r));
	return (uint32_t)sizeof(r) + (has_page ? RMEM_PAGE : 0);
}

static void
rmem_gone(void *of, uint32_t client)
{
	(void)of;
	for (struct region *r = region; r < region + RMEM_REGIONS; r++)
		if (r->pages != 0 && is_user(r, client))
			end_use(r, client);
}

int
server_main(int argc, char **argv)
{
	struct cluster_info here;
	struct service_kind kind;
	int result;

	(void)argc;
	(void)argv;
	kcluster_info(&here);
	server.page_bytes = here.page_bytes;
	kind = (struct service_kind)RMEM_SERVICE((int)here.cluster);
	server.service = (struct service){.kind = &kind, .serve = rmem_serve, .gone = rmem_gone,
		.in = atoll_startup()->listens, .client = server.client, .clients = CLIENTS,
		.looks = SERVICE_LOOKS};
	result = service_begin(&server.service);
	if (result != 0) {
		console_print("rmem: cluster %u: error %d\n", here.cluster, -result);
		return 1;
	}
	for (;;)
		service_step(&server.service);
}
