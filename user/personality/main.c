/* SPDX-License-Identifier: MIT
 *
 * Dispatch of Linux calls. A switch and no table: the image must not need relocation.
 */
#include <abi/startup.h>
#include <user/personality/inherit.h>
#include <user/personality/personality.h>
#include <user/personality/process.h>
#include <user/personality/reach.h>
#include <user/personality/signal.h>
#include <user/personality/terminal.h>
#include <user/personality/usage.h>
#include <usercpu/handler.h>

/* The data, of which each process has its own, begins with a page: so it has as few as it fills. */
_Alignas(4096) struct personality_info personality_info = {.page_bytes = 4096};
struct kept kept;

const struct job_rank *
only_rank(void)
{
	const struct job_control *j = (const struct job_control *)personality_info.control;

	return j != NULL && j->ranks == 1 ? &j->rank[0] : NULL;
}

static long
serve_memory(const struct handler_event *c, unsigned long nr)
{
	switch (nr) {
	case SYS_brk: return 0;		/* never where the caller wants it: malloc then uses mmap */
	case SYS_mmap:
		return (arg(c, 3) & MAP_ANONYMOUS) == 0 ? file_call(c, nr) : memory_mmap(c);
	case SYS_munmap: return memory_munmap(c);
	case SYS_mprotect: return memory_mprotect(c);
	case SYS_mremap: return memory_mremap(c);
	case SYS_madvise: return memory_madvise(c);
	case SYS_msync: return memory_msync(c);
	default: return -E_NOSYS;
	}
}

static long
serve_self(const struct handler_event *c, unsigned long nr)
{
	switch (nr) {
	case SYS_setregid:
	case SYS_setgid:
	case SYS_setreuid:
	case SYS_setuid:
	case SYS_setresuid:
	case SYS_setresgid:
	case SYS_getresuid:
	case SYS_getresgid:
	case SYS_getcpu:
	case SYS_umask:
	case SYS_times:
	case SYS_getrusage:
	case SYS_prlimit64:
	case SYS_prctl:
	case SYS_membarrier:
	case SYS_getgroups:
	case SYS_setgroups:
	case SYS_sysinfo:
	case SYS_readlinkat: return self_call(c, nr);
	case SYS_sched_setparam:
	case SYS_sched_setscheduler:
	case SYS_sched_getscheduler:
	case SYS_sched_getparam:
	case SYS_sched_setaffinity:
	case SYS_sched_getaffinity:
	case SYS_sched_get_priority_max:
	case SYS_sched_get_priority_min:
	case SYS_sched_rr_get_interval:
	case SYS_setpriority:
	case SYS_getpriority: return schedule_call(c, nr);
	case SYS_mlock:
	case SYS_munlock:
	case SYS_mlockall:
	case SYS_munlockall:
	case SYS_mincore:
	case SYS_mlock2: return memory_resident(c, nr);
	default:
		return nr >= SYS_setxattr && nr <= SYS_fremovexattr ? self_call(c, nr) :
			unknown_call(nr);
	}
}

static long
serve_thread(const struct handler_event *c, unsigned long nr)
{
	switch (nr) {
	case SYS_exit: thread_exit(c);
	case SYS_exit_group: thread_exit_group(c, (int)arg(c, 0));
	case SYS_set_tid_address: return thread_set_tid_address(c);
	case SYS_set_robust_list: return robust_set(c);
	case SYS_get_robust_list: return robust_get(c);
	case SYS_futex: return thread_futex(c);
	case SYS_clone: return thread_clone(c);
	case SYS_child_begin: return thread_child_begin(c);
	case SYS_fork_begin: return fork_begin(c);
	case SYS_inherit: return inherit_call(c);
	case SYS_sched_yield: return kthread_yield();
	case SYS_gettid: return kthread_self();
	case SYS_execve: return process_execve(c);
	case SYS_execac: return process_execac(c);
	case SYS_rfork: return rfork_call(c);
	case SYS_wait4: return process_wait4(c);
	case SYS_waitid: return process_waitid(c);
	case SYS_sync: return 0;	/* what hosts have they have at once */
	case SYS_setpgid:
	case SYS_getpgid:
	case SYS_getsid:
	case SYS_setsid: return terminal_group_call(c, nr);
	case SYS_getpid: return process_number(c, false);
	case SYS_getppid: return process_number(c, true);
	case SYS_getuid:
	case SYS_geteuid:
	case SYS_getgid:
	case SYS_getegid: return 0;
	default: return serve_self(c, nr);
	}
}

static long
serve_messages(const struct handler_event *c, unsigned long nr)
{
	switch (nr) {
	case SYS_mq_open:
	case SYS_mq_unlink:
	case SYS_mq_timedsend:
	case SYS_mq_timedreceive:
	case SYS_mq_notify:
	case SYS_mq_getsetattr: return queue_call(c, nr);
	case SYS_socket:
	case SYS_socketpair:
	case SYS_bind:
	case SYS_listen:
	case SYS_accept:
	case SYS_accept4:
	case SYS_connect:
	case SYS_getsockname:
	case SYS_getpeername:
	case SYS_sendto:
	case SYS_recvfrom:
	case SYS_setsockopt:
	case SYS_getsockopt:
	case SYS_shutdown:
	case SYS_sendmsg:
	case SYS_recvmsg: return socket_call(c, nr);
	default: return serve_thread(c, nr);
	}
}

static long
serve_others(const struct handler_event *c, unsigned long nr)
{
	switch (nr) {
	case SYS_getcwd:
	case SYS_chdir:
	case SYS_fchdir:
	case SYS_dup:
	case SYS_dup3:
	case SYS_fcntl:
	case SYS_close_range:
	case SYS_fallocate:
	case SYS_memfd_create:
	case SYS_ioctl:
	case SYS_flock:
	case SYS_mknodat:
	case SYS_mkdirat:
	case SYS_unlinkat:
	case SYS_linkat:
	case SYS_truncate:
	case SYS_ftruncate:
	case SYS_faccessat:
	case SYS_faccessat2:
	case SYS_openat:
	case SYS_close:
	case SYS_pipe2:
	case SYS_getdents64:
	case SYS_lseek:
	case SYS_fstatat:
	case SYS_statfs:
	case SYS_fstatfs:
	case SYS_statx:
	case SYS_fstat:
	case SYS_fsync:
	case SYS_fdatasync:
	case SYS_syncfs:
	case SYS_fadvise64:
	case SYS_utimensat:
	case SYS_fchmod:
	case SYS_fchmodat:
	case SYS_fchmodat2:
	case SYS_fchown:
	case SYS_fchownat:
	case SYS_symlinkat:
	case SYS_renameat2: return file_call(c, nr);
	default: return serve_messages(c, nr);
	}
}

static long
serve_io(const struct handler_event *c, unsigned long nr)
{
	switch (nr) {
	case SYS_write: return io_write(c);
	case SYS_writev: return io_writev(c);
	case SYS_read: return io_read(c);
	case SYS_readv: return io_readv(c);
	case SYS_pread64: return io_pread(c);
	case SYS_pwrite64: return io_pwrite(c);
	case SYS_preadv:
	case SYS_pwritev:
	case SYS_preadv2:
	case SYS_pwritev2: return io_vector_at(c, nr);
	case SYS_sendfile: return copy_sendfile(c);
	case SYS_copy_file_range: return copy_file_range(c);
	case SYS_gettimeofday: return time_of_day(c);
	case SYS_eventfd2:
	case SYS_epoll_create1:
	case SYS_epoll_ctl:
	case SYS_epoll_pwait:
	case SYS_epoll_pwait2:
	case SYS_signalfd4:
	case SYS_timerfd_create:
	case SYS_timerfd_settime:
	case SYS_timerfd_gettime: return event_call(c, nr);
	case SYS_ppoll: return pipe_poll_call(c);
	case SYS_zio: return pipe_zio_call(c);
	case SYS_pselect6: return pipe_select_call(c);
	case SYS_getrandom: return io_getrandom(c);
	case SYS_uname: return io_uname(c);
	default: return serve_others(c, nr);
	}
}

/* Where the kernel enters with a trapped Linux call, an upcall, or a fault. */
HANDLER_ENTRY(_start, personality_serve)

static long
personality_call(const struct handler_event *c, unsigned long nr)
{
	switch (nr) {
	case SYS_brk:
	case SYS_mmap:
	case SYS_munmap:
	case SYS_mprotect:
	case SYS_mremap:
	case SYS_msync:
	case SYS_madvise: return serve_memory(c, nr);
	case SYS_kill:
	case SYS_tkill:
	case SYS_tgkill:
	case SYS_sigaltstack:
	case SYS_rt_sigsuspend:
	case SYS_rt_sigaction:
	case SYS_rt_sigprocmask:
	case SYS_rt_sigpending:
	case SYS_rt_sigtimedwait:
	case SYS_rt_sigqueueinfo:
	case SYS_rt_tgsigqueueinfo:
	case SYS_setitimer:
	case SYS_getitimer:
	case SYS_rt_sigreturn: return signal_call(c, nr);
	case SYS_timer_create:
	case SYS_timer_gettime:
	case SYS_timer_getoverrun:
	case SYS_timer_settime:
	case SYS_timer_delete: return timers_call(c, nr);
	case SYS_clock_gettime: return time_clock_gettime(c);
	case SYS_clock_getres: return time_clock_getres(c);
	case SYS_nanosleep: return time_sleep(c, false);
	case SYS_clock_nanosleep: return time_sleep(c, (arg(c, 1) & 1) != 0);
	default: return serve_io(c, nr);
	}
}

long
personality_serve(const struct handler_event *c)
{
	long result;

	thread_enter(c);
	if (c->cause == HANDLER_UPCALL)
		return signal_upcall(c);
	if (c->cause != CRASH_NONE)
		return signal_fault(c);
	process_begin(c);
	result = reach_arguments(c, c->number);
	return signal_deliver(c, result != 0 ? result : personality_call(c, c->number));
}
