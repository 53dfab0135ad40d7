/* SPDX-License-Identifier: MIT
 *
 * The file server of cluster 1 has what is below /n/1, and the one of cluster 2 what is below /n/2
 * (run --tree): names lead from one to the other as in one tree, descriptors of all of them are
 * used together and by children, in the cluster and in others, and the end of one server is the end
 * of what was open there, and of nothing else. The last rank does this.
 * usage: parts [share], where it is /parts, too; /share is a folder of the host, with links
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>
#include <atoll/kcalls.h>
#include <servers/proc/client.h>
#include "expect.h"

#define BIT 9
#define PAGE 4096
#define HOME 1				/* the cluster whose server ends */

static struct channel there;		/* to the process server of that cluster */

static void
kill_server(void)
{
	int lives = process_server(&there, PROCESS_FILE_SERVER, SIGKILL);

	expect(lives > 0, 1, "kill the file server of a part");
	while (process_server(&there, PROCESS_FILE_SERVER, 0) <= lives)
		kthread_yield();
}

static void
fails(long result, int error, const char *what)
{
	expect(result, -1, what);
	expect(result == -1 ? errno : 0, error, what);
}

static void
put(const char *path, const char *text)
{
	int fd = open(path, O_RDWR | O_CREAT | O_TRUNC, 0600);

	expect(fd >= 0, 1, path);
	expect(write(fd, text, strlen(text)), (long)strlen(text), path);
	expect(close(fd), 0, path);
}

static void
holds(const char *path, const char *text)
{
	char have[64] = "";
	int fd = open(path, O_RDONLY);

	expect(fd >= 0 ? 0 : errno, 0, path);
	expect(read(fd, have, sizeof(have) - 1), (long)strlen(text), path);
	expect(strcmp(have, text), 0, path);
	close(fd);
}

static void
cwd_is(const char *path)
{
	char have[256] = "";

	expect(getcwd(have, sizeof(have)) != NULL, 1, path);
	expect(strcmp(have, path), 0, path);
}

/* --- names --- */

static void
use_names(void)
{
	struct stat s, root, other;

	put("/n/1/a", "one");
	put("/n/2/a", "two");
	put("/tmp/a", "root");
	expect(chdir("/n/1"), 0, "chdir");
	cwd_is("/n/1");
	holds("a", "one");
	holds("../2/a", "two");
	holds("../../tmp/a", "root");
	holds("/n/2/../1/./a", "one");
	holds("//n//2/a", "two");
	expect(mkdir("d", 0700), 0, "mkdir");
	expect(chdir("d/../d/.."), 0, "chdir");
	cwd_is("/n/1");
	expect(chdir("d"), 0, "chdir");
	cwd_is("/n/1/d");
	holds("../../2/a", "two");
	expect(chdir("../.."), 0, "chdir");
	cwd_is("/n");
	holds("1/a", "one");
	fails(open("1/none/../../2/a", O_RDONLY), ENOENT, "a directory that is not there");
	fails(open("1/a/..", O_RDONLY), ENOTDIR, "a file is no directory");
	expect(chdir("/"), 0, "chdir");
	expect(stat("/n/1", &s) == 0 && stat("/n", &root) == 0 && stat("/n/2/a", &other) == 0, 1,
		"stat");
	expect(s.st_dev != root.st_dev && s.st_dev != other.st_dev, 1, "devices");
	expect(S_ISDIR(s.st_mode), 1, "a place is a directory");
	fails(rename("/n/1/a", "/n/2/b"), EXDEV, "rename to another server");
	fails(rename("/tmp/a", "/n/1/b"), EXDEV, "rename to another server");
	fails(link("/n/1/a", "/tmp/b"), EXDEV, "link to another server");
	fails(rmdir("/n/1"), EBUSY, "remove a place");
	fails(rename("/n/1", "/n/3"), EXDEV, "rename a place");
	fails(rename("/n", "/m"), EBUSY, "rename what has places");
	fails(mkdir("/n/1", 0700), EEXIST, "make a place");
	expect(rename("/n/1/a", "/n/1/d/../b"), 0, "rename there");
	expect(link("/n/1/b", "/n/1/a"), 0, "link there");
	expect(unlink("/n/1/b") == 0 && rmdir("/n/1/d") == 0, 1, "remove there");
}

/* Symbolic links from one part to the other, in circles, too; and a pipe with a name. */
static void
use_links(void)
{
	char c = 0;
	int fd;

	put("/n/1/b", "far");
	expect(symlink("/n/1/b", "/tmp/to"), 0, "a link to a part");
	expect(symlink("/n/1", "/tmp/dir"), 0, "a link to a place");
	expect(symlink("../../tmp/a", "/n/1/root"), 0, "a link from a part");
	expect(symlink("../2/a", "/n/1/other"), 0, "a link to another part");
	holds("/tmp/to", "far");
	holds("/tmp/dir/b", "far");
	holds("/tmp/dir/root", "root");
	holds("/tmp/dir/other", "two");
	holds("/n/2/../1/other", "two");
	expect(chdir("/tmp/dir"), 0, "chdir");
	cwd_is("/n/1");
	expect(chdir("/"), 0, "chdir");
	expect(rename("/n/1/b", "/tmp/dir/c"), 0, "rename through a link");
	fails(rename("/tmp/dir/c", "/tmp/c"), EXDEV, "rename to another server");
	expect(link("/tmp/dir/c", "/n/1/b"), 0, "link through a link");
	expect(symlink("/n/1/circle", "/tmp/circle"), 0, "a circle");
	expect(symlink("/tmp/circle", "/n/1/circle"), 0, "a circle");
	fails(open("/tmp/circle", O_RDONLY), ELOOP, "a circle");
	fails(open("/n/1/circle", O_CREAT | O_WRONLY, 0600), ELOOP, "a circle");
	expect(mkfifo("/tmp/dir/pipe", 0600), 0, "a pipe with a name");
	fd = open("/n/1/pipe", O_RDWR);
	expect(write(fd, "x", 1) == 1 && read(fd, &c, 1) == 1 && c == 'x', 1, "its ends");
	close(fd);
	expect(unlink("/tmp/to") == 0 && unlink("/tmp/dir") == 0 && unlink("/n/1/root") == 0 &&
		unlink("/n/1/other") == 0 && unlink("/n/1/b") == 0 && unlink("/n/1/c") == 0 &&
		unlink("/tmp/circle") == 0 && unlink("/n/1/circle") == 0 &&
		unlink("/n/1/pipe") == 0, 1, "remove them");
}

/* What a directory lists, without dots. */
static int
entries(const char *path)
{
	DIR *d = opendir(path);
	struct dirent *e;
	int n = 0;

	expect(d != NULL, 1, path);
	while (d != NULL && (e = readdir(d)) != NULL)
		n += e->d_name[0] != '.';
	if (d != NULL)
		closedir(d);
	return n;
}

static void
use_directories(void)
{
	int dir = open("/n/1", O_RDONLY | O_DIRECTORY), fd;
	char text[512] = "";

	expect(entries("/n"), 2, "places are listed");
	expect(entries("/n/1"), 1, "what a part has");
	fd = open("/proc/mounts", O_RDONLY);
	expect(read(fd, text, sizeof(text) - 1) > 0, 1, "/proc/mounts");
	expect(strstr(text, "\nmemory / ") == NULL && strstr(text, "\ncluster1 /n/1 ") != NULL &&
		strstr(text, "\ncluster2 /n/2 ") != NULL, 1, "/proc/mounts");
	close(fd);
	fd = openat(dir, "../2/a", O_RDONLY);
	expect(fd >= 0, 1, "from a directory of a part to another part");
	close(fd);
	expect(fchdir(dir), 0, "fchdir");
	cwd_is("/n/1");
	close(dir);
	expect(chdir("/"), 0, "chdir");
}

static void
refuse_sockets(void)
{
	struct sockaddr_un at = {.sun_family = AF_UNIX, .sun_path = "/n/1/socket"};
	int s = socket(AF_UNIX, SOCK_STREAM, 0);

	fails(bind(s, (struct sockaddr *)&at, sizeof(at)), EPERM, "the name of a socket");
	fails(connect(s, (struct sockaddr *)&at, sizeof(at)), ECONNREFUSED, "nobody there");
	close(s);
}

/* --- descriptors --- */

/* 3: of the leader's server, 4: of a part, 5: of the other, 6: a pipe to write to. */
static int
be_child(void)
{
	char text[4] = "";
	struct stat s;

	for (int fd = 3; fd < 6; fd++)
		if (read(fd, text, 1) != 1 || write(fd, "c", 1) != 1 || fstat(fd, &s) != 0)
			return fd;
	return write(6, "done", 4) == 4 ? 7 : 1;
}

static void
expect_child(pid_t pid, const int *fds, int pipe_end)
{
	char text[8] = "";
	int status = 0;

	expect(pid > 0, 1, "a child");
	expect(waitpid(pid, &status, 0), pid, "its end");
	expect(WIFEXITED(status) ? WEXITSTATUS(status) : -1, 7, "what it has found");
	expect(read(pipe_end, text, 4), 4, "what it has said");
	for (int i = 0; i < 3; i++)
		expect(lseek(fds[i], 0, SEEK_CUR), 2, "an offset that two share");
}

static void
share_with_children(void)
{
	static const char *const path[] = {"/tmp/f", "/n/1/f", "/n/2/f"};
	char *const args[] = {"parts", "child", NULL};
	int fds[3], ends[2];
	pid_t pid;

	for (int i = 0; i < 3; i++) {
		put(path[i], "abcd");
		fds[i] = open(path[i], O_RDWR);
		expect(fds[i], 3 + i, path[i]);
	}
	expect(pipe(ends), 0, "a pipe");
	expect(dup2(ends[1], 20), 20, "its end");
	close(ends[1]);
	expect(dup2(ends[0], 21), 21, "its end");
	close(ends[0]);
	expect(dup2(20, 6), 6, "where a child expects it");
	pid = fork();
	if (pid == 0)
		_exit(be_child());
	expect_child(pid, fds, 21);
	for (int i = 0; i < 3; i++)
		lseek(fds[i], 0, SEEK_SET);
	expect(posix_spawn(&pid, "/proc/self/exe", NULL, NULL, args, args + 2), 0, "spawn");
	expect_child(pid, fds, 21);
	for (int fd = 3; fd < 7; fd++)
		close(fd);
	for (int i = 0; i < 3; i++) {
		holds(path[i], "accd");
		unlink(path[i]);
	}
	close(20);
	close(21);
}

static void
poll_together(void)
{
	struct pollfd p[2] = {{.events = POLLIN}, {.events = POLLIN}};
	int ends[2], fd = open("/n/1/a", O_RDONLY);
	pid_t pid;
	char c;

	expect(pipe(ends), 0, "a pipe");
	p[0].fd = fd;
	p[1].fd = ends[0];
	expect(poll(p, 2, -1), 1, "a file is ready");
	expect(p[0].revents, POLLIN, "a file is ready");
	pid = fork();
	if (pid == 0)
		_exit(pread(fd, &c, 1, 0) == 1 && write(ends[1], &c, 1) == 1 ? 0 : 1);
	expect(poll(p + 1, 1, -1), 1, "a pipe beside files of a part");
	expect(read(ends[0], &c, 1) == 1 && c == 'o', 1, "what was read there");
	waitpid(pid, NULL, 0);
	close(ends[0]);
	close(ends[1]);
	close(fd);
}

static void
send_none(void)
{
	union {
		struct cmsghdr head;
		char room[CMSG_SPACE(sizeof(int))];
	} control = {.head = {.cmsg_len = CMSG_LEN(sizeof(int)), .cmsg_level = SOL_SOCKET,
		.cmsg_type = SCM_RIGHTS}};
	struct iovec part = {"x", 1};
	struct msghdr m = {.msg_iov = &part, .msg_iovlen = 1, .msg_control = &control,
		.msg_controllen = sizeof(control)};
	int pair[2], fd = open("/n/1/a", O_RDONLY);

	expect(socketpair(AF_UNIX, SOCK_STREAM, 0, pair), 0, "sockets");
	memcpy(CMSG_DATA(&control.head), &fd, sizeof(fd));
	fails(sendmsg(pair[0], &m, 0), EXDEV, "a descriptor of a part in a message");
	close(pair[0]);
	close(pair[1]);
	close(fd);
}

static void
map_shared(void)
{
	int fd = open("/n/1/m", O_RDWR | O_CREAT, 0600), status = -1;
	volatile char *m;
	pid_t pid;
	char c = 0;

	expect(ftruncate(fd, PAGE), 0, "a size");
	m = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	expect(m != MAP_FAILED, 1, "map it");
	m[0] = 1;
	pid = fork();
	if (pid == 0) {
		m[1] = 2;
		_exit(m[0]);
	}
	expect(waitpid(pid, &status, 0), pid, "its end");
	expect(WEXITSTATUS(status), 1, "what it has found");
	expect(pread(fd, &c, 1, 1) == 1 && c == 2, 1, "what is mapped is the file");
	kill_server();
	m[2] = 3;
	close(fd);
	fd = open("/n/1/m", O_RDONLY);
	expect(pread(fd, &c, 1, 2) == 1 && c == 3, 1, "and that of the next server");
	close(fd);
	munmap((void *)m, PAGE);
	unlink("/n/1/m");
}

/* --- a program --- */

static void
copy_program(const char *to)
{
	static char text[65536];
	int from = open("/parts", O_RDONLY), fd = open(to, O_WRONLY | O_CREAT, 0700);
	ssize_t n;

	while ((n = read(from, text, sizeof(text))) > 0)
		expect(write(fd, text, (size_t)n), n, "a program is copied");
	expect(n, 0, "read a program");
	close(from);
	close(fd);
}

static void
run_program(void)
{
	char *const args[] = {"parts", "nothing", NULL};
	int status = -1;
	pid_t pid = -1;

	copy_program("/n/1/program");
	expect(posix_spawn(&pid, "/n/1/program", NULL, NULL, args, args + 2), 0, "spawn");
	expect(waitpid(pid, &status, 0), pid, "its end");
	expect(WEXITSTATUS(status), 9, "a program that a part has");
	unlink("/n/1/program");
}

/* --- a server ends --- */

/* Who waits for something else does not hear of it. */
static pid_t
begin_waiter(const int *ends)
{
	pid_t pid = fork();
	char c;

	if (pid != 0)
		return pid;
	close(ends[1]);
	_exit(read(ends[0], &c, 1) == 1 ? 8 : errno);
}

static void
end_one(void)
{
	int own = open("/n/1/a", O_RDWR), other = open("/n/2/a", O_RDWR),
		root = open("/tmp/a", O_RDWR), ends[2], status = -1;
	pid_t waiter, pid;
	char c;

	expect(pipe(ends), 0, "a pipe");
	waiter = begin_waiter(ends);
	kill_server();
	fails(read(own, &c, 1), EIO, "what was open there is lost");
	expect(read(other, &c, 1) == 1 && read(root, &c, 1) == 1, 1, "all else is not");
	holds("/n/1/a", "one");
	holds("/n/2/a", "two");
	pid = fork();
	if (pid == 0)
		_exit(read(own, &c, 1) == -1 && errno == EIO && read(other, &c, 1) == 1 ? 7 : 1);
	expect(waitpid(pid, &status, 0), pid, "its end");
	expect(WEXITSTATUS(status), 7, "what it has found");
	kill_server();
	expect(read(root, &c, 1), 1, "a request that the server of a part does not see");
	fails(mkdir("/n/1/d", 0700), EIO, "what changes something there");
	expect(mkdir("/n/1/d", 0700) == 0 && rmdir("/n/1/d") == 0, 1, "the next request");
	kill_server();
	pid = fork();
	if (pid == 0)
		_exit(read(own, &c, 1) == -1 && errno == EIO ? 7 : 1);
	expect(pid > 0 || errno == EIO, 1, "fork hears of it at most once");
	if (pid > 0)
		waitpid(pid, NULL, 0);
	expect(write(ends[1], "x", 1), 1, "the pipe is there");
	expect(waitpid(waiter, &status, 0), waiter, "the end of who waits");
	expect(WEXITSTATUS(status), 8, "who waits has heard of nothing");
	expect(close(own), 0, "close what is lost");
	close(other);
	close(root);
	close(ends[0]);
	close(ends[1]);
}

/* --- folders of the host --- */

static void
follow_links(void)
{
	struct stat s;

	put("/n/1/b", "far");
	expect(symlink("/n/1/b", "/share/link"), 0, "a link to a part");
	expect(symlink("../n/1", "/share/dir"), 0, "a link to a place");
	holds("/share/link", "far");
	holds("/share/dir/b", "far");
	holds("/n/1/../../share/dir/../1/b", "far");
	expect(stat("/share/link", &s) == 0 && s.st_size == 3, 1, "stat");
	expect(lstat("/share/link", &s) == 0 && S_ISLNK(s.st_mode), 1, "the link itself");
	expect(chdir("/share"), 0, "chdir");
	holds("../n/1/b", "far");
	expect(chdir("dir"), 0, "chdir");
	cwd_is("/n/1");
	expect(symlink("b", "../../share/back"), 0, "a link that is made from a part");
	expect(chdir("/"), 0, "chdir");
	fails(rename("/share/link", "/n/1/l"), EXDEV, "rename to a part");
	expect(unlink("/share/link") == 0 && unlink("/share/dir") == 0 &&
		unlink("/share/back") == 0, 1, "remove the links");
	holds("/n/1/b", "far");
	unlink("/n/1/b");
}

int
main(int argc, char **argv)
{
	const char *what = argc > 1 ? argv[1] : "";

	if (strcmp(what, "child") == 0)
		return be_child();
	if (strcmp(what, "nothing") == 0)
		return 9;
	if (atoll_startup()->rank != atoll_startup()->ranks - 1)
		return 0;
	expect(process_open(&there, HOME, BIT), 0, "open a channel");
	use_names();
	use_links();
	use_directories();
	refuse_sockets();
	share_with_children();
	poll_together();
	send_none();
	map_shared();
	run_program();
	end_one();
	if (strcmp(what, "share") == 0)
		follow_links();
	unlink("/n/1/a");
	unlink("/n/2/a");
	unlink("/tmp/a");
	return verdict();
}
