/* SPDX-License-Identifier: MIT
 *
 * Each of the personality's calls, with each of its arguments wrong in several ways, said with the
 * results: the same here and on Linux. The table says what an argument is; the rest is generated.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <mqueue.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/timerfd.h>
#include <sys/uio.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define ARGS 6
#define PAGE 4096
#define VALUES 8
#define END (-12345L)
/* stand for what is open, or mapped */
#define A_FILE (-1001L)
#define A_FOLDER (-1002L)
#define A_PIPE (-1003L)
#define A_PIPE_IN (-1010L)
#define A_FULL (-1009L)		/* a file with bytes, of which none was read */
#define A_ROOT (-1011L)		/* a folder of which none was read */
#define A_PAGE (-1004L)
#define A_SOCKET (-1016L)	/* for datagrams */
#define A_STREAM (-1017L)	/* a socket that is not connected */
#define A_CONNECTION (-1018L)
#define A_QUEUE (-1019L)
#define A_COUNT (-1020L)
#define A_TIMER (-1021L)
#define A_LIST (-1022L)
/* where nothing is; then three bytes before that, which are written or read */
#define A_HOLE (-1015L)
#define A_CONSTANT (-1008L)	/* one that can be read only */

/* What an argument is, and with which values it is wrong, or may be. */
enum kind {
	NONE, DESCRIPTOR, PATH, FLAGS, COUNT, WHICH, MODE, OFFSET, ADDRESS, PID,
	READ,				/* points to what is read */
	WRITTEN,
	DATA,				/* of a file */
	FIXED,				/* what stands in the table */
};

static const long wrong_descriptors[VALUES] = {-1, 9999, 77, -2147483647 - 1, END};
static const long wrong_flags[VALUES] = {0x40000000, -1, 0x8000, END};
static const long wrong_counts[VALUES] = {-1, 100000, END};
static const long wrong_choices[VALUES] = {99, -1, 4097, END};
static const long wrong_offsets[VALUES] = {-1, -4096, END};
static const long wrong_addresses[VALUES] = {1, 4095, END};
static const long wrong_pids[VALUES] = {99999, END};
static const long wrong_reads[VALUES] = {8, -4096, A_HOLE, A_HOLE + 2, END};
static const long wrong_writes[VALUES] = {8, -4096, A_HOLE, A_HOLE + 1, A_CONSTANT, END};
/* of bytes: those before the hole are moved, or not */
static const long wrong_data[VALUES] = {8, -4096, A_HOLE, END};
static const long wrong_paths[VALUES] = {0, 1, 2, 3, 4, END};
static const long none[VALUES] = {END};

static char long_name[400];
static const char *const paths[] = {"", "nothing", "file/below", "nothing/below", long_name};

static char buffer[4 * PAGE];
static const char page_text[100];
static struct timespec times[2];
static int count, timer, list;	/* of events */
static const struct timespec spans[2], no_spans[2] = {{0, -1}, {0, 0}};
/* a way to tell that there is not */
static const int no_event[16] = {0, 0, 10, 9};
static const long all_cores[16] = {-1, -1}, no_cores[16];
static int file, full, folder, root, ends[2];
static void *page;
static char *hole, *constant;
static struct iovec pieces[1] = {{buffer, 10}};

static int sock, stream, connection[2], queue;
static const struct sockaddr_un there = {AF_UNIX, "folder"}, nowhere = {AF_UNIX, "nothing"};
static struct iovec one_piece = {buffer, 10};
static struct msghdr message = {.msg_iov = &one_piece, .msg_iovlen = 1};
/* what comes beside the bytes: nowhere, and longer than there is room for */
static const struct cmsghdr too_long = {.cmsg_len = 1000, .cmsg_level = SOL_SOCKET,
	.cmsg_type = SCM_RIGHTS};
static struct msghdr lost = {.msg_iov = &one_piece, .msg_iovlen = 1, .msg_control = (void *)8,
	.msg_controllen = 32},
	wrong_control = {.msg_iov = &one_piece, .msg_iovlen = 1,
	.msg_control = (void *)(uintptr_t)&too_long, .msg_controllen = sizeof(too_long)};
/* a descriptor that is none; less than a head; and of a kind that there is not */
static const struct {
	struct cmsghdr head;
	int fd;
} none_such = {{.cmsg_len = CMSG_LEN(sizeof(int)), .cmsg_level = SOL_SOCKET,
	.cmsg_type = SCM_RIGHTS}, 77},
	no_head = {{.cmsg_len = 3, .cmsg_level = SOL_SOCKET, .cmsg_type = SCM_RIGHTS}, 0},
	no_kind = {{.cmsg_len = CMSG_LEN(sizeof(int)), .cmsg_level = SOL_SOCKET,
	.cmsg_type = 99}, 0};
static struct msghdr no_right = {.msg_iov = &one_piece, .msg_iovlen = 1,
	.msg_control = (void *)(uintptr_t)&none_such, .msg_controllen = sizeof(none_such)},
	short_control = {.msg_iov = &one_piece, .msg_iovlen = 1,
	.msg_control = (void *)(uintptr_t)&no_head, .msg_controllen = sizeof(no_head)},
	other_control = {.msg_iov = &one_piece, .msg_iovlen = 1,
	.msg_control = (void *)(uintptr_t)&no_kind, .msg_controllen = sizeof(no_kind)};
static socklen_t room = 100;
static struct flock lock = {.l_type = F_WRLCK, .l_whence = SEEK_SET},
	unlock = {.l_type = F_UNLCK, .l_whence = SEEK_SET},
	asked = {.l_type = F_WRLCK, .l_whence = SEEK_SET};

struct row {
	const char *name;
	long number;
	enum kind kind[ARGS];
	long value[ARGS];		/* that are right */
};

#define CALL(name) #name, SYS_##name
#define BUFFER (long)buffer
#define AT AT_FDCWD
#define NAME (long)"file"

static const struct row rows[] = {
	{CALL(dup), {DESCRIPTOR}, {A_FILE}},
	{CALL(dup3), {DESCRIPTOR, FIXED, FLAGS}, {A_FILE, 90, 0}},
	{CALL(fcntl), {DESCRIPTOR, WHICH}, {A_FILE, F_GETFD}},
	{CALL(fcntl), {DESCRIPTOR, FIXED, OFFSET}, {A_FILE, F_DUPFD, 91}},
	{CALL(fcntl), {DESCRIPTOR, FIXED, READ}, {A_FILE, F_SETLK, (long)&lock}},
	{CALL(fcntl), {FIXED, FIXED, READ}, {A_FILE, F_SETLKW, (long)&lock}},
	{CALL(fcntl), {DESCRIPTOR, FIXED, READ}, {A_FILE, F_GETLK, (long)&lock}},
	{CALL(fcntl), {DESCRIPTOR, FIXED, READ}, {A_FILE, F_OFD_SETLK, (long)&unlock}},
	{CALL(fcntl), {FIXED, FIXED, READ}, {A_FILE, F_OFD_SETLKW, (long)&unlock}},
	{CALL(fcntl), {DESCRIPTOR, FIXED, READ}, {A_FILE, F_OFD_GETLK, (long)&asked}},
	{CALL(flock), {DESCRIPTOR, FIXED}, {A_FILE, LOCK_UN}},
	{CALL(flock), {FIXED, FIXED}, {A_FILE, 0}},
	{CALL(ioctl), {DESCRIPTOR, WHICH}, {A_FILE, 0x5413, BUFFER}},
	{CALL(mkdirat), {DESCRIPTOR, PATH, MODE}, {A_FOLDER, NAME, 0755}},
	{CALL(unlinkat), {DESCRIPTOR, PATH, FLAGS}, {A_FOLDER, (long)"nothing", 0}},
	{CALL(unlinkat), {FIXED, PATH, FIXED}, {AT, (long)"file", AT_REMOVEDIR}},
	{CALL(truncate), {PATH, OFFSET}, {(long)"folder", 1}},
	{CALL(ftruncate), {DESCRIPTOR, OFFSET}, {A_FOLDER, 1}},
	{CALL(ftruncate), {FIXED, OFFSET}, {A_FILE, 5}},
	{CALL(faccessat), {DESCRIPTOR, PATH, FLAGS}, {A_FOLDER, (long)"nothing", 0}},
	{CALL(chdir), {PATH}, {NAME}},
	{CALL(fchdir), {DESCRIPTOR}, {A_FILE}},
	{CALL(openat), {DESCRIPTOR, PATH, FIXED}, {A_FOLDER, (long)"nothing", O_RDONLY}},
	{CALL(openat), {FIXED, PATH, FIXED}, {AT, NAME, O_RDONLY | O_DIRECTORY}},
	{CALL(openat), {FIXED, PATH, FIXED}, {AT, (long)"folder", O_WRONLY}},
	{CALL(openat), {FIXED, FIXED, FIXED}, {AT, NAME, O_WRONLY | O_CREAT | O_EXCL}},
	{CALL(close), {DESCRIPTOR}, {77}},
	{CALL(pipe2), {FIXED, FLAGS}, {BUFFER, 0x40000000}},
	{CALL(getdents64), {DESCRIPTOR, FIXED, FIXED}, {A_FOLDER, BUFFER, 1}},
	{CALL(getdents64), {FIXED, FIXED, FIXED}, {A_FILE, BUFFER, PAGE}},
	{CALL(lseek), {DESCRIPTOR, OFFSET, WHICH}, {A_FILE, 0, SEEK_SET}},
	{CALL(lseek), {FIXED, FIXED, FIXED}, {A_PIPE, 0, SEEK_CUR}},
	{CALL(read), {DESCRIPTOR, FIXED, FIXED}, {A_FILE, BUFFER, 0}},
	{CALL(write), {DESCRIPTOR, FIXED, FIXED}, {A_FILE, BUFFER, 0}},
	{CALL(write), {FIXED, FIXED, FIXED}, {A_FOLDER, BUFFER, 1}},
	{CALL(readv), {DESCRIPTOR, FIXED, COUNT}, {A_FILE, BUFFER, 0}},
	{CALL(writev), {DESCRIPTOR, FIXED, COUNT}, {A_FILE, BUFFER, 0}},
	{CALL(pread64), {DESCRIPTOR, FIXED, FIXED, OFFSET}, {A_FILE, BUFFER, 0, 0}},
	{CALL(pwrite64), {DESCRIPTOR, FIXED, FIXED, OFFSET}, {A_FILE, BUFFER, 0, 0}},
	{CALL(pread64), {FIXED, FIXED, FIXED, FIXED}, {A_PIPE, BUFFER, 1, 0}},
	{CALL(ppoll), {FIXED, COUNT, FIXED}, {BUFFER, 0, (long)times}},
	{CALL(pselect6), {COUNT, FIXED, FIXED, FIXED, FIXED}, {0, 0, 0, 0, (long)times}},
	{CALL(readlinkat), {DESCRIPTOR, PATH, FIXED, COUNT}, {A_FOLDER, NAME, BUFFER, 10}},
	{CALL(readlinkat), {FIXED, FIXED, FIXED, FIXED}, {AT, NAME, BUFFER, 0}},
	{CALL(readlinkat), {FIXED, FIXED, FIXED, FIXED}, {AT, NAME, BUFFER, 10}},
	{CALL(newfstatat), {DESCRIPTOR, PATH, FIXED, FLAGS},
		{A_FOLDER, (long)"nothing", BUFFER, 0}},
	{CALL(statx), {DESCRIPTOR, PATH, FIXED, FIXED, FIXED},
		{A_FOLDER, (long)"nothing", 0, 0x7ff, BUFFER}},
	{CALL(statx), {FIXED, READ, FLAGS, FIXED, WRITTEN}, {AT, NAME, 0, 0x7ff, BUFFER}},
	{CALL(fstat), {DESCRIPTOR, FIXED}, {A_FILE, BUFFER}},
	{CALL(fsync), {DESCRIPTOR}, {A_FILE}},
	{CALL(fdatasync), {DESCRIPTOR}, {A_FILE}},
	{CALL(utimensat), {DESCRIPTOR, PATH, FIXED, FLAGS}, {A_FOLDER, (long)"nothing", 0, 0}},
	{CALL(fchmod), {DESCRIPTOR, FIXED}, {A_FILE, 0644}},
	{CALL(fchmodat), {DESCRIPTOR, PATH, FIXED}, {A_FOLDER, (long)"nothing", 0644}},
	{CALL(fchown), {DESCRIPTOR, FIXED, FIXED}, {A_FILE, -1, -1}},
	{CALL(fchownat), {DESCRIPTOR, PATH, FIXED, FIXED, FLAGS},
		{A_FOLDER, (long)"nothing", -1, -1, 0}},
	{CALL(renameat2), {DESCRIPTOR, PATH, DESCRIPTOR, FIXED, FLAGS},
		{A_FOLDER, (long)"nothing", A_FOLDER, (long)"other", 0}},
	{CALL(getcwd), {FIXED, FIXED}, {BUFFER, 0}},
	{CALL(getcwd), {FIXED, FIXED}, {BUFFER, 1}},
	{CALL(clock_gettime), {WHICH, FIXED}, {CLOCK_MONOTONIC, BUFFER}},
	{CALL(clock_getres), {WHICH, FIXED}, {CLOCK_MONOTONIC, BUFFER}},
	{CALL(clock_nanosleep), {WHICH, FIXED, FIXED, FIXED}, {CLOCK_MONOTONIC, 0, (long)times, 0}},
	{CALL(sched_getaffinity), {PID, COUNT, FIXED}, {0, 1, BUFFER}},
	{CALL(getrandom), {FIXED, FIXED, FLAGS}, {BUFFER, 0, 0}},
	{CALL(mmap), {FIXED, FIXED, FIXED, FLAGS, FIXED, FIXED},
		{0, 0, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0}},
	{CALL(mmap), {FIXED, FIXED, FIXED, FIXED, DESCRIPTOR, FIXED},
		{0, PAGE, PROT_READ, MAP_PRIVATE, 77, 0}},
	{CALL(munmap), {ADDRESS, FIXED}, {A_PAGE, 0}},
	{CALL(mprotect), {ADDRESS, FIXED, FIXED}, {A_PAGE, 0, PROT_READ}},
	{CALL(mremap), {ADDRESS, FIXED, FIXED, FLAGS}, {A_PAGE, PAGE, 0, 0}},
	{CALL(madvise), {ADDRESS, FIXED, WHICH}, {A_PAGE, PAGE, 0}},
	{CALL(waitid), {WHICH, PID, READ, FIXED, FIXED}, {P_ALL, 0, 0, WEXITED | WNOHANG, 0}},
	{CALL(waitid), {FIXED, PID, FIXED, FLAGS, FIXED}, {P_PID, 0, 0, WEXITED, 0}},
	{CALL(waitid), {FIXED, FIXED, FIXED, FIXED, FIXED}, {P_PGID, -1, 0, WEXITED, 0}},
	{CALL(waitid), {FIXED, FIXED, FIXED, FIXED, FIXED}, {P_ALL, 0, 0, WNOHANG, 0}},
	{CALL(wait4), {PID, FIXED, FLAGS, FIXED}, {-1, 0, 0, 0}},
	{CALL(prlimit64), {PID, WHICH, FIXED, FIXED}, {0, 7, 0, 0}},
	{CALL(futex), {FIXED, WHICH, FIXED}, {BUFFER, 1, 0}},
	{CALL(getrusage), {WHICH, FIXED}, {0, BUFFER}},
	{CALL(getrusage), {FIXED, WRITTEN}, {-1, BUFFER}},
	{CALL(clock_gettime), {FIXED, WRITTEN}, {CLOCK_PROCESS_CPUTIME_ID, BUFFER}},
	{CALL(clock_gettime), {FIXED, WRITTEN}, {CLOCK_THREAD_CPUTIME_ID, BUFFER}},
	{CALL(clock_getres), {FIXED, WRITTEN}, {CLOCK_PROCESS_CPUTIME_ID, BUFFER}},
	{CALL(kill), {PID, WHICH}, {0, 0}},
	{CALL(tkill), {FIXED, FIXED}, {99999, 0}},
	{CALL(tgkill), {FIXED, PID, FIXED}, {99999, 99998, 0}},
	{CALL(getpgid), {PID}, {0}},
	{CALL(getsid), {PID}, {0}},
	{CALL(setpgid), {FIXED, FIXED}, {99999, 0}},
	{CALL(setpgid), {FIXED, FIXED}, {0, -1}},
	{CALL(set_robust_list), {FIXED, WHICH}, {BUFFER, 23}},
	{CALL(get_robust_list), {FIXED, WRITTEN, WRITTEN}, {0, BUFFER, BUFFER + 8}},
	{CALL(rt_sigsuspend), {FIXED, FIXED}, {8, 8}},
	{CALL(getgroups), {FIXED, FIXED}, {-1, BUFFER}},
	/* sockets and message queues */
	{CALL(socket), {FIXED, WHICH, COUNT}, {AF_UNIX, SOCK_STREAM, 0}},
	{CALL(socketpair), {FIXED, WHICH, COUNT, WRITTEN}, {AF_UNIX, SOCK_STREAM, 0, BUFFER}},
	{CALL(bind), {DESCRIPTOR, READ, WHICH}, {A_SOCKET, (long)&there, sizeof(there)}},
	{CALL(bind), {FIXED, FIXED, FIXED}, {A_FILE, (long)&there, sizeof(there)}},
	{CALL(listen), {DESCRIPTOR, COUNT}, {A_STREAM, 1}},
	{CALL(listen), {FIXED, FIXED}, {A_SOCKET, 1}},
	{CALL(connect), {DESCRIPTOR, READ, WHICH}, {A_STREAM, (long)&there, sizeof(there)}},
	{CALL(connect), {FIXED, READ, FIXED}, {A_SOCKET, (long)&there, sizeof(there)}},
	{CALL(connect), {FIXED, FIXED, FIXED}, {A_STREAM, (long)&nowhere, sizeof(nowhere)}},
	{CALL(connect), {FIXED, FIXED, FIXED}, {A_CONNECTION, (long)&there, sizeof(there)}},
	{CALL(accept), {DESCRIPTOR, FIXED, FIXED}, {A_STREAM, 0, 0}},
	{CALL(accept4), {DESCRIPTOR, FIXED, FIXED, FLAGS}, {A_STREAM, 0, 0, 0}},
	{CALL(accept4), {FIXED, FIXED, FIXED, FIXED}, {A_SOCKET, 0, 0, 0}},
	{CALL(getsockname), {DESCRIPTOR, WRITTEN, WRITTEN}, {A_SOCKET, BUFFER, (long)&room}},
	{CALL(getpeername), {DESCRIPTOR, WRITTEN, WRITTEN}, {A_CONNECTION, BUFFER, (long)&room}},
	{CALL(getpeername), {FIXED, FIXED, FIXED}, {A_SOCKET, BUFFER, (long)&room}},
	{CALL(sendto), {DESCRIPTOR, DATA, FIXED, FIXED, FIXED, FIXED},
		{A_CONNECTION, BUFFER, 10, 0, 0, 0}},
	{CALL(sendto), {FIXED, FIXED, FIXED, FIXED, READ, WHICH},
		{A_SOCKET, BUFFER, 10, 0, (long)&there, sizeof(there)}},
	{CALL(sendto), {FIXED, FIXED, FIXED, FIXED, FIXED, FIXED},
		{A_CONNECTION, BUFFER, 10, 0, (long)&there, sizeof(there)}},
	{CALL(recvfrom), {DESCRIPTOR, FIXED, FIXED, FIXED, FIXED, FIXED},
		{A_SOCKET, BUFFER, 10, MSG_DONTWAIT, 0, 0}},
	{CALL(recvfrom), {FIXED, FIXED, FIXED, FIXED, FIXED, FIXED},
		{A_STREAM, BUFFER, 10, MSG_DONTWAIT, 0, 0}},
	{CALL(sendmsg), {DESCRIPTOR, READ, FIXED}, {A_CONNECTION, (long)&message, 0}},
	{CALL(sendmsg), {FIXED, FIXED, FIXED}, {A_CONNECTION, (long)&lost, 0}},
	{CALL(sendmsg), {FIXED, FIXED, FIXED}, {A_CONNECTION, (long)&wrong_control, 0}},
	{CALL(setsockopt), {DESCRIPTOR, FIXED, FIXED, READ, COUNT},
		{A_SOCKET, SOL_SOCKET, SO_PASSCRED, BUFFER, 4}},
	{CALL(getsockopt), {DESCRIPTOR, FIXED, FIXED, WRITTEN, WRITTEN},
		{A_SOCKET, SOL_SOCKET, SO_PASSCRED, BUFFER, (long)&room}},
	{CALL(recvmsg), {DESCRIPTOR, READ, FIXED}, {A_SOCKET, (long)&message, MSG_DONTWAIT}},
	{CALL(setsockopt), {DESCRIPTOR, WHICH, WHICH, READ, COUNT},
		{A_SOCKET, SOL_SOCKET, SO_SNDBUF, BUFFER, 4}},
	{CALL(getsockopt), {DESCRIPTOR, WHICH, WHICH, WRITTEN, WRITTEN},
		{A_SOCKET, SOL_SOCKET, SO_TYPE, BUFFER, (long)&room}},
	{CALL(shutdown), {DESCRIPTOR, WHICH}, {A_SOCKET, 0}},
	{CALL(shutdown), {FIXED, FIXED}, {A_FILE, 0}},
	{CALL(mq_open), {READ, FIXED, FIXED, FIXED}, {(long)"no-such-queue", O_RDWR, 0, 0}},
	{CALL(mq_open), {FIXED, FIXED, FIXED, READ},
		{(long)"no/queue", O_RDWR | O_CREAT, 0600, 0}},
	{CALL(mq_unlink), {READ}, {(long)"no-such-queue"}},
	{CALL(mq_timedsend), {DESCRIPTOR, DATA, COUNT, COUNT, READ},
		{A_QUEUE, BUFFER, 10, 0, (long)times}},
	{CALL(mq_timedreceive), {DESCRIPTOR, FIXED, COUNT, FIXED, READ},
		{A_QUEUE, BUFFER, 100, BUFFER, (long)times}},
	{CALL(mq_timedreceive), {FIXED, FIXED, FIXED, FIXED, FIXED}, {A_QUEUE, BUFFER, 99, 0, 0}},
	{CALL(mq_getsetattr), {DESCRIPTOR, READ, WRITTEN}, {A_QUEUE, 0, BUFFER}},
	{CALL(mq_notify), {DESCRIPTOR, READ}, {A_QUEUE, 0}},
	{CALL(mq_notify), {FIXED, FIXED}, {A_FILE, 0}},
	{CALL(msync), {ADDRESS, FIXED, FLAGS}, {A_PAGE, PAGE, MS_SYNC}},
	/* room, users, links and what is made */
	{CALL(statfs), {PATH, FIXED}, {(long)"nothing", BUFFER}},
	{CALL(statfs), {READ, WRITTEN}, {NAME, BUFFER}},
	{CALL(fstatfs), {DESCRIPTOR, FIXED}, {A_FILE, BUFFER}},
	{CALL(fstatfs), {FIXED, WRITTEN}, {A_FILE, BUFFER}},
	{CALL(getresuid), {WRITTEN, WRITTEN, WRITTEN}, {BUFFER, BUFFER, BUFFER}},
	{CALL(getresgid), {WRITTEN, WRITTEN, WRITTEN}, {BUFFER, BUFFER, BUFFER}},
	{CALL(setresuid), {FIXED, FIXED, FIXED}, {-1, -1, -1}},
	{CALL(setresgid), {FIXED, FIXED, FIXED}, {-1, -1, -1}},
	{CALL(setreuid), {FIXED, FIXED}, {-1, -1}},
	{CALL(setregid), {FIXED, FIXED}, {-1, -1}},
	{CALL(setuid), {FIXED}, {-1}},
	{CALL(setgid), {FIXED}, {-1}},
	{CALL(getcpu), {WRITTEN, WRITTEN}, {BUFFER, BUFFER}},
	{CALL(faccessat), {DESCRIPTOR, FIXED, FIXED}, {A_FOLDER, NAME, 8}},
	{CALL(faccessat2), {DESCRIPTOR, PATH, FLAGS, FLAGS}, {A_FOLDER, NAME, 0, AT_EACCESS}},
	{CALL(faccessat2), {DESCRIPTOR, READ, FIXED, FIXED}, {A_FOLDER, (long)"", 0, 0x1000}},
	{CALL(mknodat), {DESCRIPTOR, PATH, FIXED, FIXED}, {A_FOLDER, NAME, S_IFREG | 0600, 0}},
	{CALL(mknodat), {FIXED, READ, FIXED, FIXED}, {AT, NAME, 0600, 0}},
	{CALL(mknodat), {DESCRIPTOR, PATH, FIXED, FIXED}, {A_FOLDER, NAME, S_IFIFO | 0600, 0}},
	{CALL(mknodat), {FIXED, FIXED, FIXED, FIXED}, {AT, (long)"made", S_IFDIR | 0600, 0}},
	{CALL(sync), {FIXED}, {0}},
	{CALL(syncfs), {DESCRIPTOR}, {A_FILE}},
	{CALL(fadvise64), {DESCRIPTOR, OFFSET, OFFSET, WHICH}, {A_FILE, 0, 0, 0}},
	{CALL(fadvise64), {FIXED, FIXED, FIXED, FIXED}, {A_PIPE, 0, 0, 0}},
	{CALL(symlinkat), {READ, DESCRIPTOR, READ}, {(long)"x", A_FOLDER, (long)"folder"}},
	{CALL(symlinkat), {FIXED, FIXED, PATH}, {(long)"", AT, NAME}},
	{CALL(brk), {ADDRESS}, {-1}},
	{CALL(recvmsg), {FIXED, FIXED, WHICH}, {A_CONNECTION, (long)&message, MSG_DONTWAIT}},
	{CALL(sched_yield), {FIXED}, {0}},
	{CALL(gettid), {FIXED}, {0}},
	{CALL(getpid), {FIXED}, {0}},
	{CALL(getppid), {FIXED}, {0}},
	{CALL(getuid), {FIXED}, {0}},
	{CALL(geteuid), {FIXED}, {0}},
	{CALL(getgid), {FIXED}, {0}},
	{CALL(getegid), {FIXED}, {0}},
	{CALL(umask), {FIXED}, {022}},
	{CALL(sendmsg), {FIXED, FIXED, FLAGS}, {A_SOCKET, (long)&message, 0}},
	{CALL(sendmsg), {FIXED, FIXED, FIXED}, {A_CONNECTION, (long)&no_right, 0}},
	{CALL(sendmsg), {FIXED, FIXED, FIXED}, {A_CONNECTION, (long)&short_control, 0}},
	{CALL(sendmsg), {FIXED, FIXED, FIXED}, {A_CONNECTION, (long)&other_control, 0}},
	{CALL(recvmsg), {FIXED, FIXED, FIXED}, {A_CONNECTION, (long)&lost, MSG_DONTWAIT}},
	{CALL(linkat), {DESCRIPTOR, PATH, FIXED, FIXED, FLAGS},
		{A_FOLDER, (long)"nothing", A_FOLDER, (long)"other", 0}},
	{CALL(linkat), {FIXED, FIXED, DESCRIPTOR, FIXED, FIXED},
		{AT, NAME, A_FOLDER, (long)"folder", 0}},
	{CALL(linkat), {FIXED, READ, FIXED, READ, FIXED}, {AT, NAME, AT, (long)"folder", 0}},
	{CALL(linkat), {FIXED, FIXED, FIXED, FIXED, FIXED},
		{AT, (long)"folder", AT, (long)"other", 0}},
	{CALL(mmap), {FIXED, FIXED, FIXED, FIXED, DESCRIPTOR, FIXED},
		{0, PAGE, PROT_READ, MAP_SHARED, A_FOLDER, 0}},
	{CALL(mmap), {FIXED, COUNT, FIXED, FIXED, FIXED, FIXED},
		{0, 0, PROT_READ, MAP_SHARED, A_FULL, 1}},
	{CALL(mmap), {FIXED, FIXED, FIXED, FIXED, FIXED, FIXED},
		{0, PAGE, PROT_READ, MAP_SHARED, A_FULL, 1}},
	/* addresses */
	{CALL(mkdirat), {FIXED, READ, FIXED}, {AT, (long)"made", 0755}},
	{CALL(unlinkat), {FIXED, READ, FIXED}, {AT, (long)"nothing", 0}},
	{CALL(truncate), {READ, FIXED}, {(long)"nothing", 1}},
	{CALL(faccessat), {FIXED, READ, FIXED}, {AT, (long)"nothing", 0}},
	{CALL(chdir), {READ}, {NAME}},
	{CALL(openat), {FIXED, READ, FIXED}, {AT, (long)"nothing", O_RDONLY}},
	{CALL(pipe2), {WRITTEN, FIXED}, {8, 0}},
	{CALL(getdents64), {FIXED, DATA, FIXED}, {A_ROOT, 8, 1000}},
	{CALL(read), {FIXED, DATA, FIXED}, {A_FULL, 8, 10}},
	{CALL(write), {FIXED, DATA, FIXED}, {A_FILE, BUFFER, 10}},
	{CALL(write), {FIXED, DATA, FIXED}, {A_PIPE_IN, BUFFER, 10}},
	{CALL(write), {FIXED, DATA, FIXED}, {1, 8, 10}},
	{CALL(pread64), {FIXED, DATA, FIXED, FIXED}, {A_FULL, BUFFER, 10, 0}},
	{CALL(pwrite64), {FIXED, DATA, FIXED, FIXED}, {A_FILE, BUFFER, 10, 0}},
	{CALL(readv), {FIXED, READ, FIXED}, {A_FULL, (long)pieces, 1}},
	{CALL(writev), {FIXED, READ, FIXED}, {A_FILE, (long)pieces, 1}},
	{CALL(writev), {FIXED, READ, FIXED}, {1, 8, 1}},
	{CALL(ppoll), {WRITTEN, FIXED, READ, FIXED}, {BUFFER, 1, (long)times, 0}},
	{CALL(pselect6), {FIXED, READ, FIXED, FIXED, READ}, {20, BUFFER, 0, 0, (long)times}},
	{CALL(readlinkat), {FIXED, READ, FIXED, FIXED}, {AT, NAME, BUFFER, 10}},
	{CALL(readlinkat), {FIXED, FIXED, WRITTEN, FIXED},
		{AT, (long)"/proc/self/exe", BUFFER, 10}},
	{CALL(newfstatat), {FIXED, READ, WRITTEN, FIXED}, {AT, NAME, BUFFER, 0}},
	{CALL(fstat), {FIXED, WRITTEN}, {A_FILE, BUFFER}},
	{CALL(utimensat), {FIXED, READ, READ, FIXED}, {AT, NAME, (long)times, 0}},
	{CALL(fchmodat), {FIXED, READ, FIXED}, {AT, (long)"nothing", 0644}},
	{CALL(fchownat), {FIXED, READ, FIXED, FIXED, FIXED}, {AT, (long)"nothing", -1, -1, 0}},
	{CALL(renameat2), {FIXED, READ, FIXED, READ, FIXED},
		{AT, (long)"nothing", AT, (long)"other", 0}},
	{CALL(getcwd), {WRITTEN, FIXED}, {BUFFER, 200}},
	{CALL(nanosleep), {READ, FIXED}, {(long)times, 0}},
	{CALL(clock_gettime), {FIXED, WRITTEN}, {CLOCK_MONOTONIC, BUFFER}},
	{CALL(clock_getres), {FIXED, WRITTEN}, {CLOCK_MONOTONIC, BUFFER}},
	{CALL(clock_nanosleep), {FIXED, FIXED, READ, FIXED}, {CLOCK_MONOTONIC, 0, (long)times, 0}},
	{CALL(getitimer), {FIXED, WRITTEN}, {0, BUFFER}},
	{CALL(setitimer), {FIXED, READ, WRITTEN}, {0, 0, BUFFER}},
	{CALL(sigaltstack), {READ, WRITTEN}, {0, BUFFER}},
	{CALL(rt_sigaction), {FIXED, READ, WRITTEN, FIXED}, {10, 0, BUFFER, 8}},
	{CALL(rt_sigprocmask), {FIXED, READ, WRITTEN, FIXED}, {0, 0, BUFFER, 8}},
	{CALL(rt_sigpending), {WRITTEN, FIXED}, {BUFFER, 8}},
	{CALL(rt_sigqueueinfo), {PID, FIXED, READ}, {0, 0, BUFFER}},
	{CALL(rt_sigqueueinfo), {FIXED, FIXED, FIXED}, {99999, 99, BUFFER}},
	{CALL(rt_tgsigqueueinfo), {PID, FIXED, FIXED, READ}, {0, 0, 0, BUFFER}},
	{CALL(rt_sigtimedwait), {READ, FIXED, READ, FIXED}, {(long)times, 0, (long)times, 8}},
	{CALL(sched_getaffinity), {FIXED, FIXED, WRITTEN}, {0, 128, BUFFER}},
	{CALL(getrandom), {DATA, FIXED, FIXED}, {BUFFER, 10, 0}},
	{CALL(uname), {WRITTEN}, {BUFFER}},
	{CALL(sysinfo), {WRITTEN}, {BUFFER}},
	{CALL(times), {WRITTEN}, {BUFFER}},
	{CALL(getrusage), {FIXED, WRITTEN}, {0, BUFFER}},
	{CALL(prlimit64), {FIXED, FIXED, READ, WRITTEN}, {0, 7, 0, BUFFER}},
	{CALL(prlimit64), {PID, WHICH, READ, FIXED}, {0, 4, (long)times, 0}},
	{CALL(futex), {READ, FIXED, FIXED}, {BUFFER, 1, 0}},
	{CALL(futex), {FIXED, FIXED, FIXED, READ}, {BUFFER, 0, 0, (long)times}},
	/* vectors at offsets, copies, memory that stays, orders and names */
	{CALL(preadv), {DESCRIPTOR, READ, COUNT, OFFSET}, {A_FULL, (long)pieces, 1, 0}},
	{CALL(preadv), {FIXED, FIXED, FIXED, FIXED}, {A_PIPE, (long)pieces, 1, 0}},
	{CALL(pwritev), {DESCRIPTOR, READ, COUNT, OFFSET}, {A_FILE, (long)pieces, 1, 0}},
	{CALL(pwritev), {FIXED, FIXED, FIXED, FIXED}, {A_FULL, (long)pieces, 1, 0}},
	{CALL(preadv2), {DESCRIPTOR, READ, COUNT, FIXED, FIXED, FLAGS},
		{A_FULL, (long)pieces, 1, 0, 0, 0}},
	{CALL(preadv2), {FIXED, FIXED, FIXED, FIXED, FIXED, FIXED},
		{A_FULL, (long)pieces, 1, -2, 0, 0}},
	{CALL(pwritev2), {DESCRIPTOR, READ, COUNT, FIXED, FIXED, FLAGS},
		{A_FILE, (long)pieces, 1, 0, 0, 0}},
	{CALL(sendfile), {DESCRIPTOR, DESCRIPTOR, WRITTEN, FIXED}, {A_FILE, A_FULL, 0, 10}},
	{CALL(sendfile), {FIXED, FIXED, FIXED, FIXED}, {A_FILE, A_PIPE, 0, 10}},
	{CALL(sendfile), {FIXED, FIXED, FIXED, FIXED}, {A_FULL, A_FULL, 0, 10}},
	{CALL(copy_file_range), {DESCRIPTOR, READ, DESCRIPTOR, READ, FIXED, FLAGS},
		{A_FULL, 0, A_FILE, 0, 10, 0}},
	{CALL(copy_file_range), {FIXED, FIXED, FIXED, FIXED, FIXED, FIXED},
		{A_PIPE, 0, A_FILE, 0, 10, 0}},
	{CALL(fallocate), {DESCRIPTOR, FIXED, OFFSET, OFFSET}, {A_FILE, 0, 0, 5}},
	{CALL(fallocate), {FIXED, FIXED, FIXED, FIXED}, {A_FULL, 0, 0, 5}},
	{CALL(fallocate), {FIXED, FIXED, FIXED, FIXED}, {A_FILE, 0x4000, 0, 5}},
	{CALL(fallocate), {FIXED, FIXED, FIXED, FIXED}, {A_PIPE_IN, 0, 0, 5}},
	{CALL(close_range), {FIXED, FIXED, FLAGS}, {200, 300, 0}},
	{CALL(close_range), {FIXED, FIXED, FIXED}, {300, 200, 0}},
	{CALL(memfd_create), {READ, FIXED}, {(long)"name", 1}},
	{CALL(memfd_create), {FIXED, FLAGS}, {(long)long_name, 1}},
	{CALL(fchmodat2), {DESCRIPTOR, PATH, MODE, FLAGS}, {A_FOLDER, (long)"file", 0644, 0}},
	{CALL(fchmodat2), {FIXED, READ, FIXED, FIXED}, {AT, (long)"nothing", 0644, 0}},
	{CALL(listxattr), {FIXED, FIXED, FIXED}, {NAME, 0, 0}},
	{CALL(flistxattr), {FIXED, FIXED, FIXED}, {A_FILE, 0, 0}},
	{CALL(fremovexattr), {FIXED, FIXED}, {A_FILE, (long)"user.nothing"}},
	{CALL(mlock), {FIXED, FIXED}, {A_PAGE, PAGE}},
	{CALL(mlock), {FIXED, FIXED}, {A_HOLE, PAGE}},
	{CALL(mlock2), {FIXED, FIXED, FLAGS}, {A_PAGE, PAGE, 0}},
	{CALL(munlock), {FIXED, FIXED}, {A_PAGE, PAGE}},
	{CALL(munlock), {FIXED, FIXED}, {A_HOLE, PAGE}},
	{CALL(mlockall), {WHICH}, {1}},
	{CALL(mlockall), {FIXED}, {0}},
	{CALL(mlockall), {FIXED}, {4}},
	{CALL(munlockall), {FIXED}, {0}},
	{CALL(mincore), {ADDRESS, FIXED, WRITTEN}, {A_PAGE, PAGE, BUFFER}},
	{CALL(mincore), {FIXED, FIXED, FIXED}, {A_HOLE, PAGE, BUFFER}},
	{CALL(gettimeofday), {WRITTEN, WRITTEN}, {BUFFER, 0}},
	{CALL(sched_getscheduler), {PID}, {0}},
	{CALL(sched_getscheduler), {FIXED}, {-1}},
	{CALL(sched_setscheduler), {PID, WHICH, READ}, {0, 0, (long)times}},
	{CALL(sched_setscheduler), {FIXED, FIXED, FIXED}, {0, 0, 0}},
	{CALL(sched_setscheduler), {FIXED, FIXED, FIXED}, {0, 1, (long)times}},
	{CALL(sched_getparam), {PID, WRITTEN}, {0, BUFFER}},
	{CALL(sched_getparam), {FIXED, FIXED}, {0, 0}},
	{CALL(sched_setparam), {PID, READ}, {0, (long)times}},
	{CALL(sched_setparam), {FIXED, FIXED}, {-1, (long)times}},
	{CALL(sched_get_priority_max), {WHICH}, {0}},
	{CALL(sched_get_priority_max), {FIXED}, {1}},
	{CALL(sched_get_priority_min), {WHICH}, {0}},
	{CALL(sched_get_priority_min), {FIXED}, {4}},
	{CALL(sched_rr_get_interval), {PID, WRITTEN}, {0, BUFFER}},
	{CALL(sched_rr_get_interval), {FIXED, FIXED}, {-1, BUFFER}},
	{CALL(sched_setaffinity), {PID, FIXED, READ}, {0, 128, (long)all_cores}},
	{CALL(sched_setaffinity), {FIXED, FIXED, FIXED}, {0, 128, (long)no_cores}},
	{CALL(sched_setaffinity), {FIXED, FIXED, FIXED}, {0, 0, (long)all_cores}},
	{CALL(sched_getaffinity), {PID, FIXED, FIXED}, {0, 128, BUFFER}},
	{CALL(getpriority), {WHICH, PID}, {0, 0}},
	{CALL(setpriority), {WHICH, PID, FIXED}, {0, 0, 0}},
	{CALL(membarrier), {WHICH, FLAGS}, {0, 0}},
	{CALL(setgroups), {COUNT, FIXED}, {0, 0}},
	{CALL(prctl), {WHICH, FIXED}, {3, 0}},
	{CALL(prctl), {FIXED, READ}, {15, (long)"thread"}},
	{CALL(prctl), {FIXED, WRITTEN}, {16, BUFFER}},
	{CALL(prctl), {FIXED, WRITTEN}, {2, BUFFER}},
	{CALL(prctl), {FIXED, FIXED}, {1, 99}},
	/* timers: there is none */
	{CALL(timer_create), {WHICH, READ, FIXED}, {1, (long)no_event, BUFFER}},
	{CALL(timer_settime), {WHICH, FIXED, READ, FIXED}, {99, 0, (long)spans, 0}},
	{CALL(timer_gettime), {WHICH, FIXED}, {99, BUFFER}},
	{CALL(timer_getoverrun), {WHICH}, {99}},
	{CALL(timer_delete), {WHICH}, {99}},
	/* events */
	{CALL(eventfd2), {FIXED, FLAGS}, {0, 0}},
	{CALL(timerfd_create), {WHICH, FLAGS}, {1, 0}},
	{CALL(timerfd_settime), {DESCRIPTOR, FLAGS, READ, WRITTEN}, {A_TIMER, 0, (long)spans, 0}},
	{CALL(timerfd_settime), {FIXED, FIXED, FIXED, FIXED}, {A_COUNT, 0, (long)spans, 0}},
	{CALL(timerfd_settime), {FIXED, FIXED, FIXED, FIXED}, {A_TIMER, 0, (long)no_spans, 0}},
	{CALL(timerfd_settime), {FIXED, FIXED, FIXED, FIXED}, {A_FILE, 0, (long)spans, 0}},
	{CALL(timerfd_gettime), {DESCRIPTOR, WRITTEN}, {A_TIMER, BUFFER}},
	{CALL(signalfd4), {FIXED, READ, WHICH, FLAGS}, {-1, (long)times, 8, 0}},
	{CALL(signalfd4), {FIXED, FIXED, FIXED, FIXED}, {A_FILE, (long)times, 8, 0}},
	{CALL(signalfd4), {FIXED, FIXED, FIXED, FIXED}, {77, (long)times, 8, 0}},
	{CALL(epoll_create1), {FLAGS}, {0}},
	{CALL(epoll_ctl), {DESCRIPTOR, WHICH, DESCRIPTOR, READ},
		{A_LIST, 1, A_COUNT, (long)times}},
	{CALL(epoll_ctl), {FIXED, FIXED, FIXED, FIXED}, {A_LIST, 1, A_FILE, (long)times}},
	{CALL(epoll_ctl), {FIXED, FIXED, FIXED, FIXED}, {A_LIST, 1, A_LIST, (long)times}},
	{CALL(epoll_ctl), {FIXED, FIXED, FIXED, FIXED}, {A_PIPE, 1, A_COUNT, (long)times}},
	{CALL(epoll_ctl), {FIXED, FIXED, FIXED, FIXED}, {A_LIST, 2, A_STREAM, (long)times}},
	{CALL(epoll_pwait), {DESCRIPTOR, FIXED, FIXED, FIXED, READ, FIXED},
		{A_LIST, BUFFER, 2, 0, 0, 8}},
	{CALL(epoll_pwait), {FIXED, FIXED, WHICH, FIXED, FIXED, FIXED},
		{A_COUNT, BUFFER, 2, 0, 0, 8}},
	{CALL(epoll_pwait), {FIXED, FIXED, FIXED, FIXED, FIXED, FIXED},
		{A_LIST, BUFFER, -1, 0, 0, 8}},
	{CALL(epoll_pwait2), {DESCRIPTOR, FIXED, FIXED, READ, FIXED, FIXED},
		{A_LIST, BUFFER, 2, (long)times, 0, 8}},
	{CALL(read), {FIXED, FIXED, FIXED}, {A_TIMER, BUFFER, 8}},
	{CALL(read), {FIXED, FIXED, FIXED}, {A_COUNT, BUFFER, 7}},
	{CALL(read), {FIXED, FIXED, FIXED}, {A_LIST, BUFFER, 8}},
	{CALL(write), {FIXED, FIXED, FIXED}, {A_TIMER, BUFFER, 8}},
	{CALL(ftruncate), {FIXED, FIXED}, {A_COUNT, 0}},
	{CALL(execve), {READ, FIXED, FIXED}, {(long)"nothing", 0, 0}},
};

static const long *
wrong_values(enum kind kind)
{
	switch (kind) {
	case DESCRIPTOR: return wrong_descriptors;
	case PATH: return wrong_paths;
	case FLAGS: return wrong_flags;
	case COUNT: return wrong_counts;
	case WHICH: return wrong_choices;
	case OFFSET: return wrong_offsets;
	case ADDRESS: return wrong_addresses;
	case PID: return wrong_pids;
	case READ: return wrong_reads;
	case WRITTEN: return wrong_writes;
	case DATA: return wrong_data;
	default: return none;
	}
}

/* What stands in the table for something that is known only now. */
static long
meant(enum kind kind, long value)
{
	switch (value) {
	case A_FILE: return kind == DESCRIPTOR || kind == FIXED ? file : value;
	case A_FOLDER: return kind == DESCRIPTOR || kind == FIXED ? folder : value;
	case A_PIPE: return ends[0];
	case A_PIPE_IN: return ends[1];
	case A_FULL: return full;
	case A_ROOT: return root;
	case A_PAGE: return (long)page;
	case A_SOCKET: return sock;
	case A_STREAM: return stream;
	case A_CONNECTION: return connection[0];
	case A_QUEUE: return queue;
	case A_COUNT: return count;
	case A_TIMER: return timer;
	case A_LIST: return list;
	case A_HOLE: return (long)hole;
	case A_HOLE + 1: return (long)hole - 3;
	case A_HOLE + 2: return (long)constant + PAGE - 3;
	case A_CONSTANT: return (long)constant;
	default: return value;
	}
}

static void
try(const struct row *r, const long *a, int at, long wrong)
{
	long result = syscall(r->number, a[0], a[1], a[2], a[3], a[4], a[5]);
	int error = errno;

	if (result == 0 && (r->number == SYS_mknodat || r->number == SYS_symlinkat))
		unlink((const char *)a[r->number == SYS_mknodat ? 1 : 2]);
	if (result == 0 && r->number == SYS_mkdirat)
		rmdir((const char *)a[1]);
	if (result == 0 && r->number == SYS_chdir && fchdir(folder) != 0)
		_exit(1);
	if (at < 0)
		printf("%s: ", r->name);
	else
		printf("%s, argument %d is %ld: ", r->name, at, wrong);
	/* numbers that are free, and times, are others */
	printf("%s\n", result == -1 ? strerror(error) : "done");
}

static void
try_row(const struct row *r)
{
	long right[ARGS], a[ARGS];

	for (int i = 0; i < ARGS; i++)
		right[i] = meant(r->kind[i], r->value[i]);
	try(r, right, -1, 0);
	for (int i = 0; i < ARGS; i++)
		for (const long *w = wrong_values(r->kind[i]); *w != END; w++) {
			memcpy(a, right, sizeof(a));
			a[i] = r->kind[i] == PATH ? (long)paths[*w] :
				r->kind[i] == ADDRESS ? (long)page + *w : meant(NONE, *w);
			try(r, a, i, *w);
		}
}

/* Pages of which each has other rights; the third of `hole` is nobody's. */
static bool
map_all(void)
{
	char *p = mmap(NULL, 8 * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (p == MAP_FAILED)
		return false;
	memset(p, 'x', 8 * PAGE);
	page = p;
	hole = p + 2 * PAGE;
	constant = p + 4 * PAGE;
	return munmap(hole, PAGE) == 0 && munmap(constant + PAGE, PAGE) == 0 &&
		mprotect(constant, PAGE, PROT_READ) == 0;
}

/* The queue's name is gone at once, so that nothing of it is left. */
static bool
make_sockets(void)
{
	struct mq_attr a = {.mq_maxmsg = 2, .mq_msgsize = 100};
	char name[32];

	snprintf(name, sizeof(name), "/errnos-%d", getpid());
	sock = socket(AF_UNIX, SOCK_DGRAM, 0);
	stream = socket(AF_UNIX, SOCK_STREAM, 0);
	count = eventfd(0, EFD_NONBLOCK);
	timer = timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK);
	list = epoll_create1(0);
	queue = mq_open(name, O_RDWR | O_CREAT | O_EXCL | O_NONBLOCK, 0600, &a);
	return sock >= 0 && stream >= 0 && count >= 0 && timer >= 0 && list >= 0 &&
		queue >= 0 && mq_unlink(name) == 0 &&
		socketpair(AF_UNIX, SOCK_STREAM, 0, connection) == 0;
}

/* A list of mutexes that lies nowhere, or whose entries do, ends nobody in another way. */
static void
lists_nowhere(void)
{
	uint64_t head[3] = {8, 0, (uint64_t)hole};
	const long lists[] = {8, (long)hole, (long)hole - 8, (long)head};

	fflush(stdout);
	for (unsigned i = 0; i < sizeof(lists) / sizeof(lists[0]); i++) {
		int status = -1;
		pid_t pid = fork();

		if (pid == 0) {
			syscall(SYS_set_robust_list, lists[i], sizeof(head));
			_exit(3);
		}
		waitpid(pid, &status, 0);
		printf("a list nowhere: %d\n", status);
	}
}

int
main(void)
{
	setvbuf(stdout, NULL, _IOLBF, 0);
	memset(long_name, 'x', sizeof(long_name) - 1);
	mkdir("tried", 0755);
	if (chdir("tried") != 0)
		return 1;
	mkdir("folder", 0755);
	file = open("file", O_RDWR | O_CREAT, 0644);
	folder = open(".", O_RDONLY | O_DIRECTORY);
	root = open("/", O_RDONLY | O_DIRECTORY);
	full = open("full", O_RDWR | O_CREAT, 0644);
	if (file < 0 || write(full, page_text, sizeof(page_text)) != sizeof(page_text) ||
		lseek(full, 0, SEEK_SET) != 0 || folder < 0 || pipe(ends) != 0)
		return 1;
	if (!map_all() || !make_sockets())
		return 1;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		try_row(&rows[i]);
	lists_nowhere();
	printf("ok errnos\n");
	return 0;
}
