# SPDX-License-Identifier: MIT
"""Mutation controls of tests of tests/coroutine that look for more than mutation.c takes away.

A check, a wake-up or a give-back of the kernel is taken away; the program that guards it must fail.
As they are, the programs pass: that is another test.
"""

import os
import sys

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
from mutants import ROOT, build, control, mutate  # noqa: E402

BUILD = os.path.join(ROOT, "build", "coroutine")
SEEDS = 600
PATIENCE_S = 60
HANDLE, QUOTA, HANDLER = "kernel/object/handle.c", "kernel/object/quota.c", "kernel/call/handler.c"
FRAME, SWEEP = "kernel/mem/frame.c", "kernel/mem/sweep.c"
NOTIFY, OBJECT = "kernel/thread/notify.c", "kernel/object/object.c"
TABLE, RUN = "kernel/thread/table.c", "kernel/thread/run.c"
MAPPING = "kernel/mem/mapping.c"
CALLS, MEM = "kernel/mem/calls.c", "kernel/mem/mem.c"
FAULT = "kernel/call/fault.c"
ALARM, WAIT, AM = "kernel/thread/alarm.c", "kernel/thread/wait.c", "kernel/am/am.c"
MOVE, ROLE = "kernel/thread/move.c", "kernel/thread/role.c"
CLEAR = "kernel/mem/clear.c"
DEVICE, MEMORY = "kernel/dev/device.c", "kernel/mem/memory.c"
CHANNEL = "kernel/ikc/channel.c"
SYNC, PORTAL_EVENT = "kernel/ikc/sync_event.c", "kernel/ikc/portal_event.c"
CREDIT = "kernel/ikc/mail_credit.c"
TURN = "kernel/ikc/portal_turn.c"
TRAP, DEMAND, COPY = "kernel/call/trap.c", "kernel/mem/demand.c", "kernel/mem/copy.c"
RESTART = "kernel/ikc/restart.c"
SPACE = "hal/cpu/coroutine/space.c"
SEM, TUBE = "user/sem.c", "user/tube.c"

# (program, what is missing, file, the text, what it becomes)
MUTANTS = (
    ("ikc_channel", "a wake while another is under way is forgotten", CHANNEL, "\t\tch->wakes_again = true;\n", ""),
    ("ikc_channel", "a wake before a bit is bound is forgotten", CHANNEL, "\t\tch->is_woken = true;\n", "\t\t;\n"),
    ("ikc_channel", "who opened a channel is not told that it is closed", CHANNEL,
     "\t\tbroken(c, f->open, -E_PIPE);\n", ""),
    ("ikc_channel", "who made a channel is not told that its peer is dead", CHANNEL,
     "\tbroken(c, ch, -E_HOSTDOWN);\n", ""),
    ("ikc_channel", "the maker's kernel is not told that the pages are away", CHANNEL,
     "\t\t\tsend_of(c, ch, WIRE_CHANNEL_GONE);\n", ""),
    ("ikc_channel", "pages come back as they are", CHANNEL, "ch->wiped == ch->pages;", "true;"),
    ("ikc_channel", "the pages of a channel that is closed stay mapped", CHANNEL,
     "if (!list_is_empty(&m->mappings)) {", "if (false) {"),
    ("ikc_mailbox", "a sender keeps no copy of what it puts into a credit", CREDIT,
     "\t\tevent_send(c, peer, wire_event(WIRE_ARRIVED, port, place));\n",
     "\t\tevent_send(c, peer, wire_event(WIRE_ARRIVED, port, place)), mail_kept_free(c, o);\n"),
    ("ikc_mailbox", "a message that was taken back is forgotten", CREDIT,
     "\t\t\tbitmap_set(in->wanted, from);\n", ""),
    ("ikc_mailbox", "a credit is granted while a message lies there", CREDIT,
     "\t\tif (in->credit[i] != 0)\n\t\t\tcontinue;\n", ""),
    ("kernel_limits", "what is freed stays charged", QUOTA,
     "slab_free(s, piece);\n\tquota_refund(q, QUOTA_BYTES, slab_size(s, bytes));",
     "slab_free(s, piece);"),
    ("kernel_limits", "limits are not looked at", QUOTA,
     "return used <= limit && n <= limit - used;", "return n != 0 || used <= limit;"),
    ("kernel_limits", "a record stays when its thread gets no handle", TABLE,
     "\t\trecord_give(t, p->quota);\n\t\treturn handle;", "\t\treturn handle;"),
    ("kernel_memory", "memory that was given back waits for the shoot-downs of others", FRAME,
     "if (e->refs == 0 && by != NULL &&\n", "if (e->refs == 0 && by == NULL && by != NULL &&\n"),
    ("kernel_memory", "a frame is free before its shoot-down has ended", CALLS,
     "&c->sweeps, c->sweeps.unmapping);", "&c->sweeps, NULL);"),
    ("kernel_memory", "a page table is free before its shoot-down has ended", MEM,
     "&c->sweeps, c->sweeps.unmapping);", "&c->sweeps, NULL);"),
    ("kernel_memory", "a call that unmaps returns before what it gave up is free", SWEEP,
     "if (!frames_limbo_drain(&c->frames, &c->sweeps, s, frames))", "if (false)"),
    ("kernel_moves", "a thread goes on with what home remembers of it", MOVE,
     "\thal_acquire(t, offsetof(struct thread, cluster));\n", ""),
    ("kernel_moves", "a thread's core keeps what it knows of it", MOVE, "\tcore_publish(t);\n", ""),
    ("kernel_moves", "a thread that goes stays its core's current one", MOVE,
     "\tcore->current = NULL;\n", ""),
    ("kernel_moves", "a thread that shall stay goes on to where it was sent before", MOVE,
     "\tt->move_to = to;\n", "\tif (to != t->core->id)\n\t\tt->move_to = to;\n"),
    ("kernel_moves", "a kill does not reach the core that a thread has gone to", TABLE,
     "\tp->placed[to->id]++;\n\tbitmap_set(p->cores, to->id);\n", "\tp->placed[to->id]++;\n"),
    ("kernel_large", "a table is free before the shoot-down of the large page in its place", CALLS,
     "\tt->cluster->sweeps.unmapping = &t->sweep;\n\thal_join(", "\thal_join("),
    ("kernel_large", "nobody forgets a right that a part of a large page has lost", CALLS,
     "return args->a[2] > 0 ? -E_AGAIN : shoot_down_end(t, &t->sweep, 0);",
     "if (args->a[2] > 0)\n\t\treturn -E_AGAIN;\n"
     "\tt->work.sweeping = false;\n\tif (sweep_send(t->cluster, &t->sweep))\n"
     "\t\tmem_sweep_ended(&t->sweep);\n\telse\n"
     "\t\treturn thread_park(t, NULL);\n\treturn 0;"),
    ("kernel_large", "a table is seen before it is filled", SPACE,
     "\tfor (unsigned i = 0; i < ENTRIES; i++)\n"
     "\t\ttable[i] = (*e & ~(uint64_t)PAGE_LARGE) + i * HAL_PAGE_BYTES;\n"
     "\tcoro_op(OP_POINT, __FILE__, __LINE__, 0);\n\t*e = (uintptr_t)table | VALID;\n",
     "\tuint64_t was = *e;\n\n\t*e = (uintptr_t)table | VALID;\n"
     "\tcoro_op(OP_POINT, __FILE__, __LINE__, 0);\n\tfor (unsigned i = 0; i < ENTRIES; i++)\n"
     "\t\ttable[i] = (was & ~(uint64_t)PAGE_LARGE) + i * HAL_PAGE_BYTES;\n"),
    ("kernel_threads", "a record is given back while a handle names it", TABLE,
     "\thandle_close_own(&t->proc->handles, t->handle, &t->object);\n\tobject_put(&t->object);",
     "\thandle_close_own(&t->proc->handles, t->handle, &t->object);\n"
     "\tt->object.refs--;\n\trecord_give(t, t->proc->quota);"),
    ("kernel_threads", "a record stays when no handle names it any more", TABLE,
     "\tif (t->state == THREAD_FREE)\n\t\trecord_give(t, t->proc->quota);\n", ""),
    ("kernel_kill", "threads are given back while a core runs them", RUN,
     "\t\tcore->doomed = post->sweep;\n\t\treturn;\n", "\t\tcore->doomed = post->sweep;\n"),
    ("kernel_roles", "threads stay where no thread runs any more", ROLE,
     "\t\t\tthread_send(t, MOVE_AWAY);\n", "\t\t\t;\n"),
    ("kernel_demand", "a frame is ready before its core has filled it", CLEAR,
     "w->under_way == NULL || hal_load32(&w->under_way->post.busy) != 0", "w->under_way == NULL"),
    ("kernel_demand", "a ready frame is nobody's charge", CLEAR, " && mem_charge(p, 1)", ""),
    ("kernel_demand", "frames are not filled", CLEAR, "\t\thal_zero_pages(page, HAL_PAGE_BYTES);\n", ""),
    ("kernel_roles", "a core is not told of its role", ROLE,
     "\tif (am_post(core, role_take, &core->role, sizeof(core->role)) != 0)\n\t\treturn false;\n", ""),
    ("kernel_roles", "a core is told of its role and not interrupted", ROLE,
     "\tcore_interrupt(core);\n\treturn true;", "\treturn true;"),
    ("kernel_roles", "core 0 is a kernel core while it has a thread", ROLE,
     "home->role == ROLE_TC || home->load != 0 ?", "home->role == ROLE_TC ?"),
    ("kernel_roles", "nobody tells core 0 that its last thread has gone", ROLE,
     "if (home || core->role == ROLE_XC ||", "if (core->role == ROLE_XC ||"),
    ("kernel_roles", "a core that is not shared any more keeps its tick", ROLE,
     "\tif (core_is_shared(core))\n\t\ttick_stop(core);\n", ""),
    ("kernel_roles", "a core that is shared since its last call does not look around", AM,
     "\tif (core_is_shared(core))\n\t\thal_interrupt(core->id);\n", ""),
    ("kernel_roles", "the last TC may go", ROLE, "shared_cores(c) == 1 ? -E_BUSY : 0", "false ? -E_BUSY : 0"),
    ("kernel_roles", "a thread goes where no thread runs", MOVE,
     "\tif (to == NULL || !core_runs_users(to))\n", "\tif (to == NULL)\n"),
    ("kernel_fault", "the registers of a thread that stops are not published", FAULT,
     "\tcore_publish(t);\n", ""),
    ("kernel_fault", "the registers of a thread that stopped are old ones", FAULT,
     "\thal_acquire(t->fault.frame, sizeof(*t->fault.frame));\n", ""),
    ("kernel_fault", "a thread that stopped stays its core's current one", FAULT,
     "\tcore->current = NULL;\n", ""),
    ("kernel_fault", "a kernel call that stopped goes on without its result", FAULT,
     "else if (answer[1] == HANDLES_PROBE)", "else if (answer[1] == 99)"),
    ("kernel_fault", "nobody is told that a thread has stopped", FAULT,
     "\tbinding_signal(t->cluster, &p->fault);\n", ""),
    ("kernel_fault", "a thread that goes on after a fault has no quantum", RUN,
     "\tif (core_is_shared(core))\n\t\tquantum_begin(core, core->current);\n", ""),
    ("kernel_fault", "a wait for faults goes on when the process has ended", "kernel/proc/proc.c",
     "\tif (handler != NULL)\n\t\tthread_ready(handler, -E_SRCH);\n", "\t(void)handler;\n"),
    ("kernel_views", "a revoked handle is used", HANDLE, "kind ||\n\t\t!entry_is_alive(e))", "kind)"),
    ("kernel_views", "a revoked handle is copied", HANDLE,
     "if (e == NULL || !entry_is_alive(e))\n\t\treturn -E_BADF;\n\tif (to != from",
     "if (e == NULL)\n\t\treturn -E_BADF;\n\tif (to != from"),
    ("kernel_views", "a wait by a revoked handle goes on", HANDLE,
     "\tif (error == 0)\n\t\tobject_handle_gone(e->view->object);\n", ""),
    ("kernel_views", "a wait by a closed handle goes on", HANDLE,
     "\tentry_put(t, e);\n\tobject_handle_gone(o);\n", "\tentry_put(t, e);\n"),
    ("kernel_views", "an event that was bound by a handle that is gone says nothing", OBJECT,
     "\tbinding_handle_gone(c, b, o);\n", ""),
    ("kernel_views", "an event is told by a handle that is alive", NOTIFY,
     "if (t == NULL || &t->proc->object == o ||\n"
     "\t\thandle_get_far(&t->proc->handles, BINDING_HANDLE(b), o->type) == o)", "if (t == NULL)"),
    ("kernel_views", "an event goes on to tell of what is gone", NOTIFY, "\tb->tid = 0;\n", ""),
    ("kernel_views", "a view that is gone stays charged", HANDLE,
     "quota_free(q, s, v, sizeof(*v));", "slab_free(s, v);"),
    ("kernel_revoke", "nobody is told what is unmapped", MAPPING, "\tsweep_cover(c, &t->sweep, p, -1);\n", ""),
    ("kernel_revoke", "frames are free before all have acknowledged", FRAME,
     "\tif (by != NULL)\n\t\te->prev = all->epoch;\n", ""),
    ("kernel_revoke", "the call returns before all have acknowledged", MAPPING,
     "\tif (sweep_send(c, s))\n\t\trevoke_done(c, s);\n", "\tthread_ready(t, 0);\n\tt->state = THREAD_WAITING;\n"
     "\tif (sweep_send(c, s))\n\t\trevoke_done(c, s);\n"),
    ("kernel_revoke", "a later revocation does not wait for an earlier one", MAPPING,
     "if (list_is_empty(&m->mappings) && c->revocation == NULL)", "if (list_is_empty(&m->mappings))"),
    ("kernel_revoke", "a step forgets a mapping behind others", MAPPING,
     "if (!view_is_alive(r->view, r->life)) {", "if (n == 0 && !view_is_alive(r->view, r->life)) {"),
    ("kernel_revoke", "mappings that were looked at once are never again", MAPPING, "\tm->looks++;\n", ""),
    ("kernel_revoke", "a view below one that is dead is not looked at", HANDLE,
     "while (v->life == life && v->parent != NULL) {", "while (false) {"),
    ("kernel_revoke", "mappings through other views are one", MAPPING,
     "r->end != at || r->view != view || r->life != life", "r->end != at"),
    ("kernel_revoke", "what a hole leaves is forgotten", MAPPING, "\trest->end = r->end;\n", "\trest->end = at;\n"),
    ("kernel_revoke", "what is unmapped stays revocable", CALLS,
     "\t\tt->work.cut = mappings_cut(m.p, m.r.start, at);\n", ""),
    ("kernel_revoke", "a process that ends leaves its mappings", MEM,
     "\tmapping_free(p, mappings_cut(p, start, addr));\n", ""),
    ("kernel_revoke", "a mapping that is gone stays charged", MAPPING,
     "quota_free(p->quota, &c->slab, r, sizeof(*r));", "slab_free(&c->slab, r);"),
    ("kernel_memory", "who dies in a call on a mapping leaves it", MEM,
     "\tmapping_free(t->sweep.proc, t->work.cut);\n", ""),
    ("kernel_devices", "an interrupt that came before it is bound is not told", DEVICE,
     "(struct event){&d->interrupt, d->is_raised};", "(struct event){&d->interrupt, false};"),
    ("kernel_devices", "an interrupt is told to nobody", DEVICE, "\tbinding_signal(c, &d->interrupt);\n", ""),
    ("kernel_devices", "an interrupt that is served stays masked", DEVICE,
     "\tif (d->is_raised)\n\t\thal_device_done(d->number);\n", ""),
    ("kernel_devices", "an interrupt is not masked until it is served", DEVICE,
     "\td->is_raised = true;\n", "\td->is_raised = true;\n\thal_device_done(number);\n"),
    ("kernel_devices", "a device that nothing names goes on", DEVICE, "\thal_device_stop(d->number);\n", ""),
    ("kernel_devices", "a device that is stopped stays taken", DEVICE, "\tlist_remove(&d->link);\n", ""),
    ("kernel_devices", "memory of a device that is stopped stays", DEVICE,
     "\tmemory_put(c, d->shared);\n\tm->count = 0;\n", "\tm->count = 0;\n"),
    ("kernel_devices", "memory of a device is free while that is open", DEVICE, "\tobject_get(&m->object);\n", ""),
    ("kernel_devices", "a driver whose handle is revoked is not told", MEMORY,
     "\t\tdevice_handle_gone(c, m);\n", "\t\t(void)c;\n"),
    ("kernel_devices", "a mapping keeps no device", MEMORY,
     "PLACED_RIGHTS | HANDLE_VIEW | HANDLE_MOVE);", "PLACED_RIGHTS);"),
    ("kernel_demand", "a page comes with what it held", DEMAND,
     "\t\tmem_zero(core->current, (uint32_t)frame, 1);\n", "\t\t(void)frame;\n"),
    ("kernel_demand", "a page is seen before it is filled with zeros", DEMAND,
     "\t\tmem_zero(core->current, (uint32_t)frame, 1);\n",
     "\t{\n\t\te = ask(core, show_serve, a);\n\t\tmem_zero(core->current, (uint32_t)frame, 1);\n"
     "\t\treturn e;\n\t}\n"),
    ("kernel_demand", "a frame stays with the thread when another was first", DEMAND,
     "\tif (unlikely(e != 0 && e != -E_PARK))\n\t\tmem_work_drop(t);\n", ""),
    ("kernel_demand", "a page that another brought is a fault", DEMAND,
     "return frame == -E_EXIST ? 0 : frame;", "return frame == -E_EXIST ? -E_FAULT : frame;"),
    ("kernel_demand", "a call is not made again", TRAP,
     "\t\thal_call_again(core->current->now);\n", "\t\treturn -E_FAULT;\n"),
    ("kernel_private", "nobody forgets the page that was replaced", DEMAND,
     "\ts = shoot_down_begin(t, p);\n\tframe_put(&c->frames, old, &c->sweeps, s);\n\treturn shoot_down_end(t, s, 0);",
     "\t(void)s;\n\tframe_put(&c->frames, old, &c->sweeps, NULL);\n\treturn 0;"),
    ("kernel_private", "nobody forgets that a page could be written to", COPY,
     "\t\tshoot_down_begin(t, m->from);\n\t\tt->work.sweeping = true;\n", ""),
    ("kernel_private", "what was copied can be written to", SPACE,
     "\treturn share_each(s, addr, count, to, at);\n",
     "\tint e = share_each(s, addr, count, to, at);\n\n"
     "\thal_protect(s, addr, count, PAGE_READ | PAGE_WRITE);\n\treturn e;\n"),
    ("kernel_private", "a page is replaced by zeros", DEMAND,
     "\t\tcopy(core->current, (uint32_t)frame, (uint32_t)a[1] - 1);",
     "\t\tmem_zero(core->current, (uint32_t)frame, 1);"),
    ("kernel_private", "who shares a frame takes it over", DEMAND, "if (f->frame[old].refs == 1 &&\n", "if (\n"),
    ("kernel_private", "a call that waited for a page is not made again", DEMAND,
     "\tcaller->resume = RESUME_FINISH;\n\tcaller->finish = call_go;\n", ""),
    ("kernel_private", "a page is replaced twice", SPACE,
     " || (*e & PAGE_WRITE) != 0 || (*e & ADDRESS) != was)", " || was == 0)"),
    ("kernel_private", "cores that have run the process count as strangers to it", SWEEP,
     "\t\tif ((p->cores[i] & ~(i == core / 32 ? 1u << core % 32 : 0)) != 0)\n", "\t\tif (core == -1u)\n"),
    ("kernel_alarm", "an upcall does not end a wait", ALARM,
     "\tif (pending(t) == 0 || t->wait.kind >= WAIT_MEMORY)\n", "\tif (pending(t) + 1 != 0)\n"),
    ("kernel_alarm", "an upcall ends a wait for a shoot-down", ALARM,
     "if (pending(t) == 0 || t->wait.kind >= WAIT_MEMORY)", "if (pending(t) == 0)"),
    ("kernel_alarm", "a thread waits although it has an upcall", WAIT,
     "\tif (unlikely(t->upcalls != 0))\n\t\tupcall_cut(t);\n", ""),
    ("kernel_alarm", "the doorbell that ended the wait of a call is lost", AM,
     "\tif ((why & ~UPCALL_COUNT) != 0)\n\t\thal_interrupt(core->id);\n", ""),
    ("kernel_alarm", "whoever takes a thread up does not look", RUN,
     "\t\thandler_upcall(core);\n", ""),
    ("kernel_alarm", "what comes in a handler is forgotten", HANDLER,
     "\t\tt->handler->why |= HANDLES_MORE;\n", "\t\treturn;\n"),
    ("kernel_alarm", "bits are set and nobody is told", NOTIFY,
     "\telse if (unlikely((bits & t->upcalls) != 0))\n\t\tupcall_begin(t);\n", ""),
    ("kernel_alarm", "an alarm is there when its thread is gone", ALARM,
     "\talarm_stop(&t->made->alarm);\n\tquota_free", "\tquota_free"),
    ("ikc_portal", "leave that comes while the thread does something else is lost", PORTAL_EVENT,
     "\t} else {\n\t\tep->state = PORTAL_READY;\n", "\t} else {\n"),
    ("ikc_portal", "the end that comes while the thread does something else is lost", PORTAL_EVENT,
     "\t\tep->state = PORTAL_ENDED;\n", ""),
    ("ikc_portal", "a deadline ends a write that was started", "kernel/ikc/portal.c",
     "t->transfer->started ? NULL : portal_leave;", "portal_leave;"),
    ("ikc_portal", "a connector is granted while another port has it", TURN,
     "\tbitmap_clear(s->idle, connector);\n", ""),
    ("ikc_portal", "a connector that is free is given to nobody", TURN,
     "\tin->connector = 0;\n\tturn_begin(c);\n", "\tin->connector = 0;\n"),
    ("ikc_portal", "a block that was dropped does not come again", TURN, "\t\tin->turn.again = true;\n", ""),
    ("ikc_portal", "a connector is given back while a block is put", PORTAL_EVENT,
     "if (!a->valid || a->granted == NO_CONNECTOR)", "if (!a->valid)"),
    ("ikc_portal", "who has lost its turn does not ask again", PORTAL_EVENT,
     "\ta->asked = false;\n\tevent_send", "\tevent_send"),
    ("ikc_sync", "a round is complete before all have signalled", SYNC,
     "SYNC_IN && y->missing == 0)", "SYNC_IN && y->missing <= 1)"),
    ("ikc_sync", "a signal is counted in two rounds", SYNC,
     "\t\tc->ikc.sync[i].pending &= (uint16_t)~bit;\n\t\tc->ikc.sync[i].taken |= bit;\n"
     "\t\towe(c, i);\n\t\ty->missing++;",
     "\t\tc->ikc.sync[i].taken |= bit;\n\t\towe(c, i);"),
    ("ikc_sync", "nobody is told that a signal was taken", SYNC, "\t\tc->ikc.sync[i].taken |= bit;\n", ""),
    ("ikc_sync", "a complete round ends no wait", SYNC,
     "\tif (y != NULL && --y->missing == 0)\n\t\tchanged(c, y);", "\tif (y != NULL)\n\t\ty->missing--;"),
    ("ikc_sync", "an answer ends no wait", SYNC,
     "\tif (--y->missing == 0)\n\t\tlatency_end(c, &y->ep);\n"
     "\tif (y->missing == 0 || y->ep.error != 0)\n\t\tchanged(c, y);", "\ty->missing--;"),
    ("ikc_sync", "signals that come before the end is made are lost", SYNC,
     "\tif (p->pending & bit)\n\t\treturn;\n\tp->pending |= bit;",
     "\tif (p->pending & bit || y == NULL)\n\t\treturn;\n\tp->pending |= bit;"),
    ("ikc_sync", "signals that came before the end was made are missing", SYNC,
     "waits ? !(p->pending & bit) :", "waits ? 1 :"),
    ("ikc_sync", "a signal may be given before the last was taken", SYNC,
     "return y->missing == 0 && have_all_been_up(y) ? 0", "return have_all_been_up(y) ? 0"),
    ("ikc_sync", "a signal may be given before all are up", SYNC,
     "return y->missing == 0 && have_all_been_up(y) ? 0", "return y->missing == 0 ? 0"),
    ("ikc_sync", "the state of a partner ends no wait", SYNC,
     "\t\ty->ep.error = -E_CONNRESET;\n\tchanged(c, y);\n", "\t\ty->ep.error = -E_CONNRESET;\n"),
    ("ikc_lives", "cores that put a block are not waited for", RESTART, " || p->moving != 0 ||\n", " ||\n"),
    ("ikc_lives", "nobody but cluster 0 is asked to settle", RESTART,
     "\t\tif (i != dead)\n\t\t\tbitmap_set", "\t\tif (i == c->id)\n\t\t\tbitmap_set"),
    ("kernel_handler", "a call is not made again", HANDLER, "else if (why == HANDLES_PROBE)", "else if (false)"),
    ("kernel_handler", "a handler stays when its thread ends", ALARM,
     "\tquota_free(t->proc->quota, &t->cluster->slab, t->made, sizeof(*t->made));\n", ""),
    ("kernel_handler", "threads have a handler's stack in common", HANDLER,
     "\t\tplace[i].stack -= t->index * place[i].stack_size;\n", ""),
    ("tubes", "a sleeper is woken without a mark for the others", SEM,
     "\t\t\t\tsome_sleep = mark_again(at);\n", ""),
    ("tubes", "what was raised while a sleeper was woken is lost", SEM, "return sem_is_up(w);", "return false;"),
    ("tubes", "the mark stays while the kernel looks for sleepers", SEM,
     "\treturn (w & SEM_ASLEEP) != 0 && !word_swap(&at->word, w, w & ~SEM_ASLEEP) ? -E_AGAIN :\n\t\t"
     "(int)kfutex_wake(key(g, &at->word), 1);",
     "\tint woken = (int)kfutex_wake(key(g, &at->word), 1);\n\treturn woken == 0 && (w & SEM_ASLEEP) != 0 && "
     "!word_swap(&at->word, w, w & ~SEM_ASLEEP) ? -E_AGAIN : woken;"),
    ("tubes", "a sleeper leaves no mark", SEM,
     "if ((w & SEM_ASLEEP) == 0 && !word_swap(&at->word, w, w | SEM_ASLEEP))\n\t\t\tcontinue;\n"
     "\t\te = sleep_at(g, &at->word, w | SEM_ASLEEP, until);",
     "e = sleep_at(g, &at->word, w, until);"),
    ("tubes", "who was woken takes another one", SEM,
     "return word_look(&at->word) == SEM_GONE ? -E_PIPE : 0;", "continue;"),
    ("tubes", "who waits for several is not made to look again", SEM,
     "\t\t\tif ((w & SEM_LISTED) != 0)\n\t\t\t\tlook_again(g, at);\n", ""),
    ("tubes", "who waits for several does not look when he stands in the lists", SEM,
     "if (sem_is_up(w) || w == SEM_GONE)", "if (w == SEM_GONE)"),
    ("tubes", "who waits for several leaves no mark", SEM, "while (!sem_is_up(w) && (w & SEM_LISTED) == 0 &&",
     "while (false &&"),
    ("tubes", "a grant is not seen", SEM, "\t\tif (STATE(w) == WAITER_GRANTED)\n\t\t\treturn accept(a, w);\n",
     "\t\tif (STATE(w) == WAITER_GRANTED)\n\t\t\tword_swap(a->word, w, a->taking | WAITER_AWAKE);\n"),
    ("tubes", "a grant wakes nobody", SEM, "if (kfutex_wake(key(g, word), 1) == 1 || g->shared == 0 ||",
     "if (g->shared == 0 ||"),
    ("tubes", "two semaphores are granted to one waiter", SEM,
     "if (STATE(w) != WAITER_WAITS || !word_swap(word, w, granted))\n\t\t\tcontinue;",
     "word_put(word, granted);"),
    ("tubes", "a list is not left", SEM, "\t\t\tbit_put(&s->at->listed[a->part], a->bit, false);\n", "\t\t\t;\n"),
    ("tubes", "a message is counted before it is in the ring", TUBE,
     "\tif (!ring_put(&t->ring, &t->at->order, number))\n\t\treturn -E_IO;\n"
     "\treturn sem_up(t->messages.in, &t->at->messages);",
     "\tint e = sem_up(t->messages.in, &t->at->messages);\n\n"
     "\tif (!ring_put(&t->ring, &t->at->order, number))\n\t\treturn -E_IO;\n\treturn e;"),
)


def compiler():
    """How the kernel is compiled for these programs."""
    with open(os.path.join(BUILD, "k", "flags"), encoding="utf-8") as f:
        words = f.read().split(" small:")[0].split()
    return [w for w in words if w not in ("-MMD", "-MP", "-O2", "-g")] + ["-O1", "-w"]


def objects(program):
    """What the program is linked from: all that is linked by its folder, and its own main."""
    found = []
    for folder, _, names in os.walk(os.path.join(BUILD, "k")):
        found += [os.path.join(folder, n) for n in names if n.endswith(".o")]
    tests = os.path.join(BUILD, "k", "tests")
    own = [os.path.join(tests, "coroutine", n + ".c.o") for n in (program, "program")]
    return [o for o in found if not o.startswith(tests)] + own


def included(folder, program, path, text):
    """Builds the program with a source file that it includes replaced."""
    own = f"tests/coroutine/{program}.c"
    line = f"#include <{path}>\n"
    cc = [w for w in compiler() if w not in ("-ffreestanding", "-nostdinc")]
    return build(folder, [*cc, "-I.", "-Iuser", "-Iuser/include"], [cc[0], "-Wl,--gc-sections"], objects(program), own,
                 mutate(own, line, text))


def make(program):
    """Builds the program with one source file of the kernel, or of the port, replaced."""
    cc = compiler()
    port = [w for w in cc if w not in ("-ffreestanding", "-nostdinc")]
    if program == "tubes":
        return lambda folder, path, text: included(folder, program, path, text)
    return lambda folder, path, text: build(folder, [*(port if path == SPACE else cc), "-I."],
                                            [cc[0], "-Wl,--gc-sections"], objects(program), path, text)


def main():
    """Exit status 0 if every mutant is found."""
    wrong = False
    for program, what, path, old, new in MUTANTS:
        wrong |= not control(f"{program}_notices", (what, path, old, new), make(program), SEEDS, PATIENCE_S)
    return int(wrong)


if __name__ == "__main__":
    sys.exit(main())
