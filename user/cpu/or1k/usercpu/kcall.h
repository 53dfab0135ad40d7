/* SPDX-License-Identifier: MIT
 *
 * Kernel calls on or1k: l.sys with the number in r11, arguments in r3..r8, result in r11. A call
 * changes what a function may change, but r9.
 */
#ifndef USERCPU_KCALL_H
#define USERCPU_KCALL_H

#define KCALL_CHANGED \
	"r12", "r13", "r15", "r17", "r19", "r21", "r23", "r25", "r27", "r29", "r31", "memory"

static inline long
kcall6(unsigned long nr, unsigned long w0, unsigned long w1, unsigned long w2, unsigned long w3,
	unsigned long w4, unsigned long w5)
{
	register unsigned long r11 __asm__("r11") = nr;
	register unsigned long r3 __asm__("r3") = w0;
	register unsigned long r4 __asm__("r4") = w1;
	register unsigned long r5 __asm__("r5") = w2;
	register unsigned long r6 __asm__("r6") = w3;
	register unsigned long r7 __asm__("r7") = w4;
	register unsigned long r8 __asm__("r8") = w5;

	__asm__ volatile("l.sys 1" : "+r"(r11), "+r"(r3), "+r"(r4), "+r"(r5), "+r"(r6), "+r"(r7),
		"+r"(r8) : : KCALL_CHANGED);
	return (long)r11;
}

static inline long
kcall5(unsigned long nr, unsigned long w0, unsigned long w1, unsigned long w2, unsigned long w3,
	unsigned long w4)
{
	register unsigned long r11 __asm__("r11") = nr;
	register unsigned long r3 __asm__("r3") = w0;
	register unsigned long r4 __asm__("r4") = w1;
	register unsigned long r5 __asm__("r5") = w2;
	register unsigned long r6 __asm__("r6") = w3;
	register unsigned long r7 __asm__("r7") = w4;

	__asm__ volatile("l.sys 1" : "+r"(r11), "+r"(r3), "+r"(r4), "+r"(r5), "+r"(r6), "+r"(r7) :
		: "r8", KCALL_CHANGED);
	return (long)r11;
}

static inline long
kcall4(unsigned long nr, unsigned long w0, unsigned long w1, unsigned long w2, unsigned long w3)
{
	register unsigned long r11 __asm__("r11") = nr;
	register unsigned long r3 __asm__("r3") = w0;
	register unsigned long r4 __asm__("r4") = w1;
	register unsigned long r5 __asm__("r5") = w2;
	register unsigned long r6 __asm__("r6") = w3;

	__asm__ volatile("l.sys 1" : "+r"(r11), "+r"(r3), "+r"(r4), "+r"(r5), "+r"(r6) : : "r7",
		"r8", KCALL_CHANGED);
	return (long)r11;
}

static inline long
kcall3(unsigned long nr, unsigned long w0, unsigned long w1, unsigned long w2)
{
	register unsigned long r11 __asm__("r11") = nr;
	register unsigned long r3 __asm__("r3") = w0;
	register unsigned long r4 __asm__("r4") = w1;
	register unsigned long r5 __asm__("r5") = w2;

	__asm__ volatile("l.sys 1" : "+r"(r11), "+r"(r3), "+r"(r4), "+r"(r5) : : "r6", "r7", "r8",
		KCALL_CHANGED);
	return (long)r11;
}

static inline long
kcall2(unsigned long nr, unsigned long w0, unsigned long w1)
{
	register unsigned long r11 __asm__("r11") = nr;
	register unsigned long r3 __asm__("r3") = w0;
	register unsigned long r4 __asm__("r4") = w1;

	__asm__ volatile("l.sys 1" : "+r"(r11), "+r"(r3), "+r"(r4) : : "r5", "r6", "r7", "r8",
		KCALL_CHANGED);
	return (long)r11;
}

static inline long
kcall1(unsigned long nr, unsigned long w0)
{
	register unsigned long r11 __asm__("r11") = nr;
	register unsigned long r3 __asm__("r3") = w0;

	__asm__ volatile("l.sys 1" : "+r"(r11), "+r"(r3) : : "r4", "r5", "r6", "r7", "r8",
		KCALL_CHANGED);
	return (long)r11;
}

static inline long
kcall0(unsigned long nr)
{
	register unsigned long r11 __asm__("r11") = nr;

	__asm__ volatile("l.sys 1" : "+r"(r11) : : "r3", "r4", "r5", "r6", "r7", "r8",
		KCALL_CHANGED);
	return (long)r11;
}

/* What calls go through, for those who keep it: nothing here. */
#define kcall_way() ((uintptr_t)0)
#define kcall_by(way, nr) ((void)(way), kcall0(nr))

#endif
