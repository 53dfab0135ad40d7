/* SPDX-License-Identifier: MIT
 *
 * How a handler begins (proc_handler, thread_handler): with what happened in registers, and all
 * others as they were when its thread stopped: t0 cause and, above 32 bits, the kind of access, t1
 * address, of a call the thread, t2 pc, t3 sp; a7 and a0..a5 number and arguments of a call.
 */
#ifndef USERCPU_HANDLER_H
#define USERCPU_HANDLER_H

#include <abi/kcalls.h>
#include <abi/layout.h>

/* What a floating-point register holds. */
typedef double float_register;

#define HANDLER_TEXT_(x) #x
#define HANDLER_TEXT(x) HANDLER_TEXT_(x)

/*
 * Define `name`, the entry of a handler that does fn(event) and returns to its thread with what
 * that returns.
 */
#define HANDLER_ENTRY(name, fn) \
	void name(void); \
	__attribute__((used, visibility("hidden"))) long fn(const struct handler_event *e); \
	__asm__(".pushsection .text." #name ", \"ax\"\n" \
		"	.globl " #name "\n" \
		#name ":\n" \
		"	addi sp, sp, -96\n" \
		"	sd t0, 0(sp)\n" \
		"	sd t1, 8(sp)\n" \
		"	sd t2, 16(sp)\n" \
		"	sd t3, 24(sp)\n" \
		"	sd a7, 32(sp)\n" \
		"	sd a0, 40(sp)\n" \
		"	sd a1, 48(sp)\n" \
		"	sd a2, 56(sp)\n" \
		"	sd a3, 64(sp)\n" \
		"	sd a4, 72(sp)\n" \
		"	sd a5, 80(sp)\n" \
		"	mv a0, sp\n" \
		"	call " #fn "\n" \
		"	li a7, " HANDLER_TEXT(KC_FRAME_RETURN) "\n" \
		"	ecall\n" \
		"	.popsection");

#endif
