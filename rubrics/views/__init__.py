"""Pages about rubric versions: freezing, the versions and their exports, why a criterion is in or out, imports."""
