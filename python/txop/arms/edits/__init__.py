"""Edit scripts: changes to C source that name what they change, without carrying any of the source.

A patch file quotes the lines around a change, so it is bound to one version and holds other people's code. An edit
script says "in this function, replace these words by those, which occur once". See docs/guest.md.
"""
