# SPDX-License-Identifier: MIT
"""Mutation controls of the fuzz test of the network-on-chip (kernel/ikc/fuzz_test.c), of the test
of deaths at every stage (stages_test.c there), and of that of what outlives the file server
(servers/file/lasting_test.c).

Each line that keeps a bad peer out, that clears up after a dead one, or that orders stores, is taken
away in turn; its test must fail. That they pass as they are is a unit test each.
"""

import os
import re
import sys

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
from mutants import ROOT, build, control  # noqa: E402

UNIT = os.path.join(ROOT, "build", "unit")
TEST = "fuzz_test"
SEEDS = 12000  # each stops at the first that notices it
STAGES_TEST = "stages_test"
STAGES_SEEDS = 4
CREDIT, MAIL_OUT = "kernel/ikc/mail_credit.c", "kernel/ikc/mail_out.c"
SYNC, WAIT = "kernel/ikc/sync_event.c", "kernel/ikc/wait.c"
PATIENCE_S = 120
SANITIZE = ["-fsanitize=address,undefined", "-fno-sanitize-recover=undefined"]
HEADER_AGAIN = "((const struct wire_mail *)(const void *)(l->payload - HAL_NOC_HEADER_BYTES))->head.source"

# (what is missing, file, the line, what it becomes)
MUTANTS = (
    ("a ring's counter is believed", "hal/noc/shm/events.c", "head - *tail > own->geometry.ring_entries", "false"),
    ("the console's counter is believed", "hal/noc/shm/console.c", "ready <= WINDOW_CONSOLE_BYTES", "true"),
    ("every event is an event", "kernel/ikc/ikc.c", "if (is_event(c, peer, event))",
     "if (is_event(c, peer, event) || true)"),
    ("ports are not compared", "kernel/ikc/ikc.c", "return wire_event_port(event) < c->ikc.mailbox_ports",
     "return wire_event_port(event) < 1000 + c->ikc.mailbox_ports"),
    ("pages of channels are not compared", "kernel/ikc/ikc.c", "if (page >= c->ikc.channels || ", "if ("),
    ("the backlog has no end", "kernel/ikc/peer.c", "p->overrun = true;", ";"),
    ("who takes no events stays", "kernel/ikc/peer.c", 'ikc_condemn(c, peer, "does not take its events");', "return;"),
    ("a header is read again after it was checked", "kernel/ikc/mail_in.c",
     "== c->ikc.peer[source].incarnation;\n}\n\nlong\nmail_in_take",
     f"== c->ikc.peer[{HEADER_AGAIN}].incarnation;\n}}\n\nlong\nmail_in_take"),
    ("a place for a message is not compared", "kernel/ikc/ikc.c", "mail_is_place(&c->ikc, kind, event));", "true);"),
    ("a message is taken from a credit of others", "kernel/ikc/mail_in.c",
     "in->credit[place - WIRE_CREDIT] != source + 1", "false"),
    ("a cluster has as many credits as it asks for", "kernel/ikc/mail_in.c",
     "is_known(in, source) || mail_has_credit(in, source)", "is_known(in, source)"),
    ("a kernel keeps a portal connector", "kernel/ikc/portal_turn.c",
     'ikc_condemn(c, in->cluster, "does not give a connector back");', ";"),
    ("a block is taken without a turn", "kernel/ikc/portal_turn.c",
     "\tif (in->connector == 0)\n\t\treturn;\n\tif (kind",
     "\tif (kind"),
)

STAGES_MUTANTS = (
    ("the dead keep their credits", CREDIT, "in->credit[i] == peer + 1 && !(lies", "false && !(lies"),
    ("the dead want credits", CREDIT, "\tbitmap_clear(in->wanted, peer);\n\tfor", "\tfor"),
    ("a message that was taken back is forgotten", CREDIT, "\t\t\tbitmap_set(in->wanted, from);\n", ""),
    ("a credit that a dead cluster was granted waits for its message", CREDIT, "bool lies = ", "bool lies = true || "),
    ("a slot at a dead cluster stays full", MAIL_OUT, "\t\to->writer = NULL;\n\t\temptied(c, o);\n", ""),
    ("a connector at a dead cluster stays in use", MAIL_OUT,
     "\telse if (o->full)\n\t\tplace_free(c, peer, o->place);\n", ""),
    ("who waits for a dead cluster is not looked at", WAIT,
     "has_died_since(&c->ikc.peer[source], (uint32_t)(t->wait.on >> 8)) ? -E_HOSTDOWN", "false ? -E_HOSTDOWN"),
    ("a dead cluster owes an answer", SYNC, "\tp->full &= others;\n", ""),
    ("an end does not know that its partner is dead", SYNC,
     "\telse if (state == PEER_DEAD)\n\t\tbitmap_set(y->dead, peer);\n", ""),
    ("an end goes on with the next life of its partner", SYNC, "\t\ty->ep.error = -E_CONNRESET;\n", "\t\t;\n"),
)


LASTING_TEST = "lasting_test"
LASTING, TREE, CONTENTS = "servers/file/lasting.c", "servers/file/tree.c", "servers/file/contents.c"
SAVE = "l->save[l->saved] = (struct node_saved){n, *node_of(t, n)};\n\tstored();\n\tl->saved++;"

LASTING_MUTANTS = (
    ("a copy counts before it is made", LASTING, SAVE,
     "l->saved++;\n\tstored();\n\tl->save[l->saved - 1] = (struct node_saved){n, *node_of(t, n)};"),
    ("a name is not copied before it changes", TREE, "\tnode_save(t, (uint32_t)entry);\n", ""),
    ("a node is not copied before it is linked", TREE, "\tnode_save(t, (uint32_t)n);\n", ""),
    ("copies are not put back", LASTING, "for (uint32_t i = l->saved; i-- > 0;)", "for (uint32_t i = 0; i-- > 0;)"),
    ("blocks are free before the change is done", LASTING, "\tstored();\n\tt->lasting->saved = 0;",
     "\tif (ended.kind == FILE_KIND_FILE && !ended.is_shared)\n\t\tcontents_free(t, ended.first), ended.first = 0;\n"
     "\tstored();\n\tt->lasting->saved = 0;"),
    ("a file is cut before its size is stored", CONTENTS, "\ttree_commit(t);\n\tif (n->is_shared)\n\t\treturn cut",
     "\tif (size < before && !n->is_shared)\n\t\tcut(t, n, size);\n\ttree_commit(t);\n\tif (n->is_shared)\n"
     "\t\treturn cut"),
    ("what was given is not it before its bytes are copied", CONTENTS,
     "\tif (contents_put(t, n, 0, node_fixed(t, n), len)",
     "\tconst unsigned char *from = node_fixed(t, n);\n\n\tn->fixed = 0;\n\tif (contents_put(t, n, 0, from, len)"),
    ("chains are not looked at", LASTING, "\t\tcontents_begin(t, n);\n", "\t\t;\n"),
    ("links have no chains", LASTING, "n->kind != FILE_KIND_FILE && n->kind != FILE_KIND_SYMLINK",
     "n->kind != FILE_KIND_FILE"),
    ("a link is there before what it says", TREE, "\tmemcpy(b->data, to, (size_t)link.size);\n\tstored();\n"
     "\tlink.first = block_number(t, b);\n\tn = node_make(t, path, link);\n",
     "\tlink.first = block_number(t, b);\n\tn = node_make(t, path, link);\n"
     "\tmemcpy(b->data, to, (size_t)link.size);\n\tstored();\n"),
    ("what has no name stays", LASTING, "return n->is_unlinked || ", "return "),
)


def objects(test):
    """The object files that a test is linked from."""
    with open(os.path.join(UNIT, "tests.mk"), encoding="utf-8") as f:
        rule = re.search(rf"^\$\(OUT\)/{test}: (.*)$", f.read(), re.M)
    return rule.group(1).replace("$(OUT)", UNIT).split()


def compiler():
    """How unit tests with the coroutine's headers are compiled."""
    with open(os.path.join(UNIT, "flags"), encoding="utf-8") as f:
        words = f.read().split()
    return [w for w in words if w not in ("-MMD", "-MP")] + SANITIZE + ["-Wno-error", "-w",
                                                                        "-Ihal/cpu/coroutine/include",
                                                                        "-Iabi/cpu/hosted"]


def make_lasting(folder, path, text):
    """As it is built: without sanitizers, with the headers of the host."""
    with open(os.path.join(UNIT, "flags"), encoding="utf-8") as f:
        words = [w for w in f.read().split() if w not in ("-MMD", "-MP")]
    cc = [*words, "-w", "-D_GNU_SOURCE", "-Ihal/cpu/hosted/include", "-Iabi/cpu/hosted", "-Iuser/cpu/hosted"]
    return build(folder, cc, [cc[0]], objects(LASTING_TEST), path, text)


def make(test):
    """How the test is built with one source file replaced."""
    def built(folder, path, text):
        cc = compiler()
        return build(folder, cc, [cc[0], *SANITIZE], objects(test), path, text)
    return built


def main():
    """Exit status 0 if every mutant is found."""
    wrong = False
    for mutant in MUTANTS:
        wrong |= not control("it_is_noticed", mutant, make(TEST), SEEDS, PATIENCE_S)
    for mutant in STAGES_MUTANTS:
        wrong |= not control("a_death_is_not_over", mutant, make(STAGES_TEST), STAGES_SEEDS, PATIENCE_S)
    for mutant in LASTING_MUTANTS:
        wrong |= not control("a_life_is_not_taken_up", mutant, make_lasting, 1, PATIENCE_S)
    return int(wrong)


if __name__ == "__main__":
    sys.exit(main())
