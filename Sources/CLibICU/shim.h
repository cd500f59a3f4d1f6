#include <unicode/ubrk.h>
#include <unicode/unorm2.h>
#include <unicode/utrans.h>
#include <unicode/ustring.h>
