// Keeps threads out of the library once the process exits.

#ifndef NAUTILUS_CURL_GATE_H
#define NAUTILUS_CURL_GATE_H

#if defined(__linux__)

// Has the gate closed when the process exits. Called once, when the library has been initialized.
void gate_install(void);
// Around every call into the library that moves bytes or ends a connection. May be nested. When the process exits, a
// thread that comes to the gate stays there.
void gate_enter(void);
void gate_leave(void);

#endif
#endif
