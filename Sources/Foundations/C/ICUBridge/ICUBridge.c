#include "ICUBridge.h"

#include <unicode/uchar.h>
#include <unicode/unorm2.h>
#include <unicode/uscript.h>
#include <unicode/ustring.h>
#include <unicode/utrans.h>

// UTF-16 units are uint16_t to our callers, whatever UChar is; and ICU's status is an enumeration of its own.

const icu_bridge_status icu_bridge_buffer_overflow = U_BUFFER_OVERFLOW_ERROR;

const char *icu_bridge_error_name(icu_bridge_status status) { return u_errorName((UErrorCode)status); }

const void *icu_bridge_nfkc_casefold(icu_bridge_status *status) {
    return unorm2_getNFKCCasefoldInstance((UErrorCode *)status);
}

const void *icu_bridge_nfd(icu_bridge_status *status) { return unorm2_getNFDInstance((UErrorCode *)status); }

const void *icu_bridge_nfc(icu_bridge_status *status) { return unorm2_getNFCInstance((UErrorCode *)status); }

int32_t icu_bridge_normalize(const void *form, const uint16_t *source, int32_t length, uint16_t *target,
                             int32_t capacity, icu_bridge_status *status) {
    return unorm2_normalize(form, (const UChar *)source, length, (UChar *)target, capacity, (UErrorCode *)status);
}

int32_t icu_bridge_from_utf8(const uint8_t *source, int32_t length, uint16_t *target, int32_t capacity,
                             icu_bridge_status *status) {
    int32_t needed = 0;
    u_strFromUTF8((UChar *)target, capacity, &needed, (const char *)source, length, (UErrorCode *)status);
    return needed;
}

int32_t icu_bridge_to_utf8(const uint16_t *source, int32_t length, uint8_t *target, int32_t capacity,
                           icu_bridge_status *status) {
    int32_t needed = 0;
    u_strToUTF8((char *)target, capacity, &needed, (const UChar *)source, length, (UErrorCode *)status);
    return needed;
}

bool icu_bridge_has_boundary_before(const void *form, int32_t character) {
    return unorm2_hasBoundaryBefore(form, character);
}

void *icu_bridge_open_transliterator(const uint16_t *name, int32_t length, icu_bridge_status *status) {
    return utrans_openU((const UChar *)name, length, UTRANS_FORWARD, NULL, 0, NULL, (UErrorCode *)status);
}

void icu_bridge_close_transliterator(void *transliterator) { utrans_close(transliterator); }

int32_t icu_bridge_transliterate(const void *transliterator, uint16_t *text, int32_t length, int32_t capacity,
                                 icu_bridge_status *status) {
    int32_t limit = length;
    utrans_transUChars(transliterator, (UChar *)text, &length, capacity, 0, &limit, (UErrorCode *)status);
    return length;
}

bool icu_bridge_is_letter_or_number(int32_t character) { return U_GET_GC_MASK(character) & (U_GC_L_MASK | U_GC_N_MASK); }

bool icu_bridge_is_mark(int32_t character) { return U_GET_GC_MASK(character) & U_GC_M_MASK; }

bool icu_bridge_is_nonspacing_mark(int32_t character) {
    return U_GET_GC_MASK(character) & (U_GC_MN_MASK | U_GC_ME_MASK);
}

static UScriptCode script(int32_t character) {
    UErrorCode status = U_ZERO_ERROR;
    return uscript_getScript(character, &status);
}

bool icu_bridge_is_latin(int32_t character) { return script(character) == USCRIPT_LATIN; }

bool icu_bridge_is_inherited(int32_t character) { return script(character) == USCRIPT_INHERITED; }

bool icu_bridge_is_used_in_han(int32_t character) { return uscript_hasScript(character, USCRIPT_HAN); }

bool icu_bridge_is_used_in_katakana(int32_t character) { return uscript_hasScript(character, USCRIPT_KATAKANA); }

bool icu_bridge_is_used_in_kana(int32_t character) {
    return icu_bridge_is_used_in_katakana(character) || uscript_hasScript(character, USCRIPT_HIRAGANA);
}

bool icu_bridge_needs_dictionary(int32_t character) {
    return u_getIntPropertyValue(character, UCHAR_LINE_BREAK) == U_LB_COMPLEX_CONTEXT;
}
