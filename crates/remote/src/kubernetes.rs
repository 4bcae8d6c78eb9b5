//! Nodes and pods by the user's own kubectl.
