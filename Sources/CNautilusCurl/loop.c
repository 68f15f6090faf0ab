// The event loop, which tells the library about sockets and timers through epoll.

#if defined(__linux__)

#define _GNU_SOURCE
#include "binding.h"
#include "gate.h"
#include "sockets.h"

#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/timerfd.h>
#include <time.h>
#include <unistd.h>

enum {
    option_open_socket_function = 20163,
    option_open_socket_data = 10164,
    option_close_socket_function = 20208,
    option_close_socket_data = 10209,
    multi_option_socket_function = 20001,
    multi_option_socket_data = 10002,
    multi_option_timer_function = 20004,
    multi_option_timer_data = 10005,
    multi_option_kept_connections = 6,
    option_private = 10103,
    info_private = 0x100015,
    info_active_socket = 0x50002C,
    poll_in = 1,
    poll_remove = 4,
    select_in = 1,
    select_out = 2,
    select_error = 4,
    socket_timeout = -1,
    message_done = 1,
    events_at_once = 128,
};

struct nautilus_loop {
    curl_multi *multi;
    struct sockets sockets;
    int wake;
    int timer;
    // Whether the library may have changed its next timer since it was last asked.
    int timer_changed;
    // Whether a transfer has been added for which the library has not chosen a connection yet.
    int is_choosing;
    // Whether a socket was given up before it was connected.
    int is_disconnected;
    // Whether the system had no descriptor for a socket.
    int is_exhausted;
    // When `timer` fires, in milliseconds of the monotonic clock; 0 when it does not.
    int64_t armed;
    struct epoll_event events[events_at_once];
    // The lent sockets that the last step has found ready.
    int ready[events_at_once];
    int ready_count;
    // The handles whose connections the last step has found ended while the library was not waiting for them.
    nautilus_easy *left[events_at_once];
    int left_count;
};

// Our handle for one of the library's; null if it is not ours.
static nautilus_easy *own(curl_easy *curl) {
    nautilus_easy *easy = NULL;
    return nautilus_curl.easy_getinfo(curl, info_private, &easy) == 0 ? easy : NULL;
}

// Notes that a socket is given up, if it is not connected yet.
static void note_disconnection(struct nautilus_loop *loop, int socket) {
    if (sockets_flags(&loop->sockets, socket) & socket_connecting) loop->is_disconnected = 1;
    sockets_connected(&loop->sockets, socket);
}

static int socket_changed(curl_easy *curl, int socket, int what, void *context, void *unused) {
    (void)unused;
    struct nautilus_loop *loop = context;
    if (what == poll_remove) {
        note_disconnection(loop, socket);
        sockets_unwant(&loop->sockets, socket);
        return 0;
    }
    if (!sockets_want(&loop->sockets, socket, what)) return -1;
    // Until it is connected, the library only waits to write to it.
    if (what & poll_in) sockets_connected(&loop->sockets, socket);
    nautilus_easy *easy = own(curl);
    loop->sockets.users[socket] = easy;
    if (easy) easy->socket = socket;
    return 0;
}

static int timer_changed(curl_multi *multi, long milliseconds, void *context) {
    (void)multi, (void)milliseconds;
    ((struct nautilus_loop *)context)->timer_changed = 1;
    return 0;
}

// 128 KiB, more than the network takes while a thread is woken.
static const int most_unsent = 131072;

static int open_socket(void *context, int purpose, struct curl_address *address) {
    (void)purpose;
    struct nautilus_loop *loop = context;
    // Child processes must not inherit a connection.
    int opened = socket(address->family, address->type | SOCK_CLOEXEC, address->protocol);
    if (opened < 0 && (errno == EMFILE || errno == ENFILE)) {
        loop->is_exhausted = 1;
        // The library closes them when it is next asked for a connection, but looks for ended ones only once a second.
        sockets_end_resting(&loop->sockets);
    }
    if (opened < 0) return opened;
    if (!sockets_own(&loop->sockets, opened)) {
        close(opened);
        return -1;
    }
    // By itself the system takes megabytes that it has not sent. What it takes counts as the progress of an upload, and
    // the rest would count as the wait for the answer. On a Unix socket it fails, which changes nothing.
    setsockopt(opened, IPPROTO_TCP, TCP_NOTSENT_LOWAT, &most_unsent, sizeof most_unsent);
    return opened;
}

static int close_socket(void *context, int socket) {
    struct nautilus_loop *loop = context;
    note_disconnection(loop, socket);
    return sockets_close(&loop->sockets, socket);
}

void loop_connected(nautilus_easy *easy) {
    if (easy->loop) sockets_connected(&easy->loop->sockets, easy->socket);
}

static int watch_own(struct nautilus_loop *loop, int descriptor) {
    struct epoll_event event = {.events = EPOLLIN, .data = {.fd = descriptor}};
    return descriptor >= 0 && epoll_ctl(loop->sockets.epoll, EPOLL_CTL_ADD, descriptor, &event) == 0;
}

struct nautilus_loop *nautilus_loop_create(long kept_connections) {
    struct nautilus_loop *loop = calloc(1, sizeof *loop);
    if (!loop) return NULL;
    loop->sockets.epoll = epoll_create1(EPOLL_CLOEXEC);
    loop->wake = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    loop->timer = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK);
    loop->multi = nautilus_curl.multi_init();
    if (!loop->multi || loop->sockets.epoll < 0 || !watch_own(loop, loop->wake) || !watch_own(loop, loop->timer)) {
        nautilus_loop_close(loop);
        nautilus_loop_destroy(loop);
        return NULL;
    }
    nautilus_curl.multi_setopt(loop->multi, multi_option_socket_function, socket_changed);
    nautilus_curl.multi_setopt(loop->multi, multi_option_socket_data, loop);
    nautilus_curl.multi_setopt(loop->multi, multi_option_timer_function, timer_changed);
    nautilus_curl.multi_setopt(loop->multi, multi_option_timer_data, loop);
    nautilus_curl.multi_setopt(loop->multi, multi_option_kept_connections, kept_connections);
    return loop;
}

void nautilus_loop_close(struct nautilus_loop *loop) {
    // This closes the kept connections, through close_socket.
    gate_enter();
    if (loop->multi) nautilus_curl.multi_cleanup(loop->multi);
    gate_leave();
    loop->multi = NULL;
    if (loop->timer >= 0) close(loop->timer);
    loop->timer = -1;
}

void nautilus_loop_destroy(struct nautilus_loop *loop) {
    if (loop->wake >= 0) close(loop->wake);
    if (loop->sockets.epoll >= 0) close(loop->sockets.epoll);
    free(loop->sockets.flags);
    free(loop->sockets.users);
    free(loop);
}

int32_t nautilus_loop_wait(struct nautilus_loop *loop, int32_t blocks) {
    int count = epoll_wait(loop->sockets.epoll, loop->events, events_at_once, blocks ? -1 : 0);
    return count < 0 ? 0 : count;
}

void nautilus_loop_wake(struct nautilus_loop *loop) {
    uint64_t one = 1;
    // Fails only if the counter is full, and then the loop wakes anyway.
    ssize_t ignored = write(loop->wake, &one, sizeof one);
    (void)ignored;
}

static void take_count(int descriptor) {
    uint64_t count;
    ssize_t ignored = read(descriptor, &count, sizeof count);
    (void)ignored;
}

static int64_t now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (int64_t)time.tv_sec * 1000 + time.tv_nsec / 1000000;
}

static void arm(struct nautilus_loop *loop, long milliseconds) {
    int64_t deadline = now() + milliseconds;
    // Keeps an earlier timer, since letting it fire too early and asking the library again costs less than setting it
    // for every transfer.
    if (loop->armed && loop->armed <= deadline) return;
    struct itimerspec time = {
        .it_value = {.tv_sec = milliseconds / 1000, .tv_nsec = milliseconds % 1000 * 1000000},
    };
    if (timerfd_settime(loop->timer, 0, &time, NULL) == 0) loop->armed = deadline;
}

// Ends the kept connections on which something has arrived since the last wait, or the library would use them for the
// transfers that have been added.
static void end_spoiled(struct nautilus_loop *loop) {
    if (!loop->is_choosing) return;
    loop->is_choosing = 0;
    struct epoll_event events[events_at_once];
    int count = epoll_wait(loop->sockets.epoll, events, events_at_once, 0);
    for (int index = 0; index < count; index++)
        if (sockets_flags(&loop->sockets, events[index].data.fd) & socket_resting)
            sockets_end(&loop->sockets, events[index].data.fd);
}

// Lets the library do what is due, and sets the timer for what is due later.
static void run_timers(struct nautilus_loop *loop) {
    const int most_rounds = 100;
    int running;
    end_spoiled(loop);
    for (int round = 0; loop->timer_changed || loop->is_disconnected; round++) {
        if (loop->is_disconnected && nautilus_curl.multi_socket_all) {
            if (round >= most_rounds) return arm(loop, 1);
            // When one of a host's addresses has failed, the library goes on to the next one only if it is called once
            // more, and asks neither for a timer nor for events.
            loop->is_disconnected = 0;
            loop->timer_changed = 1;
            nautilus_curl.multi_socket_all(loop->multi, &running);
            continue;
        }
        loop->is_disconnected = 0;
        loop->timer_changed = 0;
        long milliseconds = -1;
        // The library is asked for its timeout, since after a timer that fired too early it does not report the timeout
        // again.
        if (nautilus_curl.multi_timeout(loop->multi, &milliseconds) != 0 || milliseconds < 0) return;
        if (milliseconds > 0) return arm(loop, milliseconds);
        if (round == most_rounds) return arm(loop, 1);
        nautilus_curl.multi_socket_action(loop->multi, socket_timeout, 0, &running);
        loop->timer_changed = 1;
    }
}

// Stops watching a paused transfer's socket, which the library will ask for again. But at the end of the connection,
// the library would wait for the rest of the body to send, however long that takes, so the handle is noted as left.
static void leave_alone(struct nautilus_loop *loop, int descriptor) {
    if (!(sockets_flags(&loop->sockets, descriptor) & socket_watched)) return;
    sockets_unwatch(&loop->sockets, descriptor);
    char byte;
    if (recv(descriptor, &byte, 1, MSG_PEEK | MSG_DONTWAIT) != 0) return;
    if (loop->left_count < events_at_once) loop->left[loop->left_count++] = loop->sockets.users[descriptor];
}

static void handle(struct nautilus_loop *loop, int descriptor, uint32_t events) {
    if (descriptor == loop->wake) return take_count(loop->wake);
    if (descriptor == loop->timer) {
        take_count(loop->timer);
        loop->armed = 0;
        loop->timer_changed = 1;
        return;
    }
    // Read now and not when the event came, since an earlier event may have changed the flags, or closed the socket.
    uint8_t flags = sockets_flags(&loop->sockets, descriptor);
    if (flags & socket_resting) return sockets_end(&loop->sockets, descriptor);
    if (flags & socket_lent) {
        // If it does not fit, the next step finds it again.
        if (loop->ready_count < events_at_once) loop->ready[loop->ready_count++] = descriptor;
        return;
    }
    if (!(flags & socket_wanted)) return leave_alone(loop, descriptor);
    int bits = 0;
    if (events & EPOLLIN) bits |= select_in;
    if (events & EPOLLOUT) bits |= select_out;
    if (events & (EPOLLERR | EPOLLHUP)) bits |= select_error;
    // What has come since the events were taken is read before more is written: a server that refuses the rest of a body
    // may be gone, and a write that fails would lose its answer.
    char byte;
    if (bits == select_out && recv(descriptor, &byte, 1, MSG_PEEK | MSG_DONTWAIT) > 0) bits |= select_in;
    int running;
    nautilus_curl.multi_socket_action(loop->multi, descriptor, bits, &running);
}

void nautilus_loop_step(struct nautilus_loop *loop, int32_t count) {
    gate_enter();
    // Before the events, since with the first event, whatever its socket, the library begins the transfers that have
    // been added.
    end_spoiled(loop);
    for (int32_t index = 0; index < count; index++)
        handle(loop, loop->events[index].data.fd, loop->events[index].events);
    run_timers(loop);
    gate_leave();
}

void nautilus_loop_begin(struct nautilus_loop *loop) {
    // Threads that the library makes to look up names inherit the mask, so that no signal handler runs on them.
    sigset_t all, before;
    sigfillset(&all);
    int is_masked = pthread_sigmask(SIG_SETMASK, &all, &before) == 0;
    gate_enter();
    run_timers(loop);
    gate_leave();
    if (is_masked) pthread_sigmask(SIG_SETMASK, &before, NULL);
}

int nautilus_loop_add(struct nautilus_loop *loop, nautilus_easy *easy) {
    if (easy->loop != loop) {
        nautilus_curl.easy_setopt(easy->curl, option_private, easy);
        nautilus_curl.easy_setopt(easy->curl, option_open_socket_function, open_socket);
        nautilus_curl.easy_setopt(easy->curl, option_open_socket_data, loop);
        nautilus_curl.easy_setopt(easy->curl, option_close_socket_function, close_socket);
        nautilus_curl.easy_setopt(easy->curl, option_close_socket_data, loop);
        easy->loop = loop;
    }
    easy->socket = -1;
    loop->is_choosing = 1;
    return nautilus_curl.multi_add_handle(loop->multi, easy->curl) == 0;
}

// The socket of a transfer's connection, which outlives the transfer if the connection is kept; -1 for none.
static int active_socket(struct nautilus_loop *loop, nautilus_easy *easy) {
    int socket = easy->socket;
    // The remembered socket saves the library a search through all connections. It is valid if no other handle has used
    // this descriptor since.
    if (socket >= 0 && sockets_user(&loop->sockets, socket) == easy) return socket;
    return nautilus_curl.easy_getinfo(easy->curl, info_active_socket, &socket) == 0 ? socket : -1;
}

int nautilus_loop_remove(struct nautilus_loop *loop, nautilus_easy *easy) {
    // Before the removal, while the library still knows it.
    int socket = active_socket(loop, easy);
    gate_enter();
    int is_removed = nautilus_curl.multi_remove_handle(loop->multi, easy->curl) == 0;
    gate_leave();
    if (socket >= 0) sockets_rest(&loop->sockets, socket);
    return is_removed;
}

int32_t nautilus_loop_watch(struct nautilus_loop *loop, nautilus_easy *easy, int32_t interest) {
    int socket = -1;
    if (nautilus_curl.easy_getinfo(easy->curl, info_active_socket, &socket) != 0 || socket < 0) return -1;
    return sockets_lend(&loop->sockets, socket, interest) ? socket : -1;
}

int32_t nautilus_loop_ready(struct nautilus_loop *loop) {
    return loop->ready_count > 0 ? loop->ready[--loop->ready_count] : -1;
}

nautilus_easy *nautilus_loop_left(struct nautilus_loop *loop) {
    return loop->left_count > 0 ? loop->left[--loop->left_count] : NULL;
}

int nautilus_loop_exhausted(struct nautilus_loop *loop) {
    int is_exhausted = loop->is_exhausted;
    loop->is_exhausted = 0;
    return is_exhausted;
}

nautilus_easy *nautilus_loop_ended(struct nautilus_loop *loop, int32_t *result) {
    struct curl_message *message;
    int left;
    while ((message = nautilus_curl.multi_info_read(loop->multi, &left))) {
        if (message->kind != message_done) continue;
        *result = message->data.result;
        return own(message->easy);
    }
    return NULL;
}

struct start {
    void (*run)(void *);
    void *context;
};

static void *run_thread(void *argument) {
    struct start start = *(struct start *)argument;
    free(argument);
    pthread_setname_np(pthread_self(), "nautilus-curl");
    start.run(start.context);
    return NULL;
}

int nautilus_thread_start(void (*run)(void *), void *context) {
    struct start *start = malloc(sizeof *start);
    if (!start) return 0;
    *start = (struct start){run, context};
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    pthread_t thread;
    int is_started = pthread_create(&thread, NULL, run_thread, start) == 0;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (is_started) pthread_detach(thread);
    else free(start);
    return is_started;
}

#endif
