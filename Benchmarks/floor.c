// The least program that could do it: what a durable change costs once everything is left out that a client does not
// see. It answers a change of a cart with the new count when the batch that it is in is committed. It checks nothing,
// prices nothing, remembers no command, and can neither be read from nor started again.
//
// floor PORT DATABASE: serves on loopback until it is killed. Linux only, for epoll.

#include <arpa/inet.h>
#include <fcntl.h>
#include <libpq-fe.h>
#include <netinet/tcp.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <unistd.h>

enum { CONNECTIONS = 4096, INPUT = 16384, OUTPUT = 16384, CARTS = 1 << 20, KEY = 40, BATCH = 1 << 20, LINE = 256 };

typedef struct {
    size_t read, written;
    char input[INPUT], output[OUTPUT];
} Connection;

typedef struct {
    char key[KEY];
    int64_t count;
} Cart;

typedef struct {
    int connection;
    int64_t count;
} Change;

// Changes that wait for one commit, and their lines.
typedef struct {
    Change changes[BATCH / LINE];
    size_t count, bytes;
    char lines[BATCH];
} Batch;

static Connection *connections[CONNECTIONS];
static Cart carts[CARTS];
static Batch batches[2];
static Batch *gathering = &batches[0], *sent;
static int64_t position;
static PGconn *database;
static int events;

static void fail(const char *what) {
    fprintf(stderr, "floor: %s: %s\n", what, database ? PQerrorMessage(database) : "");
    exit(1);
}

static Cart *cart(const char *key, size_t length) {
    uint64_t hash = 1469598103934665603u;
    for (size_t byte = 0; byte < length; byte++) hash = (hash ^ (unsigned char)key[byte]) * 1099511628211u;
    for (;; hash++) {
        Cart *found = &carts[hash % CARTS];
        if (!found->key[0]) memcpy(found->key, key, length);
        if (!strncmp(found->key, key, length) && !found->key[length]) return found;
    }
}

static void flush(int socket) {
    Connection *connection = connections[socket];
    if (connection->written && write(socket, connection->output, connection->written) != (ssize_t)connection->written)
        fail("a client does not read");
    connection->written = 0;
}

static void reply(int socket, const char *text, size_t length) {
    Connection *connection = connections[socket];
    if (!connection || connection->written + length > OUTPUT) return;
    memcpy(connection->output + connection->written, text, length);
    connection->written += length;
}

// One batch is on its way, and the next is gathered meanwhile.
static void send_batch(void) {
    if (sent || !gathering->count) return;
    gathering->lines[gathering->bytes] = 0;
    char number[24];
    snprintf(number, sizeof number, "%lld", (long long)(position += gathering->count));
    const char *values[] = {number, gathering->lines};
    if (!PQsendQueryPrepared(database, "append", 2, values, NULL, NULL, 0)) fail("the batch cannot be sent");
    sent = gathering;
    gathering = &batches[sent == &batches[0]];
    gathering->count = gathering->bytes = 0;
}

static void take_result(void) {
    if (!PQconsumeInput(database)) fail("the database is gone");
    while (sent && !PQisBusy(database)) {
        PGresult *result = PQgetResult(database);
        if (!result) {
            for (size_t index = 0; index < sent->count; index++) {
                char text[32];
                int length = snprintf(text, sizeof text, ":%lld\r\n", (long long)sent->changes[index].count);
                reply(sent->changes[index].connection, text, length);
            }
            for (size_t index = 0; index < sent->count; index++)
                if (connections[sent->changes[index].connection]) flush(sent->changes[index].connection);
            sent = NULL;
        } else if (PQresultStatus(result) != PGRES_COMMAND_OK) {
            fail("a batch was refused");
        }
        PQclear(result);
    }
}

// Takes the commands that are there as a whole: arrays of texts. Returns how many bytes they have.
static size_t take_commands(int socket, char *input, size_t length) {
    size_t done = 0;
    for (;;) {
        char *at = input + done, *end = input + length, *words[8];
        size_t lengths[8];
        char *line = memchr(at, '\n', end - at);
        if (!line) return done;
        long count = strtol(at + 1, NULL, 10);
        at = line + 1;
        if (count < 1 || count > 8) fail("a client sends something else");
        for (long word = 0; word < count; word++) {
            if (!(line = memchr(at, '\n', end - at))) return done;
            lengths[word] = strtol(at + 1, NULL, 10);
            words[word] = line + 1;
            if ((size_t)(end - words[word]) < lengths[word] + 2) return done;
            at = words[word] + lengths[word] + 2;
        }
        if (count == 5 && lengths[0] == 8 && lengths[1] < KEY && lengths[2] + lengths[3] < 100) {
            if (gathering->count == BATCH / LINE || gathering->bytes + LINE > BATCH) return done;
            Cart *changed = cart(words[1], lengths[1]);
            changed->count += strtol(words[4], NULL, 10);
            gathering->changes[gathering->count++] = (Change){socket, changed->count};
            gathering->bytes += snprintf(
                gathering->lines + gathering->bytes, LINE, "{\"cart\":\"%.*s\",\"outlet\":\"%.*s\",\"item\":\"%.*s\",\"count\":%lld}\n",
                (int)lengths[1], words[1], (int)lengths[2], words[2], (int)lengths[3], words[3], (long long)changed->count);
        } else {
            reply(socket, "*0\r\n", 4);
            flush(socket);
        }
        done = at - input;
    }
}

static void end(int socket) {
    close(socket);
    free(connections[socket]);
    connections[socket] = NULL;
}

static void take_input(int socket) {
    Connection *connection = connections[socket];
    ssize_t count = read(socket, connection->input + connection->read, INPUT - connection->read);
    if (count <= 0) return end(socket);
    connection->read += count;
    size_t done = take_commands(socket, connection->input, connection->read);
    memmove(connection->input, connection->input + done, connection->read -= done);
}

static void watch(int descriptor) {
    struct epoll_event event = {.events = EPOLLIN, .data.fd = descriptor};
    if (epoll_ctl(events, EPOLL_CTL_ADD, descriptor, &event)) fail("epoll");
}

static void take_client(int listener) {
    int socket = accept(listener, NULL, NULL), on = 1;
    if (socket < 0 || socket >= CONNECTIONS) fail("too many clients");
    setsockopt(socket, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    connections[socket] = calloc(1, sizeof(Connection));
    watch(socket);
}

int main(int count, char **words) {
    if (count != 3) fail("usage: floor PORT DATABASE");
    database = PQconnectdb(words[2]);
    if (PQstatus(database) != CONNECTION_OK) fail("no database");
    PQclear(PQexec(database, "CREATE TABLE IF NOT EXISTS batches (last bigint PRIMARY KEY, events text NOT NULL)"));
    PQclear(PQprepare(database, "append", "INSERT INTO batches VALUES ($1, $2)", 2, NULL));
    events = epoll_create1(0);
    int listener = socket(AF_INET, SOCK_STREAM, 0), on = 1;
    struct sockaddr_in address = {
        .sin_family = AF_INET, .sin_port = htons(atoi(words[1])), .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
    if (bind(listener, (struct sockaddr *)&address, sizeof address) || listen(listener, 1024)) fail("no port");
    watch(listener);
    watch(PQsocket(database));
    for (;;) {
        struct epoll_event ready[256];
        int readyCount = epoll_wait(events, ready, 256, -1);
        for (int index = 0; index < readyCount; index++) {
            int descriptor = ready[index].data.fd;
            if (descriptor == listener) take_client(listener);
            else if (descriptor == PQsocket(database)) take_result();
            else take_input(descriptor);
        }
        send_batch();
    }
}
