"""Taking in files of responses and of clinicians' verdicts, in the manner of annotation.importing."""
