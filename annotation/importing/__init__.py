"""Taking in files of conversations, criteria and votes: checked whole, then written whole or not at all.

Each importer is one function (study, source, file_name, by, check) -> Report, called by command, page and API. A file
is read and checked before anything is written, and every error of it is reported at once; the same file again changes
nothing and says so. Rows match what is stored by their id (trimmed, NFC), else by a digest of their content, never by
position. An import is one act in one transaction that holds the study's lock: what is assigned, closed, revealed and
in consensus is decided after its last row.
"""
