#include <openssl/crypto.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <openssl/rand.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>

// Macros with arguments, which Swift does not see.
static const uint64_t tls_no_renegotiation = SSL_OP_NO_RENEGOTIATION;
static const int tls_new_bio_type = BIO_TYPE_SOURCE_SINK;
