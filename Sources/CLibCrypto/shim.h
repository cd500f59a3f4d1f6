// OpenSSL would rather have everything go through EVP, which allocates memory and looks up a function for each digest.
#define OPENSSL_SUPPRESS_DEPRECATED
#include <openssl/evp.h>
#include <openssl/rand.h>
#include <openssl/sha.h>
