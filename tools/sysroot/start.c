/* SPDX-License-Identifier: MIT
 *
 * The start of programs that are linked on the machine (tools/run/packages.py), for the C library
 * that they are linked with.
 */
int main(int argc, char **argv, char **envp);
int __libc_start_main(int (*f)(int, char **, char **), int argc, char **argv, void (*init)(void),
	void (*fini)(void), void (*loader)(void));

_Noreturn void start(long *stack) __attribute__((visibility("hidden")));

__asm__(".globl _start\n"
	"_start:\n"
	"	mv a0, sp\n"
	"	andi sp, sp, -16\n"
	"	tail start\n");

_Noreturn void
start(long *stack)
{
	__libc_start_main(main, (int)stack[0], (char **)(stack + 1), 0, 0, 0);
	for (;;)
		continue;
}
