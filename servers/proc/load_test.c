/* SPDX-License-Identifier: MIT
 *
 * Load plans of good and bad images, and the first stack as a program reads it.
 *
 * needs: servers/proc/plan.c servers/proc/stack.c base/elf.c base/str.c
 */
#include <abi/errors.h>
#include <abi/limits.abi.h>
#include <base/test.h>
#include <servers/proc/plan.h>
#include <servers/proc/stack.h>

#define PAGE 4096

static unsigned char image[8192];

static void
put(unsigned at, unsigned bytes, unsigned long long value)
{
	for (unsigned i = 0; i < bytes; i++)
		image[at + i] = (unsigned char)(value >> (8 * i));
}

static void
put_segment(unsigned i, uint32_t type, uint32_t flags, const uint64_t v[4])
{
	unsigned at = 64 + i * 56;

	put(at, 4, type);
	put(at + 4, 4, flags);
	put(at + 8, 8, v[0]);
	put(at + 16, 8, v[1]);
	put(at + 32, 8, v[2]);
	put(at + 40, 8, v[3]);
	put(at + 48, 8, PAGE);
}

/* headers and rodata, text, data with bss; as lld lays them out */
static void
make(void)
{
	memset(image, 0, sizeof(image));
	memcpy(image, "\177ELF\2\1\1", 7);
	put(16, 2, ELF_TYPE_DYN);
	put(18, 2, ELF_MACHINE_RISCV);
	put(24, 8, 0x1404);
	put(32, 8, 64);
	put(54, 2, 56);
	put(56, 2, 3);
	put_segment(0, ELF_LOAD, ELF_FLAG_READ, (uint64_t[]){0, 0, 0x400, 0x400});
	put_segment(1, ELF_LOAD, ELF_FLAG_READ | ELF_FLAG_EXEC,
		(uint64_t[]){0x400, 0x1400, 0x800, 0x800});
	put_segment(2, ELF_LOAD, ELF_FLAG_READ | ELF_FLAG_WRITE,
		(uint64_t[]){0xc00, 0x2c00, 0x100, 0x2000});
}

static enum plan_fault
plan(struct plan *p)
{
	struct elf e;

	if (elf_open(&e, image, sizeof(image)) != 0)
		return PLAN_NOT_ELF;
	return plan_make(p, &e, ELF_MACHINE_RISCV, PAGE);
}

TEST(a_plan_names_pages_and_what_is_shared)
{
	struct plan p;

	make();
	expect_eq(plan(&p), PLAN_OK);
	expect_eq(p.segments, 3);
	expect_eq(p.shared_pages, 2);
	expect_eq(p.private_pages, 3);
	expect_eq(p.span, 0x5000);
	expect_eq(p.entry, 0x1404);
	expect_eq(p.headers, 64);
	expect_eq(p.header_count, 3);
	expect_eq(p.segment[2].addr, 0x2000);
	expect_eq(p.segment[2].data_at, 0xc00);
	expect_eq(p.segment[2].prot, PAGE_READ | PAGE_WRITE);
	expect(p.segment[2].is_private && !p.segment[1].is_private);
	expect_eq(p.segment[1].prot, PAGE_READ | PAGE_EXEC);
}

TEST(programs_that_cannot_be_loaded_are_told_apart)
{
	struct plan p;

	make();
	put(18, 2, ELF_MACHINE_X86_64);
	expect_eq(plan(&p), PLAN_WRONG_CPU);
	make();
	put(16, 2, ELF_TYPE_EXEC);
	expect_eq(plan(&p), PLAN_NOT_PIE);
	make();
	put(64 + 56, 4, ELF_INTERP);
	expect_eq(plan(&p), PLAN_DYNAMIC);
	make();
	put(24, 8, 0x2c00);
	expect_eq(plan(&p), PLAN_LAYOUT);
	make();
	put(64 + 2 * 56 + 16, 8, 0x1f00);
	expect_eq(plan(&p), PLAN_LAYOUT);
	make();
	put(64 + 2 * 56 + 40, 8, 1ull << 40);
	expect_eq(plan(&p), PLAN_LAYOUT);
	make();
	image[0] = 0;
	expect_eq(plan(&p), PLAN_NOT_ELF);
}

/*
 * The stack is built in a buffer whose program address is its own address, so that it can be read
 * as the program would.
 */
TEST(the_first_stack_reads_as_a_program_expects)
{
	static _Alignas(16) unsigned char memory[4096];
	struct startup startup = {.version = STARTUP_VERSION, .rank = 5};
	struct text args[2] = {{"--from", 6}, {"", 0}};
	struct text envs[1] = {{"A=b", 3}};
	struct stack_input in = {.program = {"bin/fn", 6}, .arg = args, .args = 2, .env = envs,
		.envs = 1, .startup = &startup,
	    .headers = 64, .header_bytes = 56, .header_count = 3, .entry = 0x1000,
	    .page_bytes = PAGE, .random = {1, 2}};
	struct stack_place place = {.memory = memory, .addr = (uintptr_t)memory,
		.bytes = sizeof(memory)};
	const uint64_t *p;
	int found = 0;

	expect_eq(stack_build(&place, &in), 0);
	expect_eq(place.sp % 16, 0);
	p = (const uint64_t *)(uintptr_t)place.sp;
	expect_eq(p[0], 3);
	expect_str((const char *)(uintptr_t)p[1], "bin/fn");
	expect_str((const char *)(uintptr_t)p[2], "--from");
	expect_str((const char *)(uintptr_t)p[3], "");
	expect_eq(p[4], 0);
	expect_str((const char *)(uintptr_t)p[5], "A=b");
	expect_eq(p[6], 0);
	for (p += 7; p[0] != 0; p += 2) {
		if (p[0] == AT_ATOLL) {
			found++;
			expect_eq(p[1], place.startup);
			expect_eq(((const struct startup *)(uintptr_t)p[1])->rank, 5);
		}
		if (p[0] == 3)
			expect_eq(p[1], 64);
		if (p[0] == 25)
			expect_eq(((const uint64_t *)(uintptr_t)p[1])[1], 2);
	}
	expect_eq(found, 1);
	expect((const unsigned char *)(p + 2) <= memory + sizeof(memory));
}

TEST(arguments_longer_than_half_the_stack_are_refused)
{
	static unsigned char memory[4096];
	static char text[2048];
	struct startup startup = {0};
	struct text arg = {text, sizeof(text)};
	struct stack_input in = {.program = {"x", 1}, .arg = &arg, .args = 1, .startup = &startup};
	struct stack_place place = {.memory = memory, .addr = 0x10000, .bytes = sizeof(memory)};

	expect_eq(stack_build(&place, &in), -E_2BIG);
	arg.len = 1000;
	expect_eq(stack_build(&place, &in), 0);
}

int
main(void)
{
	RUN(a_plan_names_pages_and_what_is_shared);
	RUN(programs_that_cannot_be_loaded_are_told_apart);
	RUN(the_first_stack_reads_as_a_program_expects);
	RUN(arguments_longer_than_half_the_stack_are_refused);
	return TEST_FAILED;
}
