#define CURL_DISABLE_TYPECHECK
#include <curl/curl.h>
#include <stdbool.h>

// Options are set, and results are read, by functions with a variable number of arguments, which Swift cannot call.

static inline CURLcode tiffin_curl_set_number(CURL *handle, CURLoption option, long value) {
    return curl_easy_setopt(handle, option, value);
}

static inline CURLcode tiffin_curl_set_text(CURL *handle, CURLoption option, const char *value) {
    return curl_easy_setopt(handle, option, value);
}

/// Copies as many bytes as were set as the size before.
static inline CURLcode tiffin_curl_copy_body(CURL *handle, const void *body) {
    return curl_easy_setopt(handle, CURLOPT_COPYPOSTFIELDS, body);
}

static inline CURLcode tiffin_curl_set_headers(CURL *handle, struct curl_slist *headers) {
    return curl_easy_setopt(handle, CURLOPT_HTTPHEADER, headers);
}

static inline CURLcode tiffin_curl_set_header_reader(CURL *handle, curl_write_callback reader, void *context) {
    CURLcode code = curl_easy_setopt(handle, CURLOPT_HEADERFUNCTION, reader);
    return code == CURLE_OK ? curl_easy_setopt(handle, CURLOPT_HEADERDATA, context) : code;
}

static inline CURLcode tiffin_curl_set_writer(CURL *handle, curl_write_callback writer, void *context) {
    CURLcode code = curl_easy_setopt(handle, CURLOPT_WRITEFUNCTION, writer);
    return code == CURLE_OK ? curl_easy_setopt(handle, CURLOPT_WRITEDATA, context) : code;
}

/// The address that was asked last; NULL if there is none.
static inline const char *tiffin_curl_address(CURL *handle) {
    char *address = NULL;
    return curl_easy_getinfo(handle, CURLINFO_EFFECTIVE_URL, &address) == CURLE_OK ? address : NULL;
}

/// Whether a request was sent, or begun to be.
static inline bool tiffin_curl_was_sent(CURL *handle) {
    curl_off_t microseconds = 0;
    return curl_easy_getinfo(handle, CURLINFO_PRETRANSFER_TIME_T, &microseconds) == CURLE_OK && microseconds > 0;
}

static inline long tiffin_curl_status(CURL *handle) {
    long status = 0;
    return curl_easy_getinfo(handle, CURLINFO_RESPONSE_CODE, &status) == CURLE_OK ? status : 0;
}

/// For how many seconds the server asks to be left alone, in Retry-After; 0 if it does not.
static inline long long tiffin_curl_retry_after(CURL *handle) {
    curl_off_t seconds = 0;
    return curl_easy_getinfo(handle, CURLINFO_RETRY_AFTER, &seconds) == CURLE_OK && seconds > 0 ? seconds : 0;
}
