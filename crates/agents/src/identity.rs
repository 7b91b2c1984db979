//! Who calls: a random token for each instance, in a file that only its owner reads.
