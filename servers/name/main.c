/* SPDX-License-Identifier: MIT
 *
 * The name server: a service (atoll/service.h) whose clients are the name daemons, one of each
 * cluster. It waits for none of them: what one is to be told is said when there is room for it.
 *
 * Which clusters have one is kept in a page that its successor gets. That one answers nobody before
 * all of these have linked their names anew, or have died.
 */
#include <atoll/kcalls.h>
#include <atoll/service.h>
#include <atoll/server.h>
#include <atoll/startup.h>
#include <base/str.h>
#include <servers/name/table.h>

#define NO_DAEMON UINT32_MAX

static struct {
	struct name_table table;
	struct service service;
	struct service_client client[CLUSTERS_MAX];
	uint32_t daemon[CLUSTERS_MAX];	/* client of each cluster */
	uint32_t clusters;
	/* of each cluster the life of the daemon that was answered; 0: none was */
	uint32_t *kept;
} server;

/* --- the life before --- */

/* Has the daemon that was answered died? */
static bool
is_over(uint32_t cluster)
{
	struct cluster_state s;

	return cluster != NAME_CLUSTER && (kcluster_state((int)cluster, &s) != 0 ||
		s.state == CLUSTER_DEAD || s.incarnation != server.kept[cluster]);
}

static uint32_t
life_of(uint32_t cluster)
{
	struct cluster_state s;

	return cluster != NAME_CLUSTER && kcluster_state((int)cluster, &s) == 0 ? s.incarnation : 1;
}

/* Nobody is awaited any more: requests that had to wait are looked at again. */
static void
look_at_requests(void)
{
	for (uint32_t i = 0; server.table.awaited == 0 && i < server.service.used; i++)
		service_again(&server.service, i);
}

/* A death wakes the mailbox. */
static void
look_for_deaths(void)
{
	for (uint32_t c = 0; c < server.clusters; c++)
		if (server.table.awaited >> c & 1 && is_over(c)) {
			server.kept[c] = 0;
			name_forget(&server.table, c);
			look_at_requests();
		}
}

static int
take_kept(void)
{
	struct cluster_info here;
	void *page;
	int result = kept_map(&page, CLUSTERS_MAX * sizeof(*server.kept));

	if (result != 0)
		return result;
	kcluster_info(&here);
	server.clusters = here.clusters;
	server.kept = page;
	for (uint32_t c = 0; c < here.clusters; c++)
		if (server.kept[c] != 0)
			server.table.awaited |= (uint64_t)1 << c;
	look_for_deaths();
	return 0;
}

/* --- clients --- */

/* What has just come into being, to whom it concerns. */
static void
tell_daemons(void)
{
	for (uint32_t c = 0; server.table.to_tell != 0 && c < server.clusters; c++)
		if (server.table.to_tell >> c & 1 && server.daemon[c] != NO_DAEMON)
			service_tell(&server.service, server.daemon[c]);
}

static uint32_t
serve_daemon(void *of, uint32_t client, struct service_part request, void *answer)
{
	uint32_t cluster = server.service.client[client].from.cluster;
	struct name_message q = {0}, r;

	(void)of;
	memcpy(&q, request.at, request.bytes < sizeof(q) ? request.bytes : sizeof(q));
	if (server.daemon[cluster] != client)
		server.kept[cluster] = life_of(cluster);
	server.daemon[cluster] = client;
	if (name_is_early(&server.table, cluster, &q))
		return SERVICE_LATER;
	if (q.op == NAME_SETTLED)
		look_at_requests();
	name_serve(&server.table, cluster, &q, &r);
	tell_daemons();
	memcpy(answer, &r, sizeof(r));
	return sizeof(r);
}

/* A message that names nothing if there is nothing to say any more. */
static uint32_t
tell_daemon(void *of, uint32_t client, void *message)
{
	struct name_message m;

	(void)of;
	name_tell(&server.table, server.service.client[client].from.cluster, &m);
	tell_daemons();
	memcpy(message, &m, sizeof(m));
	return sizeof(m);
}

static void
daemon_gone(void *of, uint32_t client)
{
	uint32_t cluster = server.service.client[client].from.cluster;

	(void)of;
	server.daemon[cluster] = NO_DAEMON;
	server.kept[cluster] = 0;
	name_forget(&server.table, cluster);
	look_at_requests();
	tell_daemons();
}

int
server_main(int argc, char **argv)
{
	static const struct service_kind kind = {.magic = NAME_MAGIC,
		.message = sizeof(struct name_message), .cluster = NAME_CLUSTER, .port = NAME_PORT,
		.pages = NAME_PAGES};

	(void)argc;
	(void)argv;
	if (take_kept() != 0)
		return 1;
	for (uint32_t c = 0; c < CLUSTERS_MAX; c++)
		server.daemon[c] = NO_DAEMON;
	server.service = (struct service){.kind = &kind, .serve = serve_daemon,
		.gone = daemon_gone, .tell = tell_daemon, .in = atoll_startup()->listens,
		.client = server.client, .clients = server.clusters, .looks = SERVICE_LOOKS,
		.badge = BADGE_INIT};
	if (service_begin(&server.service) != 0)
		return 1;
	for (;;) {
		service_step(&server.service);
		look_for_deaths();
	}
}
