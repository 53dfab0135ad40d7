/* SPDX-License-Identifier: MIT
 *
 * Kernel calls on riscv64: ecall with the number in a7, arguments in a0..a5, result in a0. Every
 * other register keeps its value.
 */
#ifndef USERCPU_KCALL_H
#define USERCPU_KCALL_H

static inline long
kcall6(unsigned long nr, unsigned long w0, unsigned long w1, unsigned long w2, unsigned long w3,
	unsigned long w4, unsigned long w5)
{
	register unsigned long a0 __asm__("a0") = w0;
	register unsigned long a1 __asm__("a1") = w1;
	register unsigned long a2 __asm__("a2") = w2;
	register unsigned long a3 __asm__("a3") = w3;
	register unsigned long a4 __asm__("a4") = w4;
	register unsigned long a5 __asm__("a5") = w5;
	register unsigned long a7 __asm__("a7") = nr;

	__asm__ volatile("ecall" : "+r"(a0) : "r"(a1), "r"(a2), "r"(a3), "r"(a4), "r"(a5),
		"r"(a7) : "memory");
	return (long)a0;
}

static inline long
kcall5(unsigned long nr, unsigned long w0, unsigned long w1, unsigned long w2, unsigned long w3,
	unsigned long w4)
{
	register unsigned long a0 __asm__("a0") = w0;
	register unsigned long a1 __asm__("a1") = w1;
	register unsigned long a2 __asm__("a2") = w2;
	register unsigned long a3 __asm__("a3") = w3;
	register unsigned long a4 __asm__("a4") = w4;
	register unsigned long a7 __asm__("a7") = nr;

	__asm__ volatile("ecall" : "+r"(a0) : "r"(a1), "r"(a2), "r"(a3), "r"(a4),
		"r"(a7) : "memory");
	return (long)a0;
}

static inline long
kcall4(unsigned long nr, unsigned long w0, unsigned long w1, unsigned long w2, unsigned long w3)
{
	register unsigned long a0 __asm__("a0") = w0;
	register unsigned long a1 __asm__("a1") = w1;
	register unsigned long a2 __asm__("a2") = w2;
	register unsigned long a3 __asm__("a3") = w3;
	register unsigned long a7 __asm__("a7") = nr;

	__asm__ volatile("ecall" : "+r"(a0) : "r"(a1), "r"(a2), "r"(a3), "r"(a7) : "memory");
	return (long)a0;
}

static inline long
kcall3(unsigned long nr, unsigned long w0, unsigned long w1, unsigned long w2)
{
	register unsigned long a0 __asm__("a0") = w0;
	register unsigned long a1 __asm__("a1") = w1;
	register unsigned long a2 __asm__("a2") = w2;
	register unsigned long a7 __asm__("a7") = nr;

	__asm__ volatile("ecall" : "+r"(a0) : "r"(a1), "r"(a2), "r"(a7) : "memory");
	return (long)a0;
}

static inline long
kcall2(unsigned long nr, unsigned long w0, unsigned long w1)
{
	register unsigned long a0 __asm__("a0") = w0;
	register unsigned long a1 __asm__("a1") = w1;
	register unsigned long a7 __asm__("a7") = nr;

	__asm__ volatile("ecall" : "+r"(a0) : "r"(a1), "r"(a7) : "memory");
	return (long)a0;
}

static inline long
kcall1(unsigned long nr, unsigned long w0)
{
	register unsigned long a0 __asm__("a0") = w0;
	register unsigned long a7 __asm__("a7") = nr;

	__asm__ volatile("ecall" : "+r"(a0) : "r"(a7) : "memory");
	return (long)a0;
}

static inline long
kcall0(unsigned long nr)
{
	register unsigned long a0 __asm__("a0");
	register unsigned long a7 __asm__("a7") = nr;

	__asm__ volatile("ecall" : "=r"(a0) : "r"(a7) : "memory");
	return (long)a0;
}

/* What calls go through, for those who keep it: nothing here. */
#define kcall_way() ((uintptr_t)0)
#define kcall_by(way, nr) ((void)(way), kcall0(nr))

#endif
