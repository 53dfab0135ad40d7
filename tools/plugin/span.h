/* SPDX-License-Identifier: MIT
 *
 * Spans, a part of count.c: what a message costs from one hart to another and back, in the code as
 * it is. A span begins when a hart with an open window executes the instruction at `from`, and
 * arrives when another executes the one at `to`; it ends when the first executes one of those at
 * `back`. What the sender executes counts for the way there until it has rung the receiver's
 * doorbell (a store behind `fence w, o`): what it does then is its waiting. Instructions at `to`
 * and `back` count. One line per span: "send" + "receive" = "one_way"; "sender" + "receiver" +
 * other harts = "round_trip". One span at a time; exact under -icount only.
 *
 * With `to=user` a span arrives when another hart goes to user mode, and is over then; it may begin
 * on a hart without a window while another has one, whose label it gets. The first user instruction
 * counts.
 */
#define SPAN_BACK_MAX 8

enum span_point { SPAN_FROM, SPAN_TO, SPAN_BACK, SPAN_RING };
enum span_stage { SPAN_NONE, SPAN_SENDING, SPAN_SENT, SPAN_ARRIVED };

static struct {
	uint64_t from, to, back[SPAN_BACK_MAX];
	unsigned backs;
	bool to_user;
	struct hart *opener;		/* the last hart that opened a window */
	enum span_stage stage;
	struct hart *sender, *receiver;
	uint64_t send, receive;
	uint64_t before[HARTS_MAX];	/* instructions of each hart when it began */
	unsigned count;
} span;

static uint64_t
span_insns(const struct hart *h)
{
	static const uint64_t zero[COUNTERS];

	return insns_of(h->count, zero) - span.before[h - harts];
}

static void
span_begin(struct hart *h)
{
	bool wanted = h->open || (span.to_user && span.opener != NULL && span.opener->open);

	if (!wanted || span.stage != SPAN_NONE)
		return;
	for (unsigned i = 0; i < harts_used; i++) {
		span.before[i] = 0;
		span.before[i] = span_insns(&harts[i]);
	}
	span.sender = h;
	span.stage = SPAN_SENDING;
}

static void
span_end(const struct hart *h)
{
	uint64_t total = 0;

	if (h != span.sender)
		return;
	for (unsigned i = 0; i < harts_used; i++)
		total += span_insns(&harts[i]);
	if (span.stage == SPAN_ARRIVED)
		fprintf(out, "{\"span\":%u,\"hart\":%u,\"to\":%u,\"label\":%u,"
			"\"send\":%llu,\"receive\":%llu,\"one_way\":%llu,"
			"\"sender\":%llu,\"receiver\":%llu,\"round_trip\":%llu}\n", span.count++,
			(unsigned)(h - harts),
			(unsigned)(span.receiver - harts), h->label, (unsigned long long)span.send,
			(unsigned long long)span.receive,
			(unsigned long long)(span.send + span.receive),
			(unsigned long long)span_insns(h),
			(unsigned long long)span_insns(span.receiver), (unsigned long long)total);
	span.stage = SPAN_NONE;
	span.sender = NULL;
}

static void
span_arrive(struct hart *h)
{
	span.receive = span_insns(h) + 1;
	span.receiver = h;
	span.stage = SPAN_ARRIVED;
}

/* A hart is about to execute in user mode, behind something else. */
static void
span_user(struct hart *h)
{
	if (!span.to_user || span.stage != SPAN_SENT || h == span.sender || h == span.opener)
		return;
	span_arrive(h);
	fprintf(out, "{\"span\":%u,\"hart\":%u,\"to\":%u,\"label\":%u,"
			"\"send\":%llu,\"receive\":%llu,\"one_way\":%llu}\n", span.count++,
		(unsigned)(span.sender - harts), (unsigned)(h - harts), span.opener->label,
		(unsigned long long)span.send,
		(unsigned long long)span.receive, (unsigned long long)(span.send + span.receive));
	span.stage = SPAN_NONE;
	span.sender = NULL;
}

static void
on_span_point(unsigned vcpu, void *data)
{
	struct hart *h = &harts[vcpu];

	switch ((enum span_point)(uintptr_t)data) {
	case SPAN_FROM:
		span_begin(h);
		break;
	case SPAN_RING:
		if (h == span.sender && span.stage == SPAN_SENDING) {
			span.send = span_insns(h);
			span.stage = SPAN_SENT;
		}
		break;
	case SPAN_TO:
		if (h != span.sender && span.stage == SPAN_SENT)
			span_arrive(h);
		break;
	case SPAN_BACK:
		span_end(h);
	}
}

static bool
span_is_back(uint64_t vaddr)
{
	for (unsigned i = 0; i < span.backs; i++)
		if (vaddr == span.back[i])
			return true;
	return false;
}

/* A run of counted instructions must not go across these. */
static bool
span_point_is_at(const struct qemu_plugin_insn *insn)
{
	uint64_t vaddr = qemu_plugin_insn_vaddr(insn);

	return span.from != 0 && (vaddr == span.from || vaddr == span.to);
}

static void
span_callback(struct qemu_plugin_insn *insn, enum span_point point)
{
	qemu_plugin_register_vcpu_insn_exec_cb(insn, on_span_point, QEMU_PLUGIN_CB_NO_REGS,
		(void *)(uintptr_t)point);
}

/* Points that are passed before their instruction is counted; they stand at the start of a run. */
static void
span_point_before(struct qemu_plugin_insn *insn, bool starts_run)
{
	if (starts_run && span_point_is_at(insn))
		span_callback(insn, qemu_plugin_insn_vaddr(insn) == span.from ? SPAN_FROM :
			SPAN_TO);
}

/* And those that are passed when it has been counted: a return, and the store that rings. */
static void
span_point_after(struct qemu_plugin_insn *insn, uint32_t word_before)
{
	if (span.from == 0)
		return;
	if (span_is_back(qemu_plugin_insn_vaddr(insn)))
		span_callback(insn, SPAN_BACK);
	else if (word_before == FENCE_W_O)
		span_callback(insn, SPAN_RING);
}

static void
span_option(const char *option)
{
	if (strncmp(option, "from=", 5) == 0)
		span.from = strtoull(option + 5, NULL, 16);
	if (strcmp(option, "to=user") == 0)
		span.to_user = true;
	else if (strncmp(option, "to=", 3) == 0)
		span.to = strtoull(option + 3, NULL, 16);
	if (strncmp(option, "back=", 5) == 0 && span.backs < SPAN_BACK_MAX)
		span.back[span.backs++] = strtoull(option + 5, NULL, 16);
}
