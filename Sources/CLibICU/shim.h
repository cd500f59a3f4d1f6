#include <stdbool.h>
#include <unicode/uchar.h>
#include <unicode/unorm2.h>
#include <unicode/uscript.h>
#include <unicode/ustring.h>
#include <unicode/utrans.h>

// ICU renames its functions after its version, u_charType to u_charType_72, by macros that Swift does not see.
// These have the same names with every version. UTF-16 units are uint16_t here, whatever UChar is.

static inline const UNormalizer2 *tiffin_icu_nfkc_casefold(UErrorCode *status) {
    return unorm2_getNFKCCasefoldInstance(status);
}

static inline const UNormalizer2 *tiffin_icu_nfd(UErrorCode *status) { return unorm2_getNFDInstance(status); }

static inline const UNormalizer2 *tiffin_icu_nfc(UErrorCode *status) { return unorm2_getNFCInstance(status); }

static inline int32_t tiffin_icu_normalize(const UNormalizer2 *form, const uint16_t *source, int32_t length,
                                           uint16_t *target, int32_t capacity, UErrorCode *status) {
    return unorm2_normalize(form, (const UChar *)source, length, (UChar *)target, capacity, status);
}

static inline bool tiffin_icu_has_boundary_before(const UNormalizer2 *form, UChar32 character) {
    return unorm2_hasBoundaryBefore(form, character);
}

static inline int32_t tiffin_icu_from_utf8(const uint8_t *source, int32_t length, uint16_t *target, int32_t capacity,
                                           UErrorCode *status) {
    int32_t needed = 0;
    u_strFromUTF8((UChar *)target, capacity, &needed, (const char *)source, length, status);
    return needed;
}

static inline int32_t tiffin_icu_to_utf8(const uint16_t *source, int32_t length, uint8_t *target, int32_t capacity,
                                         UErrorCode *status) {
    int32_t needed = 0;
    u_strToUTF8((char *)target, capacity, &needed, (const UChar *)source, length, status);
    return needed;
}

static inline UTransliterator *tiffin_icu_open_transliterator(const uint16_t *name, int32_t length, UErrorCode *status) {
    return utrans_openU((const UChar *)name, length, UTRANS_FORWARD, NULL, 0, NULL, status);
}

static inline void tiffin_icu_close_transliterator(UTransliterator *transliterator) { utrans_close(transliterator); }

// Replaces the text in place; returns its new length.
static inline int32_t tiffin_icu_transliterate(const UTransliterator *transliterator, uint16_t *text, int32_t length,
                                               int32_t capacity, UErrorCode *status) {
    int32_t limit = length;
    utrans_transUChars(transliterator, (UChar *)text, &length, capacity, 0, &limit, status);
    return length;
}

static inline uint32_t tiffin_icu_category_mask(UChar32 character) { return U_GET_GC_MASK(character); }

static inline UScriptCode tiffin_icu_script(UChar32 character) {
    UErrorCode status = U_ZERO_ERROR;
    return uscript_getScript(character, &status);
}

static inline bool tiffin_icu_is_used_in(UChar32 character, UScriptCode script) {
    return uscript_hasScript(character, script);
}

// Whether the character belongs to a script that is written without spaces and needs a dictionary to be broken into
// words: Thai, Lao, Khmer, Burmese and their like.
static inline bool tiffin_icu_needs_dictionary(UChar32 character) {
    return u_getIntPropertyValue(character, UCHAR_LINE_BREAK) == U_LB_COMPLEX_CONTEXT;
}

static inline const char *tiffin_icu_error_name(UErrorCode status) { return u_errorName(status); }
