"""Packages of a distribution: found, pinned by hash, fetched and read, without being installed.

* :mod:`~txop.guest_image.packages.apt` asks this machine's APT, which checks the archive's signatures;
* :mod:`~txop.guest_image.packages.lock` is the pinned list; :mod:`~txop.guest_image.packages.resolve` makes one;
* :mod:`~txop.guest_image.packages.deb` reads a package; :mod:`~txop.guest_image.packages.store` keeps them unpacked.
"""
