/* Preloaded into a program, it writes down what the program does to the files of one folder.

   POWER_FOLDER  the folder; files anywhere below it are recorded
   POWER_MARKS   a file of its own: what is written to it is a mark in the record, and no write
   POWER_TRACE   the record: a header as in `struct entry`, then `length` bytes, again and again

   A call that changes a file is made and recorded under one lock, so the record has the order in
   which the system saw the calls. A sync takes its time and is recorded twice, at its begin and at
   its end: what is written meanwhile may or may not be part of it. A sync of the file system is
   recorded only: what other programs have written would take its time. */

#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

struct entry {
    uint32_t kind;
    int32_t file; /* of an opening: the number that what follows calls it by */
    uint64_t offset;
    uint64_t length;
};

enum { CREATED = 1, TRUNCATED = 2, SYNCED = 4 }; /* of an opening, as its offset */

#define FILES 65536
#define PIECES 256
static int32_t file_of[FILES]; /* by descriptor; 0: none of ours */
static int32_t last_file;
static int trace = -1;
static const char *folder, *marks;
static size_t folder_length;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

#define REAL(name) \
    static __typeof__(&name) real; \
    if (!real) real = (__typeof__(&name)) dlsym(RTLD_NEXT, #name)

/* Makes a call, and records it. */
#define CHANGE(not_ours, call, recorded) \
    if (not_ours) return call; \
    pthread_mutex_lock(&lock); \
    int result = call; \
    if (result == 0) recorded; \
    pthread_mutex_unlock(&lock); \
    return result;

static void die(const char *why) {
    fprintf(stderr, "record.c: %s\n", why);
    abort();
}

__attribute__((constructor)) static void start(void) {
    static __typeof__(&open) real_open;
    real_open = (__typeof__(&open)) dlsym(RTLD_NEXT, "open");
    const char *path = getenv("POWER_TRACE");
    folder = getenv("POWER_FOLDER");
    marks = getenv("POWER_MARKS");
    if (!path || !folder || !marks) return;
    folder_length = strlen(folder);
    trace = real_open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
    if (trace < 0) die("cannot write the record");
}

static void record(uint32_t kind, int32_t file, uint64_t offset, const struct iovec *data,
                   int count, uint64_t length) {
    static ssize_t (*real_writev)(int, const struct iovec *, int);
    if (!real_writev)
        real_writev = (ssize_t(*)(int, const struct iovec *, int)) dlsym(RTLD_NEXT, "writev");
    struct entry entry = {kind, file, offset, length};
    struct iovec parts[1 + PIECES];
    parts[0].iov_base = &entry;
    parts[0].iov_len = sizeof entry;
    int used = 1;
    uint64_t left = length;
    for (int i = 0; i < count && left; i++) {
        size_t size = data[i].iov_len < left ? data[i].iov_len : left;
        if (used > PIECES) die("too many pieces");
        parts[used].iov_base = data[i].iov_base;
        parts[used++].iov_len = size;
        left -= size;
    }
    if (real_writev(trace, parts, used) != (ssize_t)(sizeof entry + length))
        die("the record is not whole");
}

static void record_text(uint32_t kind, int32_t file, uint64_t offset, const char *text) {
    struct iovec data = {(void *)text, strlen(text)};
    record(kind, file, offset, &data, 1, data.iov_len);
}

static int32_t of(int fd) { return fd >= 0 && fd < FILES ? file_of[fd] : 0; }

static int is_ours(const char *path) {
    return trace >= 0 && strncmp(path, folder, folder_length) == 0 &&
           (path[folder_length] == '/' || path[folder_length] == 0);
}

/* The whole path of a name in an open folder: `rmtree` names its files so. */
static const char *whole(int at, const char *path, char *place) {
    if (trace < 0 || path[0] == '/' || at == AT_FDCWD) return path;
    char link[64];
    snprintf(link, sizeof link, "/proc/self/fd/%d", at);
    ssize_t length = readlink(link, place, PATH_MAX - 1);
    if (length < 0 || length + strlen(path) + 2 > PATH_MAX) return path;
    place[length] = '/';
    strcpy(place + length + 1, path);
    return place;
}

/* ---- opening and closing */

static int opened(int (*call)(int, const char *, int, mode_t), int at, const char *path, int flags,
                  mode_t mode) {
    if (trace >= 0 && strcmp(path, marks) == 0) {
        int fd = call(at, path, flags, mode);
        if (fd >= 0 && fd < FILES) file_of[fd] = -1;
        return fd;
    }
    /* The program is given absolute paths; its imports are of no interest. */
    char place[PATH_MAX];
    const char *name = whole(at, path, place);
    if (!is_ours(name)) return call(at, path, flags, mode);
    pthread_mutex_lock(&lock);
    int there = access(name, F_OK) == 0;
    int fd = call(at, path, flags, mode);
    if (fd >= FILES) die("too many descriptors");
    if (fd >= 0) {
        int what = (there ? 0 : CREATED) | (flags & O_TRUNC ? TRUNCATED : 0) |
                   (flags & O_DSYNC ? SYNCED : 0);
        file_of[fd] = ++last_file;
        record_text('O', last_file, what, name);
    }
    pthread_mutex_unlock(&lock);
    return fd;
}

static int call_openat(int at, const char *path, int flags, mode_t mode) {
    REAL(openat);
    return real(at, path, flags, mode);
}

#define MODE(flags) \
    mode_t mode = 0; \
    if (flags & (O_CREAT | O_TMPFILE)) { \
        va_list list; \
        va_start(list, flags); \
        mode = va_arg(list, mode_t); \
        va_end(list); \
    }

int open(const char *path, int flags, ...) {
    MODE(flags);
    return opened(call_openat, AT_FDCWD, path, flags, mode);
}

int open64(const char *path, int flags, ...) {
    MODE(flags);
    return opened(call_openat, AT_FDCWD, path, flags, mode);
}

int openat(int at, const char *path, int flags, ...) {
    MODE(flags);
    return opened(call_openat, at, path, flags, mode);
}

int openat64(int at, const char *path, int flags, ...) {
    MODE(flags);
    return opened(call_openat, at, path, flags, mode);
}

int close(int fd) {
    REAL(close);
    if (fd >= 0 && fd < FILES) file_of[fd] = 0;
    return real(fd);
}

/* ---- writing */

static ssize_t wrote(int fd, const struct iovec *data, int count, off_t offset, int at_offset) {
    static ssize_t (*real_pwritev)(int, const struct iovec *, int, off_t);
    static ssize_t (*real_writev)(int, const struct iovec *, int);
    if (!real_writev) {
        real_pwritev =
            (ssize_t(*)(int, const struct iovec *, int, off_t)) dlsym(RTLD_NEXT, "pwritev");
        real_writev = (ssize_t(*)(int, const struct iovec *, int)) dlsym(RTLD_NEXT, "writev");
    }
    int32_t file = of(fd);
    if (!file)
        return at_offset ? real_pwritev(fd, data, count, offset) : real_writev(fd, data, count);
    pthread_mutex_lock(&lock);
    ssize_t done =
        at_offset ? real_pwritev(fd, data, count, offset) : real_writev(fd, data, count);
    if (done > 0) {
        if (!at_offset) offset = lseek(fd, 0, SEEK_CUR) - done;
        record(file < 0 ? 'M' : 'W', file, offset, data, count, done);
    }
    pthread_mutex_unlock(&lock);
    return done;
}

ssize_t write(int fd, const void *bytes, size_t length) {
    REAL(write);
    if (!of(fd)) return real(fd, bytes, length);
    struct iovec data = {(void *)bytes, length};
    return wrote(fd, &data, 1, 0, 0);
}

ssize_t pwrite(int fd, const void *bytes, size_t length, off_t offset) {
    struct iovec data = {(void *)bytes, length};
    return wrote(fd, &data, 1, offset, 1);
}

ssize_t pwrite64(int fd, const void *bytes, size_t length, off64_t offset) {
    struct iovec data = {(void *)bytes, length};
    return wrote(fd, &data, 1, offset, 1);
}

ssize_t writev(int fd, const struct iovec *data, int count) { return wrote(fd, data, count, 0, 0); }

ssize_t pwritev(int fd, const struct iovec *data, int count, off_t offset) {
    return wrote(fd, data, count, offset, 1);
}

ssize_t pwritev64(int fd, const struct iovec *data, int count, off64_t offset) {
    return wrote(fd, data, count, offset, 1);
}

/* What Python's os.pwritev calls. */
ssize_t pwritev2(int fd, const struct iovec *data, int count, off_t offset, int flags) {
    REAL(pwritev2);
    if (!of(fd)) return real(fd, data, count, offset, flags);
    if (flags) die("flags of pwritev2 are not modelled");
    return wrote(fd, data, count, offset, offset != -1);
}

ssize_t pwritev64v2(int fd, const struct iovec *data, int count, off64_t offset, int flags) {
    return pwritev2(fd, data, count, offset, flags);
}

/* ---- sizes */

static int truncated(int fd, off_t length) {
    REAL(ftruncate);
    int32_t file = of(fd);
    CHANGE(file <= 0, real(fd, length), record('T', file, length, 0, 0, 0))
}

int ftruncate(int fd, off_t length) { return truncated(fd, length); }
int ftruncate64(int fd, off64_t length) { return truncated(fd, length); }

static int truncated_path(const char *path, off_t length) {
    REAL(truncate);
    CHANGE(!is_ours(path), real(path, length), record_text('P', 0, length, path))
}

int truncate(const char *path, off_t length) { return truncated_path(path, length); }
int truncate64(const char *path, off64_t length) { return truncated_path(path, length); }

static int refused(int fd, const char *what) {
    if (of(fd) > 0) die(what);
    return 0;
}

int fallocate(int fd, int mode, off_t offset, off_t length) {
    REAL(fallocate);
    refused(fd, "fallocate is not modelled");
    return real(fd, mode, offset, length);
}

int posix_fallocate(int fd, off_t offset, off_t length) {
    REAL(posix_fallocate);
    refused(fd, "posix_fallocate is not modelled");
    return real(fd, offset, length);
}

ssize_t sendfile(int to, int from, off_t *offset, size_t length) {
    REAL(sendfile);
    refused(to, "sendfile is not modelled");
    return real(to, from, offset, length);
}

ssize_t copy_file_range(int from, off64_t *at, int to, off64_t *to_at, size_t length,
                        unsigned int flags) {
    REAL(copy_file_range);
    refused(to, "copy_file_range is not modelled");
    return real(from, at, to, to_at, length, flags);
}

/* ---- syncs */

static int synced(int fd, int (*call)(int), uint32_t begin, uint32_t end) {
    int32_t file = of(fd);
    if (file <= 0) return call(fd);
    pthread_mutex_lock(&lock);
    record(begin, file, 0, 0, 0, 0);
    pthread_mutex_unlock(&lock);
    int result = call(fd);
    if (result == 0) {
        pthread_mutex_lock(&lock);
        record(end, file, 0, 0, 0, 0);
        pthread_mutex_unlock(&lock);
    }
    return result;
}

int fsync(int fd) {
    REAL(fsync);
    return synced(fd, real, 'S', 's');
}

int fdatasync(int fd) {
    REAL(fdatasync);
    return synced(fd, real, 'S', 's');
}

static int nothing_but_record(int fd) { return fcntl(fd, F_GETFD) < 0 ? -1 : 0; }

int syncfs(int fd) {
    REAL(syncfs);
    return of(fd) > 0 ? synced(fd, nothing_but_record, 'F', 'f') : real(fd);
}

/* What a writable map changes cannot be seen here: it is said, and judged by whoever reads. */
void *mmap(void *address, size_t length, int protection, int flags, int fd, off_t offset) {
    REAL(mmap);
    int32_t file = of(fd);
    if (file > 0 && (protection & PROT_WRITE) && (flags & MAP_SHARED)) {
        pthread_mutex_lock(&lock);
        record('X', file, 0, 0, 0, 0);
        pthread_mutex_unlock(&lock);
    }
    return real(address, length, protection, flags, fd, offset);
}

/* ---- names */

static void names(uint32_t kind, const char *one, const char *other) {
    struct iovec data[2] = {{(void *)one, strlen(one) + 1}, {(void *)other, strlen(other)}};
    record(kind, 0, 0, data, 2, data[0].iov_len + data[1].iov_len);
}

static int renamed(int at, const char *from, int to_at, const char *to) {
    REAL(renameat);
    char place[PATH_MAX], to_place[PATH_MAX];
    const char *old = whole(at, from, place), *new = whole(to_at, to, to_place);
    CHANGE(!is_ours(old) && !is_ours(new), real(at, from, to_at, to), names('R', old, new))
}

int rename(const char *from, const char *to) { return renamed(AT_FDCWD, from, AT_FDCWD, to); }

int renameat(int at, const char *from, int to_at, const char *to) {
    return renamed(at, from, to_at, to);
}

static int linked(int at, const char *from, int to_at, const char *to, int flags) {
    REAL(linkat);
    char place[PATH_MAX], to_place[PATH_MAX];
    const char *old = whole(at, from, place), *new = whole(to_at, to, to_place);
    CHANGE(!is_ours(new), real(at, from, to_at, to, flags), names('L', old, new))
}

int link(const char *from, const char *to) { return linked(AT_FDCWD, from, AT_FDCWD, to, 0); }

int linkat(int at, const char *from, int to_at, const char *to, int flags) {
    return linked(at, from, to_at, to, flags);
}

/* Of a file or of an empty folder. */
static int removed(int at, const char *path, int flags) {
    REAL(unlinkat);
    char place[PATH_MAX];
    const char *name = whole(at, path, place);
    CHANGE(!is_ours(name), real(at, path, flags), names('U', name, ""))
}

int unlink(const char *path) { return removed(AT_FDCWD, path, 0); }
int unlinkat(int at, const char *path, int flags) { return removed(at, path, flags); }
int rmdir(const char *path) { return removed(AT_FDCWD, path, AT_REMOVEDIR); }

static int made(int at, const char *path, mode_t mode) {
    REAL(mkdirat);
    char place[PATH_MAX];
    const char *name = whole(at, path, place);
    CHANGE(!is_ours(name), real(at, path, mode), names('D', name, ""))
}

int mkdir(const char *path, mode_t mode) { return made(AT_FDCWD, path, mode); }
int mkdirat(int at, const char *path, mode_t mode) { return made(at, path, mode); }
