//! Definitions, blocks and outlines of source code, found with tree-sitter under a work budget.
