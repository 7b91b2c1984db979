//! The client against a GitHub that checks what it is asked, and misbehaves to order.
