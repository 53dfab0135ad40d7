/* SPDX-License-Identifier: MIT
 *
 * The process server: init of every cluster. An agent everywhere; in cluster 0 also the leader of the job, whose end is the
 * machine's end.
 */
#include <atoll/kcalls.h>
#include <atoll/server.h>
#include <atoll/startup.h>
#include <base/str.h>
#include <servers/file/protocol.h>
#include <servers/proc/agent.h>
#include <servers/proc/lead.h>

#define JOB 1			/* there is one so far */
#define WATCH_STACK 4096	/* a watcher only sends a message; there is one per cluster */
#define NAME_SERVER "bin/name"

struct leader {
	struct lead lead;
	int out[CLUSTERS_MAX];		/* mailbox to each agent that takes part; -1: none */
};

/* The state of this cluster's server: one thread serves, the others only send messages to it. */
static struct agent agent;
static struct leader leader;

static void
send_to_self(const struct proc_message *m)
{
	mailbox_send(agent.leader, m);
}

/* Waits for the death of a cluster, on a thread of its own. */
static void
watch(void *arg)
{
	uint32_t cluster = (uint32_t)(uintptr_t)arg;
	struct proc_message m = {.magic = PROC_MAGIC, .op = PROC_DEAD, .cluster = cluster};

	if (kcluster_watch((int)cluster, FOREVER) == -E_HOSTDOWN)
		send_to_self(&m);
}

static void
halt(int status)
{
	for (;;)
		kmachine_halt(atoll_startup()->authority, status);
}

/* Without the leader nobody collects the job: its ranks end, and so does the machine. */
static void
watch_leader(void *arg)
{
	(void)arg;
	if (kcluster_watch(PROC_LEADER, FOREVER) == -E_HOSTDOWN) {
		agent_kill(&agent, 1);
		halt(1);
	}
}

/* Order something from a cluster's agent; the own one is called directly. */
static void
order(uint32_t cluster, enum proc_op op, int status)
{
	struct proc_message m = {.magic = PROC_MAGIC, .op = op, .job = JOB, .cluster = cluster, .status = status};
	struct proc_message dead = {.magic = PROC_MAGIC, .op = PROC_DEAD, .cluster = cluster};
	int result;

	if (cluster == agent.here.cluster) {
		if (op == PROC_START)
			agent_start(&agent, JOB);
		else
			agent_kill(&agent, status);
		return;
	}
	result = mailbox_send(leader.out[cluster], &m);
	if (result != 0 && op == PROC_START)
		send_to_self(&dead);
}

static void
kill_others(void)
{
	for (uint32_t c = 0; c < agent.here.clusters; c++)
		if (leader.lead.takes_part[c] && !leader.lead.has_ended[c])
			order(c, PROC_KILL, leader.lead.status);
}

/* Begin the job: a mailbox and a watcher for each remote cluster, then the orders; the own cluster last, for it loads at once. */
static void
begin_job(void)
{
	uint32_t own = agent.here.cluster;

	lead_begin(&leader.lead, JOB, agent.here.clusters, agent.plan.counts);
	for (uint32_t c = 0; c < agent.here.clusters; c++) {
		if (!leader.lead.takes_part[c] || c == own)
			continue;
		leader.out[c] = (int)kmailbox_open((int)c, PROC_PORT);
		if (leader.out[c] < 0 || thread_start(watch, (void *)(uintptr_t)c, (int)agent.here.core, WATCH_STACK) < 0) {
			console_print("atoll: no room to start the job in cluster %u\n", c);
			halt(1);
		}
		order(c, PROC_START, 0);
	}
	if (leader.lead.takes_part[own])
		order(own, PROC_START, 0);
}

static void
lead_message(const struct mail_sender *from, const struct proc_message *m)
{
	struct lead_action a = lead_take(&leader.lead, from, m);

	if (m->magic == PROC_MAGIC && m->op == PROC_DEAD && from->cluster == PROC_LEADER && from->badge == BADGE_INIT)
		agent_forget_names(&agent, m->cluster, 0, PORTS_MAX);
	if (a.kill_others)
		kill_others();
	if (a.is_over)
		halt(leader.lead.status & 255);
}

static void
agent_message(const struct mail_sender *from, const struct proc_message *m)
{
	if (m->magic != PROC_MAGIC || from->cluster != PROC_LEADER || from->badge != BADGE_INIT)
		return;
	if (m->op == PROC_START && m->job == JOB && agent.part.job != JOB && job_plan_read(&agent.plan, &agent.here, false) == 0 &&
	    agent.plan.counts[agent.here.cluster] > 0)
		agent_start(&agent, m->job);
	else if (m->op == PROC_KILL)
		agent_kill(&agent, m->status);
}

static void
begin(bool is_leader)
{
	struct file f;

	agent.has_names = file_open(NAME_SERVER, &f) == 0;
	agent.has_files = file_open(FILE_SERVER, &f) == 0;
	if (!is_leader) {
		if (thread_start(watch_leader, NULL, (int)agent.here.core, WATCH_STACK) < 0)
			console_print("atoll: cluster %u cannot watch cluster %u\n", agent.here.cluster, PROC_LEADER);
		return;
	}
	if (agent.has_names && agent_start_server(&agent, NAME_SERVER) != 0)
		halt(1);
	if (agent.has_files && agent_start_server(&agent, FILE_SERVER) != 0)
		halt(1);
	if (job_plan_read(&agent.plan, &agent.here, true) != 0)
		halt(1);
	begin_job();
}

int
server_main(int argc, char **argv)
{
	struct proc_message m;
	struct mail_sender from;
	bool is_leader;
	int in;

	(void)argc;
	(void)argv;
	kcluster_info(&agent.here);
	is_leader = agent.here.cluster == PROC_LEADER;
	in = (int)kmailbox_create(PROC_PORT);
	agent.leader = (int)kmailbox_open(PROC_LEADER, PROC_PORT);
	if (in < 0 || agent.leader < 0) {
		console_print("atoll: cluster %u cannot open port %d: %s\n", agent.here.cluster, PROC_PORT,
		    error_text(in < 0 ? in : agent.leader));
		return 1;
	}
	begin(is_leader);
	for (;;) {
		long source = kmailbox_read(in, ANY_SOURCE_CLUSTER, &m, &from);

		if (source == -E_AGAIN)
			kmailbox_wait(in, ANY_SOURCE_CLUSTER, FOREVER);
		else if (source >= 0 && is_leader)
			lead_message(&from, &m);
		else if (source >= 0)
			agent_message(&from, &m);
	}
}
