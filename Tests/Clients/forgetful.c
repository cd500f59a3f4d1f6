// A file system in memory that can lose its power. What was not synced by then is gone, or is there in part, as on a
// disk that was writing.
//
//     forgetful FOLDER        mounts it there, and runs until it is unmounted
//
// The extended attribute `user.power` of the folder is the switch. It is set to
//
//     off KEEP SEED AFTER     to lose the power at the AFTERth change from now on (0: at once); KEEP is `nothing`, or
//                             `some` for a part of what was not synced, drawn by SEED
//     on                      to have it again
//
// and reads as `on CHANGES` or `off CHANGES PAGES TORN NAMES`: the changes so far; and how many pages and names were not
// synced when the power went, and how many pages are torn. Without power, whatever is asked of a file fails with EIO.
//
// What is durable is what every file system promises, and no more:
// - Data and the size of a file are durable by fsync, fdatasync or O_SYNC of that file.
// - A name that was made, changed or removed is durable by fsync of its directory. A file or directory that is synced
//   and has no durable name gets the one that it has, with those of the directories above it that have none, as ext4,
//   XFS and btrfs have it. A new name of something that has a durable one is not made durable by that.
// - A rename is done or not. Owners, modes and times are durable at once.
// With `some`, names are kept as far as some change, in the order of the changes; of each file, some pages of 4,096 bytes
// are new and others old, and some of the new ones have old sectors of 512 bytes; a size may lie between the old and the
// new one.
//
// Without a cache in the kernel: the calls arrive here as they are made. sync_file_range promises nothing, and does
// nothing here.

#define _GNU_SOURCE
#define FUSE_USE_VERSION 35
#include <errno.h>
#include <fcntl.h>
#include <fuse_lowlevel.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { PAGE = 4096, SECTOR = 512 };
// What a file or directory is now, and what it is after the power was lost.
enum { NOW, KEPT, STATES };

struct page {
    int uses;
    unsigned char bytes[PAGE];
};

// A page that is not there has zeros.
struct content {
    struct page **pages;
    size_t count;
    off_t size;
};

struct name {
    char *text;
    struct node *node;
};

struct names {
    struct name *all;
    size_t count, room;
};

struct node {
    struct node *previous, *next;
    // Names, changes, and what the kernel knows.
    uint64_t uses;
    struct stat stat;
    char *target;
    struct node *parent;
    long links[STATES];
    struct content content[STATES];
    // The pages that may differ.
    size_t first, end;
    struct names names[STATES];
};

// A change of names that is not durable yet: one is removed, one is set, or both.
struct change {
    struct node *from, *to, *node;
    char *old, *new;
};

static struct node *root, *nodes;
static struct change **changes;
static size_t change_count, change_room;
// Those that a sync makes durable, the latest first.
static struct change **chosen;
static size_t chosen_count;
static ino_t last_number;

static int is_off, keeps_some;
static uint64_t chance, countdown, total, lost_pages, torn_pages, lost_names;

static void *made(void *memory) {
    if (!memory) abort();
    return memory;
}

// SplitMix64.
static uint64_t draw(uint64_t below) {
    uint64_t z = (chance += 0x9e3779b97f4a7c15);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
    z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
    return (z ^ (z >> 31)) % below;
}

// --- nodes

static struct node *make_node(fuse_req_t request, mode_t mode) {
    struct node *node = made(calloc(1, sizeof *node));
    const struct fuse_ctx *caller = request ? fuse_req_ctx(request) : NULL;
    node->stat.st_ino = ++last_number;
    node->stat.st_mode = mode;
    node->stat.st_uid = caller ? caller->uid : getuid();
    node->stat.st_gid = caller ? caller->gid : getgid();
    clock_gettime(CLOCK_REALTIME, &node->stat.st_mtim);
    node->stat.st_atim = node->stat.st_ctim = node->stat.st_mtim;
    node->first = SIZE_MAX;
    node->next = nodes;
    if (nodes) nodes->previous = node;
    return nodes = node;
}

static void unuse_page(struct page *page) {
    if (page && --page->uses == 0) free(page);
}

static void unuse(struct node *node, uint64_t uses) {
    if (!node || (node->uses -= uses) > 0) return;
    for (int state = NOW; state < STATES; state++) {
        for (size_t n = 0; n < node->content[state].count; n++) unuse_page(node->content[state].pages[n]);
        free(node->content[state].pages);
        for (size_t n = 0; n < node->names[state].count; n++) {
            free(node->names[state].all[n].text);
            node->names[state].all[n].node->links[state]--;
            unuse(node->names[state].all[n].node, 1);
        }
        free(node->names[state].all);
    }
    free(node->target);
    if (node->previous) node->previous->next = node->next;
    else nodes = node->next;
    if (node->next) node->next->previous = node->previous;
    free(node);
}

static struct node *use(struct node *node) {
    if (node) node->uses++;
    return node;
}

static struct node *node_of(fuse_ino_t number) { return number == FUSE_ROOT_ID ? root : (struct node *)number; }

// --- data

static struct page **place(struct content *content, size_t number) {
    if (number >= content->count) {
        size_t count = number + 1 > 2 * content->count ? number + 1 : 2 * content->count;
        content->pages = made(realloc(content->pages, count * sizeof *content->pages));
        memset(content->pages + content->count, 0, (count - content->count) * sizeof *content->pages);
        content->count = count;
    }
    return &content->pages[number];
}

static struct page *at(struct content *content, size_t number) {
    return number < content->count ? content->pages[number] : NULL;
}

static void replace(struct content *content, size_t number, struct page *page) {
    if (at(content, number) == page) return;
    struct page **there = place(content, number);
    if (page) page->uses++;
    unuse_page(*there);
    *there = page;
}

// The page for writing: a copy, if what is kept shares it.
static struct page *own(struct content *content, size_t number) {
    struct page *old = at(content, number);
    if (old && old->uses == 1) return old;
    struct page *page = made(calloc(1, sizeof *page));
    if (old) memcpy(page->bytes, old->bytes, PAGE);
    replace(content, number, page);
    return page;
}

static void differ(struct node *node, size_t number) {
    if (number < node->first) node->first = number;
    if (number >= node->end) node->end = number + 1;
}

static void resize(struct node *node, struct content *content, off_t size) {
    if (size < content->size) {
        size_t number = size / PAGE;
        if (size % PAGE && at(content, number)) {
            memset(own(content, number)->bytes + size % PAGE, 0, PAGE - size % PAGE);
            differ(node, number);
            number++;
        } else if (size % PAGE) {
            number++;
        }
        for (; number < content->count; number++) {
            if (!content->pages[number]) continue;
            replace(content, number, NULL);
            differ(node, number);
        }
    }
    content->size = size;
}

static void sync_data(struct node *node) {
    for (size_t number = node->first; number < node->end; number++)
        replace(&node->content[KEPT], number, at(&node->content[NOW], number));
    node->content[KEPT].size = node->content[NOW].size;
    node->first = SIZE_MAX;
    node->end = 0;
}

// --- names

static struct name *find(struct names *names, const char *text) {
    for (size_t n = 0; n < names->count; n++)
        if (!strcmp(names->all[n].text, text)) return &names->all[n];
    return NULL;
}

static void remove_name(struct node *directory, int state, const char *text) {
    struct names *names = &directory->names[state];
    struct name *name = find(names, text);
    if (!name) return;
    struct node *node = name->node;
    free(name->text);
    *name = names->all[--names->count];
    node->links[state]--;
    unuse(node, 1);
}

static void set_name(struct node *directory, int state, const char *text, struct node *node) {
    struct names *names = &directory->names[state];
    use(node)->links[state]++;
    remove_name(directory, state, text);
    if (names->count == names->room) {
        names->room = names->room ? 2 * names->room : 8;
        names->all = made(realloc(names->all, names->room * sizeof *names->all));
    }
    names->all[names->count++] = (struct name){made(strdup(text)), node};
}

static void apply(struct change *change, int state) {
    if (change->from) remove_name(change->from, state, change->old);
    if (change->to) set_name(change->to, state, change->new, change->node);
}

static void drop(struct change *change) {
    unuse(change->from, 1);
    unuse(change->to, 1);
    unuse(change->node, 1);
    free(change->old);
    free(change->new);
    free(change);
}

static void change_names(struct node *from, const char *old, struct node *to, const char *new, struct node *node) {
    struct change *change = made(calloc(1, sizeof *change));
    change->from = use(from);
    change->to = use(to);
    change->node = use(node);
    change->old = from ? made(strdup(old)) : NULL;
    change->new = to ? made(strdup(new)) : NULL;
    if (change_count == change_room) {
        change_room = change_room ? 2 * change_room : 64;
        changes = made(realloc(changes, change_room * sizeof *changes));
    }
    changes[change_count++] = change;
    apply(change, NOW);
    if (to && S_ISDIR(node->stat.st_mode)) node->parent = to;
}

static int meets(struct change *one, struct change *other) {
    struct node *directories[] = {one->from, one->to};
    const char *texts[] = {one->old, one->new};
    for (int n = 0; n < 2; n++) {
        if (!directories[n]) continue;
        if (directories[n] == other->from && !strcmp(texts[n], other->old)) return 1;
        if (directories[n] == other->to && !strcmp(texts[n], other->new)) return 1;
    }
    return 0;
}

static int needs_name(struct node *node) { return node && node != root && node->links[KEPT] == 0; }

// Whether a change gives a name to what is synced, or to a directory in which a later change is chosen.
static int names_what_is_needed(struct change *change, struct node *synced) {
    if (!change->to || !needs_name(change->node)) return 0;
    if (change->node == synced) return 1;
    if (S_ISDIR(change->node->stat.st_mode))
        for (size_t n = 0; n < chosen_count; n++)
            if (chosen[n]->to == change->node) return 1;
    return 0;
}

static int is_before_chosen(struct change *change) {
    for (size_t n = 0; n < chosen_count; n++)
        if (meets(change, chosen[n])) return 1;
    return 0;
}

// Makes the names durable that a sync of the file or directory covers, and the earlier changes that they rest on.
static void sync_names(struct node *node) {
    int is_directory = S_ISDIR(node->stat.st_mode);
    if (!change_count || (!is_directory && !needs_name(node))) return;
    chosen = made(realloc(chosen, change_count * sizeof *chosen));
    chosen_count = 0;
    size_t left = change_count;
    for (size_t number = change_count; number-- > 0;) {
        struct change *change = changes[number];
        if ((is_directory && (change->from == node || change->to == node)) || names_what_is_needed(change, node) ||
            is_before_chosen(change))
            chosen[chosen_count++] = change;
        else
            changes[--left] = change;
    }
    change_count -= chosen_count;
    memmove(changes, changes + left, change_count * sizeof *changes);
    while (chosen_count) {
        struct change *change = chosen[--chosen_count];
        apply(change, KEPT);
        drop(change);
    }
}

// --- power

// What is on the disk of a file that was being written.
static void settle(struct node *node) {
    struct content *now = &node->content[NOW], *kept = &node->content[KEPT];
    uint64_t fate = keeps_some ? draw(4) : 0, share = draw(101);
    for (size_t number = node->first; number < node->end; number++) {
        struct page *new = at(now, number), *old = at(kept, number);
        // What lies behind a new, earlier end goes with it, or stays.
        if (new == old || (!new && (off_t)number * PAGE >= now->size)) continue;
        lost_pages++;
        if (fate == 0 || (fate < 3 && draw(100) >= share)) continue;
        if (draw(4) || !new) {
            replace(kept, number, new);
            continue;
        }
        torn_pages++;
        unsigned char *bytes = own(kept, number)->bytes;
        uint64_t sectors = draw(2) ? (1u << draw(PAGE / SECTOR)) - 1 : draw(1u << (PAGE / SECTOR));
        for (int sector = 0; sector < PAGE / SECTOR; sector++)
            if (sectors >> sector & 1) memcpy(bytes + sector * SECTOR, new->bytes + sector * SECTOR, SECTOR);
    }
    off_t size = kept->size, difference = now->size - kept->size;
    if (fate && difference) {
        uint64_t end = draw(3);
        if (end == 2 || difference < 0) size = end ? now->size : kept->size;
        else if (end == 1) size = kept->size + (off_t)draw((uint64_t)difference / SECTOR + 1) * SECTOR;
    }
    // What lies behind the end is nowhere.
    kept->size = now->size > kept->size ? now->size : kept->size;
    resize(node, kept, size);
    for (size_t number = 0; number < now->count || number < kept->count; number++)
        replace(now, number, at(kept, number));
    now->size = kept->size;
    node->first = SIZE_MAX;
    node->end = 0;
}

static void lose_power(void) {
    is_off = 1;
    lost_pages = torn_pages = 0;
    lost_names = change_count;
    size_t done = keeps_some ? draw(change_count + 1) : 0;
    for (size_t number = 0; number < change_count; number++) {
        if (number < done) apply(changes[number], KEPT);
        drop(changes[number]);
    }
    change_count = 0;
    for (struct node *node = nodes; node; node = node->next) {
        // Nodes that go meanwhile must not be those that follow.
        node->uses++;
        if (S_ISREG(node->stat.st_mode)) settle(node);
    }
    for (struct node *node = nodes; node; node = node->next) {
        while (node->names[NOW].count) remove_name(node, NOW, node->names[NOW].all[0].text);
        for (size_t n = 0; n < node->names[KEPT].count; n++) {
            struct name *name = &node->names[KEPT].all[n];
            set_name(node, NOW, name->text, name->node);
            if (S_ISDIR(name->node->stat.st_mode)) name->node->parent = node;
        }
    }
    for (struct node *node = nodes, *next; node; node = next) {
        next = node->next;
        // The end of one directory may be that of others.
        if (next) next->uses++;
        unuse(node, 1);
        if (next) next->uses--;
    }
}

// Before each change: 1 if there is no power for it.
static int has_no_power(int is_change) {
    if (!is_off && is_change) {
        total++;
        if (countdown && --countdown == 0) lose_power();
    }
    return is_off;
}

#define READS \
    if (has_no_power(0)) { fuse_reply_err(request, EIO); return; }
#define CHANGES \
    if (has_no_power(1)) { fuse_reply_err(request, EIO); return; }

static void set_power(fuse_req_t request, fuse_ino_t number, const char *name, const char *value, size_t size, int flags) {
    (void)flags;
    char words[100], keep[10];
    unsigned long long seed, after;
    if (number != FUSE_ROOT_ID || strcmp(name, "user.power") || size >= sizeof words) {
        fuse_reply_err(request, ENOTSUP);
        return;
    }
    memcpy(words, value, size);
    words[size] = 0;
    if (!strcmp(words, "on")) {
        is_off = 0;
    } else if (!is_off && sscanf(words, "off %9s %llu %llu", keep, &seed, &after) == 3) {
        keeps_some = !strcmp(keep, "some");
        chance = seed;
        countdown = after;
        if (!after) lose_power();
    } else {
        fuse_reply_err(request, EINVAL);
        return;
    }
    fuse_reply_err(request, 0);
}

static void get_power(fuse_req_t request, fuse_ino_t number, const char *name, size_t size) {
    char words[200];
    if (number != FUSE_ROOT_ID || strcmp(name, "user.power")) {
        fuse_reply_err(request, ENODATA);
        return;
    }
    int length = is_off ? snprintf(words, sizeof words, "off %llu %llu %llu %llu", (unsigned long long)total,
                                   (unsigned long long)lost_pages, (unsigned long long)torn_pages,
                                   (unsigned long long)lost_names)
                        : snprintf(words, sizeof words, "on %llu", (unsigned long long)total);
    if (size == 0) fuse_reply_xattr(request, length);
    else if (size < (size_t)length) fuse_reply_err(request, ERANGE);
    else fuse_reply_buf(request, words, length);
}

// --- what the kernel asks

static struct stat stat_of(struct node *node) {
    struct stat stat = node->stat;
    if (node == root) stat.st_ino = FUSE_ROOT_ID;
    // 1 says that the directories in a directory are not counted.
    stat.st_nlink = S_ISDIR(stat.st_mode) ? 1 : node->links[NOW];
    stat.st_blksize = PAGE;
    stat.st_size = node->target ? (off_t)strlen(node->target) : node->content[NOW].size;
    stat.st_blocks = (stat.st_size + SECTOR - 1) / SECTOR;
    return stat;
}

static struct fuse_entry_param entry_of(struct node *node) {
    return (struct fuse_entry_param){.ino = (fuse_ino_t)use(node), .attr = stat_of(node)};
}

static void reply_entry(fuse_req_t request, struct node *node) {
    struct fuse_entry_param entry = entry_of(node);
    fuse_reply_entry(request, &entry);
}

static void look_up(fuse_req_t request, fuse_ino_t parent, const char *text) {
    struct name *name = find(&node_of(parent)->names[NOW], text);
    if (name) reply_entry(request, name->node);
    else fuse_reply_err(request, ENOENT);
}

static void forget(fuse_req_t request, fuse_ino_t number, uint64_t count) {
    if (number != FUSE_ROOT_ID) unuse(node_of(number), count);
    fuse_reply_none(request);
}

static void get_attributes(fuse_req_t request, fuse_ino_t number, struct fuse_file_info *file) {
    (void)file;
    struct stat stat = stat_of(node_of(number));
    fuse_reply_attr(request, &stat, 0);
}

static void set_attributes(fuse_req_t request, fuse_ino_t number, struct stat *wanted, int set, struct fuse_file_info *file) {
    CHANGES
    struct node *node = node_of(number);
    if (set & FUSE_SET_ATTR_MODE) node->stat.st_mode = (node->stat.st_mode & S_IFMT) | (wanted->st_mode & ~S_IFMT);
    if (set & FUSE_SET_ATTR_UID) node->stat.st_uid = wanted->st_uid;
    if (set & FUSE_SET_ATTR_GID) node->stat.st_gid = wanted->st_gid;
    if (set & FUSE_SET_ATTR_SIZE) resize(node, &node->content[NOW], wanted->st_size);
    if (set & FUSE_SET_ATTR_ATIME) node->stat.st_atim = wanted->st_atim;
    if (set & FUSE_SET_ATTR_MTIME) node->stat.st_mtim = wanted->st_mtim;
    get_attributes(request, number, file);
}

static struct node *add(fuse_req_t request, fuse_ino_t parent, const char *text, mode_t mode) {
    struct node *node = make_node(request, mode);
    change_names(NULL, NULL, node_of(parent), text, node);
    return node;
}

static void make_special(fuse_req_t request, fuse_ino_t parent, const char *text, mode_t mode, dev_t device) {
    (void)device;
    CHANGES
    reply_entry(request, add(request, parent, text, mode));
}

static void make_directory(fuse_req_t request, fuse_ino_t parent, const char *text, mode_t mode) {
    CHANGES
    reply_entry(request, add(request, parent, text, S_IFDIR | mode));
}

static void make_link(fuse_req_t request, const char *target, fuse_ino_t parent, const char *text) {
    CHANGES
    struct node *node = add(request, parent, text, S_IFLNK | 0777);
    node->target = made(strdup(target));
    reply_entry(request, node);
}

static void add_link(fuse_req_t request, fuse_ino_t number, fuse_ino_t parent, const char *text) {
    CHANGES
    change_names(NULL, NULL, node_of(parent), text, node_of(number));
    reply_entry(request, node_of(number));
}

static void read_link(fuse_req_t request, fuse_ino_t number) { fuse_reply_readlink(request, node_of(number)->target); }

static void take_away(fuse_req_t request, fuse_ino_t parent, const char *text) {
    CHANGES
    struct name *name = find(&node_of(parent)->names[NOW], text);
    if (!name || name->node->names[NOW].count) {
        fuse_reply_err(request, name ? ENOTEMPTY : ENOENT);
        return;
    }
    change_names(node_of(parent), text, NULL, NULL, name->node);
    fuse_reply_err(request, 0);
}

static void move(fuse_req_t request, fuse_ino_t from, const char *old, fuse_ino_t to, const char *new, unsigned flags) {
    CHANGES
    struct name *name = find(&node_of(from)->names[NOW], old), *target = find(&node_of(to)->names[NOW], new);
    int error = !name                                       ? ENOENT
                : flags & ~(unsigned)RENAME_NOREPLACE       ? EINVAL
                : flags & RENAME_NOREPLACE && target        ? EEXIST
                : target && target->node->names[NOW].count ? ENOTEMPTY
                                                            : 0;
    if (!error && !(target && target->node == name->node))
        change_names(node_of(from), old, node_of(to), new, name->node);
    fuse_reply_err(request, error);
}

static void open_file(fuse_req_t request, fuse_ino_t number, struct fuse_file_info *file) {
    int empties = file->flags & O_TRUNC;
    if (has_no_power(empties)) {
        fuse_reply_err(request, EIO);
        return;
    }
    if (empties) resize(node_of(number), &node_of(number)->content[NOW], 0);
    file->direct_io = 1;
    fuse_reply_open(request, file);
}

static void create_file(fuse_req_t request, fuse_ino_t parent, const char *text, mode_t mode, struct fuse_file_info *file) {
    CHANGES
    struct fuse_entry_param entry = entry_of(add(request, parent, text, S_IFREG | mode));
    file->direct_io = 1;
    fuse_reply_create(request, &entry, file);
}

static void read_data(fuse_req_t request, fuse_ino_t number, size_t size, off_t offset, struct fuse_file_info *file) {
    (void)file;
    READS
    struct content *content = &node_of(number)->content[NOW];
    size_t length = offset >= content->size               ? 0
                    : (off_t)size > content->size - offset ? (size_t)(content->size - offset)
                                                           : size;
    char *bytes = made(calloc(1, length + 1));
    for (size_t done = 0, part; done < length; done += part) {
        size_t within = (offset + done) % PAGE;
        part = length - done < PAGE - within ? length - done : PAGE - within;
        struct page *page = at(content, (offset + done) / PAGE);
        if (page) memcpy(bytes + done, page->bytes + within, part);
    }
    fuse_reply_buf(request, bytes, length);
    free(bytes);
}

static void write_data(
    fuse_req_t request, fuse_ino_t number, const char *bytes, size_t size, off_t offset, struct fuse_file_info *file) {
    CHANGES
    struct node *node = node_of(number);
    struct content *content = &node->content[NOW];
    for (size_t done = 0, part; done < size; done += part) {
        size_t within = (offset + done) % PAGE, page = (offset + done) / PAGE;
        part = size - done < PAGE - within ? size - done : PAGE - within;
        memcpy(own(content, page)->bytes + within, bytes + done, part);
        differ(node, page);
    }
    if (offset + (off_t)size > content->size) content->size = offset + size;
    clock_gettime(CLOCK_REALTIME, &node->stat.st_mtim);
    if (file->flags & (O_SYNC | O_DSYNC)) {
        sync_data(node);
        sync_names(node);
    }
    fuse_reply_write(request, size);
}

static void sync_node(fuse_req_t request, fuse_ino_t number, int only_data, struct fuse_file_info *file) {
    (void)only_data, (void)file;
    CHANGES
    if (S_ISREG(node_of(number)->stat.st_mode)) sync_data(node_of(number));
    sync_names(node_of(number));
    fuse_reply_err(request, 0);
}

// The list is that of the moment in which the directory was opened: who reads it may remove what it has read.
struct list {
    char *bytes;
    size_t size;
};

static void add_to_list(fuse_req_t request, struct list *list, const char *text, struct node *node) {
    struct stat stat = stat_of(node);
    size_t length = fuse_add_direntry(request, NULL, 0, text, NULL, 0);
    list->bytes = made(realloc(list->bytes, list->size + length));
    fuse_add_direntry(request, list->bytes + list->size, length, text, &stat, list->size + length);
    list->size += length;
}

static void open_directory(fuse_req_t request, fuse_ino_t number, struct fuse_file_info *file) {
    READS
    struct node *directory = node_of(number);
    struct list *list = made(calloc(1, sizeof *list));
    add_to_list(request, list, ".", directory);
    add_to_list(request, list, "..", directory->parent);
    for (size_t n = 0; n < directory->names[NOW].count; n++)
        add_to_list(request, list, directory->names[NOW].all[n].text, directory->names[NOW].all[n].node);
    file->fh = (uint64_t)list;
    fuse_reply_open(request, file);
}

static void read_directory(fuse_req_t request, fuse_ino_t number, size_t size, off_t offset, struct fuse_file_info *file) {
    (void)number;
    READS
    struct list *list = (struct list *)file->fh;
    size_t left = (size_t)offset < list->size ? list->size - (size_t)offset : 0;
    fuse_reply_buf(request, left ? list->bytes + offset : NULL, left < size ? left : size);
}

static void close_directory(fuse_req_t request, fuse_ino_t number, struct fuse_file_info *file) {
    (void)number;
    struct list *list = (struct list *)file->fh;
    free(list->bytes);
    free(list);
    fuse_reply_err(request, 0);
}

static void get_room(fuse_req_t request, fuse_ino_t number) {
    (void)number;
    struct statvfs room = {.f_bsize = PAGE, .f_frsize = PAGE, .f_blocks = 1 << 20, .f_bfree = 1 << 20,
                           .f_bavail = 1 << 20, .f_files = 1 << 20, .f_ffree = 1 << 20, .f_namemax = 255};
    fuse_reply_statfs(request, &room);
}

static const struct fuse_lowlevel_ops operations = {
    .lookup = look_up, .forget = forget, .getattr = get_attributes, .setattr = set_attributes, .readlink = read_link,
    .mknod = make_special, .mkdir = make_directory, .unlink = take_away, .rmdir = take_away, .symlink = make_link,
    .rename = move, .link = add_link, .open = open_file, .create = create_file, .read = read_data, .write = write_data,
    .fsync = sync_node, .fsyncdir = sync_node, .opendir = open_directory, .readdir = read_directory, .releasedir = close_directory,
    .statfs = get_room, .setxattr = set_power, .getxattr = get_power,
};

int main(int count, char **words) {
    if (count != 2) {
        fprintf(stderr, "usage: forgetful FOLDER\n");
        return 64;
    }
    root = use(make_node(NULL, S_IFDIR | 0711));
    root->parent = root;
    char *options[] = {words[0], "-o", "allow_other,default_permissions,fsname=forgetful"};
    struct fuse_args arguments = FUSE_ARGS_INIT(3, options);
    struct fuse_session *session = fuse_session_new(&arguments, &operations, sizeof operations, NULL);
    if (!session || fuse_set_signal_handlers(session) || fuse_session_mount(session, words[1])) return 1;
    int status = fuse_session_loop(session);
    fuse_session_unmount(session);
    fuse_session_destroy(session);
    return status ? 1 : 0;
}
