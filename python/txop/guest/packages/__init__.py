"""Packages of a distribution: found, pinned by hash, fetched and read, without being installed.

* :mod:`~txop.guest.packages.apt` asks this machine's APT, which checks the archive's signatures;
* :mod:`~txop.guest.packages.lock` is the pinned list; :mod:`~txop.guest.packages.resolve` makes one;
* :mod:`~txop.guest.packages.deb` reads a package; :mod:`~txop.guest.packages.store` keeps them unpacked.
"""
