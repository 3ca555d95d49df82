/* Faults for tests, preloaded into a command: counts the calls that change files, and at a given
 * call kills the process or lets the call fail as on a full disk.
 *
 * RANKWRIGHT_FAULT_AT=N     the call, from 1
 * RANKWRIGHT_FAULT=kill     kills the process before that call (default)
 * RANKWRIGHT_FAULT=full     that call and all later ones that need space fail with ENOSPC
 * RANKWRIGHT_FAULT_COUNT=F  writes the number of calls to the file F at exit
 * RANKWRIGHT_FAULT_NAMED=1  the file system has no files without a name (O_TMPFILE)
 *
 * All variants of a call count, such as open, openat and open64. A system call that is made without
 * the C library does not count.
 *
 * Standard input, output and error, pipes and devices do not count. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

static atomic_long calls;
static long fault_at;
static int full;
static int named;
static const char *count_file;

__attribute__((constructor)) static void start(void) {
    const char *at = getenv("RANKWRIGHT_FAULT_AT");
    const char *kind = getenv("RANKWRIGHT_FAULT");
    fault_at = at ? atol(at) : 0;
    full = kind && strcmp(kind, "full") == 0;
    named = getenv("RANKWRIGHT_FAULT_NAMED") != NULL;
    count_file = getenv("RANKWRIGHT_FAULT_COUNT");
}

__attribute__((destructor)) static void finish(void) {
    if (!count_file) return;
    FILE *out = fopen(count_file, "w");
    if (!out) return;
    fprintf(out, "%ld\n", (long)calls);
    fclose(out);
}

/* Counts this call and returns whether it must fail; kills the process if that is the fault.
 * `needs_space` is whether a full disk lets the call fail. */
static int is_hit(int needs_space) {
    long number = atomic_fetch_add(&calls, 1) + 1;
    if (!fault_at || number < fault_at) return 0;
    if (full) return needs_space;
    if (number == fault_at) kill(getpid(), SIGKILL);
    return 0;
}

static int is_file(int fd) {
    struct stat meta;
    return fd > 2 && fstat(fd, &meta) == 0 && S_ISREG(meta.st_mode);
}

#define REAL(name) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))
#define FULL_DISK(needs_space) \
    if (is_hit(needs_space)) { errno = ENOSPC; return -1; }

/* Whether an open with these flags must fail: counts it if it makes a file, and refuses files without
 * a name if RANKWRIGHT_FAULT_NAMED is set. */
static int refuses(int flags) {
    if ((flags & O_TMPFILE) == O_TMPFILE && named) { errno = EOPNOTSUPP; return 1; }
    int makes = (flags & O_CREAT) || (flags & O_TMPFILE) == O_TMPFILE;
    if (makes && is_hit(1)) { errno = ENOSPC; return 1; }
    return 0;
}

int open(const char *path, int flags, ...) {
    va_list rest;
    va_start(rest, flags);
    mode_t mode = va_arg(rest, mode_t);
    va_end(rest);
    if (refuses(flags)) return -1;
    return REAL(open)(path, flags, mode);
}

int open64(const char *path, int flags, ...) {
    va_list rest;
    va_start(rest, flags);
    mode_t mode = va_arg(rest, mode_t);
    va_end(rest);
    if (refuses(flags)) return -1;
    return REAL(open64)(path, flags, mode);
}

int openat(int folder, const char *path, int flags, ...) {
    va_list rest;
    va_start(rest, flags);
    mode_t mode = va_arg(rest, mode_t);
    va_end(rest);
    if (refuses(flags)) return -1;
    return REAL(openat)(folder, path, flags, mode);
}

int openat64(int folder, const char *path, int flags, ...) {
    va_list rest;
    va_start(rest, flags);
    mode_t mode = va_arg(rest, mode_t);
    va_end(rest);
    if (refuses(flags)) return -1;
    return REAL(openat64)(folder, path, flags, mode);
}

ssize_t write(int fd, const void *bytes, size_t length) {
    if (is_file(fd)) FULL_DISK(1)
    return REAL(write)(fd, bytes, length);
}

ssize_t writev(int fd, const struct iovec *parts, int count) {
    if (is_file(fd)) FULL_DISK(1)
    return REAL(writev)(fd, parts, count);
}

ssize_t pwrite(int fd, const void *bytes, size_t length, off_t at) {
    if (is_file(fd)) FULL_DISK(1)
    return REAL(pwrite)(fd, bytes, length, at);
}

ssize_t pwrite64(int fd, const void *bytes, size_t length, off64_t at) {
    if (is_file(fd)) FULL_DISK(1)
    return REAL(pwrite64)(fd, bytes, length, at);
}

int fsync(int fd) {
    FULL_DISK(0)
    return REAL(fsync)(fd);
}

int fdatasync(int fd) {
    FULL_DISK(0)
    return REAL(fdatasync)(fd);
}

int ftruncate(int fd, off_t length) {
    FULL_DISK(1)
    return REAL(ftruncate)(fd, length);
}

int ftruncate64(int fd, off64_t length) {
    FULL_DISK(1)
    return REAL(ftruncate64)(fd, length);
}

int rename(const char *from, const char *to) {
    FULL_DISK(0)
    return REAL(rename)(from, to);
}

int renameat(int from_dir, const char *from, int to_dir, const char *to) {
    FULL_DISK(0)
    return REAL(renameat)(from_dir, from, to_dir, to);
}

int renameat2(int from_dir, const char *from, int to_dir, const char *to, unsigned int flags) {
    FULL_DISK(0)
    return REAL(renameat2)(from_dir, from, to_dir, to, flags);
}

int link(const char *from, const char *to) {
    FULL_DISK(1)
    return REAL(link)(from, to);
}

int linkat(int from_dir, const char *from, int to_dir, const char *to, int flags) {
    FULL_DISK(1)
    return REAL(linkat)(from_dir, from, to_dir, to, flags);
}

int unlink(const char *path) {
    FULL_DISK(0)
    return REAL(unlink)(path);
}

int unlinkat(int folder, const char *path, int flags) {
    FULL_DISK(0)
    return REAL(unlinkat)(folder, path, flags);
}

int rmdir(const char *path) {
    FULL_DISK(0)
    return REAL(rmdir)(path);
}

int mkdirat(int folder, const char *path, mode_t mode) {
    FULL_DISK(1)
    return REAL(mkdirat)(folder, path, mode);
}

int mkdir(const char *path, mode_t mode) {
    FULL_DISK(1)
    return REAL(mkdir)(path, mode);
}
