/* SPDX-License-Identifier: MIT
 *
 * The process server: init of every cluster. An agent everywhere; in cluster 0 also the leader of
 * the job, whose end is the machine's end. One thread sleeps for all that can happen: messages,
 * room for its own, the end of the job's process, deaths of clusters.
 */
#include <atoll/kcalls.h>
#include <atoll/server.h>
#include <atoll/startup.h>
#include <base/str.h>
#include <servers/file/protocol.h>
#include <servers/name/protocol.h>
#include <servers/proc/agent.h>
#include <servers/proc/groups.h>
#include <servers/proc/lead.h>
#include <servers/proc/names.h>
#include <servers/proc/requests.h>
#include <servers/proc/signals.h>

struct leader {
	struct lead lead;
	int out[CLUSTERS_MAX];		/* mailbox to each other agent that takes part; 0: none */
	int32_t status;			/* of the first job that failed */
	/* clusters that were started again for the next job, and are not up yet */
	bool starts[CLUSTERS_MAX];
	bool waits;			/* there are some */
};

static struct agent agent;
static struct leader leader;
static bool is_leader;
static int in;				/* the input mailbox */
static int to_leader;

/* The end of the machine; of another cluster's process server only that of its cluster. */
static void
halt(int status)
{
	if (!is_leader)
		kproc_exit(status);
	for (;;)
		kmachine_halt(atoll_startup()->authority, status);
}

/* --- the leader --- */

/*
 * Tell another cluster's agent what is due. One that cannot be told is dead, and its death will be
 * noticed.
 */
static void
order(uint32_t cluster)
{
	struct lead *l = &leader.lead;
	struct proc_message m = {.magic = PROC_MAGIC, .op = l->due[cluster], .job = l->job,
	    .cluster = cluster, .status = l->status};

	if (kmailbox_write(leader.out[cluster], &m) != -E_AGAIN)
		lead_told(l, cluster);
}

/* The own agent is called directly, after the others have been told, for it loads at once. */
static void
order_own(void)
{
	struct lead *l = &leader.lead;
	uint32_t own = agent.here.cluster;
	uint8_t op = l->due[own];

	lead_told(l, own);
	if (op == PROC_START)
		agent_start(&agent, l->job);
	else if (op == PROC_KILL)
		agent_kill(&agent, l->status);
}

static void
give_orders(void)
{
	for (uint32_t c = 0; c < agent.here.clusters; c++)
		if (leader.lead.due[c] != 0 && c != agent.here.cluster)
			order(c);
	order_own();
}

/* A mailbox for each other cluster that takes part, and its death is told. */
static void
begin_job(uint32_t job)
{
	lead_begin(&leader.lead, job, agent.here.clusters, agent.plan.counts);
	for (uint32_t c = 0; c < agent.here.clusters; c++) {
		if (!leader.lead.takes_part[c] || c == agent.here.cluster || leader.out[c] != 0)
			continue;
		leader.out[c] = (int)kmailbox_open((int)c, PROC_PORT);
		if (leader.out[c] >= 0 && kevent_bind(EVENT_CLUSTER, (int)c, BIT_DEATH) == 0)
			continue;
		console_print("atoll: no room to start the job in cluster %u\n", c);
		halt(1);
	}
}

static bool
is_dead(uint32_t cluster)
{
	return kcluster_watch((int)cluster, 0) == -E_HOSTDOWN;
}

static void
look_for_deaths(void)
{
	for (uint32_t c = 0; c < agent.here.clusters; c++)
		if (c != agent.here.cluster && lead_waits_for(&leader.lead, c) && is_dead(c))
			lead_dead(&leader.lead, c);
}

/* Its agent is a new one: what was opened to the old one is closed. False: it cannot be. */
static bool
restart(uint32_t cluster)
{
	if (kcluster_restart(atoll_startup()->authority, (int)cluster) != 0)
		return false;
	console_print("atoll: cluster %u is started again\n", cluster);
	khandle_close(leader.out[cluster]);
	leader.out[cluster] = 0;
	leader.starts[cluster] = leader.waits = true;
	return true;
}

/* The next job begins when all clusters are up; one that has died again is given up. */
static void
look_for_lives(void)
{
	struct cluster_state s;

	leader.waits = false;
	for (uint32_t c = 0; c < agent.here.clusters; c++) {
		if (!leader.starts[c] || kcluster_state((int)c, &s) != 0)
			continue;
		if (s.state == CLUSTER_DEAD)
			halt(leader.status & 255);
		leader.starts[c] = s.state != CLUSTER_UP;
		leader.waits |= leader.starts[c];
	}
	if (leader.waits)
		return;
	begin_job(leader.lead.job + 1);
	look_for_deaths();
}

/*
 * The job is over. It begins again if it is to be repeated, in clusters that have died when they
 * are up again; else, or where none can be started again, all ends.
 */
static void
next_job(void)
{
	const struct lead *l = &leader.lead;
	bool is_last = l->job >= agent.plan.job.repeat;

	if (leader.status == 0)
		leader.status = l->status;
	for (uint32_t c = 0; c < l->clusters && !is_last; c++)
		is_last = c != agent.here.cluster && l->takes_part[c] && is_dead(c) && !restart(c);
	if (is_last)
		halt(leader.status & 255);
	look_for_lives();
}

/* What the own agent says needs no message. */
static void
lead_on(void)
{
	struct mail_sender self = {PROC_LEADER, BADGE_INIT};
	struct proc_message m;

	give_orders();
	while (agent_say(&agent, &m) || (lead_is_over(&leader.lead) && !leader.waits)) {
		if (agent.say.has_ended) {
			agent_has_told(&agent);
			lead_take(&leader.lead, &self, &m);
		}
		if (lead_is_over(&leader.lead) && !leader.waits)
			next_job();
		give_orders();
	}
}

/* --- the agent of another cluster --- */

/* The leader waits for the end of what it starts here, whether it can begin or not. */
static void
agent_begin(uint32_t job)
{
	if (job_plan_read(&agent.plan, &agent.here, true) == 0 &&
		agent.plan.counts[agent.here.cluster] > 0)
		agent_start(&agent, job);
	else
		agent_refuse(&agent, job);
}

static void
agent_message(const struct mail_sender *from, const struct proc_message *m)
{
	if (m->magic != PROC_MAGIC || from->cluster != PROC_LEADER || from->badge != BADGE_INIT)
		return;
	if (m->op == PROC_START && m->job > agent.part.job && agent.part.proc < 0)
		agent_begin(m->job);
	else if (m->op == PROC_KILL)
		agent_kill(&agent, m->status);
}

static void
report(void)
{
	struct proc_message m;
	long result;

	if (!agent_say(&agent, &m))
		return;
	result = kmailbox_write(to_leader, &m);
	if (result == -E_AGAIN)
		return;
	agent_has_told(&agent);
	if (result != 0 && !is_dead(PROC_LEADER))
		console_print("atoll: cluster %u cannot reach the leader: %s\n", agent.here.cluster,
			error_text((int)result));
}

/*
 * Without the leader nobody collects the job: its ranks end. The end of its cluster is that of the
 * machine, so there is nothing else to do.
 */
static void
look_after_leader(void)
{
	if (is_dead(PROC_LEADER))
		agent_kill(&agent, 1);
}

/* --- both --- */

static void
begin(void)
{
	struct file f;

	agent.part.proc = -1;
	agent.has_names = file_open(NAME_SERVER, &f) == 0;
	agent.has_files = file_open(FILE_SERVER, &f) == 0;
	kevent_bind(EVENT_MAILBOX, in, BIT_MAIL);
	kevent_bind(EVENT_ROOM, 0, BIT_ROOM);
	if (!is_leader)
		kevent_bind(EVENT_CLUSTER, PROC_LEADER, BIT_DEATH);
	if (servers_start(&agent) != 0)
		halt(1);
	if (!is_leader)
		return;
	if (job_plan_read(&agent.plan, &agent.here, true) != 0)
		halt(1);
	begin_job(1);
}

static void
take_name_message(const struct mail_sender *from, const struct proc_message *m)
{
	if (m->magic == PROC_MAGIC && from->badge == BADGE_INIT)
		names_message(from->cluster, m);
}

static void
take_server_message(const struct mail_sender *from, const struct proc_message *m)
{
	if (m->magic == PROC_MAGIC && from->badge == BADGE_SERVER &&
		from->cluster == agent.here.cluster)
		servers_give_memory(&agent);
}

static void
take_messages(void)
{
	struct proc_message m;
	struct mail_sender from;

	while (kmailbox_read(in, ANY_SOURCE_CLUSTER, &m, &from) >= 0) {
		if (m.op == PROC_NAME_ASK || m.op == PROC_NAME_TOLD)
			take_name_message(&from, &m);
		else if (m.op == PROC_MEMORY)
			take_server_message(&from, &m);
		else if (is_leader)
			lead_take(&leader.lead, &from, &m);
		else
			agent_message(&from, &m);
	}
}

static void
serve(uint32_t bits)
{
	if (bits & 1 << BIT_MAIL)
		take_messages();
	if (bits & 1 << BIT_END)
		agent_reap(&agent);
	if (bits & 1 << BIT_CHILD)
		requests_reap();
	if (bits & 1 << BIT_TYPED) {
		groups_look();
		signals_look();
	}
	if (bits & 1 << BIT_DEATH)
		names_look_for_deaths();
	if (bits & 1 << BIT_NAMES)
		names_look_at_line();
	if (bits & 1 << BIT_DEATH && is_leader)
		(leader.waits ? look_for_lives : look_for_deaths)();
	else if (bits & 1 << BIT_DEATH)
		look_after_leader();
	if (bits & 1 << BIT_SERVER && !servers_look(&agent))
		halt(1);
}

int
server_main(int argc, char **argv)
{
	int wrong = 0;

	(void)argc;
	(void)argv;
	kcluster_info(&agent.here);
	is_leader = agent.here.cluster == PROC_LEADER;
	in = (int)kmailbox_create(PROC_PORT);
	to_leader = (int)kmailbox_open(PROC_LEADER, PROC_PORT);
	if (in >= 0)
		wrong = requests_begin(&agent);
	if (in < 0 || to_leader < 0 || wrong != 0) {
		console_print("atoll: cluster %u cannot open port %d: %s\n", agent.here.cluster,
			PROC_PORT,
		    error_text(in < 0 ? in : to_leader < 0 ? to_leader : wrong));
		return 1;
	}
	begin();
	for (uint32_t bits = 0;; bits = requests_serve()) {
		names_step();
		if (bits != 0) {
			serve(bits);
			/* what is due by that */
			names_step();
		}
		/* a cluster is over when its names are, which the step before may have seen */
		if (is_leader)
			lead_on();
		else
			report();
	}
}
