// The same exchanges by a plain loop over libcurl, without JSON: what no client on libcurl gets below.
// Prints the seconds and the seconds of processor time they took.
#include <curl/curl.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { most_handles = 64, buffer_size = 65536 };

struct transfer {
    char buffer[buffer_size];
    size_t count;
};

static double seconds(clockid_t clock) {
    struct timespec now;
    clock_gettime(clock, &now);
    return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

static size_t keep(char *bytes, size_t size, size_t count, void *context) {
    struct transfer *transfer = context;
    for (size_t index = 0; index < size * count && transfer->count < buffer_size; index++)
        transfer->buffer[transfer->count++] = bytes[index];
    return size * count;
}

static void run(CURLM *multi, CURL **handles, struct transfer *transfers, int calls, int width) {
    int started = 0, ended = 0;
    for (; started < width && started < calls; started++) curl_multi_add_handle(multi, handles[started]);
    while (ended < calls) {
        int running, left;
        curl_multi_perform(multi, &running);
        CURLMsg *message;
        while ((message = curl_multi_info_read(multi, &left))) {
            if (message->data.result != CURLE_OK) exit(1);
            CURL *handle = message->easy_handle;
            ended++;
            curl_multi_remove_handle(multi, handle);
            for (int index = 0; index < width; index++)
                if (handles[index] == handle) transfers[index].count = 0;
            if (started < calls) started++, curl_multi_add_handle(multi, handle);
        }
        if (ended < calls) curl_multi_poll(multi, NULL, 0, 1000, NULL);
    }
}

int main(int count, char **arguments) {
    if (count < 5) return 1;
    int calls = atoi(arguments[2]), width = atoi(arguments[3]);
    if (width < 1 || width > most_handles) return 1;
    curl_global_init(CURL_GLOBAL_ALL);
    CURLM *multi = curl_multi_init();
    curl_multi_setopt(multi, CURLMOPT_MAX_HOST_CONNECTIONS, atol(arguments[4]));
    struct curl_slist *lines = curl_slist_append(NULL, "Accept: application/json");
    lines = curl_slist_append(lines, "Authorization: Bearer 0123456789");
    CURL *handles[most_handles];
    struct transfer *transfers = calloc((size_t)width, sizeof *transfers);
    for (int index = 0; index < width; index++) {
        CURL *handle = handles[index] = curl_easy_init();
        curl_easy_setopt(handle, CURLOPT_URL, arguments[1]);
        curl_easy_setopt(handle, CURLOPT_USERAGENT, "Notes/1.0");
        curl_easy_setopt(handle, CURLOPT_HTTPHEADER, lines);
        curl_easy_setopt(handle, CURLOPT_NOSIGNAL, 1L);
        curl_easy_setopt(handle, CURLOPT_WRITEFUNCTION, keep);
        curl_easy_setopt(handle, CURLOPT_WRITEDATA, &transfers[index]);
    }
    run(multi, handles, transfers, calls / 4, width);
    double cpu = seconds(CLOCK_PROCESS_CPUTIME_ID), start = seconds(CLOCK_MONOTONIC);
    run(multi, handles, transfers, calls, width);
    printf("%f %f\n", seconds(CLOCK_MONOTONIC) - start, seconds(CLOCK_PROCESS_CPUTIME_ID) - cpu);
    return 0;
}
