"""A clinician's pages: the entrance, the studies, the desk of a conversation, and what is sent from there."""
