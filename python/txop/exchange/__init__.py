"""Import and export: other tools' data in, archives out in their formats.

What is imported carries the origin ``imported`` in every run; no comparison takes it for a measurement of this machine.
A reader of one format is one module ``from_*``; `recognise` says which one a file is for; `write` makes an archive of
what they give, atomically.
"""
