// What Tiffin asks of ICU, without ICU's headers: they rename every function after the version by macros that Swift
// does not see, and Foundation brings the headers of another version along.

#include <stdbool.h>
#include <stdint.h>

// Whether ICU could do what it was asked: not if it is more than 0.
typedef int32_t icu_bridge_status;

extern const icu_bridge_status icu_bridge_buffer_overflow;
const char *icu_bridge_error_name(icu_bridge_status status);

// Forms that text can be brought into. They live as long as the process.
const void *icu_bridge_nfkc_casefold(icu_bridge_status *status);
const void *icu_bridge_nfd(icu_bridge_status *status);
const void *icu_bridge_nfc(icu_bridge_status *status);

// Each returns the length of the result, which is written as far as the capacity goes.
int32_t icu_bridge_normalize(const void *form, const uint16_t *source, int32_t length, uint16_t *target,
                             int32_t capacity, icu_bridge_status *status);
int32_t icu_bridge_from_utf8(const uint8_t *source, int32_t length, uint16_t *target, int32_t capacity,
                             icu_bridge_status *status);
int32_t icu_bridge_to_utf8(const uint16_t *source, int32_t length, uint8_t *target, int32_t capacity,
                           icu_bridge_status *status);

// Whether the character never changes with what is before it in a form.
bool icu_bridge_has_boundary_before(const void *form, int32_t character);

void *icu_bridge_open_transliterator(const uint16_t *name, int32_t length, icu_bridge_status *status);
void icu_bridge_close_transliterator(void *transliterator);
// Replaces the text in place; returns its new length.
int32_t icu_bridge_transliterate(const void *transliterator, uint16_t *text, int32_t length, int32_t capacity,
                                 icu_bridge_status *status);

// What a character is.
bool icu_bridge_is_letter_or_number(int32_t character);
bool icu_bridge_is_mark(int32_t character);
// A mark that takes no room of its own.
bool icu_bridge_is_nonspacing_mark(int32_t character);
bool icu_bridge_is_latin(int32_t character);
// Of no script of its own: it takes that of what it stands on.
bool icu_bridge_is_inherited(int32_t character);
bool icu_bridge_is_used_in_han(int32_t character);
bool icu_bridge_is_used_in_kana(int32_t character);
bool icu_bridge_is_used_in_katakana(int32_t character);
// Of a script that is written without spaces and needs a dictionary to be broken into words: Thai, Lao, Khmer, Burmese
// and their like.
bool icu_bridge_needs_dictionary(int32_t character);
