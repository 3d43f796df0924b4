"""The words for an argument that names an archive in a folder or in a store."""

ARCHIVE_HELP = "The folder that `txop run` made, or its address (s3://..., zip://...)."
"""Such an argument is text: a :class:`~pathlib.Path` would make one stroke of the two of ``s3://``."""
