/* SPDX-License-Identifier: MIT
 *
 * Inside of the personality: Linux system calls of a riscv64 program, served in user mode by kernel
 * calls.
 *
 * The code is the handler of the program's threads (proc_handler): it runs on the thread's own
 * personality stack, never touches the program's thread pointer, and holds no data that needs
 * relocation (no tables of pointers). Results are values >= 0 or Linux's negative error numbers,
 * which are those of the kernel calls.
 */
#ifndef USER_PERSONALITY_H
#define USER_PERSONALITY_H

#include <stdbool.h>
#include <stdint.h>
#include <abi/layout.h>
#include <atoll/kcalls.h>
#include <atoll/personality.h>
#include <user/personality/space.h>

/* numbers of the asm-generic table */
enum linux_call {
	SYS_setxattr = 5,
	SYS_fsetxattr = 7,
	SYS_listxattr = 11,
	SYS_flistxattr = 13,
	SYS_fremovexattr = 16,
	SYS_getcwd = 17,
	SYS_eventfd2 = 19,
	SYS_epoll_create1 = 20,
	SYS_epoll_ctl = 21,
	SYS_epoll_pwait = 22,
	SYS_dup = 23,
	SYS_dup3 = 24,
	SYS_fcntl = 25,
	SYS_ioctl = 29,
	SYS_flock = 32,
	SYS_mknodat = 33,
	SYS_mkdirat = 34,
	SYS_unlinkat = 35,
	SYS_symlinkat = 36,
	SYS_linkat = 37,
	SYS_statfs = 43,
	SYS_fstatfs = 44,
	SYS_truncate = 45,
	SYS_ftruncate = 46,
	SYS_fallocate = 47,
	SYS_faccessat = 48,
	SYS_chdir = 49,
	SYS_fchdir = 50,
	SYS_fchmod = 52,
	SYS_fchmodat = 53,
	SYS_fchownat = 54,
	SYS_fchown = 55,
	SYS_openat = 56,
	SYS_close = 57,
	SYS_pipe2 = 59,
	SYS_getdents64 = 61,
	SYS_lseek = 62,
	SYS_read = 63,
	SYS_write = 64,
	SYS_readv = 65,
	SYS_writev = 66,
	SYS_pread64 = 67,
	SYS_pwrite64 = 68,
	SYS_preadv = 69,
	SYS_pwritev = 70,
	SYS_sendfile = 71,
	SYS_pselect6 = 72,
	SYS_ppoll = 73,
	SYS_signalfd4 = 74,
	SYS_readlinkat = 78,
	SYS_fstatat = 79,
	SYS_fstat = 80,
	SYS_sync = 81,
	SYS_fsync = 82,
	SYS_fdatasync = 83,
	SYS_timerfd_create = 85,
	SYS_timerfd_settime = 86,
	SYS_timerfd_gettime = 87,
	SYS_utimensat = 88,
	SYS_exit = 93,
	SYS_exit_group = 94,
	SYS_waitid = 95,
	SYS_set_tid_address = 96,
	SYS_futex = 98,
	SYS_set_robust_list = 99,
	SYS_get_robust_list = 100,
	SYS_nanosleep = 101,
	SYS_getitimer = 102,
	SYS_setitimer = 103,
	SYS_timer_create = 107,
	SYS_timer_gettime = 108,
	SYS_timer_getoverrun = 109,
	SYS_timer_settime = 110,
	SYS_timer_delete = 111,
	SYS_clock_gettime = 113,
	SYS_clock_getres = 114,
	SYS_clock_nanosleep = 115,
	SYS_sched_setparam = 118,
	SYS_sched_setscheduler = 119,
	SYS_sched_getscheduler = 120,
	SYS_sched_getparam = 121,
	SYS_sched_setaffinity = 122,
	SYS_sched_getaffinity = 123,
	SYS_sched_yield = 124,
	SYS_sched_get_priority_max = 125,
	SYS_sched_get_priority_min = 126,
	SYS_sched_rr_get_interval = 127,
	SYS_kill = 129,
	SYS_tkill = 130,
	SYS_tgkill = 131,
	SYS_sigaltstack = 132,
	SYS_rt_sigsuspend = 133,
	SYS_rt_sigaction = 134,
	SYS_rt_sigprocmask = 135,
	SYS_rt_sigpending = 136,
	SYS_rt_sigtimedwait = 137,
	SYS_rt_sigqueueinfo = 138,
	SYS_rt_sigreturn = 139,
	SYS_setpriority = 140,
	SYS_getpriority = 141,
	SYS_setregid = 143,
	SYS_setgid = 144,
	SYS_setreuid = 145,
	SYS_setuid = 146,
	SYS_setresuid = 147,
	SYS_getresuid = 148,
	SYS_setresgid = 149,
	SYS_getresgid = 150,
	SYS_times = 153,
	SYS_setpgid = 154,
	SYS_getpgid = 155,
	SYS_getsid = 156,
	SYS_setsid = 157,
	SYS_getgroups = 158,
	SYS_setgroups = 159,
	SYS_uname = 160,
	SYS_getrusage = 165,
	SYS_umask = 166,
	SYS_prctl = 167,
	SYS_getcpu = 168,
	SYS_gettimeofday = 169,
	SYS_mq_open = 180,
	SYS_mq_unlink = 181,
	SYS_mq_timedsend = 182,
	SYS_mq_timedreceive = 183,
	SYS_mq_notify = 184,
	SYS_mq_getsetattr = 185,
	SYS_socket = 198,
	SYS_socketpair = 199,
	SYS_bind = 200,
	SYS_listen = 201,
	SYS_accept = 202,
	SYS_connect = 203,
	SYS_getsockname = 204,
	SYS_getpeername = 205,
	SYS_sendto = 206,
	SYS_recvfrom = 207,
	SYS_setsockopt = 208,
	SYS_getsockopt = 209,
	SYS_shutdown = 210,
	SYS_sendmsg = 211,
	SYS_recvmsg = 212,
	SYS_accept4 = 242,
	SYS_getpid = 172,
	SYS_getppid = 173,
	SYS_getuid = 174,
	SYS_geteuid = 175,
	SYS_getgid = 176,
	SYS_getegid = 177,
	SYS_gettid = 178,
	SYS_sysinfo = 179,
	SYS_brk = 214,
	SYS_munmap = 215,
	SYS_mremap = 216,
	SYS_clone = 220,
	SYS_execve = 221,
	SYS_mmap = 222,
	SYS_fadvise64 = 223,
	SYS_mprotect = 226,
	SYS_msync = 227,
	SYS_mlock = 228,
	SYS_munlock = 229,
	SYS_mlockall = 230,
	SYS_munlockall = 231,
	SYS_mincore = 232,
	SYS_madvise = 233,
	SYS_rt_tgsigqueueinfo = 240,
	SYS_wait4 = 260,
	SYS_prlimit64 = 261,
	SYS_syncfs = 267,
	SYS_renameat2 = 276,
	SYS_getrandom = 278,
	SYS_memfd_create = 279,
	SYS_membarrier = 283,
	SYS_mlock2 = 284,
	SYS_copy_file_range = 285,
	SYS_preadv2 = 286,
	SYS_pwritev2 = 287,
	SYS_statx = 291,
	SYS_close_range = 436,
	SYS_faccessat2 = 439,
	SYS_epoll_pwait2 = 441,
	SYS_fchmodat2 = 452,
	/* not Linux's: what children inherit (inherit.h) */
	SYS_inherit = PERSONALITY_INHERIT,
	SYS_zio = PERSONALITY_ZIO,
	SYS_execac = PERSONALITY_EXECAC,
	SYS_rfork = PERSONALITY_RFORK,
	/* the first call of a child of fork, and of a thread made by clone */
	SYS_fork_begin = 4094,
	SYS_child_begin = 4095,
};

/* of mmap; without it a file is meant, which has no memory here */
#define MAP_ANONYMOUS 0x20

/* errors that only the personality gives */
#define LINUX_ENXIO 6
#define LINUX_ENOTTY 25
#define LINUX_ESPIPE 29
#define LINUX_ERANGE 34
#define LINUX_ENAMETOOLONG 36
#define LINUX_ENODEV 19

struct iovec {
	uint64_t base;
	uint64_t len;
};

#define THREAD_NAME 16		/* bytes, with the zero behind it */

/* Lies at the low end of each personality stack. Valid for the thread whose number it holds. */
struct thread_record {
	int32_t tid;
	/* local number of the rank that the thread belongs to; -1: not known */
	int32_t rank;
	uint8_t is_cloned;	/* made by clone */
	uint8_t listens;	/* for signals */
	uint8_t takes_faults;
	uint8_t has_saved_mask;
	uint64_t clear_tid;	/* address of a word that becomes 0 when the thread ends, 0: none */
	uint64_t mask;		/* signals that it does not want: bit 0 is signal 1 */
	uint64_t wanted;	/* that end its wait all the same */
	uint64_t saved_mask;	/* that it gets back */
	uint64_t pending;	/* signals for this thread alone */
	uint64_t alternate, alternate_bytes;	/* stack of handlers */
	/* the thread is a child that has no program yet: what the parent needs to go on; 0: not */
	uint64_t borrowed;
	uint64_t robust;	/* its list of robust mutexes (robust.c); 0: none */
	uint64_t rfork;		/* flags (RF*) for its next fork */
	uint16_t first_core, cores;	/* on which it is to run; 0: on all */
	char name[THREAD_NAME];	/* empty: the program's */
};

/* Where the kernel enters. */
void _start(void) __attribute__((visibility("hidden")));

extern struct personality_info personality_info __attribute__((visibility("hidden")));

/* What is done about a signal: as Linux's sigaction. */
struct signal_action {
	uint64_t handler;
	uint64_t mask;
	uint32_t flags;
	uint32_t reserved;
};

#define LIMITS 16

/* As Linux's rlimit. */
struct limit {
	uint64_t now, most;
};

/* Of a mapping that reaches behind the end of its file. */
struct file_end {
	uint64_t key;			/* of the file's memory; 0: a copy, which stays as it is */
	uint32_t shift;			/* to be added to pages of the file: those here */
	uint32_t prot;
};

/* What a child of fork has as its parent had it; all else here begins anew with it. */
struct kept {
	struct signal_action action[64];
	uint64_t acted;			/* signals whose action has been set */
	uint32_t takes_faults;		/* there were handlers for some */
	/* bits of the mask that are not as at first; from bit 16 on how nice it is */
	uint32_t umask_changed;
	uint32_t limits_changed;	/* bits: which limits have been set (limits.h) */
	struct limit limit[LIMITS];
	struct file_end file_end[SPACE_FILES];	/* struct space_area, `behind` */
	struct space space;		/* used if the process has one rank; it is the last */
};

extern struct kept kept __attribute__((visibility("hidden")));

/* The only rank's; NULL: there are several, or none. */
const struct job_rank *only_rank(void);

/*
 * The record of the running thread; thread_enter is first of all, and makes it if the thread has
 * not been here yet.
 */
struct thread_record *thread_record(const struct handler_event *c);
struct thread_record *thread_enter(const struct handler_event *c);

/* What a child of that thread without a program is as a rank: a negative number of its own. */
int thread_child_rank(const struct thread_record *r);

/* Argument i (0..5) of the trapped call. */
static inline unsigned long
arg(const struct handler_event *c, int i)
{
	return c->args[i];
}

/* One function per call or group; each takes the event for its arguments and returns the result. */
long memory_mmap(const struct handler_event *c);
long memory_munmap(const struct handler_event *c);
long memory_mprotect(const struct handler_event *c);
long memory_mremap(const struct handler_event *c);
long memory_madvise(const struct handler_event *c);
long memory_msync(const struct handler_event *c);

/*
 * mlock and its like, mincore: what is there stays there, and what comes when it is touched is
 * there then.
 */
long memory_resident(const struct handler_event *c, unsigned long nr);

/* The kernel's protection for Linux's; 0 stays 0, everything else can be read. */
int memory_prot(unsigned long prot);

/* Do the process's limits allow so many bytes more? */
bool memory_is_allowed(const struct handler_event *c, unsigned long bytes);

/* Addresses for mmap's arguments, with memory unless prot is 0; a child does not get them yet. */
long memory_place(const struct handler_event *c, int prot, uint64_t *addr);

/* This has been mapped: a child gets it, the same frames or copies. */
void memory_note(unsigned long addr, unsigned long bytes, bool is_shared);

/*
 * No thread changes what is mapped until memory_go_on. What that is: -E_NOSYS: of several ranks;
 * -E_NOMEM: it was too much to know.
 */
int memory_hold(void);
void memory_go_on(void);

/*
 * Pages that were noted lie behind the end of their file: who touches them gets SIGBUS. If there is
 * no room to know that they are what they were, and have zeros. And the file is longer now: those
 * below page `end` of the area in which `page` lies have their rights. False: they have not.
 */
void memory_end_file(unsigned long addr, unsigned long bytes, const struct file_end *e);
bool memory_grow_file(uint32_t page, uint32_t end);

/* What is known to be there; without pages: nothing. */
struct space_area memory_area(unsigned long addr);

/* The address of a futex as the kernel takes it: it may be other processes', too. */
unsigned long memory_futex(unsigned long addr);
long thread_clone(const struct handler_event *c);
long thread_child_begin(const struct handler_event *c);
long thread_set_tid_address(const struct handler_event *c);
long thread_futex(const struct handler_event *c);

/* Robust mutexes: set_robust_list, get_robust_list of the own thread; what ends gives them back. */
long robust_set(const struct handler_event *c);
long robust_get(const struct handler_event *c);
void robust_end(struct thread_record *r);
void robust_end_all(int rank);
_Noreturn void thread_exit(const struct handler_event *c);
_Noreturn void thread_exit_group(const struct handler_event *c, int status);

/* -E_NOSYS, and with `--debug` it is said which call that is. */
long unknown_call(unsigned long nr);

long signal_call(const struct handler_event *c, unsigned long nr);
long time_clock_gettime(const struct handler_event *c);
long time_clock_getres(const struct handler_event *c);
long time_of_day(const struct handler_event *c);
long time_sleep(const struct handler_event *c, bool is_absolute);

/*
 * The time that a span (seconds, nanoseconds) after `now` is, or FOREVER; sleep until a time, 0, or
 * a signal, -E_INTR. Both in nanoseconds of the kernel's clock.
 */
uint64_t time_after(uint64_t now, const uint64_t *span);
/* When a clock had 0, by the kernel's: nothing for those that run since the start. */
uint64_t time_began(unsigned long clock);
long time_sleep_until(const struct handler_event *c, uint64_t end);
long io_write(const struct handler_event *c);
long io_writev(const struct handler_event *c);
long io_read(const struct handler_event *c);
long io_readv(const struct handler_event *c);
long io_pread(const struct handler_event *c);
long io_pwrite(const struct handler_event *c);
/* preadv, preadv2 and their opposites. */
long io_vector_at(const struct handler_event *c, unsigned long nr);
/* Bytes from one descriptor to another: copy.c. */
long copy_sendfile(const struct handler_event *c);
long copy_file_range(const struct handler_event *c);
long file_call(const struct handler_event *c, unsigned long nr);
long socket_call(const struct handler_event *c, unsigned long nr);
long queue_call(const struct handler_event *c, unsigned long nr);
/* A mode that a program asks for, as its mask leaves it. */
uint32_t self_mode(unsigned long mode);
long self_call(const struct handler_event *c, unsigned long nr);
/* sched_*, getpriority, setpriority. */
long schedule_call(const struct handler_event *c, unsigned long nr);
long io_getrandom(const struct handler_event *c);
long io_uname(const struct handler_event *c);

#endif
