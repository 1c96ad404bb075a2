// Preloaded into the compiler: every hash map of it begins with the same key, so what a macro takes out of one comes in
// the same order at every build. The compiler keeps no secrets; nothing else may have this.
#include <string.h>
#include <sys/random.h>

ssize_t getrandom(void *buffer, size_t length, unsigned int flags) {
    (void)flags;
    memset(buffer, 0x2a, length);
    return (ssize_t)length;
}
