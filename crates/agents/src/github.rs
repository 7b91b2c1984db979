//! GitHub: which repository a remote names, the token, and the few calls that are needed.
