"""The image of a guest: packages pinned by hash, programs, kernel modules, and the archive made of them."""
